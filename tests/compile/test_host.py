"""Compiled rules in use: the same tables, Python's errors, a comparison beforehand, one line if it is impossible."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from perfectplay import Game, load_game, make_game, open_table, solve_game
from perfectplay.cluster.messages import find_source
from perfectplay.cluster.worker import Worker
from perfectplay.compile import kernel as host
from perfectplay.compile.comparison import SAMPLE, RulesDiffer, compare_sample
from perfectplay.compile.compiler import NotCompiled
from perfectplay.compile.kernel import CompiledKernel, compile_rules
from perfectplay.compile.translation import HOOKS
from perfectplay.errors import Interrupted, PluginError
from perfectplay.game.engine import game_kernel
from perfectplay.game.spec import hookimpl
from perfectplay.solve.verification import verify_table

from .handwritten import FUNCTIONS, STONES, Take, compiled, fault, translation


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """use(kernel): solves of its game use this kernel."""

    def use(game: Game, kernel: CompiledKernel | NotCompiled) -> None:
        monkeypatch.setitem(host._compiled, game, kernel)

    return use


# ---- the kernel ----


def test_a_compiled_kernel_is_treated_like_a_c_kernel(use):
    game, kernel = compiled()
    use(game, kernel)
    assert (kernel.parallel, kernel.cheap) == (True, True)
    assert (kernel.rules_version, kernel.tier_count) == (game.rules_version, game_kernel(game).tier_count)
    with solve_game(game, save=False).table as table, solve_game(interpreted(Take()), save=False).table as other:
        assert table.info.hash == other.info.hash
        assert isinstance(table.kernel, CompiledKernel)
        assert verify_table(table).rules == "Python, compiled"


def interpreted(plugin: object) -> Game:
    game = make_game(plugin, name="take")
    game.compile_rules = False
    return game


def test_a_table_may_be_resumed_and_read_with_either_rules(tmp_path: Path, use):
    python = interpreted(Take())
    expected = solve_game(python, save=False).hash
    game, kernel = compiled()
    use(game, kernel)
    for one, other in ((game, python), (python, game)):
        directory = tmp_path / str(one is game)
        interrupt(one, directory)
        solution = solve_game(other, backend="lmdb", directory=directory)
        assert (solution.hash, solution.resumed) == (expected, True)
        with open_table(one, directory / "take") as table:
            assert verify_table(table).bad == 0


class StopSoon(threading.Event):
    """An event that is set after a number of calls of `is_set`."""

    looks = 0

    def is_set(self) -> bool:
        self.looks += 1
        return self.looks > 3 * STONES


def interrupt(game: Game, directory: Path) -> None:
    """Start a solve and interrupt it when some tiers are solved."""
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=directory, stop=StopSoon())


# ---- faults ----


class Broken(Take):
    """Raises in one position, which play reaches."""

    @hookimpl
    def status(self, position: int):
        if position == 44:
            raise ZeroDivisionError("integer division or modulo by zero")
        return super().status(position)


def test_a_fault_is_the_error_that_python_raises(use):
    game = make_game(Broken(), name="take")
    with pytest.raises(PluginError, match=r"'status' raised ZeroDivisionError.* 44.*solve check") as expected:
        solve_game(interpreted(Broken()), save=False)
    use(game, host.compile_rules(game, translation({"status": fault("status", "p == 44")})))
    with pytest.raises(PluginError, match=re.escape(str(expected.value))):
        solve_game(game, save=False)


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if hook not in ("start", "valid", "undo", "parents")])
def test_a_fault_that_python_does_not_have_is_an_error(hook: str, use):
    game, kernel = compiled({hook: fault(hook, "p == 0" if hook == "score" else "p >> 2 == 11")})
    use(game, kernel)
    with pytest.raises(RulesDiffer, match=f"'{hook}' fails in position (4[4-7]|0),.*--no-compile"):
        solve_game(game, save=False)


def test_a_fault_affects_only_the_calls_at_that_time():
    _game, kernel = compiled({"status": fault("status", "p == 44")})
    for _ in range(2):
        assert kernel.status(48) == 0
        with pytest.raises(RulesDiffer, match="44"):
            kernel.status(44)
        assert kernel.status(3) == 1


def test_all_calls_that_run_during_a_fault_raise_its_error():
    _game, kernel = compiled({"status": fault("status", "p == 44")})
    call = kernel.callback_errors()
    call.__enter__()
    for position in (44, 48):
        with pytest.raises(RulesDiffer, match="44"):
            kernel.status(position)
    with pytest.raises(RulesDiffer, match="44"):
        call.__exit__(None, None, None)
    assert kernel.status(48) == 0


def test_a_fault_stops_a_running_engine_soon():
    _game, kernel = compiled({"status": fault("status", "p == 44")})
    stopped = threading.Event()
    call = kernel.callback_errors(stopped.set)
    call.__enter__()
    kernel.c.status(kernel.c, 44)
    assert stopped.wait(10)
    with pytest.raises(RulesDiffer, match="44"):
        call.__exit__(None, None, None)
    with kernel.callback_errors(stopped.set):
        stopped.clear()
        assert not stopped.wait(5 * host.POLL_SECONDS)


# ---- the comparison ----

WRONG = {
    "start": "return STONES * 4 - 4;",
    "valid": "return p <= STONES * 4 - 4;",
    "moves": "m[0] = 1; return p > 3;",
    "apply": "return (p - 4 * m) ^ 3;",
    "undo": "return p + 4 * m;",
    "canonicalize": "return p;",
    "status": "return p < 4 ? PP_WON : PP_ONGOING;",
    "mover": "return 0;",
    "score": "return -1;",
    "tier": "return 0;",
    "parents": "out[0] = 1; return 1;",
}


@pytest.mark.parametrize("hook", WRONG)
def test_a_difference_is_an_error_with_both_results(hook: str):
    head = FUNCTIONS[hook].split("{", 1)[0]
    game, kernel = compiled({hook: f"{head}{{ {WRONG[hook]} }}"})
    with pytest.raises(RulesDiffer, match=rf"disagree on '{hook}.*compiled gives .*Python gives .*--no-compile"):
        compare_sample(game, kernel)


def test_a_wrong_win_is_a_difference():
    wins = "static int wins_now(const pp_kernel *k, pp_position p) { return p == 36; }"
    right = translation()
    source = f"{wins}\n{right.source}".replace(".status = status", ".status = status, .wins_now = wins_now")
    game = make_game(Take(), name="take")
    kernel = compile_rules(game, replace(right, source=f'#include "perfectplay.h"\n{source}'))
    with pytest.raises(RulesDiffer, match="'wins_now' in position 36: compiled gives True, Python gives False"):
        compare_sample(game, kernel)


@pytest.mark.parametrize("hook", ["tier", "parents", "undo"])
def test_an_error_during_the_comparison_names_the_hook(hook: str):
    def broken(self: Take, position: int) -> int:
        return {}[position]

    def broken_undo(self: Take, position: int, move: int) -> int:
        return {}[position]

    plugin = type("BrokenHook", (Take,), {hook: hookimpl(broken_undo if hook == "undo" else broken)})
    _, kernel = compiled()
    with pytest.raises(PluginError, match=f"hook '{hook}' raised KeyError"):
        compare_sample(make_game(plugin(), name="take"), kernel)


def test_the_sample_has_a_thousand_positions_or_all():
    game, kernel = compiled()
    reachable = {STONES * 4}
    for position in range(STONES * 4, 3, -1):
        if position in reachable:
            reachable |= {game.canonicalize(game.apply(position, move)) for move in game.moves(position)}
    assert compare_sample(game, kernel) == len(reachable) < SAMPLE
    assert compare_sample(game, kernel, 30) == 30
    game, kernel = compiled(stones=5000)
    assert compare_sample(game, kernel) == SAMPLE


def test_a_solve_compares_first(monkeypatch: pytest.MonkeyPatch):
    game = make_game(Take(), name="take")
    wrong = translation({"tier": FUNCTIONS["tier"].replace(">> 2", ">> 3")})
    monkeypatch.setattr(host, "translate", lambda game: wrong)
    with pytest.raises(RulesDiffer, match="tier"):
        solve_game(game, save=False)


def test_a_mistake_in_the_translator_is_not_an_error(monkeypatch: pytest.MonkeyPatch):
    def fail(game: Game) -> None:
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(host, "translate", fail)
    game = make_game(Take(), name="take")
    assert solve_game(game, save=False).rules == "Python"
    assert "IndexError: tuple index out of range" in str(host.find_obstacle(game))


# ---- workers ----


def test_workers_use_the_rules_that_the_driver_uses(tmp_path: Path):
    file = tmp_path / "nim.py"
    file.write_text(NIM)
    game = load_game(str(file))
    assert isinstance(Worker(find_source(game), None).kernel, CompiledKernel)
    game.compile_rules = False
    assert not isinstance(Worker(find_source(game), None).kernel, CompiledKernel)


# ---- commands ----

NIM = """
from perfectplay import Status, hookimpl

@hookimpl
def start():
    return 21

@hookimpl
def moves(position):
    return [move for move in (1, 2, 3) if move <= position]

@hookimpl
def apply(position, move):
    return position - move

@hookimpl
def status(position):
    return Status.ONGOING if position else Status.LOST
"""

UNTRANSLATABLE = NIM.replace("if position else", "if str(position) != '0' else")


@pytest.fixture
def solve(tmp_path: Path):
    """solve("./nim.py"): runs a command in an empty directory, with nothing of the user's."""
    home, place = tmp_path / "home", tmp_path / "place"
    home.mkdir()
    place.mkdir()
    (place / "nim.py").write_text(NIM)
    (place / "text.py").write_text(UNTRANSLATABLE)

    def solve(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PERFECTPLAY_TABLES": str(home), **variables}
        command = [sys.executable, "-m", "perfectplay", *arguments]
        return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)

    return solve


def rules_row(text: str) -> str | None:
    match = re.search(r"^ +rules +(.*)$", text, re.MULTILINE)
    return match and match[1]


def table_hash(text: str) -> str:
    return re.search(r"hash +(\w+)", text)[1]


def test_a_file_is_compiled_at_once(solve):
    done = solve("./nim.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert rules_row(done.stdout) == "Python, compiled"
    assert "rules: Python, compiled; " in solve("verify", "./nim.py").stdout


def test_without_a_compiler_it_is_one_line(solve):
    with_compiler = solve("./nim.py")
    done = solve("./nim.py", "--force", PATH="")
    assert done.returncode == 0
    assert re.fullmatch(r"rules not compiled: there is no C compiler.*\n", done.stderr)
    assert rules_row(done.stdout) == "Python"
    assert table_hash(done.stdout) == table_hash(with_compiler.stdout)
    assert "rules: Python; " in solve("verify", "./nim.py", PATH="").stdout


def test_rules_that_cannot_be_translated_are_one_line(solve):
    done = solve("./text.py")
    assert done.returncode == 0
    assert re.fullmatch(r"rules not compiled: .*text\.py:18: .*\n", done.stderr)
    assert rules_row(done.stdout) == "Python"


@pytest.mark.parametrize("command", [["verify"], ["prove", "--no-save"], ["plan"], ["bench"], ["check"]])
def test_other_commands_compile_too(command: list[str], solve):
    solve("./nim.py")
    first, *rest = command
    assert "not compiled" not in solve(first, "./nim.py", *rest).stderr
    missing = solve(first, "./nim.py", *rest, PATH="")
    assert missing.returncode == 0
    assert re.search("^rules not compiled: there is no C compiler", missing.stderr, re.MULTILINE)
    assert solve(first, "./nim.py", *rest, "--no-compile", PATH="").stderr.count("compiled") == 0


def test_it_can_be_switched_off(solve):
    for done in (solve("./nim.py", "--no-compile"), solve("./nim.py", "--force", PERFECTPLAY_COMPILE="0")):
        assert (done.returncode, done.stderr) == (0, "")
        assert rules_row(done.stdout) == "Python"


def test_check_compares_compiled_rules(solve):
    assert re.search(r"✓ compiled +the compiled rules and the Python hooks agree", solve("check", "./nim.py").stdout)
    assert re.search(r"– compiled ", solve("check", "./text.py").stdout)
    assert re.search(r"– compiled ", solve("check", "./nim.py", "--no-compile").stdout)


def test_compile_shows_the_c_of_every_hook(solve):
    done = solve("compile", "./nim.py")
    assert done.returncode == 0, done.stderr
    for hook in ("start", "moves", "apply", "status"):
        assert re.search(rf"^  {hook} +translated from .*nim.py:\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"compared +22 positions, all results equal", done.stdout)
    assert "times as fast" in done.stdout
    assert "   13  def apply(position, move):" in done.stdout
    done = solve("compile", "./text.py")
    assert re.search(r"^  status +not translated: .*text.py:18: ", done.stdout, re.MULTILINE)
    assert re.search(r"^  moves +translated from", done.stdout, re.MULTILINE)
    assert re.search(r"^  not compiled +.*text.py:18: ", done.stdout, re.MULTILINE)
