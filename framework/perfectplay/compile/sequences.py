"""Sequences: reading, slicing and building them.

A sequence of known length is a `Tuple` of separate variables. It becomes an `Array` only where that is needed: if a
list changes, if an index is not constant, or if the length depends on the position.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from perfectplay.compile import ir
from perfectplay.compile.builder import Builder, are_ints
from perfectplay.compile.ranges import Range, widen
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import (
    UNSEEN,
    Array,
    Choice,
    Constant,
    Generator,
    Int,
    IntOrNone,
    Leaf,
    Origin,
    Shape,
    Tuple,
    Value,
    View,
    constant_int,
    is_int,
    is_object,
)

MAX_LIST = 4096
"""The capacity of a list whose length has no known limit, as many as a game in Python may have moves."""

MAX_STATIC = 128
"""Longer sequences are arrays even if their length is known."""


CONTAINERS = (list, tuple, range, dict, set, frozenset)


_TWO_NAMES = "changing a list that may have two names"


@dataclass(frozen=True, slots=True)
class ArrayFact:
    """What is known about the lists made in one place."""

    shape: Shape = UNSEEN
    ranges: tuple[Range, ...] = ()
    kinds: tuple[type, ...] = ()
    capacity: int = 0
    resized: bool = False
    """Whether the length is not known to the translator."""


def wrap(value: Any) -> Value:
    """Return a live object as a value."""
    return constant_int(value) if is_int(value) else Constant(value)


def choose(builder: Builder, objects: Sequence[Any], index: ir.Expr) -> Value:
    """Return `objects[index]`, where the index is in range, or the check of the index always fails."""
    if not objects:
        return constant_int(0)
    if isinstance(index, ir.Number):
        return wrap(objects[index.value])
    if isinstance(objects, range) and size(objects) > MAX_STATIC:
        offset = builder.binary("mul", Int(index), constant_int(objects.step))
        return builder.binary("add", constant_int(objects.start), offset)
    if are_ints(objects):
        return builder.table(objects, index)
    if all(each is objects[0] for each in objects):
        return wrap(objects[0])
    return Choice(tuple(objects), index)


def size(objects: Any) -> int:
    """Return the length of a live object. `len` fails for long ranges."""
    if not isinstance(objects, range):
        return len(objects)
    last = objects.stop - (1 if objects.step > 0 else -1)
    return max(0, (last - objects.start) // objects.step + 1)


def outlives_call(value: Value) -> bool:
    """Whether this may be a list of the running interpreter, which a translated function must not change."""
    match value:
        case Constant(obj):
            return isinstance(obj, list)
        case Choice(objects, _):
            return any(isinstance(each, list) for each in objects)
        case Tuple(kind=kind, sites=sites):
            return kind is list and not sites
    return False


def is_sequence(value: Value) -> bool:
    """Whether the value has a length and elements in order."""
    match value:
        case Tuple(kind=kind) | Array(kind=kind):
            return kind is not set
        case View():
            return not value.is_iterator
        case Constant(obj):
            return is_object(obj, list, tuple, range)
        case Choice(objects, _):
            return all(is_object(each, list, tuple, range) for each in objects)
    return False


class Sequences:
    """Operations on sequences. `builder` is the function under construction."""

    builder: Builder
    path: tuple[Hashable, ...]
    """Distinguishes the copies of an unrolled or inlined piece of code."""
    clock: int
    """Counts what the translator does with arrays."""
    repeated: list[int]
    """When the translation of each surrounding loop began, by `clock`."""
    rounds: list[int]
    """How many rounds each of these loops has at most; MAX_LIST means any number."""

    def loop_over(self, view: View, body: Callable[[Value], None], key: Hashable, carried: Sequence[str]) -> None:
        raise NotImplementedError

    # ---- reading ----

    def view(self, value: Value) -> View:
        """Return a sequence or an iterator as a view. Raises Untranslatable for other values."""
        builder = self.builder
        match value:
            case View():
                return value
            case Tuple(kind=kind) | Array(kind=kind) if kind is set:
                raise Untranslatable("the order of a set")
            case Constant(obj) if is_object(obj, *CONTAINERS, str):
                objects = obj if isinstance(obj, range | list | tuple) else list(obj)
                number, uniform = constant_int(size(objects)), _is_uniform(objects)
                return View(number, lambda i: choose(builder, objects, i.expr), _kind(obj), uniform)
            case Tuple(items, kind, _):
                return View(constant_int(len(items)), lambda i: self._item(value, i), kind, uniform=False)
            case Array():
                count = value.length if isinstance(value.length, ir.Variable) else ir.number(value.length)
                return View(Int(count), lambda i: self.load(value, i), value.kind, arrays=(value,))
            case Choice(objects, index) if is_sequence(value):
                return self._view_choice(objects, index)
        raise Untranslatable(f"iterating over {describe(value)}")

    def unordered(self, value: Value) -> Value:
        """Return a value for a use that does not depend on the order of its elements."""
        if isinstance(value, Tuple) and value.kind is set:
            return Tuple(value.items)
        if isinstance(value, Array) and value.kind is set:
            return self.view(replace(value, kind=tuple))
        return value

    def _view_choice(self, objects: Sequence[Any], index: ir.Expr) -> View:
        builder, longest = self.builder, max(map(size, objects))
        if longest > MAX_LIST:
            raise Untranslatable("a choice of long sequences")
        index = builder.keep(Int(index), "row").expr
        length = builder.keep(builder.table([len(each) for each in objects], index), "length")
        filler = next((each for row in objects for each in row), 0)
        flat = [row[i] if i < len(row) else row[-1] if row else filler for row in objects for i in range(longest)]

        def element(i: Int) -> Value:
            if not flat:
                return constant_int(0)  # the check of the index always fails
            if isinstance(i.expr, ir.Number):
                return choose(builder, flat[i.expr.value :: longest], index)
            start = builder.binary("mul", Int(index), constant_int(longest))
            return choose(builder, flat, builder.keep(builder.binary("add", start, i), "place").expr)

        kinds = set(map(_kind, objects))
        return View(length, element, kinds.pop() if len(kinds) == 1 else object, _is_uniform(flat))

    def _item(self, value: Tuple, index: Int) -> Value:
        if not value.items:
            return constant_int(0)  # the check of the index always fails
        if isinstance(index.expr, ir.Number):
            return value.items[index.expr.value]
        if not value.sites:
            return self.load(self.to_array(value, (self.path, "spill", len(value.items), id(value.kind))), index)
        self.require_array(value)
        return value.items[0]  # this round is repeated

    def require_array(self, value: Tuple) -> None:
        """Record that a sequence must be made as an array."""
        for site in value.sites:
            if not isinstance(self.builder.facts.known.get(site), ArrayFact):
                self.builder.facts.record(site, ArrayFact())

    def items(self, value: Value) -> list[Value] | None:
        """Return the elements if their number is known, else None."""
        if isinstance(value, Tuple):
            return list(value.items)
        if not is_sequence(value) and not isinstance(value, View):
            return None
        view = self.view(value)
        if isinstance(view.length.expr, ir.Number) and view.length.expr.value <= MAX_STATIC:
            return [view.element(constant_int(i)) for i in range(view.length.expr.value)]
        return None

    def index(self, index: Int, length: Int) -> Int:
        """Return a valid index for one that may be negative. Fails at run time if it is out of range."""
        builder = self.builder
        if index.range.lo < 0:
            index = builder.keep(index, "index")
            below = builder.compare("lt", index, constant_int(0))
            index = builder.select(below, builder.binary("add", index, length), index)
        last = length.range.hi - 1
        if last < 0:
            builder.fail()
            return constant_int(0)
        if isinstance(length.expr, ir.Number):
            return builder.narrow(index, Range(0, last), "index")
        index = builder.keep(index, "index")
        builder.fail_if(builder.compare("ge", index, length))
        return builder.narrow(index, Range(0, last), "index")

    def load(self, array: Array, index: Int) -> Value:
        """Return an element of an array. The index is in range."""
        if array.shape is UNSEEN:
            return constant_int(0)  # nothing was ever stored
        values = []
        for leaf in array.leaves:
            target = self.builder.variable("item", leaf.range)
            self.builder.emit(ir.Load(target, leaf.array, index.expr))
            values.append(Int(target, leaf.kind))
        return _assemble(array.shape, iter(values))

    def slice(self, value: Value, start: Int | None, stop: Int | None, step: Int | None, site: Hashable) -> Value:
        if not is_sequence(value):
            raise Untranslatable(f"a slice of {describe(value)}")
        view, builder = self.view(value), self.builder
        parts = [None if part is None else part.expr for part in (start, stop, step)]
        if isinstance(view.length.expr, ir.Number) and all(p is None or isinstance(p, ir.Number) for p in parts):
            bounds = slice(*(p.value if isinstance(p, ir.Number) else None for p in parts))
            if bounds.step == 0:
                raise Untranslatable("a slice with step 0")
            indices = range(view.length.expr.value)[bounds]
            if isinstance(value, Constant) and not isinstance(value.object, list):
                return Constant(value.object[bounds])
            return self.collect([view.element(constant_int(i)) for i in indices], comparable(view.kind), site)
        size = 1 if step is None else step.expr.value if isinstance(step.expr, ir.Number) else 0
        if size < 1 and not (size == -1 and start is None and stop is None):
            raise Untranslatable("a slice with this step")

        def clamp(bound: Int | None, default: Int) -> Int:
            if bound is None:
                return default
            if bound.range.lo < 0:
                bound = builder.keep(bound, "bound")
                below = builder.compare("lt", bound, constant_int(0))
                shifted = builder.extreme("max", builder.binary("add", bound, view.length), constant_int(0))
                bound = builder.select(below, shifted, bound)
            return builder.extreme("min", bound, view.length)

        first = builder.keep(clamp(start, constant_int(0)), "first")
        last = clamp(stop, view.length)
        rounded = builder.binary("add", builder.binary("sub", last, first), constant_int(abs(size) - 1))
        length = builder.extreme("max", builder.binary("floordiv", rounded, constant_int(abs(size))), constant_int(0))
        limits = length.range.clip(Range(0, view.length.range.hi))  # the start is not behind the end of the sequence
        length = builder.keep(Int(ir.Operation(limits, "add", (length.expr, ir.number(0)))), "length")

        def element(i: Int) -> Value:
            if size == -1:
                backward = builder.binary("sub", builder.binary("sub", length, constant_int(1)), i)
                return view.element(
                    Int(ir.Operation(Range(0, max(limits.hi - 1, 0)), "add", (backward.expr, ir.number(0))))
                )
            return view.element(builder.binary("add", first, builder.binary("mul", i, constant_int(size))))

        part = View(length, element, view.kind, view.uniform)
        if isinstance(value, Tuple) and value.sites:
            self.require_array(value)
        elif isinstance(value, Tuple):
            array = self.to_array(value, (site, "base"))
            return self.slice(array, start, stop, step, site)
        return self.copy(part, comparable(view.kind), site)

    # ---- building ----

    def collect(self, values: Sequence[Value], kind: type, site: Hashable) -> Value:
        """Return a sequence of these elements."""
        fact = self.builder.facts.known.get(site)
        if fact is None and len(values) <= MAX_STATIC:
            return Tuple(tuple(values), kind, frozenset([site]))
        array = self.new_array(site, kind)
        for value in values:
            self.append(array, value)
        return array

    def copy(self, view: View, kind: type, site: Hashable) -> Value:
        """Return a new sequence with the elements of a view."""
        if isinstance(view.length.expr, ir.Number) and view.length.expr.value <= MAX_STATIC:
            return self.collect([view.element(constant_int(i)) for i in range(view.length.expr.value)], kind, site)
        array = self.new_array(site, kind)
        self.loop_over(view, lambda element: self.append(array, element), (site, "copy"), ())
        return array

    def to_array(self, value: Value, site: Hashable, kind: type | None = None) -> Array:
        """Return a new array with the elements of a sequence."""
        view = self.view(value)
        array = self.new_array(site, kind or view.kind)
        items = self.items(value)
        if items is not None:
            for item in items:
                self.append(array, item)
        else:
            self.loop_over(view, lambda element: self.append(array, element), (site, "copy"), ())
        return array

    def new_array(self, site: Hashable, kind: type) -> Array:
        """Return an empty list. Facts about the place where it is made decide its types and its capacity."""
        builder = self.builder
        fact = builder.facts.known.get(site)
        if not isinstance(fact, ArrayFact):
            fact = ArrayFact()
            builder.facts.record(site, fact)
        leaves = []
        for limits, leaf_kind in zip(fact.ranges, fact.kinds, strict=True):
            name = builder.unique("list")
            builder.arrays[name] = (limits, fact.capacity)
            leaves.append(Leaf(name, limits, leaf_kind))
        length: int | ir.Variable = 0
        if fact.resized:
            length = builder.variable("length", Range(0, fact.capacity))
            builder.emit(ir.Assign(length, ir.number(0)))
        origin = Origin(builder.context, tuple(self.repeated))
        self.clock += 1
        return Array(site, kind, fact.shape, leaves, fact.capacity, length, origin, made=self.clock)

    def append(self, array: Array, value: Value) -> None:
        """Append an element. Fails at run time if the list is full and has no known limit."""
        builder = self.builder
        self.require_resizable(array)
        shape, leaves = self._flatten(value)
        ready = self._store_fact(array, shape, leaves)
        origin = array.origin
        if array.refilled:
            origin.appends = MAX_LIST + 1  # each append is checked
        else:
            origin.appends += self._most_runs(origin)
        self._update(array, capacity=min(max(origin.appends, array.capacity), MAX_LIST))
        if isinstance(array.length, ir.Variable):
            index: ir.Expr = array.length
            if origin.appends > array.capacity:
                builder.fail_if(builder.compare("ge", Int(index), constant_int(array.capacity)))
        elif origin.context is not builder.context:
            self._update(array, resized=True)
            return
        else:
            index = ir.number(array.length)
            array.length += 1
            if array.length > array.capacity:
                self._update(array, capacity=array.length)
                return
        if not ready:
            return
        for leaf, part in zip(array.leaves, leaves, strict=True):
            builder.emit(ir.Store(leaf.array, index, builder.narrow(part, leaf.range).expr, leaf.range))
        if isinstance(array.length, ir.Variable):
            one_more = ir.Operation(array.length.range, "add", (array.length, ir.number(1)))
            builder.emit(ir.Assign(array.length, one_more))

    def _most_runs(self, origin: Origin) -> int:
        """Return how often the present code runs at most for each list that is made at its origin."""
        runs = 1
        for loop, rounds in zip(self.repeated, self.rounds, strict=True):
            if loop not in origin.loops:
                runs *= max(rounds, 1)
        return runs if runs < MAX_LIST else MAX_LIST + 1

    def extend(self, base: Value, more: Value) -> None:
        """Append all elements of a sequence to a list."""
        if isinstance(base, Tuple):
            if not base.sites:
                raise Untranslatable(f"changing {describe(base)}, which may outlive the call,")
            self.require_array(base)
            return
        assert isinstance(base, Array)
        view = self.view(more)
        if base in view.arrays:
            raise Untranslatable("extending a list with its own elements")
        items = None if view.calls else self.items(more)  # a function sees the list grow
        if items is not None:
            for item in items:
                self.append(base, item)
        else:
            self.loop_over(view, lambda element: self.append(base, element), (self.path, "extend", base.site), ())

    def store(self, array: Array, index: Int, value: Value) -> None:
        """Replace an element. The index is in range."""
        self.require_mutable(array)
        shape, leaves = self._flatten(value)
        if self._store_fact(array, shape, leaves):
            for leaf, part in zip(array.leaves, leaves, strict=True):
                narrowed = self.builder.narrow(part, leaf.range)
                self.builder.emit(ir.Store(leaf.array, index.expr, narrowed.expr, leaf.range))

    def require_reusable(self, value: Value) -> Value:
        """Return a value that a variable may hold. Python would consume an iterator only once, and when it is read."""
        if isinstance(value, Generator) or (isinstance(value, View) and value.is_iterator):
            raise Untranslatable("an iterator in a variable")
        return value

    def require_mutable(self, array: Array) -> None:
        if array.frozen:
            raise Untranslatable(_TWO_NAMES)
        self.clock += 1
        array.changed = self.clock

    def freeze(self, array: Array) -> None:
        """Refuse all changes of a list that gets a second name here, in C a copy."""
        if any(array.made < start < array.changed for start in self.repeated):  # a change in the next round
            raise Untranslatable(_TWO_NAMES)
        array.frozen = True

    def refill(self, array: Array, value: Value) -> None:
        """Give an array the elements of another list that its variable has now. No list changes."""
        frozen, changed = array.frozen, array.changed
        if isinstance(array.length, ir.Variable):
            self.builder.emit(ir.Assign(array.length, ir.number(0)))
        array.origin, array.frozen, array.refilled = Origin(None, tuple(self.repeated)), False, False
        self.extend(array, value)
        array.frozen, array.changed, array.refilled = frozen, changed, True

    def require_resizable(self, array: Array) -> None:
        self.require_mutable(array)
        if array.loops:
            raise Untranslatable("changing the length of a list in a loop over it")

    def _flatten(self, value: Value) -> tuple[Shape, list[Int]]:
        if isinstance(value, Int):
            return None, [value]
        items = self.items(value) if not isinstance(value, Array) else None
        if items is None or (isinstance(value, Tuple) and value.kind is list):
            raise Untranslatable(f"a list of {describe(value)}")
        parts = [self._flatten(item) for item in items]
        return tuple(shape for shape, _ in parts), [leaf for _, leaves in parts for leaf in leaves]

    def _store_fact(self, array: Array, shape: Shape, leaves: list[Int]) -> bool:
        """Record the type of a stored element. Return False if this round must be repeated."""
        if array.shape is UNSEEN:
            kinds, limits = tuple(leaf.kind for leaf in leaves), tuple(leaf.range for leaf in leaves)
            self._update(array, shape=shape, ranges=limits, kinds=kinds)
            return False
        if array.shape != shape:
            raise Untranslatable("a list of elements of different types")
        old = [leaf.range for leaf in array.leaves]
        limits = tuple(
            have if leaf.range in have else widen(have, leaf.range, stays_unsigned=False)
            for have, leaf in zip(old, leaves, strict=True)
        )
        kinds = tuple(
            have.kind if have.kind is leaf.kind else int for have, leaf in zip(array.leaves, leaves, strict=True)
        )
        self._update(array, ranges=limits, kinds=kinds)
        return True

    def _update(self, array: Array, **changes: Any) -> None:
        fact = self.builder.facts.known[array.site]
        if "ranges" in changes and fact.ranges:
            changes["ranges"] = tuple(a.join(b) for a, b in zip(fact.ranges, changes["ranges"], strict=True))
        if "capacity" in changes:
            changes["capacity"] = max(fact.capacity, changes["capacity"])
        self.builder.facts.record(array.site, replace(fact, **changes))


def _assemble(shape: Any, leaves: Any) -> Value:
    return next(leaves) if shape is None else Tuple(tuple(_assemble(each, leaves) for each in shape))


def _kind(obj: Any) -> type:
    return list if isinstance(obj, list) else tuple if isinstance(obj, tuple) else type(obj)


def comparable(kind: type) -> type:
    return tuple if issubclass(kind, tuple) else kind


def _is_uniform(objects: Sequence[Any]) -> bool:
    """Whether an element can be chosen at run time: integers, or sequences of such."""
    if isinstance(objects, range) or are_ints(objects):
        return True
    if not all(is_object(each, list, tuple) for each in objects):
        return False
    if all(map(are_ints, objects)):
        return True
    if all(len(each) == len(objects[0]) for each in objects):
        return all(_is_uniform([each[i] for each in objects]) for i in range(len(objects[0])))
    return _is_uniform([item for each in objects for item in each])


def describe(value: Value) -> str:
    """Return what a value is, for messages."""
    match value:
        case Int():
            return "an int"
        case IntOrNone():
            return "an int or None"
        case Constant(obj):
            return "None" if obj is None else f"an object of type {type(obj).__name__}"
        case Tuple(_, kind, _) | Array(kind=kind):
            return f"a {kind.__name__}"
        case Generator():
            return "a generator"
    return f"a {type(value).__name__.lower()}"
