"""perfectplay solves board games completely: for every position, who wins and in how many moves.

The stub `__init__.pyi` lists the public names, one per line. They are imported on first use, so that a plugin can
import `hookimpl` without loading the engine.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_MODULES = {name: module for module, name in re.findall(r"^from (\S+) import (\w+)", _STUB, re.MULTILINE)}

__all__ = [*_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("perfectplay")
    if name not in _MODULES:
        raise AttributeError(f"module 'perfectplay' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
