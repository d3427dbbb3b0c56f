"""Which parameters layers have, and what regularization and updaters of biases mean for them."""
from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    AutoEncoder,
    BatchNormalization,
    Bidirectional,
    CenterLossOutputLayer,
    DenseLayer,
    FeedForwardLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    GravesBidirectionalLSTM,
    LastTimeStep,
    OutputLayer,
    PReLULayer,
    RnnOutputLayer,
    layer,
)
from dl4py.layers.functions.constraints import LayerConstraint
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import DL4PyError, GraphError, ShapeError
from dl4py.samediff.training import Adam, Sgd
from tests.layers.layer_table import LAYERS


def net_of(*layers):
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(3).data_type("DOUBLE").updater(Sgd(0.1)).list(*layers).build()).init()


def test_center_loss_keeps_a_bias_that_it_does_not_use(rng):
    net = net_of(CenterLossOutputLayer(n_in=3, n_out=2, has_bias=False, activation="softmax"))
    assert list(net.param_table()) == ["0_W", "0_b", "0_cL"]
    x = rng.normal(size=(4, 3))
    before = net.output(x)
    net.set_param("0_b", [3.0, -5.0])
    assert np.array_equal(net.output(x), before)


@pytest.mark.parametrize("updater, bias_updater, size", [(Sgd(0.1), Adam(0.1), 0), (Adam(0.1), Sgd(0.1), 2 * (3 * 2 + 2))])
def test_center_loss_has_one_updater_as_its_state_in_dl4js_files(updater, bias_updater, size):
    net = net_of(CenterLossOutputLayer(n_in=3, n_out=2, updater=updater, bias_updater=bias_updater))
    assert net.updater_state().size == size


def test_both_directions_of_graves_lstm_start_by_one_weight_init():
    plain, other = (net_of(GravesBidirectionalLSTM(n_in=3, n_out=2, **more), RnnOutputLayer(n_in=2, n_out=2))
                    for more in ({}, {"weight_init_recurrent": "ONES"}))
    assert np.array_equal(plain.params(), other.params())


def test_visible_biases_are_no_biases_for_updaters_and_regularization():
    net = net_of(AutoEncoder(n_in=3, n_out=2, bias_updater=Adam(0.1), l1_bias=0.5), OutputLayer(n_in=2, n_out=2))
    assert net.get_updater().get_state_view_array().size == 2 * 2           # Adam for the biases of the hidden units only
    score = net.engine.steps.penalty()
    net.set_param("0_vb", [1.0, 1.0, 1.0])
    assert net.engine.steps.penalty() == score


@pytest.mark.parametrize("kind", [FrozenLayer, FrozenLayerWithBackprop])
def test_regularization_of_frozen_layers_is_no_part_of_the_score(kind, rng):
    nets = [net_of(kind(underlying=DenseLayer(n_in=3, n_out=4, l2=l2)), OutputLayer(n_in=4, n_out=2)) for l2 in (0.0, 0.7)]
    data = DataSet(rng.normal(size=(5, 3)), np.eye(2)[[0, 1, 0, 0, 1]])
    assert nets[0].score(data) == nets[1].score(data)
    assert np.array_equal(nets[0].score_examples(data, True), nets[1].score_examples(data, True))


@pytest.mark.parametrize("kind", [FrozenLayer, FrozenLayerWithBackprop])
def test_masks_of_features_reach_a_frozen_output_layer_as_they_reach_it_unfrozen(kind, rng):
    """RnnOutputLayer looks at the mask of the labels alone; so it does in DL4J, frozen or not."""
    nets = [net_of(made) for made in (RnnOutputLayer(n_in=3, n_out=2), kind(underlying=RnnOutputLayer(n_in=3, n_out=2)))]
    nets[1].set_params(nets[0].params())
    x, mask = rng.normal(size=(2, 3, 4)), np.array([[1.0, 1, 0, 0], [1, 1, 1, 0]])
    np.testing.assert_array_equal(nets[1].output(x, False, mask, None), nets[0].output(x, False, mask, None))


def test_score_with_center_loss_is_an_average_whatever_the_network_asks_for(rng):
    x, y = rng.normal(size=(5, 3)), np.eye(2)[[0, 1, 0, 0, 1]]
    scores = []
    for average in (True, False):
        builder = NeuralNetConfiguration.Builder().seed(3).data_type("DOUBLE").mini_batch(average)
        scores.append(MultiLayerNetwork(builder.list(CenterLossOutputLayer(n_in=3, n_out=2)).build()).init().score(DataSet(x, y)))
    assert scores[0] == scores[1]


def test_summaries_show_no_sizes_where_dl4j_has_none():
    net = net_of(LastTimeStep(underlying=Bidirectional(LSTM(n_in=3, n_out=4))), PReLULayer(input_shape=(8,), n_out=5),
                 OutputLayer(n_in=8, n_out=2))
    for kind in ("(LastTimeStepLayer)", "(PReLU)"):
        row = next(line for line in net.summary().splitlines() if kind in line)
        assert row.split(kind)[1].split()[0] == "-,-"


@pytest.mark.slow
def test_statistics_below_a_frozen_layer_stay(rng):
    x, y = rng.normal(size=(6, 3)), np.eye(2)[[0, 1, 0, 0, 1, 1]]
    for kind, stay in ((FrozenLayer, True), (FrozenLayerWithBackprop, False)):
        net = net_of(BatchNormalization(n_in=3, n_out=3), kind(underlying=DenseLayer(n_in=3, n_out=4)), OutputLayer(n_in=4, n_out=2))
        before = net.get_param("0_mean").copy()
        net.fit(x, y)
        assert np.array_equal(net.get_param("0_mean"), before) == stay


@layer("test_parameters.Tracking")
class Tracking(FeedForwardLayer):
    """Passes its input on; what it asks of the network is given from outside."""

    asks = staticmethod(lambda params, x: None)

    def define_parameters(self, params):
        params.statistic("mean", (self.n_out,))

    def define_layer(self, sd, x, params, mask):
        type(self).asks(params, x)
        return x * 1.0

    def define_pretraining(self, sd, x, params):
        return x.sum(1), type(self).asks(params, x) or {}


def tracking(monkeypatch, asks):
    monkeypatch.setattr(Tracking, "asks", staticmethod(asks))
    return net_of(Tracking(n_in=3, n_out=3), OutputLayer(n_in=3, n_out=2))


@pytest.mark.parametrize("keep", [False, True])
def test_steps_of_statistics_have_their_shape(keep, monkeypatch, rng):
    x = rng.normal(size=(4, 3))
    net = tracking(monkeypatch, lambda params, v: params.move("mean", v.mean(keep, 0)))
    net.fit(x, np.eye(2)[[0, 1, 0, 1]])
    np.testing.assert_allclose(net.get_param("0_mean").reshape(-1), -x.mean(axis=0))


@pytest.mark.parametrize(("asks", "text"), [
    (lambda params, x: params.move("mean", x), r"the step of 'mean' must be of shape \(3,\).*\(-1, 3\)"),
    (lambda params, x: params.move("mean", x.mean()), r"the step of 'mean' must be of shape \(3,\)"),
    (lambda params, x: params.move("mean", 1.0), "must be a variable; got 1.0"),
    (lambda params, x: params.penalty(x.mean(0)), r"the penalty must be of shape \(\)"),
    (lambda params, x: params.penalty(0.5), "the penalty must be a variable; got 0.5"),
    (lambda params, x: params.keep_state("s", 0.5), "the state 's' must be a variable"),
])
def test_what_a_layer_asks_for_has_the_right_form(asks, text, monkeypatch):
    with pytest.raises(GraphError, match=f"layer0.*Tracking.*{text}"):
        tracking(monkeypatch, asks).fit(np.ones((4, 3)), np.eye(2)[[0, 1, 0, 1]])


def test_steps_of_pretraining_have_the_shape_of_their_parameter(monkeypatch):
    with pytest.raises(GraphError, match=r"pretraining step of 'mean' must be of shape \(3,\)"):
        tracking(monkeypatch, lambda params, x: {"mean": x.mean()}).pretrain(np.ones((4, 3)))


@configuration("test_parameters.Summing")
class Summing(LayerConstraint):
    def constrained(self, xp, param):
        return param.sum(axis=0)


def test_a_constraint_that_returns_another_shape_is_refused_by_name():
    net = net_of(DenseLayer(n_in=3, n_out=4, constrain_weights=[Summing()]), OutputLayer(n_in=4, n_out=2))
    with pytest.raises(ShapeError, match=r"Summing of .*layer0.*\(4,\) for parameter 'W' of shape \(3, 4\)"):
        net.fit(np.ones((2, 3)), np.eye(2))


def _with_sizes(made, size):
    """The same layer with sizes of features that no machine can hold, wherever it has them."""
    sizes = {name: size for name in ("n_in", "n_out") if name in type(made).__dataclass_fields__}
    inner = {"underlying": _with_sizes(made.underlying, size)} if hasattr(made, "underlying") else {}
    return made.replace(**sizes, **inner)


@pytest.mark.parametrize("row", [row for row in LAYERS if hasattr(row.made, "parameter_table")], ids=lambda row: type(row.made).__name__)
def test_parameters_are_named_without_being_made(row):
    # a file says any size, and readers ask for the table before they know whether the values are there
    made = _with_sizes(row.made, 2**31 - 1)
    tracemalloc.start()
    try:
        made.parameter_table()
    except DL4PyError:
        pass                # sizes that a layer refuses
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1 << 20
