"""The state of a translation, and the merging of values where several paths of control meet."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager

from perfectplay.compile import ir
from perfectplay.compile.builder import Builder
from perfectplay.compile.relations import Relations
from perfectplay.compile.sequences import describe, is_sequence, outlives_call
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import (
    FALSE,
    TRUE,
    Array,
    Conflict,
    Constant,
    Env,
    Frame,
    Int,
    IntOrNone,
    Jump,
    Tuple,
    Value,
    is_none,
)


class Merging(Relations):
    """Variables, and their values after branches. Subclasses translate statements, expressions and calls."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.path: tuple[Hashable, ...] = ()
        self.clock = 0
        self.repeated: list[int] = []
        self.rounds: list[int] = []
        self.frames: list[Frame] = []
        self.scopes: dict[str, str] = {}
        self._temporaries = 0

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @contextmanager
    def within(self, *part: Hashable) -> Iterator[None]:
        """Extend the path that distinguishes copies of the same code."""
        outer = self.path
        self.path = (*outer, *part)
        try:
            yield
        finally:
            self.path = outer

    def temporary(self) -> str:
        """Return a name for a value that no Python variable has."""
        self._temporaries += 1
        return f"${self._temporaries}"

    def release(self) -> None:
        self._temporaries -= 1

    def read(self, value: Value | Conflict) -> Value:
        if isinstance(value, Conflict):
            raise Untranslatable(value.reason)
        return value

    def restore_context(self, context: object, first_jump: int, labels: set[str]) -> None:
        """After a label: the flow of control is as before, unless a jump leads further out."""
        outward = any(label not in labels for label in self.builder.jumps[first_jump:])
        self.builder.context = object() if outward else context

    # ---- implemented by subclasses ----

    def expression(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def test(self, node: ast.expr) -> Int:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    def operate(self, op: ast.operator, a: Value, b: Value, site: Hashable) -> Value:
        raise NotImplementedError

    def iterable(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def execute(self, statements: Sequence[ast.stmt]) -> None:
        raise NotImplementedError

    # ---- merging ----

    def join(self, jumps: Sequence[Jump], key: Hashable) -> Env:
        """Return the variables where several paths meet. Each path assigns them before it ends."""
        if len(jumps) == 1:
            return jumps[0].env
        names = dict.fromkeys(name for jump in jumps for name in jump.env)
        env: Env = {}
        for name in names:
            values = [
                jump.env.get(name, Conflict(f"the variable '{name}', which may have no value,")) for jump in jumps
            ]
            env[name] = self.merge(name, values, jumps, (key, name))
        return env

    def merge(
        self, name: str, values: Sequence[Value | Conflict], jumps: Sequence[Jump], key: Hashable
    ) -> Value | Conflict:
        first = values[0]
        if all(value is first for value in values):
            return first
        for value in values:
            if isinstance(value, Conflict):
                return value
        if all(isinstance(value, Int) for value in values):
            return self._merge_ints(name, values, jumps)  # type: ignore[arg-type]
        if all(isinstance(value, Constant) and value.object is first.object for value in values):  # type: ignore[union-attr]
            return first
        if all(isinstance(value, Int | IntOrNone) or is_none(value) for value in values):
            return self._merge_ints_or_none(name, values, jumps)
        if all(is_sequence(value) for value in values):  # type: ignore[arg-type]
            return self._merge_sequences(name, values, jumps, key)  # type: ignore[arg-type]
        described = " or ".join(dict.fromkeys(describe(value) for value in values))  # type: ignore[arg-type]
        return Conflict(f"a value that is {described}")

    def _merge_ints(self, name: str, values: Sequence[Int], jumps: Sequence[Jump]) -> Int:
        if all(value.expr == values[0].expr and value.kind is values[0].kind for value in values):
            return values[0]
        limits = values[0].range
        for value in values:
            self.builder.require_wide(value)
            limits = limits.join(value.range)
        kinds = {value.kind for value in values}
        target = self.builder.variable(name, limits)
        for value, jump in zip(values, jumps, strict=True):
            jump.block.statements.append(ir.Assign(target, value.expr))
        return Int(target, kinds.pop() if len(kinds) == 1 else int)

    def _merge_ints_or_none(self, name: str, values: Sequence[Value | Conflict], jumps: Sequence[Jump]) -> IntOrNone:
        numbers = [value.number if isinstance(value, IntOrNone) else value for value in values]
        known = [number for number in numbers if isinstance(number, Int)]
        filler = Int(ir.number(known[0].range.lo), known[0].kind)  # is never used
        present = [
            value.present if isinstance(value, IntOrNone) else FALSE if is_none(value) else TRUE for value in values
        ]
        return IntOrNone(
            self._merge_ints(name, [number if isinstance(number, Int) else filler for number in numbers], jumps),
            self._merge_ints(f"{name}_present", present, jumps),
        )

    def _merge_sequences(
        self, name: str, values: Sequence[Value], jumps: Sequence[Jump], key: Hashable
    ) -> Value | Conflict:
        with self.builder.inside(ir.Block()):  # code that reads a value here could run on paths without it
            kinds = {self.view(value).kind for value in values}
        kind = kinds.pop() if len(kinds) == 1 else object
        columns = self._columns(values, jumps)
        if columns is not None:
            merged = [self.merge(name, column, jumps, (key, i)) for i, column in enumerate(columns)]
            for each in merged:
                if isinstance(each, Conflict):
                    return each
            sites = frozenset(site for value in values if isinstance(value, Tuple) for site in value.sites)
            if any(map(outlives_call, values)):
                sites = frozenset()  # it must not change
            return Tuple(tuple(merged), kind, sites)  # type: ignore[arg-type]
        shared = any(self.is_shared(value, name, jump.env) for value, jump in zip(values, jumps, strict=True))
        try:
            with self.builder.inside(ir.Block()):  # each path sets the length to 0
                target = self.new_array((key, "merged"), kind)
            for value, jump in zip(values, jumps, strict=True):
                with self.builder.inside(jump.block):
                    self.refill(target, value)
            if shared or kind is object:
                for array in (target, *values):
                    if isinstance(array, Array):
                        self.freeze(array)
        except Untranslatable as error:
            return Conflict(error.construct)
        return target

    def _columns(self, values: Sequence[Value], jumps: Sequence[Jump]) -> list[list[Value]] | None:
        """Return the values to merge for each element, if all sequences have the same known length."""
        if any(isinstance(value, Array) for value in values):
            return None
        rows = []
        for value, jump in zip(values, jumps, strict=True):
            with self.builder.inside(jump.block):
                items = self.items(value)
            if items is None:
                return None
            rows.append(items)
        if any(len(row) != len(rows[0]) for row in rows):
            return None
        return [list(column) for column in zip(*rows, strict=True)]

    def protect(self, value: Value) -> Value:
        """Return a result that a cache of functools keeps, so no list in it may change."""
        if isinstance(value, Tuple):
            sites = frozenset() if value.kind is list else value.sites
            return Tuple(tuple(map(self.protect, value.items)), value.kind, sites)
        if isinstance(value, Array):
            self.freeze(value)
        return value

    def is_shared(self, shared: Value, name: str, env: Env) -> bool:
        """Whether a loop, a live object, or a variable beside `name` in `env` or in a caller may have the same list."""
        if outlives_call(shared):
            return True
        sites = shared.sites if isinstance(shared, Tuple) and shared.kind is list else frozenset()
        if not sites and not isinstance(shared, Array):
            return False

        def count(value: object) -> int:
            if isinstance(value, Tuple):
                return bool(sites & value.sites) + sum(map(count, value.items))
            return value is shared

        callers = (value for frame in self.frames[:-1] for value in frame.env.values())
        others = (value for n, value in env.items() if n != name)
        return (
            (isinstance(shared, Array) and (shared.loops > 0 or shared.frozen))
            or any(map(count, others))
            or any(map(count, callers))
            or count(env.get(name)) > 1
        )
