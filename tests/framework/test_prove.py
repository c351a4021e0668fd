"""Proving one position: known results of games, the proof file, stopping and resuming, tables, the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from perfectplay import Outcome, PluginError, Proof, ProofOptions, UsageError, load_game, make_game, solve_game
from perfectplay import prove as proof_module
from perfectplay import prove_position as prove_with_options
from perfectplay.errors import Interrupted, TableError
from perfectplay.prove import proof_path, read_proof
from perfectplay.table.gbl2 import entries, read_gbl2, read_header, write_gbl2

from ..cli import assert_refused, solve
from .damage import stop_after_tiers

SOLVE = str(Path(sys.executable).with_name("solve"))
DRAWN_GOBBLET = 43980465112106
ROOT = Path(__file__).parents[2]
DRAW = 2
"""The search's code of a draw."""


def prove_position(game, position=None, *, progress=None, stop=None, **options) -> Proof:
    return prove_with_options(game, position, ProofOptions(**options), progress=progress, stop=stop)


def read_outcomes(path: Path) -> dict[int, int]:
    return {position: outcome for part in read_gbl2(path) for position, outcome in part.tolist()}


@pytest.fixture(scope="session")
def gobblet():
    return load_game("gobblet")


@pytest.fixture
def compare(gobblet_tables):
    """compare(file): compare a file of Gobblet outcomes with the complete table, in a separate process."""

    def compare(file):
        environment = {**os.environ, "PERFECTPLAY_TABLES": str(gobblet_tables)}
        done = subprocess.run(
            [SOLVE, "compare", "gobblet", "gbl2", file, "--json"], capture_output=True, env=environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return compare


# ---- known results ----


def test_gobblet_is_proven_within_a_gigabyte_and_agrees_with_the_table(compare, tmp_path):
    done = subprocess.run([SOLVE, "prove", "gobblet", "--dir", tmp_path, "--json"], capture_output=True, check=True)
    summary = json.loads(done.stdout)
    assert summary["outcome"] == "win"
    assert summary["peak_memory"] < 1_000_000_000
    assert summary["proven"] > 1000
    comparison = compare(summary["file"])
    assert comparison["entries"] == comparison["agree"] == summary["proven"]


def test_every_reachable_gobblet_position_agrees_with_the_table(compare, gobblet, tmp_path):
    """The first 300,000 positions of a search without pruning, each proven separately."""
    stop = threading.Event()

    def stop_when_enough(now):
        if now.positions > 300_000:
            stop.set()

    with pytest.raises(Interrupted):
        prove_position(gobblet, directory=tmp_path, prune=False, progress=stop_when_enough, stop=stop)
    comparison = compare(proof_path(gobblet, tmp_path))
    assert comparison["entries"] == comparison["agree"] > 300_000
    assert 0 in read_outcomes(proof_path(gobblet, tmp_path)).values()  # draws among them


def test_quantik_is_won_by_the_second_player():
    assert prove_position(load_game("quantik"), save=False).outcome is Outcome.LOSS


def test_a_drawn_gobblet_position_is_proven_drawn(gobblet):
    proof = prove_position(gobblet, DRAWN_GOBBLET, save=False)
    assert proof.outcome is Outcome.DRAW
    assert proof.counts.confirmed > 0  # the proof depends on repetitions


# ---- games in plain Python ----


def test_without_pruning_every_position_has_the_outcome_of_a_solve(tic_tac_toe, tmp_path):
    proof = prove_position(tic_tac_toe, directory=tmp_path, prune=False)
    assert proof.outcome is Outcome.DRAW
    assert proof.counts.unique == proof.wins + proof.draws + proof.losses == 765
    with solve_game(tic_tac_toe, save=False).table as table:
        for position, outcome in read_outcomes(proof_path(tic_tac_toe, tmp_path)).items():
            sign = -1 if tic_tac_toe.board(position).to_move else 1
            assert outcome == sign * table.probe(position).outcome


def test_a_game_without_turns_has_no_proof_file(subtraction, tmp_path):
    proof = prove_position(subtraction, directory=tmp_path)
    assert (proof.outcome, proof.file) == (Outcome.WIN, None)
    assert not list(tmp_path.iterdir())


def test_a_hook_that_raises_is_named_and_nothing_is_saved(codes, tmp_path):
    broken = codes.tic_tac_toe.replace("return [cell for", "if board.count(0) < 4: 1 / 0\n    return [cell for")
    broken = broken.replace("def moves(position):", "def moves(position):\n    board = cells(position)")
    with pytest.raises(PluginError, match="moves"):
        prove_position(make_game(codes.module_of(broken), name="broken"), directory=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_number_that_is_no_position_is_refused(gobblet):
    with pytest.raises(UsageError, match=r"3 .* gobblet"):
        prove_position(gobblet, 3)


# ---- the proof file ----


def test_the_next_run_starts_with_the_proven_outcomes(gobblet, tmp_path):
    first = prove_position(gobblet, directory=tmp_path)
    assert first.known_before == 0
    assert first.file == proof_path(gobblet, tmp_path)
    assert read_header(first.file).count == first.counts.unique
    again = prove_position(gobblet, directory=tmp_path)
    assert again.outcome is Outcome.WIN
    assert (again.known_before, again.counts.evaluated) == (first.counts.unique, 0)
    other = prove_position(gobblet, DRAWN_GOBBLET, directory=tmp_path)
    assert other.counts.unique > other.known_before == first.counts.unique
    assert len(read_outcomes(first.file)) == other.counts.unique


def test_runs_at_the_same_time_keep_the_outcomes_of_each_other(tic_tac_toe, tmp_path, monkeypatch):
    """Another run begins and ends after this one has read the file."""
    first, second = tic_tac_toe.encode("X...O...."), tic_tac_toe.encode("X.......O")
    path = proof_path(tic_tac_toe, tmp_path)
    expected: dict[int, int] = {}
    load = proof_module._ProofFile.load

    def load_and_prove_the_other(file, search):
        count = load(file, search)
        monkeypatch.setattr(proof_module._ProofFile, "load", load)
        prove_position(tic_tac_toe, second, directory=tmp_path)
        expected.update(read_outcomes(path))
        return count

    monkeypatch.setattr(proof_module._ProofFile, "load", load_and_prove_the_other)
    prove_position(tic_tac_toe, first, directory=tmp_path)
    both = read_outcomes(path)
    prove_position(tic_tac_toe, first, directory=tmp_path / "alone")
    expected.update(read_outcomes(proof_path(tic_tac_toe, tmp_path / "alone")))
    assert len(expected) > len(read_outcomes(proof_path(tic_tac_toe, tmp_path / "alone")))
    assert both == expected


def test_two_processes_prove_at_the_same_time(tmp_path):
    positions = ["X...O....", "X.......O"]
    code = (
        "import sys\nfrom pathlib import Path\nfrom tests import zoo\n"
        "from perfectplay import ProofOptions, prove_position\n"
        "game = zoo.make('tictactoe')\n"
        "options = ProofOptions(directory=Path(sys.argv[1]), checkpoint=0.001)\n"
        "prove_position(game, game.encode(sys.argv[2]), options)\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, tmp_path, each], cwd=ROOT) for each in positions]
    assert [run.wait() for run in runs] == [0, 0]
    (file,) = tmp_path.glob("*.gbl2")
    for each in positions:
        alone = tmp_path / "alone" / each
        subprocess.run([sys.executable, "-c", code, alone, each], cwd=ROOT, check=True)
        (other,) = alone.glob("*.gbl2")
        assert read_outcomes(other).items() <= read_outcomes(file).items()


def test_outcomes_are_stored_for_the_first_player_and_read_for_the_mover(tic_tac_toe, tmp_path):
    prove_position(tic_tac_toe, directory=tmp_path, prune=False)
    for text, winner in (("XXX.OO...", 1), ("OOO.XX.X.", -1), ("XX.OO....", 1)):
        position = tic_tac_toe.canonicalize(tic_tac_toe.encode(text))
        assert read_outcomes(proof_path(tic_tac_toe, tmp_path))[position] == winner
    again = prove_position(tic_tac_toe, tic_tac_toe.encode("XX.OO.X.."), directory=tmp_path)
    assert again.counts.evaluated == 0
    assert again.outcome is Outcome.WIN  # O completes the middle row


def test_each_version_of_the_rules_has_a_separate_file(codes, tmp_path):
    games = [
        make_game(codes.module_of(codes.tic_tac_toe + f"\nRULES_VERSION = {version}\n"), name="tictactoe")
        for version in (1, 2)
    ]
    assert proof_path(games[0], tmp_path) != proof_path(games[1], tmp_path)


def test_every_changed_byte_and_every_truncation_is_detected(tic_tac_toe, tmp_path):
    path = prove_position(tic_tac_toe, directory=tmp_path).file
    data = path.read_bytes()
    damaged = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(len(data))]
    damaged += [data[:length] for length in range(0, len(data), 7)]
    for contents in damaged:
        path.write_bytes(contents)
        with pytest.raises(TableError, match=str(path)):
            read_proof(path, tic_tac_toe)
    with pytest.raises(TableError, match=str(path)):
        prove_position(tic_tac_toe, directory=tmp_path)


def test_the_file_of_another_game_is_refused(gobblet, tic_tac_toe, tmp_path):
    prove_position(gobblet, directory=tmp_path)
    proof_path(gobblet, tmp_path).rename(proof_path(tic_tac_toe, tmp_path))
    with pytest.raises(TableError, match=r'proof file of .*"tictactoe".*"gobblet"'):
        prove_position(tic_tac_toe, directory=tmp_path)
    write_gbl2(proof_path(gobblet, tmp_path), [entries([0], [-1])])  # an export names no game
    with pytest.raises(TableError, match="without the name of a game"):
        prove_position(gobblet, directory=tmp_path)


# ---- checkpoints and stopping ----


def test_checkpoints_are_written_during_the_search(gobblet, tmp_path):
    counts, stop = set(), threading.Event()
    path = proof_path(gobblet, tmp_path)

    def watch(now):
        if path.exists():
            counts.add(read_header(path).count)
        if len(counts) >= 3:
            stop.set()

    with pytest.raises(Interrupted):
        prove_position(gobblet, directory=tmp_path, prune=False, checkpoint=0.1, progress=watch, stop=stop)
    assert len(read_outcomes(path)) >= max(counts) > min(counts)


def test_an_interrupted_search_without_pruning_resumes(tic_tac_toe, tmp_path):
    whole = prove_position(tic_tac_toe, directory=tmp_path / "whole", prune=False)
    for _ in range(1000):
        stop = threading.Event()
        timer = threading.Timer(0.25, stop.set)
        timer.start()
        try:
            proof = prove_position(tic_tac_toe, directory=tmp_path / "parts", prune=False, stop=stop)
            break
        except Interrupted:
            continue
        finally:
            timer.cancel()
    assert proof.file.read_bytes() == whole.file.read_bytes()
    again = prove_position(tic_tac_toe, directory=tmp_path / "parts", prune=False)
    assert again.counts.expanded == again.counts.unique == again.known_before > 100
    assert again.counts.evaluated == 0  # the marks in the file say that nothing is left


def test_ctrl_c_saves_and_prints_the_command_that_resumes(gobblet, tmp_path):
    command = ["prove", "gobblet", "--no-prune", "--checkpoint", "0.5", "--dir", str(tmp_path)]
    process = subprocess.Popen([SOLVE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not proof_path(gobblet, tmp_path).exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == f"stopped; resume with: solve {' '.join(command)}"
    assert read_header(proof_path(gobblet, tmp_path)).count > 2000
    assert [path.name for path in tmp_path.iterdir()] == [proof_path(gobblet, tmp_path).name]


# ---- with a table ----


def solve_partly(game, directory, tiers, monkeypatch):
    """Solve to disk, and stop after this many tiers."""
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=directory, stop=stop_after_tiers(patch, tiers))


@pytest.mark.parametrize(("tiers", "limit"), [(45, 10**6), (70, 10**5), (77, 10)])
def test_an_unfinished_table_shortens_the_search_of_six_mens_morris(tiers, limit, tmp_path, monkeypatch):
    morris = load_game("morris")
    solve_partly(morris, tmp_path, tiers, monkeypatch)
    proof = prove_position(morris, directory=tmp_path, use_table=True, save=False)
    assert proof.outcome is Outcome.DRAW
    assert 0 < proof.counts.evaluated < limit
    assert proof.counts.below > 0


def test_null_window_proves_a_draw_with_far_fewer_positions(tmp_path, monkeypatch):
    """Six men's morris with flying over its sub-spaces, without men in hand, as nine men's is proven."""
    morris = load_game("morris", flying=True)
    solve_partly(morris, tmp_path, 17, monkeypatch)
    proof = prove_position(morris, directory=tmp_path, use_table=True, save=False, null_window=True)
    exact = prove_position(morris, directory=tmp_path, use_table=True, save=False)
    assert proof.outcome is exact.outcome is Outcome.DRAW
    assert 0 < 4 * proof.counts.evaluated < exact.counts.evaluated
    assert proof.file is None


@pytest.mark.parametrize("flying", [False, True])
def test_null_window_agrees_with_the_table(flying):
    """Three men's morris has cycles, wins, losses and draws."""
    morris = load_game("morris", men="three", flying=flying)
    found = set()
    with solve_game(morris, save=False).table as table:
        for tier, record in table.records.items():
            for position in table.positions(tier, 0, record.size)[:: max(1, record.size // 8)].tolist():
                if position in table:
                    proof = prove_position(morris, position, save=False, null_window=True)
                    assert proof.outcome is table.probe(position).outcome
                    found.add(proof.outcome)
    assert len(found) == 3


def test_null_window_is_refused_where_it_proves_nothing(subtraction):
    with pytest.raises(UsageError, match="who is to move"):
        prove_position(subtraction, save=False, null_window=True)
    with pytest.raises(UsageError, match="no-prune"):
        prove_position(load_game("connect4"), save=False, null_window=True, prune=False)


@pytest.mark.parametrize("python", [False, True])
def test_a_complete_table_makes_the_search_unnecessary(python, tic_tac_toe, tmp_path):
    game = tic_tac_toe if python else load_game("quixo", width=3, height=3)
    without = prove_position(game, directory=tmp_path, save=False)
    solve_game(game, directory=tmp_path).table.close()
    proof = prove_position(game, directory=tmp_path, use_table=True, save=False)
    assert proof.outcome is without.outcome
    assert proof.counts.evaluated == 0 < without.counts.evaluated
    if not python:
        board = ["--width", "3", "--height", "3"]
        done = solve("prove", "quixo", *board, "--table", "--json", "--no-save", "--dir", str(tmp_path))
        assert json.loads(done.stdout)["evaluated"] == 0


def test_a_missing_table_is_an_error(tmp_path):
    with pytest.raises(TableError, match="no table of connect4"):
        prove_position(load_game("connect4"), directory=tmp_path, use_table=True)


# ---- the command ----


def test_the_command_prints_the_winner_and_the_cost(tmp_path):
    result = solve("prove", "gobblet", "--dir", str(tmp_path))
    assert result.exit_code == 0, result.output
    title, _, *lines = result.stdout.splitlines()
    assert title == "Orange wins"
    facts = {line[:18].strip(): line[18:].strip() for line in lines}
    assert (facts["proven"], facts["repetitions"], facts["deepest path"]) == ("2,043 positions", "5", "26 plies")
    assert facts["proof file"].startswith(str(tmp_path))


def test_the_command_proves_any_position_as_json():
    summary = json.loads(solve("prove", "gobblet", str(DRAWN_GOBBLET), "--no-save", "--json").stdout)
    assert summary["verdict"] == "Draw: neither player can force a win"
    assert summary["file"] is None
    assert sum(summary["terminals"].values()) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["nonsense"], "'nonsense'"), (["--checkpoint", "0"], "--checkpoint"), (["--backend", "lmdb"], "--backend")],
)
def test_wrong_arguments_are_one_line(arguments, message):
    assert_refused(solve("prove", "gobblet", *arguments), 2, message)
