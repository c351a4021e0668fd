"""How thoroughly `solve check` looks: sweeps, seeds, new interpreters, and random games in words."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from perfectplay import Board, Cell, Outcome, Piece, load_game, make_game, solve_game
from perfectplay.errors import PluginError
from perfectplay.game.board_text import draw
from perfectplay.testing import Effort, run_checks, sandbox
from perfectplay.testing.checks import narrate_game
from perfectplay.values import Status

from .. import zoo

Solve = Callable[..., "subprocess.CompletedProcess[str]"]


def found(game: object) -> dict[str, str]:
    results = run_checks(make_game(game), Effort(seconds=0.3)).results
    return {each.law: each.breach or each.hint or "" for each in results if each.breach or each.hint}


# ---- the sweep ----


def test_a_small_game_is_checked_in_every_position():
    report = run_checks(zoo.make("tictactoe"), Effort(seconds=60))
    assert report.complete
    assert report.positions == 5478


def test_a_mistake_in_one_position_of_thousands_is_found():
    rare = "XOX.O.OX."
    position = sum(".XO".index(letter) * 3**cell for cell, letter in enumerate(rare))
    change = {"return min(images)": f"return min(images) if position != {position} else 0"}
    breaches = run_checks(zoo.make("tictactoe", change), Effort(seconds=60)).breaches
    assert breaches.keys() & {"canonical", "symmetry"}


def test_a_short_sweep_is_not_complete():
    report = run_checks(load_game("connect4"), Effort(seconds=0.1))
    assert not report.complete
    assert not report.breaches


def test_the_command_says_how_many_positions_it_checked(run_solve: Solve, tmp_path: Path):
    file = tmp_path / "tictactoe.py"
    file.write_text(zoo.read("tictactoe"))
    done = run_solve("check", str(file), "--all")
    assert "checks passed in all 5,478 positions" in done.stdout
    reply = json.loads(run_solve("check", str(file), "--seconds", "0", "--seed", "5", "--json").stdout)
    assert not reply["complete"]
    assert 100 < reply["positions"] < 5478
    done = run_solve("check", str(file), "--all", "--seconds", "3")
    assert done.returncode == 2
    assert "--all has no time limit" in done.stderr


# ---- a new interpreter ----


def check_file(run_solve: Solve, tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "mygame.py"
    file.write_text(source)
    return run_solve("check", str(file), "--seconds", "0", timeout=300)


def test_a_cache_with_too_short_a_key_is_reported(run_solve: Solve, tmp_path: Path):
    """The first caller of the cache decides, so the result depends on the order of the calls."""
    cached = (
        "CACHE = {}\n@hookimpl\ndef status(position): return CACHE.setdefault(position % 3**6, _status(position))\n"
    )
    source = zoo.read("tictactoe", {"@hookimpl\ndef status": f"{cached}\ndef _status"})
    assert "✗ " in check_file(run_solve, tmp_path, source).stdout


def test_options_in_globals_that_change_only_the_end_are_reported(run_solve: Solve, tmp_path: Path):
    settings = """
from perfectplay import Option

@hookimpl
def options(): return [Option("misere", False, "whether three in a row loses")]

@hookimpl
def configure(options):
    global MISERE
    MISERE = options["misere"]
    return Game()

class Game:
    start, moves, apply, status = (staticmethod(hook) for hook in (start, moves, apply, status))
"""
    source = zoo.read(
        "tictactoe", {"        return Status.LOST": "        return Status.WON if MISERE else Status.LOST"}
    )
    done = check_file(run_solve, tmp_path, source + settings)
    assert "another misere than False is loaded" in " ".join(done.stdout.split())


def test_a_game_that_prints_to_standard_output_is_not_called_impure(run_solve: Solve, tmp_path: Path):
    source = zoo.read(
        "subtraction", {"def start(): return": "def start(): __import__('os').write(1, b'hello'); return"}
    )
    done = check_file(run_solve, tmp_path, source)
    assert "✓ pure" in done.stdout
    assert done.returncode == 0


def test_a_hook_that_hangs_only_in_a_new_process_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # the new process gets another one
    monkeypatch.setattr(sandbox, "PATIENCE", 3)
    file = tmp_path / "mygame.py"
    patience = "from perfectplay.testing import sandbox\nsandbox.PATIENCE = 3\n"  # in the new process, too
    body = "import os\n    while position == 3 and os.environ['PYTHONHASHSEED'] != '0': pass\n    "
    file.write_text(patience + zoo.read("subtraction", {"def moves(position): ": f"def moves(position):\n    {body}"}))
    breach = run_checks(load_game(str(file)), Effort(seconds=0)).breaches["pure"]
    assert (
        "in a new process, hook 'moves' did not return within 3 seconds in position 3 during the check 'pure'" in breach
    )


# ---- single laws ----


def test_many_moves_are_refused_quickly():
    game = zoo.module_of(
        start=lambda: 0,
        moves=lambda position: [] if position else list(range(5_000)),
        apply=lambda position, move: move + 1,
        status=lambda position: Status.LOST if position else Status.ONGOING,
    )
    assert "lists 5,000 moves in position 0; a game in Python may have at most 4,096" in found(game)["encoding"]


def test_an_alternating_game_without_a_board_has_no_hint():
    assert found(zoo.module_of(zoo.read("tictactoe", {"@hookimpl\ndef board": "def draw_board"}))) == {}


def test_a_board_with_a_third_owner_is_one_line():
    with pytest.raises(PluginError, match=r"cannot be drawn: .*owner"):
        draw(Board(1, 1, (Cell("a1", 0, 0, (Piece(2, "X"),)),), 0))


PUZZLE = "\n@hookimpl\ndef players(): return ['You']\n"


def outcome(game: object) -> Outcome:
    with solve_game(make_game(game), save=False).table as table:
        return table.probe(0).outcome


def test_a_solved_puzzle_is_won_and_the_hints_say_so():
    """The jugs can be solved, but with another status for the solution the table says otherwise."""
    assert outcome(zoo.module_of(zoo.read("jugs") + PUZZLE)) is Outcome.WIN
    for wrong in ("LOST", "DRAWN"):
        game = zoo.module_of(zoo.read("jugs", {"Status.WON": f"Status.{wrong}"}) + PUZZLE)
        assert outcome(game) is not Outcome.WIN
        assert "return WON for a solved puzzle" in found(game)["status"]
    forgotten = zoo.module_of(zoo.read("jugs"))
    assert "if one player plays alone, keep WON and return one name from 'players'" in found(forgotten)["status"]
    assert found(zoo.module_of(zoo.read("jugs") + PUZZLE)) == {}


# ---- a game in words ----


def test_a_random_game_in_words_names_the_winner():
    lines = list(narrate_game(zoo.make("tictactoe"), seed=1))
    assert lines[0] == "tictactoe: a random game (--seed 1)"
    assert re.search(r"^(First|Second) to move, status (LOST, so (First|Second) has won|DRAWN, so .* draw)$", lines[-1])
    assert any(re.match(r"1\. First plays [abc][123]", line) for line in lines)


def test_scores_are_part_of_the_last_sentence(run_solve: Solve):
    done = run_solve("check", "dots", "--rows", "1", "--columns", "3", "--show")
    assert re.search(r"(Orange|Blue) to move, status (WON|LOST), so (Orange|Blue) has won by \d$", done.stdout.strip())
