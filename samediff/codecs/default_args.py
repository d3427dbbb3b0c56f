"""File arguments of the built-in ops whose classes do not declare them, and which class a node with inputs means."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..base.datatype import DataType
from ..errors import FileFormatError
from ..expressions.conditions import MODES, Condition
from .file_args import FileArgs
from .flat_graph import FlatNode

_TYPE: Any = {"dtypes": ("data_type?",)}

REDUCTION = FileArgs(bools=("keep_dims", "=true"), dimensions="dimensions", properties={"keepDims": "b:keep_dims"})
STATISTIC = FileArgs(dimensions="dimensions", properties={"keepDims": "b:keep_dims", "biasCorrected": "b:bias_corrected"})
SCALAR = FileArgs(scalar="scalar")
AXES = FileArgs(ints=("*dimensions",))
AXIS = FileArgs(ints=("axis",))
ARG = FileArgs(ints=("*dimensions",), bools=("keep_dims",), dtypes=("=9",))
RUNNING = FileArgs(ints=("exclusive:bool", "reverse:bool", "*axis"))


def _of(names: str) -> list[str]:
    return names.split()


def _clipped(name: str) -> FileArgs:
    """A legacy scalar op whose operand has a name of its own."""
    return FileArgs(floats=(name,), scalar=name, properties={name: f"d:{name}"})


@dataclass(frozen=True)
class ConditionArgs(FileArgs):
    """A condition as its value, tolerance and mode; ``with_operand`` for the ops that write a value where it holds."""

    with_operand: bool = False

    def encode(self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT) -> dict[str, Any]:
        c = op_fields["condition"]
        numbers = [c.value, c.eps, float(MODES.index(c.mode))]
        parts = super().encode(op_fields, op_name, input_dtype)
        if self.with_operand or self.op_type is not None:
            numbers.insert(1, op_fields.get("value", 0.0))
        return parts | {"extra_params": tuple(numbers)}

    def decode(self, node: FlatNode) -> dict[str, Any]:
        found, numbers = super().decode(node), list(node.extra_params)
        if self.with_operand and len(numbers) > 1:
            found["value"] = numbers.pop(1)
        elif len(numbers) > 3:  # the form with two arrays has a value too, which nobody reads
            numbers.pop(1)
        if len(numbers) < 3 or not 0 <= int(numbers[2]) < len(MODES):
            raise FileFormatError(f"node {node.name!r}: a condition is value, tolerance and mode (0 to {len(MODES) - 1}); got {numbers}")
        return found | {"condition": Condition(MODES[int(numbers[2])], numbers[0], numbers[1])}


@dataclass(frozen=True)
class ReshapeArgs(FileArgs):
    """The order as -99 (c), then the shape; files of older versions hold the shape alone."""

    def decode(self, node: FlatNode) -> dict[str, Any]:
        order, *shape = node.extra_integer or (None,)
        if order == -102:
            raise FileFormatError(f"node {node.name!r}: reshaping in column order (f) is not supported")
        return {} if order is None else {"shape": tuple(shape if order == -99 else node.extra_integer)}


@dataclass(frozen=True)
class IndexArgs(FileArgs):
    """Python's ``x[...]``, stored as the strided slice with the same meaning."""

    def encode(self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT) -> dict[str, Any]:
        rows = []
        masks = dict.fromkeys(("begin", "end", "new", "shrink"), 0)
        for i, entry in enumerate(op_fields["axes"]):
            kind, begin, end, stride = ("new", 0, 0, 1) if entry == "new" else (*entry, 1)[:4]
            if kind == "point":
                masks["shrink"] |= 0 if end else 1 << i
                end = None if begin == -1 else begin + 1
            masks["new"] |= (kind == "new") << i
            masks["begin"] |= (begin is None) << i
            masks["end"] |= (end is None) << i
            rows.append((begin or 0, end or 0, 1 if kind == "point" else stride))
        columns = zip(*rows) if rows else ((), (), ())
        parts = super().encode({}, op_name, input_dtype)
        bits = (masks["begin"], 0, masks["end"], masks["new"], masks["shrink"])
        return parts | {"extra_integer": (*bits, *(n for c in columns for n in c))}


DEFAULTS: dict[str, FileArgs] = {
    **dict.fromkeys(_of("reduce_prod reduce_sum reduce_mean reduce_max reduce_min reduce_norm1 reduce_norm2 reduce_sqnorm reduce_normmax "
                     "asum amax amin entropy shannonentropy logentropy all any countNonZero countZero amean"), REDUCTION),
    **dict.fromkeys(("var", "std"), STATISTIC),
    **dict.fromkeys(_of("add_scalar sub_scalar mul_scalar div_scalar rsub_scalar rdiv_scalar max_scalar scalar_min fmod_scalar set_scalar "
                     "equals_scalar notequals_scalar lessthan_scalar lessthanorequal_scalar "
                     "greaterthan_scalar greaterthanorequal_scalar"), SCALAR),
    **{name: _clipped(field) for name, field in (("pow", "value"), ("leakyrelu", "alpha"), ("leakyreluderivative", "alpha"),
                                                 ("log_x", "base"), ("step", "value"))},
    **dict.fromkeys(("relu", "relu6"), FileArgs(scalar="cutoff")),
    "elu": FileArgs(floats=("alpha",), properties={"alpha": "d:alpha"}),
    "thresholdedrelu": FileArgs(floats=("cutoff",)),
    "prelu": FileArgs(ints=("*shared_axes",), properties={"sharedAxes": "i[]:shared_axes"}),
    "fill": FileArgs(floats=("value",), dtypes=("data_type?",), properties={"outputDataType": "s:data_type:dtype"}),
    "create": FileArgs(ints=("order:99=c|102=f", "data_type:dtype"), bools=("initialize",)),
    "range": FileArgs(floats=("from_", "to", "step"), **_TYPE),
    "range_of": FileArgs(op_name="range", **_TYPE),
    "lin_space": FileArgs(ints=("number",), floats=("start", "stop"), **_TYPE),
    "lin_space_of": FileArgs(op_name="lin_space", **_TYPE),
    "eye": FileArgs(ints=("rows", "cols?", "*dimensions"), floats=("data_type:dtype",)),
    "eye_of": FileArgs(op_name="eye"),
    "min_max_datatype": FileArgs(ints=("datatype", "min_or_max")),
    "gather": FileArgs(ints=("axis", "*indices")),
    "gather_bp": AXIS,
    "onehot": FileArgs(ints=("axis", "depth"), floats=("on", "off"), **_TYPE),
    "concat": FileArgs(ints=("dimension",), properties={"concatDimension": "i:dimension", "isDynamicAxis": "b:=false"}),
    "stack": AXIS,
    "unstack": FileArgs(ints=("axis",), properties={"num": "i:num"}),
    "split": FileArgs(ints=("num_split", "split_dim"), properties={"numSplit": "i:num_split", "splitDim": "i:split_dim"}),
    "split_v": FileArgs(ints=("split_dim",), properties={"numSplit": "i:num_split", "splitDim": "i:split_dim"}),
    "tile": FileArgs(ints=("*repeat",)),
    "repeat": AXIS,
    "matmul": FileArgs(ints=("transpose_x:bool", "transpose_y:bool", "transpose_z:bool"), floats=("=1.0", "=0.0"), properties={
        "transposeA": "b:transpose_x", "transposeB": "b:transpose_y", "transposeResult": "b:transpose_z"}),
    "tensordot": FileArgs(ints=("#dimensions_x", "*dimensions_x", "#dimensions_y", "*dimensions_y"),
                          bools=("transpose_x", "transpose_y", "transpose_z")),
    "dot": FileArgs(dimensions="dimensions", properties={"keepDims": "b:keep_dims"}),
    "moments": FileArgs(ints=("*dimensions",), bools=("keep_dims",), properties={"keepDims": "b:keep_dims"}),
    "normalize_moments": FileArgs(floats=("shift",)),
    "standardize": AXES,
    "reduce_logsumexp": FileArgs(ints=("*dimensions",), floats=("keep_dims:bool",), properties={"keepDims": "b:keep_dims"}),
    "reshape": ReshapeArgs(ints=("=-99", "*shape")),
    "expand_dims": AXIS,
    "squeeze": FileArgs(ints=("*axis",)),
    "permute": AXES,
    "flatten": FileArgs(ints=("order:99=c|102=f",)),
    "zeros_as": FileArgs(op_name="zeroslike", **_TYPE),
    "ones_as": FileArgs(**_TYPE),
    "cast": FileArgs(ints=("data_type?:dtype",), dtypes=("~data_type",)),
    "size_at": FileArgs(ints=("dimension",)),
    "slice": FileArgs(ints=("*starts", "*sizes")),
    "strided_slice": FileArgs(ints=("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask",
                                    "*starts", "*stops", "*steps")),
    "index": IndexArgs(op_name="strided_slice"),
    "reverse": AXES,
    "reverse_sequence": FileArgs(ints=("seq_dim", "batch_dim")),
    "argmax": ARG,
    "argmin": ARG,
    "ismax": AXES,
    "cumsum": RUNNING,
    "cumprod": RUNNING,
    "cumprod_bp": RUNNING,
    **dict.fromkeys(_of("manhattan euclidean cosinesimilarity cosinedistance jaccarddistance hammingdistance"),
                    FileArgs(dimensions="dimensions", properties={"keepDims": "b:keep_dims", "isComplexAccumulation": "b:is_complex"})),
    "ClipByValue": FileArgs(floats=("clip_value_min", "clip_value_max"), properties={"clipValueMin": "d:clip_value_min",
                                                                                      "clipValueMax": "d:clip_value_max"}),
    **dict.fromkeys(("clipbynorm", "clipbyavgnorm"), FileArgs(ints=("*dimensions",), floats=("clip_value",))),
    "mergemaxindex": FileArgs(ints=("data_type:dtype",)),
    "meshgrid": FileArgs(ints=("cartesian:bool",)),
    **dict.fromkeys([f"unsorted_segment_{kind}" for kind in ("sum", "mean", "sqrt_n", "prod", "max", "min")],
                    FileArgs(ints=("num_segments?",))),
    "dynamic_partition": FileArgs(ints=("num_partitions",)),
    "sequence_mask": FileArgs(ints=("max_len?",), **_TYPE),
    "confusion_matrix": FileArgs(ints=("num_classes?",), **_TYPE),
    "match_condition_transform": ConditionArgs(),
    **dict.fromkeys(("match_condition", "first_index", "last_index"), ConditionArgs(bools=("keep_dims", "=true"), dimensions="dimensions")),
    "clip_by_values": FileArgs(op_name="ClipByValue"),
    "where_coordinates": FileArgs(op_name="Where"),
    "embedding_lookup": FileArgs(ints=("mode:MOD|DIV",)),
    **dict.fromkeys(("and", "or", "xor"), FileArgs(floats=("=0.0",), properties={"comparable": "d:=0.0"})),
    "iamax": replace(ARG, op_name="argmax"),
    "iamin": replace(ARG, op_name="argmin"),
    "car": ConditionArgs(op_type="TRANSFORM_SAME", op_num=13),
    "cas": ConditionArgs(with_operand=True),
}

#: Inputs in the order of the file, as positions among those of the class, where the two differ.
INPUT_ORDER = {"Where": (2, 0, 1), "where_np": (2, 0, 1)}

#: Ops that are another class when a node of theirs has so many inputs.
WITH_INPUTS = {("range", 3): "range_of", ("lin_space", 3): "lin_space_of", ("eye", 1): "eye_of", ("eye", 2): "eye_of",
               ("ClipByValue", 3): "clip_by_values", ("Where", 1): "where_coordinates"}

#: Ops whose nodes hold the shape of the first input as a property.
WITH_SHAPE = ("dropout", "dropout_inverted", "alpha_dropout", "probablistic_merge")

#: Attribute that files lack when an input takes its place.
LEFT_OUT = {"sequence_mask": ("max_len", "longest")}

#: Outputs that DL4J's kernels give beside those here; nobody reads them. Types as in ``DataType``, None for that of the first output.
MORE_OUTPUTS: dict[str, tuple[str | None, ...]] = {"lu": ("INT",), "svd": (None, None)}
