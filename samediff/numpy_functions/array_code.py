"""The namespace ``xp`` that code of users is given while it becomes nodes: all of NumPy, and the special functions."""
from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expressions.arrays import SPECIAL, to_numpy
from ..families.array_code.graph_namespace import on_graph
from ..families.array_code.symbolic_size import NotInGraphError
from ..families.followed import followed
from .changing import CodeFunctions, ValuesNeededError, has_graph

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


class _Constants:
    """The recorder of :class:`~.changing.CodeFunctions` for code whose own arrays are constants of the graph."""

    def __init__(self, sd: Any) -> None:
        self.sd = sd

    def capture(self, array: Any) -> Any:
        """The constant of an array."""
        return self.sd.constant(np.array(to_numpy(array)))

    def note(self, error: NotInGraphError) -> None:
        """Nothing: what code does with an error is its own."""

    def looks_at(self, part: Any, source: Any, places: Any) -> None:
        """Nothing: arrays of code know themselves what they look at."""

    def inner(self, value: Any) -> Any:
        """Functions of the code get graph arrays as they are."""
        return value

    outer = inner


#: Functions that make arrays to be filled, and arrays of numbers of which computed places may be asked for.
_NEW = frozenset(("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like"))
_TABLES = _NEW | {"array", "asarray", "arange", "linspace", "eye"}


class CodeNamespace:
    """NumPy under the name ``xp``: functions of graph arrays add nodes, those of numbers and plain arrays are NumPy's own.

    Parameters
    ----------
    sd : SameDiff
        The graph.

    Attributes
    ----------
    made : names of the functions by which the code has made arrays of numbers alone
    graph : names of those that give graph arrays, so that graph arrays can be assigned to their parts, and be places in them
    """

    def __init__(self, sd: Any) -> None:
        self.functions = CodeFunctions(_Constants(sd))
        self.made = set[str]()
        self.graph: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _member(self.functions, np, name)
        return functools.partial(self._new, name, found) if name in _TABLES else found

    def _new(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A new array: one of the graph where the code needs that."""
        made = function(*args, **kwargs)
        if not isinstance(made, np.ndarray):
            return made
        self.made.add(name)
        return self.functions.array_of(made) if name in self.graph else made

    def __repr__(self) -> str:
        return "<NumPy's functions, which add graph nodes>"


class _Module:
    """A module of NumPy, such as ``linalg``."""

    def __init__(self, functions: CodeFunctions, module: Any) -> None:
        self._functions, self._module = functions, module

    def __getattr__(self, name: str) -> Any:
        return _member(self._functions, self._module, name)


class _Function:
    """A function of NumPy; of a ufunc also ``reduce`` and the like."""

    def __init__(self, functions: CodeFunctions, function: Callable[..., Any]) -> None:
        self._functions, self._function = functions, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not has_graph((args, kwargs)):
            return self._function(*args, **kwargs)
        return self._functions.call(self._function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._function, name)
        return _Function(self._functions, value) if callable(value) else value


def _member(functions: CodeFunctions, module: Any, name: str) -> Any:
    if module is np and name in SPECIAL:
        return getattr(functions, name)
    value = getattr(module, name, None)
    if value is None and name != "newaxis":
        raise functions.missing(name)
    if isinstance(value, types.ModuleType):
        return _Module(functions, value)
    return value if isinstance(value, type) or not callable(value) else _Function(functions, value)


def _assigning(code: Callable[..., Any]) -> Callable[..., Any]:
    """The code, once more where it assigns graph arrays to parts of arrays that it made of numbers, or asks for places in them."""
    @functools.wraps(code)
    def run(xp: CodeNamespace, *arrays: Any) -> Any:
        def tried() -> Any:
            with xp.functions.sd.tables.all_or_nothing():
                return code(xp, *arrays)
        try:
            return tried()
        except (ValuesNeededError, ValueError) as error:        # NumPy says the latter of single elements
            failed: Exception = error.__cause__ if isinstance(error.__cause__, NotInGraphError) else error
        for names in (_NEW, _TABLES):
            if xp.made & (names - xp.graph):
                xp.graph = names
                try:
                    return tried()
                except Exception as error:      # of tables: what failed with plain ones says more
                    failed = error if names is _NEW else failed
        raise failed from None
    return run


def code_on_graph(sd: Any, code: Callable[..., Any], inputs: Sequence[SDVariable | None]) -> tuple[SDVariable, ...]:
    """As :func:`.graph_namespace.on_graph`, for code of users."""
    return on_graph(sd, _assigning(code), inputs, CodeNamespace)


def code_followed(what: str, code: Callable[..., Any], sd: Any, inputs: Sequence[SDVariable | None]) -> tuple[SDVariable, ...]:
    """:func:`~..families.followed.followed` for code of users."""
    return followed(what, _assigning(code), sd, inputs, CodeNamespace)
