"""Whole steps wherever else parameters change: searches, pretraining, parallel training, listeners that see updates."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import AutoEncoder, DenseLayer, InputType, OutputLayer
from dl4py.networks import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    ParallelWrapper,
    TransferLearningHelper,
)
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet, ExistingDataSetIterator
from dl4py.samediff.training import Adam, Listener, TrainingConfig
from tests.helpers.interrupting import Stop, interrupted
from tests.samediff.cuda.support import needs_compiler

RNG = np.random.default_rng(3)
BATCHES = [DataSet(RNG.standard_normal((8, 4)).astype("f"), np.eye(3, dtype="f")[RNG.integers(0, 3, 8)]) for _ in range(6)]
BATCH = BATCHES[0]


def network(algorithm="STOCHASTIC_GRADIENT_DESCENT", first=None):
    builder = NeuralNetConfiguration.Builder().seed(5).updater(Adam(0.01)).optimization_algo(algorithm)
    conf = builder.list(first or DenseLayer(n_out=7, activation="tanh"), OutputLayer(n_out=3))
    return MultiLayerNetwork(conf.set_input_type(InputType.feed_forward(4)).build()).init()


def state(net):
    return np.concatenate([net.params(), net.engine.flat.state, [net.get_iteration_count()]])


def is_one_of(found, wanted):
    return any(np.array_equal(found, one) for one in wanted)


@pytest.mark.parametrize("algorithm", ["LBFGS", "CONJUGATE_GRADIENT", "LINE_GRADIENT_DESCENT"])
def test_searches(algorithm):
    ours, wanted = network(algorithm), network(algorithm)
    for net in (ours, wanted):
        net.fit(BATCH)
        net.fit(BATCH)
    after, more = 0, True
    while more:
        more = interrupted(lambda: ours.fit(BATCH), after)
        while wanted.get_iteration_count() < ours.get_iteration_count():
            wanted.fit(BATCH)
        np.testing.assert_array_equal(state(ours), state(wanted))
        after += 5
    assert after > 100


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("several", [False, True], ids=["steps", "series"])
def test_on_a_device(several):
    ours, wanted = network().to("emulated"), network().to("emulated")
    data = [BATCH] * 3 if several else BATCH
    ours.fit(data)
    after, more, steps = 0, True, set()
    while more:
        before = ours.get_iteration_count()
        more = interrupted(lambda: ours.fit(data), after)
        steps.add(ours.get_iteration_count() - before)
        while wanted.get_iteration_count() < ours.get_iteration_count():
            wanted.fit(BATCH)
        np.testing.assert_array_equal(state(ours), state(wanted))
        after += 3
    assert after > 50 and steps == ({0, 1, 2, 3} if several else {0, 1})


def test_pretraining():
    layer = AutoEncoder(n_out=5, activation="sigmoid")
    ours, wanted = network(first=layer), network(first=layer)
    for net in (ours, wanted):
        net.pretrain_layer(0, BATCH)

    def found(net):
        trainer = net.engine.pretrainers["0"]
        return np.concatenate([net.params(), trainer._flat.state]), trainer.iteration
    after = 0
    while interrupted(lambda: ours.pretrain_layer(0, BATCH), after):
        while found(wanted)[1] < found(ours)[1]:
            wanted.pretrain_layer(0, BATCH)
        np.testing.assert_array_equal(found(ours)[0], found(wanted)[0])
        after += 1
    assert after > 50 and found(ours)[1] > 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["AVERAGING", "SHARED_GRADIENTS"])
def test_parallel_training(mode):
    def wrapped(net):
        return ParallelWrapper(net, workers=2, training_mode=mode, prefetch_buffer=0)
    net = network()
    before, alone = state(net), network()
    alone.fit(BATCHES[0])
    with wrapped(net) as wrapper:
        wrapper.fit(BATCHES[:2])
    whole = [before, state(net)] + [state(alone)] * (mode == "AVERAGING")
    after, more, seen = 0, True, set()
    while more:
        ours = network()
        with wrapped(ours) as wrapper:
            more = interrupted(lambda: wrapper.fit(BATCHES[:2]), after)
        assert is_one_of(state(ours), whole), after
        seen.add(ours.get_iteration_count())
        after += 29
    assert seen == {0, 1}


@pytest.mark.slow
def test_early_stopping():
    conf = EarlyStoppingConfiguration.Builder().epoch_termination_conditions(MaxEpochsTerminationCondition(1))
    conf = conf.score_calculator(DataSetLossCalculator(ExistingDataSetIterator(BATCHES), True)).build()
    after, more = 0, True
    while more:
        ours, wanted = network(), network()
        more = interrupted(lambda: EarlyStoppingTrainer(conf, ours, ExistingDataSetIterator(BATCHES)).fit(), after)  # noqa: B023 - at once
        for batch in BATCHES[:ours.get_iteration_count()]:
            wanted.fit(batch)
        np.testing.assert_array_equal(state(ours), state(wanted))
        after += 23


def test_the_transfer_helper_shares_whole_steps():
    after, more = 0, True
    while more:
        ours = network()
        helper = TransferLearningHelper(ours, 0)
        features = [helper.featurize(b) for b in BATCHES]
        more = interrupted(lambda: helper.fit_featurized(features[:3]), after)      # noqa: B023 - used at once
        head = helper.unfrozen_mln()
        before = network().get_param("1_W")
        assert is_one_of(ours.get_param("1_W"), [before, head.get_param("0_W")])
        after += 37
    assert np.array_equal(ours.get_param("1_W"), head.get_param("0_W")) and head.get_iteration_count() == 3


def test_updates_that_are_not_taken():
    ours, wanted = network(), network()
    for net in (ours, wanted):
        net.set_input(BATCH.features)
        net.set_labels(BATCH.labels)
        net.compute_gradient_and_score()
    before = state(ours)
    wanted.get_updater().update(wanted.gradient(), 0, 0, 8)
    after = 0
    while interrupted(lambda: ours.get_updater().update(ours.gradient(), 0, 0, 8), after):
        if is_one_of(state(ours), [state(wanted)]):
            break
        np.testing.assert_array_equal(state(ours), before)
        after += 1
    assert after > 20


class Halves(Listener):
    def pre_update(self, sd, at, variable, update):
        update *= 0.5


def test_listeners_that_change_updates():
    def graph():
        sd = SameDiff.create()
        x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 3)
        w, b = sd.var("w", np.linspace(-1, 1, 12).reshape(4, 3).astype("f")), sd.var("b", np.zeros(3, "f"))
        ((x.mmul(w) + b - y) ** 2).mean("loss")
        sd.set_loss_variables("loss")
        sd.set_training_config(TrainingConfig(Adam(0.01), data_set_feature_mapping="x", data_set_label_mapping="y"))
        sd.set_listeners(Halves())
        sd.fit(BATCH)
        return sd

    def values(sd):
        states = sd.get_updater_map()
        return [*(sd.variable(n).get_arr() for n in "wb"), *(a for n in "wb" for a in states[n].get_state().values())]
    ours, wanted = graph(), graph()
    after = 0
    while interrupted(lambda: ours.fit(BATCH), after):
        while wanted.get_iteration_count() < ours.get_iteration_count():
            wanted.fit(BATCH)
        for one, other in zip(values(ours), values(wanted)):
            np.testing.assert_array_equal(one, other)
        after += 1
    assert after > 50


class Raises(Listener):
    def __init__(self, hook, at):
        self.left = at
        setattr(self, hook, self.hear)

    def hear(self, *args):
        self.left -= 1
        if self.left < 0:
            raise Stop


for hook in ("iteration_done", "iteration_start", "on_gradient_calculation", "on_forward_pass"):
    setattr(Raises, hook, lambda self, *args: None)


@pytest.mark.parametrize("algorithm", ["STOCHASTIC_GRADIENT_DESCENT", "LBFGS"])
@pytest.mark.parametrize("hook", ["iteration_done", "iteration_start", "on_gradient_calculation", "on_forward_pass"])
def test_listeners_that_raise(hook, algorithm):
    ours, wanted = network(algorithm), network(algorithm)
    ours.set_listeners(Raises(hook, 2))
    with pytest.raises(Stop):
        ours.fit(BATCHES)
    for batch in BATCHES[:ours.get_iteration_count()]:
        wanted.fit(batch)
    np.testing.assert_array_equal(state(ours), state(wanted))


def broken():
    yield from BATCHES[:3]
    raise Stop


class Breaks:
    """A preprocessor that fails at its third batch."""

    left = 2

    def pre_process(self, data):
        self.left -= 1
        if self.left < 0:
            raise Stop


def preprocessed():
    found = ExistingDataSetIterator(BATCHES)
    found.set_pre_processor(Breaks())
    return found


@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "parallel"])
@pytest.mark.parametrize("source", [broken, preprocessed])
def test_iterators_and_preprocessors_that_raise(source, parallel):
    ours, wanted = network(), network()
    with pytest.raises(Stop):
        if parallel:
            with ParallelWrapper(ours, workers=1) as wrapper:
                wrapper.fit(source())
        else:
            ours.fit(source())
    assert ours.get_iteration_count() == (3 if source is broken else 2)
    for batch in BATCHES[:ours.get_iteration_count()]:
        wanted.fit(batch)
    np.testing.assert_array_equal(state(ours), state(wanted))
