"""Relations between values: equality, order and membership."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from perfectplay.compile import ir
from perfectplay.compile.builder import are_ints
from perfectplay.compile.ranges import Range
from perfectplay.compile.sequences import CONTAINERS, MAX_LIST, Sequences, comparable, describe, is_sequence
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import (
    FALSE,
    TRUE,
    Array,
    Constant,
    Int,
    IntOrNone,
    Tuple,
    Value,
    View,
    constant_int,
    is_none,
    is_object,
)


class Relations(Sequences):
    """The operators `==`, `<`, `<=` and `in`."""

    def equal(self, a: Value, b: Value) -> Int:
        """Return `a == b`."""
        builder = self.builder
        if isinstance(a, Int) and isinstance(b, Int):
            return builder.compare("eq", a, b)
        if isinstance(a, Constant) and isinstance(b, Constant) and type(a.object) is type(b.object) is range:
            return TRUE if a.object == b.object else FALSE
        if is_sequence(a) and is_sequence(b):
            first, second = self.view(a), self.view(b)
            if object in (first.kind, second.kind):
                raise Untranslatable("comparing a list or tuple")
            if comparable(first.kind) is not comparable(second.kind):
                return FALSE
            one, other = self.items(a), self.items(b)
            if one is not None and other is not None:
                if len(one) != len(other):
                    return FALSE
                result = TRUE
                for x, y in zip(one, other, strict=True):
                    result = builder.both(result, self.equal(x, y))
                return builder.keep(result, "equal")
            return self._equal_arrays(a, b)
        if isinstance(a, Constant) and isinstance(b, Constant):
            return TRUE if a.object == b.object else FALSE
        for x, y in ((a, b), (b, a)):
            if isinstance(x, IntOrNone) and isinstance(y, Int):
                return builder.both(x.present, builder.compare("eq", x.number, y))
            if isinstance(x, IntOrNone) and is_none(y):
                return builder.negate(x.present)
        if all(isinstance(each, Int) or is_sequence(each) or _is_simple(each) for each in (a, b)):
            return FALSE  # of different types
        raise Untranslatable(f"comparing {describe(a)} with {describe(b)}")

    def _equal_arrays(self, a: Value, b: Value) -> Int:
        key = (self.path, "equal", id(a), id(b))
        for value in (a, b):
            if isinstance(value, Tuple):
                self.require_array(value)
        first = self.view(a if not isinstance(a, Tuple) or a.sites else self.to_array(a, (key, 0)))
        second = self.view(b if not isinstance(b, Tuple) or b.sites else self.to_array(b, (key, 1)))
        same = self.builder.keep(self.builder.compare("eq", first.length, second.length), "same")
        shorter = self.builder.keep(self.builder.extreme("min", first.length, second.length), "length")
        pairs = View(shorter, lambda i: Tuple((first.element(i), second.element(i))))

        def differ(pair: Value) -> Int:
            assert isinstance(pair, Tuple)
            return self.builder.negate(self.equal(*pair.items))

        return self.builder.both(same, self.builder.negate(self.search(pairs, differ)))

    def search(self, view: View, test: Callable[[Value], Int]) -> Int:
        """Return whether the test holds for an element. Implemented with the loops of statements."""
        raise NotImplementedError

    def less(self, a: Value, b: Value, *, or_equal: bool = False) -> Int:
        """Return `a < b` or `a <= b`."""
        builder = self.builder
        if isinstance(a, Int) and isinstance(b, Int):
            return builder.compare("le" if or_equal else "lt", a, b)
        one, other = self.items(a), self.items(b)
        if one is None or other is None or not self._can_be_ordered(a, b):
            raise Untranslatable(f"ordering {describe(a)} and {describe(b)}")
        result = TRUE if len(one) < len(other) or (or_equal and len(one) == len(other)) else FALSE
        for x, y in reversed(list(zip(one, other, strict=False))):
            tie = builder.both(self.equal(x, y), result)
            result = builder.keep(builder.either(self.less(x, y), tie), "less")
        return result

    def _can_be_ordered(self, a: Value, b: Value) -> bool:
        kinds = {comparable(self.view(value).kind) for value in (a, b) if is_sequence(value)}
        return is_sequence(a) and is_sequence(b) and kinds in ({list}, {tuple})

    def contains(self, value: Value, item: Value) -> Int:
        """Return `item in value`."""
        builder, value = self.builder, self.unordered(value)
        if isinstance(value, Constant) and isinstance(value.object, str):
            raise Untranslatable("'in' with a text")
        if isinstance(value, Constant) and isinstance(value.object, dict | set | frozenset) and not is_hashable(item):
            raise Untranslatable("a list in a set or dict")
        bounds = _range_bounds(value)
        if bounds is not None and isinstance(item, Int):
            return self._in_range(*bounds, item)
        if bounds is not None and isinstance(item, IntOrNone):
            return builder.both(item.present, self._in_range(*bounds, item.number))
        if isinstance(value, Constant) and isinstance(item, Int) and is_object(value.object, *CONTAINERS):
            found = self._in_table(value.object, item)
            if found is not None:
                return found
        view = self.view(value)
        item = builder.keep(item) if isinstance(item, Int) else item
        if view.is_iterator:
            return self.search(view, lambda element: self.equal(element, item))
        items = self.items(value)
        if items is None and isinstance(view.length.expr, ir.Number) and not view.uniform:
            items = [view.element(constant_int(i)) for i in range(view.length.expr.value)]
        if items is None:
            return self.search(view, lambda element: self.equal(element, item))
        result = FALSE
        for each in items:
            result = builder.either(result, self.equal(each, item))
        return builder.keep(result, "found")

    def _in_range(self, start: Int, stop: Int, step: int, item: Int) -> Int:
        """Return `item in range(start, stop, step)`."""
        builder, item = self.builder, self.builder.keep(item)
        low, high = (start, stop) if step > 0 else (stop, start)
        above = builder.compare("ge" if step > 0 else "gt", item, low)
        result = builder.both(above, builder.compare("lt" if step > 0 else "le", item, high))
        if abs(step) > 1:
            rest = builder.binary("mod", builder.binary("sub", item, start), constant_int(abs(step)))
            result = builder.both(result, builder.compare("eq", rest, constant_int(0)))
        return result

    def _in_table(self, objects: Any, item: Int) -> Int | None:
        numbers = list(objects)
        if len(numbers) < 8 or not are_ints(numbers):
            return None
        low, high = min(numbers), max(numbers)
        if high - low >= MAX_LIST:
            return None
        builder, members = self.builder, set(numbers)
        item = builder.keep(item)
        inside = builder.both(
            builder.compare("ge", item, constant_int(low)), builder.compare("le", item, constant_int(high))
        )
        # Outside the table the first entry is read, and the result is not used.
        offset = builder.select(inside, builder.binary("sub", item, constant_int(low)), constant_int(0))
        place = Int(ir.Operation(Range(0, high - low), "add", (offset.expr, ir.number(0))))
        entry = builder.table([int(low + i in members) for i in range(high - low + 1)], place.expr)
        return builder.both(inside, entry)


def _range_bounds(value: Value) -> tuple[Int, Int, int] | None:
    """Return the start, the stop and the step of a range; None for another value."""
    if isinstance(value, Constant) and isinstance(value.object, range):
        return constant_int(value.object.start), constant_int(value.object.stop), value.object.step
    return value.bounds if isinstance(value, View) else None


def is_hashable(value: Value) -> bool:
    if isinstance(value, Tuple):
        return value.kind is not list and all(map(is_hashable, value.items))
    return not (isinstance(value, Array) and value.kind is list)


def _is_simple(value: Value) -> bool:
    """Whether this is a constant that never equals an int or a sequence."""
    kinds = (type(None), str, bytes, dict, set, frozenset, FunctionType)
    return isinstance(value, Constant) and type(value.object) in kinds
