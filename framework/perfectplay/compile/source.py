"""Finds the source of a live Python function: its syntax tree, and the values of its global names and closure.

The source file may have changed since the module was imported. So it is compiled again, and a function is accepted only
if the result is equal to the code of the live one.
"""

from __future__ import annotations

import ast
import builtins
import dis
import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

FunctionNode = ast.FunctionDef | ast.Lambda

_CACHE = type(lru_cache(lambda: None))


class Untranslatable(Exception):
    """A construct that the translator does not support."""

    def __init__(self, construct: str, file: str = "", line: int = 0, hook: str = "") -> None:
        super().__init__(construct, file, line, hook)
        self.construct = construct
        self.file = file
        self.line = line
        self.hook = hook

    def __str__(self) -> str:
        place = f"{Path(self.file).name}:{self.line}: " if self.file else ""
        return f"{place}{self.construct} is not supported in compiled rules"


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function with its syntax tree and its environment."""

    function: FunctionType
    node: FunctionNode
    file: str
    line: int
    text: str
    """The source lines of the definition."""
    changing: frozenset[str]
    """Global and nonlocal names that some function of the module assigns."""

    def lookup(self, name: str) -> Any:
        """Return the value of a name that is not local. Raises NameError."""
        code, closure = self.function.__code__, self.function.__closure__ or ()
        if name in code.co_freevars:
            self._require_fixed(name)
            try:
                return closure[code.co_freevars.index(name)].cell_contents
            except ValueError:
                raise NameError(name) from None
        if name in self.function.__globals__:
            self._require_fixed(name)
            return self.function.__globals__[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(name)

    def _require_fixed(self, name: str) -> None:
        if name in self.changing:
            raise Untranslatable(f"the variable '{name}', which functions assign,")


def plain_function(function: Callable[..., Any]) -> FunctionType:
    """Return the Python function behind a cache of functools. Other decorators may change results."""
    if isinstance(function, _CACHE):
        function = function.__wrapped__
    if not isinstance(function, FunctionType):
        raise Untranslatable(f"the function {getattr(function, '__name__', type(function).__name__)}")
    return function


_STORES = frozenset({"STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_SUBSCR", "DELETE_SUBSCR"})


def read_attribute(obj: object, name: str) -> Any:
    """Return an attribute of a live object. Raises Untranslatable if reading it fails or changes something."""
    getter = getattr(getattr(type(obj), name, None), "fget", None)
    if isinstance(getter, FunctionType) and any(each.opname in _STORES for each in dis.get_instructions(getter)):
        raise Untranslatable(f"the property '{name}', which changes something,")
    try:
        return getattr(obj, name)
    except AttributeError:
        raise Untranslatable(f"the unknown attribute '{name}'") from None
    except Exception as error:
        raise Untranslatable(f"the attribute '{name}', which raises {type(error).__name__},") from None


@lru_cache(maxsize=256)
def read_function(function: FunctionType) -> FunctionSource:
    """Return the source of a function. Raises Untranslatable if it is not available."""
    code = function.__code__
    name = code.co_filename
    text = "".join(linecache.getlines(name, function.__globals__))
    if not text:
        raise Untranslatable(f"the function {function.__name__}, which has no source file,")
    try:
        module = _read_module(text, name)
        if code not in module.code:
            linecache.checkcache(name)
            text = "".join(linecache.getlines(name, function.__globals__))
            module = _read_module(text, name)
    except SyntaxError:
        raise _stale(function) from None
    if code not in module.code:
        raise _stale(function)
    node = _find_node(module.definitions.get(code.co_firstlineno, ()), code)
    if node is None:
        raise Untranslatable(f"the function {function.__name__}", name, code.co_firstlineno)
    lines = module.lines[code.co_firstlineno - 1 : node.end_lineno]
    return FunctionSource(function, node, name, code.co_firstlineno, "\n".join(lines) + "\n", module.changing)


def _stale(function: FunctionType) -> Untranslatable:
    code = function.__code__
    return Untranslatable(
        f"the function {function.__name__}, which differs from its source file,", code.co_filename, code.co_firstlineno
    )


@dataclass(frozen=True, slots=True)
class _Module:
    """A source file: its lines, the code of all its functions, their definitions by first line, and `changing`."""

    lines: list[str]
    code: frozenset[CodeType]
    definitions: dict[int, list[FunctionNode]]
    changing: frozenset[str]


@lru_cache(maxsize=16)
def _read_module(text: str, name: str) -> _Module:
    definitions: dict[int, list[FunctionNode]] = {}
    changing: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            definitions.setdefault(first, []).append(node)
        elif isinstance(node, ast.Lambda):
            definitions.setdefault(node.lineno, []).append(node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            changing.update(node.names)
    code = frozenset(_all_code(compile(text, name, "exec", dont_inherit=True)))
    return _Module(text.splitlines(), code, definitions, frozenset(changing))


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _find_node(definitions: Sequence[FunctionNode], code: CodeType) -> FunctionNode | None:
    """Find the definition whose code this is. Lambdas on one line differ in their columns, inner ones come first."""
    places = {(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None}
    for node in reversed(definitions):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return node
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>":
            body = [(n.lineno, n.col_offset) for n in ast.walk(node.body) if isinstance(n, ast.expr)]
            if places - {(node.lineno, 0)} <= set(body):
                return node
    return None
