"""`solve play GAME`: play against the table in the terminal."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfectplay.analysis.moves import best_of, rate_moves
from perfectplay.analysis.opponent import Strength, choose_move
from perfectplay.cli._common import GameCommand, directory_option, open_game_table, require_stdin
from perfectplay.cli._terminal import headline, painter, rated_lines, terminal_width, wrapped
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game import wording
from perfectplay.game.board_text import draw
from perfectplay.game.match import REPETITIONS, Match, MatchResult, load_match
from perfectplay.game.wording import game_verdict, sides
from perfectplay.values import Outcome

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

HELP = """\
Type a move, or one of these commands:
  hint         show the best moves
  values       show the value of each move
  moves        list the legal moves
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
    help="How well the table plays: perfect (the default), strong, casual or random. Strong and casual overlook only "
    "what is hard to see.",
)
@click.option("--load", "saved", type=click.Path(path_type=Path), metavar="FILE", help="Resume a saved game.")
@click.option("--from", "root", metavar="POSITION", help="Start from this position, in any notation of the game.")
@click.option("--seed", type=int, metavar="N", help="Seed for the table's choice among equally good moves.")
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

    A position that occurs for the third time is a draw. During the game, type `help` for a list of commands.
    """
    if saved is not None and root is not None:
        raise UsageError("give either --load or --from, because a saved game includes its start")
    require_stdin("`play` needs interactive input")
    _enable_line_editing()
    with open_game_table(game, directory) as table:
        start = None if root is None else game.encode(root)
        match = Match(game, start=start) if saved is None else load_match(game, saved)
        _Session(table, match, ("first", "second").index(side), Strength(strength), random.Random(seed)).run()


def _enable_line_editing() -> None:
    """Import readline, if Python has it, so that `input` supports arrow keys and a history."""
    with suppress(ImportError):
        import readline  # noqa: F401


class _Session:
    """A game between a person at the terminal and the table."""

    def __init__(self, table: Table, match: Match, person: int, strength: Strength, rng: random.Random) -> None:
        self.table, self.game, self.match = table, table.game, match
        self.person, self.strength, self.rng = person, strength, rng
        first, second = sides(self.game, 0)
        self.names = (first, second)
        self.commands: dict[str, Callable[[str], None]] = {
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
            click.echo("This is a puzzle for one player. Type help for a list of commands.")
        else:
            you, table = self.names[self.person], self.names[1 - self.person]
            click.echo(f"You are {you}; the table is {table}. Type help for a list of commands.")
        if self.table.outcomes_only:
            click.echo(wording.outcomes_only(puzzle=self.game.is_puzzle))
            click.echo("Every move that preserves the outcome counts as best, even if it leads no closer to the end.")
        self._show()
        while True:
            if (result := self.match.result) is not None:
                click.echo(self._ending(result))
                return
            if self._turn != self.person and not self.game.is_puzzle:
                self._play_table_move()
            elif not self._read_command():
                return

    @property
    def _turn(self) -> int:
        """The player to move. If the game does not define it, the player to move at the start counts as the first."""
        mover = self.match.to_move
        return len(self.match.moves) % 2 if mover is None else mover

    def _ending(self, result: MatchResult) -> str:
        if result.repetition:
            return f"Draw: this position has occurred {REPETITIONS} times."
        if self.game.is_puzzle and result.outcome is not Outcome.WIN and self.game.has_score:
            return f"A score of {wording.signed(self.game.score(self.match.position))}."
        if self.game.is_puzzle:
            return "Solved." if result.outcome is Outcome.WIN else "A dead end."
        if result.outcome is Outcome.DRAW:
            return "Draw."
        winner = self._turn if result.outcome is Outcome.WIN else 1 - self._turn
        score = abs(self.game.score(self.match.position)) if self.game.has_score else 0
        return f"{self.names[winner]} wins{f' by {score}' if score else ''}."

    def _play_table_move(self) -> None:
        position = self.match.position
        move = choose_move(self.game, self.table, position, self.strength, self.rng, seen=self.match.positions)
        click.echo(f"{self.names[1 - self.person]} plays {move}")
        self._play(move)
        value = self.table.probe(self.match.position)
        wins = Outcome.WIN if self._turn != self.person else Outcome.LOSS  # for the next player to move
        if self.strength is Strength.PERFECT and value.outcome is wins and value.remoteness:
            click.echo(f"The table announces a win in {wording.plies(value.remoteness)}")

    def _read_command(self) -> bool:
        """Read and execute one line from the person. Returns False at the end of the input."""
        try:
            line = input(f"{self.names[self.person]}> ").strip()
        except EOFError:
            click.echo()
            return False
        word, _, rest = line.partition(" ")
        if word == "quit":
            return False
        try:
            if word in self.commands:
                self.commands[word](rest.strip())
            elif line:
                self._play(self.game.parse_move(self.match.position, line))
        except PerfectPlayError as error:  # a typing error does not end the game
            click.echo(str(error))
        return True

    def _play(self, move: int) -> None:
        self.match.play(move)
        self._show()
        if self.match.result is None and self.match.occurrences == REPETITIONS - 1:
            click.echo(f"This position has occurred {self.match.occurrences} times; one more time is a draw.")

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
        for line in rated_lines(self.game, position, best_of(rated) if best_only else rated):
            click.echo(f"  {line}")

    def _take_back(self) -> None:
        """Undo the table's reply and the person's last move."""
        self.match.undo()
        while self.match.moves and not self.game.is_puzzle and self._turn != self.person:
            self.match.undo()
        self._show()

    def _save(self, name: str) -> None:
        if not name:
            raise PerfectPlayError("give a file name: save FILE")
        self.match.save(Path(name))
        click.echo(f"saved to {name}")

    def _load(self, name: str) -> None:
        if not name:
            raise PerfectPlayError("give a file name: load FILE")
        self.match = load_match(self.game, Path(name))
        self._show()
