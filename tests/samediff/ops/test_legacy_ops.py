"""Ops of DL4J's numbered families: values against NumPy, and every number that DL4J has a class for."""
from __future__ import annotations

from math import remainder

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.flatbuffers.array import encode_array
from dl4py.samediff.codecs.flatbuffers.graph import FlatNode, IntPair
from dl4py.samediff.codecs.flatbuffers.schema import OpType
from dl4py.samediff.codecs.legacy_table import LEGACY_NAMES, resolve_op_name
from dl4py.samediff.errors import DL4PyError, GraphError, ShapeError
from dl4py.samediff.files.node_args import OpNames, read_op, write_op
from dl4py.samediff.ir.op import OPS
from tests.samediff.ops.rows.op_rows import ROWS

#: Kind, number and name of every numbered op that DL4J has a class for.
NUMBERS = {
    "TRANSFORM_FLOAT": "1:sqrt 3:rsqrt",
    "TRANSFORM_SAME": "0:abs 1:sign 3:neg 4:round 5:timesoneminus 6:cube 7:oneminus 11:Reciprocal 12:square 13:cas"
    " 17:ceil 18:floor",
    "TRANSFORM_BOOL": "1:isinf 2:isnan 3:isfinite 5:match_condition_transform 7:bool_not",
    "TRANSFORM_STRICT": "4:_tanhderivative 5:hardtanhderivative 6:_sigmoidderivative 7:softsignderivative"
    " 8:tanderivative 9:seluderivative 10:hard_sigmoidderivative 11:rational_tanh_derivative"
    " 12:rectified_tanh_derivative 13:_swishderivative 19:stabilize 21:cubederivative 22:cos 23:exp 24:log 25:setrange"
    " 26:sigmoid 27:sin 28:softplus 29:tanh 30:acos 31:asin 32:atan 33:hardtanh 34:softsign 36:hard_sigmoid"
    " 37:rational_tanh 38:rectified_tanh 39:sinh 40:cosh 41:tan 42:selu 43:swish 44:log1p 45:erf 46:acosh 47:asinh"
    " 48:rint 49:logsigmoid 50:erfc 51:expm1 52:atanh 53:gelu 54:_geluderivative 55:precise_gelu"
    " 56:_precise_geluderivative 57:mish 58:_mishderivative",
    "TRANSFORM_ANY": "0:old_assign",
    "REDUCE_FLOAT": "0:reduce_mean 1:amean 2:reduce_norm1 3:reduce_norm2 4:reduce_normmax 7:reduce_sqnorm 8:entropy"
    " 9:logentropy 10:shannonentropy",
    "REDUCE_SAME": "0:reduce_sum 1:reduce_max 2:reduce_min 3:reduce_prod 4:asum 5:amax 6:amin",
    "REDUCE_LONG": "0:countNonZero 1:countZero 2:match_condition",
    "REDUCE_BOOL": "0:any 1:all 4:hasnan 5:hasinf",
    "INDEX_REDUCE": "4:first_index 5:last_index",
    "SCALAR": "0:add_scalar 1:sub_scalar 2:mul_scalar 3:div_scalar 4:rdiv_scalar 5:rsub_scalar 6:max_scalar"
    " 13:scalar_min 14:set_scalar 17:remainder_scalar 18:fmod_scalar 31:pow 32:_powderivative 35:leakyrelu"
    " 36:leakyreluderivative 37:replace_nans 38:log_x 39:relu 40:relu6 41:step",
    "SCALAR_BOOL": "0:equals_scalar 1:greaterthan_scalar 2:lessthan_scalar 3:eps_scalar 4:greaterthanorequal_scalar"
    " 6:notequals_scalar 7:and_scalar 8:or_scalar 9:xor_scalar 10:not_scalar 11:lessthanorequal_scalar",
    "BROADCAST": "0:broadcastadd 1:broadcastsub 2:broadcastmul 3:broadcastdiv 4:broadcastrdiv 5:broadcastrsub"
    " 6:broadcastcopy 13:broadcast_min 14:broadcast_max 15:broadcast_amin 16:broadcast_amax",
    "BROADCAST_BOOL": "0:broadcast_equalto 1:broadcast_greaterthan 2:broadcast_lessthan 4:broadcast_greaterthanorequal"
    " 6:broadcast_notequal 11:broadcast_lessthanorequal",
    "PAIRWISE": "1:copy 4:pow_pairwise 7:max_pairwise 8:min_pairwise 10:axpy 12:cas 13:car 14:remainder 15:fmod"
    " 26:RelativeError 27:BinaryRelativeError 28:BinaryMinimalRelativeError 34:amax_pairwise 35:amin_pairwise",
    "PAIRWISE_BOOL": "3:eps 7:and 8:or 9:xor 10:not",
    "REDUCE_3": "0:manhattan 1:euclidean 2:cosinesimilarity 3:dot 4:equals_with_eps 5:cosinedistance 6:jaccarddistance"
    " 7:hammingdistance",
    "SUMMARYSTATS": "0:var 1:std",
    "RANDOM": "0:distribution_uniform 1:dropout 2:dropout_inverted 3:probablistic_merge 4:linspace_random 5:choice"
    " 6:distribution_gaussian 7:distribution_bernoulli 8:distribution_binomial 9:distribution_binomial_ex"
    " 10:distribution_lognormal 11:distribution_truncated 12:alpha_dropout",
}

#: Those that are read as an op of today, which is what is written again: DL4J cannot load their own numbers.
TODAY = {
    ("PAIRWISE", 4): "Pow", ("PAIRWISE", 7): "maximum", ("PAIRWISE", 8): "minimum", ("PAIRWISE", 13): "car",
    ("TRANSFORM_STRICT", 57): "mish",
    ("PAIRWISE", 15): "fmod",       # loads as TRANSFORM_SAME 15 only
}
#: Those that stay as they are in the file: Java writes a compare-and-set of two arrays as TRANSFORM_SAME 13, never so.
UNKNOWN = {("PAIRWISE", 12): "cas"}

ENTRIES = [(kind, int(item.partition(":")[0]), item.partition(":")[2]) for kind, line in NUMBERS.items() for item in line.split()]
X = np.array([-3.0, -1.5, -1.0, -0.4, 0.0, 0.3, 1.0, 2.5, 4.0])
Y = np.array([2.0, -1.0, 0.5, -0.4, 1.0, 0.25, 1.0, -0.7, 3.0])


@pytest.fixture(scope="module")
def examples():
    """An op with attributes for each id."""
    from tests.samediff.ops.rows import op_table  # noqa: F401 - fills the rows
    return {r.op_id: r.op() for r in reversed(ROWS)}


@pytest.mark.parametrize(("kind", "number", "name"), ENTRIES, ids=[f"{k}-{n}" for k, n, _ in ENTRIES])
def test_every_number_means_an_op(kind, number, name, examples):
    node = FlatNode(op_type=int(OpType[kind]), op_num=number, op_name=name)
    found = resolve_op_name(node, list(OPS))
    if (kind, number) in UNKNOWN:
        assert found is None
        return
    assert found == TODAY.get((kind, number), name)
    op = examples[found]
    written = FlatNode(name="n", **write_op(op, ("x",), DataType.FLOAT))
    if (kind, number) not in TODAY:
        assert (written.op_type, written.op_num, written.op_name) == (node.op_type, number, name)
    again = read_op(OpNames()[written], written)
    assert again == op or np.allclose(values(again), values(op))     # scalars are stored as FLOAT


SCALARS = [(kind, number) for (kind, number), name in LEGACY_NAMES.items()
           if kind in (OpType.SCALAR, OpType.SCALAR_BOOL) and "scalar" in OPS[name].attribute_names()]


@pytest.mark.parametrize(("kind", "number"), SCALARS, ids=lambda k: getattr(k, "name", k))
def test_the_operand_of_a_scalar_op_is_read(kind, number):
    """Also of ops that only old files hold by number."""
    stored = FlatNode(name="n", op_type=int(kind), op_num=number, scalar=encode_array(np.float32(2.5)))
    assert 2.5 in values(read_op(OpNames()[stored], stored))


def values(op):
    """The numbers among the attributes."""
    return [v for v in op.values() if isinstance(v, (int, float))]


def node(kind, number, name=None, inputs=1, **parts):
    """A node as files hold it."""
    pairs = tuple(IntPair(i) for i in range(inputs))
    return FlatNode(name="n", op_type=int(OpType[kind]), op_num=number, op_name=name, input_paired=pairs, **parts)


@pytest.mark.parametrize(("given", "expected"), [
    (node("TRANSFORM_SAME", 1, "copy"), "copy"), (node("TRANSFORM_SAME", 1, "sign"), "sign"), (node("TRANSFORM_SAME", 1), "sign"),
    (node("TRANSFORM_SAME", 10, "axpy", 2), "axpy"), (node("TRANSFORM_SAME", 14, None, 2), "remainder"),
    (node("TRANSFORM_SAME", 13, "car", 2), "car"), (node("TRANSFORM_SAME", 13, "cas"), "cas"),
    (node("TRANSFORM_SAME", 15, "fmod", 2), "fmod"), (node("TRANSFORM_SAME", 15), "identity"), (node("TRANSFORM_SAME", 21), "identity"),
    (node("TRANSFORM_SAME", 26, "RelativeError", 2), "RelativeError"), (node("TRANSFORM_SAME", 2), "ones_as"),
    (node("TRANSFORM_BOOL", 3, "eps", 2), "eps"), (node("TRANSFORM_BOOL", 3, "isfinite"), "isfinite"),
    (node("TRANSFORM_BOOL", 10, "not"), "not"), (node("TRANSFORM_ANY", 1, "set"), "copy"),
    (node("BROADCAST", 0, "broadcastadd", 2), "broadcastadd"), (node("BROADCAST", 0, "broadcast_equalto", 2), "broadcast_equalto"),
    (node("BROADCAST", 17, None, 2), "squaredsubtract"), (node("PAIRWISE", 24, None, 2), "RelativeError"),
    (node("PAIRWISE", 26, None, 2), "BinaryMinimalRelativeError"), (node("PAIRWISE", 12, "cas", 2), None),
    (node("INDEX_REDUCE", 2), "iamax"), (node("TRANSFORM_STRICT", 16), "cosh"), (node("TRANSFORM_STRICT", 14), None),
])
def test_name_and_inputs_tell_what_a_number_means(given, expected):
    assert resolve_op_name(given, list(OPS)) == expected


def test_numbers_that_stand_for_an_operand_too():
    for number, name in ((6, "greaterthan_scalar"), (8, "lessthan_scalar")):
        given = node("TRANSFORM_BOOL", number)
        assert read_op(OpNames()[given], given) == OPS[name](0.0)


def test_arguments_as_java_writes_them():
    given = node("TRANSFORM_SAME", 13, "car", 2, extra_params=(1.0, 0.0, 1e-5, 3.0))
    condition = read_op(OpNames()[given], given).condition
    assert (condition.mode, condition.value) == ("greater_than", 1.0)
    given = node("BROADCAST", 13, "broadcast_min", 2, dimensions=(0,))
    assert read_op(OpNames()[given], given).dimensions == (0,)
    given = node("TRANSFORM_STRICT", 25, "setrange", extra_params=(-1.0, 2.0))
    assert read_op(OpNames()[given], given).values() == (-1.0, 2.0)


def run(name, *arrays, **attributes):
    """The result of an op on constants, by the compiled executor."""
    sd = SameDiff()
    return sd.add_op(OPS[name](**attributes), [sd.constant(np.asarray(a)) for a in arrays]).eval()


# Results of DL4J 1.0.0-M2.1 for X, or for X and Y
DL4J_ONE = [
    ("timesoneminus", {}, [-12.0, -3.75, -2.0, -0.56, 0.0, 0.21, 0.0, -3.75, -12.0]),
    ("oneminus", {}, [4.0, 2.5, 2.0, 1.4, 1.0, 0.7, 0.0, -1.5, -3.0]),
    ("_tanhderivative", {}, 1 - np.tanh(X) ** 2),
    ("tanderivative", {}, 1 / np.cos(X) ** 2),
    ("cubederivative", {}, 3 * X * X),
    ("_sigmoidderivative", {}, [0.0451766597, 0.149146452, 0.196611933, 0.240260746, 0.25, 0.244458312, 0.196611933, 0.0701037165,
                                0.0176627062]),
    ("seluderivative", {}, [0.0875306121, 0.392284987, 0.646768603, 1.17848923, 1.75809934, 1.05070099, 1.05070099, 1.05070099,
                            1.05070099]),
    ("hard_sigmoidderivative", {}, [0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0]),
    ("rational_tanh_derivative", {}, [0.0654275355, 0.508232843, 0.802873418, 1.03763177, 1.1439332, 1.07136441, 0.802873418, 0.130409157,
                                      0.0191663213]),
    ("rectified_tanh_derivative", {}, [0, 0, 0, 0, 0, 0.915136962, 0.419974342, 0.0265922267, 0.00134095068]),
    ("_swishderivative", {}, [-0.088104106, -0.0412941543, 0.0723294881, 0.305208042, 0.5, 0.64778001, 0.927670512, 1.09940111,
                          1.05266461]),
    ("_geluderivative", {}, [-0.0245483227, -0.0988480642, -0.0677795891, 0.184175089, 0.5, 0.744625745, 1.06777959, 1.04471866,
                         1.00640189]),
    ("stabilize", {"k": 1.0}, [-3, -1.5, -1, -0.4, 0, 0.3, 1, 2.5, 3.79297773665]),
    ("stabilize", {"k": 2.0}, [-1.89648887, -1.5, -1, -0.4, 0, 0.3, 1, 1.89648887, 1.89648887]),
    ("setrange", {"min": -1.0, "max": 2.0}, [-10, -6, -1, -0.4, 0, 0.3, 1, 6, 11]),
    ("setrange", {"min": 0.0, "max": 1.0}, [0, 0, 0, 0, 0, 0.3, 1, 0, 0]),
    ("remainder_scalar", {"scalar": 1.4}, [-0.2, -0.1, 0.4, -0.4, 0, 0.3, -0.4, -0.3, -0.2]),
    ("remainder_scalar", {"scalar": -1.4}, [-0.2, -0.1, 0.4, -0.4, 0, 0.3, -0.4, -0.3, -0.2]),
    ("_powderivative", {"value": 3.0}, 3 * X * X),
    ("or_scalar", {"scalar": 0.0}, X != 0), ("or_scalar", {"scalar": 1.0}, X == X),
    ("xor_scalar", {"scalar": 0.0}, X != 0), ("xor_scalar", {"scalar": 1.0}, X == 0),
    ("and_scalar", {"scalar": 0.0}, X != X), ("and_scalar", {"scalar": 1.0}, X != 0),
    ("not_scalar", {"scalar": 1.0}, X != 1), ("not_scalar", {"scalar": -0.4}, X != -0.4),
]
DL4J_TWO = [
    ("copy", {}, Y), ("old_assign", {}, Y),
    ("axpy", {"p": 2.0}, [-4.0, -4.0, -1.5, -1.2, 1.0, 0.85, 3.0, 4.3, 11.0]),
    ("remainder", {}, [1.0, 0.5, 0.0, 0.0, 0.0, 0.05, 0.0, -0.3, 1.0]),
    ("fmod", {}, [-1.0, -0.5, 0.0, 0.0, 0.0, 0.05, 0.0, 0.4, 1.0]),
    ("RelativeError", {}, [1.0, 0.2, 1.0, 0.0, 1.0, 1 / 11, 0.0, 1.0, 1 / 7]),
    ("BinaryRelativeError", {"threshold": 0.1}, [1, 1, 1, 0, 1, 0, 0, 1, 1]),
    ("BinaryMinimalRelativeError", {"threshold_relative": 0.1, "threshold_absolute": 0.8}, [1, 0, 1, 0, 1, 0, 0, 1, 1]),
    ("amax_pairwise", {}, [-3.0, -1.5, -1.0, -0.4, 1.0, 0.3, 1.0, 2.5, 4.0]),
    ("amin_pairwise", {}, [2.0, -1.0, 0.5, -0.4, 0.0, 0.25, 1.0, -0.7, 3.0]),
    ("eps", {}, X == Y), ("not", {}, X != Y),
]


@pytest.mark.parametrize(("name", "attributes", "expected"), DL4J_ONE)
def test_values_of_one_array(name, attributes, expected):
    np.testing.assert_allclose(run(name, X, **attributes), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("name", "attributes", "expected"), DL4J_TWO)
def test_values_of_two_arrays(name, attributes, expected):
    np.testing.assert_allclose(run(name, X, Y, **attributes), expected, rtol=1e-12, atol=1e-12)


def test_slopes_of_mish_and_precise_gelu():
    tanh = np.tanh(np.sqrt(2 / np.pi) * (X + (0.044715 * X)**3))
    expected = 0.5 * (1 + tanh) + 0.5 * X * (1 - tanh**2) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715**3 * X**2)
    np.testing.assert_allclose(run("_precise_geluderivative", X), expected, rtol=1e-12)
    tanh = np.tanh(np.log1p(np.exp(X)))
    np.testing.assert_allclose(run("_mishderivative", X), tanh + X * (1 - tanh**2) / (1 + np.exp(-X)), rtol=1e-12)


def test_remainder_is_that_of_ieee():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=500) * 50, rng.normal(size=500)
    ties = np.array([3.0, 5.0, 7.0, -3.0, -5.0, 1.0]), np.full(6, 2.0)
    for a, b in ((x, y), ties, (np.array([1e300]), np.array([0.3]))):
        np.testing.assert_array_equal(run("remainder", a, b), [remainder(p, q) for p, q in zip(a, b)])
    np.testing.assert_array_equal(run("remainder_scalar", np.array([-7, -3, 2, 8], np.int32), scalar=3), [-1, 0, -1, -1])


def test_closeness():
    x = np.array([1, 1 + 1e-13, 1 + 1e-6, 2.0])
    np.testing.assert_array_equal(run("eps_scalar", x, scalar=1.0), [True, True, False, False])
    np.testing.assert_array_equal(run("eps", x, np.ones(4)), [True, True, False, False])
    x, y = np.array([1000.0, 1.0, 1e-9, np.inf, np.nan, np.inf]), np.array([1001.0, 1.001, 2e-9, np.inf, np.nan, 1.0])
    for eps, count in ((1e-2, 2), (1e-5, 4)):
        np.testing.assert_array_equal(run("equals_with_eps", x, y, eps=eps), count)
    np.testing.assert_array_equal(run("equals_with_eps", [[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.5], [3.0, 4.0]], dimensions=(0,)), [0, 1])


def test_not_a_number():
    x = np.array([[1.0, np.nan, 3.0], [np.inf, 2.0, 4.0]])
    np.testing.assert_array_equal(run("replace_nans", x, replacement=7.0), [[1.0, 7.0, 3.0], [np.inf, 2.0, 4.0]])
    np.testing.assert_array_equal(run("hasnan", x, dimensions=(1,)), [True, False])
    np.testing.assert_array_equal(run("hasinf", x, dimensions=(1,)), [False, True])
    np.testing.assert_array_equal(run("hasnan", x), True)
    np.testing.assert_array_equal(run("bool_not", [True, False]), [False, True])
    np.testing.assert_array_equal(run("not", [True, False]), [False, True])


A, ROW, COLUMN = np.array([[1.0, -2, 3], [4, 5, -6]]), np.array([2.0, -3, 0.5]), np.array([-7.0, 0.5])
ALONG = {
    "broadcastadd": np.add, "broadcastsub": np.subtract, "broadcastmul": np.multiply, "broadcastdiv": np.divide,
    "broadcastrdiv": lambda x, y: y / x, "broadcastrsub": lambda x, y: y - x, "broadcastcopy": lambda x, y: 0 * x + y,
    "broadcast_min": np.minimum, "broadcast_max": np.maximum, "broadcast_equalto": np.equal, "broadcast_notequal": np.not_equal,
    "broadcast_greaterthan": np.greater, "broadcast_greaterthanorequal": np.greater_equal, "broadcast_lessthan": np.less,
    "broadcast_lessthanorequal": np.less_equal, "broadcast_amin": lambda x, y: np.where(abs(x) < abs(y), x, y),
    "broadcast_amax": lambda x, y: np.where(abs(x) > abs(y), x, y),
}


@pytest.mark.parametrize("name", ALONG)
def test_along_dimensions(name):
    np.testing.assert_array_equal(run(name, A, ROW, dimensions=(1,)), ALONG[name](A, ROW))
    np.testing.assert_array_equal(run(name, A, COLUMN, dimensions=(0,)), ALONG[name](A, COLUMN[:, None]))
    np.testing.assert_array_equal(run(name, A, ROW), ALONG[name](A, ROW))
    cube = np.arange(24.0).reshape(2, 3, 4) - 11
    y = cube[:, 0, :]
    np.testing.assert_array_equal(run(name, cube + 0.5, y + 0.5, dimensions=(0, 2)), ALONG[name](cube + 0.5, y[:, None, :] + 0.5))


def test_along_dimensions_that_do_not_fit():
    with pytest.raises(ShapeError, match="2 axes"):
        run("broadcastadd", np.zeros((2, 3, 4)), ROW, dimensions=(0, 1))


def test_linspace():
    np.testing.assert_array_equal(run("linspace_random", from_=9.0, to=1.0, length=5), np.array([9, 7, 5, 3, 1], np.float32))
    np.testing.assert_array_equal(run("linspace_random", from_=1.0, to=9.0, step=0.5, length=3), np.array([1, 1.5, 2], np.float32))
    with pytest.raises(GraphError, match="negative"):
        run("linspace_random", from_=1.0, to=9.0, length=-1)


def draw(name, *arrays, training=False, **attributes):
    """A large sample."""
    sd = SameDiff()
    sd.seed = 3
    out = sd.add_op(OPS[name](**attributes), [sd.constant(np.asarray(a)) for a in arrays]).rename("out")
    return sd.compute(None, [out.name()], training=training)[out.name()]


def test_draws_have_their_shares():
    n = 20000
    drawn = draw("choice", [10.0, 20.0, 30.0], [0.2, 0.3, 0.1], shape=(n,))
    np.testing.assert_allclose([(drawn == v).mean() for v in (10, 20, 30)], [0.2, 0.3, 0.5], atol=0.015)
    merged = draw("probablistic_merge", np.zeros(n), np.ones(n), probability=0.2)
    np.testing.assert_allclose(merged.mean(), 0.2, atol=0.015)
    counts = draw("distribution_binomial_ex", n_trials=10, p=0.3, shape=(n,))
    np.testing.assert_allclose([counts.mean(), counts.var()], [3.0, 2.1], rtol=0.05)


def test_alpha_dropout():
    given = {"p": 0.8, "a": 2.0, "b": -1.75, "alpha_prime": 100.0}
    drawn = draw("alpha_dropout", np.ones(20000), training=True, **given)
    assert set(np.unique(drawn)) == {0.25, 198.25}
    np.testing.assert_allclose((drawn == 0.25).mean(), 0.8, atol=0.015)
    np.testing.assert_array_equal(draw("alpha_dropout", np.ones(5), **given), np.ones(5))


@pytest.mark.parametrize("x, y, dimensions", [((2, 1, 4), (2, 3, 4), (1,)), ((2, 3, 4), (1, 3, 1), (1,)), ((2, 3), (2, 3), (0,)),
                                              ((2, 3, 4), (3,), (1,))])
def test_axes_of_another_size_broadcast_also_beside_dimensions(x, y, dimensions):
    sd, rng = SameDiff.create(), np.random.default_rng(0)
    a, b = rng.normal(size=x), rng.normal(size=y)
    given = [sd.placeholder(n, DataType.DOUBLE, *v.shape) for n, v in (("a", a), ("b", b))]
    try:
        made = sd.add_op(OPS["broadcastadd"](dimensions=dimensions), given)
    except DL4PyError:
        assert len(y) == len(x) and y != x       # refused, and not promised another shape
        return
    found = sd.output({"a": a, "b": b}, made.name())[made.name()]
    assert made.get_shape() == found.shape
    np.testing.assert_array_equal(found, a + (b if b.ndim == a.ndim else b.reshape([n if i in dimensions else 1 for i, n in enumerate(x)])))
