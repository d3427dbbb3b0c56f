"""``exec`` of an op in DL4J's form as graph nodes: what it calls on arrays is recorded, once, and becomes part of the plan."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ...samediff.base.spec import TensorSpec
from ...samediff.families.array_code.graph_namespace import GraphNamespace
from ...samediff.families.array_code.symbolic_size import NotInGraphError
from ...samediff.numpy_functions.functions import NumpyFunctions
from ...samediff.scopes.lazy import LazyINDArray, array_of
from ...samediff.scopes.trace import GraphTrace, recording
from .java_style import UserDefinedCustomOp, execute
from .op_context import OpContext


class _CodeTrace(GraphTrace):
    """Records into a graph that is there already; arrays from outside become constants."""

    unrolls = True

    def __init__(self, sd: Any) -> None:
        super().__init__()
        self.sd = sd
        self.xp = NumpyFunctions(self)
        self.refused: NotInGraphError | None = None

    def capture(self, array: Any) -> Any:
        """A constant, of the values that the array has now."""
        return self.sd.constant(self.as_read(array))

    def changing(self, array: Any) -> None:
        """Refuse any change of an array from outside: the plan would leave it out."""
        self.refuse("an array from outside is changed in place")

    def drawing(self) -> None:
        """Refuse numbers that each run would find again."""
        self.refuse("random numbers are drawn")

    def refuse(self, why: str) -> NoReturn:
        """Raise a NotInGraphError with a reason, and keep it: code that catches the error is refused too."""
        self.refused = self.refused or NotInGraphError(why)
        raise NotInGraphError(why)

    def refuse_from_outside(self, array: LazyINDArray) -> NoReturn:
        """Raise that an array of another run is used."""
        raise NotInGraphError("an array is used that an earlier run recorded")


def recorded(instance: Callable[[], UserDefinedCustomOp], promised: Sequence[TensorSpec]) -> Callable[..., tuple[Any, ...]]:
    """``exec`` as array code ``code(xp, *arrays)`` for graph arrays.

    Parameters
    ----------
    instance : makes a fresh object of the user's class
    promised : shapes and types of the results

    Raises
    ------
    NotInGraphError
        In calls of the code: ``exec`` needs values, changes an input, draws numbers, or does what has no node.
    """
    def code(xp: GraphNamespace, *arrays: Any) -> tuple[Any, ...]:
        trace = _CodeTrace(xp.sd)
        given = [trace.lazy(a.variable) for a in arrays]
        zeros = [_zeros(xp, s) for s in promised]
        trace.own.update(z.name() for z in zeros)
        outputs = [trace.lazy(z) for z in zeros]
        with recording(trace):
            results = execute(instance(), OpContext(given, outputs))
        if trace.refused is not None:
            raise trace.refused
        if any(array_of(g).variable is not a.variable for g, a in zip(given, arrays)):
            raise NotInGraphError("an input is changed in place, which the run tells")
        if len(results) != len(promised):
            raise NotInGraphError("another number of results than promised, which the run tells")
        return tuple(_result(xp, trace, r, s) for r, s in zip(results, promised))
    return code


def _zeros(xp: GraphNamespace, spec: TensorSpec) -> Any:
    """The zeros that an output holds before it is filled."""
    zero = xp.sd.constant(np.zeros((), spec.dtype.numpy))
    return xp.sized("broadcast_to_sizes", zero, spec.shape or ()).variable


def _result(xp: GraphNamespace, trace: _CodeTrace, value: Any, spec: TensorSpec) -> Any:
    if not isinstance(value, (LazyINDArray, np.ndarray, np.generic, int, float)):
        raise NotInGraphError(f"a result is {type(value).__name__}")
    made = xp.wrap(trace.operand(value if isinstance(value, LazyINDArray) else np.asarray(value)))
    if made.variable.spec.shape != spec.shape:
        raise NotInGraphError("a result has another shape than promised, which the run tells")
    return made.astype(spec.dtype.numpy)
