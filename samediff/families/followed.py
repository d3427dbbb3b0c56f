"""Array code as nodes, if it can be followed and does the same in every call."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base.spec import TensorSpec
from ..expressions.tracing import TraceError
from ..ir.graph_class import graph_class
from ..ir.op import Op
from .array_code.graph_namespace import on_graph
from .array_code.symbolic_size import NotInGraphError

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


def scratch(specs: Sequence[TensorSpec | None]) -> tuple[Any, list[SDVariable | None]]:
    """A graph of its own with inputs of these specs, ``in0``, ``in1`` ..."""
    sd = graph_class()()
    return sd, [None if s is None else sd.tables.add_input(f"in{i}", s) for i, s in enumerate(specs)]


def followed(what: str, code: Callable[..., Any], sd: Any, inputs: Sequence[SDVariable | None],
             namespace: Callable[[Any], Any] | None = None) -> tuple[SDVariable, ...]:
    """The results of ``code(xp, *arrays)`` as nodes of ``sd``; ``namespace`` makes another ``xp`` than that of built-in ops.

    Raises
    ------
    NotInGraphError
        The code cannot be followed, or does not do the same in every call.
    """
    specs = [None if v is None else TensorSpec(v.spec.shape, v.spec.dtype) for v in inputs]
    try:
        if not all(_same(*pair) for pair in itertools.zip_longest(*(_sketch(code, specs, namespace) for _ in range(2)))):
            raise NotInGraphError(f"{what} does not do the same in every call")
        return on_graph(sd, code, inputs, namespace)
    except TraceError:
        raise
    except Exception as error:      # the same error comes when it runs
        raise NotInGraphError(f"{what} cannot be followed: {error}") from error


def _same(one: Any, other: Any) -> bool:
    """Whether two sketches agree at a place; NaN among the numbers of an op is not itself."""
    return bool(one == other) or repr(one) == repr(other)


def _sketch(code: Callable[..., Any], specs: Sequence[TensorSpec | None], namespace: Any) -> list[Any]:
    """The nodes that array code adds to a graph, the values of its constants and the names of its results, to compare two runs."""
    sd, variables = scratch(specs)
    found = on_graph(sd, code, variables, namespace)
    constants = [(n, sd.stored(n).tobytes()) for n, v in sd.variable_map().items() if v.is_constant()]
    nodes = [(n.op, n.inputs) for n in sd.nodes()]
    return [*nodes, len(nodes), constants, [v.name() for v in found]]


def array_code(op: Op, specs: Sequence[TensorSpec | None]) -> tuple[Any, tuple[SDVariable, ...]]:
    """A graph with the nodes of ``compute`` for inputs of these static specs, and its results; inputs are ``in0``, ``in1`` ...

    Whole numbers whose values are known are given to the code as they are.

    Raises
    ------
    NotInGraphError
        As :func:`followed`.
    """
    fixed = tuple(None if s is None or s.value is None or s.dtype.is_floating or not s.dtype.is_numeric else np.asarray(s.value).tobytes()
                  for s in specs)
    return _array_code(op, tuple(specs), fixed)


@functools.lru_cache(maxsize=512)
def _array_code(op: Op, specs: tuple[TensorSpec | None, ...], fixed: tuple[bytes | None, ...]) -> tuple[Any, tuple[SDVariable, ...]]:
    known = {i: np.frombuffer(value, s.dtype.numpy).reshape(s.shape or ())
             for i, (s, value) in enumerate(zip(specs, fixed)) if s is not None and value is not None}
    sd, inputs = scratch([None if i in known else s for i, s in enumerate(specs)])

    def code(xp: Any, *arrays: Any) -> Any:
        return op.compute(xp, *(known.get(i, a) for i, a in enumerate(arrays)))
    return sd, followed(f"the code of op {op.id!r}", code, sd, inputs)


class LaterNumber:
    """A number that only a run knows; using it in any way raises an error, as there is no node for it."""

    def __init__(self, what: str) -> None:
        self._what = what

    def _refuse(self, *args: Any) -> NoReturn:
        raise NotInGraphError(f"{self._what} is known in a run only")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refuse
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __int__ = __float__ = __index__ = __bool__ = __array__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse  # type: ignore[assignment]
