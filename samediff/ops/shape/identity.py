"""Ops that pass values on, and a check on the way."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, GraphError, NumericalError
from ...ir.op import Op, Specs, op, require_floating
from .shape_info import ShapeOf

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class Variadic(Op):
    """Base of ops with one output for each of any number of inputs."""

    inputs = "*xs"

    def need_inputs(self, specs: Sequence[TensorSpec]) -> None:
        """GraphError when there is nothing to work on."""
        if not specs:
            raise GraphError(f"{self.id} needs at least one array")


@op("identity_n", file=FileArgs())
class IdentityN(Variadic):
    """All inputs as they are: one output for each."""

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        self.need_inputs(specs)
        return tuple(TensorSpec(s.shape, s.dtype, s.value) for s in specs)

    def compute(self, xp: Any, *xs: Any) -> Any:
        return xs

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [g if x.dtype.is_floating else None for x, g in zip(inputs, output_grads)]


@op("shapes_of", gradient="zero", signatures=("*xs, data_type", "*xs"), file=FileArgs(properties={"dataType": "s:data_type:dtype"}))
class ShapesOf(Variadic):
    """The sizes of every input: one vector of ``data_type`` for each."""

    data_type: DataType = DataType.LONG

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """For each input a vector of its sizes, a constant where they are known."""
        self.need_inputs(specs)
        if not self.data_type.is_integer:
            raise DataTypeError(f"shapes are integers; got data_type {self.data_type.name}")
        found = [ShapeOf().infer(s) for s in specs]
        return tuple(TensorSpec(f.shape, self.data_type, None if f.value is None else f.value.astype(self.data_type.numpy))
                     for f in found if isinstance(f, TensorSpec))

    def compute(self, xp: Any, *xs: Any) -> Any:
        """The actual shapes as arrays."""
        return tuple(np.asarray(x.shape, self.data_type.numpy) for x in xs)


@op("noop", inputs="*xs", gradient="none", file=FileArgs())
class NoOperation(Op):
    """Does nothing; the result, true, lets others depend on it."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec((), DataType.BOOL)

    def compute(self, xp: Any, *xs: Any) -> Any:
        return xp.asarray(True)


@op("Assert", inputs="condition *data", gradient="none", file=FileArgs())
class Assert(Op):
    """The condition itself, when all of it holds; else a GraphError that shows ``data``."""

    def infer(self, *specs: TensorSpec) -> Specs:
        if specs[0].dtype is not DataType.BOOL:
            raise DataTypeError(f"the condition of Assert must be BOOL, got {specs[0].dtype.name}: compare something")
        return TensorSpec(specs[0].shape, DataType.BOOL)

    def compute(self, xp: Any, condition: Any, *data: Any) -> Any:
        """Stops the run when the condition does not hold."""
        if not condition.all():
            shown = "; ".join(np.array2string(np.asarray(d), threshold=8) for d in data)
            raise GraphError(f"the condition of Assert does not hold in {int((~condition).sum())} of {condition.size} places"
                             + (f"; its data: {shown}" if data else ""))
        return condition


@op("check_numerics", api="math.check_numerics", inputs="x message?", file=FileArgs())
class CheckNumerics(Op):
    """x itself, when all of it is finite; else a NumericalError with ``message``, a text. Shapes: x (*S) floating, message () -> (*S)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, specs[0])
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, message: Any = None) -> Any:
        """Stops the run when an element is NaN or infinite."""
        bad = x.size - int(xp.isfinite(x).sum())
        if bad:
            said = "" if message is None else f"{message.item()}: "
            raise NumericalError(f"{said}{bad} of {x.size} elements are NaN or infinite")
        return x

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [output_grads[0], *(None for _ in inputs[1:])]
