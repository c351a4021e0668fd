"""The C kernel of Morris under gcc's sanitizers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from perfectplay_morris.plugin import configure
from perfectplay_native import get_include
from perfectplay_native.build import WARNINGS

HERE = Path(__file__).parent
KERNEL = HERE.parents[2] / "games/morris/perfectplay_morris"
CHECKING = HERE.parents[1] / "native/sanitize"
FLAGS = ["-std=c11", "-g", "-O1", *WARNINGS, "-Werror", "-fsanitize=address,undefined"]


def as_c(value: object) -> str:
    """Return a C initializer; a dict becomes a struct."""
    if isinstance(value, dict):
        return "{" + ", ".join(f".{name} = {as_c(part)}" for name, part in value.items()) + "}"
    if isinstance(value, Sequence):
        return "{" + ", ".join(map(as_c, value)) + "}"
    return str(int(value))  # type: ignore[call-overload]


def test_the_kernel_is_clean_under_sanitizers(program: Callable[[str], str], tmp_path: Path) -> None:
    variants = [(men, flying) for men in ("three", "six", "nine") for flying in (False, True)]
    rules = [configure({"men": men, "flying": flying}).rules() for men, flying in variants]  # type: ignore[attr-defined]
    (tmp_path / "boards.inc").write_text(",\n".join(map(as_c, rules)))
    driver = tmp_path / "driver"
    sources = [HERE / "sanitize.c", *(KERNEL / name for name in ("board.c", "index.c", "kernel.c"))]
    includes = [f"-I{folder}" for folder in (tmp_path, KERNEL, CHECKING, get_include())]
    build = [program("gcc"), *FLAGS, "-fno-sanitize-recover=all", *includes, "-o", str(driver), *map(str, sources)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([driver], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "all boards are clean\n")
