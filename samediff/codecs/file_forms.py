"""Places of attributes that several ops share: those of DL4J's legacy kinds."""
from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from .file_args import FileArgs
from .flatbuffers.schema import OpType
from .legacy_table import LEGACY_NUMBERS

REDUCTION = FileArgs(bools=("keep_dims", "=true"), dimensions="dimensions", properties={"keepDims": "b:keep_dims"})
SCALAR = FileArgs(scalar="scalar")

_REDUCTIONS = (OpType.REDUCE_FLOAT, OpType.REDUCE_SAME, OpType.REDUCE_LONG, OpType.REDUCE_BOOL)


def operand(name: str) -> FileArgs:
    """A legacy scalar op whose operand has a name of its own."""
    return FileArgs(floats=(name,), scalar=name, properties={name: f"d:{name}"})


def of_reduction(op_name: str) -> FileArgs | None:
    """The form of a reduction, by name where DL4J has no number for it."""
    return REDUCTION if LEGACY_NUMBERS.get(op_name, (None,))[0] in _REDUCTIONS else None


def as_custom(form: FileArgs, attributes: Collection[str]) -> FileArgs:
    """The form of the custom op with these attributes: what DL4J's legacy kinds keep elsewhere stands in the argument vectors."""
    ints = form.ints or ((f"*{form.dimensions}",) if form.dimensions else ())
    bools = tuple(n for n in ("keep_dims", "bias_corrected") if n in attributes) if form.dimensions else form.bools
    return replace(form, op_name=None, op_type="CUSTOM", op_num=None, ints=ints, bools=bools,
                   floats=form.floats or ((form.scalar,) if form.scalar else ()), dimensions=None, scalar=None,
                   order=(), added={}, more_outputs=(), with_inputs=(), aliases=(), called=None)


def of_scalar(op_name: str) -> FileArgs:
    """The form of an op with a number for its second operand; one that Java no longer writes is read from old files."""
    return SCALAR if op_name in LEGACY_NUMBERS else FileArgs(all_properties=True, scalar="~scalar")
