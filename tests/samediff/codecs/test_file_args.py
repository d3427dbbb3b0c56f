"""Declared argument slots: every recorded node decodes and encodes back to the same arguments."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dl4py.samediff import SameDiff
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.codecs.arg_slots import load_slots, store_slots
from dl4py.samediff.codecs.file_args import FileArgs
from dl4py.samediff.codecs.flatbuffers.graph import FlatNode
from dl4py.samediff.codecs.flatbuffers.properties import make_property, property_value
from dl4py.samediff.codecs.flatbuffers.reader import read_flat_graph
from dl4py.samediff.codecs.flatbuffers.schema import OpType
from dl4py.samediff.codecs.flatbuffers.writer import write_flat_graph
from dl4py.samediff.codecs.legacy_table import LEGACY_NAMES, LEGACY_NUMBERS, op_identity, resolve_op_name
from dl4py.samediff.codecs.op_hash import op_hash
from dl4py.samediff.errors import FileFormatError, GraphError, RegistrationError
from dl4py.samediff.ir.op import OPS

GOLDEN = Path(__file__).parents[2] / "golden" / "samediff"
NODES = [node for path in sorted(GOLDEN.glob("*/*/graph.fb")) for node in read_flat_graph(path.read_bytes()).nodes]

REDUCTION = FileArgs(bools=("keep_dims:bool", "=true"), dimensions="dimensions", properties={"keepDims": "b:keep_dims"})
STATISTIC = FileArgs(dimensions="dimensions",
                     properties={"keepDims": "b:keep_dims", "biasCorrected": "b:bias_corrected"})
SCALAR = FileArgs(scalar="scalar")
LOSS = FileArgs(ints=("loss_reduce:NONE|SUM|MEAN_BY_WEIGHT|MEAN_BY_NONZERO_WEIGHT_COUNT",),
                properties={"lossReduce": "l:loss_reduce:NONE|SUM|MEAN_BY_WEIGHT|MEAN_BY_NONZERO_WEIGHT_COUNT"})
DISTRIBUTION = FileArgs(floats=("mean", "stddev"),
                        properties={"mean": "d:mean", "stddev": "d:stddev", "shape": "l[]:shape",
                                    "dataType": "s:dtype:dtype"})
DECLARED = {
    "conv2d": FileArgs(
        ints=("k_h", "k_w", "s_h", "s_w", "p_h", "p_w", "d_h", "d_w", "padding_mode:VALID|SAME|CAUSAL",
              "data_format:NCHW|NHWC", "weights_format?"),
        properties={n: "l:" + f"{n[0]}_{n[1]}".lower() for n in ("kH", "kW", "sH", "sW", "pH", "pW", "dH", "dW")}
        | {"paddingMode": "s:padding_mode", "dataFormat": "s:data_format"}),
    "matmul": FileArgs(ints=("transpose_a:bool", "transpose_b:bool", "transpose_result:bool"), floats=("alpha", "beta"),
                       properties={"transposeA": "b:transpose_a", "transposeB": "b:transpose_b",
                                   "transposeResult": "b:transpose_result"}),
    "tensordot": FileArgs(ints=("#dimensions_x", "*dimensions_x", "#dimensions_y", "*dimensions_y"),
                          bools=("transpose_x", "transpose_y", "transpose_z")),
    "reshape": FileArgs(ints=("order?:-99=c|-102=f", "*shape")),
    "permute": FileArgs(ints=("*dimensions",)),
    "slice": FileArgs(ints=("*begin", "*size")),
    "concat": FileArgs(ints=("dimension",), properties={"concatDimension": "i:dimension", "isDynamicAxis": "b:=false"}),
    "split": FileArgs(ints=("num_split", "split_dim"),
                      properties={"numSplit": "i:num_split", "splitDim": "i:split_dim"}),
    "strided_slice": FileArgs(ints=("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask",
                                    "*begin", "*end", "*strides")),
    "argmax": FileArgs(ints=("*dimensions",), bools=("keep_dims",), dtypes=("dtype?",)),
    "moments": FileArgs(ints=("*axes",), bools=("keep_dims",),
                        properties={"keepDims": "b:keep_dims", "dimensions": "i[]:axes"}),
    "cast": FileArgs(ints=("dtype?:dtype",), dtypes=("~dtype",)),
    "eye": FileArgs(ints=("rows", "cols?", "*batch"), floats=("dtype:dtype",)),
    "onehot": FileArgs(ints=("axis", "depth"), floats=("on", "off"), dtypes=("dtype?",)),
    "huber_loss": replace(LOSS, floats=("delta",)),
    "mean_sqerr_loss": LOSS,
    "enter": FileArgs(ints=("frame_id",), strings=("frame_name",), properties={"frameName": "s:frame_name"}),
    "ClipByValue": FileArgs(floats=("low", "high"), properties={"clipValueMin": "d:low", "clipValueMax": "d:high"}),
    "pow": FileArgs(floats=("exponent",), scalar="exponent", properties={"pow": "d:exponent"}),
    "leakyrelu": FileArgs(floats=("alpha",), scalar="alpha", properties={"alpha": "d:alpha"}),
    "log_x": FileArgs(floats=("base",), scalar="base", properties={"base": "d:base"}),
    "relu": FileArgs(scalar="=0.0"),
    "distribution_gaussian": DISTRIBUTION,
    "distribution_lognormal": DISTRIBUTION,
    "var": STATISTIC,
    "std": STATISTIC,
    "tanh": FileArgs(),
    "add": FileArgs(),
    **dict.fromkeys(("add_scalar", "sub_scalar", "rdiv_scalar", "max_scalar", "set_scalar", "lessthan_scalar"), SCALAR),
    **dict.fromkeys(("reduce_mean", "reduce_sum", "reduce_max", "reduce_prod", "countZero", "any", "all", "amean"),
                    REDUCTION),
}
ARGUMENTS = ("op_type", "op_num", "op_name", "extra_integer", "extra_params", "extra_bools", "extra_types",
             "extra_strings", "dimensions", "scalar")


def declared_nodes():
    seen: dict[str, int] = {}
    for node in NODES:
        if node.op_name in DECLARED and seen.setdefault(node.op_name, 0) < 4:
            seen[node.op_name] += 1
            yield pytest.param(node, id=f"{node.op_name}-{seen[node.op_name]}")


@pytest.mark.parametrize("node", list(declared_nodes()))
def test_recorded_node_encodes_back_to_itself(node):
    declared = DECLARED[node.op_name]
    attributes = declared.decode(node)
    kind = DataType.from_code(node.scalar.dtype) if node.scalar else DataType.FLOAT
    optional = {name: attributes.get(name) for name in declared.attributes()}
    parts = declared.encode(optional, node.op_name, kind)
    again = FlatNode(**{**parts, "scalar": parts.get("scalar") and node.scalar})
    for field in ARGUMENTS:
        assert getattr(again, field) == getattr(node, field), field
    stored = {p.name: p for p in node.properties}
    for item in parts["properties"]:
        assert item == stored.get(item.name, item)


def test_recorded_nodes_cover_the_declarations():
    assert len({p.values[0].op_name for p in declared_nodes()}) >= 30


@pytest.mark.parametrize("name, attributes", [
    ("conv2d", {"padding_mode": "VALID", "data_format": "NCHW", "k_h": 3}),
    ("argmax", {"dtype": DataType.LONG, "keep_dims": True, "dimensions": (1,)}),
    ("distribution_gaussian", {"shape": (3, 4), "dtype": DataType.FLOAT, "mean": 0.0}),
    ("reshape", {"order": "c"}),
    ("slice", {"begin": (1, 0), "size": (2, 3)}),
])
def test_attributes_read_from_recorded_nodes(name, attributes):
    node = next(n for n in NODES if n.op_name == name)
    assert attributes.items() <= DECLARED[name].decode(node).items()


@pytest.mark.parametrize("node", list({n.op_name: n for n in NODES}.values()), ids=lambda n: n.op_name)
def test_identity_of_recorded_ops(node):
    assert op_identity(node.op_name) == (node.op_type, node.op_num)
    assert resolve_op_name(node, ["noop", node.op_name, "identity"]) == node.op_name


def test_hashes_of_known_ops():
    known = {"add": -5176033361941572836, "conv2d": 7325441780195652299, "mmul": -273014250715117663,
             "softmax": -7532944577593734819, "stridedslice": 1604988366995123901}
    assert {name: op_hash(name) for name in known} == known


def test_resolving_follows_hash_then_name():
    by_hash = FlatNode(op_type=OpType.CUSTOM, op_num=op_hash("add"), op_name="softmax")
    assert resolve_op_name(by_hash, ["add", "softmax"]) == "add"
    by_synonym = FlatNode(op_type=OpType.CUSTOM, op_num=op_hash("matmul"), op_name="mmul")
    assert resolve_op_name(by_synonym, ["matmul"]) == "matmul"
    by_name = FlatNode(op_type=OpType.CUSTOM, op_num=0, op_name="mmul")
    assert resolve_op_name(by_name, ["matmul"]) == "matmul"
    assert resolve_op_name(FlatNode(op_type=OpType.CUSTOM, op_num=5, op_name="nothing"), ["add"]) is None
    assert resolve_op_name(FlatNode(op_type=99, op_name="add"), ["add"]) is None
    user = FlatNode(op_type=OpType.UDF, op_num=-1, op_name="acme.swish")
    assert resolve_op_name(user, ["acme.swish"]) == "acme.swish"


def test_legacy_names_and_numbers_agree():
    assert all(LEGACY_NAMES[key] == name for name, key in LEGACY_NUMBERS.items())


def test_old_reduction_node_of_a_custom_op():
    old = FlatNode(op_type=OpType.INDEX_REDUCE, op_num=0, dimensions=(1, 2), extra_bools=(True, True))
    assert DECLARED["argmax"].decode(old) == {"dimensions": (1, 2), "keep_dims": True}


def test_all_axes_of_a_reduction():
    parts = REDUCTION.encode({"keep_dims": False, "dimensions": ()}, "reduce_sum")
    assert parts["dimensions"] == (2**31 - 1,) and parts["op_type"] == OpType.REDUCE_SAME
    assert REDUCTION.decode(FlatNode(**parts))["dimensions"] == ()


@given(st.lists(st.integers(-5, 5)), st.lists(st.integers(-5, 5)), st.integers())
def test_counted_and_shared_lists(first, second, last):
    values = {"a": tuple(first), "b": tuple(second), "c": last}
    slots = ("#a", "*a", "*b", "c")
    assert load_slots(slots, store_slots(slots, values)) == values


@given(st.integers(0, 4), st.data())
def test_lists_of_equal_length(length, data):
    values = {name: tuple(data.draw(st.lists(st.integers(), min_size=length, max_size=length))) for name in "abc"}
    assert load_slots(("*a", "*b", "*c"), store_slots(("*a", "*b", "*c"), values)) == values


TEXTS = st.text("ab Z09_-.:\n\t\"\\\0\x7fÄßЖ\u2028日😀")       # all characters take seconds to list
VALUES = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), TEXTS, st.none(),
                   st.lists(st.integers(-9, 9)).map(tuple), st.lists(TEXTS, min_size=1).map(tuple))


@given(st.dictionaries(TEXTS.filter(bool), VALUES, max_size=4))
def test_user_defined_ops_keep_any_attribute(attributes):
    declared = FileArgs(op_type="UDF", all_properties=True)
    parts = declared.encode(attributes, "acme.op")
    assert (parts["op_type"], parts["op_num"]) == (OpType.UDF, -1)
    assert declared.decode(FlatNode(**parts)) == attributes


def test_nested_and_array_properties():
    assert property_value(make_property("p", [[0, 1], [2, 3]], "i")) == ((0, 1), (2, 3))
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(property_value(make_property("a", array)), array)


def test_mistakes_are_named():
    with pytest.raises(RegistrationError, match="slot"):
        FileArgs(ints=("k h",))
    with pytest.raises(RegistrationError, match="rule"):
        FileArgs(ints=("k:boolean",))
    with pytest.raises(RegistrationError, match="CUSTOM"):
        FileArgs(op_type="CUSTM")
    with pytest.raises(GraphError, match="did you mean 'k_h'"):
        FileArgs(ints=("k_hh",)).encode({"k_h": 1}, "x")
    with pytest.raises(GraphError, match="SAME"):
        DECLARED["conv2d"].encode(dict.fromkeys(DECLARED["conv2d"].attributes(), 1) | {"padding_mode": "SAM"}, "conv2d")
    with pytest.raises(GraphError, match="integer"):
        FileArgs(ints=("k",)).encode({"k": 1.5}, "x")
    with pytest.raises(GraphError, match="needs a value"):
        FileArgs(ints=("a?", "b")).encode({"a": None, "b": 1}, "x")
    with pytest.raises(FileFormatError, match="expected one of"):
        DECLARED["huber_loss"].decode(FlatNode(name="n", op_name="huber_loss", extra_integer=(9,)))


def test_slots_of_other_writers_are_only_read():
    declared = FileArgs(ints=("dtype?:dtype",), dtypes=("~dtype",))
    assert declared.decode(FlatNode(extra_types=(9,))) == {"dtype": DataType.INT}
    assert declared.decode(FlatNode(extra_types=(9,), extra_integer=(5,))) == {"dtype": DataType.FLOAT}
    assert declared.encode({"dtype": DataType.INT}, "cast")["extra_types"] == ()


@pytest.mark.parametrize(("stored", "shape"), [((-99, 2, -1), (2, -1)), ((-1, 8), (-1, 8)), ((), None)])
def test_shapes_with_and_without_an_order(stored, shape):
    found = OPS["reshape"].file.decode(FlatNode(name="n", op_name="reshape", extra_integer=stored))
    assert found.get("shape") == shape


def test_column_order_is_refused():
    with pytest.raises(FileFormatError, match="column order"):
        OPS["reshape"].file.decode(FlatNode(name="n", op_name="reshape", extra_integer=(-102, 2, 4)))


LINEAR = {"plain": ("3,4", "4,2", "2", False, False), "weights": ("3,4", "2,4", "2", False, True), "x": ("4,3", "4,2", "2", True, False),
          "both": ("4,3", "2,4", "2", True, True), "bias of two axes": ("3,4", "4,2", "1,2", False, False),
          "no bias": ("3,4", "4,2", "", False, False), "both, no bias": ("4,3", "2,4", "", True, True),
          "square": ("3,3", "3,3", "3", True, False)}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_maps_are_written_as_every_version_understands_them(name):
    """M2.1 knows no flags of its op, later versions three: none are written."""
    *shapes, transpose_x, transpose_w = LINEAR[name]
    rng, sd = np.random.default_rng(1), SameDiff.create()
    x, w, *bias = [sd.var(n, rng.normal(size=[int(n) for n in s.split(",")])) for n, s in zip("xwb", shapes) if s]
    sd.nn.linear("y", x, w, bias[0] if bias else None, transpose_x, transpose_w)
    sd.set_loss_variables("y")
    written = read_flat_graph(sd.as_flat_buffers()).nodes
    assert all(n.op_name != "xw_plus_b" or (n.extra_integer == () and len(n.input_paired) == 3) for n in written)
    assert ([n.op_name for n in written] == ["xw_plus_b"]) == (name == "plain")
    for again in (SameDiff.from_flat_buffers(sd.as_flat_buffers()), sd.dup()):
        np.testing.assert_allclose(again.output({}, "y")["y"], sd.output({}, "y")["y"], rtol=1e-12)
        names = ["x", "w", *(["b"] if bias else [])]
        for n, g in again.calculate_gradients({}, *names).items():
            np.testing.assert_allclose(g, sd.calculate_gradients({}, *names)[n], rtol=1e-12)


@pytest.mark.parametrize(("flags", "found"), [((), {}), ((1,), {"transpose_w": True}), ((0,), {"transpose_w": False}),
                                              ((1, 0), {"transpose_x": True, "transpose_w": False}),
                                              ((0, 1, 0), {"transpose_x": False, "transpose_w": True})])
def test_flags_of_linear_maps_by_version(flags, found):
    assert OPS["xw_plus_b"].file.decode(FlatNode(name="n", op_name="xw_plus_b", extra_integer=flags)) == found


def test_a_transposed_result_of_a_linear_map_is_refused():
    with pytest.raises(FileFormatError, match="transposed result"):
        OPS["xw_plus_b"].file.decode(FlatNode(name="n", op_name="xw_plus_b", extra_integer=(0, 0, 1)))


@pytest.mark.parametrize("given", ["gamma beta", "gamma", "beta", ""])
def test_which_inputs_a_batch_normalization_has_is_told_by_its_arguments(given):
    """Files of DL4J hold no other word of it."""
    rng, sd = np.random.default_rng(1), SameDiff.create()
    x, mean, variance = (sd.constant(n, rng.uniform(1, 2, size)) for n, size in (("x", (4, 3)), ("mean", 3), ("variance", 3)))
    gamma, beta = (sd.constant(n, rng.normal(size=3)) if n in given.split() else None for n in ("gamma", "beta"))
    y = sd.add_op(OPS["batchnorm"](axis=(1,)), [x, mean, variance, gamma, beta]).name()
    graph = read_flat_graph(sd.as_flat_buffers())
    bare = replace(graph, nodes=tuple(replace(n, properties=()) for n in graph.nodes))
    again = SameDiff.from_flat_buffers(write_flat_graph(bare))
    np.testing.assert_array_equal(again.output({}, y)[y], sd.output({}, y)[y])
