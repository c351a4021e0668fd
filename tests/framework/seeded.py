"""Helpers for seeded mistakes: correct games are changed in one place, and `solve check` must notice it.

A table of mistakes is a text file, with \\n for line breaks:

    [game]
    - text in the source of the game
    + law | text that replaces it, and breaks this law ("load": the game is refused, "harmless": nothing is reported)
    + law in few positions | the same, but only a complete sweep is certain to find it
    ? regular expression that the message must match (optional)
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from perfectplay_native._engine import ffi

from perfectplay import make_game
from perfectplay.errors import PluginError
from perfectplay.game.game import Game
from perfectplay.testing import Effort, run_checks, trial
from perfectplay_native.build import INCLUDE
from perfectplay_native.kernel import Kernel

from ..zoo import EXAMPLES

TAPATAN = EXAMPLES / "tapatan" / "perfectplay_tapatan"
TAPATAN_KERNEL = Path(__file__).with_name("tapatan_kernel.c")


class Mistake(NamedTuple):
    game: str
    old: str
    new: str
    law: str
    message: str = ""
    rare: bool = False

    @property
    def seconds(self) -> float:
        return 30 if self.rare else 0.3  # a sweep ends at the first breach


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
            law, _, rare = law.partition(" in ")
            message = following[2:] if following[:1] == "?" else ""
            yield Mistake(game, old, new.removeprefix(" "), law, message, bool(rare))


def indexed_example(name: str) -> tuple[str, list[str]]:
    """Return the source of an example with the index that docs/indexed.md adds, and the lines that it adds."""
    source = (EXAMPLES / f"{name}/perfectplay_{name}/plugin.py").read_text()
    added: list[str] = []
    for diff in re.findall(
        rf"^```diff {name}\.py\n(.*?)^```$", (EXAMPLES.parent / "indexed.md").read_text(), re.M | re.S
    ):
        lines = diff.splitlines(keepends=True)
        old, new = ("".join(line[1:] for line in lines if line[0] in kinds) for kinds in (" -", " +"))
        assert source.count(old) == 1
        source = source.replace(old, new)
        added += [line for line in lines if line[0] == "+" and line.strip("+\n")]
    return source, added


@contextmanager
def quick_checks() -> Iterator[None]:
    """Check only the first random games. `solve check` plays these too, and then others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "PLAYOUTS", trial.PLAYOUTS // 5)
        yield


def report(make: Callable[[], Game], *, quick: bool = False, seconds: float = 0.3) -> dict[str, str]:
    """Return the breaches and hints by law; the message of the error as "load" if the game is refused.

    A `quick` check does not find mistakes that need many calls.
    """
    try:
        game = make()
    except PluginError as error:
        return {"load": str(error)}
    with quick_checks() if quick else nullcontext():
        results = run_checks(game, Effort(seconds=seconds)).results
    return {each.law: each.breach or each.hint or "" for each in results if each.breach or each.hint}


def report_plugin(source: object, *, quick: bool = False, seconds: float = 0.3, **options: object) -> dict[str, str]:
    return report(lambda: make_game(source, name="seeded", **options), quick=quick, seconds=seconds)


def module_in_file(source: str, path: Path) -> ModuleType:
    """Return a module whose source is in a file, so that its rules are compiled."""
    path.write_text(source)
    module = ModuleType(path.stem)
    exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
    return module


def build_kernel(source: str, folder: Path) -> Path:
    """Compile a kernel and return the library."""
    (folder / "kernel.c").write_text(source)
    command = ["cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "kernel.so", "kernel.c"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "kernel.so"


def load_kernel(library: Path, name: str = "tapatan_kernel") -> Kernel:
    address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(str(library)), name))
    return Kernel(ffi, ffi.cast("pp_kernel *", address))
