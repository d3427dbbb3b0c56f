"""A small compiler for functions of 64-bit words, written in Python: numbers and addresses, loops, calls of each other.

What runs programs, and what arranges matrix products around their tiles, needs nothing else. LLVM makes machine code of a module in the
time that Numba takes to begin. A name in a function is a local variable, another function of words, a :class:`Primitive`, or a whole
number of the module. There are assignments, ``if``, ``while``, ``for ... in range(...)`` with a step above 0, ``return``, ``continue``,
arithmetic with ``+ - * // % & |``, comparisons, ``and or not``, ``a if b else c``, ``min`` and ``max``.
"""
from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from ..compiler.sources import missing_source

WORD = ir.IntType(64)
BIT = ir.IntType(1)
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and_", ast.BitOr: "or_"}


class Primitive:
    """A function that is compiled inline: ``emit(builder, *words)`` gives a word, a truth value, or None."""

    def __init__(self, emit: Callable[..., Any]) -> None:
        self.emit = emit


class Module:
    """LLVM code of functions of words.

    Parameters
    ----------
    name
    constants : numbers and primitives besides those of the Python module of a function, by name
    prefix, suffix : of the symbols of functions
    """

    def __init__(self, name: str, constants: Mapping[str, Any] | None = None, suffix: str = "") -> None:
        self.llvm = ir.Module(name)
        self.constants, self.suffix = dict(constants or {}), suffix
        self._made: dict[Any, ir.Function] = {}

    def function(self, function: Callable[..., Any], public: bool = False) -> ir.Function:
        """The LLVM function of a Python function."""
        if function not in self._made:
            count = function.__code__.co_argcount
            symbol = f"dl4py_{function.__name__.lstrip('_')}{self.suffix}"
            made = self._made[function] = ir.Function(self.llvm, ir.FunctionType(WORD, [WORD] * count), symbol)
            made.linkage = "internal"
            _FunctionWriter(made, {**function.__globals__, **self.constants}, self).write(_definition(function))
        if public:
            self._made[function].linkage = "external"
        return self._made[function]


def _definition(function: Callable[..., Any]) -> ast.FunctionDef:
    try:
        text = inspect.getsource(function)
    except OSError:
        raise missing_source(function.__code__.co_filename) from None
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


class _FunctionWriter:
    """Writes the body of one function.

    Parameters
    ----------
    made : the function
    names : what it uses by name
    module : where functions go that it calls
    """

    def __init__(self, made: ir.Function, names: Mapping[str, Any], module: Module) -> None:
        self.made, self.names, self.module = made, names, module
        self.entry = made.append_basic_block()
        self.b = ir.IRBuilder(made.append_basic_block())
        self.slots: dict[str, Any] = {}
        self.again: list[Any] = []              # where ``continue`` goes

    def write(self, tree: ast.FunctionDef) -> None:
        first = self.b.block
        for argument, value in zip(tree.args.args, self.made.args):
            self.assign(argument.arg, value)
        self.body(tree.body)
        if not self.b.block.is_terminated:
            self.do_return(ast.Return(None))
        ir.IRBuilder(self.entry).branch(first)

    def slot(self, name: str) -> Any:
        if name not in self.slots:
            self.slots[name] = self.at_entry().alloca(WORD)
        return self.slots[name]

    def assign(self, name: str, value: Any) -> None:
        self.b.store(self.word(value), self.slot(name))

    def word(self, value: Any) -> Any:
        return self.b.zext(value, WORD) if value.type == BIT else value

    def truth(self, value: Any) -> Any:
        return value if value.type == BIT else self.b.icmp_signed("!=", value, WORD(0))

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for s in statements:
            if self.b.block.is_terminated:
                break
            self.rule("do", s)(s)

    def rule(self, kind: str, node: ast.AST) -> Callable[[Any], Any]:
        found = getattr(self, f"{kind}_{type(node).__name__.lower()}", None)
        if found is None:
            raise NotImplementedError(ast.unparse(node))
        return found  # type: ignore[no-any-return]

    def do_expr(self, s: ast.Expr) -> None:
        if not isinstance(s.value, ast.Constant):       # a docstring
            self.value(s.value)

    def do_pass(self, s: ast.Pass) -> None:
        pass

    def do_assign(self, s: ast.Assign) -> None:
        target = s.targets[0]
        if isinstance(target, ast.Tuple):
            assert isinstance(s.value, ast.Tuple)
            values = [self.value(v) for v in s.value.elts]
            for t, value in zip(target.elts, values):
                assert isinstance(t, ast.Name)
                self.assign(t.id, value)
            return
        assert isinstance(target, ast.Name)
        self.assign(target.id, self.value(s.value))

    def do_augassign(self, s: ast.AugAssign) -> None:
        assert isinstance(s.target, ast.Name)
        self.assign(s.target.id, self.operation(s.op, self.b.load(self.slot(s.target.id)), self.word(self.value(s.value))))

    def do_return(self, s: ast.Return) -> None:
        self.b.ret(WORD(0) if s.value is None else self.word(self.value(s.value)))

    def do_continue(self, s: ast.Continue) -> None:
        self.b.branch(self.again[-1])

    def blocks(self, count: int) -> list[Any]:
        return [self.b.append_basic_block() for _ in range(count)]

    def go(self, block: Any) -> None:
        if not self.b.block.is_terminated:
            self.b.branch(block)

    def do_if(self, s: ast.If) -> None:
        yes, no, end = self.blocks(3)
        self.b.cbranch(self.known(s.test), yes, no)
        for block, statements in ((yes, s.body), (no, s.orelse)):
            self.b.position_at_end(block)
            self.body(statements)
            self.go(end)
        self.b.position_at_end(end)

    def do_while(self, s: ast.While) -> None:
        test, inside, end = self.blocks(3)
        self.b.branch(test)
        self.b.position_at_end(test)
        self.b.cbranch(self.known(s.test), inside, end)
        self.loop(s.body, inside, test, end)

    def do_for(self, s: ast.For) -> None:
        if not (isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name) and s.iter.func.id == "range"
                and isinstance(s.target, ast.Name)):
            raise NotImplementedError(ast.unparse(s))
        given = [self.word(self.value(a)) for a in s.iter.args]
        low, high, step = (WORD(0), *given, WORD(1)) if len(given) == 1 else (*given, WORD(1))[:3]
        turn = self.at_entry().alloca(WORD)
        self.b.store(low, turn)
        test, inside, following, end = self.blocks(4)
        self.b.branch(test)
        self.b.position_at_end(test)
        at = self.b.load(turn)
        self.b.cbranch(self.b.icmp_signed("<", at, high), inside, end)
        self.b.position_at_end(following)
        self.b.store(self.b.add(self.b.load(turn), step), turn)
        self.b.branch(test)
        self.b.position_at_end(inside)
        self.assign(s.target.id, at)
        self.loop(s.body, inside, following, end)

    def at_entry(self) -> Any:
        b = ir.IRBuilder(self.entry)
        b.position_at_start(self.entry)
        return b

    def loop(self, statements: Sequence[ast.stmt], inside: Any, following: Any, end: Any) -> None:
        self.b.position_at_end(inside)
        self.again.append(following)
        self.body(statements)
        self.again.pop()
        self.go(following)
        self.b.position_at_end(end)

    def value(self, e: ast.expr) -> Any:
        return self.rule("of", e)(e)

    def of_constant(self, e: ast.Constant) -> Any:
        assert isinstance(e.value, int)
        return WORD(int(e.value))

    def of_name(self, e: ast.Name) -> Any:
        return self.b.load(self.slots[e.id]) if e.id in self.slots else WORD(int(self.names[e.id]))

    def operation(self, op: ast.operator, x: Any, y: Any) -> Any:
        if type(op) in ARITHMETIC:
            return getattr(self.b, ARITHMETIC[type(op)])(x, y)
        quotient = self.b.sdiv(x, y)
        rest = self.b.sub(x, self.b.mul(quotient, y))
        uneven = self.b.and_(self.b.icmp_signed("!=", rest, WORD(0)), self.b.icmp_signed("<", self.b.xor(x, y), WORD(0)))
        if isinstance(op, ast.FloorDiv):        # LLVM rounds to 0
            return self.b.sub(quotient, self.b.zext(uneven, WORD))
        assert isinstance(op, ast.Mod)
        return self.b.add(rest, self.b.select(uneven, y, WORD(0)))

    def of_binop(self, e: ast.BinOp) -> Any:
        return self.operation(e.op, self.word(self.value(e.left)), self.word(self.value(e.right)))

    def of_unaryop(self, e: ast.UnaryOp) -> Any:
        value = self.value(e.operand)
        return self.b.not_(self.truth(value)) if isinstance(e.op, ast.Not) else self.b.neg(self.word(value))

    def of_compare(self, e: ast.Compare) -> Any:
        x, y = (self.word(self.value(v)) for v in (e.left, e.comparators[0]))
        return self.b.icmp_signed(COMPARE[type(e.ops[0])], x, y)

    def chosen(self, test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """The value of one of two expressions; only the chosen one is evaluated."""
        slot = self.at_entry().alloca(WORD)
        first, second, end = self.blocks(3)
        self.b.cbranch(test, first, second)
        for block, make in ((first, yes), (second, no)):
            self.b.position_at_end(block)
            self.b.store(self.word(make()), slot)
            self.b.branch(end)
        self.b.position_at_end(end)
        return self.b.load(slot)

    def of_boolop(self, e: ast.BoolOp) -> Any:
        found = self.known(e.values[0])
        for v in e.values[1:]:
            rest = functools.partial(self.known, v)
            given = (rest, lambda: BIT(0)) if isinstance(e.op, ast.And) else (lambda: BIT(1), rest)
            found = self.truth(self.chosen(found, *given))
        return found

    def known(self, e: ast.expr) -> Any:
        """The truth value of an expression."""
        return self.truth(self.value(e))

    def of_ifexp(self, e: ast.IfExp) -> Any:
        return self.chosen(self.known(e.test), lambda: self.value(e.body), lambda: self.value(e.orelse))

    def of_call(self, e: ast.Call) -> Any:
        assert isinstance(e.func, ast.Name)
        args = [self.word(self.value(a)) for a in e.args]
        if e.func.id in ("min", "max"):
            x, y = args
            return self.b.select(self.b.icmp_signed("<" if e.func.id == "min" else ">", y, x), y, x)
        callee = self.names[e.func.id]
        if isinstance(callee, Primitive):
            return callee.emit(self.b, *args)
        return self.b.call(self.module.function(callee), args)
