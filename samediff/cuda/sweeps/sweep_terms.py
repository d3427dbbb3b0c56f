"""The expressions of sweeps as C: parsed as Python, printed with every bracket."""
from __future__ import annotations

import ast
import functools
from collections.abc import Mapping

_BINARY: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARE: dict[type[ast.cmpop], str] = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_LIBRARY = ("exp", "log", "sqrt")


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def names_in(text: str) -> frozenset[str]:
    """The names of values in an expression."""
    called = {id(node.func) for node in ast.walk(_parsed(text)) if isinstance(node, ast.Call)}
    return frozenset(node.id for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name) and id(node) not in called)


def in_c(text: str, wide: bool, names: Mapping[str, str] | None = None) -> str:
    """An expression as C; ``wide`` takes the functions of double, ``names`` gives texts for names.

    Examples
    --------
    >>> in_c("T(0) if t == -inf else log(t) + r0", wide=False)
    '((t == (-inf)) ? T(0) : (logf(t) + r0))'
    """
    return _text(_parsed(text), wide, names or {})


def _text(node: ast.expr, wide: bool, names: Mapping[str, str]) -> str:
    def inner(part: ast.expr) -> str:
        return _text(part, wide, names)
    match node:
        case ast.Name(id=name):
            return names.get(name, name)
        case ast.Constant(value=bool() as value):
            return "true" if value else "false"
        case ast.Constant(value=int() | float() as value):
            return repr(value)
        case ast.BinOp(left=a, op=op, right=b) if type(op) in _BINARY:
            return f"({inner(a)} {_BINARY[type(op)]} {inner(b)})"
        case ast.UnaryOp(op=ast.USub(), operand=a):
            return f"(-{inner(a)})"
        case ast.Compare(left=a, ops=[op], comparators=[b]):
            return f"({inner(a)} {_COMPARE[type(op)]} {inner(b)})"
        case ast.BoolOp(op=op, values=values):
            return f"({(' || ' if isinstance(op, ast.Or) else ' && ').join(map(inner, values))})"
        case ast.IfExp(test=test, body=a, orelse=b):
            return f"({inner(test)} ? {inner(a)} : {inner(b)})"
        case ast.Call(func=ast.Name(id=name), args=args):
            tail = "f" if name in _LIBRARY and not wide else ""
            return f"{name}{tail}({', '.join(map(inner, args))})"
    raise ValueError(f"{ast.unparse(node)} has no form in C")
