"""Translates calls: builtins, methods of ints and lists, the packing classes, and other Python functions.

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
from perfectplay.compile.expressions import MAX_EXPRESSIONS, Expressions
from perfectplay.compile.loops import assigned_names, count_nodes
from perfectplay.compile.ranges import U64, Range
from perfectplay.compile.sequences import MAX_LIST, choose, describe, is_sequence, wrap
from perfectplay.compile.source import FunctionSource, Untranslatable, plain_function, read_attribute, read_function
from perfectplay.compile.values import (
    TRUE,
    UNSEEN,
    Array,
    Choice,
    Closure,
    Constant,
    Frame,
    Generator,
    Int,
    IntOrNone,
    Tuple,
    Value,
    View,
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
Arguments = tuple[list[Value], dict[str, Value]]
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


class Translator(Expressions):
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
                return self._method(receiver, node.func.attr, node)
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
        return [self._kept(value) for value in positional], {name: self._kept(value) for name, value in named.items()}

    def iterable_or_value(self, node: ast.expr) -> Value:
        return Generator(node, self.frame) if isinstance(node, ast.GeneratorExp) else self.expression(node)

    def _kept(self, value: Value) -> Value:
        return self.builder.keep(value) if isinstance(value, Int) else value

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
                return self._constant_method(receiver, name, _without_names(name, positional, named), (self.path, node))
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

    # ---- methods ----

    def _method(self, value: Value, name: str, node: ast.Call) -> Value:
        positional, named = self.arguments(node)
        if isinstance(value, Int):
            if name in ("bit_count", "bit_length") and not positional and not named:
                return self.builder.bits(name, value)
            raise Untranslatable(f"the method '{name}' of an int")
        if isinstance(value, Tuple) and hasattr(value.kind, "_fields") and name == "_replace":
            fields = value.kind._fields
            if positional or set(named) - set(fields):
                raise Untranslatable("wrong arguments of '_replace'")
            return Tuple(tuple(named.get(f, item) for f, item in zip(fields, value.items, strict=True)), value.kind)
        return self._sequence_method(value, name, _without_names(name, positional, named), (self.path, node))

    def _sequence_method(self, value: Value, name: str, arguments: list[Value], site: Hashable) -> Value:
        if is_sequence(value) and self.view(value).kind is range and self.view(value).length.range.hi > MAX_LIST:
            raise Untranslatable(f"the method '{name}' of a long range")  # Python does not count
        match name, arguments:
            case "index", [item]:
                return self._find_index(value, item, site)
            case "count", [item]:
                return self.total(value, lambda element: self.equal(element, item), site, 8)
            case "copy", []:
                return self.copy(self.view(value), list, site)
            case (("append" | "extend" | "pop" | "reverse" | "sort" | "clear" | "insert" | "remove"), _):
                return self._change(value, name, arguments, site)
        raise Untranslatable(f"the method '{name}' of {describe(value)}")

    def _change(self, value: Value, name: str, arguments: list[Value], site: Hashable) -> Value:
        if isinstance(value, Tuple) and value.kind is list and value.sites:
            self.require_array(value)
            return constant_int(0) if name == "pop" else Constant(None)
        if not isinstance(value, Array) or value.kind is not list:
            raise Untranslatable(f"changing {describe(value)}, which may outlive the call,")
        match name, arguments:
            case "append", [item]:
                self.append(value, item)
            case "extend", [more]:
                self.extend(value, more)
            case "pop", []:
                return self._pop(value)
            case _:
                raise Untranslatable(f"the method '{name}' of a list")
        return Constant(None)

    def _pop(self, array: Array) -> Value:
        builder = self.builder
        self.require_resizable(array)
        if isinstance(array.length, int):
            self._update(array, resized=True)
            return constant_int(0) if array.shape in (UNSEEN, None) else self.load(array, constant_int(0))
        builder.fail_if(builder.compare("eq", Int(array.length), constant_int(0)))
        less = ir.Operation(array.length.range, "sub", (array.length, ir.number(1)))
        builder.emit(ir.Assign(array.length, less))
        return self.load(array, Int(array.length)) if array.capacity else constant_int(0)

    def _find_index(self, value: Value, item: Value, site: Hashable) -> Value:
        """Return the first index of an item. Fails at run time if there is none."""
        view, name = self.view(value), self.temporary()
        self.frame.env[name] = constant_int(-1)
        numbered = View(
            view.length,
            lambda i: Tuple((Int(i.expr), view.element(i))),
            tuple,
            view.uniform and not isinstance(value, Tuple),
        )

        def body(pair: Value) -> None:
            assert isinstance(pair, Tuple)

            def found() -> None:
                self.frame.env[name] = pair.items[0]
                self.break_loop()

            self.branch(self.equal(pair.items[1], item), found, lambda: None, site)

        with self.within(site):
            self.loop(numbered, body, (site, name), 12, [name])
        result = self.frame.env.pop(name)
        self.release()
        assert isinstance(result, Int)
        return self.builder.narrow(result, Range(0, max(result.range.hi, 0)), "index")

    def _constant_method(self, receiver: Any, name: str, arguments: list[Value], site: Hashable) -> Value:
        if isinstance(receiver, dict):
            if name == "get" and len(arguments) in (1, 2) and isinstance(arguments[0], Int):
                default = arguments[1] if len(arguments) == 2 else Constant(None)
                there = self.contains(Constant(tuple(receiver)), arguments[0])
                entry = lambda: self.item(Constant(receiver), arguments[0])  # noqa: E731
                return self.evaluate_either(there, entry, lambda: default, site)
            if name in ("keys", "values", "items") and not arguments:
                return Constant(tuple(getattr(receiver, name)()))
            raise Untranslatable(f"the method '{name}' of a dict")
        return self._sequence_method(Constant(receiver), name, arguments, site)

    # ---- reductions ----

    def total(
        self, value: Value, number: Callable[[Value], Value], site: Hashable, cost: int, start: Int | None = None
    ) -> Int:
        """Return the sum of a number for each element."""
        name = self.temporary()
        self.frame.env[name] = start or constant_int(0)

        def body(element: Value) -> None:
            so_far = self.frame.env[name]
            assert isinstance(so_far, Int)
            self.frame.env[name] = self._kept(self.builder.binary("add", so_far, self.as_integer(number(element))))

        with self.within(site):
            self.loop(value, body, (site, name), cost, [name])
        result = self.frame.env.pop(name)
        self.release()
        return self.as_integer(self.read(result))

    def fold(
        self, value: Value, better: Callable[[Value, Value], Value], site: Hashable, default: Value | None
    ) -> Value:
        """Return the best element of an iterable, which must not be empty without a default."""
        if isinstance(value, Generator) or (isinstance(value, View) and value.calls):
            value = self.gather(value, list, (site, "elements"))
        view = self.view(value)
        items = self.items(value)
        if items is not None:
            if not items:
                if default is None:
                    self.builder.fail()
                return default or constant_int(0)
            best = items[0]
            for item in items[1:]:
                best = self._kept(better(best, item))
            return best
        empty = self.builder.compare("eq", view.length, constant_int(0))
        if default is not None:
            raise Untranslatable("'default' with a list of unknown length")
        self.builder.fail_if(empty)
        name = self.temporary()
        self.frame.env[name] = view.element(constant_int(0))

        def body(element: Value) -> None:
            self.frame.env[name] = self._kept(better(self.read(self.frame.env[name]), element))

        with self.within(site):
            self.loop(view, body, (site, name), 12, [name])
        result = self.frame.env.pop(name)
        self.release()
        return self.read(result)

    def count_view(self, count: Int) -> View:
        return self.range_view(constant_int(0), count, constant_int(1))

    def range_view(self, start: Int, stop: Int, step: Int) -> View:
        builder = self.builder
        if not isinstance(step.expr, ir.Number) or step.expr.value == 0:
            raise Untranslatable("a range with a variable step")
        size = step.expr.value
        difference = builder.binary("sub", stop, start) if size > 0 else builder.binary("sub", start, stop)
        rounded = builder.binary("add", difference, constant_int(abs(size) - 1))
        length = builder.extreme("max", builder.binary("floordiv", rounded, constant_int(abs(size))), constant_int(0))
        length = builder.narrow(builder.keep(length, "length"), U64, "length")
        start, stop = builder.keep(start), builder.keep(stop)

        def element(i: Int) -> Value:
            return builder.binary("add", start, builder.binary("mul", i, step))

        return View(length, element, range, bounds=(start, stop, size))

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


def _without_names(method: str, positional: list[Value], named: dict[str, Value]) -> list[Value]:
    """Return the arguments of a method that takes no keyword arguments."""
    if named:
        raise Untranslatable(f"a keyword argument of the method '{method}'")
    return positional


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
