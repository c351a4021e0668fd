"""Writes the intermediate form as C11 with the GNU extensions of gcc and clang (`__int128`, overflow builtins).

A value has the first of the types int64_t, uint64_t and pp_wide (128 bits) that holds its whole range. Operators are
applied in a type that holds the result. If an operand does not fit that type, both are taken modulo 2**64, which is
exact because the result is known to fit. So there is no signed overflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perfectplay.compile import ir
from perfectplay.compile.ranges import I64, U64, WIDE, Range

PRELUDE = """\
/* A third of the time of gcc, and the rules are not faster with it. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-thread-jumps")
#endif
#include "perfectplay.h"

typedef __int128 pp_wide;
typedef unsigned __int128 pp_uwide;

#define PP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Floor division and modulo of Python. */
static inline int64_t pp_div_int64_t(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static inline int64_t pp_mod_int64_t(int64_t a, int64_t b) {
    const int64_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline pp_wide pp_div_pp_wide(pp_wide a, pp_wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static inline pp_wide pp_mod_pp_wide(pp_wide a, pp_wide b) {
    const pp_wide rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Shifts by any number of places. */
static inline int64_t pp_shr_int64_t(int64_t a, uint64_t n) { return a >> (n > 63 ? 63 : n); }
static inline uint64_t pp_shr_uint64_t(uint64_t a, uint64_t n) { return n > 63 ? 0 : a >> n; }
static inline pp_wide pp_shr_pp_wide(pp_wide a, uint64_t n) { return a >> (n > 127 ? 127 : n); }

static inline int64_t pp_bit_length(uint64_t a) { return a ? 64 - __builtin_clzll(a) : 0; }
static inline int64_t pp_wide_bit_length(pp_uwide a) {
    return a >> 64 ? 64 + pp_bit_length((uint64_t)(a >> 64)) : pp_bit_length((uint64_t)a);
}
static inline int64_t pp_wide_bit_count(pp_uwide a) {
    return __builtin_popcountll((uint64_t)a) + __builtin_popcountll((uint64_t)(a >> 64));
}

#define PP_MIN_MAX(type) \\
    static inline type pp_min_##type(type a, type b) { return b < a ? b : a; } \\
    static inline type pp_max_##type(type a, type b) { return b > a ? b : a; }
PP_MIN_MAX(int64_t)
PP_MIN_MAX(uint64_t)
PP_MIN_MAX(pp_wide)
"""

_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TRUTHS = {*_COMPARISONS, "both", "either", "not"}
_UNSIGNED = {"int64_t": "uint64_t", "uint64_t": "uint64_t", "pp_wide": "pp_uwide"}
_LIMITS = {"int64_t": I64, "uint64_t": U64, "pp_wide": WIDE}


def type_of(*ranges: Range) -> str:
    """Return the first C type that holds all these ranges."""
    return next(name for name, limits in _LIMITS.items() if all(each in limits for each in ranges))


_ELEMENT_TYPES = (
    ("uint8_t", Range(0, 2**8 - 1)),
    ("int8_t", Range(-(2**7), 2**7 - 1)),
    ("uint16_t", Range(0, 2**16 - 1)),
    ("int16_t", Range(-(2**15), 2**15 - 1)),
    ("uint32_t", Range(0, 2**32 - 1)),
    ("int32_t", Range(-(2**31), 2**31 - 1)),
)


def element_type(element: Range) -> str:
    """Return the smallest C type for elements of a table or array."""
    return next((name for name, limits in _ELEMENT_TYPES if element in limits), None) or type_of(element)


def literal(value: int, type_name: str) -> str:
    """Return a number as a C constant, modulo 2**64 if the type is uint64_t."""
    if type_name == "uint64_t":
        value %= 2**64
        return str(value) if value < 2**31 else f"UINT64_C({value:#x})"
    if -(2**31) < value < 2**31:
        return str(value)
    if Range(value, value) in I64 and value != I64.lo:
        return f"INT64_C({value})"
    high, low = value >> 64 & 2**64 - 1, value & 2**64 - 1
    if type_name == "int64_t":
        return "INT64_MIN"
    return f"(pp_wide)((pp_uwide)UINT64_C({high:#x}) << 64 | UINT64_C({low:#x}))"


def expression(expr: ir.Expr, type_name: str | None = None) -> str:
    """Return an expression as C, in parentheses where needed, converted to a type that holds its low 64 bits."""
    own = type_of(expr.range) if not isinstance(expr, ir.Number) else (type_name or type_of(expr.range))
    match expr:
        case ir.Number(_, value):
            return literal(value, own)
        case ir.Variable(_, name):
            text = name
        case ir.Lookup(_, table, index):
            text = f"{table}[{expression(index)}]"
            own = ""  # tables have their own element types
        case ir.Operation(_, op, _):
            text = _operation(expr, own)
            if op in _TRUTHS:
                own = ""  # an int in C
        case _:
            raise AssertionError(expr)
    return text if type_name in (None, own) else f"({type_name}){text}"


def _operation(expr: ir.Operation, own: str) -> str:
    op, operands = expr.op, expr.operands
    ranges = [operand.range for operand in operands]
    if op in _SYMBOLS:
        return _arithmetic(_SYMBOLS[op], operands, own)
    if op in _COMPARISONS:
        common = type_of(*ranges)
        return f"({expression(operands[0], common)} {_COMPARISONS[op]} {expression(operands[1], common)})"
    match op:
        case "neg":
            return _arithmetic("-", (ir.number(0), operands[0]), own)
        case "invert":
            unsigned = _UNSIGNED[own]
            return f"({own})~({unsigned}){expression(operands[0])}"
        case "shl":
            unsigned = _UNSIGNED[own]
            return f"({own})(({unsigned}){expression(operands[0])} << {expression(operands[1])})"
        case "shr":
            wide = type_of(ranges[0])
            bits = 128 if wide == "pp_wide" else 64
            cast = f"({wide})" if isinstance(operands[0], ir.Number) else ""
            a, n = cast + expression(operands[0], wide), expression(operands[1])
            shifted = f"({a} >> {n})" if ranges[1].hi < bits else f"pp_shr_{wide}({a}, (uint64_t){n})"
            return shifted if wide == own else f"({own}){shifted}"
        case "floordiv" | "mod":
            common = type_of(*ranges, expr.range)
            a, b = expression(operands[0], common), expression(operands[1], common)
            if ranges[0].lo >= 0 and ranges[1].lo >= 0:  # zero was excluded
                text = f"({a} {'/' if op == 'floordiv' else '%'} {b})"
            else:
                text = f"pp_{'div' if op == 'floordiv' else 'mod'}_{common}({a}, {b})"
            return text if common == own else f"({own}){text}"
        case "min" | "max":
            common = type_of(*ranges)
            text = f"pp_{op}_{common}({expression(operands[0], common)}, {expression(operands[1], common)})"
            return text if common == own else f"({own}){text}"
        case "bit_count" | "bit_length":
            is_wide = type_of(ranges[0]) == "pp_wide"
            plain = "__builtin_popcountll" if op == "bit_count" else "pp_bit_length"
            argument = expression(operands[0], "pp_wide" if is_wide else "uint64_t")
            return f"(int64_t){f'pp_wide_{op}' if is_wide else plain}({argument})"
        case "select":
            condition, one, other = operands
            cast = f"({own})" if isinstance(one, ir.Number) and isinstance(other, ir.Number) else ""
            return f"{cast}({expression(condition)} ? {expression(one, own)} : {expression(other, own)})"
        case "both" | "either":
            return f"({expression(operands[0])} {'&&' if op == 'both' else '||'} {expression(operands[1])})"
        case "not":
            return f"!{expression(operands[0])}"
    raise AssertionError(op)


def _arithmetic(symbol: str, operands: Sequence[ir.Expr], own: str) -> str:
    if all(operand.range in _LIMITS[own] for operand in operands):
        return f"({expression(operands[0], own)} {symbol} {expression(operands[1], own)})"
    a, b = (
        f"(uint64_t){expression(o)}" if not isinstance(o, ir.Number) else expression(o, "uint64_t") for o in operands
    )
    return f"({own})({a} {symbol} {b})"


def _statement(statement: ir.Statement, fail: str) -> Iterator[str]:
    match statement:
        case ir.Assign(target, value):
            yield f"{target.name} = {expression(value, type_of(target.range))};"
        case ir.CheckedAssign(target, op, a, b):
            values = f"{expression(a, 'pp_wide')}, {expression(b, 'pp_wide')}, &{target.name}"
            yield f"if (PP_UNLIKELY(__builtin_{op}_overflow({values}))) {fail}"
        case ir.Fail(condition):
            constant = isinstance(condition, ir.Number)
            yield fail if constant else f"if (PP_UNLIKELY({expression(condition)})) {fail}"
        case ir.Call(target, function, arguments, parameters, can_fail):
            texts = [expression(a, type_of(r)) for a, r in zip(arguments, parameters, strict=True)]
            yield f"{target.name} = {function}({', '.join(['failed', *texts])});"
            if can_fail:
                yield f"if (PP_UNLIKELY(*failed)) {fail}"
        case ir.Load(target, array, index):
            yield f"{target.name} = {array}[{expression(index)}];"
        case ir.Store(array, index, value, element):
            yield f"{array}[{expression(index)}] = ({element_type(element)}){expression(value)};"
        case ir.If(condition, then, otherwise):
            yield f"if ({expression(condition)}) {{"
            yield from _indented(then, fail)
            if otherwise.statements:
                yield "} else {"
                yield from _indented(otherwise, fail)
            yield "}"
        case ir.For(variable, length, body):
            name = variable.name
            yield f"for ({name} = 0; {name} < {expression(length)}; {name}++) {{"
            yield from _indented(body, fail)
            yield "}"
        case ir.Loop(body, counter, limit):
            yield f"for ({counter.name} = 0;; {counter.name}++) {{"
            yield f"    if (PP_UNLIKELY({counter.name} == {limit})) {fail}"
            yield from _indented(body, fail)
            yield "}"
        case ir.Goto(label):
            yield f"goto {label};"
        case ir.Label(name):
            yield f"{name}:;"
        case ir.Nested(block):
            for each in block.statements:
                yield from _statement(each, fail)


def _indented(block: ir.Block, fail: str) -> Iterator[str]:
    for statement in block.statements:
        for line in _statement(statement, fail):
            yield "    " + line


def signature(function: ir.Function) -> str:
    parameters = ["uint32_t *failed", *(f"{type_of(p.range)} {p.name}" for p in function.parameters)]
    return f"static inline {type_of(function.result)} {function.name}({', '.join(parameters)})"


def declarations(variables: dict[str, Range], arrays: dict[str, tuple[Range, int]]) -> Iterator[str]:
    """Yield the declarations of local variables, grouped by type."""
    names: dict[str, list[str]] = {}
    for name, limits in variables.items():
        names.setdefault(type_of(limits), []).append(name)
    for type_name, group in names.items():
        yield f"    {type_name} {', '.join(group)};"
    for name, (element, capacity) in arrays.items():
        yield f"    {element_type(element)} {name}[{max(capacity, 1)}];"


def function_text(function: ir.Function) -> str:
    """Return the definition of a function."""
    fail = "return *failed = 1, 0;"
    lines = [f"{signature(function)} {{", *declarations(function.variables, function.arrays)]
    lines += _indented(function.body, fail)
    lines.append("    (void)failed;")
    lines.append(f"    return {expression(function.value, type_of(function.result))};")
    return "\n".join([*lines, "}"]) + "\n"


def body_lines(block: ir.Block, fail: str) -> list[str]:
    """Return the statements of a block, for a function whose head and end the caller writes."""
    return list(_indented(block, fail))


def table_text(name: str, numbers: Sequence[int]) -> str:
    """Return a constant table."""
    element = Range(min(numbers), max(numbers))
    type_name = element_type(element)
    values = [literal(number, "uint64_t" if type_name == "uint64_t" else "int64_t") for number in numbers]
    lines = [", ".join(values[i : i + 16]) for i in range(0, len(values), 16)]
    body = ",\n    ".join(lines)
    return f"static const {type_name} {name}[{len(numbers)}] = {{\n    {body}}};\n"
