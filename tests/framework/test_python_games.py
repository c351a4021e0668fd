"""Games in Python on the engine: exact values, and helpful errors for mistakes of their authors."""

from __future__ import annotations

import re

import pytest

from perfectplay import Status, Value, make_game, open_table, solve_game, verify_table
from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.memory import Available
from perfectplay.solve import options as budget
from perfectplay.table.locations import table_path
from perfectplay.tiers import enumeration

from .. import zoo


def solve(game, **options):
    if not hasattr(game, "identity"):
        game = make_game(game, name="stones")
    return solve_game(game, save=False, **options)


def changed(**hooks):
    """Return the subtraction game with other hooks, and with all positions valid."""
    return zoo.module_of(zoo.read("subtraction"), **{"valid": lambda position: True, **hooks})


def test_every_value_equals_that_of_a_plain_recursion(tic_tac_toe):
    values = {}

    def value(position):
        if position not in values:
            status = tic_tac_toe.status(position)
            children = [tic_tac_toe.apply(position, move) for move in tic_tac_toe.moves(position)]
            worth = [value(child).for_parent() for child in children]
            values[position] = min(worth, key=Value.preference) if worth else Value.from_code(status.value)
        return values[position]

    value(tic_tac_toe.start())
    assert len(values) == 5478
    with solve(tic_tac_toe).table as table:
        found = table.probe_many(list(values))
    assert found.tolist() == [value.code for value in values.values()]


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        (
            {"tier": lambda position: 7 - position if position != 4 else {}["no such key"]},
            "^stones: hook 'tier' raised KeyError: 'no such key' in position 4; run `solve check stones`$",
        ),
        (
            {"apply": lambda position, move: position - move if position > 5 else position << 64},
            r"stones: hook 'apply' returned \d+ in position 5: a position must fit 64 bits, from 0 to 2\*\*64-2",
        ),
        (
            {"apply": lambda position, move: position - move if position > 5 else -1},
            "stones: hook 'apply' returned -1 in position 5: a position must fit 64 bits",
        ),
        (
            {"canonicalize": lambda position: position if position > 5 else 2**64 - 1},
            r"hook 'canonicalize' returned 18446744073709551615 in position 5: a position must fit",
        ),
        (
            {"apply": lambda position, move: position - move if position > 5 else position / 2},
            r"hook 'apply' returned 2.5 in position 5: a position is an int",
        ),
        (
            {"moves": lambda position: [1] if position > 5 else None},
            "hook 'moves' returned None in position 5: expected a list of moves",
        ),
        (
            {"moves": lambda position: [1] if position > 5 else []},
            "'status' returned ONGOING in position 5, but hook 'moves' returned no move; 'status' must return LOST",
        ),
        (
            {"status": lambda position: Status.ONGOING if position > 5 else 9},
            "hook 'status' returned 9 in position 5: expected a Status",
        ),
        (
            {"valid": lambda position: position > 5, "apply": lambda position, move: position - 9},
            "hook 'apply' returned -2 in position 7: a position must fit",
        ),
        (
            {"tier": lambda position: position},
            r"stones: tiers must never go back: move \d leads from position 7 in tier 7 to position \d in tier \d",
        ),
        (
            {"tier": lambda position: 0 if position > 5 else 70_000},
            "hook 'tier' returned 70000 in position 5: a game in Python has tiers below 65,536",
        ),
        (
            {"moves": lambda position: list(range(1, 5000))},
            "hook 'moves' returned 4,999 results in position 7; the limit is 4,096",
        ),
    ],
)
def test_a_wrong_result_is_reported_with_its_position(hooks, message):
    with pytest.raises(PluginError, match=message):
        solve(changed(**hooks))


def test_an_endless_game_is_stopped_with_the_likely_reason():
    counting = changed(apply=lambda position, move: position + 1, moves=lambda position: [1])
    with pytest.raises(PluginError, match=r"stones: .* new positions .* after 16,384 moves.* move counter"):
        solve(counting)


def test_full_memory_suggests_a_remedy(monkeypatch):
    monkeypatch.setattr(budget, "available_memory", lambda: Available(4096, "a test"))
    tree = changed(
        apply=lambda position, move: 2 * position + move, moves=lambda position: [0, 1] if position < 2**40 else []
    )
    with pytest.raises(PerfectPlayError, match=r"memory is full after [\d,]+ positions.* lmdb.*`solve check stones`"):
        solve(tree)


def test_a_long_game_within_the_limit_is_not_endless():
    long = changed(start=lambda: 2 * 800)
    with solve(long).table as table:
        assert table.statistics.positions == 1601
    assert enumeration.MAX_LEVELS == 1 << 14


def test_an_exception_while_probing_names_the_hook():
    broken = []
    game = make_game(changed(canonicalize=lambda position: 1 // 0 if broken else position), name="stones")
    with solve(game).table as table:
        broken.append(True)
        with pytest.raises(PluginError, match=re.escape("hook 'canonicalize' raised ZeroDivisionError")):
            table.probe(3)


def test_solving_after_a_change_of_rules_replaces_the_table(tmp_path):
    for stones in (12, 5):
        shorter = changed(start=lambda stones=stones: stones, tier=lambda position, stones=stones: stones - position)
        game = make_game(shorter, name="stones")
        solve_game(game, directory=tmp_path).table.close()
        with open_table(game, table_path(game, tmp_path)) as table:
            assert table.statistics.positions == stones + 1
            assert verify_table(table).checked == stones + 1
