"""Rows spread over several arrays and put together again; masks and counts from labels."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.named_axes import expect, expect_leading
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError, OutOfRangeError, ShapeError
from ...families.in_float import in_float
from ...families.indices import check_range, require_integer
from ...families.shape_inputs import ints_of
from ...ir.op import Op, Specs, op, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("dynamic_partition", api="base.dynamic_partition math.dynamic_partition", inputs="x partitions",
    file=FileArgs(ints=("num_partitions",)))
class DynamicPartition(Op):
    """Row i of x goes to output ``partitions[i]``; the order stays."""

    num_partitions: int

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """One array for each partition; the number of rows depends on the values."""
        x, partitions = specs
        require_integer("partitions", partitions)
        expect_leading("x", x, partitions.shape)
        if x.shape is None or partitions.shape is None:
            return (TensorSpec(None, x.dtype),) * self.num_partitions
        inner, values = x.shape[len(partitions.shape):], ints_of(partitions)
        if values is not None:
            self.check(np.asarray(values, np.int64))
        return tuple(TensorSpec((-1 if values is None else values.count(k), *inner), x.dtype) for k in range(self.num_partitions))

    def check(self, partitions: Any) -> None:
        """ShapeError for the number of no output."""
        check_range(f"{self.id}: partition", partitions, self.num_partitions, "a number of partitions of")

    def compute(self, xp: Any, x: Any, partitions: Any) -> Any:
        self.check(partitions)
        return tuple(x[partitions == k] for k in range(self.num_partitions))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(PartitionJoin(), [*inputs, *output_grads]), None]


@op("partition_join", inputs="like partitions *xs", shape_inputs=(0,))
class PartitionJoin(Op):
    """Inverse of :class:`DynamicPartition` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, like: Any, partitions: Any, *xs: Any) -> Any:
        check_range(f"{self.id}: partition", partitions, len(xs), "a number of partitions of")
        out = xp.zeros(like.shape, like.dtype)
        for k, x in enumerate(xs):
            out[partitions == k] = x
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [None, None, *inputs[0].sd.add_op(DynamicPartition(len(inputs) - 2), [output_grads[0], inputs[1]])]


def _rows(indices: Sequence[Any]) -> int:
    """The largest index plus 1; ShapeError for a negative one."""
    least = min((int(i.min()) for i in indices if i.size), default=0)
    if least < 0:
        raise OutOfRangeError(f"dynamic_stitch: index {least} is out of range (0 and above)")
    return max((int(i.max()) for i in indices if i.size), default=-1) + 1


@op("dynamic_stitch", api="base.dynamic_stitch math.dynamic_stitch", inputs="*parts")
class DynamicStitch(Op):
    """Rows of several arrays at their indices: out[indices[m][i]] = x[m][i].

    Takes as many index arrays as arrays; of repeated indices the last counts.
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        """As many rows as the largest index plus 1."""
        half = len(specs) // 2
        if not specs or len(specs) % 2:
            raise GraphError(f"as many index arrays as arrays expected, got {len(specs)} in all")
        shape, first = specs[half].shape, specs[0].shape
        inner = None if shape is None or first is None else shape[len(first):]
        for indices, x in zip(specs[:half], specs[half:]):
            require_integer("indices", indices)
            require_same_type("dynamic_stitch", specs[half], x)
            expect_leading("the rows of an array", x, indices.shape)
            expect("an array", x, None if inner is None or indices.shape is None else (*indices.shape, *inner))
        values = [ints_of(s) for s in specs[:half]]
        n = -1 if None in values else _rows([np.asarray(v, np.int64) for v in values])
        return TensorSpec(None if inner is None else (n, *inner), specs[half].dtype)

    def compute(self, xp: Any, *parts: Any) -> Any:
        """The arrays' rows written in turn; later ones replace earlier ones."""
        half = len(parts) // 2
        indices, xs = parts[:half], parts[half:]
        n = _rows(indices)
        out = xp.zeros((n, *xs[0].shape[indices[0].ndim:]), xs[0].dtype)
        for i, x in zip(indices, xs):
            out[i] = x
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient's rows at the indices, 0 for rows that were replaced."""
        half = len(inputs) // 2
        sd, g = inputs[0].sd, output_grads[0]
        kept = sd.add_op(StitchKept(), list(inputs))
        kept = kept if isinstance(kept, list) else [kept]
        return [None] * half + [sd.call("base", "gather", g, i, 0) * k for i, k in zip(inputs[:half], kept)]


@op("stitch_kept", inputs="*parts", gradient="zero")
class StitchKept(Op):
    """1 for rows that no later one overwrites, else 0 (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        return tuple(TensorSpec(s.shape, s.dtype) for s in specs[len(specs) // 2:])

    def compute(self, xp: Any, *parts: Any) -> Any:
        """For each row 1 if it stays in the result, 0 if a later one replaces it."""
        half = len(parts) // 2
        indices, xs = parts[:half], parts[half:]
        owner = xp.full(_rows(indices), -1)
        rows, start = [], 0
        for i in indices:
            rows.append(xp.arange(start, start + i.size).reshape(i.shape))
            owner[i] = rows[-1]
            start += i.size
        return tuple(xp.broadcast_to((owner[i] == r).astype(x.dtype).reshape(*i.shape, *[1] * (x.ndim - i.ndim)), x.shape)
                     for i, r, x in zip(indices, rows, xs))


class _MaskArgs(FileArgs):
    """Files have no length where an input says it."""

    def encode(self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT) -> dict[str, Any]:
        length = None if op_fields["given_longest"] else op_fields["max_len"]
        return super().encode({**op_fields, "max_len": length}, op_name, input_dtype)


@op("sequence_mask", api="base.sequence_mask math.sequence_mask nn.sequence_mask", inputs="lengths longest?", gradient="zero",
    signatures=("lengths, max_len, data_type", "lengths, longest, data_type", "lengths, data_type"),
    file=_MaskArgs(ints=("max_len?",), dtypes=("data_type?",)))
class SequenceMask(Op):
    """1 where the position is smaller than the length, else 0; a new last axis of ``max_len``, at least the longest length.

    A length of 0 or below hides all positions.
    """

    max_len: int = 0
    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        require_integer("lengths", specs[0])
        values = ints_of(specs[0])
        given = ints_of(specs[1]) if len(specs) > 1 else (self.max_len,)
        n = -1 if values is None or given is None else max(*given, *values)
        return TensorSpec(None if specs[0].shape is None else (*specs[0].shape, n), self.data_type)

    def compute(self, xp: Any, lengths: Any, longest: Any = None) -> Any:
        n = max(self.max_len if longest is None else int(longest.reshape(-1)[0]), int(lengths.max()) if lengths.size else 0)
        return (xp.arange(n) < lengths[..., None]).astype(self.data_type.numpy)


@op("confusion_matrix", api="math.confusion_matrix base.confusion_matrix", inputs="labels pred weights?", signatures=(
    "labels, pred, num_classes", "labels, pred, data_type", "labels, pred, weights, num_classes", "labels, pred, num_classes, data_type"),
    file=FileArgs(ints=("num_classes?",), dtypes=("data_type?",)))
class ConfusionMatrixOp(Op):
    """Counts (or sums of weights) by true label (row) and prediction (column).

    Shapes: labels (n), pred (n), weights (n) -> (K, K), K = ``num_classes`` or the largest class plus 1.
    """

    num_classes: int | None = None
    data_type: DataType | None = None

    def infer(self, *specs: TensorSpec) -> Specs:
        """K by K; the type of the weights, else INT."""
        labels, pred = specs[:2]
        for spec in (labels, pred):
            require_integer("classes", spec)
        if None not in (labels.shape, pred.shape) and labels.is_static and pred.is_static and labels.shape != pred.shape:
            raise ShapeError(f"labels {labels.shape} and predictions {pred.shape} must have one shape")
        if len(specs) > 2:
            expect("weights", specs[2], labels.shape)
        values = [ints_of(s) for s in (labels, pred)]
        known = -1 if None in values else max((v for part in values for v in part or ()), default=-1) + 1
        n = self.num_classes or known
        for part in values:
            check_range(f"{self.id}: class", np.asarray(part or (), np.int64), n if n >= 0 else 2 ** 63, "a number of classes of")
        return TensorSpec((n, n), self.data_type or (specs[2].dtype if len(specs) > 2 else DataType.INT))

    @in_float
    def compute(self, xp: Any, labels: Any, pred: Any, weights: Any = None) -> Any:
        """Elements added one by one, so that equal indices add up."""
        n = self.num_classes or max((int(part.max()) + 1 for part in (labels, pred) if part.size), default=0)
        for what, classes in (("label", labels), ("prediction", pred)):
            check_range(f"{self.id}: {what}", classes, n, "a number of classes of")
        out = xp.zeros((n, n), xp.int64 if weights is None else weights.dtype)
        xp.add.at(out, (labels.reshape(-1), pred.reshape(-1)), 1 if weights is None else weights.reshape(-1))
        return out if self.data_type is None else out.astype(self.data_type.numpy)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """For weights: the gradient of the cell that each was added to."""
        if len(inputs) < 3:
            return [None, None]
        labels, pred, weights = inputs
        sd = labels.sd
        cells = sd.call("base", "stack", 1, *(v.cast_to(DataType.LONG) for v in (labels, pred)))
        rows = sd.call("base", "gather_nd", output_grads[0], cells)
        return [None, None, rows.cast_to(weights.dtype) if weights.dtype.is_floating else None]
