"""Translates calls: builtins, the packing classes, and other Python functions.

A short function is inlined, and so is one that takes or returns a list or a tuple. A longer function from ints to an
int becomes a separate C function, one for each combination of argument ranges.
"""

from __future__ import annotations

import ast
import enum
import inspect
from collections.abc import Callable, Hashable, Mapping
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType
from typing import Any, TypeVar

from perfectplay.compile import ir
from perfectplay.compile.builder import Builder, Facts, Tables, identifier
from perfectplay.compile.expressions import MAX_EXPRESSIONS
from perfectplay.compile.loops import assigned_names, count_nodes
from perfectplay.compile.methods import Arguments, Methods, without_names
from perfectplay.compile.ranges import Range
from perfectplay.compile.sequences import choose, describe, wrap
from perfectplay.compile.source import FunctionSource, Untranslatable, plain_function, read_attribute, read_function
from perfectplay.compile.values import (
    TRUE,
    Choice,
    Closure,
    Constant,
    Frame,
    Generator,
    Int,
    IntOrNone,
    Tuple,
    Value,
    constant_int,
    is_object,
    is_plain,
)

INLINE_COST = 60
"""The largest size of an inlined function, in syntax nodes."""

MAX_VERSIONS = 6
"""The largest number of specialised versions of a function; further calls share a general version."""

MAX_ROUNDS = 40
"""How often a function is built again with better facts."""

MAX_DEPTH = 40
MAX_STATEMENTS = 40_000
"""The size of one C function, in statements."""

T = TypeVar("T")
Builtin = Callable[["Translator", list[Value], dict[str, Value], Hashable], Value]


class Library:
    """The C functions of a translation, with their shared tables."""

    def __init__(self, builtins: Mapping[Any, Builtin]) -> None:
        self.builtins = builtins
        self.tables = Tables()
        self.inlined: set[FunctionType] = set()
        self.versions: dict[FunctionType, dict[Hashable, tuple[ir.Function, type]]] = {}
        self.names: dict[str, int] = {}
        self.keep_alive: list[object] = []

    def unique(self, name: str) -> str:
        self.names[name] = self.names.get(name, 0) + 1
        return f"{name}_{self.names[name]}"


class Translator(Methods):
    """Translates the body of one C function."""

    def __init__(self, library: Library, facts: Facts, active: tuple[FunctionType, ...] = ()) -> None:
        super().__init__(Builder(library.tables, facts))
        self.library = library
        self.active = active

    # ---- attributes ----

    def attribute(self, value: Value, name: str) -> Value:
        if isinstance(value, Constant):
            return wrap(read_attribute(value.object, name))
        if isinstance(value, Tuple):
            fields = getattr(value.kind, "_fields", ())
            if name in fields:
                return value.items[fields.index(name)]
        if isinstance(value, Choice):
            return choose(self.builder, [read_attribute(each, name) for each in value.objects], value.index)
        raise Untranslatable(f"the attribute '{name}' of {describe(value)}")

    # ---- calls ----

    def call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            receiver = self.expression(node.func.value)
            if not isinstance(receiver, Constant):
                return self.method(receiver, node.func.attr, self.arguments(node), (self.path, node))
            function: Value = self.attribute(receiver, node.func.attr)
        else:
            function = self.expression(node.func)
        if isinstance(function, Closure):
            return self._call_closure(function, self.arguments(node), node)
        if not isinstance(function, Constant):
            raise Untranslatable(f"calling {describe(function)}")
        return self.call_object(function.object, self.arguments(node), node)

    def arguments(self, node: ast.Call) -> Arguments:
        positional: list[Value] = []
        if any(isinstance(each, ast.GeneratorExp) for each in node.args) and len(node.args) + len(node.keywords) > 1:
            others = [each for each in (*node.args, *node.keywords) if not isinstance(each, ast.GeneratorExp)]
            if any(isinstance(each, ast.Call | ast.NamedExpr) for other in others for each in ast.walk(other)):
                raise Untranslatable("a generator beside an argument with a call")  # Python evaluates that first
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                items = self.items(self.expression(argument.value))
                if items is None:
                    raise Untranslatable("'*' with a list of unknown length")
                positional += items
            else:
                positional.append(self.iterable_or_value(argument))
        named: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Untranslatable("'**' in a call")
            named[keyword.arg] = self.expression(keyword.value)
        return [self.kept(value) for value in positional], {name: self.kept(value) for name, value in named.items()}

    def iterable_or_value(self, node: ast.expr) -> Value:
        return Generator(node, self.frame) if isinstance(node, ast.GeneratorExp) else self.expression(node)

    def call_object(self, function: Any, arguments: Arguments, node: ast.AST) -> Value:
        """Call a live function, class or builtin."""
        positional, named = arguments
        try:
            builtin = self.library.builtins.get(function)
        except TypeError:
            builtin = None
        if builtin is not None:
            return builtin(self, positional, named, (self.path, node))
        if isinstance(function, MethodType):
            if _is_fields(function.__self__):
                return self._fields(function.__self__, function.__name__, positional, named, (self.path, node))
            return self.call_function(function.__func__, ([Constant(function.__self__), *positional], named), node)
        if isinstance(function, type):
            return self._construct(function, positional, named, node)
        if isinstance(function, BuiltinMethodType | BuiltinFunctionType):
            receiver = getattr(function, "__self__", None)
            if is_object(receiver, list, tuple, range, dict):
                name = function.__name__
                return self.constant_method(receiver, name, without_names(name, positional, named), (self.path, node))
            raise Untranslatable(f"the function {function.__name__}")
        return self.call_function(function, arguments, node)

    def _construct(self, kind: type, positional: list[Value], named: dict[str, Value], node: ast.AST) -> Value:
        fields = getattr(kind, "_fields", None)
        if issubclass(kind, tuple) and fields is not None:
            names = dict(zip(fields, positional, strict=False)) | named
            creator = next(each for each in kind.__mro__ if "__new__" in vars(each))
            if not is_plain(kind, tuple) or "_fields" not in vars(creator):
                raise Untranslatable(f"the class {kind.__name__}, which changes methods of a named tuple,")
            defaults = {name: wrap(value) for name, value in getattr(kind, "_field_defaults", {}).items()}
            values = {**defaults, **names}
            if set(values) != set(fields) or len(names) != len(positional) + len(named):
                raise Untranslatable("wrong arguments of a named tuple")
            return Tuple(tuple(self.require_reusable(values[name]) for name in fields), kind)
        if (
            issubclass(kind, enum.IntEnum)
            and is_plain(kind, int)
            and len(positional) == 1
            and not named
            and isinstance(positional[0], Int)
        ):
            numbers = tuple(int(member) for member in kind)
            number = self.builder.keep(positional[0])
            self.builder.fail_if(self.builder.negate(self.contains(Constant(numbers), number)))
            return Int(self.builder.narrow(number, Range(min(numbers), max(numbers))).expr, kind)
        raise Untranslatable(f"an object of type {kind.__name__}")

    # ---- Python functions ----

    def call_function(self, function: Any, arguments: Arguments, node: ast.AST) -> Value:
        """Call a Python function, inlined or as a C function."""
        plain = plain_function(function)
        source = read_function(plain)
        if plain in self.active or len(self.frames) > MAX_DEPTH:
            raise Untranslatable(f"recursion in {plain.__name__}")
        bound = self._bind(plain, arguments)
        result: Value | None = None
        if self._separate(source, bound):
            result = self._call_separately(source, bound)
        result = self.inline(source, bound, node) if result is None else result
        return result if function is plain else self.protect(result)

    def _bind(self, function: FunctionType, arguments: Arguments) -> dict[str, Value]:
        positional, named = arguments
        signature = inspect.signature(function, follow_wrapped=False)
        for parameter in signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise Untranslatable(f"'*{parameter.name}' in the function {function.__name__}")
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise Untranslatable(f"a call with wrong arguments ({error})") from None
        values = {name: self.require_reusable(value) for name, value in bound.arguments.items()}
        for name, parameter in signature.parameters.items():
            if name not in values:
                values[name] = wrap(parameter.default)
        return values

    def _separate(self, source: FunctionSource, bound: dict[str, Value]) -> bool:
        if source.function in self.library.inlined or source.function.__closure__:
            return False
        kinds = [value for value in bound.values() if not isinstance(value, Constant)]
        if not kinds or not all(isinstance(value, Int) for value in kinds):
            return False
        if all(isinstance(value.expr, ir.Number) for value in kinds if isinstance(value, Int)):
            return False
        body = source.node.body if isinstance(source.node, ast.FunctionDef) else [source.node.body]
        return count_nodes(body) > INLINE_COST

    def _call_separately(self, source: FunctionSource, bound: dict[str, Value]) -> Int | None:
        library, function = self.library, source.function
        versions = library.versions.setdefault(function, {})
        constants = {name: value for name, value in bound.items() if isinstance(value, Constant)}
        ints = {name: value for name, value in bound.items() if isinstance(value, Int)}

        def key(numbers: dict[str, Int]) -> Hashable:
            objects = tuple((name, id(value.object)) for name, value in constants.items())
            return objects, tuple((name, value.range, value.kind) for name, value in numbers.items())

        if key(ints) not in versions and len(versions) >= MAX_VERSIONS:
            ints = {name: Int(value.expr, value.kind) for name, value in ints.items()}
            general = {name: _general(value.range) for name, value in ints.items()}
        else:
            general = {name: value.range for name, value in ints.items()}
        parameters = {
            name: Int(ir.Variable(general[name], f"{identifier(name)}_{i}x"), value.kind)
            for i, (name, value) in enumerate(ints.items())
        }
        if any(limits.lo == limits.hi for limits in general.values()):
            parameters = {
                name: Int(ir.number(value.range.lo), value.kind) if value.range.lo == value.range.hi else value
                for name, value in parameters.items()
            }
        version = key(parameters)
        if version not in versions:
            library.keep_alive += [value.object for value in constants.values()]
            built = build_function(library, source, {**bound, **parameters}, (*self.active, *self._running()))
            if built is None:
                library.inlined.add(function)
                return None
            versions[version] = built
        c_function, kind = versions[version]
        self.builder.callees.append(c_function)
        self.builder.can_fail |= c_function.can_fail
        self.builder.may_lack_result |= c_function.may_lack_result
        target = self.builder.variable(function.__name__, c_function.result)
        names = [name for name, value in parameters.items() if isinstance(value.expr, ir.Variable)]
        values = tuple(bound[name].expr for name in names)  # type: ignore[union-attr]
        limits = tuple(general[name] for name in names)
        self.builder.emit(ir.Call(target, c_function.name, values, limits, c_function.can_fail))
        return Int(target, kind)

    def _running(self) -> tuple[FunctionType, ...]:
        return tuple(frame.source.function for frame in self.frames)

    def inline(self, source: FunctionSource, bound: dict[str, Value], node: ast.AST) -> Value:
        """Translate the body of a function in place of a call."""
        if source.function in self._running():
            raise Untranslatable(f"recursion in {source.function.__name__}")
        _check_function(source)
        frame = Frame(source, _local_names(source.node), dict(bound))
        return self._run(frame, source.node, node)

    def _call_closure(self, function: Closure, arguments: Arguments, node: ast.AST) -> Value:
        _check_closure(function.node)
        names = [argument.arg for argument in function.node.args.args]
        positional, named = arguments
        values = dict(zip(names, positional, strict=False)) | named
        if set(values) != set(names) or len(values) != len(positional) + len(named):
            raise Untranslatable("default arguments of an inner function")
        for value in values.values():
            self.require_reusable(value)
        if len(self.frames) > MAX_DEPTH:
            raise Untranslatable("recursion in an inner function")
        frame = Frame(function.frame.source, _local_names(function.node), dict(values), function.frame)
        return self._run(frame, function.node, node)

    def _run(self, frame: Frame, function: ast.FunctionDef | ast.Lambda, node: ast.AST) -> Value:
        if len(self.builder.block.statements) > MAX_STATEMENTS:
            raise Untranslatable("a function of this size")
        scopes, self.scopes = self.scopes, {}
        try:
            with self.within(node):
                return self.run_body(frame, function.body)
        finally:
            self.scopes = scopes

    # ---- Fields ----

    def _fields(
        self, fields: Any, name: str, positional: list[Value], named: dict[str, Value], site: Hashable
    ) -> Value:
        """Translate `Fields.pack`, `unpack` and `fits` by their documented layout."""
        builder = self.builder
        if name == "pack" and not positional and set(named) == set(fields.layout):
            position: Int = constant_int(0)
            for field, (shifts, values, many) in fields.layout.items():
                numbers = self.items(named[field]) if many else [named[field]]
                if numbers is None:
                    view = self.view(named[field])
                    builder.fail_if(builder.compare("ne", view.length, constant_int(len(shifts))))
                    numbers = [view.element(constant_int(i)) for i in range(len(shifts))]
                if len(numbers) != len(shifts):
                    builder.fail()
                    continue
                for number, shift in zip(numbers, shifts, strict=True):
                    part = builder.narrow(self.as_integer(number), Range(0, values - 1), field)
                    placed = builder.binary("shl", part, constant_int(shift))
                    position = builder.binary("or", position, placed)
            return builder.keep(position, "packed")
        if name in ("unpack", "fits") and len(positional) == 1 and not named:
            number = self.as_integer(positional[0])
            parts: list[Value] = []
            fitting = TRUE
            for field, (shifts, values, many) in fields.layout.items():
                mask = constant_int((1 << (values - 1).bit_length()) - 1)
                digits = []
                for shift in shifts:
                    shifted = builder.binary("shr", number, constant_int(shift))
                    digits.append(builder.keep(builder.binary("and", shifted, mask), field))
                    fitting = builder.both(fitting, builder.compare("lt", digits[-1], constant_int(values)))
                parts.append(Tuple(tuple(digits), tuple, frozenset([(site, field)])) if many else digits[0])
                if many and (site, field) in builder.facts.known:
                    parts[-1] = self.collect(digits, tuple, (site, field))
            if name == "unpack":
                return Tuple(tuple(parts), fields.record)
            beyond = builder.binary("shr", number, constant_int(fields.bits))
            return builder.both(builder.compare("eq", beyond, constant_int(0)), fitting)
        raise Untranslatable(f"Fields.{name} with these arguments")


def settle(facts: Facts, attempt: Callable[[], T]) -> T:
    """Build a function again until no fact changes, and return the last result."""
    for _ in range(MAX_ROUNDS):
        facts.changed = False
        try:
            result = attempt()
        except Untranslatable:
            if not facts.changed or facts.expressions > MAX_EXPRESSIONS:
                raise
            continue  # it may be due to a fact that was missing
        if not facts.changed:
            return result
    raise Untranslatable("a variable whose type does not settle")


def build_function(
    library: Library, source: FunctionSource, bound: dict[str, Value], active: tuple[FunctionType, ...]
) -> tuple[ir.Function, type] | None:
    """Translate a function from ints to an int. Returns None if it returns something else.

    A function that no other translated function calls fails at run time if it returns None.
    """
    facts = Facts()

    def attempt() -> tuple[Translator, Value]:
        translator = Translator(library, facts, active)
        result = translator.inline(source, bound, source.node)
        if isinstance(result, IntOrNone) and not active:
            result = translator.as_integer(result)
        return translator, result

    translator, result = settle(facts, attempt)
    return _finish(library, source, bound, translator, result) if isinstance(result, Int) else None


def _finish(
    library: Library, source: FunctionSource, bound: dict[str, Value], translator: Translator, result: Int
) -> tuple[ir.Function, type]:
    builder = translator.builder
    builder.require_wide(result)
    parameters = tuple(v.expr for v in bound.values() if isinstance(v, Int) and isinstance(v.expr, ir.Variable))
    name = library.unique(identifier(source.function.__name__))
    function = ir.Function(
        name=f"{name}_fn",
        parameters=parameters,
        body=builder.block,
        result=result.range,
        value=result.expr,
        variables=builder.variables,
        arrays=builder.arrays,
        can_fail=builder.can_fail,
        may_lack_result=builder.may_lack_result,
        callees=builder.callees,
    )
    return function, result.kind


def _general(limits: Range) -> Range:
    """Return one of a few ranges that include this one, so that many calls share a version of a function."""
    choices = [Range(0, 1), Range(0, 255), Range(0, 2**32 - 1), Range(-(2**63), 2**63 - 1), Range(0, 2**64 - 1)]
    return next((choice for choice in choices if limits in choice), Range(-(2**127), 2**127 - 1))


def _is_fields(value: object) -> bool:
    """Whether this is a `Fields` of perfectplay.authoring, a higher layer that must not be imported here."""
    kind = type(value)
    return (kind.__module__, kind.__qualname__) == ("perfectplay.authoring", "Fields")


def _check_function(source: FunctionSource) -> None:
    if source.function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise Untranslatable(f"the generator {source.function.__name__}", source.file, source.line)


def _check_closure(node: ast.FunctionDef | ast.Lambda) -> None:
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise Untranslatable("these parameters of an inner function")
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
        raise Untranslatable("'yield'")


def _local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    return frozenset([*arguments, *assigned_names(body)])
