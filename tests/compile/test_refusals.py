"""Code that means something else in Python than the same words in C is refused with the reason, never compiled."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from tools import fuzz_compile

from perfectplay.compile import ir
from perfectplay.compile.builtin_functions import new_library
from perfectplay.compile.calls import build_function
from perfectplay.compile.ranges import Range
from perfectplay.compile.source import Untranslatable, read_function
from perfectplay.compile.values import Int

TEXT = '''
import enum
import functools
from collections import defaultdict, namedtuple
from fractions import Fraction

DEFAULTS_OF_ONE = {1: 2}
THREE, HALF, FLOATS = 3.0, Fraction(1, 2), (1.0, 2)
GAPS, GRID, MIXED = [None, 3, 5], [[None, 3], [4, None]], [[1, 2], (1, 2)]
COUNTS, ROWS = [1, 2, 3], [[1], [2, 3]]
DEFAULTS = defaultdict(int, {1: 5})
xs = (1, 2, 3)

class Doubled:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
    def __call__(self, x):
        return 2 * self.function(x)

@Doubled
def half(x):
    return x // 2

class Flag(enum.IntFlag):
    A = 1
    B = 2

class Modular(int):
    def __add__(self, other):
        return int(self) + other & 3

class FromOne(list):
    def __getitem__(self, i):
        return super().__getitem__(i - 1)

class Point(namedtuple("Point", "x y")):
    def __new__(cls, x, y):
        return super().__new__(cls, x % 3, y)

class Growing(int):
    def __iadd__(self, other):
        return 99

class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1

class Rank(enum.IntEnum):
    LOW = 0
    HIGH = 1
    def __lt__(self, other):
        return False

class Steps:
    count = 0
    @property
    def next(self):
        self.count += 1
        return self.count

MODULAR, FROM_ONE, GROWING = Modular(3), FromOne([5, 6, 7]), Growing(3)
ONE, OTHER, STEPS, OBJECTS = [1, 2], [3, 4], Steps(), [Steps() for _ in range(100)]
PAIRS = frozenset({(1, 2)})

@functools.cache
def cached_cells(count):
    return [0] * count

@functools.cache
def cached_pair(number):
    return [number for _ in range(number & 7)], 1

def counter():
    count = 0
    def increase():
        nonlocal count
        count += 1
    def read():
        return count
    return increase, read

increase, read = counter()

def adder(number, early):
    def add(x):
        return x + number
    if early:
        return add
    number = 100
    return add

def a_decorator_that_is_a_class(position, move):
    """the function half"""
    return half(move)

def a_closure_that_changes(position, move):
    """'count'"""
    return read()

def an_inner_function_returned(position, move):
    """inner function as a result"""
    return adder(move, position & 1)(1)

def a_decorated_inner_function(position, move):
    """decorator"""
    @Doubled
    def increased(x):
        return x + 1
    return increased(move)

def an_inner_function_with_stars(position, move):
    """parameters"""
    def inner(*xs):
        return len(xs)
    return inner()

def an_inner_generator(position, move):
    """yield"""
    def inner():
        return 1
        yield
    return 1 if inner() else 0

def a_lambda_in_a_comprehension(position, move):
    """comprehension"""
    return sum((lambda: x)() for x in (1, 2, move))

def an_iterator_as_an_argument(position, move):
    """iterator in a variable"""
    def twice(numbers):
        return sum(numbers) + sum(numbers)
    return twice(reversed([1, move]))

def an_iterator_in_a_tuple(position, move):
    """iterator in a variable"""
    pair = (reversed([1, move]), 1)
    return sum(pair[0]) + sum(pair[0])

def a_choice_of_iterators(position, move):
    """a view"""
    numbers = reversed([1, move]) if position & 1 else reversed([2, 3])
    return sum(numbers) + sum(numbers)

def an_index_of_an_iterator(position, move):
    """index of a view"""
    return reversed([1, move])[0]

def the_length_of_an_iterator(position, move):
    """length of a view"""
    return len(zip([1], [move]))

def the_truth_of_an_iterator(position, move):
    """truth of a view"""
    return 1 if zip([], [move]) else 2

def an_iterator_backwards(position, move):
    """reversed"""
    return sum(reversed(enumerate([1, move]))[0])

def a_lazy_generator_in_zip(position, move):
    """generator"""
    total = 0
    for a, b in zip((x + total for x in (1, 2, 3)), (4, 5, move)):
        total += a * b
    return total

def a_range_repeated(position, move):
    """repeating"""
    return sum(range(3) * 2)

def sets_compared(position, move):
    """comparing a set"""
    return {x & 3 for x in (position, move)} == {x & 3 for x in (move, position)}

def the_order_of_a_set_in_a_tuple(position, move):
    """order of a set"""
    return tuple({x & 7 for x in (position, move)})[0]

def the_order_of_a_set_in_enumerate(position, move):
    """order of a set"""
    return sum(i * x for i, x in enumerate({x & 7 for x in (position, move)}))

def the_order_of_a_set_in_a_list(position, move):
    """index of a set"""
    return list({x & 7 for x in (position, move)})[0]

def the_order_of_a_constant_set(position, move):
    """order of a set"""
    return [x for x in {24, 8, 16, 0}][0]

def a_float_compared(position, move):
    """float"""
    return move == THREE

def a_fraction_compared(position, move):
    """Fraction"""
    return move == HALF

def floats_searched(position, move):
    """float"""
    return move in FLOATS

def a_text_searched(position, move):
    """text"""
    return "bc" in "abc"

def a_flag_inverted(position, move):
    """Flag"""
    return position & ~Flag.A

def an_int_with_other_operators(position, move):
    """Modular"""
    return MODULAR + move

def a_list_with_another_index(position, move):
    """FromOne"""
    return FROM_ONE[1 + move % 2]

def a_dict_with_defaults(position, move):
    """defaultdict"""
    return DEFAULTS[move]

def a_named_tuple_that_changes_values(position, move):
    """Point"""
    return Point(move, 2).x

def none_in_a_table(position, move):
    """a choice and None"""
    return 1 if GAPS[move % 3] is None else 0

def none_in_a_grid(position, move):
    """a choice and None"""
    return 1 if GRID[position & 1][move & 1] is None else 0

def rows_of_lists_and_tuples(position, move):
    """comparing a list or tuple"""
    return MIXED[move & 1] == (1, 2)

def a_list_or_a_tuple(position, move):
    """comparing a list or tuple"""
    pair = (1, 2) if position & 1 else [1, 2]
    return pair == (1, 2)

def a_list_less_than_a_tuple(position, move):
    """ordering a list and a tuple"""
    return [1, move] < (1, 2)

def a_bool_or_an_int(position, move):
    """isinstance"""
    return isinstance(position > 3 or move, bool)

def a_list_multiplied_in_place(position, move):
    """augmented"""
    one = [1, 2]
    other = one
    one *= 2
    return len(other)

def a_global_list_extended_in_place(position, move):
    """augmented"""
    counts = COUNTS
    counts += [move]
    return len(counts)

def a_row_extended_in_place(position, move):
    """augmented"""
    row = ROWS[move & 1]
    row += [1]
    return len(row)

def a_list_shared_in_the_next_round(position, move):
    """two names"""
    one, other = [1, 2, 3], [4, 5, 6]
    for i in range(position % 50):
        other[0] += i
        other = one
    return one[0]

def a_list_changed_in_the_next_round(position, move):
    """two names"""
    one, other, total = [1, 2, 3], [4, 5, 6], 0
    for i in range(position % 50):
        one[0] += i
        other = one if i == 2 else other
        total += other[0]
    return total

def a_list_shared_on_one_path(position, move):
    """two names"""
    if position & 1:
        one = [x for x in range(move & 7)]
        other = one
    else:
        one, other = [3, 4], [5, 6, 7]
    one.append(9)
    return len(other)

def a_list_returned_twice(position, move):
    """two names"""
    def pair(same):
        numbers = [1, 2]
        if same:
            return numbers, numbers
        return [3, 4], [5, 6]
    one, other = pair(position & 1)
    one[0] = 7
    return other[0]

def a_cached_list_changed(position, move):
    """may outlive the call"""
    cells = cached_cells(9)
    cells.append(move)
    return len(cells)

def a_cached_list_in_a_tuple_changed(position, move):
    """two names"""
    cells, _ = cached_pair(position)
    cells.append(move)
    return len(cells)

def a_global_list_of_a_choice_extended(position, move):
    """may outlive the call"""
    row = ONE if position & 1 else OTHER
    row += [move]
    return len(row)

def a_global_list_or_a_new_one_changed(position, move):
    """two names"""
    row = ONE if position & 1 else [5, 6, 7]
    row.append(move)
    return len(row)

def a_global_list_on_one_path_stored(position, move):
    """changing a list"""
    row = [5, 6]
    if position & 1:
        row = ONE
    row[0] += 1
    return row[0]

def a_global_list_in_the_next_round(position, move):
    """two names"""
    row = [5, 6, 7]
    for _ in range(position % 50):
        row[0] += 1
        row = ONE
    return row[0]

def a_call_with_too_many_arguments(position, move):
    """'abs' with these arguments"""
    return abs(position, 3) if move == 3 else 1

def a_call_with_too_few_arguments(position, move):
    """'zip' with these arguments"""
    return sum(1 for _ in zip())

def a_call_with_an_unknown_name(position, move):
    """'sum' with these arguments"""
    return sum([1], begin=4) if move == 3 else 1

def a_default_beside_two_numbers(position, move):
    """'max' with these arguments"""
    return max(7, move, default=3)

def a_method_with_a_name(position, move):
    """keyword argument of the method 'get'"""
    return DEFAULTS_OF_ONE.get(1, default=3)

def a_range_with_step_zero(position, move):
    """step 0"""
    return len(range(1, 4, 0)) if move == 3 else 1

def a_slice_with_step_zero(position, move):
    """step 0"""
    return len(xs[::0]) if move == 3 else 1

def a_long_list_of_zeros(position, move):
    """a list of more than"""
    return len([0] * 10**9)

def a_number_in_a_long_range(position, move):
    """the method 'index' of a long range"""
    return range(10**15).index(position)

def loops_over_many_objects(position, move):
    """of this size"""
    return sum(a.count + b.count + c.count for a in OBJECTS for b in OBJECTS for c in OBJECTS)

def an_int_or_a_member(position, move):
    """isinstance"""
    return isinstance(Level.HIGH if position & 1 else move, enum.Enum)

def a_member_with_another_order(position, move):
    """Rank"""
    return Rank(move & 1) < 2

def an_int_with_another_assignment(position, move):
    """Growing"""
    number = GROWING
    number += 1
    return number

def a_list_in_a_set(position, move):
    """a list in a set"""
    return [1, move] in PAIRS

def a_list_in_a_set_display(position, move):
    """a list in a set"""
    return move > 2 and move in {1, [2]}

def a_map_beside_a_shorter_list(position, move):
    """'map' beside"""
    return sum(a * b for a, b in zip(map(lambda x: 10 // x, (5, move)), (1,)))

def a_generator_before_a_call(position, move):
    """a generator beside"""
    cells = [1, 2, move]
    return sum((x for x in cells[:]), cells.pop())

def a_default_that_is_computed(position, move):
    """default arguments"""
    def inner(x=1 // move):
        return x
    return 3

def a_default_of_a_lambda(position, move):
    """default arguments"""
    inner = lambda x, y=1 // move: x + y
    return inner(1, 2)

def a_list_extended_while_it_is_read(position, move):
    """its own elements"""
    cells = [1, 2]
    cells += map(abs, cells)
    return len(cells)

def a_comprehension_that_reads_its_own_variable(position, move):
    """may have no value"""
    return 3 if move < 2 else sum([1 for x in (1,) for xs in xs])

def a_tuple_or_none(position, move):
    """may end without a result"""
    def find():
        if move > 2:
            return move, 1
    pair = find()
    return 0 if pair is None else pair[0]

def a_slice_from_none(position, move):
    """a slice with None"""
    def find():
        if move > 2:
            return move
    return sum(xs[find():])

def a_property_that_counts(position, move):
    """the property 'next'"""
    return STEPS.next

def numbers_divided_beyond_128_bits(position, move):
    """beyond 128 bits"""
    return position // (1 << 200)
'''


@pytest.mark.parametrize(
    "name", [line.split("(")[0][4:] for line in TEXT.splitlines() if line.endswith("(position, move):")]
)
def test_a_difference_from_python_is_refused(name: str, tmp_path: Path) -> None:
    function = getattr(fuzz_compile.load(TEXT, tmp_path, 1), name)
    arguments = {"position": Range(0, 2**64 - 2), "move": Range(0, 2**32 - 1)}
    values = {argument: Int(ir.Variable(limits, argument)) for argument, limits in arguments.items()}
    with pytest.raises(Untranslatable) as caught:
        build_function(new_library(), read_function(function), values, ())
    assert inspect.getdoc(function) in str(caught.value)
