"""`solve check` of a game that crashes, hangs or eats memory: one line about it, and no process is left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from perfectplay.errors import PluginError
from perfectplay.game.loading import make_game
from perfectplay.testing import BrokenLaws, check_game, checks, run_checks
from perfectplay.testing import sandbox as own_process
from perfectplay.testing.sandbox import Watch
from perfectplay_native.build import INCLUDE

TAPATAN = Path(__file__).parent.parent.parent / "docs" / "examples" / "tapatan" / "perfectplay_tapatan"
LOOP = "for (volatile int i = 1; i;) {}"

PLUGIN = """
from perfectplay_native._engine import ffi
from perfectplay_native.kernel import Kernel
import ctypes, pathlib

@hookimpl
def kernel():
    library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("kernel.so")))
    address = ctypes.addressof(ctypes.c_char.in_dll(library, "tapatan_kernel"))
    return Kernel(ffi, ffi.cast("pp_kernel *", address))
"""


@pytest.fixture
def tapatan(tmp_path):
    """Makes a game file with a kernel in which something is replaced; returns the command that checks it."""

    def make(old: str, new: str) -> list[str]:
        source = (TAPATAN / "kernel.c").read_text()
        assert old in source
        (tmp_path / "kernel.c").write_text(source.replace(old, new))
        command = ["cc", "-std=c11", "-O1", "-w", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", "kernel.so", "kernel.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        shutil.copy(TAPATAN / "rules.py", tmp_path / "tapatan.py")
        with (tmp_path / "tapatan.py").open("a") as file:
            file.write(PLUGIN)
        return [sys.executable, "-m", "perfectplay", "check", str(tmp_path / "tapatan.py")]

    return make


def test_a_crash_is_one_broken_law(tapatan):
    command = tapatan("const unsigned moved =", "__builtin_abort();\n    const unsigned moved =")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    told, _, rest = done.stdout.partition("\n?")
    assert " ".join(told.split()) == (
        "✗ hooks the kernel crashed with SIGABRT in 'expand' of position .../.../... (0), while the law 'room' "
        "was tried on position .../.../... (0); with PERFECTPLAY_DEBUG=1 a debugger can follow"
    )
    assert "? finite       not tried to the end: see 'hooks'" in rest.splitlines()
    assert rest.splitlines()[-1] == "tapatan: 1 broken"
    assert done.stderr == ""


def test_a_crash_while_the_game_is_loaded_is_told_too(tapatan):
    command = tapatan("return (uint64_t)choose[PLACES]", "if (tier == 3) __builtin_abort();\n    return choose[PLACES]")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "error: tapatan: hook 'kernel' crashed with SIGABRT, while the game was loaded: look at what makes the kernel, "
        "and at its tier_size; with PERFECTPLAY_DEBUG=1 a debugger can follow\n"
    )


@pytest.fixture
def hanging(tapatan):
    """A check that waits for its kernel, in a process group of its own."""
    command = tapatan("const unsigned moved =", f"{LOOP}\n    const unsigned moved =")
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # who runs the tests in the background ignores it
    check = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heard)
    deadline = time.monotonic() + 60
    while not any(pid != check.pid and seconds >= 1 for pid, seconds in group(check.pid).items()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    yield check
    if group(check.pid):
        os.killpg(check.pid, signal.SIGKILL)
    check.communicate()


def group(leader: int) -> dict[int, int]:
    """The processes of a process group, and how many seconds each has computed."""
    listed = subprocess.run(["ps", "-eo", "pgid=,pid=,times=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {
        int(pid): int(seconds)
        for group, pid, seconds, state in rows
        if int(group) == leader and not state.startswith("Z")
    }


def test_ctrl_c_ends_it_and_its_child(hanging):
    os.killpg(hanging.pid, signal.SIGINT)
    _, said = hanging.communicate(timeout=30)
    assert hanging.returncode == 130
    assert said.strip() == "interrupted"
    assert group(hanging.pid) == {}


def test_a_child_does_not_outlive_it(hanging):
    hanging.kill()
    hanging.wait()
    deadline = time.monotonic() + 30
    while group(hanging.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_move_is_named_with_its_position():
    watch = Watch()
    watch.tries("kernel", 5)
    watch.before_call("apply", (5, 3))
    follow = "; with PERFECTPLAY_DEBUG=1 a debugger can follow"
    story = "the kernel crashed in 'apply' of 5, move 3, while the law 'kernel' was tried on 5"
    assert watch.story("crashed", name=str) == story + follow
    watch.after_call()
    doubt = ": does the kernel write where it must not? It was asked last for 'apply' of 5, move 3"
    story = "the game crashed, while the law 'kernel' was tried on 5"
    assert watch.story("crashed", name=str) == story + doubt + follow
    watch.asks_hook("format_move", (5, 3))
    story = "hook 'format_move' crashed in 5, move 3, while the law 'kernel' was tried on 5"
    assert watch.story("crashed", name=str) == story + doubt + follow


# ---- games in Python ----

LATE = "position == 3"
ENDLESS = {
    "a loop": (f"while {LATE}: pass", "gave no answer in 2 seconds"),
    "a list": (f"grown = []\n    while {LATE}: grown += grown or [0]", "took all the memory it was given"),
    "small things": (f"grown = {{}}\n    while {LATE}: grown[len(grown)] = [0]", "took all the memory it was given"),
    "a recursion": (f"if {LATE}: moves(position)", "raised RecursionError"),
    "a deep recursion": (
        f"import sys\n    if {LATE}: sys.setrecursionlimit(10**9); moves(position)",
        r"(crashed with SIGSEGV|gave no answer in 2 seconds|took all the memory it was given)",
    ),
}


@pytest.mark.parametrize("way", ENDLESS)
def test_a_hook_without_an_end_is_told_with_its_position(codes, monkeypatch, way):
    body, how = ENDLESS[way]
    monkeypatch.setattr(own_process, "PATIENCE", 2 if "2 seconds" in how else 300)  # memory may take long to fill
    monkeypatch.setattr(own_process, "MEMORY", 64 << 20)
    code = codes.subtraction.replace("def moves(position): ", f"def moves(position):\n    {body}\n    ")
    found = {each.law: each.breach or each.hint for each in run_checks(make_game(codes.module_of(code)))}
    assert re.search(f"hook 'moves' {how}.* in position 3", found["hooks"] or "")
    if "RecursionError" not in how:  # which is an error like others
        told = r"while the law '\w+' was tried on position 3; with PERFECTPLAY_DEBUG=1 "
        assert re.search(told, found["hooks"] or "")
        assert found["finite"] == "not tried to the end: see 'hooks'"


def test_a_hook_that_hangs_at_the_start_does_not_hang_the_check(codes, monkeypatch):
    monkeypatch.setattr(own_process, "PATIENCE", 1)
    code = codes.subtraction.replace("def moves(position): ", "def moves(position):\n    while True: pass\n    ")
    told = "game: hook 'moves' gave no answer in 1 seconds in position 7, while the game was loaded; with "
    with pytest.raises(PluginError, match=told):
        check_game(codes.module_of(code))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "while True: pass",
            "hooks: hook 'walk' gave no answer in 1 seconds, while the law 'walk' was tried on position 7",
        ),
        ("raise SystemExit", "walk: 'walk' cannot be used: SystemExit"),
    ],
)
def test_a_walk_without_an_end_is_told(codes, monkeypatch, body, told):
    monkeypatch.setattr(own_process, "PATIENCE", 1)
    walk = f"\n@hookimpl\ndef walk():\n    {body}\n    yield\n"
    with pytest.raises(BrokenLaws, match=told):
        check_game(make_game(codes.module_of(codes.subtraction + walk)))


def test_a_position_that_cannot_be_written_down_is_a_number(codes, monkeypatch):
    monkeypatch.setattr(own_process, "PATIENCE", 1)
    monkeypatch.setattr(checks, "NAMING_PATIENCE", 1)
    more = "\n@hookimpl\ndef encode(text): return int(text)\n@hookimpl\ndef decode(position):\n    while True: pass\n"
    found = run_checks(make_game(codes.module_of(codes.subtraction + more)))[0].breach
    assert found is not None
    assert found.startswith(
        "hook 'decode' gave no answer in 1 seconds in position 7, while the law 'text' was tried on"
    )
