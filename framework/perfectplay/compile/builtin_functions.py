"""Translates calls of Python's builtin functions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from perfectplay.compile import ir
from perfectplay.compile.calls import Builtin, Library, Translator
from perfectplay.compile.ranges import Range
from perfectplay.compile.sequences import describe, is_sequence
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


def new_library() -> Library:
    """Return an empty library of C functions."""
    return Library(_BUILTINS)


def _len(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    if isinstance(a[0], Constant) and hasattr(a[0].object, "__len__"):
        return constant_int(len(a[0].object))
    value = t.unordered(a[0])
    if not is_sequence(value):
        raise Untranslatable(f"the length of {describe(value)}")
    length = t.view(value).length
    if isinstance(length.expr, ir.Variable) and isinstance(a[0], Array):  # it may change later
        copy = t.builder.variable("length", length.range)
        t.builder.emit(ir.Assign(copy, length.expr))
        return Int(copy)
    return length


def _range(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    numbers = [t.as_integer(value) for value in a]
    constants = [number.expr.value for number in numbers if isinstance(number.expr, ir.Number)]
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
    return _view_of_all(views, length, lambda i: Tuple(tuple(view.element(i) for view in views)))


def _view_of_all(views: Sequence[View], length: Int, element: Callable[[Int], Value]) -> View:
    arrays = tuple(array for view in views for array in view.arrays)
    return View(length, element, Iterator, all(view.uniform for view in views), arrays)


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
        values = [t._kept(view.element(i)) for view in views]
        if isinstance(function, Closure):
            return t._call_closure(function, (values, {}), node)
        if not isinstance(function, Constant):
            raise Untranslatable("'map' with this function")
        return t.call_object(function.object, (values, {}), node)

    return _view_of_all(views, length, element)


def _sum(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    start = t.as_integer(named.get("start", a[1] if len(a) > 1 else constant_int(0)))
    return t.total(t.unordered(a[0]), lambda element: element, site, 5, start)


def _any(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    return t.find(t.unordered(a[0]), t.truth_of, site, 5)


def _all(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    return t.builder.negate(t.find(t.unordered(a[0]), lambda element: t.builder.negate(t.truth_of(element)), site, 5))


def _extreme(op: str) -> Builtin:
    def run(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
        if set(named) - {"default"}:
            raise Untranslatable(f"'{op}' with a key")

        def better(x: Value, y: Value) -> Value:
            if isinstance(x, Int) and isinstance(y, Int):
                return t.builder.extreme(op, x, y)
            wins = t.less(y, x) if op == "min" else t.less(x, y)
            return t.evaluate_either(t.builder.keep(wins), lambda: y, lambda: x, site)

        if len(a) > 1:
            best = a[0]
            for value in a[1:]:
                best = t._kept(better(best, value))
            return best
        return t.fold(t.unordered(a[0]), better, site, named.get("default"))

    return run


def _sorted(t: Translator, a: list[Value], named: dict[str, Value], site: Hashable) -> Value:
    reverse = named.get("reverse", constant_int(0))
    if set(named) - {"reverse"} or not isinstance(reverse, Int) or not isinstance(reverse.expr, ir.Number):
        raise Untranslatable("'sorted' with a key")
    op = ("max", "min") if reverse.expr.value else ("min", "max")
    value = t.unordered(a[0])
    if isinstance(value, Generator):
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
    if isinstance(a[1], Constant):
        kind = a[0].kind if isinstance(a[0], Int | Tuple | Array) else None
        if isinstance(a[0], Constant):
            return constant_int(isinstance(a[0].object, a[1].object))
        if kind is int and not issubclass(int, a[1].object):  # it may be a bool
            kind = None if isinstance(True, a[1].object) else int
        if kind is not None and kind not in (object, set):
            return constant_int(issubclass(kind, a[1].object))
    raise Untranslatable("'isinstance' of this value")


_BUILTINS: dict[Any, Builtin] = {
    len: _len,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    map: _map,
    sum: _sum,
    any: _any,
    all: _all,
    min: _extreme("min"),
    max: _extreme("max"),
    sorted: _sorted,
    list: _list,
    tuple: _tuple,
    int: _int,
    bool: _bool,
    abs: _abs,
    divmod: _divmod,
    pow: _pow,
    isinstance: _isinstance,
    operator.getitem: _getitem,
    int.bit_count: lambda t, a, named, site: t.builder.bits("bit_count", t.as_integer(a[0])),
    int.bit_length: lambda t, a, named, site: t.builder.bits("bit_length", t.as_integer(a[0])),
}
