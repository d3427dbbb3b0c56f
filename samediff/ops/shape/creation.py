"""Arrays from numbers: fill, range, linspace, eye."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.named_axes import expect_at_least, expect_single
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, GraphError, ShapeError
from ...expressions.arrays import require_held, require_whole
from ...families.shape_inputs import ints_of, shape_from
from ...ir.op import Op, Specs, op
from .reshaping import reshape_like

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("fill", api="base.fill math.fill", inputs="shape", gradient="none",
    file=FileArgs(floats=("value",), dtypes=("data_type?",), properties={"outputDataType": "s:data_type:dtype"}))
class Fill(Op):
    """An array of a shape given by a variable, filled with one value."""

    flops_per_element = 0
    element_values = "value"
    data_type: DataType
    value: float

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the input holds; unknown unless it is a constant."""
        return TensorSpec(shape_from(specs[0]), self.data_type)

    def compute(self, xp: Any, shape: Any) -> Any:
        return xp.full(tuple(int(n) for n in shape.reshape(-1)), self.value, self.data_type.numpy)


@op("create", api="base.create", inputs="shape", signatures=("shape, data_type", "shape, data_type, order, initialize"),
    gradient="none", file=FileArgs(ints=("order:99=c|102=f", "data_type:dtype"), bools=("initialize",)))
class Create(Op):
    """An array of zeros of a shape given by a variable."""

    flops_per_element = 0
    data_type: DataType
    order: str = "c"
    initialize: bool = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the input holds; unknown unless it is a constant."""
        return TensorSpec(shape_from(specs[0]), self.data_type)

    def compute(self, xp: Any, shape: Any) -> Any:
        return xp.zeros(tuple(int(n) for n in shape.reshape(-1)), self.data_type.numpy)


def _progression(start: int, step: int, n: int, dtype: DataType) -> Any:
    """start, start + step, ...: n whole numbers, all 64 bits of them."""
    return (np.arange(n).astype(np.uint64) * np.uint64(step % 2**64) + np.uint64(start % 2**64)).astype(dtype.numpy)


def _range(start: Any, stop: Any, step: Any, dtype: DataType) -> Any:
    if step == 0 or not all(map(math.isfinite, (start, stop, step))):
        raise ShapeError(f"range needs finite numbers and a step that is not 0; got from {start} to {stop}, step {step}")
    if dtype.is_integer:
        for number in (start, stop, step):
            require_whole(number, dtype.numpy)
        start, stop, step = int(start), int(stop), int(step)
        n = abs(stop - start) // abs(step) * (1 if (stop < start) == (step < 0) else -1)
        n += start + n * step < stop  # as DL4J counts: exact for positive steps, rounded down for negative ones
        for number in (start, start + (n - 1) * step) if n > 0 else ():
            require_held(number, dtype.numpy)
        return _progression(start, step, max(n, 0), dtype)
    n = max(0, math.ceil((float(stop) - float(start)) / float(step)))
    return (float(start) + float(step) * np.arange(n)).astype(dtype.numpy)


@op("range", api="base.range math.range", inputs="", gradient="none",
    file=FileArgs(floats=("from_", "to", "step"), dtypes=("data_type?",),
                  called=FileArgs(ints=("from_", "to", "step?"), floats=("~from_", "~to", "~step"))))
class Range(Op):
    """from, from + step, … strictly before ``to``."""

    flops_per_element = 0
    from_: float
    to: float
    step: float = 1.0
    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        """The number of values."""
        return TensorSpec(_range(self.from_, self.to, self.step, self.data_type).shape, self.data_type)

    def compute(self, xp: Any) -> Any:
        return xp.asarray(_range(self.from_, self.to, self.step, self.data_type))


@op("range_of", api="base.range math.range", inputs="from_ to step", gradient="zero",
    file=FileArgs(op_name="range", with_inputs=(3,), dtypes=("data_type?",)))
class RangeOf(Op):
    """from, from + step, … strictly before ``to``, from variables."""

    flops_per_element = 0
    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        """A vector; its length is known where the inputs are constants."""
        expect_single(*zip(("from", "to", "step"), specs))
        if all(s.value is not None for s in specs):
            return TensorSpec(_range(*(s.value.item() for s in specs), self.data_type).shape, self.data_type)  # type: ignore[call-arg]
        return TensorSpec((-1,), self.data_type)

    def compute(self, xp: Any, from_: Any, to: Any, step: Any) -> Any:
        return xp.asarray(_range(from_.item(), to.item(), step.item(), self.data_type))


def _whole_step(start: Any, stop: Any, number: int, dtype: DataType) -> int:
    """The distance of evenly spaced whole numbers; DataTypeError where they have fractions."""
    for bound in (start, stop):
        require_held(bound, dtype.numpy)
    step, rest = divmod(int(stop) - int(start), number - 1)
    if rest:
        raise DataTypeError(f"linspace of {dtype.name}: {number} numbers from {start} to {stop} have fractions; ask for FLOAT, and cast it")
    return step


def _linspace(start: Any, stop: Any, number: int, dtype: DataType) -> Any:
    if dtype.is_integer and number > 1:
        return _progression(int(start), _whole_step(start, stop, number, dtype), number, dtype)
    return np.linspace(start, stop, number).astype(dtype.numpy)


@op("lin_space", api="base.linspace math.linspace", inputs="", signatures=("data_type, start, stop, number", "start, stop, number"),
    gradient="none", file=FileArgs(ints=("number",), floats=("start", "stop"), dtypes=("data_type?",)))
class Linspace(Op):
    """``number`` evenly spaced values from start to stop, both included."""

    element_values = "start stop"
    start: float
    stop: float
    number: int
    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        expect_at_least(0, number=self.number)
        if self.data_type.is_integer and self.number > 1:
            _whole_step(self.start, self.stop, self.number, self.data_type)
        return TensorSpec((self.number,), self.data_type)

    def compute(self, xp: Any) -> Any:
        return xp.asarray(_linspace(self.start, self.stop, self.number, self.data_type))


@op("lin_space_of", api="base.linspace math.linspace", inputs="start stop number",
    file=FileArgs(op_name="lin_space", with_inputs=(3,), dtypes=("data_type?",)))
class LinspaceOf(Op):
    """Evenly spaced values from start to stop, from variables."""

    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        """Known where the number is a constant."""
        expect_single(*zip(("start", "stop", "number"), specs))
        number = ints_of(specs[2])
        return TensorSpec((number[0] if number else -1,), self.data_type)

    def compute(self, xp: Any, start: Any, stop: Any, number: Any) -> Any:
        return xp.asarray(_linspace(start.item(), stop.item(), int(number.item()), self.data_type))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Each value is start (1 - t) + stop t with t from 0 to 1."""
        (start, stop, number), g, sd = inputs, output_grads[0], inputs[0].sd
        t = sd.call("base", "linspace", sd.constant(0.0), sd.constant(1.0), number, self.data_type)
        found = [(v, reshape_like((g * part).sum(), v)) for v, part in ((start, 1.0 - t), (stop, t))]
        return [d.cast_to(v.dtype) if v.dtype.is_floating else None for v, d in found] + [None]


@op("eye", api="math.eye base.eye linalg.eye", inputs="", gradient="none",
    signatures=("rows", "rows, cols", "rows, cols, data_type, *dimensions"),
    file=FileArgs(ints=("rows", "cols?", "*dimensions"), floats=("data_type:dtype",), called=FileArgs(ints=("=-99", "rows", "cols"))))
class Eye(Op):
    """Ones on the main diagonal, zeros elsewhere.  Shapes: -> (*dimensions, rows, cols)."""

    flops_per_element = 0
    rows: int
    cols: int | None = None
    data_type: DataType = DataType.FLOAT
    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        """Batch axes, rows, columns."""
        expect_at_least(0, rows=self.rows, cols=self.cols, dimensions=self.dimensions)
        return TensorSpec((*self.dimensions, self.rows, self.rows if self.cols is None else self.cols), self.data_type)

    def compute(self, xp: Any) -> Any:
        """The matrix, repeated along the batch axes."""
        one = xp.eye(self.rows, self.cols, dtype=self.data_type.numpy)
        return xp.broadcast_to(one, (*self.dimensions, *one.shape))


@op("eye_of", api="math.eye base.eye", inputs="rows cols?", gradient="none", file=FileArgs(op_name="eye", with_inputs=(1, 2)))
class EyeOf(Op):
    """Ones on the main diagonal, FLOAT, with sizes from variables."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """A matrix; its sizes are known where the inputs are constants."""
        expect_single(*zip(("rows", "cols"), specs))
        sizes = [(ints_of(s) or (-1,))[0] for s in specs]
        return TensorSpec((sizes[0], sizes[-1]), DataType.FLOAT)

    def compute(self, xp: Any, rows: Any, cols: Any = None) -> Any:
        return xp.eye(int(rows.reshape(-1)[0]), None if cols is None else int(cols.reshape(-1)[0]), dtype=xp.float32)


#: Data types by the numbers of the file format.
TYPE_CODES = {1: "BOOL", 3: "HALF", 5: "FLOAT", 6: "DOUBLE", 7: "BYTE", 8: "SHORT", 9: "INT", 10: "LONG", 11: "UBYTE", 12: "UINT16",
              13: "UINT32", 14: "UINT64", 17: "BFLOAT16"}


@op("min_max_datatype", api="base.min_max", inputs="", gradient="none", file=FileArgs(ints=("datatype", "min_or_max")))
class MinMaxDatatype(Op):
    """Smallest (0; for floats the smallest positive normal number) or largest (1) value of a type given by its file number."""

    datatype: int
    min_or_max: int

    def infer(self, *specs: TensorSpec) -> Specs:
        """A scalar of the type that ``datatype`` names by number."""
        if self.datatype not in TYPE_CODES:
            raise GraphError(f"{self.datatype} is no data type; {', '.join(f'{n} {t}' for n, t in TYPE_CODES.items())}")
        return TensorSpec((), DataType[TYPE_CODES[self.datatype]])

    def compute(self, xp: Any) -> Any:
        """The value from the limits of the type."""
        dtype = DataType[TYPE_CODES[self.datatype]]
        if dtype is DataType.BOOL:
            return xp.asarray(bool(self.min_or_max))
        if dtype.is_integer:
            info = np.iinfo(dtype.numpy)
            return xp.asarray(info.max if self.min_or_max else info.min, dtype.numpy)
        import ml_dtypes
        limits = ml_dtypes.finfo(dtype.numpy)  # type: ignore[no-untyped-call]
        return xp.asarray(limits.max if self.min_or_max else limits.smallest_normal, dtype.numpy)
