"""Playing against a table: the rules of a match, the opponent's strength, and complete games in a terminal."""

from __future__ import annotations

import codecs
import os
import pty
import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from perfectplay import Match, Outcome, PerfectPlayError, Strength, UsageError, load_match, open_table
from perfectplay.analysis.opponent import move_probabilities

COMMANDS_PAGE = Path(__file__).parents[3] / "docs" / "commands.md"
FORTH_AND_BACK = [1, 0, 0, 1]  # race: both step forward and back again


# ---- a match ----


def test_a_match_ends_by_the_rules_of_the_game(tables):
    game = tables.tictactoe.game
    match = Match(game, [0, 3, 1, 4])
    assert match.result is None
    match.play(2)
    assert (match.result.winner, match.result.repetition) == (0, False)
    with pytest.raises(UsageError, match="the game is over"):
        match.play(5)
    match = Match(game, [4])
    with pytest.raises(UsageError, match="not a legal move"):
        match.play(4)
    assert match.moves == [4]
    assert Match(game, [0, 4, 8, 1, 7, 6, 2, 5, 3]).result.winner is None


def test_the_third_occurrence_of_a_position_is_a_draw(tables):
    match = Match(tables.race.game, FORTH_AND_BACK)
    assert (match.result, match.occurrences) == (None, 2)
    match = Match(tables.race.game, 2 * FORTH_AND_BACK)
    assert (match.result.winner, match.result.repetition) == (None, True)


def test_taking_back_restores_the_position(tables):
    match = Match(tables.race.game, [1, 0, 0])
    match.undo(2)
    assert (match.moves, match.position) == ([1], tables.race.game.apply(tables.race.game.start(), 1))
    assert match.to_move == 1
    with pytest.raises(UsageError, match="no move to undo"):
        match.undo(2)


def test_undone_moves_can_be_redone_until_another_is_played(tables):
    match = Match(tables.tictactoe.game, [4, 0, 8])
    match.undo(3)
    match.redo()
    assert (match.moves, match.to_move) == ([4], 1)
    match.play(0)  # the same move as redo, so the following move can still be redone
    match.redo()
    assert match.moves == [4, 0, 8]
    match.undo(2)
    match.play(1)
    with pytest.raises(UsageError, match="no move to redo"):
        match.redo()


def test_a_match_may_start_anywhere_and_is_saved_with_its_start(tables, tmp_path):
    game = tables.tictactoe.game
    match = Match(game, [4], start=game.encode("XO......."))
    assert (match.to_move, game.decode(match.position)) == (1, "XO..X....")
    match.play(2)
    match.play(8)
    assert match.result.winner == 0
    match.save(tmp_path / "game.json")
    assert load_match(game, tmp_path / "game.json") == match


def test_the_player_to_move_is_not_guessed(tables):
    game = tables.subtraction.game  # it has no board
    assert Match(game).to_move == 0
    match = Match(game, start=2)
    assert match.to_move is None
    match.play(2)
    assert (match.result.outcome, match.result.winner) == (Outcome.LOSS, None)


def test_a_loaded_match_equals_the_saved_one(table, tmp_path):
    match, rng = Match(table.game), random.Random(1)
    while match.result is None and len(match.moves) < 6:
        match.play(rng.choice(table.game.moves(match.position)))
    match.save(tmp_path / "game.json")
    assert load_match(table.game, tmp_path / "game.json") == match


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "perfectplay game", "game": "race", "moves": []}'])
def test_a_file_without_a_saved_game_is_refused(tables, tmp_path, text):
    (tmp_path / "game.json").write_text(text)
    with pytest.raises(PerfectPlayError, match="is not a saved game"):
        load_match(tables.race.game, tmp_path / "game.json")
    Match(tables.race.game).save(tmp_path / "game.json")
    with pytest.raises(PerfectPlayError, match="a game of race"):
        load_match(tables.tictactoe.game, tmp_path / "game.json")


# ---- strength ----


def test_a_perfect_opponent_never_falls_below_the_value(table, everything):
    for position in everything(table):
        value = table.probe(position)
        for move in move_probabilities(table.game, table, position, Strength.PERFECT):
            after = move.value(table)
            assert (after.outcome, after.score) == (value.outcome, value.score)
            if value.outcome is Outcome.WIN:
                assert after == value, "a win is played by the shortest way"


def errors(table, position, strength: Strength) -> float:
    """The probability of a move that changes the outcome."""
    moves = move_probabilities(table.game, table, position, strength)
    assert sum(moves.values()) == pytest.approx(1)
    return sum(share for move, share in moves.items() if move.value(table).outcome != table.probe(position).outcome)


def test_weaker_opponents_err_more_often_but_not_where_it_is_easy_to_see(tables):
    table, game = tables.tictactoe, tables.tictactoe.game
    obvious = game.encode("XX.OO....")  # a win at once
    assert [errors(table, obvious, strength) for strength in list(Strength)[:3]] == [0, 0, 0]
    assert errors(table, obvious, Strength.RANDOM) > 0.5
    corner = game.encode("X........")  # only the centre holds the draw, and the other replies lose in 7 plies
    rates = [errors(table, corner, strength) for strength in Strength]
    assert rates == sorted(set(rates))
    assert rates[0] == 0


def test_the_opponent_sets_the_hardest_problem(tables):
    table, game = tables.tictactoe, tables.tictactoe.game

    def losing_replies(move) -> float:
        replies = [reply.value(table).outcome for reply in move.child.moves]
        return sum(outcome is Outcome.LOSS for outcome in replies) / len(replies)

    chosen = {move.name for move in move_probabilities(game, table, game.start(), Strength.PERFECT)}
    hardest = max(losing_replies(move) for move in game.position().moves)
    assert chosen == {"a1", "a3", "c1", "c3"} == {m.name for m in game.position().moves if losing_replies(m) == hardest}


def test_the_opponent_avoids_repetition(tables):
    table, game = tables.race, tables.race.game
    for position in (p for p in range(128) if game.valid(p) and table.probe(p).remoteness is None):
        drawing = {m.child for m in game.position(position).moves if m.value(table).outcome is Outcome.DRAW}
        for seen in drawing:
            chosen = {m.child for m in move_probabilities(game, table, position, Strength.PERFECT, seen=[seen])}
            assert seen not in chosen or drawing == {seen}


# ---- in the terminal ----


def test_commands_at_the_prompt(solve, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["help", "hint", "moves", "b2", "back", "x9", "", "save", "save game.json", "load none", "b2", "quit"]
    result = solve("play", "tictactoe", "--seed", 1, input="\n".join(lines) + "\n")
    assert result.exit_code == 0, result.output
    for expected in (
        "You are First player; the table is Second player.",
        "take back",
        "Draw in 9 plies",
        "a3  b3  c3",
        "Second player plays ",
        "'x9'",
        "save FILE",
        "saved to game.json",
        "cannot read none: No such file",
    ):
        assert expected in result.stdout
    assert solve("play", "tictactoe", "--load", "game.json", input="").exit_code == 0


def test_hint_lists_the_best_moves_and_values_all(solve):
    def typed(word: str) -> list[str]:
        arguments = ("play", "tictactoe", "--from", "X.O.X....", "--side", "second")
        printed = solve(*arguments, input=f"{word}\nquit\n").stdout
        return [line for line in printed.splitlines() if line.startswith("  ") and " in " in line]

    assert len(typed("hint")) == 1  # only the best moves
    assert typed("values")[0] == typed("hint")[0]
    assert len(typed("values")) > 1


def test_play_starts_from_any_position(solve, tmp_path):
    result = solve("play", "tictactoe", "--from", "XX.OO....", input="c3\n")
    assert result.stdout.endswith("First player wins.\n")
    refused = solve("play", "tictactoe", "--from", "nonsense", input="")
    assert refused.exit_code == 2
    both = solve("play", "tictactoe", "--from", "XX.OO....", "--load", tmp_path / "game", input="")
    assert "either --load or --from" in both.stderr


def test_repetition_is_announced_and_enforced(solve, tables, tmp_path):
    saved = tmp_path / "game.json"
    Match(tables.race.game, FORTH_AND_BACK[:3]).save(saved)
    result = solve("play", "race", "--side", "second", "--load", saved, input="right\nquit\n")
    assert "This position has occurred 2 times; one more time is a draw." in result.stdout
    Match(tables.race.game, [*FORTH_AND_BACK, *FORTH_AND_BACK[:3]]).save(saved)
    result = solve("play", "race", "--side", "second", "--load", saved, input="right\n")
    assert result.exit_code == 0
    assert result.stdout.endswith("Draw: this position has occurred 3 times.\n")


class Terminal:
    """`solve` on a pseudo-terminal."""

    def __init__(self, *arguments: str, path: Path | None = None) -> None:
        self._ours, theirs = pty.openpty()
        search = os.pathsep.join(filter(None, [str(path or ""), os.environ.get("PYTHONPATH", "")]))
        code = "import sys; from perfectplay.cli import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "PYTHONPATH": search, "TERM": "dumb"},
        )
        os.close(theirs)
        self.shown = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()  # data may end in the middle of a character

    def read(self) -> str | None:
        """Return the output up to the next prompt, or None when the program has ended (the rest is in `shown`)."""
        start = len(self.shown)
        while not self.shown[start:].endswith("> "):
            try:
                data = os.read(self._ours, 1 << 16)
            except OSError:  # the other end is closed
                data = b""
            if not data:
                return None
            self.shown = (self.shown + self._decoder.decode(data)).replace("\r\n", "\n")
        return self.shown[start:]

    def type(self, line: str) -> None:
        os.write(self._ours, f"{line}\n".encode())

    def close(self) -> int:
        os.close(self._ours)
        return self._process.wait(timeout=120)


def play_at_random(terminal: Terminal, rng: random.Random) -> None:
    """Type random legal moves until the game is over."""
    while terminal.read() is not None:
        terminal.type("moves")
        listed = terminal.read()
        assert listed is not None
        _, *lines, _ = listed.split("\n")  # between the command and the prompt
        terminal.type(rng.choice([move for line in lines for move in line.split("  ")]))


def check_play(table, match: Match, side: int) -> None:
    """Check that the table wins won positions within their remoteness, and does not lose drawn ones."""
    result = match.result
    for ply in range(side, len(match.moves), 2):
        value, left = table.probe(match.positions[ply]), len(match.moves) - ply
        if value.outcome is Outcome.WIN:
            assert result.winner == side
            assert left <= value.remoteness
        elif value.outcome is Outcome.DRAW:
            assert result.winner in (None, side)


def play_whole_game(table, name: str, side: int, seed: int, path: Path | None) -> None:
    game = table.game
    terminal = Terminal("play", name, "--side", ("second", "first")[side], "--seed", str(seed), path=path)
    play_at_random(terminal, random.Random(seed))
    assert terminal.close() == 0
    typed = re.compile(r"> (?!moves\n)(.+)\n|^\S.* plays (.+)$", re.MULTILINE)
    match = Match(game)
    for found in typed.finditer(terminal.shown):
        match.play(game.parse_move(match.position, found[1] or found[2]))
    assert match.result is not None
    check_play(table, match, side)
    announced = re.findall(r"announces a win in (\d+) p", terminal.shown)
    assert all(int(later) < int(sooner) for sooner, later in pairwise(announced))
    last = terminal.shown.rstrip().splitlines()[-1]
    if match.result.winner is None:
        assert last.startswith("Draw")
    else:
        assert last.endswith(" wins.")


@pytest.mark.parametrize("side", [0, 1], ids=["the table begins", "the table is second"])
@pytest.mark.parametrize("name", ["race", "tictactoe", "subtraction"])
def test_whole_games_in_a_terminal(tables, installed, name, side):
    for seed in range(2):
        play_whole_game(getattr(tables, name), name, side, seed, installed.path)


@pytest.mark.parametrize("side", [0, 1], ids=["the table begins", "the table is second"])
def test_whole_games_of_gobblet_in_a_terminal(gobblet, side):
    with open_table(gobblet) as table:
        for seed in range(3):
            play_whole_game(table, "gobblet", side, seed, None)


def test_the_arrow_keys_recall_earlier_lines(installed):
    terminal = Terminal("play", "tictactoe", path=installed.path)
    terminal.read()
    terminal.type("moves")
    first = terminal.read()
    assert first is not None
    terminal.type("\x1b[A")  # arrow up
    again = terminal.read()
    assert again is not None
    assert "a3  b3  c3" in again
    terminal.close()


def test_a_game_without_a_mover_is_played_from_any_position(solve):
    result = solve("play", "subtraction", "--from", "4", input="1\n")
    assert "First player> " in result.stdout  # the player to move at the start counts as the first
    assert result.stdout.count("Second player plays") == 1
    won = solve("play", "subtraction", "--from", "2", input="2\n")
    assert won.stdout.endswith("First player wins.\n")


@pytest.mark.parametrize("strength", Strength)
def test_the_documentation_has_the_shares_of_every_strength(strength: Strength):
    (row,) = re.findall(rf"^\| {strength} \| .*$", COMMANDS_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert f"| {strength.slips:.0%} |".replace("%", " %") in row
    assert strength.sight == 0 or f"within {strength.sight} plies" in row
