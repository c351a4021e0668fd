"""Compares compiled rules with CPython on random functions.

    python tools/fuzz_compile.py --functions 20000 --calls 50

Each function takes a position and a move, like `apply`, and returns an int. It is translated, compiled, and called with
the same arguments in both languages. Where Python raises an exception, the C function must report a fault. Where Python
returns a number, C must return the same one. It may report a fault only if some intermediate result leaves the range of
int64_t, which a second run with integers that watch their results confirms.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import importlib.util
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from cffi import FFI

from perfectplay.compile import ctext, ir
from perfectplay.compile.builtin_functions import new_library
from perfectplay.compile.calls import build_function
from perfectplay.compile.ranges import Range
from perfectplay.compile.source import Untranslatable, read_function
from perfectplay.compile.values import Int
from perfectplay_native.build import INCLUDE

MAX_POSITION, MAX_MOVE = 2**64 - 2, 2**32 - 1
FUNCTIONS_PER_FILE = 50

HEADER = """
from perfectplay.authoring import Fields, Grid

FIELDS = Fields(cells=(4, 3), turn=2)
GRID = Grid(2, 2, values=3)
smallest = GRID.d4().canonicalizer(bits=GRID.bits)
LINES = [(0, 1, 2), (3, 4, 5), (0, 3, 6), (2, 4, 6)]
RAYS = [[1, 2, 3], [5], [], [8, 4], [0, 2**63, 7, 9]]
TABLE = (3, 1, -4, 1, 5, -9, 2, 6)
MASKS = [2**64 - 1, 2**63, 255, 1 << 40]
NUMBERS = {1: 10, 2: -20, 5: 7}


def split(number):
    return number & 15, number >> 4 & 15


def digits(number):
    return [number // 3**i % 3 for i in range(5)]


def pick(number, limit):
    for i, mask in enumerate(MASKS):
        if number & mask > limit:
            return i
    return -1


def first(number):
    for i in range(1, 4):
        if number >> i & 1:
            return i * number % 7


def log(values, number):
    values.append(number & 7)
    return number & 3


def change(values, number):
    values.append(number & 7)
    values[0] = number % 5
    return len(values)


def shorter(one, other):
    return one if len(one) < len(other) else other


def nested(number):
    def inner(digit):
        return digit * number & 255

    return [inner(x) for x in (1, 2, 3)]
"""


class Generator:
    """Writes random functions of the subset. Names of variables tell their type: n is an int, l a list of ints."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ints: list[str] = []
        self.lists: list[str] = []
        self.depth = 0
        self.loops = 0
        self.in_loop = 0

    def pick(self, *choices: Callable[[], str]) -> str:
        return self.random.choice(choices)()

    def function(self, name: str) -> str:
        self.ints, self.lists, self.depth, self.loops = ["position", "move"], [], 0, 0
        self.in_loop = 0
        lines = [f"def {name}(position, move):"]
        for _ in range(self.random.randrange(1, 6)):
            lines += self.statement("    ")
        lines.append(f"    return {self.integer(2)}")
        return "\n".join(lines)

    def block(self, indent: str) -> list[str]:
        """Return a nested block. Variables of it may have no value afterwards, so they are forgotten."""
        ints, lists = list(self.ints), list(self.lists)
        self.depth += 1
        lines = [line for _ in range(self.random.randrange(1, 3)) for line in self.statement(indent)]
        self.depth -= 1
        self.ints, self.lists = ints, lists
        return lines

    def statement(self, indent: str) -> list[str]:
        kinds = ["assign"] * 4 + ["list", "list", "if", "for", "augment", "change", "unpack", "return", "alias", "call"]
        if self.loops < 2:
            kinds.append("while")
        kind = self.random.choice(kinds)
        if self.depth > 2 and kind in ("if", "for", "while"):
            kind = "assign"
        return getattr(self, f"_{kind}")(indent)

    def _assign(self, indent: str) -> list[str]:
        value = self.bounded(self.integer(self.random.choice([1, 2, 2, 3])))
        if self.random.random() < 0.4 and len(self.ints) > 2:
            name = self.random.choice(self.ints[2:])
        else:
            name = f"n{len(self.ints)}"
            self.ints.append(name)
        return [f"{indent}{name} = {value}"]

    def bounded(self, value: str) -> str:
        """Return a value that cannot grow without limit in a loop."""
        return f"({value}) {self.random.choice(['% 1000003', '& MASKS[0]', '% (1 << 66)'])}" if self.in_loop else value

    def _augment(self, indent: str) -> list[str]:
        if len(self.ints) <= 2:
            return self._assign(indent)
        name = self.random.choice(self.ints[2:])
        op = self.random.choice(["+=", "-=", "|=", "&=", "^=", "*=", "//=", "%="])
        limit = [f"{indent}{name} = {self.bounded(name)}"] if self.in_loop else []
        return [f"{indent}{name} {op} {self.integer(2)}", *limit]

    def _list(self, indent: str) -> list[str]:
        value = self.sequence(2)
        name = f"l{len(self.lists)}"
        self.lists.append(name)
        return [f"{indent}{name} = list({value})" if self.random.random() < 0.5 else f"{indent}{name} = [*{value}]"]

    def _change(self, indent: str) -> list[str]:
        if not self.lists:
            return self._list(indent)
        name, index = self.random.choice(self.lists), self.index()
        return [
            f"{indent}{name}"
            + self.pick(
                lambda: f"[{index}] = {self.bounded(self.integer(2))}",
                lambda: f".append({self.bounded(self.integer(2))})",
                lambda: f"[{index}] += {self.literal()}",
                lambda: f" += [{self.integer(1)}, {self.integer(1)}]",
                lambda: f".extend({self.sequence(1)}[:2])",
                lambda: ".pop()",
            )
        ]

    def _alias(self, indent: str) -> list[str]:
        """Give a list a second name, or swap two names. A later change must be seen under both names of a list."""
        if not self.lists:
            return self._list(indent)
        value = self.random.choice(self.lists)
        if self.random.random() < 0.4:
            value += f" if {self.condition(1)} else {self.random.choice([*self.lists, '[]', '[3]', '[*TABLE]'])}"
        if self.random.random() < 0.4:
            name, other = self.random.choice(self.lists), self.random.choice(self.lists)
            return [f"{indent}{name}, {other} = {other}, {self.random.choice([name, value, self.sequence(1)])}"]
        if self.random.random() < 0.4:
            return [
                f"{indent}{self.random.choice(self.lists)} = {self.random.choice([value, f'list({self.sequence(1)})'])}"
            ]
        self.lists.append(f"l{len(self.lists)}")
        return [f"{indent}{self.lists[-1]} = {value}"]

    def _call(self, indent: str) -> list[str]:
        """Pass a list to a function that changes it, or take the last element."""
        if not self.lists:
            return self._list(indent)
        call = self.pick(
            lambda: f"change({self.random.choice(self.lists)}, {self.integer(1)})",
            lambda: f"{self.random.choice(self.lists)}.pop()",
            lambda: f"{self.effect('any')} * 100 + {self.effect('max')}",
            lambda: f"len([*{self.random.choice(self.lists)}, {self.random.choice(self.lists)}.pop()])",
            lambda: f"bool({self.random.choice(self.lists)}) + change({self.random.choice(self.lists)}, 3)",
        )
        self.ints.append(f"n{len(self.ints)}")
        return [f"{indent}{self.ints[-1]} = {call}"]

    def effect(self, reduction: str) -> str:
        """Return a reduction of a function that changes a list with every call."""
        name = self.random.choice(self.lists)
        return f"{reduction}(map(lambda x: log({name}, x), [1, {self.integer(1)}, {self.integer(0)}]))"

    def _unpack(self, indent: str) -> list[str]:
        first, second = f"n{len(self.ints)}", f"n{len(self.ints) + 1}"
        if self.random.random() < 0.2:
            value = self.sequence(1)
            self.lists.append(f"l{len(self.lists)}")
            self.ints.append(first)
            return [f"{indent}{first}, *{self.lists[-1]} = {value}"]
        value = self.pick(
            lambda: f"split({self.integer(2)})",
            lambda: f"divmod({self.integer(2)}, {self.integer(1)})",
            lambda: f"({self.integer(2)}, {self.integer(2)})",
            lambda: f"{self.sequence(1)}[:2]",
        )
        self.ints += [first, second]
        swap = [f"{indent}{first}, {second} = {second}, {first}"] if self.random.random() < 0.3 else []
        return [f"{indent}{first}, {second} = {value}", *swap]

    def _if(self, indent: str) -> list[str]:
        head = self.condition(2)
        if self.random.random() < 0.2:
            name, value = f"n{len(self.ints)}", self.bounded(self.integer(2))
            self.ints.append(name)
            head = f"({name} := {value}) > {self.literal()}"
        lines = [f"{indent}if {head}:", *self.block(indent + "    ")]
        if self.random.random() < 0.5:
            lines += [f"{indent}else:", *self.block(indent + "    ")]
        return lines

    def _for(self, indent: str) -> list[str]:
        ints = list(self.ints)
        name, other = f"i{self.depth}", f"j{self.depth}"
        heads = [
            (f"{name} in range({self.random.randrange(1, 6)})", [name]),
            (f"{name} in range({self.integer(1)} & 7, {self.integer(1)} & 15)", [name]),
            (f"{name} in {self.sequence(2)}", [name]),
            (f"{name} in range({self.integer(1)} & 15, {self.random.choice([-3, 0, 4])}, -1)", [name]),
            (f"{name} in range({self.integer(1)} & 3, 14, {self.random.choice([2, 3, 5])})", [name]),
            (f"{name}, {other} in [({self.integer(1)}, 1), (2, {self.integer(1)}), (3, 4)]", [name, other]),
            (f"{name}, {other} in enumerate({self.sequence(1)}, {self.random.choice([0, 1, -3])})", [name, other]),
            (f"{name}, {other} in zip({self.sequence(1)}, {self.sequence(1)})", [name, other]),
            (f"{name} in reversed({self.sequence(1)})", [name]),
            (f"{name} in (x ^ 1 for x in {self.sequence(1)} if x != 2)", [name]),
        ]
        head, names = self.random.choice(heads)
        self.ints += names
        self.in_loop += 1
        lines = [f"{indent}for {head}:", *self.block(indent + "    ")]
        if any(each in head for each in self.lists):  # a list that grows during the loop would never end
            rounds = f"c{self.loops}"
            self.loops += 1
            lines.insert(0, f"{indent}{rounds} = 0")
            lines[2:2] = [f"{indent}    {rounds} += 1", f"{indent}    if {rounds} > 9:", f"{indent}        break"]
        if self.random.random() < 0.4:
            word = self.random.choice(["break", "continue"])
            lines += [f"{indent}    if {self.condition(1)}:", f"{indent}        {word}", *self.block(indent + "    ")]
        self.in_loop -= 1
        self.ints = ints
        return lines + self._else(indent)

    def _else(self, indent: str) -> list[str]:
        return [f"{indent}else:", *self.block(indent + "    ")] if self.random.random() < 0.15 else []

    def _while(self, indent: str) -> list[str]:
        name = f"w{self.loops}"
        self.loops += 1
        self.in_loop += 1
        body = self.block(indent + "    ")
        self.in_loop -= 1
        limit = self.random.randrange(1, 7)
        return [
            f"{indent}{name} = 0",
            f"{indent}while {name} < {limit} and {self.condition(1)}:",
            f"{indent}    {name} += 1",
            *body,
            *self._else(indent),
        ]

    def _return(self, indent: str) -> list[str]:
        if self.depth == 0:
            return self._assign(indent)
        return [f"{indent}return {self.integer(2)}"]

    # ---- expressions ----

    def index(self) -> str:
        return self.pick(
            lambda: str(self.random.choice([0, 0, 1, 1, -1, -1, 2, -2, 5])),
            lambda: f"{self.integer(1)} & 1",
            lambda: f"{self.integer(1)} & {self.random.choice([1, 3, 7])}",
            lambda: f"{self.integer(1)} % 3 - 1",
        )

    def part(self) -> str:
        a, b = f"{self.integer(0)} % 7 - 3", f"{self.integer(0)} % 7 - 3"
        return self.random.choice(["1:", ":2", "::-1", "1:-1", "::2", f"{a}:", f":{b}", f"{a}:{b}", f"{a}::2"])

    def literal(self) -> str:
        return str(self.random.choice([0, 1, 2, 3, 5, 8, 63, 64, 255, -1, -2, -7, 2**31, 2**63 - 1, 2**63, 2**64 - 1]))

    def integer(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.15:
            return self.random.choice([*self.ints, self.literal()])
        a, b = lambda: self.integer(depth - 1), lambda: self.integer(depth - 1)
        return self.pick(
            lambda: f"({a()} {self.random.choice('+-*&|^&|')} {b()})",
            lambda: f"({a()} {self.random.choice('+-*&|^')} {b()})",
            lambda: f"({a()} {self.random.choice(['//', '%'])} {b()})",
            lambda: f"({a()} >> ({b()} & {self.random.choice([3, 7, 63, 127])}))",
            lambda: f"({a()} << ({b()} & {self.random.choice([3, 7, 31, 63])}))",
            lambda: f"({a()} {self.random.choice(['<<', '>>'])} ({b()} % 7 - 1))",
            lambda: f"(-{a()})",
            lambda: f"(~{a()})",
            lambda: f"abs({a()})",
            lambda: f"{self.random.choice(['min', 'max'])}({a()}, {b()})",
            lambda: f"({a()}).{self.random.choice(['bit_count', 'bit_length'])}()",
            lambda: f"({a()} if {self.condition(depth - 1)} else {b()})",
            lambda: f"({a()} {self.random.choice(['and', 'or'])} {b()})",
            lambda: self.condition(depth - 1),
            lambda: f"int({self.condition(depth - 1)})",
            lambda: f"{self.sequence(depth - 1)}[{self.index()}]",
            lambda: f"{self.random.choice(['TABLE', 'MASKS'])}[{self.index()}]",
            lambda: f"LINES[{self.index()}][{self.random.randrange(3)}]",
            lambda: f"RAYS[{self.index()}][{self.index()}]",
            lambda: f"NUMBERS[{a()} & 7]",
            lambda: f"NUMBERS.get({a()} & 7, {b()})",
            lambda: f"{self.random.choice(['sum', 'len', 'min', 'max'])}({self.sequence(depth - 1)})",
            lambda: f"sum(x * {b()} for x in {self.sequence(depth - 1)} if x > {self.literal()})",
            lambda: f"{self.sequence(depth - 1)}.{self.random.choice(['index', 'count'])}({b()})",
            lambda: f"3 ** ({a()} & 31)",
            lambda: f"({a()} & 255) ** 2",
            lambda: f"pick({a()}, {b()})",
            lambda: f"split({a()})[{self.random.randrange(2)}]",
            lambda: f"divmod({a()}, {b()})[{self.random.randrange(2)}]",
            lambda: f"(lambda x, y: x - y * 2)({a()}, {b()})",
            lambda: f"min(({a()}, 1), ({b()}, 2))[{self.random.randrange(2)}]",
            lambda: f"max({a()}, {b()}, {self.integer(0)})",
            lambda: f"sum(map(abs, {self.sequence(depth - 1)}))",
            lambda: f"sum(x * y for x, y in zip({self.sequence(depth - 1)}, {self.sequence(0)}))",
            lambda: f"sum(x * y for x in (1, 2) for y in {self.sequence(depth - 1)} if x != y)",
            lambda: f"len({{x & 3 for x in {self.sequence(depth - 1)}}})",
            lambda: f"FIELDS.unpack({a()} & 1023).{self.random.choice(['turn', 'cells[-1]', 'cells[0]'])}",
            lambda: f"FIELDS.pack(cells=[{a()} & 3, 1, 0, {b()} % 3], turn={self.integer(0)} & 1)",
            lambda: f"GRID.unpack({a()} & 255)[{self.index()}]",
            lambda: f"smallest({a()} & 255)",
            lambda: f"(first({a()}) or {b()})",
            lambda: f"(first({a()}) + 1)",
            lambda: f"({b()} if first({a()}) is None else 5)",
            lambda: f"{self.random.choice(['-1', '0', '1'])} ** ({a()} & 255)",
            lambda: f"range({a()} & 15, {b()}, {self.random.choice([1, 3, 500])})[{self.index()}]",
            lambda: f"len(RAYS[{self.index()}] if {self.condition(0)} else LINES[{self.index()}])",
        )

    def condition(self, depth: int) -> str:
        compare = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        return self.pick(
            lambda: f"({self.integer(depth)} {compare} {self.integer(depth)})",
            lambda: f"({self.integer(depth)} {compare} {self.integer(depth)} < {self.integer(0)})",
            lambda: f"(not {self.integer(depth)})",
            lambda: f"({self.integer(depth)} in {self.sequence(depth)})",
            lambda: f"({self.integer(depth)} not in (1, 2, {self.integer(0)}))",
            lambda: f"({self.integer(depth)} > 0 {self.random.choice(['and', 'or'])} {self.integer(depth)})",
            lambda: f"any(x > {self.integer(0)} for x in {self.sequence(depth)})",
            lambda: f"all({self.sequence(depth)})",
            lambda: f"({self.sequence(depth)} == {self.sequence(depth)})",
            lambda: f"bool({self.integer(depth)})",
            lambda: f"({self.integer(depth)} in range({self.integer(0)} & 15))",
            lambda: f"({self.integer(depth)} & 7 in {self.random.choice(['NUMBERS', '{1, 2, 6}', 'TABLE'])})",
            lambda: f"(({self.integer(depth)} > 1) {self.random.choice('&|^')} ({self.integer(0)} > 2))",
            lambda: f"(({self.integer(depth)} > 1) {self.random.choice(['is', '=='])} ({self.integer(0)} > 2))",
            lambda: f"FIELDS.fits({self.integer(depth)})",
            lambda: f"(not first({self.integer(depth)}))",
            lambda: f"(first({self.integer(depth)}) {self.random.choice(['==', '!='])} {self.integer(0)})",
            lambda: f"({self.integer(depth)} in range({self.integer(0)}, {self.integer(0)}, {self.literal()} or 1))",
            lambda: f"(({self.integer(depth)}, 1) {compare} ({self.integer(0)}, 2))",
        )

    def sequence(self, depth: int) -> str:
        """Return an expression for a list."""
        if self.lists and self.random.random() < 0.4:
            return self.random.choice(self.lists)
        if depth <= 0:
            return self.random.choice(["[1, 2, 3]", "[0]", "digits(position)", "[move, 7, position]", "[5, 5, 1, 0]"])
        return self.pick(
            lambda: f"[{self.integer(depth - 1)}, {self.integer(depth - 1)}]",
            lambda: f"[x + {self.integer(0)} for x in {self.sequence(depth - 1)}]",
            lambda: f"[x for x in {self.sequence(depth - 1)} if x & 1]",
            lambda: f"[x * y for x in (1, 2) for y in {self.sequence(depth - 1)}]",
            lambda: f"{self.sequence(depth - 1)}[{self.part()}]",
            lambda: f"sorted({self.sequence(depth - 1)})",
            lambda: f"({self.sequence(depth - 1)} + {self.sequence(depth - 1)})",
            lambda: f"([{self.integer(depth - 1)}] * {self.random.randrange(4)})",
            lambda: f"digits({self.integer(depth - 1)})",
            lambda: f"list(range({self.integer(0)} & 7))",
            lambda: f"({self.sequence(depth - 1)} if {self.condition(depth - 1)} else {self.sequence(depth - 1)})",
            lambda: f"[TABLE[x % 8] for x in {self.sequence(depth - 1)}]",
            lambda: f"sorted({self.sequence(depth - 1)}, reverse=True)",
            lambda: f"shorter({self.sequence(depth - 1)}, {self.sequence(depth - 1)})",
            lambda: f"nested({self.integer(depth - 1)})",
            lambda: f"[x for pair in LINES for x in pair if x < {self.integer(0)}]",
        )


class Watcher(ast.NodeTransformer):
    """Changes a module so that `watch` is called with every intermediate result."""

    overflow = False
    """Whether a result since the last reset was outside int64_t."""

    @staticmethod
    def watch(value: Any) -> Any:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            Watcher.overflow = True
        return value

    @staticmethod
    def sum(numbers: Iterable[int]) -> int:
        return functools.reduce(lambda a, b: Watcher.watch(a + b), numbers, 0)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        node = super().generic_visit(node)
        watched = isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call | ast.Subscript | ast.Name | ast.Constant)
        return self._watched(node) if watched and isinstance(getattr(node, "ctx", ast.Load()), ast.Load) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        self.generic_visit(node)
        return [node, ast.Expr(self.visit(read))]

    @staticmethod
    def _watched(node: ast.AST) -> ast.Call:
        return ast.Call(ast.Name("_watch", ast.Load()), [node], [])  # type: ignore[list-item]


@functools.lru_cache(maxsize=2)
def watched_module(file: str) -> dict[str, Any]:
    """Return the names of a module whose results are watched."""
    tree = ast.fix_missing_locations(Watcher().visit(ast.parse(Path(file).read_text())))
    names: dict[str, Any] = {"_watch": Watcher.watch, "sum": Watcher.sum}
    exec(compile(tree, "watched", "exec"), names)
    return names


def numbers(source: random.Random) -> tuple[int, int]:
    """Return a position and a move, often near the limits."""
    position = source.choice(
        [
            source.randrange(4),
            source.randrange(2**10),
            source.randrange(2**32),
            source.randrange(2**63),
            source.randrange(MAX_POSITION + 1),
            2**63 - 1,
            2**63,
            MAX_POSITION,
        ]
    )
    move = source.choice([source.randrange(4), source.randrange(64), source.randrange(2**32), MAX_MOVE])
    return position, move


def load(text: str, directory: Path, number: int) -> ModuleType:
    path = directory / f"fuzz_{number}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_functions(
    functions: Sequence[Any], directory: Path, number: int, flags: Sequence[str], reasons: Counter[str]
) -> tuple[list[Any], Any, FFI]:
    """Return the functions that can be translated, and the C library with them."""
    translated, bodies, written = [], [], set[str]()
    library = new_library()

    def write(function: ir.Function) -> None:
        if function.name not in written:
            written.add(function.name)
            for callee in function.callees:
                write(callee)
            bodies.append(ctext.function_text(function))

    for function in functions:
        source = read_function(function)
        position = ir.Variable(Range(0, MAX_POSITION), "position_0")
        move = ir.Variable(Range(0, MAX_MOVE), "move_0")
        try:
            built = build_function(library, source, {"position": Int(position), "move": Int(move)}, ())
        except Untranslatable as error:
            reasons[error.construct] += 1
            continue
        if built is None:
            reasons["no int"] += 1
            continue
        write(built[0])
        index = len(translated)
        call = f"{built[0].name}(failed, position, (int64_t)move)"
        bodies.append(
            f"static pp_wide call_{index}(uint32_t *failed, uint64_t position, uint64_t move) {{ return {call}; }}\n"
        )
        translated.append(function)
    calls = ", ".join(f"call_{i}" for i in range(len(translated)))
    harness = f"""
typedef pp_wide (*call)(uint32_t *, uint64_t, uint64_t);
static const call calls[] = {{ {calls} }};
void fuzz(uint64_t function, uint64_t position, uint64_t move, uint64_t *result) {{
    uint32_t failed = 0;
    const pp_wide value = calls[function](&failed, position, move);
    result[0] = (uint64_t)value, result[1] = (uint64_t)(value >> 64), result[2] = failed;
}}
"""
    tables = "".join(ctext.table_text(name, values) for name, values in library.tables)
    path = directory / f"fuzz_{number}.c"
    path.write_text(ctext.PRELUDE + tables + "".join(bodies) + harness)
    target = path.with_suffix(".so")
    command = ["cc", "-std=gnu11", "-w", "-shared", "-fPIC", *flags, "-I", str(INCLUDE), "-o", str(target), str(path)]
    subprocess.run(command, check=True)
    ffi = FFI()
    ffi.cdef("void fuzz(uint64_t function, uint64_t position, uint64_t move, uint64_t *result);")
    return translated, ffi.dlopen(str(target)), ffi


def compare(function: Any, answer: tuple[int, bool], position: int, move: int) -> str | None:
    """Return the difference between C and Python, or None. Raises nothing."""
    result, failed = answer
    try:
        expected = int(function(position, move))
    except Exception as error:
        return None if failed else f"Python raised {error!r}, C returned {result}"
    if not failed:
        return None if result == expected else f"Python returned {expected}, C {result}"
    if not -(2**63) <= expected < 2**63:
        return None
    watched = watched_module(function.__code__.co_filename)[function.__name__]
    Watcher.overflow = False
    with contextlib.suppress(Exception):
        watched(position, move)
    return None if Watcher.overflow else f"Python returned {expected}, C reported a fault without an overflow"


def describe(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def fuzz(
    functions: int, calls: int, seed: int, flags: Sequence[str] = ("-O1",), *, progress: bool = False
) -> Counter[str]:
    """Compare that many functions. Returns counts, and prints the first differences with their functions."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        directory, number = Path(name), 0
        while counts["functions"] < functions:
            number += 1
            size = min(FUNCTIONS_PER_FILE, functions - counts["functions"])
            generator, source = Generator(seed * 100_003 + number), random.Random(seed + number)
            text = HEADER + "\n\n" + "\n\n\n".join(generator.function(f"f{i}") for i in range(size)) + "\n"
            module = load(text, directory, number)
            wanted = [getattr(module, f"f{i}") for i in range(size)]
            translated, lib, ffi = compile_functions(wanted, directory, number, flags, reasons)
            answer = ffi.new("uint64_t[3]")
            for index, function in enumerate(translated):
                counts["functions"] += 1
                for _ in range(calls):
                    position, move = numbers(source)
                    lib.fuzz(index, position, move, answer)
                    high = answer[1] - 2**64 if answer[1] >= 2**63 else answer[1]
                    counts["calls"] += 1
                    counts["faults"] += bool(answer[2])
                    problem = compare(function, ((high << 64) + answer[0], bool(answer[2])), position, move)
                    if problem:
                        counts["differences"] += 1
                        if counts["differences"] <= 5:
                            print(f"{function.__name__}({position}, {move}): {problem}", file=sys.stderr)
                            print(read_function(function).text, file=sys.stderr)
                        break
            counts["untranslatable"] = reasons.total()
            if progress:
                print(describe(counts), flush=True)
    for reason, count in reasons.most_common(8):
        print(f"untranslatable: {count:6,} {reason}")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=20_000)
    parser.add_argument("--calls", type=int, default=50, help="calls of each function")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true", help="stop at undefined behaviour in the C code")
    options = parser.parse_args()
    flags = (
        ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-static-libubsan"]
        if options.sanitize
        else ["-O1"]
    )
    counts = fuzz(options.functions, options.calls, options.seed, flags, progress=True)
    print(describe(counts))
    sys.exit(1 if counts["differences"] else 0)


if __name__ == "__main__":
    main()
