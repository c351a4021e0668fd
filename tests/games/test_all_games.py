"""Tests that all games share: `solve check` passes, and invalid texts and options are refused with the reason.

A line of the table of invalid texts is `text ! reason` or, for a move, `position @ text ! reason`. Gobblet has more
tests of this kind in test_notation.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from perfectplay import UsageError, load_game
from perfectplay.testing import Effort, run_checks

from ..framework.seeded import quick_checks

TABLE = """
[connect4]
..../.... ! 4 rows of 4
..../..../..../..A. ! 'A' is not one of . X O
..../X.../..../.... ! column a has a gap
..../..../..../XXX. ! X has 3 stones and O has 0
O.../X.../O.../X... @ e ! write a column, a to d
O.../X.../O.../X... @ '' ! write a column
O.../X.../O.../X... @ ab ! write a column
O.../X.../O.../X... @ a ! the column is full
[dots]
../.../../... ! write the rows of edges
../.../../.../..:R ! write the rows of edges
../._./../.../../0-0:R ! '_' in row 2 is neither . nor |
_./||./_./.../../0-0:R ! 1 boxes are closed, but
_./.../../.../../0-0:B @ a1 ! write two dots
_./.../../.../../0-0:B @ a1-c1 ! a1 and c1 are not neighbouring dots
_./.../../.../../0-0:B @ a4-b4 ! a4 and b4 are not neighbouring dots
_./.../../.../../0-0:B @ b3 a3 ! already drawn
[kalah]
3,3,3/3,3,3 ! write North's pits, South's pits
3,3/3,3,3/0-3:S ! each player has 3 pits
3,3,3/3,3,3/0-1:S ! 18 seeds, not 19
3,3,3/0,0,0/4-5:S ! is not a position
3,3,3/3,3,3/0-0:S @ d ! write one of South's pits, a to c
3,3,3/3,3,3/0-0:N @ '' ! write one of North's pits, A to C
3,3,3/0,4,4/0-1:S @ a ! the pit is empty
0,0,0/0,0,0/9-9:S @ a ! the game is over
[quixo]
..../..../..../.... ! side to move is missing
..../..../..../....:Z ! side to move is missing
.../.../...:X ! 4 rows of 4
..../..../..?./....:X ! '?' in row 3
65536 ! is not a position of Quixo on 4×4
O.X./.O../.X../....:X @ b4 ! write the cell to take from
O.X./.O../.X../....:X @ b9-b1 ! no cell b9; the board is a1 to d4
O.X./.O../.X../....:X @ b3-b1 ! b3 is not on the border
O.X./.O../.X../....:X @ a4-a1 ! the cube at a4 shows the opponent's mark
O.X./.O../.X../....:X @ b4-b4 ! on its own cell
O.X./.O../.X../....:X @ b4-c4 ! put back at a4, d4, b1
XXXX/OOO./..../....:O @ d4-a4 ! the game is over
[morris men=nine flying=yes]
hello ! write the board, the side to move, and any men in hand, like .../
'' ! write the board
.../.../.../....../.../.../...:red ! write the board
.../.../...:white:9-9 ! 7 rows, like
.../.../.../...../.../.../...:white:9-9 ! 7 rows, like
.../.X./.../....../.../.../...:white:9-9 ! 'X' at d6
.../.../.../....../.../.../...:black:9-8 ! Black is to move with 8 men in hand against 9
.../.../.../....../.../.../...:white:9-7 ! White is to move with 9 men in hand against 7
.../.../.../....../.../.../...:white ! not a position of morris
WWW/BB./.../....../.../.../...:black:7-7 ! not a position of morris
.../.../.../....../.../.../...:white:9-9 @ hello ! (a7-d7xg1)
.../.../.../....../.../.../...:white:9-9 @ a1- ! write a point
.../.../.../....../.../.../...:white:9-9 @ b7 ! no point b7
.../.../.../....../.../.../...:white:9-9 @ a1-c2 ! no point c2
.../.../.../....../.../.../...:white:9-9 @ a1-d1 ! not a legal move
.../.../.../....../.../.../...:white:9-9 @ a1xd1 ! not a legal move
[dobutsu]
gle/1c1/1C1/ELG ! write board, side to move and hands
gle/1c1/ELG b - ! has 3
gle/1c1/2C1/ELG b - ! row 3, '2C1', has 4 cells
gle/1c1/1X1/ELG b - ! 'X' is not a piece
gle/1c1/1C1/ELG x - ! b for Forest or w for Sky
gle/1c1/1C1/ELG b G ! there are 3 giraffes
gle/3/3/ELG b CC ! names C twice
gle/1c1/1C1/ELG b L ! 'L' is not a list of pieces in hand
g1e/1c1/1C1/ELG b - ! Sky has no lion
gle/lc1/1C1/ELG b - ! Sky has 2 lions, on B1 and A2
gLe/1c1/1C1/ElG b - ! Forest is to move with the lion on the far rank
1 ! A1 has an owner but no piece
2305843009213693952 ! bits 61 and above
20480 ! there are
gle/1c1/1C1/ELG b - @ B3-B1 ! a chick does not step from B3 to B1
gle/1c1/1C1/ELG b - @ A3-A2 ! there is no piece on A3
gle/1c1/1C1/ELG b - @ B2-B3 ! the chick on B2 is Sky's
gle/1c1/1C1/ELG b - @ B4-A4 ! Forest's own elephant is on A4
gle/1c1/1C1/ELG b - @ C*A3 ! Forest has no chick in hand
gl1/1c1/1C1/1LG b Ee @ E*B2 ! B2 is occupied
3/1l1/1L1/3 b 2G2E2C @ G*A1 ! Sky's lion can be captured
3/1l1/3/3 b 2G2E2C @ G*A1 ! Forest's lion has been captured
3/3/L2/2l b 2g2e2c @ A3-A2 ! Sky's lion has reached the far rank
lEG/EGL/1CC/3 b - @ A2-A3 ! Forest cannot move
gle/1c1/1C1/ELG b - @ hello ! write B3-B2 to step or C*B2 to drop
[quantik]
hello ! write a QFEN
-1 ! write a QFEN
'' ! write a QFEN
4 ! 4 is not a position of Quantik
18446744073709551615 ! 18446744073709551615 is not a position
99999999999999999999 ! 99999999999999999999 is not a position
..../x.../..../.... ! rank 1, column 0: 'x'
Aa../..../..../.... ! A on cell 0 and a on cell 1 share row 0
AbCd/..../..../AbCd ! all four shapes are in row 0, row 3
00000000000000000000000000001000 ! marked canonical
090200000000000108000004200000000000 ! byte 0: version 9
010300000000000108000004200000000000 ! byte 1: flags 0x03
0000000000010800000420000000000 ! write a QFEN
000000000001080000042000000000000 ! write a QFEN
.A../..b./.c../...D @ 5 ! write a shape A to D and a cell
.A../..b./.c../...D @ E@5 ! write a shape A to D
.A../..b./.c../...D @ A@16 ! no cell 16
.A../..b./.c../...D @ A(4,0) ! no cell (4,0)
.A../..b./.c../...D @ A@1 ! A@1 is not legal: cell 1 (row 0, column 1) is taken by A
.A../..b./.c../...D @ B@4 ! B@4 is not legal: cell 4 (row 1, column 0) is in line with b on cell 6
A..A/bc../..../.... @ A@8 ! A@8 is not legal: both pieces A are on the board
ABcd/..../..../.... @ A@9 ! the game is over: row 0
"""


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Yield the game with its options, the position if the text is a move, the text and the reason."""
    game = ""
    for line in TABLE.strip().splitlines():
        if line.startswith("["):
            game = line.strip("[]")
            continue
        given, _, reason = line.rpartition(" ! ")
        position, _, text = given.partition(" @ ") if " @ " in given else ("", "", given)
        yield game, position, "" if text == "''" else text, reason


@pytest.mark.parametrize(("game", "position", "text", "reason"), list(cases()))
def test_a_text_is_refused_with_the_reason(game: str, position: str, text: str, reason: str) -> None:
    name, *options = game.split()
    loaded = load_game(name, **dict(option.split("=") for option in options))
    with pytest.raises(UsageError) as refused:
        loaded.parse_move(loaded.encode(position), text) if position else loaded.encode(text)
    assert reason in str(refused.value)


TOO_LARGE = [
    ("connect4", {"width": 8, "height": 7}, ["8×7", "at most 63"]),
    ("dots", {"rows": 5, "columns": 5}, ["5×5 boxes have 60 edges", "56"]),
    ("kalah", {"pits": 6, "seeds": 5}, ["6 pits with 5 seeds", "63"]),
]


@pytest.mark.parametrize(("game", "options", "words"), TOO_LARGE)
def test_a_board_that_does_not_fit_a_position_is_refused(game: str, options: dict[str, int], words: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        load_game(game, **options)
    assert all(word in str(refused.value) for word in words)


CHECKED = [
    *(("connect4", {"width": w, "height": h, "connect": 4}) for w, h in ((4, 4), (5, 5), (5, 6), (7, 6))),
    ("dobutsu", {}),
    *(("dots", {"rows": 2, "columns": columns}) for columns in (2, 3)),
    *(("kalah", {"empty-capture": a, "either-row": b}) for a, b in ((False, False), (True, False), (False, True))),
    *(("morris", {"men": men, "flying": flying}) for men in ("three", "six", "nine") for flying in (False, True)),
    *(("quixo", {"width": width, "height": height}) for width, height in ((3, 3), (4, 4), (5, 4))),
]


@pytest.mark.parametrize(("game", "options"), CHECKED)
def test_the_game_passes_the_checks(game: str, options: dict[str, object]) -> None:
    with quick_checks():
        assert run_checks(load_game(game, **options), Effort(seconds=0.5)).breaches == {}
