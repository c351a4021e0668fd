"""Builds the body of one C function: variables, arithmetic with its checks, arrays, and the facts about loops.

The range of a value that changes in a loop, and of the elements of a list, is known only at the end of the function. So
a function is built several times. Each round uses the ranges that the previous rounds recorded (a *fact* for each
place) and records the facts that are too small. The last round changes no fact.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from perfectplay.compile import ir, ranges
from perfectplay.compile.ranges import BOOL, I64, U64, WIDE, Range
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import Int, constant_int, is_plain, truth

MAX_TABLE = 1 << 17
"""The largest constant table that is written into the C text."""

_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_MAX_CONSTANT_BITS = 4096
_DECIDED: dict[str, tuple[Callable[[Range, Range], bool], Callable[[Range, Range], bool]]] = {
    "lt": (lambda a, b: a.hi < b.lo, lambda a, b: a.lo >= b.hi),
    "le": (lambda a, b: a.hi <= b.lo, lambda a, b: a.lo > b.hi),
    "gt": (lambda a, b: a.lo > b.hi, lambda a, b: a.hi <= b.lo),
    "ge": (lambda a, b: a.lo >= b.hi, lambda a, b: a.hi < b.lo),
    "eq": (lambda a, b: False, lambda a, b: a.hi < b.lo or b.hi < a.lo),
    "ne": (lambda a, b: a.hi < b.lo or b.hi < a.lo, lambda a, b: False),
}


def are_ints(objects: Iterable[Any]) -> bool:
    """Whether all objects are integers."""
    kinds: set[type] = set(map(type, objects))
    return all(is_plain(kind, int) for kind in kinds)


@lru_cache(maxsize=10_000)
def identifier(hint: str) -> str:
    """Return a Python name as the beginning of a C name."""
    hint = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in hint).strip("_")
    return hint if hint[:1].isalpha() else f"t{hint}"


@dataclass(frozen=True, slots=True)
class Table:
    """A constant sequence of integers."""

    numbers: tuple[int, ...]
    kind: type
    limits: Range
    is_identity: bool
    halves: tuple[tuple[int, ...], tuple[int, ...]] | None
    """Two small tables, for the low and the high half of the bits of an index, whose entries combined by `^` are the
    numbers. The tables of a symmetry group have this form, and large tables slow the C compiler down."""


MIN_SPLIT = 256
"""The smallest table that is replaced by two halves, if that is possible."""


def _split(numbers: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    bits = len(numbers).bit_length() - 1
    if len(numbers) < MIN_SPLIT or len(numbers) != 1 << bits or min(numbers) < 0:
        return None
    for half in (bits // 2, bits // 2 - 1, bits // 2 + 1):
        low, high = numbers[: 1 << half], tuple(number ^ numbers[0] for number in numbers[:: 1 << half])
        if [one ^ other for other in high for one in low] == list(numbers):
            return low, high
    return None


class Tables:
    """The constant tables of all functions of a translation, each written once."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, ...], str] = {}
        self._read: dict[int, tuple[Sequence[int], Table]] = {}

    def read(self, numbers: Sequence[int]) -> Table:
        """Return the properties of a table."""
        entry = self._read.get(id(numbers))
        if entry is not None:
            return entry[1]
        if len(numbers) > MAX_TABLE:
            raise Untranslatable(f"a table of {len(numbers):,} numbers")
        kinds = {type(number) for number in numbers}
        plain = tuple(int(number) for number in numbers)
        identity = all(number == i for i, number in enumerate(plain))
        limits = Range(min(plain), max(plain))
        table = Table(plain, kinds.pop() if len(kinds) == 1 else int, limits, identity, _split(plain))
        self._read[id(numbers)] = numbers, table  # keeps the object alive, so its id stays valid
        return table

    def name(self, numbers: tuple[int, ...]) -> str:
        return self._names.setdefault(numbers, f"table{len(self._names)}")

    def __iter__(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        return ((name, numbers) for numbers, name in self._names.items())


@dataclass(slots=True)
class Facts:
    """The results of earlier rounds for places in one function."""

    known: dict[Hashable, Any] = field(default_factory=dict)
    changed: bool = False
    expressions: int = 0
    """The number of expressions translated in all rounds."""

    def record(self, place: Hashable, fact: Any) -> None:
        if self.known.get(place) != fact:
            self.known[place] = fact
            self.changed = True


class Builder:
    """The C function under construction."""

    def __init__(self, tables: Tables, facts: Facts) -> None:
        self.tables = tables
        self.facts = facts
        self.block = ir.Block()
        self.variables: dict[str, Range] = {}
        self.arrays: dict[str, tuple[Range, int]] = {}
        self.callees: list[ir.Function] = []
        self.can_fail = False
        self.may_lack_result = False
        """Whether a function may end without `return` after others have returned something."""
        self.context: object = object()
        """Changes whenever it depends on run-time values whether the next statement is executed."""
        self.jumps: list[str] = []
        self._names: Counter[str] = Counter()

    # ---- statements ----

    def emit(self, statement: ir.Statement) -> None:
        self.block.statements.append(statement)

    @contextmanager
    def inside(self, block: ir.Block) -> Iterator[None]:
        """Emit into another block, which is executed only sometimes."""
        outer, context = self.block, self.context
        self.block, self.context = block, object()
        try:
            yield
        finally:
            self.block, self.context = outer, context

    def label(self, hint: str) -> str:
        return self.unique(hint)

    def goto(self, label: str) -> None:
        self.jumps.append(label)
        self.emit(ir.Goto(label))

    def unique(self, hint: str) -> str:
        hint = identifier(hint)
        self._names[hint] += 1
        return f"{hint}_{self._names[hint]}"

    def variable(self, hint: str, limits: Range) -> ir.Variable:
        name = self.unique(hint)
        self.variables[name] = limits
        return ir.Variable(limits, name)

    def keep(self, value: Int, hint: str = "v") -> Int:
        """Return the value in a variable, so that using it twice computes it once."""
        if isinstance(value.expr, ir.Number | ir.Variable):
            return value
        self.require_wide(value)
        variable = self.variable(hint, value.range)
        self.emit(ir.Assign(variable, value.expr))
        return Int(variable, value.kind)

    def require_wide(self, value: Int) -> None:
        if value.range not in WIDE:
            raise Untranslatable("a constant beyond 128 bits")

    def fail_if(self, condition: Int) -> None:
        if isinstance(condition.expr, ir.Number) and not condition.expr.value:
            return
        self.can_fail = True
        self.emit(ir.Fail(condition.expr))

    def fail(self) -> None:
        self.fail_if(truth(ir.number(1)))

    def narrow(self, value: Int, limits: Range, hint: str = "v") -> Int:
        """Return the value; fail at run time if it is outside `limits`."""
        if value.range in limits:
            return value
        if value.range.hi < limits.lo or value.range.lo > limits.hi:
            self.fail()
            return constant_int(limits.lo)
        value = self.keep(value, hint)
        low = self.compare("lt", value, constant_int(limits.lo))
        high = self.compare("gt", value, constant_int(limits.hi))
        self.fail_if(self.either(low, high))
        variable = self.variable(hint, value.range.clip(limits))
        self.emit(ir.Assign(variable, value.expr))
        return Int(variable, value.kind)

    # ---- arithmetic ----

    def binary(self, op: str, a: Int, b: Int) -> Int:
        """Return `a op b` as Python computes it. Fails at run time where Python raises, or beyond 128 bits."""
        kind = bool if op in ("and", "or", "xor") and a.kind is b.kind is bool else int
        if isinstance(a.expr, ir.Number) and isinstance(b.expr, ir.Number):
            return self._fold(op, a.expr.value, b.expr.value, kind)
        if op in ("shl", "shr"):
            b = self._count(b)
            if b.range == Range(0, 0):
                return Int(a.expr)
            if op == "shl":
                return self._shift_left(a, b)
        if op in ("floordiv", "mod") and b.range.includes(0):
            b = self.keep(b)
            self.fail_if(self.compare("eq", b, constant_int(0)))
            if b.range == Range(0, 0):
                return constant_int(0)
        limits = ranges.BINARY[op](a.range, b.range)
        if limits in WIDE:
            for value in (a, b):  # only the low bits of a larger constant matter for these operators
                if op not in ("add", "sub", "mul", "and", "or", "xor") or not (limits in I64 or limits in U64):
                    self.require_wide(value)
            return Int(ir.Operation(limits, op, (a.expr, b.expr)), kind)
        if op not in ("add", "sub", "mul"):
            raise Untranslatable("arithmetic beyond 128 bits")
        self.require_wide(a)
        self.require_wide(b)
        target = self.variable("wide", WIDE)
        self.can_fail = True
        self.emit(ir.CheckedAssign(target, op, a.expr, b.expr))
        return Int(target)

    def _fold(self, op: str, a: int, b: int, kind: type) -> Int:
        if (op in ("floordiv", "mod") and b == 0) or (op in ("shl", "shr") and b < 0):
            self.fail()
            return constant_int(0)
        if op == "shl" and a.bit_length() + b > _MAX_CONSTANT_BITS:
            raise Untranslatable("a constant of more than 4,096 bits")
        return Int(ir.number(int(_FOLD[op](a, b))), kind)

    def _count(self, count: Int) -> Int:
        """Return a shift count that is not negative and fits 64 bits."""
        if count.range.lo < 0:
            count = self.narrow(count, Range(0, max(count.range.hi, 0)), "count")
        return count if count.range in U64 else self.extreme("min", count, constant_int(U64.hi))

    def _shift_left(self, a: Int, count: Int) -> Int:
        limits = ranges.shl(a.range, count.range)
        if limits in WIDE and count.range.hi < 128:
            return Int(ir.Operation(limits, "shl", (a.expr, count.expr)))
        if a.range == Range(0, 0):
            return constant_int(0)
        # A bit mask: the result must fit 64 bits.
        a, count = self.keep(a), self.keep(count)
        if a.range.includes(0):  # zero may be shifted by any count
            zero = self.compare("eq", a, constant_int(0))
            count = self.keep(self.select(zero, constant_int(0), count), "count")
        target = U64 if a.range.lo >= 0 else I64 if a.range in I64 else WIDE
        bits = 127 if target is WIDE else 63
        count = self.narrow(count, Range(0, bits), "count")
        highest = Int(ir.Operation(Range(0, target.hi), "shr", (ir.number(target.hi), count.expr)))
        lost = self.compare("gt", a, highest)
        if a.range.lo < 0:
            lowest = Int(ir.Operation(Range(target.lo, -1), "shr", (ir.number(target.lo), count.expr)))
            lost = self.either(lost, self.compare("lt", a, lowest))
        if a.range != Range(1, 1):
            self.fail_if(lost)
        return self.keep(
            Int(ir.Operation(target.clip(ranges.shl(a.range, Range(0, bits))), "shl", (a.expr, count.expr)))
        )

    def unary(self, op: str, a: Int) -> Int:
        if op == "pos":
            return Int(a.expr)
        if isinstance(a.expr, ir.Number):
            return constant_int(-a.expr.value if op == "neg" else ~a.expr.value)
        limits = ranges.neg(a.range) if op == "neg" else ranges.invert(a.range)
        if limits not in WIDE:
            a = self.narrow(a, Range(WIDE.lo + 1, WIDE.hi))
            limits = ranges.neg(a.range)
        return Int(ir.Operation(limits, op, (a.expr,)))

    def absolute(self, a: Int) -> Int:
        if a.range.lo >= 0:
            return Int(a.expr)
        if isinstance(a.expr, ir.Number):
            return constant_int(abs(a.expr.value))
        a = self.keep(a)
        return Int(self.extreme("max", a, self.unary("neg", a)).expr)

    def bits(self, op: str, a: Int) -> Int:
        """Return `bit_count` or `bit_length`, which Python takes of the absolute value."""
        a = self.absolute(a)
        if isinstance(a.expr, ir.Number):
            return constant_int(getattr(a.expr.value, op)())
        low = 1 if a.range.lo > 0 else 0
        return Int(ir.Operation(Range(low, a.range.hi.bit_length()), op, (a.expr,)))

    def compare(self, op: str, a: Int, b: Int) -> Int:
        if isinstance(a.expr, ir.Number) and isinstance(b.expr, ir.Number):
            return truth(ir.number(int(_FOLD[op](a.expr.value, b.expr.value))))
        always, never = _DECIDED[op]
        if always(a.range, b.range) or never(a.range, b.range):
            return truth(ir.number(int(always(a.range, b.range))))
        self.require_wide(a)
        self.require_wide(b)
        return truth(ir.Operation(BOOL, op, (a.expr, b.expr)))

    def is_true(self, a: Int) -> Int:
        return a if a.kind is bool else self.compare("ne", a, constant_int(0))

    def negate(self, a: Int) -> Int:
        if isinstance(a.expr, ir.Number):
            return truth(ir.number(int(not a.expr.value)))
        return truth(ir.Operation(BOOL, "not", (self.is_true(a).expr,)))

    def both(self, a: Int, b: Int) -> Int:
        return self._logical("both", a, b, deciding=0)

    def either(self, a: Int, b: Int) -> Int:
        return self._logical("either", a, b, deciding=1)

    def _logical(self, op: str, a: Int, b: Int, *, deciding: int) -> Int:
        for one, other in ((a, b), (b, a)):
            if isinstance(one.expr, ir.Number):
                return truth(ir.number(deciding)) if bool(one.expr.value) == bool(deciding) else self.is_true(other)
        return truth(ir.Operation(BOOL, op, (self.is_true(a).expr, self.is_true(b).expr)))

    def select(self, condition: Int, a: Int, b: Int) -> Int:
        if isinstance(condition.expr, ir.Number):
            return a if condition.expr.value else b
        self.require_wide(a)
        self.require_wide(b)
        limits = a.range.join(b.range)
        if limits not in WIDE:
            raise Untranslatable("a constant beyond 128 bits")
        kind = a.kind if a.kind is b.kind else int
        return Int(ir.Operation(limits, "select", (condition.expr, a.expr, b.expr)), kind)

    def extreme(self, op: str, a: Int, b: Int) -> Int:
        """Return `min` or `max` of two integers; the first if they are equal."""
        pick = min if op == "min" else max
        limits = Range(pick(a.range.lo, b.range.lo), pick(a.range.hi, b.range.hi))
        if isinstance(a.expr, ir.Number) and isinstance(b.expr, ir.Number):
            return a if pick(a.expr.value, b.expr.value) == a.expr.value else b
        if a.kind is not b.kind and not a.kind is bool is b.kind:
            return self.select(self.compare("le" if op == "min" else "ge", self.keep(a), self.keep(b)), a, b)
        self.require_wide(a)
        self.require_wide(b)
        return Int(ir.Operation(limits, op, (a.expr, b.expr)), a.kind)

    def power(self, base: Int, exponent: Int) -> Int:
        """Return `base ** exponent`, for a constant base or a constant exponent."""
        if isinstance(exponent.expr, ir.Number):
            if exponent.expr.value < 0:
                raise Untranslatable("a negative exponent")
            if isinstance(base.expr, ir.Number):
                if base.expr.value.bit_length() * exponent.expr.value > _MAX_CONSTANT_BITS:
                    raise Untranslatable("a constant of more than 4,096 bits")
                return constant_int(base.expr.value**exponent.expr.value)
            if exponent.expr.value > 64:
                raise Untranslatable("an exponent above 64")
            result, base = constant_int(1), self.keep(base)
            for _ in range(exponent.expr.value):
                result = self.keep(self.binary("mul", result, base))
            return result
        if not isinstance(base.expr, ir.Number):
            raise Untranslatable("a power of two variables")
        if base.expr.value in (-1, 0, 1):
            exponent = self.keep(self.narrow(exponent, Range(0, max(exponent.range.hi, 0)), "exponent"), "exponent")
            if base.expr.value == 0:
                return Int(self.compare("eq", exponent, constant_int(0)).expr)
            if base.expr.value == 1:
                return constant_int(1)
            odd = self.binary("and", exponent, constant_int(1))
            return self.binary("sub", constant_int(1), self.binary("mul", odd, constant_int(2)))
        powers = []
        for n in range(128):
            if not I64.lo <= (power := base.expr.value**n) <= U64.hi:
                break
            powers.append(power)
        exponent = self.narrow(exponent, Range(0, min(len(powers) - 1, max(exponent.range.hi, 0))), "exponent")
        return self.table(powers[: exponent.range.hi + 1], exponent.expr)

    def table(self, numbers: Sequence[int], index: ir.Expr) -> Int:
        """Return the element of a constant table of integers. The index is in range."""
        table = self.tables.read(numbers)
        if table.limits.lo == table.limits.hi:
            return Int(ir.number(table.limits.lo), table.kind)
        if table.limits not in I64 and table.limits not in U64:
            raise Untranslatable("a table of numbers beyond 64 bits")
        if table.is_identity:
            return Int(index, table.kind)
        if not table.halves:
            return Int(ir.Lookup(table.limits, self.tables.name(table.numbers), index), table.kind)
        index = self.keep(Int(index), "index").expr
        low, high = table.halves
        bits = len(low).bit_length() - 1
        parts = (
            self.binary("and", Int(index), constant_int(len(low) - 1)),
            self.binary("shr", Int(index), constant_int(bits)),
        )
        one, other = (self.table(half, part.expr) for half, part in zip((low, high), parts, strict=True))
        return Int(ir.Operation(table.limits, "xor", (one.expr, other.expr)), table.kind)
