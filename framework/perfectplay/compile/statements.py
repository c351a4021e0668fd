"""Translates statements and the bodies of functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from perfectplay.compile import ir
from perfectplay.compile.loops import MAX_ROUNDS, Loops, assigned_names, count_nodes
from perfectplay.compile.ranges import Range
from perfectplay.compile.sequences import MAX_LIST, describe, is_sequence
from perfectplay.compile.source import Untranslatable
from perfectplay.compile.values import (
    NONE,
    Array,
    Closure,
    Constant,
    Frame,
    Int,
    IntOrNone,
    Jump,
    LoopTarget,
    Tuple,
    Value,
    constant_int,
    is_none,
)


class Statements(Loops):
    """Statements. Expressions are in a subclass."""

    def execute(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.frame.reachable:
                return
            try:
                self._statement(statement)
            except Untranslatable as error:
                if not error.file:
                    error.file, error.line = self.frame.source.file, statement.lineno
                raise

    def _statement(self, node: ast.stmt) -> None:
        builder, frame = self.builder, self.frame
        match node:
            case ast.Return(value=value):
                self.leave(NONE if value is None else self.expression(value))
            case ast.Assign(targets=targets, value=value):
                result = self.expression(value)
                for target in targets:
                    self.assign(target, result)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, self.expression(value))
            case ast.AugAssign(target=target, op=op, value=value):
                self._augment(node, target, op, value)
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(self.test(test), lambda: self.execute(body), lambda: self.execute(orelse), node)
            case ast.For():
                self._for(node)
            case ast.While():
                self._while(node)
            case ast.Break() | ast.Continue():
                self._jump(frame.loops[-1], leaves=isinstance(node, ast.Break))
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.expression(value)
            case ast.Pass():
                pass
            case ast.Assert(test=test):
                if __debug__:  # not with -O
                    builder.fail_if(builder.negate(self.test(test)))
            case ast.Raise():
                builder.fail()
                frame.reachable = False
            case ast.FunctionDef(name=name):
                check_defaults(node)
                frame.env[name] = Closure(node, frame)
            case _:
                raise Untranslatable(_STATEMENTS.get(type(node), f"the statement '{type(node).__name__.lower()}'"))

    def _augment(self, node: ast.AugAssign, target: ast.expr, op: ast.operator, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            old = self.expression(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            new = self.expression(value)
            if isinstance(op, ast.Add) and isinstance(old, Array | Tuple) and old.kind is list:
                self.extend(old, new)
            elif is_sequence(old) and not issubclass(self.view(old).kind, tuple):  # Python changes the list itself
                raise Untranslatable(f"this augmented assignment to {describe(old)}")
            else:
                self.assign(target, self.operate(op, old, new, (self.path, node)))
        elif isinstance(target, ast.Subscript):
            base, index = self.expression(target.value), self.expression(target.slice)
            if not isinstance(index, Int):
                raise Untranslatable("changing a slice")
            place = self.index(index, self.view(base).length)
            place = self.builder.keep(place, "index")
            old = self.view(base).element(place)
            new = self.operate(op, old, self.expression(value), (self.path, node))
            if any(isinstance(each, ast.Call) for each in ast.walk(value)):  # it may have changed the length
                place = self.index(index, self.view(base).length)
            self.store_item(base, place, new)
        else:
            raise Untranslatable("changing an attribute")

    def store_item(self, base: Value, index: Int, value: Value) -> None:
        """Assign an element of a list. The index is in range."""
        if isinstance(base, Tuple) and base.kind is list and base.sites:
            self.require_array(base)
        elif isinstance(base, Array) and base.kind is list:
            self.store(base, index, value)
        elif isinstance(base, Constant):
            raise Untranslatable("changing an object that outlives the call")
        else:
            raise Untranslatable(f"changing {describe(base)}")

    def _for(self, node: ast.For) -> None:
        value = self.iterable(node.iter)
        names = assigned_names([node.target, *node.body])

        def body(element: Value) -> None:
            self.assign(node.target, element)
            self.execute(node.body)

        cost = count_nodes(node.body)
        self.loop(value, body, (self.path, node), cost, names, lambda: self.execute(node.orelse))

    def _while(self, node: ast.While) -> None:
        builder, frame = self.builder, self.frame
        key = (self.path, node)
        target = LoopTarget(builder.label("leave"), "")
        normal: list[Jump] = []
        frame.loops.append(target)
        context, first_jump = builder.context, len(builder.jumps)
        done = builder.label("done")

        def body() -> None:
            condition = self.test(node.test)
            if isinstance(condition.expr, ir.Number) and condition.expr.value:
                self.execute(node.body)
                return
            block, copies = ir.Block(), ir.Block()
            with builder.inside(block):
                builder.emit(ir.Nested(copies))
                builder.goto(done)
            builder.emit(ir.If(builder.negate(condition).expr, block, ir.Block()))
            normal.append(Jump(dict(frame.env), copies))
            self.execute(node.body)

        counter = builder.variable("rounds", Range(0, MAX_ROUNDS))
        builder.can_fail = True
        self._repeat(
            lambda block: ir.Loop(block, counter, MAX_ROUNDS),
            body,
            key,
            assigned_names([node.test, *node.body]),
            target,
            MAX_LIST,
        )
        frame.loops.pop()
        frame.reachable = bool(normal)
        if normal:
            frame.env = self.join(normal, (key, "done"))
            builder.emit(ir.Label(done))
            self.execute(node.orelse)
        self._end_loop(target, key, context, first_jump)
        if first_jump < len(builder.jumps):
            self.restore_context(context, first_jump, {done, target.break_label, target.continue_label})

    # ---- functions ----

    def leave(self, value: Value) -> None:
        """Return from the present function."""
        if _returns_closure(value, self.frame):
            raise Untranslatable("an inner function as a result")
        block = ir.Block()
        if isinstance(value, Int):
            value = self.builder.keep(value, "result")
        self.builder.emit(ir.Nested(block))
        self.builder.goto(self.frame.end_label)
        self.frame.returns.append(Jump({"result": value}, block))
        self.frame.reachable = False

    def run_body(self, frame: Frame, body: Sequence[ast.stmt] | ast.expr) -> Value:
        """Translate the body of a function and return its result."""
        builder = self.builder
        frame.end_label = builder.label("end")
        self.frames.append(frame)
        context, first_jump = builder.context, len(builder.jumps)
        try:
            if isinstance(body, ast.expr):
                return self.expression(body)
            self.execute(body)
            if frame.reachable and not frame.returns:
                return NONE
            results = [jump.env["result"] for jump in frame.returns]
            if frame.reachable and all(isinstance(each, Int | IntOrNone) or is_none(each) for each in results):
                self.leave(NONE)
            elif frame.reachable:
                builder.fail()  # Python would return None here
                builder.may_lack_result = True
            if not frame.returns:
                return constant_int(0)  # it always raises
            result = self.join(frame.returns, (self.path, "result"))["result"]
            builder.emit(ir.Label(frame.end_label))
            self.restore_context(context, first_jump, {frame.end_label})
            return self.read(result)
        finally:
            self.frames.pop()


def check_defaults(node: ast.FunctionDef | ast.Lambda) -> None:
    """Raise Untranslatable if the definition of an inner function computes something."""
    defaults = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None]
    if not all(isinstance(default, ast.Constant) for default in defaults):
        raise Untranslatable("default arguments of an inner function")
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        raise Untranslatable("a decorator of an inner function")


def _returns_closure(value: Value, frame: Frame) -> bool:
    """Whether a value has a function that is defined in this frame. Its variables may change on other paths."""
    if isinstance(value, Tuple):
        return any(_returns_closure(item, frame) for item in value.items)
    return isinstance(value, Closure) and value.frame is frame


_STATEMENTS: dict[type, str] = {
    ast.Global: "a global variable",
    ast.Nonlocal: "a nonlocal variable",
    ast.Try: "'try'",
    ast.With: "'with'",
    ast.Delete: "'del'",
    ast.Match: "'match'",
    ast.Import: "an import inside a function",
    ast.ImportFrom: "an import inside a function",
    ast.ClassDef: "a class inside a function",
}
