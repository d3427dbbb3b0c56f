"""Parallel training: what is computed, counted, heard and raised."""
from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import LSTM, BatchNormalization, DenseLayer, OutputLayer, RnnOutputLayer
from dl4py.networks import (
    BackpropType,
    ComputationGraph,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OptimizationAlgorithm,
    ParallelWrapper,
    TrainingMode,
)
from dl4py.samediff import Adam, DataSet, ExistingDataSetIterator, Listener, MultiDataSet, Nesterovs, Sgd
from dl4py.samediff.errors import ConfigurationError, GraphError, ShapeError, WorkerError

JAVA = json.loads((Path(__file__).parent / "java_runs.json").read_text())
RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 60)]


def batches(*sizes):
    ends = np.cumsum(sizes)
    return [DataSet(X[e - n:e], Y[e - n:e]) for n, e in zip(sizes, ends)]


def dense(updater=None, dtype="FLOAT", hidden=None, **options):
    builder = NeuralNetConfiguration.Builder().seed(5).data_type(dtype).updater(updater or Sgd(0.5)).activation("tanh")
    for name, value in options.items():
        builder = getattr(builder, name)(value)
    layers = [DenseLayer(n_in=4, n_out=5), *(hidden or []), OutputLayer(n_in=5, n_out=3)]
    return MultiLayerNetwork(builder.list(*layers).build()).init()


def recurrent():
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(5).updater(Adam(0.1)).list(
        LSTM(n_in=2, n_out=4), RnnOutputLayer(n_in=4, n_out=2)).backprop_type(BackpropType.TruncatedBPTT)
        .tbptt_length(3).build()).init()


def branched():
    conf = (NeuralNetConfiguration.Builder().seed(5).updater(Nesterovs(0.1, 0.9)).graph_builder().add_inputs("a", "b")
            .add_layer("h", DenseLayer(n_in=6, n_out=4), "a", "b").add_layer("out", OutputLayer(n_in=4, n_out=3), "h")
            .set_outputs("out").build())
    return ComputationGraph(conf).init()


def fit(net, data, **options):
    with ParallelWrapper(net, **{"prefetch_buffer": 0, **options}) as wrapper:
        wrapper.fit(data)
    return net


class Heard(Listener):
    def __init__(self):
        self.scores = []

    def iteration_done(self, model, iteration, epoch):
        self.scores.append((iteration, epoch, model.score()))


@pytest.mark.parametrize("run", JAVA["runs"], ids=lambda r: f"{r['updater']}-every-{r['freq']}-of-{r['batches']}x{r['fits']}")
def test_averaging_is_dl4js(run):
    conf = NeuralNetConfiguration.Builder().seed(1).updater({"Sgd": Sgd(0.1), "Adam": Adam(0.01)}[run["updater"]]).list(
        DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2)).build()
    net, heard = MultiLayerNetwork(conf).init(np.array(run["before"])), Heard()
    data = [DataSet(np.array(x), np.array(y)) for x, y in zip(JAVA["x"], JAVA["y"])][:run["batches"]]
    with ParallelWrapper.Builder(net).workers(2).averaging_frequency(run["freq"]).build() as wrapper:
        wrapper.set_listeners(heard)
        for _ in range(run["fits"]):
            wrapper.fit(data)
    np.testing.assert_allclose(net.params(), run["params"], rtol=0, atol=2e-7)
    assert net.score() == pytest.approx(run["score"], abs=1e-6)
    assert (net.get_iteration_count(), net.get_epoch_count()) == (run["iterations"], run["epochs"])
    np.testing.assert_allclose(sorted(heard.scores), run["heard"], atol=1e-6)


@pytest.mark.parametrize("mode", ["AVERAGING", "SHARED_GRADIENTS"])
@pytest.mark.parametrize("processes", [False, True])
def test_one_worker_is_plain_fit(mode, processes):
    plain = dense(Adam(0.05), l2=1e-3, drop_out=0.8)
    data = batches(10, 10, 7)
    for each in data:
        plain.fit(each)
    net = fit(dense(Adam(0.05), l2=1e-3, drop_out=0.8), data, workers=1, training_mode=mode, processes=processes)
    np.testing.assert_array_equal(net.params(), plain.params())
    np.testing.assert_array_equal(net.updater_state(), plain.updater_state())
    assert (net.score(), net.get_iteration_count()) == (plain.score(), plain.get_iteration_count())


def test_averaging_each_time_is_a_step_with_the_mean_gradient():
    net, data = dense(dtype="DOUBLE"), batches(10, 10, 10)
    before, gradients = net.params(), []
    for each in data:
        single = net.clone()
        single.fit(each)
        gradients.append((before - single.params()) / 0.5)
    fit(net, data, workers=3)
    np.testing.assert_allclose(net.params(), before - 0.5 * np.mean(gradients, 0), rtol=1e-12, atol=1e-14)
    joint = dense(dtype="DOUBLE")
    joint.fit(DataSet(X[:30], Y[:30]))
    np.testing.assert_allclose(net.params(), joint.params(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("options", [{}, {"mini_batch": False}, {"gradient_normalization": "ClipL2PerLayer",
                                                                   "gradient_normalization_threshold": 0.1}], ids=str)
def test_shared_gradients_are_those_of_the_joint_batch(options):
    """Also of batches of different sizes, and where the last round has fewer batches than workers."""
    sizes = (10, 4, 7), (8, 5)
    made = dense(Adam(0.05), "DOUBLE", l2=1e-2, **options)
    plain, at = made.clone(), 0
    for each in sizes:
        plain.fit(DataSet(X[at:at + sum(each)], Y[at:at + sum(each)]))
        at += sum(each)
    net = fit(made, batches(*sizes[0], *sizes[1]), workers=3, training_mode="SHARED_GRADIENTS")
    np.testing.assert_allclose(net.params(), plain.params(), rtol=1e-10, atol=1e-12)
    assert net.get_iteration_count() == 2
    if "mini_batch" not in options:
        assert net.score() == pytest.approx(plain.score(), rel=1e-12)


def test_running_means_are_those_of_the_joint_batch():
    hidden = [BatchNormalization(n_in=5, n_out=5)]
    net = fit(dense(Sgd(0.0), "DOUBLE", hidden), batches(12, 4), workers=2, training_mode="SHARED_GRADIENTS")
    joint = dense(Sgd(0.0), "DOUBLE", hidden)
    joint.fit(DataSet(X[:16], Y[:16]))
    np.testing.assert_allclose(net.get_param("1_mean"), joint.get_param("1_mean"), rtol=1e-12)
    assert np.any(net.get_param("1_mean"))


def test_series_cut_into_different_numbers_of_pieces():
    x, y = RNG.normal(size=(8, 2, 7)), np.eye(2)[RNG.integers(0, 2, (8, 7))].transpose(0, 2, 1)
    long, short = DataSet(x[:4], y[:4]), DataSet(x[4:, :, :4], y[4:, :, :4])
    for order in ([long, short], [short, long], [short, long, long]):
        shared = fit(recurrent(), order, workers=2, training_mode="SHARED_GRADIENTS")
        assert shared.get_iteration_count() == 3 * ((len(order) + 1) // 2)
        assert np.isfinite(shared.params()).all()
    halves = [DataSet(x[:4], y[:4]), DataSet(x[4:], y[4:])]
    joint = recurrent()
    joint.fit(DataSet(x, y))
    np.testing.assert_allclose(fit(recurrent(), halves, workers=2, training_mode="SHARED_GRADIENTS").params(), joint.params(), atol=1e-5)


def test_graphs_with_several_inputs():
    data = [MultiDataSet([X[i:i + 5], X[i:i + 5, :2]], [Y[i:i + 5]]) for i in range(0, 20, 5)]
    net = fit(branched(), data, workers=2, training_mode=TrainingMode.SHARED_GRADIENTS)
    plain = branched()
    for i in (0, 10):
        plain.fit(MultiDataSet([X[i:i + 10], X[i:i + 10, :2]], [Y[i:i + 10]]))
    np.testing.assert_allclose(net.params(), plain.params(), atol=1e-6)


def test_without_averaged_updaters():
    data = batches(*[5] * 8)
    with_, without = (fit(dense(Adam(0.05)), data, average_updaters=averaged) for averaged in (True, False))
    assert not np.array_equal(with_.params(), without.params())
    assert not np.array_equal(with_.updater_state(), without.updater_state())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["AVERAGING", "SHARED_GRADIENTS"])
def test_processes_compute_what_threads_do(mode):
    data = batches(10, 4, 7, 8, 5)
    nets, heard = [dense(Adam(0.05), drop_out=0.8) for _ in range(2)], Heard()
    for net, processes in zip(nets, (False, True)):
        with ParallelWrapper.Builder(net).workers(2).trainingMode(mode).averagingFrequency(2).processes(processes).build() as wrapper:
            wrapper.fit(data)
            wrapper.set_listeners(heard)
            wrapper.fit(ExistingDataSetIterator(data[:2]))
    np.testing.assert_array_equal(nets[0].params(), nets[1].params())
    np.testing.assert_array_equal(nets[0].updater_state(), nets[1].updater_state())
    assert len(heard.scores) == 3               # both threads, one process


def test_workers_drop_different_units():
    same = [DataSet(X[:10], Y[:10])] * 2
    plain = dense(Sgd(0.5), drop_out=0.5)
    plain.fit(same[0])
    assert not np.allclose(fit(dense(Sgd(0.5), drop_out=0.5), same).params(), plain.params())


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mode", ["AVERAGING", "SHARED_GRADIENTS"])
@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_bad_batch_ends_the_training(mode, bad):
    data = batches(*[5] * 6)
    net = dense(Adam(0.05))
    with ParallelWrapper(net, workers=3, training_mode=mode, prefetch_buffer=0) as wrapper:
        wrapper.fit(data[:3])
        before = net.params()
        broken = list(data)
        broken[bad] = DataSet(X[:5, :3], Y[:5])
        with pytest.raises(ShapeError) as raised:
            wrapper.fit(broken)
        assert bad == 0 or f"in worker {bad} of the parallel training" in raised.value.__notes__
        if mode == "SHARED_GRADIENTS":
            np.testing.assert_array_equal(net.params(), before)
        wrapper.fit(data)
    assert net.get_iteration_count() in (3, 4)
    assert not [t for t in threading.enumerate() if t.name.startswith("dl4py-training")]


class Dying(Listener):
    def iteration_done(self, model, iteration, epoch):
        raise RuntimeError("heard enough")


def test_errors_of_listeners_are_raised():
    net = dense()
    with ParallelWrapper(net, workers=2) as wrapper:
        wrapper.set_listeners(Dying())
        with pytest.raises(RuntimeError, match="heard enough"):
            wrapper.fit(batches(5, 5, 5, 5))


@pytest.mark.slow
def test_errors_of_processes():
    net = dense()
    with ParallelWrapper(net, workers=2, processes=True, prefetch_buffer=0) as wrapper:
        with pytest.raises(ShapeError) as raised:
            wrapper.fit([*batches(5), DataSet(X[:5, :3], Y[:5])])
        assert any("in worker 1" in note for note in raised.value.__notes__)
        wrapper.fit(batches(5, 5))
        wrapper._workers._others[0].process.kill()
        with pytest.raises(WorkerError, match="worker 1 ended with the exit code -9"):
            wrapper.fit(batches(5, 5))
    assert net.get_iteration_count() in (1, 2)


def test_listeners_can_stop_the_training():
    net = dense()
    wrapper = ParallelWrapper(net, workers=2)

    class Stop(Listener):
        def iteration_done(self, model, iteration, epoch):
            if iteration == 1:
                wrapper.stop_fit()

    net.set_listeners(Stop())
    wrapper.fit(batches(*[5] * 12))
    assert (net.get_iteration_count(), wrapper.get_iterations_counter()) == (2, 2)
    wrapper.shutdown()
    wrapper.fit(batches(5, 5, 5))
    assert wrapper.get_iterations_counter() == 4
    wrapper.shutdown()


def test_another_learning_rate_reaches_all_workers():
    net = dense(Sgd(0.5), "DOUBLE")
    with ParallelWrapper(net, workers=2) as wrapper:
        wrapper.fit(batches(5, 5))
        before = net.params()
        net.set_learning_rate(0.0)
        wrapper.fit(batches(5, 5))
    np.testing.assert_array_equal(net.params(), before)


def test_scores_are_reported(capsys):
    net = dense()
    with ParallelWrapper.Builder(net).report_score_after_averaging(True).build() as wrapper:
        wrapper.fit(batches(5, 5))
    assert f"Averaged score: {net.score()}" in capsys.readouterr().err


def test_refused():
    net = dense()
    for options, message in (({"workers": 0}, "workers must be at least 1"), ({"averaging_frequency": 0}, "averaging_frequency"),
                             ({"prefetch_buffer": -1}, "prefetch_buffer"), ({"training_mode": "CUSTOM"}, "SHARED_GRADIENTS"),
                             ({"wokers": 2}, "did you mean 'workers'")):
        with pytest.raises(ConfigurationError, match=message):
            ParallelWrapper(net, **options)
    with pytest.raises(ConfigurationError, match="MultiLayerNetwork or ComputationGraph"):
        ParallelWrapper("net")
    with ParallelWrapper(net) as wrapper:
        with pytest.raises(ConfigurationError, match="iterator or a list"):
            wrapper.fit(DataSet(X, Y))
        with pytest.raises(GraphError, match="expected data sets"):
            wrapper.fit([1, 2])
    searching = dense(optimization_algo=OptimizationAlgorithm.LBFGS)
    with ParallelWrapper(searching, training_mode="SHARED_GRADIENTS") as wrapper, pytest.raises(ConfigurationError, match="AVERAGING"):
        wrapper.fit(batches(5, 5))
    fit(searching, batches(5, 5))
    assert searching.get_iteration_count() == 1


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from dl4py.layers import OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelWrapper
from dl4py.samediff import DataSet, Listener

class Press(Listener):
    def iteration_done(self, model, iteration, epoch):
        if iteration == 3 and model is net:
            os.killpg(os.getpgid(0), signal.SIGINT)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)        # whoever runs the tests may ignore it
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(OutputLayer(n_in=4, n_out=3)).build()).init()
    net.set_listeners(Press())
    wrapper = ParallelWrapper(net, workers=2, processes={processes})
    try:
        wrapper.fit([DataSet(np.ones((4, 4)), np.eye(3)[[0, 1, 2, 0]])] * 100)
    except KeyboardInterrupt:
        end = time.monotonic() + 60              # the thread behind a queue between processes is a moment behind
        while threading.active_count() > 1 and time.monotonic() < end:
            time.sleep(0.01)
        print("interrupted", net.get_iteration_count(), threading.active_count())
"""


@pytest.mark.slow
@pytest.mark.parametrize("processes", [False, True])
def test_ctrl_c_comes_after_a_whole_round(processes, tmp_path):
    (tmp_path / "program.py").write_text(INTERRUPTED.replace("{processes}", str(processes)))
    ran = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, start_new_session=True, timeout=600)
    assert ran.stdout.split() == ["interrupted", "4", "1"], ran.stdout + ran.stderr
    assert ran.stderr == ""
