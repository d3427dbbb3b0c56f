from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    AlphaDropout,
    DenseLayer,
    DropConnect,
    Dropout,
    GaussianDropout,
    GaussianNoise,
    IDropout,
    NormalDistribution,
    SpatialDropout,
    WeightNoise,
)
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.executor.plan_cache import plan_for
from dl4py.samediff.executor.session import request_for, run
from dl4py.samediff.families.gradient import gradients
from dl4py.samediff.ir.run_context import RunContext
from dl4py.samediff.training.updaters.schedules import MapSchedule, ScheduleType

pytestmark = pytest.mark.plans

X = np.full((300, 200), 2.0)


def graph(dropout, shape=X.shape):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, *shape)
    return sd, x, dropout.define(sd, x)


def train(sd, x, name, iteration=0, epoch=0):
    return run(sd, {"x": x}, [name], RunContext(True, sd.seed, iteration, epoch=epoch))[name]


@pytest.mark.parametrize("dropout", [Dropout(0.7), GaussianDropout(0.3), GaussianNoise(0.5), SpatialDropout(0.5)], ids=str)
def test_the_mean_stays_and_inference_does_nothing(dropout):
    x = X.reshape(300, 50, 4)
    sd, _, y = graph(dropout, x.shape)
    assert train(sd, x, y.name()).mean() == pytest.approx(2.0, abs=0.05)
    assert (sd.output({"x": x}, y.name())[y.name()] == x).all()


def test_p_is_the_probability_to_keep():
    sd, _, y = graph(Dropout(0.8))
    got = train(sd, X, y.name())
    assert set(np.unique(got)) == {0.0, 2.5}
    assert (got > 0).mean() == pytest.approx(0.8, abs=0.01)


def test_gaussian_dropout_takes_the_drop_rate():
    got = GaussianDropout(0.2).apply_dropout(np.ones((400, 400)), seed=1)
    assert got.std() == pytest.approx(0.5, rel=0.02)


def test_alpha_dropout_keeps_mean_and_variance():
    x = np.random.default_rng(0).normal(size=(1000, 500))
    got = AlphaDropout(0.8).apply_dropout(x, seed=1)
    assert got.mean() == pytest.approx(0.0, abs=0.02)
    assert got.std() == pytest.approx(1.0, rel=0.02)


def test_spatial_dropout_drops_whole_channels():
    got = SpatialDropout(0.5).apply_dropout(np.ones((20, 10, 6, 6)), seed=2)
    assert set(np.unique(got.mean((2, 3)))) == {0.0, 2.0}
    with pytest.raises(DL4PyError, match="three axes"):
        SpatialDropout(0.5).apply_dropout(np.ones((2, 3)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dropout", [Dropout(0.5), AlphaDropout(0.5), GaussianDropout(0.5), GaussianNoise(1.0)], ids=str)
def test_the_gradient_uses_the_numbers_of_its_forward_pass(dropout):
    sd, x, y = graph(dropout)
    name = gradients(sd, [y], [x])["x"].name()
    context = RunContext(True, 0, 3)
    found = run(sd, {"x": X}, [y.name(), name], context)
    more = run(sd, {"x": X + 1}, [y.name()], context)[y.name()]
    assert found[name] == pytest.approx(more - found[y.name()])


RETAINING = [Dropout(0.7), AlphaDropout(0.8), SpatialDropout(0.5), Dropout(1.0)]
SHAPES = [(6, 5), (3, 4, 5), (2, 3, 4, 5)]


def compared(sd, x, names, monkeypatch, iteration=3):
    """What a plan and the reference executor give."""
    context = RunContext(True, 5, iteration)
    found = run(sd, {"x": x}, names, context)
    with monkeypatch.context() as setting:
        setting.setenv("DL4PY_EXECUTOR", "reference")
        want = run(sd, {"x": x}, names, context)
    for n in names:
        np.testing.assert_array_equal(found[n] == 0, want[n] == 0)
        np.testing.assert_allclose(found[n], want[n], rtol=1e-6, atol=1e-6)
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dropout", [*RETAINING, GaussianDropout(0.3), GaussianNoise(0.5),
                                     Dropout(MapSchedule(ScheduleType.ITERATION, {0: 1.0, 2: 0.5}))], ids=str)
def test_plans_agree_with_the_reference(dropout, shape, dtype, monkeypatch):
    if isinstance(dropout, SpatialDropout) and len(shape) < 3:
        return
    sd = SameDiff.create()
    x = sd.placeholder("x", dtype, -1, *shape[1:])
    y = dropout.define(sd, sd.nn.relu(x))
    names = [y.name(), gradients(sd, [(y * y).sum()], [x])["x"].name()]
    given = np.random.default_rng(0).standard_normal(shape).astype(dtype.numpy)
    compared(sd, given, names, monkeypatch)
    plan = plan_for(sd, {"x": given}, request_for(sd, names, True))
    if dropout in RETAINING:
        assert [s.label for s in plan.steps].count("kept") == 1 and not plan.peek().calls
    else:                       # normal numbers have a kernel; rates that follow a schedule are those of a run
        assert bool(plan.peek().calls) == isinstance(dropout, Dropout)


def test_a_draw_of_ones_own_is_what_counts(monkeypatch):
    class EverySecond(Dropout):
        def draw(self, rng, shape, dtype, iteration, epoch):
            return (np.arange(np.prod(shape)) % 2).reshape(shape), None
    sd, _, y = graph(EverySecond(0.5), (3, 4))
    found = compared(sd, np.ones((3, 4)), [y.name()], monkeypatch)[y.name()]
    assert (found == [0, 1, 0, 1]).all()


def test_spatial_dropout_needs_channels_in_plans_too():
    sd, _, y = graph(SpatialDropout(0.5), (3, 4))
    with pytest.raises(DL4PyError, match="three axes"):
        train(sd, np.ones((3, 4)), y.name())


def test_drop_connect_runs_natively(monkeypatch):
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.FLOAT, -1, 6), sd.var("W", np.ones((6, 4), np.float32))
    noisy = DropConnect(0.6).applied(sd, {"W": w}, DenseLayer(n_in=6, n_out=4).parameter_table())["W"]
    y = x.mmul(noisy)
    names = [y.name(), gradients(sd, [(y * y).sum()], [w])["W"].name()]
    given = np.ones((3, 6), np.float32)
    compared(sd, given, names, monkeypatch)
    assert not plan_for(sd, {"x": given}, request_for(sd, names, True)).peek().calls


def test_every_iteration_draws_anew():
    sd, _, y = graph(Dropout(0.5))
    first, again, second = (train(sd, X, y.name(), k) for k in (0, 0, 1))
    assert (first == again).all()
    assert (first != second).any()


def test_schedules():
    by_iteration = Dropout(MapSchedule(ScheduleType.ITERATION, {0: 1.0, 5: 0.5}))
    sd, _, y = graph(by_iteration)
    assert (train(sd, X, y.name(), 4) == X).all()
    assert (train(sd, X, y.name(), 5) == 0).any()
    by_epoch = Dropout(MapSchedule(ScheduleType.EPOCH, {0: 1.0, 2: 0.5}))
    sd, _, y = graph(by_epoch)
    assert (train(sd, X, y.name(), 9, 1) == X).all()
    assert (train(sd, X, y.name(), 9, 2) == 0).any()


def test_numbers_stand_for_dropout():
    assert IDropout.of(0.5) == Dropout(0.5)
    assert IDropout.of(0.0) is None


def test_weight_noise_acts_on_weights():
    parameters = DenseLayer(n_in=200, n_out=300, bias_init=0.0).parameter_table()
    w, b = np.full((200, 300), 2.0), np.full(300, 2.0)

    def noisy(noise):
        sd = SameDiff.create()
        found = noise.applied(sd, {"W": sd.var("W", w), "b": sd.var("b", b)}, parameters)
        return [run(sd, {}, [found[n].name()], RunContext(True, 1, 0))[found[n].name()] for n in ("W", "b")]

    weights, bias = noisy(DropConnect(0.7))
    assert set(np.unique(weights)) == {0.0, 2.0}
    assert (weights > 0).mean() == pytest.approx(0.7, abs=0.01)
    assert (bias == b).all()
    assert (noisy(DropConnect(0.5, apply_to_biases=True))[1] == 0).any()
    assert noisy(WeightNoise(NormalDistribution(0.0, 0.1)))[0].std() == pytest.approx(0.1, rel=0.05)
    assert noisy(WeightNoise(NormalDistribution(1.0, 0.1), additive=False))[0].std() == pytest.approx(0.2, rel=0.05)
