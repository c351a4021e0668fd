"""perfectplay solves board games completely: for every position, who wins and in how many moves.

The stub `__init__.pyi` lists the public names. They are imported on first use, so that a plugin can import `hookimpl`
without loading the engine.
"""

from typing import Any

import lazy_loader

_import_name, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*_names, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("perfectplay")
    return _import_name(name)


def __dir__() -> list[str]:
    return __all__
