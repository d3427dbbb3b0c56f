"""Optimizers with a line search; their steps are also replayed from recorded ones in test_recorded_training.py."""
from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import (
    DefaultStepFunction,
    GradientStepFunction,
    MultiLayerNetwork,
    NegativeDefaultStepFunction,
    NegativeGradientStepFunction,
    NeuralNetConfiguration,
)
from dl4py.networks.optimizers import LBFGS, BackTrackLineSearch, ConjugateGradient, LineGradientDescent, StochasticGradientDescent
from dl4py.samediff import Adam, DataSet, Listener, Sgd
from dl4py.samediff.errors import DL4PyError, NumericalError
from tests.helpers.networkcheck import network

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(12, 4)), np.eye(3)[RNG.integers(0, 3, 12)]


def searching(algorithm, updater=None, **options):
    builder = NeuralNetConfiguration.Builder().seed(3).data_type("DOUBLE").updater(updater or Sgd(0.5)).activation("tanh")
    builder = builder.optimization_algo(algorithm)
    for name, value in options.items():
        builder = getattr(builder, name)(value)
    return MultiLayerNetwork(builder.list().layer(DenseLayer(n_in=4, n_out=5)).layer(OutputLayer(n_in=5, n_out=3)).build()).init()


@pytest.mark.parametrize(("algorithm", "kind"), [("LBFGS", LBFGS), ("CONJUGATE_GRADIENT", ConjugateGradient),
                                                 ("LINE_GRADIENT_DESCENT", LineGradientDescent)])
def test_a_search_never_makes_a_batch_worse(algorithm, kind):
    net = searching(algorithm, Adam(0.05))
    assert type(net.get_optimizer()) is kind and net.getOptimizer().search.max_iterations == 5
    scores = [net.score(DataSet(X, Y), True)]
    for _ in range(8):
        net.fit(X, Y)
        scores.append(net.score())
        assert net.score() == pytest.approx(net.score(DataSet(X, Y), True))
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(scores)) and scores[-1] < scores[0]
    assert net.get_iteration_count() == 8


def test_most_networks_take_one_update():
    assert type(network(OutputLayer(n_in=2, n_out=2)).get_optimizer()) is StochasticGradientDescent


def test_a_good_step_is_taken_whole():
    net, plain = searching("LINE_GRADIENT_DESCENT"), searching("STOCHASTIC_GRADIENT_DESCENT")
    net.fit(X, Y)
    plain.fit(X, Y)
    np.testing.assert_allclose(net.params(), plain.params(), rtol=1e-12)
    assert net.score() == pytest.approx(plain.score(DataSet(X, Y), True))


def test_step_functions():
    params, direction = np.array([1.0, 2.0]), np.array([4.0, 8.0])
    found = []
    for function in (DefaultStepFunction(), NegativeDefaultStepFunction(), GradientStepFunction(), NegativeGradientStepFunction()):
        moved = params.copy()
        function.step(moved, direction, 0.5)
        found.append(moved.tolist())
    assert found == [[3, 6], [-1, -2], [5, 10], [-3, -6]]


@pytest.mark.parametrize("function", [DefaultStepFunction(), GradientStepFunction()])
@pytest.mark.parametrize("algorithm", ["LINE_GRADIENT_DESCENT", "STOCHASTIC_GRADIENT_DESCENT"])
def test_steps_that_add_the_update_climb(algorithm, function):
    net = searching(algorithm, step_function=function)
    before = net.score(DataSet(X, Y), True)
    net.fit(X, Y)
    assert net.score(DataSet(X, Y), True) > before


def parabola(p):
    return float((p ** 2).sum())


def test_line_search_on_a_parabola():
    search, start = BackTrackLineSearch(NegativeDefaultStepFunction()), np.array([1.0, -2.0])
    step = search.optimize(parabola, start, 2 * start, 2 * start, parabola(start))
    assert step == pytest.approx(0.5)           # the quadratic model is exact here
    assert search.optimize(parabola, start, 2 * start, 0.1 * start, parabola(start)) == 1.0
    assert search.optimize(parabola, start, 2 * start, -2 * start, parabola(start)) == 0.0
    assert search.optimize(parabola, start, np.zeros(2), np.zeros(2), parabola(start)) == 0.0
    assert BackTrackLineSearch(NegativeDefaultStepFunction(), 0).optimize(parabola, start, 2 * start, start, 5.0) == 0.0


def test_line_search_leaves_what_is_not_finite():
    def walled(p):
        return parabola(p) if p[0] > 0.95 else float("inf")

    search, start = BackTrackLineSearch(NegativeDefaultStepFunction()), np.array([1.0])
    step = search.optimize(walled, start, 2 * start, 2 * start, 1.0)
    assert 0 < step < 0.025
    assert search.optimize(lambda p: float("nan"), start, 2 * start, 2 * start, 1.0) == 0.0


def test_an_error_in_a_search_changes_nothing():
    net = searching("LBFGS", Adam(0.1))
    net.fit(X, Y)
    before, state = net.params(), net.updater_state().copy()

    class Failing(Listener):
        def on_gradient_calculation(self, model):
            if not np.array_equal(model.params(), before):
                raise RuntimeError("stop")

    net.set_listeners(Failing())
    with pytest.raises(RuntimeError, match="stop"):
        net.fit(X * 2, Y)
    np.testing.assert_array_equal(net.params(), before)
    np.testing.assert_array_equal(net.updater_state(), state)
    assert net.get_iteration_count() == 1
    net.set_listeners()
    with pytest.raises(NumericalError, match="data of input"):
        net.fit(np.full_like(X, np.nan), Y, check_finite=True)
    with pytest.raises(DL4PyError):
        net.fit(X[:, :3], Y)
    np.testing.assert_array_equal(net.params(), before)


def test_time_that_batches_take():
    def slow():
        for i in (0, 1):
            time.sleep(0.03)
            yield DataSet(X[6 * i:6 * i + 6], Y[6 * i:6 * i + 6])

    net = searching("STOCHASTIC_GRADIENT_DESCENT")
    assert net.get_last_etl_time() == 0
    net.fit(slow())
    assert 25 <= net.getLastEtlTime() < 5000
    net.set_last_etl_time(7)
    assert net.get_last_etl_time() == 7
