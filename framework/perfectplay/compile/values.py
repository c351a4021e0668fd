"""Python values during translation: constants, and variables that hold a value at run time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from perfectplay.compile import ir
from perfectplay.compile.ranges import Range
from perfectplay.compile.source import FunctionSource


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """An object of the running interpreter, such as a global constant, a function or an attribute of the game."""

    object: Any


@dataclass(frozen=True, slots=True, eq=False)
class Int:
    """An integer. `kind` is int, bool or an enumeration such as Status."""

    expr: ir.Expr
    kind: type = int

    @property
    def range(self) -> Range:
        return self.expr.range


@dataclass(frozen=True, slots=True, eq=False)
class IntOrNone:
    """An integer or None, such as the result of a function that may end without `return`."""

    number: Int
    present: Int
    """Whether it is not None."""


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    """A sequence whose length and elements are known to the translator; also a list that nothing changes."""

    items: tuple[Value, ...]
    kind: type = tuple
    """tuple, list, set, or a named tuple class."""
    sites: frozenset[Hashable] = frozenset()
    """Where it was made. If a list must change, or an index is not constant, it is made as an Array there."""


@dataclass(slots=True, eq=False)
class Leaf:
    """One integer of each element of an array, in a separate C array."""

    array: str
    range: Range
    kind: type


Shape = Any
"""The structure of an element: None for an integer, the shapes of a tuple's items, or UNSEEN without any element."""

UNSEEN = "unseen"


@dataclass(slots=True, eq=False)
class Origin:
    """The place in the flow of control where an array was made, and the appends since."""

    context: object
    loops: tuple[int, ...]
    """The loops around it, each by the time when its translation began."""
    appends: int = 0
    """More than MAX_LIST for any number."""


@dataclass(slots=True, eq=False)
class Array:
    """A list, tuple or set of equal elements in C arrays, one for each leaf of the shape."""

    site: Hashable
    kind: type
    shape: Shape
    leaves: list[Leaf]
    capacity: int
    length: int | ir.Variable
    origin: Origin
    """A length is constant only while the flow of control has not branched since then."""
    frozen: bool = False
    """Another list may be the same object in Python but not in C, so neither may change."""
    refilled: bool = False
    """Gets other elements in a loop or on a path, so the number of appends is not its length."""
    loops: int = 0
    """The loops over this list that are being translated. They have a fixed number of rounds."""
    made: int = 0
    changed: int = 0
    """When the translator made and last changed it, by `Sequences.clock`."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several constant objects, chosen by an index that is in range."""

    objects: tuple[Any, ...]
    index: ir.Expr


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function defined inside a function."""

    node: ast.FunctionDef | ast.Lambda
    frame: Frame


@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """A generator expression or comprehension that has not been consumed."""

    node: ast.GeneratorExp | ast.ListComp | ast.SetComp
    frame: Frame


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A sequence whose elements are computed when they are needed: a range, a slice, zip, enumerate, map.

    Its kind is Iterator if Python has an iterator here, which has no length and no index.
    """

    length: Int
    element: Callable[[Int], Value]
    kind: type = tuple
    uniform: bool = field(default=True)
    """Whether `element` accepts an index that is not constant."""
    arrays: tuple[Array, ...] = ()
    """The lists that `element` reads."""
    calls: bool = False
    """Whether `element` calls a function, so it must be evaluated once for each element that Python reads."""
    bounds: tuple[Int, Int, int] | None = None
    """The arguments of a range."""

    @property
    def is_iterator(self) -> bool:
        return self.kind is Iterator


Value = Constant | Int | IntOrNone | Tuple | Array | Choice | Closure | Generator | View


_METHODS = """
    __getitem__ __iter__ __len__ __contains__ __reversed__ __missing__ __bool__ __int__ __index__ __neg__ __pos__
    __abs__ __invert__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__
    __floordiv__ __rfloordiv__ __mod__ __rmod__ __divmod__ __rdivmod__ __pow__ __rpow__ __lshift__ __rlshift__
    __rshift__ __rrshift__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ index count copy get keys values items
    bit_count bit_length __iadd__ __isub__ __imul__ __ifloordiv__ __imod__ __ipow__ __ilshift__ __irshift__ __iand__
    __ior__ __ixor__
"""


@cache
def is_plain(kind: type, base: type) -> bool:
    """Whether a class is `base` or a subclass that changes no operator or method that the translator knows."""

    def find(cls: type, name: str) -> object:
        return next((vars(each)[name] for each in cls.__mro__ if name in vars(each)), None)

    names = [name for name in _METHODS.split() if name.startswith("__") or find(base, name)]
    if kind is bool:
        return base is int
    return issubclass(kind, base) and all(find(kind, name) is find(base, name) for name in names)


def is_int(obj: Any) -> bool:
    """Whether an object is an integer with the arithmetic of int."""
    kind: type = type(obj)
    return is_plain(kind, int)


def is_object(obj: Any, *kinds: type) -> bool:
    """Whether an object is of one of these classes, or of a subclass that does not change their behaviour."""
    kind: type = type(obj)
    return any(is_plain(kind, base) for base in kinds)


def truth(expr: ir.Expr) -> Int:
    return Int(expr, bool)


def constant_int(value: int) -> Int:
    return Int(ir.number(int(value)), bool if isinstance(value, bool) else type(value))


def is_none(value: object) -> bool:
    return isinstance(value, Constant) and value.object is None


TRUE, FALSE = Int(ir.number(1), bool), Int(ir.number(0), bool)
NONE = Constant(None)


# ---- the state of a translation ----


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """A variable that has no single type here. Only reading it is an error."""

    reason: str


Env = dict[str, "Value | Conflict"]


@dataclass(slots=True)
class Jump:
    """A path of control that jumps to a label. Its block is executed just before the jump."""

    env: Env
    block: ir.Block


@dataclass(slots=True)
class LoopTarget:
    break_label: str
    continue_label: str
    breaks: list[Jump] = field(default_factory=list)
    continues: list[Jump] = field(default_factory=list)


@dataclass(slots=True)
class Frame:
    """One call of a Python function that is being translated."""

    source: FunctionSource
    local_names: frozenset[str]
    env: Env
    parent: Frame | None = None
    reachable: bool = True
    end_label: str = ""
    returns: list[Jump] = field(default_factory=list)
    """The paths that return. Their only variable is the result."""
    loops: list[LoopTarget] = field(default_factory=list)
