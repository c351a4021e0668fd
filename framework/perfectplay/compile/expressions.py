"""Translates expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from perfectplay.compile import ir
from perfectplay.compile.ranges import Range
from perfectplay.compile.relations import is_hashable
from perfectplay.compile.sequences import (
    MAX_LIST,
    MAX_STATIC,
    ArrayFact,
    choose,
    describe,
    is_sequence,
    wrap,
)
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.statements import Statements, check_defaults
from perfectplay.compile.values import (
    FALSE,
    TRUE,
    Array,
    Choice,
    Closure,
    Constant,
    Generator,
    Int,
    IntOrNone,
    Tuple,
    Value,
    constant_int,
    is_int,
    is_none,
    is_object,
)

MAX_EXPRESSIONS = 60_000
"""The size of one C function, in expressions, summed over the rounds of its translation. That takes some seconds."""

_BINARY: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
_COMPARE: dict[type, str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_UNARY: dict[type, str] = {ast.USub: "neg", ast.Invert: "invert", ast.UAdd: "pos"}

_UNSUPPORTED: dict[type, str] = {
    ast.Dict: "a dict",
    ast.DictComp: "a dict",
    ast.JoinedStr: "a formatted string",
    ast.Yield: "'yield'",
    ast.YieldFrom: "'yield from'",
    ast.Await: "'await'",
}


class Expressions(Statements):
    """Expressions. Calls are in a subclass."""

    def call(self, node: ast.Call) -> Value:
        raise NotImplementedError

    def attribute(self, value: Value, name: str) -> Value:
        raise NotImplementedError

    def expression(self, node: ast.expr) -> Value:
        facts = self.builder.facts
        facts.expressions += 1
        if facts.expressions > MAX_EXPRESSIONS:
            raise Untranslatable("a function of this size")
        try:
            return self._expression(node)
        except Untranslatable as error:
            if not error.file:
                error.file, error.line = self.frame.source.file, node.lineno
            raise

    def _expression(self, node: ast.expr) -> Value:
        builder = self.builder
        match node:
            case ast.Constant(value=value):
                if isinstance(value, float | complex):
                    raise Untranslatable("a float")
                return wrap(value)
            case ast.Name(id=name):
                return self.name(name)
            case ast.BinOp(left=left, op=op, right=right):
                a = self.expression(left)
                return self.operate(op, a, self.expression(right), (self.path, node))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return builder.negate(self.test(operand))
            case ast.UnaryOp(op=op, operand=operand):
                return builder.unary(_UNARY[type(op)], self.integer(operand))
            case ast.BoolOp(op=op, values=values):
                return self._logical(isinstance(op, ast.And), values)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._compare(self._operand(left, ops[0]), ops, comparators)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.test(test)
                return self.evaluate_either(
                    condition, lambda: self.expression(body), lambda: self.expression(orelse), node
                )
            case ast.Call():
                return self.call(node)
            case ast.Attribute(value=value, attr=name):
                return self.attribute(self.expression(value), name)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(node, self.sequence(value), index)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                kind = tuple if isinstance(node, ast.Tuple) else list
                return self._display(elts, kind, (self.path, node))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.Set(elts=elts):
                return self._make_set([self.expression(each) for each in elts])
            case ast.NamedExpr(target=target, value=value):
                return self._store_name(target.id, self.expression(value))
            case ast.Lambda(body=body):
                if any(isinstance(each, ast.Name) and each.id in self.scopes for each in ast.walk(body)):
                    raise Untranslatable("a lambda with the variable of a comprehension")
                check_defaults(node)
                return Closure(node, self.frame)
        raise Untranslatable(_UNSUPPORTED.get(type(node), f"the expression '{type(node).__name__}'"))

    # ---- names ----

    def name(self, name: str) -> Value:
        frame = self.frame
        key = self.scopes.get(name, name)
        while True:
            if key in frame.env:
                return self.read(frame.env[key])
            if name in frame.local_names or key != name:
                raise Untranslatable(f"the variable '{name}', which may have no value,")
            if frame.parent is None:
                break
            frame = frame.parent
        try:
            return wrap(frame.source.lookup(name))
        except NameError:
            raise Untranslatable(f"the unknown name '{name}'") from None

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self._store_name(self.scopes.get(name, name), value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                self._unpack(elts, value)
            case ast.Subscript(value=base, slice=index):
                if isinstance(index, ast.Slice):
                    raise Untranslatable("changing a slice")
                sequence = self.expression(base)
                if not isinstance(sequence, Array | Tuple):
                    raise Untranslatable("changing an object that outlives the call")
                value = self.builder.keep(value) if isinstance(value, Int) else value
                place = self.index(self.integer(index), self.view(sequence).length)
                self.store_item(sequence, place, value)
            case _:
                raise Untranslatable("changing an attribute")

    def _store_name(self, name: str, value: Value) -> Value:
        if isinstance(value, Int):
            value = self.builder.keep(value, name.partition("$")[0])
        elif isinstance(value, Tuple):
            items = tuple(self.builder.keep(i, name) if isinstance(i, Int) else i for i in value.items)
            value = Tuple(items, value.kind, value.sites)
        self.frame.env[name] = self.require_reusable(value)
        return value

    def _unpack(self, targets: Sequence[ast.expr], value: Value) -> None:
        items = self.items(value)
        if items is None:
            view = self.view(value)
            if any(isinstance(target, ast.Starred) for target in targets):
                raise Untranslatable("unpacking a list of unknown length")
            self.builder.fail_if(self.builder.compare("ne", view.length, constant_int(len(targets))))
            if isinstance(value, Array) and value.capacity < len(targets):
                items = [constant_int(0)] * len(targets)
            else:
                items = [view.element(constant_int(i)) for i in range(len(targets))]
        items = [self.builder.keep(item) if isinstance(item, Int) else item for item in items]
        stars = [i for i, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if stars:
            rest = len(items) - len(targets) + 1
            if rest < 0:
                self.builder.fail()
                return
            star = targets[stars[0]]
            assert isinstance(star, ast.Starred)
            group = self.collect(items[stars[0] : stars[0] + rest], list, (self.path, star))
            items[stars[0] : stars[0] + rest] = [group]
            targets = [target.value if isinstance(target, ast.Starred) else target for target in targets]
        if len(items) != len(targets):
            self.builder.fail()
            return
        for target, item in zip(targets, items, strict=True):
            self.assign(target, item)

    # ---- integers and truth ----

    def integer(self, node: ast.expr) -> Int:
        return self.as_integer(self.expression(node))

    def as_integer(self, value: Value) -> Int:
        """Return an integer. Fails at run time if it is None, where Python raises TypeError."""
        if isinstance(value, IntOrNone):
            self.builder.fail_if(self.builder.negate(value.present))
            return value.number
        if not isinstance(value, Int):
            raise Untranslatable(f"{describe(value)} in place of an int")
        return value

    def test(self, node: ast.expr) -> Int:
        """Return whether an expression is true."""
        if isinstance(node, ast.BoolOp):
            return self._logical_test(isinstance(node.op, ast.And), node.values)
        return self.truth_of(self.expression(node))

    def truth_of(self, value: Value) -> Int:
        if isinstance(value, Int):
            return self.builder.is_true(value)
        if isinstance(value, IntOrNone):
            return self.builder.both(value.present, value.number)
        if is_sequence(value):
            return self.builder.keep(self.builder.compare("gt", self.view(value).length, constant_int(0)), "any")
        if isinstance(value, Constant):
            return TRUE if value.object else FALSE
        raise Untranslatable(f"the truth of {describe(value)}")

    def _logical(self, conjunction: bool, values: Sequence[ast.expr]) -> Value:
        first = self.expression(values[0])
        if len(values) == 1:
            return first
        if isinstance(first, Int):
            first = self.builder.keep(first)
        rest = lambda: self._logical(conjunction, values[1:])  # noqa: E731
        keep: Callable[[], Value] = lambda: first  # noqa: E731
        condition = self.truth_of(first)
        first_code, second_code = (rest, keep) if conjunction else (keep, rest)
        return self.evaluate_either(condition, first_code, second_code, values[0])

    def _logical_test(self, conjunction: bool, values: Sequence[ast.expr]) -> Int:
        result = self.test(values[0])
        if len(values) == 1:
            return result
        rest = lambda: self._logical_test(conjunction, values[1:])  # noqa: E731
        if conjunction:
            value = self.evaluate_either(result, rest, lambda: FALSE, values[0])
        else:
            value = self.evaluate_either(result, lambda: TRUE, rest, values[0])
        assert isinstance(value, Int)
        return value

    # ---- operators ----

    def operate(self, op: ast.operator, a: Value, b: Value, site: Hashable) -> Value:
        """Return `a op b`."""
        a, b = self._require_present(a), self._require_present(b)
        if isinstance(a, Int) and isinstance(b, Int):
            if isinstance(op, ast.Pow):
                return self.builder.power(a, b)
            if type(op) not in _BINARY:
                raise Untranslatable("division with '/'" if isinstance(op, ast.Div) else "this operator")
            return self.builder.binary(_BINARY[type(op)], a, b)
        if isinstance(op, ast.Add) and is_sequence(a) and is_sequence(b):
            return self._concatenate(a, b, site)
        if isinstance(op, ast.Mult) and (is_sequence(a) or is_sequence(b)):
            sequence, count = (a, b) if is_sequence(a) else (b, a)
            return self._repeat_sequence(sequence, self.as_integer(count), site)
        raise Untranslatable(f"an operator on {describe(a)} and {describe(b)}")

    def _concatenate(self, a: Value, b: Value, site: Hashable) -> Value:
        kinds = [self.view(value).kind for value in (a, b)]
        if not (kinds[0] is kinds[1] is list or all(issubclass(kind, tuple) for kind in kinds)):
            raise Untranslatable(f"adding {describe(a)} and {describe(b)}")
        kind = list if kinds[0] is list else tuple
        one, other = self.items(a), self.items(b)
        if one is not None and other is not None:
            return self.collect([*one, *other], kind, site)
        array = self.new_array(site, kind)
        self.extend(array, a)
        with self.within("second"):
            self.extend(array, b)
        return array

    def _repeat_sequence(self, sequence: Value, count: Int, site: Hashable) -> Value:
        items, kind = self.items(sequence), self.view(sequence).kind
        if not issubclass(kind, list | tuple):
            raise Untranslatable(f"repeating {describe(sequence)}")
        kind = list if kind is list else tuple
        if items is None:
            raise Untranslatable("repeating a list of unknown length")
        if isinstance(count.expr, ir.Number):
            if len(items) * count.expr.value > MAX_LIST:
                raise Untranslatable(f"a list of more than {MAX_LIST:,} elements")
            return self.collect(items * count.expr.value, kind, site)
        array = self.new_array(site, kind)

        def once(_: Value) -> None:
            for item in items:
                self.append(array, item)

        self.loop_over(self.count_view(count), once, (site, "repeat"), ())
        return array

    def count_view(self, count: Int) -> Any:
        raise NotImplementedError

    def _operand(self, node: ast.expr, op: ast.cmpop) -> Value:
        value = self.expression(node)
        return self.builder.keep(value) if isinstance(value, Int) else value

    def _compare(self, left: Value, ops: Sequence[ast.cmpop], comparators: Sequence[ast.expr]) -> Value:
        op, node = ops[0], comparators[0]
        if isinstance(op, ast.In | ast.NotIn) and isinstance(node, ast.Set):
            right = self._display(node.elts, tuple, (self.path, node))
            if not is_hashable(left) or not is_hashable(right):
                raise Untranslatable("a list in a set or dict")
        else:
            right = self.sequence(node) if isinstance(op, ast.In | ast.NotIn) else self.expression(node)
        if len(ops) == 1:
            return self.compare(op, left, right)
        if isinstance(right, Int):
            right = self.builder.keep(right)
        result = self.compare(op, left, right)
        rest = lambda: self._compare(right, ops[1:], comparators[1:])  # noqa: E731
        return self.evaluate_either(result, rest, lambda: FALSE, node)

    def _require_present(self, value: Value) -> Value:
        return self.as_integer(value) if isinstance(value, IntOrNone) else value

    def compare(self, op: ast.cmpop, a: Value, b: Value) -> Int:
        """Return the result of one comparison."""
        builder = self.builder
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            a, b = self._require_present(a), self._require_present(b)
        match op:
            case ast.In():
                return self.contains(b, a)
            case ast.NotIn():
                return builder.negate(self.contains(b, a))
            case ast.Is() | ast.IsNot():
                same = self._is(a, b)
                return same if isinstance(op, ast.Is) else builder.negate(same)
        if isinstance(a, Int) and isinstance(b, Int):
            return builder.compare(_COMPARE[type(op)], a, b)
        match op:
            case ast.Eq():
                return self.equal(a, b)
            case ast.NotEq():
                return builder.negate(self.equal(a, b))
            case ast.Lt():
                return self.less(a, b)
            case ast.LtE():
                return self.less(a, b, or_equal=True)
            case ast.Gt():
                return self.less(b, a)
        return self.less(b, a, or_equal=True)

    def _is(self, a: Value, b: Value) -> Int:
        if isinstance(a, Constant) and isinstance(b, Constant):
            return TRUE if a.object is b.object else FALSE
        if isinstance(a, Int) and isinstance(b, Int):
            if a.kind is b.kind and a.kind is not int:  # members of an enumeration are unique
                return self.builder.compare("eq", a, b)
            if a.kind is not b.kind and int not in (a.kind, b.kind):
                return FALSE
        elif isinstance(a, IntOrNone) and is_none(b):
            return self.builder.negate(a.present)
        elif (
            is_none(a) != is_none(b)
            and not isinstance(b, IntOrNone)
            and not isinstance(a, Choice)
            and not isinstance(b, Choice)
        ):
            if self.builder.may_lack_result:
                raise Untranslatable("'is None' where a function may end without a result")
            return FALSE
        raise Untranslatable(f"'is' with {describe(a)} and {describe(b)}")

    # ---- sequences ----

    def sequence(self, node: ast.expr) -> Value:
        """Return a sequence that is only read here, so that a list display need not become an array."""
        if isinstance(node, ast.List):
            return self._display(node.elts, list, (self.path, node))
        return self.expression(node)

    def iterable(self, node: ast.expr) -> Value:
        if isinstance(node, ast.GeneratorExp):
            return Generator(node, self.frame)
        return self.sequence(node)

    def _display(self, nodes: Sequence[ast.expr], kind: type, site: Hashable) -> Value:
        """Return a list or tuple display, with starred parts expanded."""
        collected: list[Value] = []
        array: Array | None = None
        for i, node in enumerate(nodes):
            if isinstance(node, ast.Starred):
                part = self.expression(node.value)
                items = self.items(part)
            else:
                value = self.require_reusable(self.expression(node))
                items = [self.builder.keep(value) if isinstance(value, Int) else value]
            if items is None and array is None:
                array = self.new_array(site, kind)
                for item in collected:
                    self.append(array, item)
            if array is None:
                collected += items or []
            elif items is None:
                with self.within(i):
                    self.extend(array, part)
            else:
                for item in items:
                    self.append(array, item)
        return self.collect(collected, kind, site) if array is None else array

    def _subscript(self, node: ast.Subscript, value: Value, index: ast.expr) -> Value:
        if isinstance(index, ast.Slice):
            bounds = [
                None if part is None else self.expression(part) for part in (index.lower, index.upper, index.step)
            ]
            if any(isinstance(bound, IntOrNone) for bound in bounds):
                raise Untranslatable("a slice with None")
            parts = [None if bound is None else self.as_integer(bound) for bound in bounds]
            return self.slice(value, parts[0], parts[1], parts[2], (self.path, node))
        return self.item(value, self._require_present(self.expression(index)))

    def item(self, value: Value, index: Value) -> Value:
        """Return `value[index]`."""
        if isinstance(value, Constant) and is_object(value.object, dict):
            return self._lookup(value.object, index)
        if not is_sequence(value) or not isinstance(index, Int):
            raise Untranslatable(f"an index of {describe(value)}")
        view = self.view(value)
        return view.element(self.index(index, view.length))

    def _lookup(self, mapping: dict[Any, Any], key: Value) -> Value:
        """Return an entry of a constant dict. Fails at run time if there is none."""
        if not isinstance(key, Int) or not all(map(is_int, mapping)) or not mapping:
            raise Untranslatable("a dict")
        if isinstance(key.expr, ir.Number) and key.expr.value in mapping:
            return wrap(mapping[key.expr.value])
        low, high = min(mapping), max(mapping)
        if high - low >= 1 << 16:
            raise Untranslatable("a dict with large gaps")
        key = self.builder.keep(key)
        self.builder.fail_if(self.builder.negate(self.contains(Constant(tuple(mapping)), key)))
        key = self.builder.narrow(key, Range(low, high), "key")
        place = self.builder.keep(self.builder.binary("sub", key, constant_int(low)), "place")
        return choose(self.builder, [mapping.get(low + i, mapping[low]) for i in range(high - low + 1)], place.expr)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        kind = set if isinstance(node, ast.SetComp) else list
        if isinstance(node, ast.GeneratorExp):
            return Generator(node, self.frame)
        return self.gather(Generator(node, self.frame), kind, (self.path, node))

    def gather(self, value: Value, kind: type, site: Hashable) -> Value:
        """Return a new sequence with the elements of an iterable."""
        if not isinstance(value, Generator):
            if kind is set:
                raise Untranslatable("a set of a sequence")
            return self.copy(self.view(value), kind, site)
        facts = self.builder.facts
        array = None
        if site in facts.known:
            array = self.new_array(site, kind)
        items: list[Value] = []
        context = self.builder.context

        def add(element: Value) -> None:
            if isinstance(element, Int):
                element = self.builder.keep(element)
            if array is not None and kind is set:
                absent = self.builder.negate(self.contains(array, element))
                self.branch(absent, lambda: self.append(array, element), lambda: None, site)
            elif array is not None:
                self.append(array, element)
            elif self.builder.context is not context or kind is set or len(items) >= MAX_STATIC:
                facts.record(site, ArrayFact())
            else:
                items.append(element)

        with self.within(site[1] if isinstance(site, tuple) else site):
            self.loop(value, add, (site, "gather"), 5, ())
        if array is not None:
            return array
        return Tuple(tuple(items), kind, frozenset([site]))

    def _make_set(self, values: Sequence[Value]) -> Value:
        if not all(isinstance(value, Int) and isinstance(value.expr, ir.Number) for value in values):
            raise Untranslatable("a set")
        return Tuple(tuple({value.expr.value: value for value in values}.values()), set)  # type: ignore[union-attr]
