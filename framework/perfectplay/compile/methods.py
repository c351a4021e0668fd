"""Methods of ints and lists, and loops that compute a sum or an extreme, which several builtins share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from perfectplay.compile import ir
from perfectplay.compile.expressions import Expressions
from perfectplay.compile.ranges import U64, Range
from perfectplay.compile.sequences import MAX_LIST, describe, is_sequence
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import UNSEEN, Array, Constant, Generator, Int, Tuple, Value, View, constant_int

Arguments = tuple[list[Value], dict[str, Value]]


class Methods(Expressions):
    """Methods of values, and reductions of iterables."""

    def method(self, value: Value, name: str, arguments: Arguments, site: Hashable) -> Value:
        positional, named = arguments
        if isinstance(value, Int):
            if name in ("bit_count", "bit_length") and not positional and not named:
                return self.builder.bits(name, value)
            raise Untranslatable(f"the method '{name}' of an int")
        if isinstance(value, Tuple) and hasattr(value.kind, "_fields") and name == "_replace":
            fields = value.kind._fields
            if positional or set(named) - set(fields):
                raise Untranslatable("wrong arguments of '_replace'")
            return Tuple(tuple(named.get(f, item) for f, item in zip(fields, value.items, strict=True)), value.kind)
        return self._sequence_method(value, name, without_names(name, positional, named), site)

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

    def constant_method(self, receiver: Any, name: str, arguments: list[Value], site: Hashable) -> Value:
        if isinstance(receiver, dict):
            if name == "get" and len(arguments) in (1, 2) and isinstance(arguments[0], Int):
                default = arguments[1] if len(arguments) == 2 else Constant(None)
                there = self.contains(Constant(tuple(receiver)), arguments[0])
                return self.evaluate_either(
                    there, lambda: self.item(Constant(receiver), arguments[0]), lambda: default, site
                )
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
            self.frame.env[name] = self.kept(self.builder.binary("add", so_far, self.as_integer(number(element))))

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
                best = self.kept(better(best, item))
            return best
        empty = self.builder.compare("eq", view.length, constant_int(0))
        if default is not None:
            raise Untranslatable("'default' with a list of unknown length")
        self.builder.fail_if(empty)
        name = self.temporary()
        self.frame.env[name] = view.element(constant_int(0))

        def body(element: Value) -> None:
            self.frame.env[name] = self.kept(better(self.read(self.frame.env[name]), element))

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

    def kept(self, value: Value) -> Value:
        return self.builder.keep(value) if isinstance(value, Int) else value


def without_names(method: str, positional: list[Value], named: dict[str, Value]) -> list[Value]:
    """Return the arguments of a method that takes no keyword arguments."""
    if named:
        raise Untranslatable(f"a keyword argument of the method '{method}'")
    return positional
