"""The board that the terminal and the browser show, with its clicks and the reasons against illegal moves."""

from __future__ import annotations

from perfectplay import Board, Cell, Click, Piece, Tray
from perfectplay.game.board import Spelling, grid_template
from perfectplay_dobutsu.notation import letter
from perfectplay_dobutsu.rules import (
    CELLS,
    COLUMNS,
    FROM_HAND,
    IN_HAND,
    NAMES,
    PLAYERS,
    RANKED,
    board_of,
    cell_name,
    game_over,
    in_hand,
    side,
    source_of,
    target_of,
    why_not,
)


def board(position: int) -> Board:
    """Return the board with both hands, a click for each legal move and a reason against every other."""
    pieces, mover = board_of(position), side(position)
    clicks = tuple(
        Click(move, cell_name(target_of(move)), _source_name(source_of(move), mover)) for move in RANKED.moves(position)
    )
    return Board(
        rows=len(CELLS) // COLUMNS,
        columns=COLUMNS,
        cells=tuple(
            Cell(cell_name(cell), *divmod(cell, COLUMNS), (_piece(*pieces[cell]),) if cell in pieces else ())
            for cell in CELLS
        ),
        to_move=mover,
        players=PLAYERS,
        colours=("green", "blue"),
        trays=tuple(
            Tray(_tray_name(player, kind), _piece(player, kind), in_hand(position, player, kind))
            for player in (0, 1)
            for kind in IN_HAND
        ),
        clicks=clicks,
        spelling=_SPELLING,
        blocked=_blocked(position, {(click.source, click.target) for click in clicks}),
    )


def _blocked(position: int, legal: set[tuple[str | None, str | None]]) -> dict[str, dict[str, str]]:
    """Return the reasons against the illegal targets of each piece of the mover."""
    if game_over(position):
        return {}
    mover = side(position)
    sources = [cell for cell, piece in board_of(position).items() if piece.player == mover]
    sources += [FROM_HAND + kind - 1 for kind in IN_HAND if in_hand(position, mover, kind)]
    return {
        name: {
            cell_name(target): why_not(position, source, target)
            for target in CELLS
            if target != source and (name, cell_name(target)) not in legal
        }
        for source in sources
        for name in [_source_name(source, mover)]
    }


def _source_name(source: int, mover: int) -> str:
    return cell_name(source) if source < FROM_HAND else _tray_name(mover, source - FROM_HAND + 1)


def _tray_name(player: int, kind: int) -> str:
    return f"{PLAYERS[player].lower()}-{letter(0, kind)}"


def _piece(player: int, kind: int) -> Piece:
    return Piece(player, letter(player, kind), 0.9, "pentagon", NAMES[kind])


_HANDS = "".join(f"{{{_tray_name(player, kind)}:{letter(player, kind)}}}" for player in (0, 1) for kind in IN_HAND)
_SPELLING = Spelling(
    tuple(_piece(player, kind) for player in (0, 1) for kind in NAMES),
    grid_template([[cell_name(cell) for cell in CELLS[row : row + COLUMNS]] for row in range(0, len(CELLS), COLUMNS)])
    + f" {{}} -{_HANDS}",
    movers=("b", "w"),
    empty="1",
)
