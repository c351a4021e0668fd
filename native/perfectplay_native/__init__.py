"""The engine in C, and what a plugin needs to build a kernel for it.

Importing this package needs no compiled code, so that `perfectplay_native.build` can run before there is any;
the compiled engine is behind `perfectplay_native.kernel` and `perfectplay_native.engine`.
"""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """The directory of perfectplay.h, for a kernel's compiler."""
    return str(Path(__file__).with_name("include"))
