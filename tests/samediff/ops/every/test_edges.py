"""Values and gradients at edges, as ``docs/edges.md`` has them: ties, bounds, infinities; and from 1e-30 to 1e30, where float64 judges."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py.layers import GlobalPoolingLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType, Nd4j, Pooling2DConfig, SameDiff
from dl4py.samediff.device.devices import device
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.families.families import Elementwise
from dl4py.samediff.ir.op import OPS, as_tuple
from dl4py.samediff.nd4j.transforms import Transforms
from dl4py.samediff.ops.reduce.distances import Distance
from tests.samediff.ops.every.test_every_op import is_call
from tests.samediff.ops.rows.op_table import ROWS, Row

WAYS = "plan", "reference", "emulated"
INF = np.inf

#: Elementwise functions: call, places, gradients there.
SLOPES: dict[str, tuple[Any, list[float], list[float]]] = {
    "abs": (lambda sd, x: sd.math.abs(x), [0], [0]),
    "sqrt": (lambda sd, x: sd.math.sqrt(x), [0, 4], [0, 0.25]),
    "power below 1": (lambda sd, x: x ** 0.25, [0, 1], [0, 0.25]),
    "power above 1": (lambda sd, x: x ** 1.5, [0, 1], [0, 1.5]),
    "negative power": (lambda sd, x: x ** -0.25, [0, 1], [-INF, -0.25]),
    "one over a root": (lambda sd, x: sd.math.rsqrt(x), [0, 1], [0, -0.5]),
    "asin": (lambda sd, x: sd.math.asin(x), [-1, 0, 1], [0, 1, 0]),
    "acos": (lambda sd, x: sd.math.acos(x), [-1, 0, 1], [0, -1, 0]),
    "acosh": (lambda sd, x: sd.math.acosh(x), [1, np.sqrt(2)], [0, 1]),
    "log": (lambda sd, x: sd.math.log(x), [0, 2], [INF, 0.5]),
    "relu": (lambda sd, x: sd.nn.relu(x, 0.0), [-1, 0, 1], [0, 0, 1]),
    "relu6": (lambda sd, x: sd.nn.relu6(x, 0.0), [0, 1, 6], [0, 1, 0]),
    "leaky relu": (lambda sd, x: sd.nn.leaky_relu(x, 0.5), [-1, 0, 1], [0.5, 1, 1]),
    "thresholded relu": (lambda sd, x: sd.nn.thresholded_relu(x, 2.0), [2, 3], [0, 1]),
    "elu": (lambda sd, x: sd.nn.elu(x), [0, 1], [1, 1]),
    "hard tanh": (lambda sd, x: sd.nn.hard_tanh(x), [-2, -1, 1, 2], [0, 1, 1, 0]),
    "hard sigmoid": (lambda sd, x: sd.nn.hard_sigmoid(x), [-2.5, 0, 2.5], [0, 0.2, 0]),
    "clip": (lambda sd, x: sd.clip_by_value(x, -1.0, 1.0), [-2, -1, 1, 2], [0, 1, 1, 0]),
    "maximum of itself": (lambda sd, x: sd.max(x, x), [3], [1]),
    "largest of two": (lambda sd, x: sd.max(x, sd.constant(np.array(3.0))), [2, 3, 4], [0, 1, 1]),
    "square root of squares": (lambda sd, x: sd.math.sqrt(x * x), [0, 3], [0, 1]),
    "atan2": (lambda sd, x: sd.math.atan2(x, sd.constant(np.array(0.0))), [0, 1], [0, 0]),
    "round": (lambda sd, x: sd.math.round(x), [0.5, 1], [0, 0]),
    "gelu far out": (lambda sd, x: sd.nn.precise_gelu(x), [-1e30, 1e30], [0, 1]),
}


def gradients(call: Any, x: Any, way: str, monkeypatch: Any) -> Any:
    """Of the sum of what is called, by its input."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if way == "reference" else "plan")
    sd = SameDiff.create()
    call(sd, sd.var("x", np.array(x, np.float64))).sum("loss").mark_as_loss()
    with device("emulated" if way == "emulated" else "cpu"):
        return sd.calculate_gradients({}, "x")["x"]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_slopes_at_edges(way, monkeypatch):
    def all_of(sd: SameDiff, x: Any) -> Any:
        parts, at = [], 0
        for call, places, _ in SLOPES.values():
            parts.append(call(sd, x[at:at + len(places)]))
            at += len(places)
        return sd.concat(0, *parts)
    found = gradients(all_of, [p for _, places, _ in SLOPES.values() for p in places], way, monkeypatch)
    at, wrong = 0, {}
    for name, (_, places, wanted) in SLOPES.items():
        part, at = found[at:at + len(places)], at + len(places)
        if not np.allclose(part, wanted, 1e-6, 1e-9):
            wrong[name] = part.tolist(), wanted
    assert not wrong


#: Reductions of rows: call, rows, gradients.
ROWS_AT_EDGES: dict[str, tuple[Any, list[list[float]], list[list[float]]]] = {
    "norm1": (lambda sd, x: sd.norm1(x, 1), [[0, 0], [3, -4]], [[0, 0], [1, -1]]),
    "norm2": (lambda sd, x: sd.norm2(x, 1), [[0, 0], [3, -4]], [[0, 0], [0.6, -0.8]]),
    "log-sum-exp": (lambda sd, x: sd.math.log_sum_exp(x, 1), [[-INF, -INF], [0, INF], [-INF, 0], [1, 1]],
                    [[0, 0], [0, 1], [0, 1], [0.5, 0.5]]),
    "std": (lambda sd, x: sd.standard_deviation(x, False, 1), [[2, 2], [1, 3]], [[0, 0], [-0.5, 0.5]]),
    "top k": (lambda sd, x: sd.nn.top_k(x, 1, True)[0], [[2, 2, 1]], [[1, 0, 0]]),
    "prod": (lambda sd, x: sd.prod(x, 1), [[0, 2], [0, 0], [2, 3]], [[2, 0], [0, 0], [3, 2]]),
    "prod that leaves the type": (lambda sd, x: sd.prod(x, 1), [[1e-200, 2e-200], [1e200, 3e200]], [[2e-200, 1e-200], [3e200, 1e200]]),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ROWS_AT_EDGES)
def test_reductions_at_edges(name, way, monkeypatch):
    call, rows, wanted = ROWS_AT_EDGES[name]
    np.testing.assert_allclose(gradients(call, rows, way, monkeypatch), wanted, 1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_log_sum_exp_of_infinities(way, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if way == "reference" else "plan")
    sd = SameDiff.create()
    y = sd.math.log_sum_exp(sd.constant(np.array([[-INF, -INF], [0, INF], [INF, -INF], [np.nan, INF], [1000, 1000]])), 1)
    with device("emulated" if way == "emulated" else "cpu"):
        np.testing.assert_allclose(y.eval(), [-INF, INF, INF, np.nan, 1000 + np.log(2)])


@pytest.mark.parametrize("way", WAYS)
def test_samples_of_a_single_element(way, monkeypatch):
    """DL4J: NaN of ops, 0 of arrays."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if way == "reference" else "plan")
    sd = SameDiff.create()
    x = sd.constant(np.array([[2.0, 3.0]], np.float32))
    with device("emulated" if way == "emulated" else "cpu"):
        for y in (sd.standard_deviation(x, True, 0), sd.variance(x, True, 0)):
            assert np.isnan(y.eval()).all()


def test_samples_of_a_single_element_of_arrays():
    row = Nd4j.create([[2.0, 3.0]])
    assert Nd4j.std(2.0) == 0 and np.isnan(Nd4j.std(np.inf))
    assert Nd4j.std(row, 0).tolist() == [0, 0] == Nd4j.var(row, 0).tolist() == row.std(0).tolist()
    assert Transforms.normalize_zero_mean_and_unit_variance(row).tolist() == [[0, 0]]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("value", [1e-30, 1e-5, 1e20])
@pytest.mark.parametrize("p", [2, 3, 8])
@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE])
def test_p_norms_of_small_and_large_numbers(p, value, dtype):
    x = np.array([[[3, -4, 0, 1]], [[0, 0, 0, 0]]]) * value
    pooling = GlobalPoolingLayer(pooling_type="PNORM", pnorm=p)
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().data_type(dtype).list().layer(pooling)
                            .layer(OutputLayer(n_in=1, n_out=1, loss="MSE", activation="identity")).build()).init()
    norms = (np.abs(x / value) ** p).sum(2) ** (1 / p)
    np.testing.assert_allclose(net.feed_forward(x.astype(dtype.numpy))[1], norms * value, 1e-5)
    sd = SameDiff.create()
    v = sd.var("x", x[:, :, None].astype(dtype.numpy))
    y = sd.cnn.pnorm_pooling2d(v, Pooling2DConfig(k_h=1, k_w=4, extra=float(p)))
    y.sum("loss").mark_as_loss()
    np.testing.assert_allclose(y.eval()[:, :, 0, 0], norms * value, 1e-5)
    slope = sd.calculate_gradients({}, "x")["x"][:, :, 0]
    wanted = np.sign(x) * np.abs(x / value / np.where(norms, norms, 1)[..., None]) ** (p - 1)
    np.testing.assert_allclose(slope, wanted, 1e-4, 1e-30)


@pytest.mark.parametrize("way", ["plan", "reference"])
@pytest.mark.parametrize("largest", [4.0, INF, np.nan])
def test_p_norms_of_windows_of_zeros(way, largest, monkeypatch):
    """0, whatever is elsewhere in the image."""
    monkeypatch.setenv("DL4PY_EXECUTOR", way)
    sd = SameDiff.create()
    x = sd.var("x", np.array([0, 0, 3, 4, largest, 0]).reshape(1, 1, 1, 6))
    y = sd.cnn.pnorm_pooling2d(x, Pooling2DConfig(k_h=1, k_w=2, s_w=2, extra=10.0))
    np.testing.assert_allclose(y.eval().ravel(), [0, (3.0 ** 10 + 4.0 ** 10) ** 0.1, largest], 1e-12)


SCALES = [1e-30, 1e-20, 1e-10, 1.0, 1e10, 1e20, 1e30]
#: What squares numbers on the way to a result that is none, or leaves numbers of one sign only; products and variances leave the type.
FAMILIES = "reduce_sum reduce_mean reduce_max reduce_min reduce_norm1 reduce_norm2 reduce_normmax asum amax amin amean reduce_logsumexp " \
    "clipbynorm clipbyavgnorm softmax log_softmax cumsum mergeadd mergeavg mergemax"


def ranged(row: Row) -> bool:
    """Whether a row is tried over the whole range."""
    op = OPS[row.op_id]
    if is_call(row) or not op.__module__.startswith("dl4py.samediff.") or all(a is None or a.dtype != np.float64 for a in row.arrays()):
        return False
    return issubclass(op, (Elementwise, Distance)) or row.op_id in FAMILIES.split()


def judged(row: Row, scale: float) -> tuple[list[Any], list[Any]]:
    """The inputs of a row in FLOAT, and in DOUBLE the same numbers."""
    single = [a if a is None or a.dtype != np.float64 else (a * scale).astype(np.float32) for a in row.arrays()]
    return single, [a if a is None or a.dtype != np.float32 else a.astype(np.float64) for a in single]


def agree(found: Any, wanted: Any) -> bool:
    """Up to rounding; what FLOAT cannot hold is infinite or 0 there."""
    limits = np.finfo(np.float32)
    with np.errstate(all="ignore"):
        near = abs(found - wanted) <= 1e-3 * abs(wanted) + limits.tiny
        beyond = (abs(wanted) > limits.max * 0.99) & (abs(found) > limits.max * 0.99) & (np.sign(found) == np.sign(wanted))
    return bool(np.all(near | beyond | (found == wanted) | (np.isnan(found) & np.isnan(wanted))))


#: The kernels leave the type on the way, or compare with a bound that does not scale.
LEFT_OUT = {"weighted_cross_entropy_with_logits", "log_poisson_loss"}


def test_float_agrees_with_double_over_its_range():
    wrong = []
    for row in filter(ranged, ROWS):
        for scale in SCALES:
            results = []
            for arrays in judged(row, scale):
                with np.errstate(all="ignore"):
                    results.append([np.asarray(r).astype(np.float64) for r in as_tuple(row.op().compute(xp, *arrays))])
            if row.op_id not in LEFT_OUT and not all(map(agree, *results)):
                wrong.append((row.op_id, scale, results))
    assert not wrong


@pytest.mark.parametrize("way", ["plan", "emulated"])
def test_plans_agree_with_double_over_its_range(way):
    """Norms and distances, whose kernels have the loops of back ends."""
    chosen = [r for r in ROWS if ranged(r) and not issubclass(OPS[r.op_id], Elementwise)]
    wrong = []
    for scale in SCALES[::3]:
        sd, wanted = SameDiff(), {}
        for row in chosen:
            single, double = judged(row, scale)
            made = as_tuple(sd.add_op(row.op(), [sd.constant(a) for a in single]))[0]
            with np.errstate(all="ignore"):
                wanted[made.name()] = row.op_id, as_tuple(row.op().compute(xp, *double))[0]
        with device("emulated" if way == "emulated" else "cpu"):
            found = sd.output({}, *wanted)
        for name, (op_id, value) in wanted.items():
            if not agree(found[name].astype(float), value):
                wrong.append((op_id, scale, found[name], value))
    assert not wrong
