"""Helpers for seeded mistakes: correct games are changed in one place, and `solve check` must notice it.

A table of mistakes is a text file, with \\n for line breaks:

    [game]
    - text in the source of the game
    + law | text that replaces it, and breaks this law ("load": the game is refused, "harmless": nothing is reported)
    ? regular expression that the message must match (optional)
"""

from __future__ import annotations

import ctypes
import subprocess
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from perfectplay_native._engine import ffi

from perfectplay import hookimpl, make_game
from perfectplay.errors import PluginError
from perfectplay.game.game import Game
from perfectplay.testing import run_checks
from perfectplay_native.build import INCLUDE
from perfectplay_native.kernel import Kernel

TAPATAN = Path(__file__).parent.parent.parent / "docs" / "examples" / "tapatan" / "perfectplay_tapatan"


class Mistake(NamedTuple):
    game: str
    old: str
    new: str
    law: str
    message: str = ""


def read_mistakes(name: str) -> list[Mistake]:
    return list(_parse((Path(__file__).parent / name).read_text().splitlines()))


def _parse(lines: list[str]) -> Iterator[Mistake]:
    game = old = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        kind, text = line[:1], line[2:].replace("\\n", "\n")
        if kind == "[":
            game = line.strip("[]")
        elif kind == "-":
            old = text
        elif kind == "+":
            law, _, new = text.partition(" |")
            yield Mistake(game, old, new.removeprefix(" "), law, following[2:] if following[:1] == "?" else "")


def replace_once(source: str, old: str, new: str) -> str:
    assert old in source
    return source.replace(old, new)


def module(source: str) -> types.ModuleType:
    made = types.ModuleType("seeded")
    exec(source, vars(made))
    return made


def plugin(**hooks: Callable[..., object]) -> types.ModuleType:
    made = types.ModuleType("seeded")
    vars(made).update({name: hookimpl(hook) for name, hook in hooks.items()})
    return made


def report(make: Callable[[], Game]) -> dict[str, str]:
    """Return the breaches and hints by law; the message of the error as "load" if the game is refused."""
    try:
        game = make()
    except PluginError as error:
        return {"load": str(error)}
    return {each.law: each.breach or each.hint or "" for each in run_checks(game) if each.breach or each.hint}


def report_plugin(source: object, **options: object) -> dict[str, str]:
    return report(lambda: make_game(source, name="seeded", **options))


def build_kernel(source: str, folder: Path) -> Path:
    """Compile a kernel and return the library."""
    (folder / "kernel.c").write_text(source)
    command = ["cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "kernel.so", "kernel.c"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "kernel.so"


def load_kernel(library: Path) -> Kernel:
    address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(str(library)), "tapatan_kernel"))
    return Kernel(ffi, ffi.cast("pp_kernel *", address))
