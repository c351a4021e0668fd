"""The project's games in plain Python, in variants small enough for interpreted solves."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cffi import FFI

from perfectplay import load_game, make_game
from perfectplay.compile.translation import Translation, translate
from perfectplay.game.game import Game
from perfectplay_native.build import INCLUDE
from perfectplay_native.kernel import Kernel

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
ZOO = ROOT / "tests" / "zoo"


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"compiled_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _file(path: Path, **options: int) -> Callable[[Path], Game]:
    return lambda _: load_game(str(path), **options)


def _text(path: Path, changes: dict[str, str]) -> Callable[[Path], Game]:
    """Return a game from a file with changes."""

    def load(directory: Path) -> Game:
        text = path.read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        (directory / "game.py").write_text(text)
        return load_game(str(directory / "game.py"))

    return load


def _installed(name: str, **options: int) -> Callable[[Path], Game]:
    return lambda _: load_game(name, **options)


def _object(path: Path, name: str, *arguments: Any) -> Callable[[Path], Game]:
    return lambda _: make_game(getattr(_module(path), name)(*arguments), name="game")


def _package(path: Path) -> Callable[[Path], Game]:
    return lambda _: make_game(_module(path), name="game")


_TEMPLATE = ROOT / "framework" / "perfectplay" / "authoring" / "templates" / "plugin.py.template"
_ZOO = "corridor jugs peg promotion shapes subtraction tictactoe treasure turns twelve variants"
_STUCK = {
    "Status.LOST if has_arrived(position) else": "Status.LOST if has_arrived(position) or not moves(position) else"
}

GAMES: dict[str, Callable[[Path], Game]] = {
    "connect4": _installed("connect4", width=4, height=3, connect=3),
    "tictactoe": _package(EXAMPLES / "tictactoe" / "perfectplay_tictactoe" / "plugin.py"),
    "mutorere": _package(EXAMPLES / "mutorere" / "perfectplay_mutorere" / "plugin.py"),
    "tapatan": _package(EXAMPLES / "tapatan" / "perfectplay_tapatan" / "rules.py"),
    "dots": _installed("dots", rows=1, columns=2),
    "dots of the tutorial": _file(EXAMPLES / "dots.py", rows=1, columns=2),
    "sliding": _file(EXAMPLES / "sliding.py"),
    "template of `solve new`": _text(_TEMPLATE, {"@KERNEL_IMPORTS@": "", "@KERNEL_HOOK@": ""}),
    "ladder": _package(ROOT / "tools" / "campaigns" / "ladder.py"),
    "kalah": _installed("kalah", pits=2, seeds=2),
    "othello": _object(ZOO / "othello.py", "Othello", 3),
    "hexapawn": _text(ZOO / "hexapawn.py", _STUCK),
    **{f"zoo: {name}": _file(ZOO / f"{name}.py") for name in _ZOO.split()},
}
"""Not among them, because they are not rules in Python of this project: zoo/race.py has a C kernel, and the plugin for
OpenSpiel calls a library. zoo/wide.py is translated, but too large to solve."""

WIDE = ZOO / "wide.py"


class CompiledGame:
    """A translated game, its kernel, and the place where a fault is recorded."""

    def __init__(self, game: Game, directory: Path, *flags: str) -> None:
        self.translation: Translation = translate(game)
        source, target = directory / "rules.c", directory / "rules.so"
        source.write_text(self.translation.source)
        strict = ["-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-maybe-uninitialized", "-Wno-type-limits"]
        command = ["cc", "-O2", "-std=gnu11", *strict, "-shared", "-fPIC", *flags, f"-I{INCLUDE}"]
        subprocess.run([*command, "-o", target, source], check=True)
        ffi = FFI()
        ffi.cdef(
            "typedef struct { uint32_t abi; } pp_kernel; extern pp_kernel pp_compiled_kernel;"
            "struct pp_fault { uint32_t set, hook; uint64_t position, argument; };"
            "extern struct pp_fault pp_compiled_fault;"
        )
        self.library = ffi.dlopen(str(target))
        self.kernel = Kernel(ffi, ffi.addressof(self.library, "pp_compiled_kernel"))

    @property
    def fault(self) -> Any:
        return self.library.pp_compiled_fault
