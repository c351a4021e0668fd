"""The C code under gcc's sanitizers: kernels, complete small solves by every way, and their proofs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
ENGINE = ROOT / "native/perfectplay_native"
GAMES = sorted((ROOT / "games").glob("*/perfectplay_*"))

# PP_NO_CLONES: choosing a clone runs before the sanitizers do.
FLAGS = ["-std=c11", "-g", "-O1", "-pthread", "-DPP_NO_CLONES", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_kernels_and_small_solves_are_clean(sanitizer: str, program: Callable[[str], str], tmp_path: Path):
    gcc = program("gcc")
    folders = [ENGINE / "src", *GAMES]
    sources = [HERE / "sanitize/driver.c", HERE / "graph_kernel.c", *(c for each in folders for c in each.glob("*.c"))]
    includes = [f"-I{folder}" for folder in (ENGINE / "include", HERE, *folders)]
    generated = {source for source in sources if source.name.startswith("_")}  # cffi's, if a build left them here
    program = tmp_path / "driver"
    sanitize = [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]
    build = [gcc, *FLAGS, *sanitize, *includes, "-o", str(program), *(str(c) for c in sources if c not in generated)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "a large graph is solved and proven"
