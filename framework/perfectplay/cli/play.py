"""`solve play GAME`: a game against the table, in the terminal."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.analysis.moves import Strength, choose_move, rate_moves
from perfectplay.cli._common import GameCommand, directory_option, open_game_table, require_input
from perfectplay.cli._text import headline, painter, rated_lines, terminal_width, wrapped
from perfectplay.display.boards import draw
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game import wording
from perfectplay.game.match import REPETITIONS, Match, MatchResult, load_match
from perfectplay.game.wording import game_verdict, sides
from perfectplay.values import Outcome

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

HELP = """\
Type a move, or one of these words:
  hint         the best moves
  values       what each move is worth
  moves        the legal moves
  back         take back your last move
  save FILE    save the game
  load FILE    resume a saved game
  quit         leave"""


@click.command("play", cls=GameCommand)
@click.option("--side", type=click.Choice(["first", "second"]), default="first", help="Your side (default: first).")
@click.option(
    "--strength",
    type=click.Choice([each.value for each in Strength]),
    default=Strength.PERFECT.value,
    help="How well the table's side plays (default: perfect).",
)
@click.option("--load", "saved", type=click.Path(path_type=Path), metavar="FILE", help="Resume a saved game.")
@click.option("--from", "root", metavar="POSITION", help="Begin at this position, in any notation of the game.")
@click.option("--seed", type=int, metavar="N", help="Make the same choices among equally good moves.")
@directory_option
def command(
    game: Game,
    side: str,
    strength: str,
    saved: Path | None,
    root: str | None,
    seed: int | None,
    directory: Path | None,
) -> None:
    """Play GAME against its table.

    A position that comes up for the third time is a draw. Inside the game, `help` lists what you can type.
    """
    if saved is not None and root is not None:
        raise UsageError("give --load or --from, not both: a saved game has its own start")
    require_input()
    _edit_lines()
    with open_game_table(game, directory) as table:
        begun = Match(game, start=None if root is None else game.encode(root))
        match = begun if saved is None else load_match(game, saved)
        _Session(table, match, ("first", "second").index(side), Strength(strength), random.Random(seed)).run()


def _edit_lines() -> None:
    """Where Python has readline, `input` then knows arrow keys and the lines typed before."""
    with suppress(ImportError):
        import readline  # noqa: F401


class _Session:
    """A person at the terminal, and the table."""

    def __init__(self, table: Table, match: Match, person: int, strength: Strength, chance: random.Random) -> None:
        self.table, self.game, self.match = table, table.game, match
        self.person, self.strength, self.chance = person, strength, chance
        first, second = sides(self.game, 0)
        self.names = (first, second)
        self.words: dict[str, Callable[[str], None]] = {
            "help": lambda _: click.echo(HELP),
            "hint": lambda _: self._hint(best_only=True),
            "values": lambda _: self._hint(),
            "moves": lambda _: click.echo("\n".join(wrapped(self._move_names(), terminal_width(), gap="  "))),
            "back": lambda _: self._take_back(),
            "save": self._save,
            "load": self._load,
        }

    def run(self) -> None:
        if self.game.is_puzzle:
            click.echo("You play alone. Type help for help.")
        else:
            you, table = self.names[self.person], self.names[1 - self.person]
            click.echo(f"You are {you}; the table is {table}. Type help for help.")
        if self.table.outcomes_only:
            click.echo(wording.outcomes_only(puzzle=self.game.is_puzzle))
            click.echo("A move that keeps the outcome counts as best, whether or not it comes nearer to an end.")
        self._show()
        while True:
            if (result := self.match.result) is not None:
                click.echo(self._ending(result))
                return
            if self._turn != self.person and not self.game.is_puzzle:
                self._table_moves()
            elif not self._person_types():
                return

    @property
    def _turn(self) -> int:
        """Whose turn it is; where the game does not tell, who is to move where play began counts as the first."""
        told = self.match.to_move
        return len(self.match.moves) % 2 if told is None else told

    def _ending(self, result: MatchResult) -> str:
        if result.repetition:
            return f"Draw: this position has come up {REPETITIONS} times."
        if self.game.is_puzzle and result.outcome is not Outcome.WIN and self.game.has_score:
            return f"A score of {wording.signed(self.game.score(self.match.position))}."
        if self.game.is_puzzle:
            return "Solved." if result.outcome is Outcome.WIN else "A dead end."
        if result.outcome is Outcome.DRAW:
            return "Draw."
        winner = self._turn if result.outcome is Outcome.WIN else 1 - self._turn
        score = abs(self.game.score(self.match.position)) if self.game.has_score else 0
        return f"{self.names[winner]} wins{f' by {score}' if score else ''}."

    def _table_moves(self) -> None:
        position = self.match.position
        move = choose_move(self.game, self.table, position, self.strength, self.chance)
        click.echo(f"{self.names[1 - self.person]} plays {self.game.format_move(position, move)}")
        self._play(move)
        value = self.table.probe(self.match.position)
        wins = Outcome.WIN if self._turn != self.person else Outcome.LOSS  # the value is the next mover's
        if self.strength is Strength.PERFECT and value.outcome is wins and value.remoteness:
            click.echo(f"The table announces a win in {wording.plies(value.remoteness)}")

    def _person_types(self) -> bool:
        """Take one line from the person; False when there are no more."""
        try:
            line = input(f"{self.names[self.person]}> ").strip()
        except EOFError:
            click.echo()
            return False
        word, _, rest = line.partition(" ")
        if word == "quit":
            return False
        try:
            if word in self.words:
                self.words[word](rest.strip())
            elif line:
                self._play(self.game.parse_move(self.match.position, line))
        except PerfectPlayError as error:  # a slip of the keyboard does not end the game
            click.echo(str(error))
        return True

    def _play(self, move: int) -> None:
        self.match.play(move)
        self._show()
        if self.match.result is None and self.match.occurrences == REPETITIONS - 1:
            click.echo(f"This position has come up {self.match.occurrences} times; once more is a draw.")

    def _show(self) -> None:
        board = self.game.board(self.match.position)
        over = self.match.result is not None
        drawn = draw(board, painter(board), over=over) if board else self.game.decode(self.match.position)
        click.echo(f"\n{drawn}\n")

    def _move_names(self) -> list[str]:
        position = self.match.position
        return [self.game.format_move(position, move) for move in self.game.moves(position)]

    def _hint(self, *, best_only: bool = False) -> None:
        position = self.match.position
        value = self.table.probe(position)
        click.echo(headline(game_verdict(self.game, value, self.match.to_move), value))
        rated = rate_moves(self.game, self.table, position)
        shown = [each for each in rated if each.value == rated[0].value] if best_only else rated
        for line in rated_lines(self.game, position, shown):
            click.echo(f"  {line}")

    def _take_back(self) -> None:
        """Back to the person's turn before this one, over the table's answer."""
        self.match.undo()
        while self.match.moves and not self.game.is_puzzle and self._turn != self.person:
            self.match.undo()
        self._show()

    def _save(self, name: str) -> None:
        if not name:
            raise PerfectPlayError("save needs a file: save FILE")
        self.match.save(Path(name))
        click.echo(f"saved to {name}")

    def _load(self, name: str) -> None:
        if not name:
            raise PerfectPlayError("load needs a file: load FILE")
        self.match = load_match(self.game, Path(name))
        self._show()
