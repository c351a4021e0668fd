"""Proving one position: the known results of the games, the file of outcomes, stopping and resuming, the command."""

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
from click.testing import CliRunner, Result

from perfectplay import Outcome, PerfectPlayError, PluginError, UsageError, load_game, make_game, solve_game
from perfectplay.cli import _app as root
from perfectplay.errors import Interrupted, TableError
from perfectplay.prove.proof import proof_path, prove_position, read_proof
from perfectplay.table.gbl2 import entries, read_gbl2, read_header, write_gbl2
from perfectplay.table.lmdb_store import LmdbStore

DRAWN_GOBBLET = 43980465112106
DRAWN = 2


def read(path: Path) -> dict[int, int]:
    return {position: outcome for part in read_gbl2(path) for position, outcome in part.tolist()}


@pytest.fixture(scope="session")
def gobblet():
    return load_game("gobblet")


SOLVE = str(Path(sys.executable).with_name("solve"))


@pytest.fixture
def compare(gobblet_tables):
    """compare(file): what the strong table, in a process of its own, says of a file of Gobblet outcomes."""

    def compare(file):
        environment = {**os.environ, "PERFECTPLAY_TABLES": str(gobblet_tables)}
        done = subprocess.run(
            [SOLVE, "compare", "gobblet", "gbl2", file, "--json"], capture_output=True, env=environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return compare


# ---- known results ----


def test_gobblet_is_won_by_who_begins_within_a_gigabyte(compare, tmp_path):
    """The whole promise, as a user sees it: little memory, and a file that the strong table agrees with."""
    proven = subprocess.run(
        [SOLVE, "gobblet", "--method", "alphabeta", "--dir", tmp_path, "--json"], capture_output=True, check=True
    )
    summary = json.loads(proven.stdout)
    assert summary["outcome"] == "win"
    assert summary["peak_memory"] < 1_000_000_000
    assert summary["proven"] > 1000
    found = compare(summary["file"])
    assert found["entries"] == found["agree"] == summary["proven"]


def test_a_walk_through_gobblet_agrees_with_the_strong_table(compare, gobblet, tmp_path):
    """Some hundred thousand positions from all over the game, each proven by search."""
    stop = threading.Event()

    def stop_when_enough(now):
        if now.positions > 300_000:
            stop.set()

    with pytest.raises(Interrupted):
        prove_position(gobblet, directory=tmp_path, prune=False, progress=stop_when_enough, stop=stop)
    found = compare(proof_path(gobblet, tmp_path))
    assert found["entries"] == found["agree"] > 300_000
    assert 0 in read(proof_path(gobblet, tmp_path)).values()  # draws among them


def test_quantik_is_won_by_the_second_player():
    assert prove_position(load_game("quantik"), save=False).outcome is Outcome.LOSS


def test_a_drawn_gobblet_position_is_proven_drawn(gobblet):
    proof = prove_position(gobblet, DRAWN_GOBBLET, save=False)
    assert proof.outcome is Outcome.DRAW
    assert proof.counts.confirmed > 0  # it did rest on repetitions


# ---- games in plain Python ----


def test_tic_tac_toe_is_drawn(tic_tac_toe):
    assert prove_position(tic_tac_toe, save=False).outcome is Outcome.DRAW


def test_a_full_walk_proves_what_a_strong_solve_finds(tic_tac_toe, tmp_path):
    proof = prove_position(tic_tac_toe, directory=tmp_path, prune=False)
    assert proof.counts.unique == proof.wins + proof.draws + proof.losses == 765
    with solve_game(tic_tac_toe, save=False).table as table:
        for position, outcome in read(proof_path(tic_tac_toe, tmp_path)).items():
            sign = -1 if tic_tac_toe.board(position).to_move else 1
            assert outcome == sign * table.probe(position).outcome


def test_a_game_that_does_not_tell_whose_turn_it_is_has_no_file(subtraction, tmp_path):
    proof = prove_position(subtraction, directory=tmp_path)
    assert (proof.outcome, proof.file) == (Outcome.WIN, None)
    assert not list(tmp_path.iterdir())


def test_a_hook_that_raises_is_named_and_nothing_is_kept(codes, tmp_path):
    broken = codes.tic_tac_toe.replace("return [cell for", "if board.count(0) < 4: 1 / 0\n    return [cell for")
    broken = broken.replace("def moves(position):", "def moves(position):\n    board = cells(position)")
    with pytest.raises(PluginError, match="moves"):
        prove_position(make_game(codes.module_of(broken), name="broken"), directory=tmp_path)
    assert not list(tmp_path.iterdir())


# ---- the file ----


def test_the_next_run_begins_with_what_is_proven(gobblet, tmp_path):
    first = prove_position(gobblet, directory=tmp_path)
    assert first.known_before == 0
    assert first.file == proof_path(gobblet, tmp_path)
    assert read_header(first.file).count == first.counts.unique
    again = prove_position(gobblet, directory=tmp_path)
    assert again.outcome is Outcome.WIN
    assert (again.known_before, again.counts.evaluated) == (first.counts.unique, 0)
    other = prove_position(gobblet, DRAWN_GOBBLET, directory=tmp_path)
    assert other.counts.unique > other.known_before == first.counts.unique
    assert len(read(first.file)) == other.counts.unique


def test_outcomes_are_written_for_player_one_and_read_back_for_the_mover(tic_tac_toe, tmp_path):
    prove_position(tic_tac_toe, directory=tmp_path, prune=False)
    for text, winner in (("XXX.OO...", 1), ("OOO.XX.X.", -1), ("XX.OO....", 1)):
        position = tic_tac_toe.canonicalize(tic_tac_toe.encode(text))
        assert read(proof_path(tic_tac_toe, tmp_path))[position] == winner
    again = prove_position(tic_tac_toe, tic_tac_toe.encode("XX.OO.X.."), directory=tmp_path)
    assert again.counts.evaluated == 0
    assert again.outcome is Outcome.WIN  # O completes the middle row


def test_other_rules_have_another_file(codes, tmp_path):
    games = [
        make_game(codes.module_of(codes.tic_tac_toe + f"\nRULES_VERSION = {version}\n"), name="tictactoe")
        for version in (1, 2)
    ]
    assert proof_path(games[0], tmp_path) != proof_path(games[1], tmp_path)


def test_a_damaged_file_is_refused(gobblet, tmp_path):
    file = prove_position(gobblet, directory=tmp_path).file
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(PerfectPlayError, match="damaged"):
        prove_position(gobblet, directory=tmp_path)


def test_what_is_not_a_position_is_refused(gobblet):
    with pytest.raises(UsageError, match="3 is not a position of gobblet"):
        prove_position(gobblet, 3)


# ---- checkpoints and stopping ----


def test_checkpoints_are_written_while_it_goes_on(gobblet, tmp_path):
    seen, stop = set(), threading.Event()
    path = proof_path(gobblet, tmp_path)

    def look(now):
        if path.exists():
            seen.add(read_header(path).count)
        if len(seen) >= 3:
            stop.set()

    with pytest.raises(Interrupted):
        prove_position(gobblet, directory=tmp_path, prune=False, checkpoint=0.1, progress=look, stop=stop)
    assert len(read(path)) >= max(seen) > min(seen)


def test_an_interrupted_walk_goes_on_where_it_was(tic_tac_toe, tmp_path):
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


def test_a_walk_keeps_its_marks(tic_tac_toe, tmp_path):
    """What an earlier run went through is not gone through again: it asks for no position's moves."""
    prove_position(tic_tac_toe, directory=tmp_path, prune=False)
    again = prove_position(tic_tac_toe, directory=tmp_path, prune=False)
    assert again.counts.expanded == again.counts.unique == again.known_before > 100
    assert again.counts.evaluated == 0


# ---- the file is this game's, and as it was written ----


def test_a_foreign_proof_file_is_refused(gobblet, tic_tac_toe, subtraction, tmp_path):
    prove_position(gobblet, directory=tmp_path)
    proof_path(gobblet, tmp_path).rename(proof_path(tic_tac_toe, tmp_path))
    with pytest.raises(TableError, match=r'is not a proof file of .*"tictactoe".*, but .*"gobblet"'):
        prove_position(tic_tac_toe, directory=tmp_path)


def test_an_export_is_not_a_proof_file(gobblet, tmp_path):
    write_gbl2(proof_path(gobblet, tmp_path), [entries([0], [-1])])
    with pytest.raises(TableError, match="but of a game that it does not name"):
        prove_position(gobblet, directory=tmp_path)


def test_every_changed_byte_of_a_proof_file_is_found(tic_tac_toe, tmp_path):
    path = prove_position(tic_tac_toe, directory=tmp_path).file
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(TableError, match=str(path)):
            read_proof(path, tic_tac_toe)
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(TableError, match=str(path)):
            read_proof(path, tic_tac_toe)


def test_ctrl_c_saves_and_says_how_to_resume(gobblet, tmp_path):
    command = ["gobblet", "--method", "alphabeta", "--no-prune", "--checkpoint", "0.5", "--dir", str(tmp_path)]
    process = subprocess.Popen([SOLVE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not proof_path(gobblet, tmp_path).exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == f"stopped; resume with: solve {' '.join(command)}"
    assert read_header(proof_path(gobblet, tmp_path)).count > 2000
    assert [path.name for path in tmp_path.iterdir()] == [proof_path(gobblet, tmp_path).name]


# ---- the command ----


def solve(*arguments: str) -> Result:
    return CliRunner().invoke(root, arguments, prog_name="solve")


def test_the_command_says_who_wins_and_what_it_took(tmp_path):
    result = solve("gobblet", "--method", "alphabeta", "--dir", str(tmp_path))
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "Orange wins"
    told = {line[:18].strip(): line[18:].strip() for line in lines[2:]}
    statistics = ("proven", "evaluated", "table hits", "settled by rule", "repetitions", "deepest path", "time")
    assert all(name in told for name in (*statistics, "peak memory", "kept in"))


def test_the_command_proves_any_position_as_json(tmp_path):
    result = solve("gobblet", "--method", "alphabeta", "--from", str(DRAWN_GOBBLET), "--no-save", "--json")
    summary = json.loads(result.stdout)
    assert summary["verdict"] == "Draw: neither player can force a win"
    assert summary["file"] is None
    assert sum(summary["terminals"].values()) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "0"], "--from only works with --method alphabeta"),
        (["--no-prune"], "--no-prune only works with --method alphabeta"),
        (["--checkpoint", "5"], "--checkpoint only works with --method alphabeta"),
        (["--method", "alphabeta", "--threads", "2"], "--threads does not work with --method alphabeta"),
        (["--method", "alphabeta", "--backend", "lmdb"], "--backend does not work with --method alphabeta"),
        (["--method", "alphabeta", "--from", "nonsense"], "cannot read 'nonsense' as a position of gobblet"),
        (["--method", "alphabeta", "--checkpoint", "0"], "--checkpoint"),
        (["--method", "minimax"], "--method"),
    ],
)
def test_wrong_options_are_told_in_one_line(arguments, message):
    result = solve("gobblet", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


# ---- over a table ----


def solve_partly(game, directory, tiers, monkeypatch):
    """Solve to disk, and be stopped after so many tiers."""
    stop, written, write = threading.Event(), [0], LmdbStore.write_values

    def write_some(store, record, values):
        write(store, record, values)
        written[0] += 1
        if written[0] >= tiers:
            stop.set()

    with monkeypatch.context() as patch:
        patch.setattr(LmdbStore, "write_values", write_some)
        with pytest.raises(Interrupted):
            solve_game(game, backend="lmdb", directory=directory, stop=stop)


@pytest.mark.parametrize(("tiers", "most"), [(45, 10**6), (70, 10**5), (77, 10)])
def test_the_opening_of_six_mens_morris_is_searched_over_an_unfinished_table(tiers, most, tmp_path, monkeypatch):
    morris = load_game("morris")
    solve_partly(morris, tmp_path, tiers, monkeypatch)
    proof = prove_position(morris, directory=tmp_path, use_table=True, save=False)
    assert proof.outcome is Outcome.DRAW
    assert 0 < proof.counts.evaluated < most
    assert proof.counts.below > 0


def test_over_a_finished_table_nothing_is_searched(tmp_path):
    connect4 = load_game("connect4")
    alone = prove_position(connect4, directory=tmp_path, save=False)
    solve_game(connect4, directory=tmp_path).table.close()
    over = prove_position(connect4, directory=tmp_path, use_table=True, save=False)
    assert over.outcome is alone.outcome
    assert over.counts.evaluated == 0 < alone.counts.evaluated


def test_a_python_game_is_searched_over_its_table(tmp_path, tic_tac_toe):
    solve_game(tic_tac_toe, directory=tmp_path).table.close()
    proof = prove_position(tic_tac_toe, directory=tmp_path, use_table=True, save=False)
    assert (proof.outcome, proof.counts.evaluated) == (Outcome.DRAW, 0)


def test_without_a_table_there_is_nothing_to_use(tmp_path):
    with pytest.raises(TableError, match="there is no table of connect4"):
        prove_position(load_game("connect4"), directory=tmp_path, use_table=True)


def test_the_command_says_what_the_table_knew(tmp_path):
    places = ("--dir", str(tmp_path))
    assert solve("connect4", *places, "--quiet").exit_code == 0
    done = solve("connect4", "--method", "alphabeta", "--use-table", "--json", "--no-save", *places)
    assert json.loads(done.stdout)["evaluated"] == 0
    assert "--use-table only works with --method alphabeta" in solve("connect4", "--use-table").output
