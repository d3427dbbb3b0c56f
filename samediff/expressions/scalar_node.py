"""Scalar expressions: hash-consed nodes, built with constant folding and the simplest identities."""
from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.locks import rlock
from .arrays import xp as numpy_namespace
from .scalar import BOOL, SPECIAL, DType, result_type

_LOCK = rlock()
_NODES: weakref.WeakValueDictionary[Any, Expr] = weakref.WeakValueDictionary()


class Expr:
    """One scalar value: a function of other values, an input, or a constant.

    Equal expressions are one object, so ``is`` compares them and shared parts are computed once.

    Attributes
    ----------
    op : str
        ``"input"``, ``"constant"``, ``"cast"``, ``"where"`` or a name of :data:`~dl4py.samediff.expressions.scalar.FUNCTIONS`.
    args : tuple of Expr
        The arguments, all of one type (but for the condition of ``where``).
    dtype : numpy.dtype
        The type of the value.
    value : int, str or NumPy scalar
        Number or name of an input, value of a constant, else None.
    """

    __slots__ = ("__weakref__", "args", "dtype", "op", "value")

    op: str
    args: tuple[Expr, ...]
    dtype: DType
    value: Any

    def __init__(self, op: str, args: tuple[Expr, ...], dtype: DType, value: Any) -> None:
        self.op, self.args, self.dtype, self.value = op, args, dtype, value

    def __repr__(self) -> str:
        if len(nodes([self])) > 40:
            return f"<Expr {self.op} {self.dtype} of {len(nodes([self]))} nodes>"
        text: dict[Expr, str] = {}
        for e in nodes([self]):
            inner = ", ".join(text[a] for a in e.args)
            text[e] = (f"x{e.value}" if e.op == "input" and isinstance(e.value, int) else str(e.value) if e.op in ("input", "constant")
                       else f"{e.dtype if e.op == 'cast' else e.op}({inner})")
        return text[self]

    def __reduce__(self) -> tuple[Any, ...]:
        return _node, (self.op, self.args, self.dtype, self.value)


def _node(op: str, args: tuple[Expr, ...], dtype: DType, value: Any = None) -> Expr:
    key = (op, args, dtype, value.tobytes() if op == "constant" else value)
    with _LOCK:
        found = _NODES.get(key)
        if found is None:
            found = _NODES[key] = Expr(op, args, dtype, value)
        return found


def input_(key: int | str, dtype: Any) -> Expr:
    """The input of that number or name."""
    return _node("input", (), np.dtype(dtype), key)


def constant(value: Any, dtype: Any) -> Expr:
    """A constant node of a type."""
    return _node("constant", (), np.dtype(dtype), np.dtype(dtype).type(value))


def is_constant(e: Expr, value: Any = None) -> bool:
    """True for a constant, or for a constant equal to ``value``."""
    return e.op == "constant" and (value is None or bool(e.value == value))


def cast(e: Expr, dtype: Any) -> Expr:
    """``e`` converted to a type."""
    dtype = np.dtype(dtype)
    if e.dtype == dtype:
        return e
    made = _node("cast", (e,), dtype)
    return _fold(made) if e.op == "constant" else made


def where(condition: Expr, a: Expr, b: Expr) -> Expr:
    """``a`` where ``condition`` holds, else ``b`` (both of one type)."""
    if is_constant(condition):
        return a if condition.value else b
    return a if a is b else _node("where", (cast(condition, BOOL), a, b), a.dtype)


def apply(op: str, *args: Expr) -> Expr:
    """Function ``op`` of arguments that have its operand type already."""
    first, second = args[0], args[-1]
    if op in ("add", "subtract") and is_constant(second, 0) and first.dtype != BOOL:
        return first
    if op == "add" and is_constant(first, 0) and first.dtype != BOOL:
        return second
    if op in ("multiply", "divide") and is_constant(second, 1) and first.dtype != BOOL:
        return first
    if op == "multiply" and is_constant(first, 1) and first.dtype != BOOL:
        return second
    if op == "multiply" and (is_constant(first, -1) or is_constant(second, -1)) and first.dtype.kind != "u":
        return apply("negative", second if is_constant(first, -1) else first)
    if op == "negative" and first.op == "negative":
        return first.args[0]
    if op == "logical_not" and first.op == "logical_not":
        return first.args[0]
    made = _node(op, args, result_type(op, first.dtype))
    return _fold(made) if all(a.op == "constant" for a in args) else made


def _fold(e: Expr) -> Expr:
    with np.errstate(all="ignore"):
        return constant(_value(e, numpy_namespace, [a.value for a in e.args]), e.dtype)


def nodes(exprs: Iterable[Expr]) -> list[Expr]:
    """All nodes of the expressions, arguments before their users."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack = [(e, False) for e in reversed(list(exprs))]
    while stack:
        e, done = stack.pop()
        if done:
            order.append(e)
        elif e not in seen:
            seen.add(e)
            stack.append((e, True))
            stack.extend((a, False) for a in reversed(e.args) if a not in seen)
    return order


def operations(exprs: Iterable[Expr]) -> int:
    """Scalar functions in expressions; common parts count once."""
    return sum(e.op not in ("input", "constant", "cast") for e in nodes(exprs))


def inputs_of(exprs: Iterable[Expr]) -> dict[Any, DType]:
    """The inputs that the expressions use, by number or name, with their types."""
    return dict(sorted((e.value, e.dtype) for e in nodes(exprs) if e.op == "input"))


def compose(exprs: Sequence[Expr], replacements: Mapping[Any, Expr] | Sequence[Expr]) -> tuple[Expr, ...]:
    """Put expressions in the place of inputs; inputs that ``replacements`` does not name stay.

    Examples
    --------
    >>> x = input_(0, "float32")
    >>> compose([apply("exp", x)], [apply("negative", x)])
    (exp(negative(x0)),)
    """
    table = replacements if isinstance(replacements, Mapping) else dict(enumerate(replacements))
    return substituted(exprs, {e: cast(table[e.value], e.dtype) for e in nodes(exprs) if e.op == "input" and e.value in table})


def substituted(exprs: Sequence[Expr], replacements: Mapping[Expr, Expr]) -> tuple[Expr, ...]:
    """Put expressions in the place of parts of the same types.

    Examples
    --------
    >>> x = input_(0, "float32")
    >>> substituted([apply("negative", apply("tanh", x))], {apply("tanh", x): input_(1, "float32")})
    (negative(x1),)
    """
    made = dict(replacements)
    for e in nodes(exprs):
        if e in made:
            continue
        args = [made[a] for a in e.args]
        if e.op in ("input", "constant"):
            made[e] = e
        elif e.op == "cast":
            made[e] = cast(args[0], e.dtype)
        elif e.op == "where":
            made[e] = where(*args)
        else:
            made[e] = apply(e.op, *args)
    return tuple(made[e] for e in exprs)


def evaluate(exprs: Sequence[Expr], xp: Any, inputs: Mapping[int, Any] | Sequence[Any]) -> tuple[Any, ...]:
    """Compute expressions on arrays (``xp`` NumPy or CuPy) or on anything with a namespace of the same names.

    ``xp`` needs the functions that occur, under NumPy's names, and ``where``; values need ``astype``, unless ``xp``
    has ``cast(value, dtype)``.  Constants are passed as NumPy scalars of the expression's type.

    Examples
    --------
    >>> evaluate([apply("exp", input_(0, "float64"))], np, [np.zeros(2)])
    (array([1., 1.]),)
    """
    with np.errstate(all="ignore"):
        return _evaluate(exprs, numpy_namespace if xp is np else xp, inputs)


def _evaluate(exprs: Sequence[Expr], xp: Any, inputs: Mapping[int, Any] | Sequence[Any]) -> tuple[Any, ...]:
    values: dict[Expr, Any] = {}
    order = nodes(exprs)
    last = {a: e for e in order for a in e.args}
    for e in exprs:
        last.pop(e, None)
    for e in order:
        values[e] = inputs[e.value] if e.op == "input" else e.value if e.op == "constant" else _value(
            e, xp, [values[a] for a in e.args])
        for a in set(e.args):
            if last.get(a) is e:
                del values[a]  # frees big arrays early
    return tuple(values[e] for e in exprs)


def _value(e: Expr, xp: Any, args: list[Any]) -> Any:
    if e.op == "cast":
        return _cast(xp, args[0], e.dtype)
    value = getattr(xp, e.op)(*args)
    exact = e.op not in SPECIAL or getattr(value, "dtype", e.dtype) == e.dtype
    return value if exact else _cast(xp, value, e.dtype)


def _cast(xp: Any, value: Any, dtype: DType) -> Any:
    return xp.cast(value, dtype) if hasattr(xp, "cast") else value.astype(dtype)
