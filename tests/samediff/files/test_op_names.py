"""Every op that DL4J writes with arguments is read as a registered op, by its number and by its name."""
from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.file_args import FileArgs
from dl4py.samediff.codecs.flatbuffers.graph import FlatGraph, FlatNode, FlatVariable, IntPair
from dl4py.samediff.codecs.flatbuffers.schema import OpType, VarType
from dl4py.samediff.codecs.flatbuffers.writer import write_flat_graph
from dl4py.samediff.codecs.op_hash import op_hash
from dl4py.samediff.files import node_args
from dl4py.samediff.files.foreign_names import onnx_names, tensorflow_names
from dl4py.samediff.files.missing_function import MissingFunction, is_call
from dl4py.samediff.files.node_args import OpNames, file_args
from dl4py.samediff.ir.op import OPS, op

NAMES = {
    "convolution":
        "conv1d conv2d sconv2d depthwise_conv2d deconv2d deconv2d_tf conv3dnew deconv3d pointwise_conv2d maxpool2d avgpool2d "
        "pnormpool2d maxpool3dnew avgpool3dnew max_pool_with_argmax upsampling2d upsampling3d im2col col2im lrn dilation2d "
        "space_to_depth depth_to_space space_to_batch batch_to_space space_to_batch_nd batch_to_space_nd extract_image_patches",
    "normalization":
        "batchnorm fused_batch_norm layer_norm standardize biasadd xw_plus_b relu_layer mmul batched_gemm tensormmul "
        "dot_product_attention multi_head_dot_product_attention",
    "activation": "softmax log_softmax elu crelu prelu thresholdedrelu sigmoid_bp tanh_bp relu_bp softmax_bp",
    "arithmetic":
        "add subtract multiply divide reversesubtract reversedivide squaredsubtract floordiv floormod mod realdiv truncatediv "
        "divide_no_nan maximum minimum Pow tf_atan2 equals not_equals less less_equal greater greater_equal boolean_and "
        "boolean_or boolean_xor bitwise_and bitwise_or bitwise_xor shift_bits rshift_bits cyclic_shift_bits cyclic_rshift_bits "
        "boolean_not assign mergeadd mergeavg mergemax mergemaxindex identity identity_n stop_gradient noop Assert ClipByValue "
        "clipbynorm clipbyavgnorm clip_by_global_norm",
    "reductions":
        "argmax argmin argamax argamin reduce_logsumexp cumsum cumprod moments normalize_moments sufficient_statistics ismax "
        "zero_fraction bincount confusion_matrix top_k in_top_k unique percentile nth_element histogram histogram_fixed_width",
    "shape":
        "reshape reshapeas permute transpose expand_dims squeeze concat stack unstack split split_v strided_slice slice gather "
        "gather_nd scatter_add scatter_sub scatter_mul scatter_div scatter_max scatter_min scatter_upd scatter_nd "
        "scatter_nd_add scatter_nd_sub scatter_nd_update pad mirror_pad tile repeat reverse reverse_sequence roll onehot "
        "shape_of shapes_of size size_at rank flatten flatten_2d broadcast_to broadcast_dynamic_shape cast bitcast "
        "invert_permutation meshgrid where_np Where select",
    "creation":
        "zeros_as ones_as fill create eye tri triu range lin_space random_normal randomuniform random_bernoulli "
        "random_exponential random_gamma random_poisson random_multinomial random_shuffle random_crop dropout",
    "losses":
        "absolute_difference_loss hinge_loss mean_sqerr_loss mean_pairwssqerr_loss cosine_distance_loss huber_loss log_loss "
        "log_poisson_loss sigm_cross_entropy_loss softmax_cross_entropy_loss softmax_cross_entropy_loss_with_logits "
        "sparse_softmax_cross_entropy_loss_with_logits weighted_cross_entropy_with_logits l2_loss ctc_loss",
    "recurrent": "lstmLayer lstmBlock lstmBlockCell lstmCell gru gruCell sru sruCell",
    "linear algebra":
        "matrix_inverse matrix_determinant log_matrix_determinant logdet cholesky svd qr lu solve triangular_solve lstsq "
        "matrix_band_part matrix_diag matrix_diag_part matrix_set_diag diag diag_part trace cross",
    "image":
        "resize_bilinear resize_nearest_neighbor resize_bicubic resize_area image_resize crop_and_resize non_max_suppression "
        "adjust_contrast_v2 adjust_hue adjust_saturation",
    "segments":
        "segment_sum segment_mean segment_max segment_min segment_prod unsorted_segment_sum unsorted_segment_mean "
        "unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n dynamic_partition "
        "dynamic_stitch sequence_mask embedding_lookup tensorarrayv3",
    "seen": "bits_hamming_distance hsv_to_rgb invoke rgb_to_hsv rgb_to_yiq rgb_to_yuv scatter_update zeroslike",
}
ALL = [name for line in NAMES.values() for name in line.split()]

#: Names that are no op of their own, and why.
EXCEPTIONS = {"invoke": "a call of a function of the file: what takes its place depends on the function"}


def custom(name: str, number: int | None = None, inputs: int = 0) -> FlatNode:
    """A node as DL4J writes it."""
    return FlatNode(name="n", op_type=int(OpType.CUSTOM), op_num=op_hash(name) if number is None else number, op_name=name,
                    input_paired=tuple(IntPair(i + 1) for i in range(inputs)))


def test_names_are_complete() -> None:
    assert len(ALL) == len(set(ALL)) == 264


@pytest.mark.parametrize("name", ALL)
def test_name_is_read(name: str) -> None:
    names = OpNames()
    if name in EXCEPTIONS:
        assert names[custom(name)] is None and is_call(custom(name))
        return
    by_number, by_name = names[custom(name)], names[custom(name, 0)]
    assert by_number is not None and by_number is by_name
    assert OPS[by_number.id] is by_number and isinstance(file_args(by_number), FileArgs)


OWN = {name: file_args(OPS[name]) for name in OPS if vars(OPS[name]).get("file") is not None}
ALIASES = [(alias, name) for name, args in OWN.items() for alias in args.aliases]
WITH_INPUTS = [(args.op_name, count, name) for name, args in OWN.items() for count in args.with_inputs]


def test_aliases_are_read_as_their_op() -> None:
    names = OpNames()
    assert len({alias for alias, _ in ALIASES}) == len(ALIASES) >= 6
    for kernel, op_id in ALIASES:
        assert kernel not in OPS and names[custom(kernel)] is OPS[op_id]


def test_the_number_of_inputs_tells_classes_of_one_name_apart() -> None:
    assert len({(name, count) for name, count, _ in WITH_INPUTS}) == len(WITH_INPUTS) >= 6
    for name, count, op_id in WITH_INPUTS:
        assert OpNames()[custom(name, inputs=count)] is OPS[op_id] is not OPS[name]


@pytest.mark.parametrize(("parent", "node"), [("and", custom("boolean_and")), ("clip_by_values", custom("ClipByValue", inputs=3))])
def test_a_class_derived_from_an_op_takes_no_nodes_of_its_parent(parent: str, node: FlatNode) -> None:
    op("acme.derived")(type("Derived", (OPS[parent],), {"__doc__": "Another one."}))
    try:
        assert OpNames()[node] is OPS[parent]
    finally:
        OPS.remove("acme.derived")


def loaded(name: str, inputs: dict[str, DataType], outputs: dict[str, DataType], **fields: object) -> SameDiff:
    """A graph file with one node of that name, read."""
    variables = [FlatVariable(IntPair(i + 2), n, d.code, variabletype=int(VarType.PLACEHOLDER)) for i, (n, d) in enumerate(inputs.items())]
    variables += [FlatVariable(IntPair(1, i), n, d.code, variabletype=int(VarType.ARRAY)) for i, (n, d) in enumerate(outputs.items())]
    node = FlatNode(1, "n", int(OpType.CUSTOM), op_hash(name), op_name=name, input_paired=tuple(IntPair(i + 2) for i in range(len(inputs))),
                    output_names=tuple(outputs), output_types=tuple(d.code for d in outputs.values()), **fields)  # type: ignore[arg-type]
    return SameDiff.from_flat_buffers(write_flat_graph(FlatGraph(variables=tuple(variables), nodes=(node,))))


F, B, L = DataType.FLOAT, DataType.BOOL, DataType.LONG


@pytest.mark.parametrize("name, inputs, expected", [
    ("boolean_and", {"a": [True, True], "b": [True, False]}, [True, False]),
    ("boolean_or", {"a": [False, True], "b": [False, False]}, [False, True]),
    ("boolean_xor", {"a": [True, True], "b": [True, False]}, [False, True]), ("realdiv", {"a": [3.0, 1.0], "b": [2.0, 4.0]}, [1.5, 0.25]),
    ("reshapeas", {"a": [1.0, 2.0], "b": [[0.0, 0.0]]}, [[1.0, 2.0]])])
def test_alias_computes(name: str, inputs: dict[str, list[object]], expected: list[object]) -> None:
    arrays = {n: np.asarray(v, bool if isinstance(v[0], bool) else np.float32) for n, v in inputs.items()}
    kind = DataType.of(arrays["a"])
    sd = loaded(name, dict.fromkeys(arrays, kind), {"y": kind})
    assert sd.output(arrays, "y")["y"].tolist() == expected
    stream = io.BytesIO()
    sd.save(stream)
    stream.seek(0)
    assert SameDiff.load(stream).output(arrays, "y")["y"].tolist() == expected


def test_scatter_upd() -> None:
    sd = loaded("scatter_upd", {"ref": F, "i": L, "u": F}, {"y": F}, extra_bools=(True, False))
    given = {"ref": np.zeros((3, 1), np.float32), "i": np.array([2, 0]), "u": np.array([[5], [6]], np.float32)}
    assert sd.output(given, "y")["y"].tolist() == [[6], [0], [5]]


def test_slots() -> None:
    sd = loaded("percentile", {"x": F}, {"y": F}, extra_integer=(1,), extra_params=(50.0, 0.0, 1.0))
    assert sd.output({"x": np.array([[3, 1, 4, 1]], np.float32)}, "y")["y"].tolist() == [[1]]
    sd = loaded("unique", {"x": F}, {"v": F, "i": L})
    assert [a.tolist() for a in sd.output({"x": np.array([7, 5, 7], np.float32)}, "v", "i").values()] == [[7, 5], [0, 1, 0]]
    inputs = dict.fromkeys(("x", "h", "c", "wx", "wh", "wc", "wp", "b"), F)
    sd = loaded("lstmCell", inputs, {"y": F, "z": F}, extra_integer=(1, 0), extra_params=(0.5, 0.0, 1.0))
    op = sd.nodes()[0].op
    assert (op.peephole, op.projection, op.cell_clip, op.forget_bias) == (True, False, 0.5, 1.0)  # type: ignore[attr-defined]
    sd = loaded("random_multinomial", {"x": F, "n": L}, {"y": DataType.INT}, extra_integer=(0, DataType.INT.code))
    assert sd.nodes()[0].op.dimension == 0 and sd.variable("y").dtype is DataType.INT  # type: ignore[attr-defined]
    sd = loaded("log_matrix_determinant", {"x": F}, {"sign": F, "log": F})
    assert [a.item() for a in sd.output({"x": np.array([[-1.0]], np.float32)}, "sign", "log").values()] == [-1, 0]


def test_an_op_that_comes_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plug-ins are loaded one after the other until one of them has the name."""
    loaded_so_far: list[str] = []

    def further() -> Iterator[str]:
        for part in ("a", "b", "c"):
            loaded_so_far.append(part)
            if part == "b":
                op("acme.late")(type("Late", (OPS["tanh"],), {"__doc__": "Late.", "file": FileArgs(op_type="UDF", aliases=("acme_old",))}))
            yield part
    monkeypatch.setattr(node_args, "further", further)
    try:
        names = OpNames()
        assert names[FlatNode(op_type=int(OpType.UDF), op_name="acme.late")] is OPS["acme.late"] and loaded_so_far == ["a", "b"]
        assert names[custom("acme_old")] is OPS["acme.late"] and names[custom("tanh")] is OPS["tanh"] and loaded_so_far == ["a", "b"]
        assert names[custom("acme.nobody")] is None is names[custom("acme.nobody")] and loaded_so_far == ["a", "b", "a", "b", "c"]
    finally:
        OPS.remove("acme.late")


@pytest.mark.parametrize(("name", "kind", "found"), [
    ("reduce_sum", OpType.CUSTOM, "reduce_sum"), ("tanh", OpType.UDF, "tanh"), ("acme.x", OpType.UDF, None),
    (None, OpType.CUSTOM, None)])
def test_ops_by_name_alone(name: str | None, kind: OpType, found: str | None) -> None:
    cls = OpNames()[FlatNode(name="n", op_type=int(kind), op_num=0, op_name=name)]
    assert cls is (None if found is None else OPS[found])


@pytest.mark.parametrize(("name", "tensorflow", "onnx"), [
    ("stack", ["Pack", "Stack"], []), ("conv2d", ["Conv2D"], ["Conv"]), ("dropout_inverted", [], ["Dropout"]), ("acme.x", [], [])])
def test_names_elsewhere(name: str, tensorflow: list[str], onnx: list[str]) -> None:
    assert (tensorflow_names(name), onnx_names(name)) == (tensorflow, onnx)


def test_missing_function_stays_as_it_was() -> None:
    sd = loaded("invoke", {"x": F}, {"y": F})
    assert isinstance(sd.nodes()[0].op, MissingFunction)
    stream = io.BytesIO()
    sd.save(stream)
    stream.seek(0)
    assert isinstance(SameDiff.load(stream).nodes()[0].op, MissingFunction)
