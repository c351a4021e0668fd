"""`solve check` of a game that crashes, hangs or exhausts memory: one clear message, and no process is left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from perfectplay.errors import PluginError
from perfectplay.game.loading import make_game
from perfectplay.testing import BrokenLaws, check_game, checks, run_checks, sandbox
from perfectplay.testing.sandbox import CallLog

from .. import zoo
from ..cli import assert_refused
from .seeded import TAPATAN, TAPATAN_KERNEL, build_kernel

PLUGIN = """
from perfectplay_native._engine import ffi
from perfectplay_native.kernel import Kernel
import ctypes, pathlib

@hookimpl
def tier(position):
    return position.bit_count()

@hookimpl
def kernel():
    library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("kernel.so")))
    address = ctypes.addressof(ctypes.c_char.in_dll(library, "tapatan_kernel"))
    return Kernel(ffi, ffi.cast("pp_kernel *", address))
"""


@pytest.fixture
def tapatan(tmp_path):
    """Makes a game file with a change in its kernel, and returns the command that checks or solves it."""

    def make(old: str, new: str, *words: str) -> list[str]:
        build_kernel(zoo.change(TAPATAN_KERNEL.read_text(), {old: new}), tmp_path)
        shutil.copy(TAPATAN / "rules.py", tmp_path / "tapatan.py")
        with (tmp_path / "tapatan.py").open("a") as file:
            file.write(PLUGIN)
        return [sys.executable, "-m", "perfectplay", *words, str(tmp_path / "tapatan.py")]

    return make


def test_a_crash_breaks_one_law(tapatan):
    command = tapatan("const unsigned moved =", "__builtin_abort();\n    const unsigned moved =", "check")
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 1
    first, _, rest = process.stdout.partition("\n?")
    assert " ".join(first.split()) == (
        "✗ hooks the kernel crashed with SIGABRT in 'expand' of position .../.../... (0) during the check 'room' of "
        "position .../.../... (0); set PERFECTPLAY_DEBUG=1 to use a debugger"
    )
    assert "? finite       not completed; see 'hooks'" in rest.splitlines()
    assert rest.splitlines()[-1] == "tapatan: 1 check failed"
    assert process.stderr == ""


RECURSION = """static int dive(volatile int depth) { return depth < 0 ? 0 : dive(depth + 1) + depth; }
static size_t expand(const pp_kernel *self, pp_position position, pp_slot *slots) {
    if (tier(self, position) == 4) dive(1);"""

CRASHES = {
    "abort": (
        "const size_t found = moves",
        "__builtin_abort();\n    const size_t found = moves",
        "kernel crashed in 'expand'",
    ),
    "stack overflow": (RECURSION.splitlines()[1], RECURSION, "process crashed"),
    "bad address": (".retract = retract,", ".retract = (void *)8,", "process crashed"),
    "while loading": ("return (uint64_t)choose", "__builtin_trap();\n    return (uint64_t)choose", "process crashed"),
}


@pytest.mark.parametrize("crash", CRASHES)
def test_a_crash_of_a_solve_names_the_game_and_the_function(tapatan, crash):
    old, new, event = CRASHES[crash]
    process = subprocess.run(tapatan(old, new), capture_output=True, text=True)
    assert process.returncode < 0
    line = rf"error: (\S+tapatan\.py): the {event} with SIG[A-Z]+; `solve check \1` finds the position\n"
    assert re.fullmatch(line, process.stderr), process.stderr


def test_a_crash_while_the_game_is_loaded_is_reported(tapatan):
    size = "return (uint64_t)choose[PLACES]"
    command = tapatan(size, f"if (tier == 3) __builtin_abort();\n    {size}", "check")
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 1
    assert process.stderr.count("\n") == 1
    assert process.stderr.startswith("error: tapatan: hook 'kernel' crashed with SIGABRT while the game was loaded; ")
    assert "tier_size" in process.stderr


def test_a_crash_while_a_file_is_imported_is_reported_once(tmp_path):
    (tmp_path / "mygame.py").write_text("import os; os.abort()")
    command = [sys.executable, "-m", "perfectplay", "check", "./mygame.py"]
    assert_refused(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True), 1, "mygame: ", "SIGABRT")


@pytest.fixture
def hanging(tapatan):
    """A check that waits for its kernel, in a separate process group."""
    loop = "for (volatile int i = 1; i;) {}"
    command = tapatan("const unsigned moved =", f"{loop}\n    const unsigned moved =", "check")
    accept_ctrl_c = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # tests in the background ignore it
    check = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=accept_ctrl_c
    )
    wait_until(lambda: any(pid != check.pid and seconds >= 1 for pid, seconds in group(check.pid).items()))
    yield check
    if group(check.pid):
        os.killpg(check.pid, signal.SIGKILL)
    check.communicate()


def wait_until(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def group(leader: int) -> dict[int, int]:
    """Return the processes of a process group with their CPU seconds."""
    rows = subprocess.run(["ps", "-eo", "pgid=,pid=,times=,stat="], capture_output=True, text=True, check=True).stdout
    return {
        int(pid): int(seconds)
        for group, pid, seconds, state in map(str.split, rows.splitlines())
        if int(group) == leader and not state.startswith("Z")
    }


def test_ctrl_c_ends_the_check_and_its_child(hanging):
    os.killpg(hanging.pid, signal.SIGINT)
    _, errors = hanging.communicate(timeout=120)
    assert hanging.returncode == 130
    assert errors.strip() == "interrupted"
    assert group(hanging.pid) == {}


def test_the_child_exits_with_its_parent(hanging):
    hanging.kill()
    hanging.wait()
    wait_until(lambda: not group(hanging.pid))


def test_the_description_names_the_check_the_call_and_the_move():
    log = CallLog()
    log.set_check("kernel", 5)
    log.before_call("apply", (5, 3))
    message = "the kernel crashed in 'apply' of 5, move 3 during the check 'kernel' of 5; set PERFECTPLAY_DEBUG=1"
    assert log.describe("crashed", name=str).startswith(message)
    log.after_call()
    cause = "; possible memory corruption in the kernel, last call: 'apply' of 5, move 3"
    assert f"the game crashed during the check 'kernel' of 5{cause}" in log.describe("crashed", name=str)
    log.before_hook("format_move", (5, 3))
    message = f"hook 'format_move' crashed in 5, move 3 during the check 'kernel' of 5{cause}"
    assert message in log.describe("crashed", name=str)


# ---- games in Python ----

MEMORY = "exceeded the memory limit"
LATE = "position == 3"
ENDLESS = {
    "a loop": (f"while {LATE}: pass", "did not return within 2 seconds"),
    "a list": (f"grown = []\n    while {LATE}: grown += grown or [0]", MEMORY),
    "small objects": (f"grown = {{}}\n    while {LATE}: grown[len(grown)] = [0]", MEMORY),
    "a recursion": (f"if {LATE}: moves(position)", "raised RecursionError"),
    "a deep recursion": (
        f"import sys\n    if {LATE}: sys.setrecursionlimit(10**9); moves(position)",
        f"(crashed with SIGSEGV|did not return within 2 seconds|{MEMORY})",
    ),
}


def insert_in_moves(code: str, body: str) -> str:
    return zoo.change(code, {"def moves(position): ": f"def moves(position):\n    {body}\n    "})


@pytest.mark.parametrize("way", ENDLESS)
def test_an_endless_hook_is_reported_with_its_position(codes, monkeypatch, way):
    body, reason = ENDLESS[way]
    monkeypatch.setattr(sandbox, "PATIENCE", 2 if "2 seconds" in reason else 300)  # filling memory may take long
    monkeypatch.setattr(sandbox, "MEMORY", 64 << 20)
    game = make_game(codes.module_of(insert_in_moves(codes.subtraction, body)))
    found = {each.law: each.breach or each.hint or "" for each in run_checks(game).results}
    assert re.search(f"hook 'moves' {reason}.* in position 3", found["hooks"])
    if "RecursionError" not in reason:  # an ordinary error, which does not end the process
        assert re.search(r"during the check '\w+' of position 3; set PERFECTPLAY_DEBUG=1 ", found["hooks"])
        assert found["finite"] == "not completed; see 'hooks'"


def test_a_hook_that_hangs_at_the_start_does_not_hang_the_check(codes, monkeypatch):
    monkeypatch.setattr(sandbox, "PATIENCE", 1)
    message = "game: hook 'moves' did not return within 1 seconds in position 7 while the game was loaded"
    with pytest.raises(PluginError, match=message):
        check_game(codes.module_of(insert_in_moves(codes.subtraction, "while True: pass")))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "while True: pass",
            "hooks: hook 'walk' did not return within 1 seconds during the check 'walk' of position 7",
        ),
        ("raise SystemExit", "walk: 'walk' cannot be used: SystemExit"),
    ],
)
def test_a_walk_that_hangs_or_exits_is_reported(codes, monkeypatch, body, message):
    monkeypatch.setattr(sandbox, "PATIENCE", 1)
    walk = f"\n@hookimpl\ndef walk():\n    {body}\n    yield\n"
    with pytest.raises(BrokenLaws, match=message):
        check_game(make_game(codes.module_of(codes.subtraction + walk)))


def test_a_position_that_cannot_be_formatted_is_shown_as_a_number(codes, monkeypatch):
    monkeypatch.setattr(sandbox, "PATIENCE", 1)
    monkeypatch.setattr(checks, "NAMING_PATIENCE", 1)
    more = "\n@hookimpl\ndef encode(text): return int(text)\n@hookimpl\ndef decode(position):\n    while True: pass\n"
    breach = run_checks(make_game(codes.module_of(codes.subtraction + more))).results[0].breach
    assert breach is not None
    assert re.match("hook 'decode' did not return within 1 seconds in position 7 during the check 'text' of", breach)
