"""Computing one op at once, or telling the recorder of it."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.bounded_cache import BoundedCache
from ..base.datatype import DataType
from ..base.source_line import user_line
from ..base.spec import TensorSpec
from ..errors import DL4PyError, GraphError
from ..expressions.arrays import as_array, require_held, xp
from ..expressions.typed_lists import with_lists
from ..families.elementwise import Elementwise
from ..ir.op import OPS, Op, as_tuple
from ..ir.run_context import RunContext
from ..ir.tables import VISIBLE_VALUE
from ..ir.translate_errors import inferred, translated
from ..plans.reference import as_declared, compute
from . import one_op
from .array_class import wrapped
from .orders import arranged, counts_in_memory, in_columns, order_like
from .plain_arguments import whole
from .quiet import quietly
from .recording import state

#: From this number of operations on a compiled plan is faster than array code, which is there at once.
MANY = 1 << 18


class Draws:
    """The random numbers of ops: each call draws anew, and equal seeds give equal numbers."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @property
    def seed(self) -> int:
        """Setting it starts the numbers again."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed, self._count = whole(seed, "a seed"), itertools.count(1)

    def context(self) -> RunContext:
        """The context of the next call, in which dropout drops as in every call of an op on arrays."""
        return RunContext(training=True, seed=self._seed, draw=next(self._count))


#: That of all ops that are computed at once.
draws = Draws()


class KnownOp(NamedTuple):
    """An op on arrays of given types and shapes, with the specs of its results."""

    op: Op
    specs: tuple[TensorSpec, ...]
    several: bool
    is_long: bool
    kinds: list[Any]            # types and shapes of the results

    def as_declared(self, results: Sequence[Any]) -> Sequence[Any]:
        """The results in the types of the rule; ShapeError when they have other shapes."""
        if [(type(r), getattr(r, "dtype", None), getattr(r, "shape", None)) for r in results] == self.kinds:
            return results
        return as_declared(results, self.specs)


_known: BoundedCache[Any, KnownOp] = BoundedCache(4096)


@functools.lru_cache(maxsize=1024, typed=True)
def built_in(op_id: str, **attributes: Any) -> Op:
    """An op of this package, made once."""
    return OPS[op_id](**attributes)


def operands(inputs: Sequence[Any]) -> list[Any]:
    """Arrays as they are; numbers in the type of the first array, lists as arrays; None stays."""
    first = next((v for v in inputs if isinstance(v, np.ndarray)), None)
    return [v if v is None or isinstance(v, np.ndarray) else _operand(v, first) for v in inputs]


def _operand(value: Any, first: Any) -> Any:
    if hasattr(value, "get_variable_type"):
        raise GraphError(f"{value!r} is a variable of a graph, and this computes on arrays: call the op on the graph (sd.math ...), or "
                         "give the value of the variable (eval())")
    dtype = None
    if first is not None and isinstance(value, (bool, int, float)) and DataType.of(first.dtype).is_numeric:
        dtype = DataType.of(first.dtype).numpy
        require_held(value, dtype)
    return as_array(value, dtype)


def apply(op: Op, *inputs: Any) -> Any:
    """The result of an op, or a tuple of them: INDArrays, or what the recorder of this thread gives for them.

    Raises
    ------
    ShapeError, DataTypeError, GraphError
        The inputs do not fit; the text names the op, the inputs and the calling line.
    """
    if state.recorder is not None:
        return state.recorder.record(op, inputs)
    return wrapped(with_lists(lambda given: evaluate(op, operands(given)), inputs))


def evaluate(op: Op, arrays: Sequence[Any]) -> Any:
    """The same on arrays alone, as plain arrays."""
    given = [None if a is None else np.asarray(a) for a in arrays]
    if counts_in_memory(op) and given[0] is not None and _is_column_order(given[0]):
        return evaluate(op, [given[0].T]).T
    try:
        if type(op).place is not Op.place:
            return one_op.placed(op, given, draws.context())
        known = known_of(op, given)
        if known.is_long:
            results: Sequence[Any] = one_op.planned(op, given, draws.context())
        else:
            found = compute(op, given, draws.context(), op.id) if op.stateful else as_tuple(quietly(op.compute, xp, *given))
            results = known.as_declared(found)
    except Exception as error:
        raise explained(op, error, given) from error
    own = [r.copy(order="K") if _shares(r, given) else r for r in results]
    if isinstance(op, Elementwise) and any(a is not None and not a.flags.c_contiguous for a in given):
        own = [_in_order(r, given) for r in own]
    return tuple(own) if known.several else own[0]


def _is_column_order(x: Any) -> bool:
    return bool(x.flags.f_contiguous and in_columns(x))


def _in_order(result: Any, given: Sequence[Any]) -> Any:
    """The result in the order of the first array of its shape."""
    first = next((a for a in given if a is not None and a.shape == result.shape), result)
    return arranged(result, order_like(first, result))


def _shares(result: Any, given: Sequence[Any]) -> bool:
    if result.base is None and not any(result is a for a in given):
        return False
    return any(a is not None and np.may_share_memory(result, a) for a in given)


def follows_from_shapes(op: Op, given: Sequence[Any]) -> KnownOp | None:
    """The :class:`KnownOp` for arrays where types and shapes alone determine it; None elsewhere."""
    found = known_of(op, given)
    return found if _known.get(_key(op, given)) is found else None


def _key(op: Op, given: Sequence[Any]) -> Any:
    return op, *[None if a is None else (a.dtype, a.shape) for a in given]


def known_of(op: Op, given: Sequence[Any]) -> KnownOp:
    """The :class:`KnownOp` for arrays by the shape rule, kept where that needs no values."""
    key = _key(op, given)
    known = _known.get(key)
    if known is None or (known.op is not op and [*map(type, known.op.values())] != [*map(type, op.values())]):      # 1 equals 1.0
        specs = [None if a is None else TensorSpec(a.shape, DataType.of(a.dtype), a if a.size <= VISIBLE_VALUE else None) for a in given]
        found = inferred(op, specs)
        kinds = [(np.ndarray, s.dtype.numpy, s.shape) for s in as_tuple(found)]
        known = KnownOp(op, as_tuple(found), isinstance(found, tuple), _is_long(op, specs, as_tuple(found)), kinds)
        if _by_shapes_alone(op, specs) == known.specs:
            _known[key] = known
    return known


def _by_shapes_alone(op: Op, specs: Sequence[TensorSpec | None]) -> Any:
    """Specs of the results by the shape rule without the values; None where it needs them."""
    try:
        found = as_tuple(inferred(op, [None if s is None else TensorSpec(s.shape, s.dtype) for s in specs]))
    except Exception:  # the rule needs the values then
        return None
    return found if all(s.is_static for s in found) else None


def _is_long(op: Op, specs: Sequence[TensorSpec | None], found: Sequence[TensorSpec]) -> bool:
    if op.by_blas or any(s.shape is None or not s.is_static for s in found):
        return False
    return (op.flops(specs, found) or 0) >= MANY


def explained(op: Op, error: Exception, given: Sequence[Any]) -> Exception:
    """The error with op, inputs and line in its text, typed where the op is one of ours."""
    known = error if isinstance(error, DL4PyError) else translated(op, error)
    if known is None:
        return error
    return type(known)(with_inputs(f"{op.id}: {known}", given))


def with_inputs(text: str, given: Sequence[Any]) -> str:
    """The text of an error with the inputs of the op and the calling line."""
    line = user_line()
    shown = ", ".join("-" if a is None else f"{DataType.of(a.dtype).name}{tuple(a.shape)}" for a in given)
    return f"{text}; inputs: {shown or 'none'}{f' (at {line})' if line else ''}"
