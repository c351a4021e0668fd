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

MODULAR, FROM_ONE = Modular(3), FromOne([5, 6, 7])

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
