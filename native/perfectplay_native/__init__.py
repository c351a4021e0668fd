"""The C engine, and the tools that a plugin needs to build a kernel for it.

Importing this package loads no compiled code, so `perfectplay_native.build` also runs before the engine is built.
`perfectplay_native.kernel` and `perfectplay_native.engine` load the compiled engine.
"""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """Return the directory that contains perfectplay.h, for the compiler of a kernel."""
    return str(Path(__file__).with_name("include"))
