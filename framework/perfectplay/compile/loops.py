"""Translates branches and loops. Short loops over known sequences are unrolled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from perfectplay.compile import ir
from perfectplay.compile.merging import Merging
from perfectplay.compile.ranges import Range, widen
from perfectplay.compile.sequences import MAX_LIST, describe, is_sequence
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import (
    FALSE,
    TRUE,
    Array,
    Choice,
    Conflict,
    Constant,
    Env,
    Generator,
    Int,
    IntOrNone,
    Jump,
    LoopTarget,
    Tuple,
    Value,
    View,
    constant_int,
    is_none,
)

UNROLL_COST = 1500
"""A loop is unrolled if its body, in nodes of the syntax tree, times its rounds is at most this."""

MAX_UNROLL = 256
MAX_ROUNDS = 1 << 24
"""The largest number of rounds of a `while` loop. A longer one is reported as a fault, because it may be endless."""


def count_nodes(nodes: Iterable[ast.AST]) -> int:
    """Return the size of some code, where a call counts as much as a short function."""
    return sum(map(_count_nodes, nodes))


@lru_cache(maxsize=10_000)
def _count_nodes(node: ast.AST) -> int:
    return sum(25 if isinstance(each, ast.Call) else 1 for each in ast.walk(node))


def assigned_names(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the names that some code assigns, in order, without those of nested functions and comprehensions."""
    return list(dict.fromkeys(name for node in nodes for name in _assigned_names(node)))


@lru_cache(maxsize=10_000)
def _assigned_names(node: ast.AST) -> tuple[str, ...]:
    names: dict[str, None] = {}
    pending = [node]
    while pending:
        node = pending.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names[name] = None
            case ast.FunctionDef(name=name):
                names[name] = None
                continue
            case ast.Lambda():
                continue
            case ast.NamedExpr(target=ast.Name(id=name)):
                names[name] = None
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inner = [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
                names.update((n.target.id, None) for n in inner)
                continue
        pending += list(ast.iter_child_nodes(node))[::-1]
    return tuple(names)


@contextmanager
def _in_loop(arrays: Sequence[Array]) -> Iterator[None]:
    """Mark lists whose length must not change, because a loop over them is being translated."""
    for array in arrays:
        array.loops += 1
    try:
        yield
    finally:
        for array in arrays:
            array.loops -= 1


@dataclass(slots=True)
class _EndOfRound:
    """The new values of a loop's variables at the end of a round."""

    env: Env
    """The variables that the next round can read."""
    ints: list[tuple[ir.Variable, ir.Expr]] = field(default_factory=list)
    lists: list[tuple[Array, Value]] = field(default_factory=list)


class Loops(Merging):
    """Branches and loops."""

    # ---- branches ----

    def branch(self, condition: Int, then: Callable[[], None], otherwise: Callable[[], None], place: Hashable) -> None:
        """Translate one of two pieces of code, or both with a test between them."""
        frame = self.frame
        if isinstance(condition.expr, ir.Number):
            (then if condition.expr.value else otherwise)()
            return
        before, paths = frame.env, []
        first_jump = len(self.builder.jumps)
        for code in (then, otherwise):
            frame.env, frame.reachable = dict(before), True
            block = ir.Block()
            with self.builder.inside(block):
                code()
            paths.append((Jump(frame.env, block), frame.reachable))
        blocks = [jump.block for jump, _ in paths]
        ends = [jump for jump, reachable in paths if reachable]
        if blocks[0].statements or blocks[1].statements or len(ends) == 2:
            self.builder.emit(ir.If(condition.expr, *blocks))
        if len(ends) < 2 or len(self.builder.jumps) > first_jump:
            self.builder.context = object()
        frame.reachable = bool(ends)
        frame.env = self.join(ends, (self.path, place)) if ends else before

    def evaluate_either(
        self, condition: Int, then: Callable[[], Value], otherwise: Callable[[], Value], place: Hashable
    ) -> Value:
        """Return the value of one of two expressions, of which only that one is computed."""
        if isinstance(condition.expr, ir.Number):
            return then() if condition.expr.value else otherwise()
        name = self.temporary()
        env = self.frame.env

        jumps, context = len(self.builder.jumps), self.builder.context
        values, blocks, envs = [], [ir.Block(), ir.Block()], []
        for block, code in zip(blocks, (then, otherwise), strict=True):
            self.frame.env = dict(env)
            with self.builder.inside(block):
                values.append(code())
            envs.append(self.frame.env)
        self.frame.env = env
        pure = not any(block.statements for block in blocks) and envs[0] == envs[1] == env
        if pure and all(isinstance(value, Int) for value in values):
            return self.builder.select(condition, *values)  # type: ignore[arg-type]
        for value, side in zip(values, envs, strict=True):
            side[name] = value
        self.builder.emit(ir.If(condition.expr, *blocks))
        paths = [Jump(side, block) for side, block in zip(envs, blocks, strict=True)]
        self.frame.env = self.join(paths, (self.path, place))
        if len(self.builder.jumps) == jumps:
            self.builder.context = context
        result = self.frame.env.pop(name)
        self.release()
        return self.read(result)

    # ---- loops over sequences ----

    def _jump(self, loop: LoopTarget, *, leaves: bool) -> None:
        block = ir.Block()
        self.builder.emit(ir.Nested(block))
        self.builder.goto(loop.break_label if leaves else loop.continue_label)
        (loop.breaks if leaves else loop.continues).append(Jump(dict(self.frame.env), block))
        self.frame.reachable = False

    def break_loop(self) -> None:
        self._jump(self.frame.loops[-1], leaves=True)

    def loop(
        self,
        value: Value,
        body: Callable[[Value], None],
        key: Hashable,
        cost: int,
        names: Sequence[str],
        otherwise: Callable[[], None] = lambda: None,
    ) -> None:
        """Run the body for each element. `names` are the variables that it assigns."""
        builder, frame = self.builder, self.frame
        target = LoopTarget(builder.label("leave"), "")
        frame.loops.append(target)
        context, first_jump = builder.context, len(builder.jumps)
        self._produce(value, body, key, cost, names, target)
        frame.loops.pop()
        if frame.reachable:
            otherwise()
        self._end_loop(target, key, context, first_jump)

    def _produce(
        self,
        value: Value,
        body: Callable[[Value], None],
        key: Hashable,
        cost: int,
        names: Sequence[str],
        target: LoopTarget,
    ) -> None:
        """Run the loop, or the nested loops of a generator expression."""
        if not isinstance(value, Generator):
            self._loop_view(self.view(value), body, key, cost, names, target)
            return
        assert value.frame is self.frame
        node, consumer = value.node, self.scopes
        suffix = self.temporary()
        targets = assigned_names([generator.target for generator in node.generators])
        scope = {name: f"{name}{suffix}" for name in targets}
        names = [*names, *assigned_names([node])]
        cost += count_nodes([node])

        def clause(depth: int) -> None:
            if depth == len(node.generators):
                element = self.expression(node.elt)
                inner, self.scopes = self.scopes, consumer
                body(element)
                self.scopes = inner
                return
            generator = node.generators[depth]
            iterated = self.iterable(generator.iter)

            def round_(element: Value) -> None:
                self.scopes = {**consumer, **scope}
                self.assign(generator.target, element)
                self._filter(generator.ifs, lambda: clause(depth + 1))

            nested = LoopTarget(target.break_label, "", target.breaks)
            self.frame.loops.append(nested)
            if isinstance(iterated, Generator):
                raise Untranslatable("a generator of a generator")
            self._loop_view(self.view(iterated), round_, (key, suffix, depth), cost, names, nested)
            self.frame.loops.pop()

        clause(0)
        self.scopes = consumer
        for name in scope.values():
            self.frame.env.pop(name, None)
            for jump in target.breaks:
                jump.env.pop(name, None)
        self.release()

    def _filter(self, conditions: Sequence[ast.expr], code: Callable[[], None]) -> None:
        if not conditions:
            code()
        else:
            condition = self.test(conditions[0])
            self.branch(condition, lambda: self._filter(conditions[1:], code), lambda: None, conditions[0])

    def _end_loop(self, target: LoopTarget, key: Hashable, context: object, first_jump: int) -> None:
        builder, frame = self.builder, self.frame
        if target.breaks:
            paths = list(target.breaks)
            if frame.reachable:
                block = ir.Block()
                builder.emit(ir.Nested(block))
                paths.append(Jump(frame.env, block))
            frame.env = self.join(paths, (key, "end"))
            builder.emit(ir.Label(target.break_label))
            frame.reachable = True
        self.restore_context(context, first_jump, {target.break_label, target.continue_label})

    def _loop_view(
        self,
        view: View,
        body: Callable[[Value], None],
        key: Hashable,
        cost: int,
        names: Sequence[str],
        target: LoopTarget,
    ) -> None:
        length = view.length.expr
        if isinstance(length, ir.Number) and (
            length.value <= 1 or length.value * cost <= UNROLL_COST or (not view.uniform and length.value <= MAX_UNROLL)
        ):
            with _in_loop(view.arrays):
                self._unroll(view, length.value, body, key, target)
            return
        if view.length.range.hi <= 0:
            return
        limits = Range(0, max(view.length.range.hi - 1, 0))
        counter = self.builder.variable("i", limits)
        with _in_loop(view.arrays):
            self._repeat(
                lambda block: ir.For(counter, length, block),
                lambda: body(view.element(Int(counter))),
                key,
                names,
                target,
                min(view.length.range.hi, MAX_LIST),
            )

    def _unroll(
        self, view: View, rounds: int, body: Callable[[Value], None], key: Hashable, target: LoopTarget
    ) -> None:
        builder, frame = self.builder, self.frame
        for i in range(rounds):
            if not frame.reachable:
                return
            target.continue_label, target.continues = builder.label("next"), []
            context, first_jump = builder.context, len(builder.jumps)
            with self.within(i):
                body(view.element(constant_int(i)))
            if target.continues:
                paths = list(target.continues)
                if frame.reachable:
                    block = ir.Block()
                    builder.emit(ir.Nested(block))
                    paths.append(Jump(frame.env, block))
                frame.env = self.join(paths, (key, i))
                builder.emit(ir.Label(target.continue_label))
                frame.reachable = True
                self.restore_context(context, first_jump, {target.continue_label})

    def loop_over(self, view: View, body: Callable[[Value], None], key: Hashable, carried: Sequence[str]) -> None:
        with self.within(key):
            self.loop(view, body, key, 10, carried)

    def search(self, view: View, test: Callable[[Value], Int]) -> Int:
        return self.find(view, test, (self.path, "search"), 10)

    def find(self, value: Value, test: Callable[[Value], Int], key: Hashable, cost: int) -> Int:
        """Return whether the test holds for an element; stop at the first."""
        name = self.temporary()
        self.frame.env[name] = FALSE

        def body(element: Value) -> None:
            def found() -> None:
                self.frame.env[name] = TRUE
                self.break_loop()

            self.branch(test(element), found, lambda: None, key)

        with self.within(name):
            self.loop(value, body, (key, name), cost, [name])
        result = self.frame.env.pop(name)
        self.release()
        assert isinstance(result, Int)
        return result

    # ---- loops at run time ----

    def _repeat(
        self,
        make: Callable[[ir.Block], ir.Statement],
        body: Callable[[], None],
        key: Hashable,
        names: Sequence[str],
        target: LoopTarget,
        rounds: int,
    ) -> None:
        """Translate a loop at run time. Variables that the body assigns have one C variable for all rounds."""
        builder, frame = self.builder, self.frame
        carried = {name: self._enter(name, frame.env[name], (key, name)) for name in names if name in frame.env}
        frame.env = {**frame.env, **carried}
        header, block = dict(frame.env), ir.Block()
        target.continue_label, target.continues = builder.label("next"), []
        self.clock += 1
        self.repeated.append(self.clock)
        self.rounds.append(rounds)
        with builder.inside(block):
            body()
            paths = [*target.continues, *([Jump(frame.env, ir.Block())] if frame.reachable else [])]
            for jump in paths:
                with builder.inside(jump.block):
                    self._carry(carried, header, jump.env, key)
            if frame.reachable:
                builder.emit(ir.Nested(paths[-1].block))
            if target.continues:
                builder.emit(ir.Label(target.continue_label))
        self.repeated.pop()
        self.rounds.pop()
        builder.emit(make(block))
        frame.env, frame.reachable = header, True

    def _enter(self, name: str, value: Value | Conflict, key: Hashable) -> Value | Conflict:
        """Return the variable that holds a value in all rounds of a loop, with its first value."""
        builder, facts = self.builder, self.builder.facts
        match value:
            case IntOrNone(number, present):
                return self._enter_int_or_none(name, number, present, key)
            case Int() if (key, "none") in facts.known:
                return self._enter_int_or_none(name, value, TRUE, key)
            case Constant(None) if (key, "none") in facts.known:
                return self._enter_int_or_none(name, constant_int(0), FALSE, key)
            case Int():
                limits, kind = facts.known.get(key, (value.range, value.kind))
                if value.range not in limits or kind is not value.kind:
                    limits, kind = widen(limits, value.range), value.kind if kind is value.kind else int
                    facts.record(key, (limits, kind))
                builder.require_wide(value)
                variable = builder.variable(name, limits)
                builder.emit(ir.Assign(variable, builder.narrow(value, limits).expr))
                return Int(variable, kind)
            case Tuple(items, kind, sites):
                if any((site, "loop") in facts.known for site in sites) or (key, "array") in facts.known:
                    return self._enter_array(name, value, key)
                entered = tuple(self._enter(name, item, (key, i)) for i, item in enumerate(items))
                if any(isinstance(each, Conflict) for each in entered):
                    return next(each for each in entered if isinstance(each, Conflict))
                return Tuple(entered, kind, sites)  # type: ignore[arg-type]
            case Array():
                if (key, "array") in facts.known:
                    return self._enter_array(name, value, key)
                return value
            case Constant() | Choice() | View() if (key, "array") in facts.known:
                return self._enter_array(name, value, key)
        return value

    def _enter_int_or_none(self, name: str, number: Int, present: Int, key: Hashable) -> IntOrNone:
        numbers = [
            self._enter(name, number, (key, "number")),
            self._enter(f"{name}_present", present, (key, "present")),
        ]
        assert isinstance(numbers[0], Int)
        assert isinstance(numbers[1], Int)
        return IntOrNone(numbers[0], numbers[1])

    def _enter_array(self, name: str, value: Value, key: Hashable) -> Array:
        target = self.new_array((key, "carried"), self.view(value).kind)
        self.extend(target, value)
        target.refilled = True
        if self.is_shared(value, name, self.frame.env):
            for array in (target, value):
                if isinstance(array, Array):
                    self.freeze(array)
        target.frozen |= (key, "frozen") in self.builder.facts.known
        return target

    def _carry(self, carried: Env, header: Env, env: Env, key: Hashable) -> None:
        """Assign the values at the end of a round to the variables of the loop, all at once."""
        end = _EndOfRound({name: value for name, value in env.items() if name in header})
        for name, target in carried.items():
            value = env.get(name, target)
            if value is not target:
                self._carry_value(name, target, value, (key, name), end)
        ints, lists = end.ints, end.lists
        for i, (list_target, new) in enumerate(lists):
            if any(new is other for other, _ in lists):  # two variables swap their lists
                lists[i] = list_target, self.to_array(new, (key, "swapped", i))
        for list_target, new in lists:
            self.refill(list_target, new)
        if len(ints) > 1:
            copies: list[tuple[ir.Variable, ir.Expr]] = []
            for variable, expr in ints:
                if not isinstance(expr, ir.Number):
                    copy = self.builder.variable(variable.name, expr.range)
                    self.builder.emit(ir.Assign(copy, expr))
                    expr = copy
                copies.append((variable, expr))
            ints = copies
        for variable, expr in ints:
            self.builder.emit(ir.Assign(variable, expr))

    def _carry_value(
        self,
        name: str,
        target: Value | Conflict,
        value: Value | Conflict,
        key: Hashable,
        end: _EndOfRound,
    ) -> None:
        facts = self.builder.facts
        if isinstance(target, Conflict) or value is target:
            return
        if isinstance(value, Conflict):
            raise Untranslatable(value.reason)
        if isinstance(target, Constant) and isinstance(value, Constant) and target.object is value.object:
            return
        both = (target, value)
        if isinstance(target, IntOrNone) and (isinstance(value, Int | IntOrNone) or is_none(value)):
            number = value.number if isinstance(value, IntOrNone) else value
            present = value.present if isinstance(value, IntOrNone) else FALSE if is_none(value) else TRUE
            self._carry_value(name, target.present, present, (key, "present"), end)
            if isinstance(number, Int):
                self._carry_value(name, target.number, number, (key, "number"), end)
        elif not all(isinstance(each, Int) for each in both) and all(
            isinstance(each, Int | IntOrNone) or is_none(each) for each in both
        ):
            facts.record((key, "none"), True)
        elif isinstance(target, Int) and isinstance(value, Int):
            limits, kind = facts.known.get(key, (target.range, target.kind))
            new_kind = kind if kind is value.kind else int
            new = limits if value.range in limits else widen(limits, value.range)
            facts.record(key, (new, new_kind)) if (new, new_kind) != (target.range, target.kind) else None
            assert isinstance(target.expr, ir.Variable)
            end.ints.append((target.expr, self.builder.narrow(value, target.range).expr))
        elif isinstance(target, Tuple) and isinstance(value, Tuple) and len(target.items) == len(value.items):
            for i, (one, other) in enumerate(zip(target.items, value.items, strict=True)):
                self._carry_value(name, one, other, (key, i), end)
        elif is_sequence(target) and is_sequence(value):
            if (key, "array") not in facts.known:
                facts.record((key, "array"), True)
            elif isinstance(target, Array):
                if isinstance(value, Tuple):
                    self.require_array(value)
                if self.is_shared(value, name, end.env):
                    facts.record((key, "frozen"), True)
                    if isinstance(value, Array):
                        self.freeze(value)
                end.lists.append((target, value))
        else:
            raise Untranslatable(f"the variable '{name}', which is {describe(target)} or {describe(value)},")
