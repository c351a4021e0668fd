"""The intermediate form between Python and C: typed expressions and structured statements.

An expression has no side effects and cannot fail. Its range is exact enough to choose a C type for it. Everything that
can fail is a statement: it first checks its operands and ends the function with a fault if the check fails. Scalar
variables are assigned once on every path, except for those that carry a value around a loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from perfectplay.compile.ranges import Range


@dataclass(frozen=True, slots=True)
class Expr:
    range: Range


@dataclass(frozen=True, slots=True)
class Number(Expr):
    value: int


@dataclass(frozen=True, slots=True)
class Variable(Expr):
    name: str


@dataclass(frozen=True, slots=True)
class Operation(Expr):
    """An operator of `ctext.py` with its operands."""

    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Lookup(Expr):
    """An element of a constant table. The index is in range."""

    table: str
    index: Expr


def number(value: int) -> Number:
    return Number(Range(value, value), value)


@dataclass(slots=True)
class Block:
    statements: list[Statement] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Assign:
    target: Variable
    value: Expr


@dataclass(frozen=True, slots=True)
class CheckedAssign:
    """Assigns `a op b` (add, sub or mul), or fails if the target's type cannot hold it."""

    target: Variable
    op: str
    a: Expr
    b: Expr


@dataclass(frozen=True, slots=True)
class Fail:
    """Ends the function with a fault if the condition holds."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """Calls another translated function. A fault in it is passed on, if it can have one."""

    target: Variable
    function: str
    arguments: tuple[Expr, ...]
    parameters: tuple[Range, ...]
    can_fail: bool


@dataclass(frozen=True, slots=True)
class Load:
    """Reads an element of a local array. The index is in range."""

    target: Variable
    array: str
    index: Expr


@dataclass(frozen=True, slots=True)
class Store:
    array: str
    index: Expr
    value: Expr
    element: Range


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True)
class For:
    """Counts the variable from 0 while it is less than `length`, which is read again in every round."""

    variable: Variable
    length: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class Loop:
    """Repeats the body until a jump leaves it. After `limit` rounds it fails."""

    body: Block
    counter: Variable
    limit: int


@dataclass(frozen=True, slots=True)
class Goto:
    label: str


@dataclass(frozen=True, slots=True)
class Label:
    name: str


@dataclass(frozen=True, slots=True)
class Nested:
    """A block that is filled in after its position in the code was chosen."""

    block: Block


Statement = Assign | CheckedAssign | Fail | Call | Load | Store | If | For | Loop | Goto | Label | Nested


@dataclass(slots=True)
class Function:
    """A C function over integers."""

    name: str
    parameters: tuple[Variable, ...]
    body: Block
    result: Range
    value: Expr
    """The result at the end of the body."""
    variables: dict[str, Range]
    arrays: dict[str, tuple[Range, int]]
    """The element range and the capacity of each local array."""
    can_fail: bool
    may_lack_result: bool
    callees: list[Function]


def has_loop(block: Block) -> bool:
    """Return whether a block repeats statements. The calls in it are not followed."""
    for statement in block.statements:
        match statement:
            case For() | Loop():
                return True
            case If(_, then, otherwise):
                if has_loop(then) or has_loop(otherwise):
                    return True
            case Nested(inner):
                if has_loop(inner):
                    return True
    return False


def repeats(function: Function) -> bool:
    """Return whether a function, or one that it calls, has a loop."""
    return has_loop(function.body) or any(map(repeats, function.callees))
