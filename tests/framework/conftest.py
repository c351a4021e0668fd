"""Small games for the tests of the host.

Games are installed the way pip does it, as a module and a .dist-info directory on the path, so that discovery
is tried for real, in this process and in others.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perfectplay.game.game import Game
from perfectplay.game.loading import make_game

SUBTRACTION = '''
"""Take one or two stones; whoever cannot has lost."""
from perfectplay.game.spec import hookimpl
from perfectplay.values import Status

@hookimpl
def start(): return 7

@hookimpl
def valid(position): return position <= 7

@hookimpl
def moves(position): return [taken for taken in (1, 2) if taken <= position]

@hookimpl
def apply(position, move): return position - move

@hookimpl
def undo(position, move): return position + move

@hookimpl
def canonicalize(position): return position

@hookimpl
def status(position): return Status.ONGOING if position else Status.LOST
'''

TIC_TAC_TOE = '''
"""Tic-tac-toe: nine digits in base 3, the first cell lowest."""
from perfectplay.game.board import Board, Cell, Click, Piece
from perfectplay.game.spec import hookimpl
from perfectplay.values import Status

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
TURN = [6, 3, 0, 7, 4, 1, 8, 5, 2]
MIRROR = [2, 1, 0, 5, 4, 3, 8, 7, 6]
NAMES = [column + row for row in "321" for column in "abc"]

def cells(position): return [position // 3**cell % 3 for cell in range(9)]
def pack(cells): return sum(owner * 3**cell for cell, owner in enumerate(cells))
def turn(position): return cells(position).count(1) - cells(position).count(2)

@hookimpl
def start(): return 0

@hookimpl
def valid(position): return position < 3**9 and turn(position) in (0, 1)

@hookimpl
def encode(text):
    if len(text) != 9 or set(text) - set(".XO"):
        raise ValueError("nine of . X O were expected")
    return pack([".XO".index(letter) for letter in text])

@hookimpl
def decode(position): return "".join(".XO"[owner] for owner in cells(position))

@hookimpl
def status(position):
    board = cells(position)
    if any(board[a] == board[b] == board[c] != 0 for a, b, c in LINES):
        return Status.LOST
    return Status.ONGOING if 0 in board else Status.DRAWN

@hookimpl
def moves(position):
    if status(position) is not Status.ONGOING:
        return []
    return [cell for cell, owner in enumerate(cells(position)) if owner == 0]

@hookimpl
def apply(position, move): return position + (1 + turn(position)) * 3**move

@hookimpl
def undo(position, move): return position - position // 3**move % 3 * 3**move

@hookimpl
def canonicalize(position):
    images, board = [], cells(position)
    for step in range(8):
        board = [board[cell] for cell in (MIRROR if step == 4 else TURN)]
        images.append(pack(board))
    return min(images)

@hookimpl
def format_move(position, move): return NAMES[move]

@hookimpl
def board(position):
    pieces = [(), (Piece(0, "X"),), (Piece(1, "O"),)]
    places = [Cell(NAMES[i], *divmod(i, 3), pieces[owner]) for i, owner in enumerate(cells(position))]
    clicks = tuple(Click(move, NAMES[move]) for move in moves(position))
    return Board(3, 3, tuple(places), turn(position), clicks=clicks)
'''

VARIANTS = '''
"""Subtraction with the number of stones and the end as options."""
from perfectplay.game.spec import hookimpl
from perfectplay.game.options import Option
from perfectplay.values import Status

class Variant:
    def __init__(self, stones, last):
        self.stones, self.last = stones, last
    @hookimpl
    def start(self): return self.stones
    @hookimpl
    def moves(self, position): return [taken for taken in (1, 2) if taken <= position]
    @hookimpl
    def apply(self, position, move): return position - move
    @hookimpl
    def undo(self, position, move): return position + move
    @hookimpl
    def canonicalize(self, position): return position
    @hookimpl
    def status(self, position):
        return Status.ONGOING if position else Status.LOST if self.last == "wins" else Status.WON

@hookimpl
def options():
    return [
        Option("stones", 7, "stones at the start", minimum=1, maximum=30),
        Option("last", "wins", "what taking the last stone does", choices=("wins", "loses")),
        Option("quick-end", False, "changes nothing"),
    ]

@hookimpl
def configure(options): return Variant(options["stones"], options["last"])
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """install(game, code): as if a package with this game had been installed; `.path` is where."""
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    modules = []

    def install(game: str, code: str, *, package: str = "", version: str = "1.0", group: str = "games") -> None:
        package = package or f"try-{game}"
        module = "installed_" + package.replace("-", "_")
        modules.append(module)
        (place / f"{module}.py").write_text(code)
        info = place / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[perfectplay.{group}]\n{game} = {module}\n")
        importlib.invalidate_caches()

    install.path = place  # type: ignore[attr-defined]
    yield install
    for module in modules:
        sys.modules.pop(module, None)


def module_of(code: str) -> types.ModuleType:
    module = types.ModuleType("plugin_in_a_test")
    exec(code, vars(module))
    return module


@pytest.fixture(scope="session")
def subtraction() -> Game:
    return make_game(module_of(SUBTRACTION), name="subtraction")


@pytest.fixture(scope="session")
def tic_tac_toe() -> Game:
    return make_game(module_of(TIC_TAC_TOE), name="tictactoe")


@pytest.fixture(scope="session")
def codes() -> types.SimpleNamespace:
    """The games' source texts, and `module_of` to make a module of one."""
    return types.SimpleNamespace(
        subtraction=SUBTRACTION, tic_tac_toe=TIC_TAC_TOE, variants=VARIANTS, module_of=module_of
    )
