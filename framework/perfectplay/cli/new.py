"""`solve new NAME`: write the project of a new game, which can be installed and tested, with a small working game."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from perfectplay.errors import UsageError
from perfectplay.game import plugins

_KERNEL_IMPORTS = """\
from perfectplay_native.kernel import Kernel

from @PACKAGE@._kernel import ffi, lib
"""
_KERNEL_HOOK = '''

@hookimpl
def kernel() -> Kernel:
    """The same rules in C, for the engine. The functions above are their readable equivalent."""
    return Kernel(ffi, lib.game_kernel)
'''
_KERNEL_NOTE = " `kernel.c` has the same rules in C, for the engine; `solve check` compares the two."


@click.command("new")
@click.argument("name")
@click.option("--c", "with_kernel", is_flag=True, help="Add a kernel in C.")
@click.option("--indexed", is_flag=True, help="Write a game with an index, which is declared in the hook `index`.")
def command(name: str, with_kernel: bool, indexed: bool) -> None:
    """Write the project of a new game NAME, a small working game to change, into a directory of that name."""
    for path in _write_project(name, Path(name), with_kernel=with_kernel, indexed=indexed):
        click.echo(f"wrote {path}")
    click.echo("\nInstall and try it:\n")
    # Without isolation a kernel is built with the installed perfectplay, wherever that came from.
    install = ("pip install 'setuptools>=77'", f"pip install --no-build-isolation -e {name}")
    for line in (*install, f"solve check {name}", f"solve {name}"):
        click.echo(f"    {line}")


def _write_project(name: str, directory: Path, *, with_kernel: bool, indexed: bool) -> list[Path]:
    """Write the project to a directory that must not exist, and return the files."""
    package = "perfectplay_" + name.replace("-", "_")
    plugins.check_new_name(name, package)
    if directory.exists():
        raise UsageError(f"directory {directory} already exists; choose another name, or work in another directory")
    variant = "_indexed" if indexed else ""
    build_requires = ["setuptools>=77", "cffi>=2", "perfectplay"] if with_kernel else ["setuptools>=77"]
    replacements = {
        "@KERNEL_IMPORTS@": _KERNEL_IMPORTS if with_kernel else "",
        "@KERNEL_HOOK@\n": _KERNEL_HOOK if with_kernel else "",
        "@KERNEL_NOTE@": _KERNEL_NOTE if with_kernel else "",
        "@RESULT_NAME@": "perfect_play_is_a_draw" if indexed else "the_second_player_wins",
        "@RESULT@": "draw in 9" if indexed else "loss in 6",
        "@BUILD_REQUIRES@": ", ".join(f'"{each}"' for each in build_requires),
        "@NAME@": name,
        "@PACKAGE@": package,  # last, because the kernel's parts contain it
    }
    targets = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"plugin{variant}.py": f"{package}/plugin.py",
        "test_rules.py": "tests/test_rules.py",
    }
    if with_kernel:
        targets |= {"setup.py": "setup.py", "build_kernel.py": f"{package}/build_kernel.py"}
        targets |= {f"kernel{variant}.c": f"{package}/kernel.c"}
    paths = [_write(directory / package / "__init__.py", f'"""The game {name} for perfectplay."""\n')]
    for template, target in targets.items():
        text = (files("perfectplay.authoring") / "templates" / f"{template}.template").read_text()
        for placeholder, replacement in replacements.items():
            text = text.replace(placeholder, replacement)
        paths.append(_write(directory / target, text))
    return sorted(paths)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
