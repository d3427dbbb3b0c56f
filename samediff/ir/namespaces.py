"""Namespaces and variable methods, generated from the registered ops.

``sd.math.add("sum", x, y)``: an optional leading name (or list of names), then inputs and attributes as the op's
signatures say.
"""
from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.java.old_names import instead
from ..base.javanames import to_snake
from ..base.registry import GROUPS, further
from ..base.source_line import user_line
from ..errors import GraphError, UnknownNameError, did_you_mean
from . import signature as sig
from .op import METHODS, OPS, Op
from .protocols import OpGraph
from .variable import SDVariable

#: Namespaces besides ``base`` (the graph itself) and ``var`` (variables).
NAMESPACES = ("math", "nn", "cnn", "rnn", "loss", "image", "linalg", "bitwise", "random")


def find(namespace: str, name: str) -> str | None:
    """The registered spelling of a method: snake_case, Java's, or with the underscore of Python keywords."""
    snake = to_snake(name)
    for candidate in (name, snake, snake + "_"):
        if (namespace, candidate) in METHODS:
            return candidate
    return None


def method_names(namespace: str) -> list[str]:
    """Names of all methods of a namespace, in snake_case."""
    return [m for n, m in METHODS if n == namespace]


def call(sd: OpGraph, namespace: str, method: str, args: tuple[Any, ...], kwargs: dict[str, Any],
         otherwise: tuple[Any, ...] | None = None) -> Any:
    """Add the op that the arguments fit; return its output variable, or a list of them."""
    return call_one_of(sd, METHODS[namespace, method], namespace, method, args, kwargs, otherwise)


def call_by_id(sd: OpGraph, op_id: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Add the op registered as ``op_id``, with arguments as its method in ``sd`` takes them."""
    namespace, _, method = op_id.rpartition(".")
    return call_one_of(sd, [OPS[op_id]], namespace or "op", method, args, kwargs)


def is_namespace(name: str) -> bool:
    """True when ops are registered under ``name.…``; plug-ins are looked for once."""
    if not any(n == name for n, _ in METHODS):
        OPS.discover()
        for _ in further(GROUPS):           # ops may stand in a module of layers
            if any(n == name for n, _ in METHODS):
                break
    return any(n == name for n, _ in METHODS)


def call_one_of(sd: OpGraph, classes: list[type[Op]], namespace: str, method: str, args: tuple[Any, ...], kwargs: dict[str, Any],
                otherwise: tuple[Any, ...] | None = None) -> Any:
    """Add the first op of ``classes`` that the arguments fit; ``otherwise`` are the arguments if their first text is no name."""
    names, args = _leading_names(args, kwargs, classes)
    readings = [(names, args)] + ([] if otherwise is None else [(None, otherwise)])
    reasons: list[str] = []
    for lenient, (names, given) in itertools.product((False, True), readings):
        for cls in classes:
            for signature in sig.formals(cls):
                try:
                    inputs, attributes = sig.bind(cls, signature, given, kwargs, sd.is_input, lenient)
                except sig.Mismatch as mismatch:
                    reasons.append(str(mismatch))
                    continue
                return sd.place_op(cls(**attributes), inputs, names)
    raise refusal(classes, f"{namespace}.{method}", otherwise or args, kwargs, reasons[len(reasons) // 2:])


def refusal(classes: Sequence[type[Op]], name: str, args: Sequence[Any], kwargs: dict[str, Any], reasons: Iterable[str]) -> GraphError:
    """The error for arguments that fit none of the ways to call some ops."""
    method = name.rpartition(".")[2]
    ways = "\n  ".join(line for cls in classes for line in (*sig.describe(cls, method), cls.call_note) if line)
    why, line = "; ".join(dict.fromkeys(reasons)), user_line()
    where = f" (at {line})" if line else ""
    return GraphError(f"{name} cannot be called with ({_text(args, kwargs)}){where}: {why}. Ways to call it:\n  {ways}")


def _leading_names(args: tuple[Any, ...], kwargs: dict[str, Any],
                   classes: list[type[Op]]) -> tuple[list[str] | None, tuple[Any, ...]]:
    name = kwargs.pop("name", None) if "name" in kwargs and "name" not in classes[0].attribute_names() else None
    if not args or name is not None:
        return _names(name), args
    first = args[0]
    if isinstance(first, str):
        return [first], args[1:]
    if isinstance(first, (list, tuple)) and first and all(isinstance(n, str) for n in first):
        return list(first), args[1:]
    if first is None and len(args) > 1:
        return None, args[1:]
    return None, args


def _names(name: Any) -> list[str] | None:
    return None if name is None else [name] if isinstance(name, str) else list(name)


def _text(args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    def short(v: Any) -> str:
        return f"array {v.shape}" if isinstance(v, np.ndarray) else repr(v)
    return ", ".join([*map(short, args), *(f"{k}={short(v)}" for k, v in kwargs.items())])


class Namespace:
    """The ops of one topic, as methods: ``sd.math``, ``sd.nn`` … (also callable, as in Java: ``sd.math().add``)."""

    def __init__(self, sd: Any, name: str) -> None:
        self._sd = sd
        self._namespace = name

    def __call__(self) -> Namespace:
        return self

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Callable[..., Any]:
            method = find(self._namespace, name)
            if method is None:
                if name.startswith("__"):
                    raise AttributeError(name)
                near = instead(self._namespace, name) or did_you_mean(to_snake(name), method_names(self._namespace))
                raise MissingMethodError(f"namespace {self._namespace!r} has no op {name!r}{near}")
            made = self.op_method(method) if name == method else getattr(self, method)
            setattr(self, name, made)
            return made  # type: ignore[no-any-return]

    def op_method(self, method: str) -> Callable[..., Any]:
        """The op as a method, which is found without asking from then on."""
        made = self._sd._op_method(self._namespace, method)
        setattr(self, method, made)
        return made  # type: ignore[no-any-return]

    def __dir__(self) -> list[str]:
        return sorted(method_names(self._namespace))

    def __repr__(self) -> str:
        return f"<namespace {self._namespace}: {len(method_names(self._namespace))} ops>"


class MissingMethodError(UnknownNameError, AttributeError):
    """An op name that a namespace or variable does not have; also an AttributeError, so that ``hasattr`` works."""


def bound(sd: OpGraph, namespace: str, method: str, *first: Any) -> Callable[..., Any]:
    """The op as a method of a graph's namespace, or of a variable when that is given as ``first``; a name may stand in front."""
    def of_first(*args: Any, **kwargs: Any) -> Any:
        named = args[:1] if args and (isinstance(args[0], str)) else ()
        return call(sd, namespace, method, (*named, *first, *args[len(named):]), kwargs, (*first, *args) if named else None)

    def of_graph(*args: Any, **kwargs: Any) -> Any:
        return sd.call(namespace, method, *args, **kwargs)

    return described(of_first if first else of_graph, namespace, method)


def described(invoke: Callable[..., Any], namespace: str, method: str) -> Callable[..., Any]:
    """A function with the name, documentation and signature of an op."""
    invoke.__name__ = invoke.__qualname__ = method
    invoke.__doc__, invoke.__signature__ = description(namespace, method)  # type: ignore[attr-defined]
    return invoke


def documentation(namespace: str, method: str) -> str:
    """The ways to call an op, and its docstring."""
    return description(namespace, method)[0]


def description(namespace: str, method: str) -> tuple[str, inspect.Signature]:
    """Documentation and first signature of an op; a variable's own methods leave out the variable."""
    classes = tuple(METHODS[namespace, method])
    key = (namespace, method, classes)
    found = _descriptions.get(key)
    if found is None:
        ways = [line for c in classes for line in sig.describe(c, method)]
        doc = "\n".join([*ways, "", inspect.cleandoc(classes[0].__doc__ or "")])
        found = _descriptions[key] = doc, sig.of_method(classes[0], namespace == "var")
    return found


_descriptions: dict[tuple[str, str, tuple[type[Op], ...]], tuple[str, inspect.Signature]] = {}


def variable_method(variable: SDVariable, name: str) -> Callable[..., Any]:
    """An op as a method of its first input."""
    method = find("var", name)
    if method is None:
        java = to_snake(name)
        own = getattr(type(variable), java, None)
        if own is not None and java != name:
            return getattr(variable, java)  # type: ignore[no-any-return]
        near = instead("variable", name) or did_you_mean(java, method_names("var"))
        raise MissingMethodError(f"variables have no method {name!r}{near}")
    return bound(variable.sd, "var", method, variable)
