"""Translates calls of Python's builtin functions."""

from __future__ import annotations

import ast
import enum
import operator
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from perfectplay.compile import ir
from perfectplay.compile.calls import Builtin, Library, Translator
from perfectplay.compile.ranges import Range
from perfectplay.compile.sequences import describe, is_sequence, size
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import (
    FALSE,
    UNSEEN,
    Array,
    Closure,
    Constant,
    Generator,
    Int,
    Tuple,
    Value,
    View,
    constant_int,
)

_LENGTHS = Range(0, sys.maxsize)
"""The results of `len`. Python has longer ranges, but no number for their length."""


def new_library() -> Library:
    """Return an empty library of C functions."""
    return Library(_BUILTINS)


def _len(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    if isinstance(a[0], Constant) and hasattr(a[0].object, "__len__"):
        return t.builder.narrow(constant_int(size(a[0].object)), _LENGTHS)
    value = t.unordered(a[0])
    if not is_sequence(value):
        raise Untranslatable(f"the length of {describe(value)}")
    length = t.view(value).length
    if isinstance(length.expr, ir.Variable) and isinstance(a[0], Array):  # it may change later
        copy = t.builder.variable("length", length.range)
        t.builder.emit(ir.Assign(copy, length.expr))
        return Int(copy)
    return t.builder.narrow(length, _LENGTHS)


def _range(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    numbers = [t.as_integer(value) for value in a]
    constants = [number.expr.value for number in numbers if isinstance(number.expr, ir.Number)]
    if len(constants) == 3 == len(numbers) and constants[2] == 0:
        raise Untranslatable("a range with step 0")
    if len(constants) == len(numbers):
        return Constant(range(*constants))
    if len(numbers) == 1:
        numbers = [constant_int(0), *numbers]
    return t.range_view(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else constant_int(1))


def _enumerate(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    start = t.as_integer(named.get("start", a[1] if len(a) > 1 else constant_int(0)))
    view = t.view(a[0])
    return replace(view, element=lambda i: Tuple((t.builder.binary("add", i, start), view.element(i))), kind=Iterator)


def _zip(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    views = [t.view(value) for value in a]
    length = views[0].length
    strict = named.get("strict", FALSE)
    if not isinstance(strict, Int) or not isinstance(strict.expr, ir.Number):
        raise Untranslatable("a variable argument 'strict'")
    for view in views[1:]:
        if strict.expr.value:
            t.builder.fail_if(t.builder.compare("ne", length, view.length))
        length = t.builder.keep(t.builder.extreme("min", length, view.length), "length")
    calls = any(view.calls for view in views)
    return _view_of_all(views, length, lambda i: Tuple(tuple(view.element(i) for view in views)), calls=calls)


def _view_of_all(views: Sequence[View], length: Int, element: Callable[[Int], Value], *, calls: bool) -> View:
    if any(view.calls for view in views[:-1]) and any(view.length.expr != views[0].length.expr for view in views):
        raise Untranslatable("'map' beside a sequence of another length")  # Python calls the function once more
    arrays = tuple(array for view in views for array in view.arrays)
    return View(length, element, Iterator, all(view.uniform for view in views), arrays, calls=calls)


def _reversed(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    view = t.view(a[0])
    if view.is_iterator:
        raise Untranslatable("an iterator in 'reversed'")
    last = t.builder.keep(t.builder.binary("sub", view.length, constant_int(1)), "last")

    def element(i: Int) -> Value:
        limits = Range(0, max(view.length.range.hi - 1, 0))
        place = t.builder.binary("sub", last, i)
        if isinstance(place.expr, ir.Number):
            return view.element(place)
        return view.element(Int(ir.Operation(limits, "sub", (last.expr, i.expr))))

    return replace(view, element=element, kind=Iterator)


def _map(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    function, views = a[0], [t.view(value) for value in a[1:]]
    length = views[0].length
    for view in views[1:]:
        length = t.builder.keep(t.builder.extreme("min", length, view.length), "length")
    node = site[1] if isinstance(site, tuple) else None
    assert isinstance(node, ast.AST)

    def element(i: Int) -> Value:
        values = [t.kept(view.element(i)) for view in views]
        if isinstance(function, Closure):
            return t._call_closure(function, (values, {}), node)
        if not isinstance(function, Constant):
            raise Untranslatable("'map' with this function")
        return t.call_object(function.object, (values, {}), node)

    return _view_of_all(views, length, element, calls=True)


def _sum(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    start = t.as_integer(named.get("start", a[1] if len(a) > 1 else constant_int(0)))
    return t.total(t.unordered(a[0]), lambda element: element, site, 5, start)


def _any(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    return t.find(t.unordered(a[0]), t.truth_of, site, 5)


def _all(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    return t.builder.negate(t.find(t.unordered(a[0]), lambda element: t.builder.negate(t.truth_of(element)), site, 5))


def _extreme(op: str) -> Builtin:
    def run(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
        if "key" in named:
            raise Untranslatable(f"'{op}' with a key")
        if named and len(a) > 1:
            raise Untranslatable(f"'{op}' with these arguments")

        def better(x: Value, y: Value) -> Value:
            if isinstance(x, Int) and isinstance(y, Int):
                return t.builder.extreme(op, x, y)
            wins = t.less(y, x) if op == "min" else t.less(x, y)
            return t.evaluate_either(t.builder.keep(wins), lambda: y, lambda: x, site)

        if len(a) > 1:
            best = a[0]
            for value in a[1:]:
                best = t.kept(better(best, value))
            return best
        return t.fold(t.unordered(a[0]), better, site, named.get("default"))

    return run


def _sorted(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    reverse = named.get("reverse", constant_int(0))
    if set(named) - {"reverse"} or not isinstance(reverse, Int) or not isinstance(reverse.expr, ir.Number):
        raise Untranslatable("'sorted' with a key")
    op = ("max", "min") if reverse.expr.value else ("min", "max")
    value = t.unordered(a[0])
    if isinstance(value, Generator) or (isinstance(value, View) and value.calls):
        value = t.gather(value, list, (site, "gathered"))
    items = t.items(value)
    if items is None or len(items) > 10 or not all(isinstance(item, Int) for item in items):
        return _sort_array(t, value, descending=bool(reverse.expr.value), site=site)
    numbers = [t.builder.keep(t.as_integer(item)) for item in items]
    for end in range(len(numbers) - 1, 0, -1):  # a sorting network
        for i in range(end):
            low = t.builder.keep(t.builder.extreme(op[0], numbers[i], numbers[i + 1]), "low")
            high = t.builder.keep(t.builder.extreme(op[1], numbers[i], numbers[i + 1]), "high")
            numbers[i], numbers[i + 1] = low, high
    return t.collect(numbers, list, (site, "sorted"))


def _sort_array(t: Translator, value: Value, *, descending: bool, site: Hashable) -> Value:
    """Insertion sort of an array of ints."""
    builder = t.builder
    array = t.to_array(value, (site, "sorted"), list)
    if array.shape is not None:
        if array.shape is UNSEEN:
            return array
        raise Untranslatable("sorting tuples")
    view = t.view(array)

    def swap(pair: tuple[Int, Int], x: Int, y: Int) -> None:
        t.store(array, pair[0], y)
        t.store(array, pair[1], x)

    def outer(i: Value) -> None:
        assert isinstance(i, Int)

        def inner(j: Value) -> None:
            assert isinstance(j, Int)
            right = Int(builder.keep(builder.binary("sub", i, j), "right").expr)
            right = builder.narrow(right, Range(1, max(array.capacity - 1, 1)), "right")
            left = builder.keep(builder.binary("sub", right, constant_int(1)), "left")
            x, y = t.load(array, left), t.load(array, right)
            assert isinstance(x, Int)
            assert isinstance(y, Int)
            wrong = builder.compare("lt" if descending else "gt", x, y)
            t.branch(wrong, lambda: swap((left, right), x, y), t.break_loop, site)

        t.loop_over(View(i, lambda j: j), inner, (site, "inner"), ())

    t.loop_over(View(view.length, lambda i: i), outer, (site, "outer"), ())
    return array


def _list(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    if not a:
        return t.collect([], list, site)
    if isinstance(a[0], Array) and a[0].kind is set:
        return Array(a[0].site, set, a[0].shape, a[0].leaves, a[0].capacity, a[0].length, a[0].origin, frozen=True)
    return t.gather(a[0], list, site)


def _tuple(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    if not a:
        return Tuple(())
    if isinstance(a[0], Tuple) and issubclass(a[0].kind, tuple):
        return a[0]
    return t.gather(a[0], tuple, site)


def _int(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    if len(a) > 1:
        raise Untranslatable("'int' with a base")
    return Int(t.as_integer(a[0]).expr) if a else constant_int(0)


def _bool(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    return t.truth_of(a[0]) if a else constant_int(False)


def _abs(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    return t.builder.absolute(t.as_integer(a[0]))


def _divmod(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    x, y = t.as_integer(a[0]), t.as_integer(a[1])
    return Tuple((t.builder.binary("floordiv", x, y), t.builder.binary("mod", x, y)))


def _pow(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    if len(a) != 2:
        raise Untranslatable("'pow' with three arguments")
    return t.builder.power(t.as_integer(a[0]), t.as_integer(a[1]))


def _getitem(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    return t.item(a[0], a[1])


def _isinstance(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    value, classes = a
    if isinstance(classes, Constant):
        if isinstance(value, Constant):
            return constant_int(isinstance(value.object, classes.object))
        kind = value.kind if isinstance(value, Int | Tuple | Array) else object
        if isinstance(value, Int) and kind is int:  # it may be a bool or of an enumeration
            if classes.object is int or classes.object in _NEVER_INT:
                return constant_int(classes.object is int)
        elif kind not in (object, set) and type(classes.object) in (type, enum.EnumType):
            return constant_int(issubclass(kind, classes.object))
    raise Untranslatable("'isinstance' of this value")


_NEVER_INT: tuple[type, ...] = (list, tuple, range, str, bytes, float, dict, set, frozenset)


def _bits(op: str) -> Builtin:
    return lambda t, a, named, site: t.builder.bits(op, t.as_integer(a[0]))


def _taking(function: Any, run: Builtin, least: int, most: int, keywords: str) -> Builtin:
    """Return a builtin that refuses a wrong number of arguments, where Python raises TypeError."""
    allowed = frozenset(keywords.split())

    def check(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
        if not least <= len(a) <= most or not allowed.issuperset(named):
            raise Untranslatable(f"'{function.__name__}' with these arguments")
        return run(t, a, named, site)

    return check


_ANY = 255  # the number of arguments is not limited
_BUILTINS: dict[Any, Builtin] = {
    function: _taking(function, run, least, most, keywords)
    for function, run, least, most, keywords in (
        (len, _len, 1, 1, ""),
        (range, _range, 1, 3, ""),
        (enumerate, _enumerate, 1, 2, "start"),
        (zip, _zip, 1, _ANY, "strict"),
        (reversed, _reversed, 1, 1, ""),
        (map, _map, 2, _ANY, ""),
        (sum, _sum, 1, 2, "start"),
        (any, _any, 1, 1, ""),
        (all, _all, 1, 1, ""),
        (min, _extreme("min"), 1, _ANY, "key default"),
        (max, _extreme("max"), 1, _ANY, "key default"),
        (sorted, _sorted, 1, 1, "key reverse"),
        (list, _list, 0, 1, ""),
        (tuple, _tuple, 0, 1, ""),
        (int, _int, 0, 2, ""),
        (bool, _bool, 0, 1, ""),
        (abs, _abs, 1, 1, ""),
        (divmod, _divmod, 2, 2, ""),
        (pow, _pow, 2, 3, ""),
        (isinstance, _isinstance, 2, 2, ""),
        (operator.getitem, _getitem, 2, 2, ""),
        (int.bit_count, _bits("bit_count"), 1, 1, ""),
        (int.bit_length, _bits("bit_length"), 1, 1, ""),
    )
}
