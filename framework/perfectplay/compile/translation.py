"""Rules in Python as one C file with a kernel: the entry point of the translator.

Each hook becomes a C function with the checks that `Game` makes: a position fits 64 bits, a move 32, and so on. If a
check fails, the first such fault is recorded in `pp_compiled_fault`, and the hook returns 0. The host then stops and
calls the Python hook for the same position, whose exception is shown to the user.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, Protocol

from perfectplay.compile import ctext, ir
from perfectplay.compile.builder import Facts
from perfectplay.compile.builtin_functions import new_library
from perfectplay.compile.calls import Library, Translator, settle
from perfectplay.compile.ranges import Range
from perfectplay.compile.sequences import MAX_LIST, is_sequence
from perfectplay.compile.source import FunctionSource, Untranslatable, plain_function, read_function
from perfectplay.compile.values import Array, Constant, Int, IntOrNone, Tuple, Value, constant_int
from perfectplay.values import Status
from perfectplay_native.limits import MAX_MOVE, MAX_POSITION, MAX_PYTHON_TIERS, MAX_SCORE

__all__ = ["HOOKS", "HookText", "Rules", "Translation", "Untranslatable", "explain", "translate"]

HOOKS = (
    "start",
    "valid",
    "moves",
    "apply",
    "undo",
    "canonicalize",
    "status",
    "mover",
    "score",
    "tier",
    "parents",
)
"""The hooks that are translated. A fault has the index of the hook in this list."""

_POSITION = Range(0, MAX_POSITION)
_MOVE = Range(0, MAX_MOVE)
_RESULTS = {
    "start": _POSITION,
    "apply": _POSITION,
    "undo": _POSITION,
    "canonicalize": _POSITION,
    "valid": Range(0, 1),
    "status": Range(0, 3),
    "mover": Range(0, 1),
    "score": Range(-MAX_SCORE, MAX_SCORE),
    "tier": Range(0, MAX_PYTHON_TIERS - 1),
    "moves": _MOVE,
    "parents": _POSITION,
}
_C_TYPES = {"valid": "int", "status": "int", "mover": "int", "score": "int", "tier": "uint32_t"}

_FAULT = """
/* The first fault of any thread. The host resets it. */
struct pp_fault {
    uint32_t set, hook;
    uint64_t position, argument;
};
struct pp_fault pp_compiled_fault;

__attribute__((noinline, cold)) static void pp_record_fault(uint32_t hook, uint64_t position, uint64_t argument) {
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&pp_compiled_fault.set, &none, 2, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    pp_compiled_fault.hook = hook;
    pp_compiled_fault.position = position;
    pp_compiled_fault.argument = argument;
    __atomic_store_n(&pp_compiled_fault.set, 1, __ATOMIC_RELEASE);
}
"""


class Rules(Protocol):
    """The part of a `Game` that the translator uses."""

    hook_functions: Mapping[str, Callable[..., Any]]
    rules_version: int

    @property
    def is_puzzle(self) -> bool: ...

    @property
    def turns_alternate(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class HookText:
    """A hook in both languages."""

    name: str
    file: str
    line: int
    python: str
    c: str
    """Its C function, after the functions that it calls and that no earlier hook calls."""


@dataclass(frozen=True, slots=True)
class Translation:
    """All rules of a game in C."""

    source: str
    """The complete C text. It defines `const pp_kernel pp_compiled_kernel` and `pp_compiled_fault`."""
    hooks: tuple[HookText, ...]
    max_moves: int
    max_parents: int
    tier_count: int
    omitted: tuple[Untranslatable, ...] = ()
    """Shortcuts of the game that could not be translated. The results do not depend on them."""


@dataclass(slots=True)
class _Hook:
    name: str
    source: FunctionSource
    text: str
    callees: list[ir.Function]
    capacity: int
    has_loop: bool
    """Whether it, or a function that it calls, repeats statements at run time."""


def translate(game: Rules) -> Translation:
    """Return the rules of a game as C. Raises Untranslatable, which names the construct that prevents it."""
    library = new_library()
    hooks: dict[str, _Hook] = {}
    omitted: list[Untranslatable] = []
    for name in HOOKS:
        if name in game.hook_functions:
            try:
                hooks[name] = _translate_hook(library, name, game.hook_functions[name])
            except Untranslatable as error:
                if name != "parents":  # only a shortcut
                    raise
                omitted.append(error)
    return _assemble(game, library, hooks, omitted)


def explain(game: Rules) -> tuple[HookText | Untranslatable, ...]:
    """Return each hook on its own, in C, or the reason why it cannot be translated."""
    results: list[HookText | Untranslatable] = []
    for name in HOOKS:
        if name in game.hook_functions:
            library = new_library()
            try:
                hook = _translate_hook(library, name, game.hook_functions[name])
            except Untranslatable as error:
                results.append(error)
            except Exception as error:
                results.append(Untranslatable(f"this hook ({type(error).__name__} in the translator)", hook=name))
            else:
                results += _hook_texts(library, [hook])
    return tuple(results)


# ---- one hook ----


def _translate_hook(library: Library, name: str, function: Callable[..., Any]) -> _Hook:
    try:
        return _try_hook(library, name, function)
    except Untranslatable as error:
        error.hook = name
        if not error.file:
            code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
            error.file, error.line = getattr(code, "co_filename", ""), getattr(code, "co_firstlineno", 0)
        raise
    except RecursionError:
        raise Untranslatable("rules of this size", hook=name) from None


def _try_hook(library: Library, name: str, function: Callable[..., Any]) -> _Hook:
    receiver: list[Value] = []
    if isinstance(function, MethodType):
        receiver, function = [Constant(function.__self__)], function.__func__
    source = read_function(plain_function(function))
    names = list(inspect.signature(source.function).parameters)
    limits = {"position": _POSITION, "move": _MOVE}
    wanted = ["position"] * (name != "start") + ["move"] * (name in ("apply", "undo"))
    if names[len(receiver) :] != wanted:
        raise Untranslatable("these parameters")
    parameters = [ir.Variable(limits[each], each) for each in wanted]
    values = [*receiver, *(Int(parameter) for parameter in parameters)]
    facts = Facts()

    def attempt() -> tuple[Translator, list[str], int]:
        translator = Translator(library, facts)
        result = translator.inline(source, dict(zip(names, values, strict=True)), source.node)
        return translator, *_result(translator, name, result)

    translator, code, capacity = settle(facts, attempt)
    text = _hook_text(name, translator, code)
    builder = translator.builder
    loops = ir.has_loop(builder.block) or any(map(ir.repeats, builder.callees))
    return _Hook(name, source, text, builder.callees, capacity, loops)


def _result(translator: Translator, name: str, result: Value) -> tuple[list[str], int]:
    """Return the C statements that check and return the result of a hook, and the capacity of a list."""
    builder, limits = translator.builder, _RESULTS[name]
    if name in ("moves", "parents"):
        return _list_result(translator, name, result)
    if name == "valid":
        result = translator.truth_of(result)
    if isinstance(result, IntOrNone):
        result = translator.as_integer(result)
    if not isinstance(result, Int):
        raise Untranslatable("a result that is not an int")
    if (name == "status") != (result.kind is Status) or (name == "score" and result.kind is bool):
        raise Untranslatable("a status that is not a Status" if name == "status" else f"this result of '{name}'")
    value = builder.narrow(result, limits, "result")
    return [f"    return ({_C_TYPES.get(name, 'pp_position')}){ctext.expression(value.expr)};"], 0


def _list_result(translator: Translator, name: str, result: Value) -> tuple[list[str], int]:
    builder, limits = translator.builder, _RESULTS[name]
    if name == "parents":
        result = translator.unordered(result)
    if not is_sequence(result):
        raise Untranslatable("a result that is not a list")
    view = translator.view(result)
    if not issubclass(view.kind, list | tuple | range):
        raise Untranslatable("a result that is not a list")
    cast = "pp_move" if name == "moves" else "pp_position"

    def check(value: Value) -> Int:
        if not isinstance(value, Int):
            raise Untranslatable("a result that is not a list of ints")
        return builder.narrow(value, limits, "result")

    items = translator.items(result) if isinstance(result, Tuple) or _length(result) <= 8 else None
    if items is not None:
        values = [check(item) for item in items]
        lines = [f"    {name}[{i}] = ({cast}){ctext.expression(value.expr)};" for i, value in enumerate(values)]
        return [*lines, f"    return {len(items)};"], len(items)
    capacity = min(view.length.range.hi, MAX_LIST)
    builder.fail_if(builder.compare("gt", view.length, constant_int(MAX_LIST)))
    block = ir.Block()
    counter = builder.variable("i", Range(0, max(capacity - 1, 0)))
    with builder.inside(block):
        value = check(view.element(Int(counter)))
    store = ir.Assign(ir.Variable(limits, f"{name}[{counter.name}]"), value.expr)
    block.statements.append(store)
    builder.emit(ir.For(counter, view.length.expr, block))
    return [f"    return (size_t){ctext.expression(view.length.expr)};"], capacity


def _length(value: Value) -> int:
    return value.length if isinstance(value, Array) and isinstance(value.length, int) else MAX_LIST


_SIGNATURES = {
    "start": "pp_position NAME(uint32_t *failed)",
    "moves": "size_t NAME(uint32_t *failed, pp_position position, pp_move *restrict moves)",
    "parents": "size_t NAME(uint32_t *failed, pp_position position, pp_position *restrict parents)",
    "apply": "pp_position NAME(uint32_t *failed, pp_position position, pp_move move)",
    "undo": "pp_position NAME(uint32_t *failed, pp_position position, pp_move move)",
}


def _hook_text(name: str, translator: Translator, ending: Sequence[str]) -> str:
    builder = translator.builder
    plain = f"{_C_TYPES.get(name, 'pp_position')} NAME(uint32_t *failed, pp_position position)"
    signature = _SIGNATURES.get(name, plain).replace("NAME", f"rules_{name}")
    if "move" in signature.split("(")[1] and name in ("apply", "undo"):
        signature = signature.replace("pp_move move", "int64_t move")
    lines = [f"static inline {signature} {{", "    (void)failed;"]
    if name != "start":
        lines.append("    (void)position;")
    lines += ctext.declarations(builder.variables, builder.arrays)
    lines += ctext.body_lines(builder.block, "return *failed = 1, 0;")
    return "\n".join([*lines, *ending, "}"]) + "\n"


def _hook_texts(library: Library, hooks: Sequence[_Hook]) -> list[HookText]:
    """Return the hooks in C, each after the functions that it calls first."""
    written: set[str] = set()
    texts = []
    for hook in hooks:
        parts: list[str] = []

        def write(function: ir.Function, parts: list[str] = parts) -> None:
            if function.name in written:
                return
            written.add(function.name)
            for callee in function.callees:
                write(callee)
            parts.append(ctext.function_text(function))

        for function in hook.callees:
            write(function)
        source = hook.source
        texts.append(HookText(hook.name, source.file, source.line, source.text, "\n".join([*parts, hook.text])))
    return texts


# ---- the kernel ----


def _wrapper(name: str) -> str:
    """Return the kernel's function for a hook, which records a fault."""
    arguments = {"start": "", "apply": ", pp_position position, pp_move move"}.get(name, ", pp_position position")
    call, output = "position", ""
    argument = "0"
    if name == "undo":
        arguments = ", pp_position position, pp_move move"
    if name in ("apply", "undo"):
        call, argument = "position, move", "move"
    if name in ("moves", "parents"):
        output = f", {'pp_move' if name == 'moves' else 'pp_position'} *{name}"
        call = f"position, {name}"
    result = {"moves": "size_t", "parents": "size_t"}.get(name, _C_TYPES.get(name, "pp_position"))
    inner = f"rules_{name}(&failed)" if name == "start" else f"rules_{name}(&failed, {call})"
    place = "0" if name == "start" else "position"
    return (
        f"static {result} kernel_{name}(const pp_kernel *self{arguments}{output}) {{\n"
        f"    uint32_t failed = 0;\n"
        f"    (void)self;\n"
        f"    const {result} result = {inner};\n"
        f"    if (PP_UNLIKELY(failed)) return pp_record_fault({HOOKS.index(name)}, {place}, {argument}), 0;\n"
        f"    return result;\n"
        f"}}\n"
    )


def _children(hooks: Mapping[str, _Hook]) -> str:
    """Return the kernel's `children`: the distinct canonical forms of the positions after all moves."""
    canonical = ""
    if "canonicalize" in hooks:
        canonical = (
            "        const pp_position moved = child;\n"
            "        child = rules_canonicalize(&failed, moved);\n"
            f"        if (PP_UNLIKELY(failed)) return pp_record_fault({HOOKS.index('canonicalize')}, moved, 0), 0;\n"
        )
    capacity = max(hooks["moves"].capacity, 1)
    return (
        "static size_t kernel_children(const pp_kernel *self, pp_position position, pp_position *children) {\n"
        "    uint32_t failed = 0;\n"
        "    (void)self;\n"
        f"    pp_move moves[{capacity}];\n"
        "    const size_t count = rules_moves(&failed, position, moves);\n"
        f"    if (PP_UNLIKELY(failed)) return pp_record_fault({HOOKS.index('moves')}, position, 0), 0;\n"
        "    size_t distinct = 0;\n"
        "    for (size_t i = 0; i < count; i++) {\n"
        "        pp_position child = rules_apply(&failed, position, moves[i]);\n"
        "        if (PP_UNLIKELY(failed)) "
        f"return pp_record_fault({HOOKS.index('apply')}, position, moves[i]), 0;\n"
        f"{canonical}"
        "        size_t seen = 0;\n"
        "        while (seen < distinct && children[seen] != child) seen++;\n"
        "        children[seen] = child;\n"
        "        distinct += seen == distinct;\n"
        "    }\n"
        "    return distinct;\n"
        "}\n"
    )


def _recognizes_wins(game: Rules, hooks: Mapping[str, _Hook]) -> bool:
    """Return whether the kernel gets `wins_now`. It pays if the status of a child costs less than finding its value.

    Loops are the mark of an expensive status. For example, Teeko's lists the moves. With an index, the engine calls
    `children` only for positions that are not won at once, and faults in the others would go unnoticed.
    """
    if not game.turns_alternate or "score" in hooks or "index" in game.hook_functions:
        return False
    return not hooks["apply"].has_loop and not hooks["status"].has_loop


def _wins_now(hooks: Mapping[str, _Hook]) -> str:
    """Return the kernel's `wins_now`: whether a child is lost.

    It records no fault, but returns 0, which promises nothing. The engine then calls `children`, which records it.
    """
    confirm = ""
    if "canonicalize" in hooks:  # the engine solves canonical forms; only few children are lost
        confirm = " && rules_status(&failed, rules_canonicalize(&failed, child)) == PP_LOST"
    capacity = max(hooks["moves"].capacity, 1)
    return (
        "static int kernel_wins_now(const pp_kernel *self, pp_position position) {\n"
        "    uint32_t failed = 0;\n"
        "    (void)self;\n"
        f"    pp_move moves[{capacity}];\n"
        "    const size_t count = rules_moves(&failed, position, moves);\n"
        "    for (size_t i = 0; i < count; i++) {\n"
        "        const pp_position child = rules_apply(&failed, position, moves[i]);\n"
        f"        if (rules_status(&failed, child) == PP_LOST{confirm}) return !failed;\n"
        "    }\n"
        "    return 0;\n"
        "}\n"
    )


MAX_COMPARED = 64
"""With more moves than this, the engine removes duplicate children by sorting, which is faster than comparing."""


def _assemble(
    game: Rules, library: Library, hooks: Mapping[str, _Hook], omitted: Sequence[Untranslatable]
) -> Translation:
    texts = _hook_texts(library, list(hooks.values()))
    body = "\n".join(text.c for text in texts)
    used = [(name, numbers) for name, numbers in library.tables if f"{name}[" in body]
    functions = [_wrapper(name) for name in hooks]
    names = list(hooks)
    if hooks["moves"].capacity <= MAX_COMPARED:
        functions.append(_children(hooks))
        names.append("children")
    if _recognizes_wins(game, hooks):
        functions.append(_wins_now(hooks))
        names.append("wins_now")
    max_moves = hooks["moves"].capacity
    max_parents = hooks["parents"].capacity if "parents" in hooks else 0
    tier_count = MAX_PYTHON_TIERS if "tier" in hooks else 1
    fields = {
        "abi": "PP_ABI",
        "rules_version": f"{game.rules_version % 2**32}u",
        "players": "1" if game.is_puzzle else "2",
        "flags": "PP_TURNS_ALTERNATE" if game.turns_alternate else "0",
        "max_moves": str(max_moves),
        "max_parents": str(max_parents),
        "tier_count": str(tier_count),
        **{name: f"kernel_{name}" for name in names},
    }
    kernel = "".join(f"    .{name} = {value},\n" for name, value in fields.items())
    parts = [
        ctext.PRELUDE,
        _FAULT,
        *(ctext.table_text(name, numbers) for name, numbers in used),
        body,
        *functions,
        f"const pp_kernel pp_compiled_kernel = {{\n{kernel}}};\n",
    ]
    return Translation("\n".join(parts), tuple(texts), max_moves, max_parents, tier_count, tuple(omitted))
