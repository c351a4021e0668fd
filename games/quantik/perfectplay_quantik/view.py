"""The board that the terminal and the browser show, with its clicks and the reasons against illegal moves."""

from __future__ import annotations

from collections.abc import Mapping

from perfectplay.game.board import Board, Cell, Click, Piece, Spelling, Tray, grid_template
from perfectplay_quantik.notation import make_move, state_of
from perfectplay_quantik.rules import CELLS, LINES, PIECES, PIECES_PER_SHAPE, SHAPES, ZONES, cells_of

_SHAPE_NAMES = ("circle", "square", "triangle", "diamond")
_ZONES = tuple(tuple(map(str, cells_of(mask))) for mask in ZONES)


def _piece(number: int) -> Piece:
    shape = _SHAPE_NAMES[number % SHAPES]
    return Piece(owner=number // SHAPES, label=PIECES[number], size=0.8, shape=shape, name=shape)


_SPELLING = Spelling(
    tuple(map(_piece, range(2 * SHAPES))),
    grid_template([[str(cell) for cell in range(row, row + 4)] for row in range(0, CELLS, 4)]),
)


def board(position: int) -> Board:
    """Return the board, with a tray for each colour and shape. Trays are named by letter, cells by number."""
    state = state_of(position)
    on_cell = {cell: number for number, word in enumerate(state.bb) for cell in cells_of(word)}
    cells = tuple(
        Cell(str(cell), cell // 4, cell % 4, (_piece(on_cell[cell]),) if cell in on_cell else (), label=str(cell))
        for cell in range(CELLS)
    )
    trays = tuple(
        Tray(PIECES[number], _piece(number), PIECES_PER_SHAPE - word.bit_count())
        for number, word in enumerate(state.bb)
    )
    clicks: list[Click] = []
    blocked: dict[str, dict[str, str]] = {}
    for shape in range(SHAPES):
        tray = PIECES[state.to_move * SHAPES + shape]
        blocked[tray] = {}
        for cell in range(CELLS):
            if reason := state.why_not(shape, cell):
                blocked[tray][str(cell)] = reason
            else:
                clicks.append(Click(make_move(shape, cell), target=str(cell), source=tray))
    return Board(
        rows=4,
        columns=4,
        cells=cells,
        to_move=state.to_move,
        trays=trays,
        clicks=tuple(clicks),
        blocked=blocked,
        spelling=_SPELLING,
        zones=_ZONES,
        highlight=_finished_lines(on_cell),
    )


def _finished_lines(on_cell: Mapping[int, int]) -> tuple[str, ...]:
    """Return the cells of the lines with all four shapes."""
    lines = (cells_of(mask) for _, mask in LINES)
    finished = [line for line in lines if len({on_cell[cell] % SHAPES for cell in line if cell in on_cell}) == SHAPES]
    return tuple(sorted({str(cell) for line in finished for cell in line}))
