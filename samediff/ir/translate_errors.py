"""Translation of errors of array code into the typed errors that callers are promised."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.spec import TensorSpec
from ..errors import DataTypeError, DL4PyError, GraphError, ShapeError
from ..expressions.arrays import require_held
from .op import Op, Specs, as_tuple

_KINDS: tuple[tuple[type[Exception], type[DL4PyError]], ...] = (
    (np.linalg.LinAlgError, GraphError), (TypeError, DataTypeError), (ValueError, ShapeError), (IndexError, ShapeError),
    (ArithmeticError, GraphError), (AssertionError, ShapeError), (AttributeError, DataTypeError), (LookupError, GraphError))

_OWN = ("dl4py.samediff.", "dl4py.layers.")      # whose ops are not the code of others


def refusal(op: Op, error: BaseException) -> DL4PyError | None:
    """The typed error for what NumPy raised in an op of this package; None for typed errors and for the code of others."""
    if isinstance(error, DL4PyError) or not type(op).__module__.startswith(_OWN):
        return None
    if type(error).__module__.startswith("numba."):          # compiled loops are typed by the inputs
        return DataTypeError(f"the inputs do not fit: no compiled code for their types and ranks ({str(error).splitlines()[0]})")
    kind = next((ours for theirs, ours in _KINDS if isinstance(error, theirs)), None)
    return None if kind is None else kind(f"the inputs do not fit: {error or type(error).__name__}")


def inferred(op: Op, specs: Sequence[TensorSpec | None]) -> Specs:
    """The specs by the shape rule; errors for negative sizes and for numbers that do not fit the type of their array."""
    for name in op.element_values.split():
        first = specs[0] if specs else None
        dtype = getattr(op, "data_type", None if first is None else first.dtype)
        if dtype is not None:
            require_held(getattr(op, name), dtype.numpy)
    found = op.infer(*specs)  # type: ignore[arg-type]
    for spec in as_tuple(found):
        if spec.shape is not None and min(spec.shape, default=0) < -1:
            raise ShapeError(f"a result of shape {spec.shape} would come out; sizes must not be negative")
    return found
