"""What networks refuse: a typed error that says what was expected and what came, and nothing has changed."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import LSTM, DenseLayer, OutputLayer, RnnOutputLayer
from dl4py.samediff import DataSet, Evaluation
from dl4py.samediff.errors import ConfigurationError, DataTypeError, GraphError, PathError, ShapeError, UnknownNameError
from dl4py.samediff.training import CheckpointListener, KeepMode
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).normal(size=(6, 4))
Y = np.eye(3)[[0, 1, 2, 0, 1, 2]]
DATA = DataSet(X, Y)

CASES = {
    "parameters to share": (lambda n: n.init(np.zeros(n.num_params()), False), ConfigurationError, "networks have memory of their own"),
    "parameter of transposed shape": (lambda n: n.set_param("0_W", np.ones((5, 4))), ShapeError,
                                      r"shape \(4, 5\), the array given has \(5, 4\)"),
    "parameter of text": (lambda n: n.set_param("0_b", list("abcde")), DataTypeError, "a parameter needs numbers, got text"),
    "table with an unknown name": (lambda n: n.set_param_table({"0_W": np.ones((4, 5)), "zz": 1}), UnknownNameError, "no parameter 'zz'"),
    "table with a wrong shape": (lambda n: n.set_param_table({"0_W": np.ones((4, 5)), "1_b": [1, 2]}), ShapeError, "'1_b' has shape"),
    "no examples": (lambda n: n.fit(X[:0], Y[:0]), ShapeError,
                    r"a batch without examples cannot be fitted; the first input has shape \(0, 4\)"),
    "gradient of no examples": (lambda n: (n.set_input(X[:0]), n.set_labels(Y[:0]), n.compute_gradient_and_score()), ShapeError,
                                "a batch without examples has no loss"),
    "no labels": (lambda n: n.score(DataSet(X, Y[:0])), ShapeError, "a batch without examples has no loss|labels"),
    "no batches": (lambda n: n.fit([]), ShapeError, "without examples"),
    "score of a number": (lambda n: n.score(3), GraphError, "score takes a DataSet or MultiDataSet.* got int"),
    "evaluation of a number": (lambda n: n.evaluate(3), ConfigurationError, "an evaluation needs a data set.* got int"),
    "evaluation of arrays": (lambda n: n.evaluate([X]), ConfigurationError, "the data to evaluate gives a ndarray; expected data sets"),
    "evaluation of text": (lambda n: n.evaluate("data"), ConfigurationError, "got str"),
    "layer that does not exist": (lambda n: n.feed_forward_to_layer(9, X), GraphError, "layer 9 does not exist; the network has 2 layers"),
    "no evaluation": (lambda n: n.do_evaluation(DATA, Evaluation(), "acc"), ConfigurationError, "expected evaluations.* got 'acc'"),
    "no path": (lambda n: n.save(None), PathError, "expected a path or a binary stream, got None"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case):
    call, error, said = CASES[case]
    net = network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3))
    net.fit(DATA)
    before, counters = net.params().copy(), (net.get_iteration_count(), net.get_epoch_count(), net.score())
    with pytest.raises(error, match=said):
        call(net)
    np.testing.assert_array_equal(net.params(), before)
    assert (net.get_iteration_count(), net.get_epoch_count(), net.score()) == counters


def test_shapes_that_mean_the_same_are_taken():
    net = network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3))
    for value in (np.arange(5.0), np.arange(5.0)[None], np.arange(5)[:, None]):
        net.set_param("0_b", value)
        np.testing.assert_array_equal(net.get_param("0_b").reshape(-1), np.arange(5))
    net.set_param("0_W", np.arange(20.0))
    np.testing.assert_array_equal(net.get_param("0_W"), np.arange(20.0).reshape(4, 5))


def test_states_that_no_layer_keeps():
    net = network(LSTM(n_in=4, n_out=5), RnnOutputLayer(n_in=5, n_out=3))
    step = X[:2, :, None]
    first = net.rnn_time_step(step)
    net.rnn_set_previous_state(1, {"h": np.ones((2, 5))})
    kept = net.rnn_get_previous_state(0)
    with pytest.raises(GraphError, match=r"no layer keeps the state 1_h that was set; states: 0_"):
        net.rnn_time_step(step)
    assert net.rnn_get_previous_state(0) is not kept and set(net.rnn_get_previous_state(0)) == set(kept)
    net.rnn_clear_previous_state()
    np.testing.assert_array_equal(net.rnn_time_step(step), first)


@pytest.mark.parametrize(("options", "said"), [
    ({"keep_mode": "LATEST"}, "unknown keep_mode 'LATEST'; one of ALL, LAST, LAST_AND_EVERY"),
    ({"keep_last": 2.5}, "whole numbers above 0, got 2.5"),
    ({"save_every_n_iterations": "3"}, "got '3'"), ({"save_every_n_epochs": 0}, "got 0")])
def test_options_of_checkpoints(options, said, tmp_path):
    with pytest.raises(ConfigurationError, match=said):
        CheckpointListener(tmp_path, **{"save_every_n_epochs": 1, **options})
    assert CheckpointListener(tmp_path, save_every_n_epochs=1, keep_mode="last").keep_mode is KeepMode.LAST
