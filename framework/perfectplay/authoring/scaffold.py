"""Writes the project of a new game: installable, tested, and a working little game to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from perfectplay.errors import UsageError
from perfectplay.game import plugins

_KERNEL_IMPORTS = """\
from perfectplay_native.kernel import Kernel

from @PACKAGE@._kernel import ffi, lib
"""
_KERNEL_HOOK = '''

@hookimpl
def kernel() -> Kernel:
    """The same rules in C. The engine uses these; the functions above stay as their readable twin."""
    return Kernel(ffi, lib.game_kernel)
'''
_KERNEL_NOTE = " `kernel.c` has them again in C, for the engine; `solve check` compares the two."


def write_project(name: str, directory: Path, *, with_kernel: bool) -> list[Path]:
    """Write the project of game `name` into `directory`, which must not be there yet; return the files."""
    package = "perfectplay_" + name.replace("-", "_")
    plugins.check_new_name(name, package)
    if directory.exists():
        raise UsageError(f"directory {directory} already exists: choose another name, or work in another directory")
    build_requires = ["setuptools>=77", "cffi>=2", "perfectplay"] if with_kernel else ["setuptools>=77"]
    words = {
        "@KERNEL_IMPORTS@": _KERNEL_IMPORTS if with_kernel else "",
        "@KERNEL_HOOK@\n": _KERNEL_HOOK if with_kernel else "",
        "@KERNEL_NOTE@": _KERNEL_NOTE if with_kernel else "",
        "@BUILD_REQUIRES@": ", ".join(f'"{each}"' for each in build_requires),
        "@NAME@": name,
        "@PACKAGE@": package,  # last: the kernel's parts above name it too
    }
    targets = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        "plugin.py": f"{package}/plugin.py",
        "test_rules.py": "tests/test_rules.py",
    }
    if with_kernel:
        targets |= {"setup.py": "setup.py", "build_kernel.py": "build_kernel.py", "kernel.c": f"{package}/kernel.c"}
    written = [_write(directory / package / "__init__.py", f'"""The game {name} for perfectplay."""\n')]
    for template, target in targets.items():
        text = (files("perfectplay.authoring") / "templates" / f"{template}.template").read_text()
        for word, replacement in words.items():
            text = text.replace(word, replacement)
        written.append(_write(directory / target, text))
    return sorted(written)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
