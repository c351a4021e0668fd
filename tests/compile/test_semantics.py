"""Compiled functions compute what CPython computes, or report a fault."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tools import fuzz_compile

SANITIZE = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-static-libubsan")

FUNCTIONS = """
EMPTY, SHORT, ROWS = [[], []], [[1], [2, 3]], {0: (1, 2), 3: (4,), -2: ()}

def first_bit(number):
    for i in range(1, 3):
        if number >> i & 1:
            return i

def long_function(x, x_, ö):
    y = (x ^ x_) * 3 + (x & x_) * 5 + (x | x_) * 7 + x % (x_ + 1) * 11 + x // (x_ + 2) * 13
    if x > x_:
        return y + (x - x_) * (x - 3) + (x + 1) * (x_ + 2) * (ö + 3)
    return y * 3 + (x_ - x) * (x_ - 3) - ö

ADD_THREE = (lambda number: lambda x: x + number)(3)

def floor_division(position, move):
    return (position - 5) // (move - 3) + (position - 5) % (move - 3)

def negative_shift(position, move):
    return (7 - position) >> move

def mask(position, move):
    return ~(1 << move) & position

def wide_product(position, move):
    return position * position >> 64

def chained(position, move):
    return (0 < position < move) + 2 * (position == move != 3) + 4 * (position > move > 1)

def values_of_and_or(position, move):
    return (position and move) * 1000 + (position or move)

def truth_of_lists(position, move):
    chosen = [x for x in (1, 2, 3) if position >> x & 1]
    return 1 if chosen and not [] else 0

def booleans_are_ints(position, move):
    return sum([position > 3, move > 3, True]) + (position > 2) * 5

def negative_index(position, move):
    return [5, 6, 7, 8][-(position & 3) - 1] + (10, 20, 30)[position % 7 - 3]

def list_changes(position, move):
    cells = [position >> i & 1 for i in range(8)]
    cells[move] = 9
    cells[-1] += 1
    cells.append(position & 7)
    while cells and cells[-1] > 3:
        cells.pop()
    return sum(cell * 10**i for i, cell in enumerate(cells))

def aliases(position, move):
    a = [0, 0, 0]
    b = a
    b[position % 3] = 7
    return a[0] + 10 * a[1] + 100 * a[2]

def swapped(position, move):
    a, b = position, move
    for _ in range(position & 7):
        a, b = b, a + b & 1023
    return a * 1024 + b

def found(position, move):
    for i in range(20):
        if position >> i & 1:
            break
    else:
        return -1
    return i

def walrus(position, move):
    total = 0
    while (position := position >> 1) > move:
        total += position & 3
    return total

def star(position, move):
    first, *rest = [position & 3, move & 3, 5]
    return first * 100 + len(rest) * 10 + max(rest)

def inner(position, move):
    def scaled(x):
        return x * factor
    factor = 1 + (position & 3)
    return scaled(move) + (lambda y: y - factor)(position)

def slices(position, move):
    cells = [i * i for i in range(position & 7)]
    part = cells[move & 3 : -1]
    return len(part) * 1000 + sum(part) + sum(cells[::2]) if len(cells) == 6 else len(part)

def sorting(position, move):
    cells = sorted([position >> 4 * i & 15 for i in range(6)], reverse=True)
    few = sorted(x for x in cells if x & 1)
    return sum(cell << 4 * i for i, cell in enumerate([*cells, *few]))

def tuples(position, move):
    pairs = [(i, position >> i & 3) for i in range(5) if position >> i & 1]
    best = min((b, a) for a, b in [(7, 9), *pairs][:1])
    return sum(a * b for a, b in pairs) + best[0] + ((position & 7, 1) < (move & 7, 2))

def membership(position, move):
    return (move in range(3, 9)) + 2 * (move in {1, 5, 7}) + 4 * (position & 7 not in (1, move, 3))

def lookup(position, move):
    return NUMBERS.get(move, 4) + RAYS[position & 1][position & 1 and 0] + LINES[position & 3][move % 3]

def maximum(position, move):
    return max(position, move, 3) - min(x for x in (position, move, 9) if x)

def bits(position, move):
    return position.bit_count() * 1000 + (move - position).bit_length() + (-position).bit_count()

def power(position, move):
    return 3 ** (move & 63) + (position & 15) ** 3 + pow(2, move & 15)

def signed(position, move):
    numbers = sorted([position, move])
    numbers.pop()
    numbers += [position // (-1 if move else 3)]
    return numbers[-1]

def swapped_lists(position, move):
    a, b = [x for x in range(position & 7)], [x + 1 for x in range(move & 7)]
    for i in range(position % 9):
        if i == 5:
            a, b = [i] * i, a
            continue
        a, b = b, a
    return sum(a) + 100 * sum(b) + 10000 * len(a)

def swapped_and_changed(position, move):
    a, b, c = [1, 2], [3, 4], [5, 6, 7]
    for i in range(position & 15):
        a, b, c = b, c, a
        a[0] += i
    return a[0] + 1000 * b[0] + 1000000 * len(c)

def replaced_in_a_loop(position, move):
    cells, best = [0, 1, 2, 3], []
    for i in range(position & 15):
        cells[i & 3] += 1
        changed = cells[:]
        changed[move & 3] = i
        cells = changed
        line = [x for x in range(i * move % 7)]
        if len(line) > len(best):
            best = line
    return sum(cell * 100**i for i, cell in enumerate(cells)) + len(best)

def appended_after_a_replacement(position, move):
    cells = [1, 2, 3]
    for _ in range(position & 7, move & 15):
        cells = [63] * 0
    cells.append(4)
    for i in range(position & 3):
        cells.append(i)
        cells = [x for x in range(10)]
    few = [1, 2, 3, 4] if position & 1 else []
    few.append(5)
    return sum(cells) + 100 * len(cells) + 10000 * len(few)

def popped_while_added(position, move):
    cells = [1, 2, 3 + (move & 7)]
    cells[-1] += cells.pop()
    return cells[0] + 10 * cells[1] + 100 * len(cells)

def wide_shift(position, move):
    return (move >> position * move) + (position >> position * move)

def set_of_numbers(position, move):
    digits = {x & 7 for x in (position, move, 3)}
    return sum(digits) + 100 * len(digits) + 1000 * sorted(digits)[0] + 10000 * max(digits) + (move in digits)

def inner_lambda(position, move):
    return ADD_THREE(move)

def late_lambda(position, move):
    functions = ()
    for i in range(3):
        functions = (*functions, lambda: i)
    return functions[0]() + 10 * functions[1]()

def lazy_generator(position, move):
    k = position & 7
    for x in (y + k for y in (1, 2, move & 7)):
        k += x
    return k

def largest_of_a_map(position, move):
    calls = []
    def log(x):
        calls.append(x)
        return x
    largest = max(map(log, [x for x in range(1 + (position & 7))]))
    return 1000 * largest + 100 * sorted(map(log, (3, 1, 2)))[0] + len(calls)

def search_in_a_map(position, move):
    return (3 in map(lambda x: 9 // x, (3, move))) + 2

def starred_list_before_a_change(position, move):
    cells = [x for x in range(position & 7)]
    cells.append(5)
    both = [*cells, cells.pop()]
    return len(both) * 100 + sum(both)

def truth_before_a_change(position, move):
    cells = [x for x in range(position & 3)]
    return bool(cells) * 100 + (not cells) * 10 + (cells.append(4) or 3)

def extended_by_a_function_that_reads(position, move):
    cells = [1, 2]
    cells.extend(map(lambda x: x + len(cells), (1, 2, 3)))
    return sum(cells)

def constant_row_replaced_in_a_loop(position, move):
    row, steps, total = RAYS[position % 2], range(position & 7), 0
    for i in range(position & 31):
        total += len(row) + len(steps)
        row, steps = LINES[i & 3], range(i & 3)
    return total

def row_or_default(position, move):
    return sum(ROWS.get(move & 3, (9, 9, 9))) + len(SHORT[position & 1] if move else (1, 2))

def first_of_empty_rows(position, move):
    return EMPTY[move & 1][0] if move > 5 else len(EMPTY[move & 1])

def long_ranges(position, move):
    i = 0
    for i in range(10**12):
        if i > move & 15:
            break
    for j in range(position):
        if j > 2:
            break
    in_steps = (position in range(0, 10**12, 7)) + 2 * (move in range(position)) + 4 * (move in range(position, -5, -3))
    return i + in_steps * 100 + range(5, 10**15, 3)[position % 10**14] + range(-(2**63), 2**63)[position]

def powers_of_one(position, move):
    return (-1) ** move + 2 * 0 ** (move * 50) + 4 * 1 ** (move * 50)

def name_of_a_table(position, move):
    table = NUMBERS.get(move & 7, 3)
    table_2 = RAYS[0][position % 3]
    table = table + LINES[position & 3][move % 3] * LINES[move & 3][position % 3]
    return table * 10 + table_2

def similar_names(position, move):
    return long_function(position & 255, move & 255, move & 1) + long_function(position % 1, move % 1, position & 7)

def no_result(position, move):
    found = first_bit(position & 7)
    pair = (found is None) + 2 * (found == 1) + 4 * (not found) + 8 * (found in (2, None)) + 16 * (None == found)
    best = None
    for i in (1, 2, 3):
        if position >> i & 1 and (best is None or i > best):
            best = i
    return pair * 100 + (found or 50) + (7 if best is None else best)

def none_in_a_loop(position, move):
    best, last, seen = None, first_bit(position & 7), 0
    for i in range(position & 31):
        if last is not None:
            seen += last
        if best is None or (i * 5 & 7) > best:
            best = i * 5 & 7
        last = first_bit(i & 7) if i & 1 else None if i & 2 else i
    return (best or 50) * 1000 + seen * 10 + (last is None)

def a_result_in_a_long_range(position, move):
    found = first_bit(position & 7 | 4)  # Python would compare None with every number
    return (found in range(move, 2**62)) + 2 * (found in range(1, 2**62, 2)) + 4 * (found in range(position + 3, 0, -1))

def no_result_in_a_range(position, move):
    found = first_bit(position & 7)
    return (found in range(move & 7)) + 2 * (found in range(3)) + 4 * (found in range(0, 4, 2))

def no_result_is_no_number(position, move):
    return first_bit(position & 7) + 1

def nested(position, move):
    return sum(x * y for x in range(position & 7) for y in range(x) if (x + y) % 3 != move % 3)
"""
ARGUMENTS = [
    *[(position, move) for position in (0, 1, 2, 3, 5, 6, 7, 12, 1000, 0x123456) for move in (0, 1, 2, 3, 5, 8)],
    *[(position, move) for position in (2**63 - 1, 2**63, 2**64 - 2) for move in (1, 3, 64)],
    *[(position, 2**32 - 1) for position in (2**63 - 1, 2**63, 2**64 - 2)],
]


class Compiled:
    """The functions above in both languages."""

    def __init__(self, directory: Path, text: str, *flags: str) -> None:
        module = fuzz_compile.load(f"{fuzz_compile.HEADER}\n{text}", directory, 1)
        names = [line.split("(")[0][4:] for line in text.splitlines() if line.endswith("(position, move):")]
        reasons: Counter[str] = Counter()
        functions = [getattr(module, name) for name in names]
        self.functions, self.library, self.ffi = fuzz_compile.compile_functions(functions, directory, 1, flags, reasons)
        assert not reasons
        self.names = names

    def call(self, name: str, position: int, move: int) -> tuple[int, bool]:
        answer = self.ffi.new("uint64_t[3]")
        self.library.fuzz(self.names.index(name), position, move, answer)
        high = answer[1] - 2**64 if answer[1] >= 2**63 else answer[1]
        return (high << 64) + answer[0], bool(answer[2])


@pytest.fixture(scope="module", params=["optimized", "sanitized"])
def compiled(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    flags = SANITIZE if request.param == "sanitized" else ("-O2",)
    return Compiled(tmp_path_factory.mktemp("functions"), FUNCTIONS, *flags)


@pytest.mark.parametrize(
    "name", [line.split("(")[0][4:] for line in FUNCTIONS.splitlines() if line.endswith("(position, move):")]
)
def test_a_function_has_the_results_of_python(compiled: Compiled, name: str) -> None:
    function = compiled.functions[compiled.names.index(name)]
    results = 0
    for position, move in ARGUMENTS[: -2 if name == "mask" else None]:  # in Python, 1 << 2**32 - 1 takes seconds
        answer = compiled.call(name, position, move)
        assert fuzz_compile.compare(function, answer, position, move) is None, (position, move)
        results += not answer[1]
    assert results > len(ARGUMENTS) // 4  # not only faults


FAULTS = """
def overflow(position, move):
    total = 1
    for _ in range(move):
        total = total * 3 + position
    return total

def index(position, move):
    return (1, 2, 3)[move]

def list_index(position, move):
    return [x for x in (1, 2, 3) if position >> x & 1][move]

def division(position, move):
    return position // move

def modulo(position, move):
    return position % (move - 2)

def shift(position, move):
    return position >> move - 2

def key(position, move):
    return NUMBERS[move]

def missing(position, move):
    return [position, 5].index(move)

def empty(position, move):
    return max([x for x in (1, 2) if x > move])

def unpacking(position, move):
    a, b = [x for x in (1, 2, 3) if x > move]
    return a + b

def strict_zip(position, move):
    return sum(a * b for a, b in zip([1, 2], [x for x in (1, 2, 3) if x > move], strict=True))

def missing_return(position, move):
    if move > 1:
        return 5

def assertion(position, move):
    assert move > 1
    return 7

def popped(position, move):
    cells = [1]
    for _ in range(move):
        cells.pop()
    return len(cells)
"""


@pytest.mark.parametrize("name", [line.split("(")[0][4:] for line in FAULTS.splitlines() if line.startswith("def ")])
def test_an_error_in_python_is_a_fault(name: str, tmp_path_factory: pytest.TempPathFactory, faulty: Compiled) -> None:
    function = faulty.functions[faulty.names.index(name)]
    outcomes = set()
    for position, move in [(0, 0), (7, 1), (7, 2), (6, 3), (14, 5), (2**64 - 2, 60), (3, 2**31)]:
        if name in ("overflow", "popped") and move > 100:
            continue
        answer = faulty.call(name, position, move)
        try:
            expected = function(position, move)
            raised = expected is None
        except Exception:
            raised = True
        assert answer[1] or not raised
        assert answer[1] or answer[0] == expected
        outcomes.add(answer[1])
    assert outcomes == {False, True}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return Compiled(tmp_path_factory.mktemp("faults"), FAULTS, *SANITIZE)


@pytest.mark.parametrize("flags", [("-O1",), SANITIZE], ids=["optimized", "sanitized"])
def test_random_functions_have_the_results_of_python(flags: tuple[str, ...]) -> None:
    counts = fuzz_compile.fuzz(60, 20, seed=5, flags=flags)
    assert counts["differences"] == 0
    assert counts["functions"] == 60
    assert counts["faults"] < counts["calls"] * 0.8


def test_the_fuzzer_notices_a_difference(tmp_path: Path) -> None:
    add, divide = (
        "def add(position, move): return position + move",
        "def divide(position, move): return position // move",
    )
    module = fuzz_compile.load(f"{add}\n{divide}\n", tmp_path, 1)
    assert fuzz_compile.compare(module.add, (5, False), 2, 3) is None
    assert "C 6" in str(fuzz_compile.compare(module.add, (6, False), 2, 3))
    assert "without an overflow" in str(fuzz_compile.compare(module.add, (0, True), 2, 3))
    assert fuzz_compile.compare(module.add, (0, True), 2**63, 3) is None
    assert "raised" in str(fuzz_compile.compare(module.divide, (0, False), 2, 0))


def test_numbers_with_a_sign_and_of_64_bits_share_a_list(tmp_path: Path) -> None:
    text = "def last(position, move):\n    return [position, -1][-2 : move % 7 - 3][-1]\n"
    functions = Compiled(tmp_path, text, "-O2")
    assert functions.call("last", 0, 26) == (-1, False)
    assert functions.call("last", 2**64 - 2, 25) == (2**64 - 2, False)


def test_a_variable_may_become_an_unsigned_number_in_a_loop(tmp_path: Path) -> None:
    text = """
def union(position, move):
    bits = 0
    for i in range(move & 63):
        bits |= position
    return bits
"""
    assert Compiled(tmp_path, text, "-O2").call("union", 2**64 - 2, 40) == (2**64 - 2, False)


LONG = """
def appended(position, move):
    cells = []
    while len(cells) < position:
        cells.append(move & 7)
    return len(cells)

def in_two_loops(position, move):
    cells = []
    for i in range(position & 127):
        for j in range(position & 127):
            cells.append(j)
    return len(cells)

def gathered(position, move):
    return len([x for x in range(position & 8191)])

def copied(position, move):
    return len(list(range(position & 8191)))

def repeated(position, move):
    return len([1] * (position & 8191))

def joined(position, move):
    cells = list(range(position & 4095))
    return len(cells + cells)

def made_in_an_earlier_loop(position, move):
    for i in range(position & 15):
        cells = [i]
        if i == (move & 3):
            break
    else:
        return 0
    for j in range(position & 127):
        cells.append(j)
    return len(cells)
"""


@pytest.mark.parametrize("name", [line.split("(")[0][4:] for line in LONG.splitlines() if line.startswith("def ")])
def test_a_list_is_never_written_beyond_its_end(name: str, long: Compiled) -> None:
    function = long.functions[long.names.index(name)]
    for position in (0, 3, 63, 64, 65, 127, 2048, 4095, 4096, 4097, 8191):
        result, failed = long.call(name, position, 1)
        expected = function(position, 1)
        assert failed == (expected > 4096)
        assert failed or result == expected


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return Compiled(tmp_path_factory.mktemp("long"), LONG, *SANITIZE)
