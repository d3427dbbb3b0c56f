"""Training that goes on from a checkpoint ends with the parameters, bit by bit, of the training that was not interrupted."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py.layers import LSTM, BatchNormalization, DenseLayer, DropConnect, GaussianDropout, MaxNormConstraint, OutputLayer, RnnOutputLayer
from dl4py.networks import BackpropType, ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import (
    AsyncDataSetIterator,
    DataSet,
    DataSetIteratorSplitter,
    EarlyTerminationDataSetIterator,
    ExistingDataSetIterator,
    JointMultiDataSetIterator,
    KFoldIterator,
    ListDataSetIterator,
    MultipleEpochsIterator,
    NumpyDataSetIterator,
    SamplingDataSetIterator,
)
from dl4py.samediff.errors import ConfigurationError, FileFormatError
from dl4py.samediff.training import (
    Adam,
    CheckpointListener,
    ExponentialSchedule,
    InverseSchedule,
    Nadam,
    StepSchedule,
    TrainingConfig,
    available_checkpoints,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(22, 6)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 22)]
SERIES = RNG.normal(size=(8, 6, 7)).astype(np.float32)
CLASSES = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, (8, 7))].transpose(0, 2, 1)


def a_list() -> MultiLayerNetwork:
    return MultiLayerNetwork(
        NeuralNetConfiguration.Builder().seed(5).updater(Adam(StepSchedule("EPOCH", 0.01, 0.5, 1))).l2(1e-3).list()
        .layer(DenseLayer(n_in=6, n_out=8, activation="relu", dropout=0.7, weight_noise=DropConnect(0.8)))
        .layer(BatchNormalization(n_in=8, n_out=8))
        .layer(OutputLayer(n_in=8, n_out=3, dropout=GaussianDropout(0.3),
                           constraints=[MaxNormConstraint(1.0, dimensions=[1], params=["W"])]))
        .build()).init()


def a_graph() -> ComputationGraph:
    return ComputationGraph(
        NeuralNetConfiguration.Builder().seed(5).updater(Nadam(InverseSchedule("ITERATION", 0.01, 0.5, 1))).graph_builder().add_inputs("in")
        .add_layer("d", DenseLayer(n_in=6, n_out=8, dropout=0.5), "in").add_layer("bn", BatchNormalization(n_in=8, n_out=8), "d")
        .add_layer("o", OutputLayer(n_in=8, n_out=3), "bn").set_outputs("o").build()).init()


def a_samediff() -> SameDiff:
    sd = SameDiff.create()
    sd.seed = 77
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 6), sd.placeholder("y", DataType.FLOAT, -1, 3)
    w, v = (sd.var(n, np.linspace(-1, 1, i * o).reshape(i, o).astype(np.float32)) for n, i, o in (("w", 6, 8), ("v", 8, 3)))
    sd.loss.softmax_cross_entropy("loss", y, sd.nn.dropout(sd.nn.tanh(x.mmul(w)), 0.7).mmul(v))
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Adam(ExponentialSchedule("EPOCH", 0.01, 0.9)), data_set_feature_mapping="x",
                                          data_set_label_mapping="y"))
    return sd


def shuffled() -> NumpyDataSetIterator:
    return NumpyDataSetIterator(X, Y, 4, shuffle_seed=3)


ITERATORS: dict[str, Callable[[], Any]] = {
    "shuffled": shuffled,
    "read ahead": lambda: AsyncDataSetIterator(shuffled(), 2),
    "sampled": lambda: SamplingDataSetIterator(DataSet(X, Y), 4, 22, seed=1),
    "list": lambda: ListDataSetIterator(DataSet(X, Y).as_list(), 4),
    "folds": lambda: KFoldIterator(5, DataSet(X, Y), seed=1),
    "epochs as one": lambda: MultipleEpochsIterator(2, shuffled()),
    "ended early": lambda: EarlyTerminationDataSetIterator(shuffled(), 3),
    "existing": lambda: ExistingDataSetIterator([DataSet(X[:4], Y[:4]), DataSet(X[4:], Y[4:])]),
    "split": lambda: DataSetIteratorSplitter(shuffled(), 5, 0.6).get_train_iterator(),
    "joint": lambda: JointMultiDataSetIterator(shuffled()),
}
CASES = [(model, "shuffled") for model in (a_list, a_graph, a_samediff)] + [(a_list, n) for n in list(ITERATORS)[1:-1]]
CASES += [(a_graph, "joint"), (a_samediff, "split"), (a_samediff, "read ahead")]


def state_of(model: Any) -> list[Any]:
    if isinstance(model, SameDiff):
        counters = model.get_training_config()
        arrays = [model.get_variable(n).get_arr() for n in "wv"]
        arrays += [s for u in model.get_updater_map().values() for s in u.get_state().values()]
        return [counters.get_iteration_count(), counters.get_epoch_count(), *(a.tobytes() for a in arrays)]
    arrays = [model.params(), np.asarray(model.get_updater().get_state_view_array())]
    return [model.get_iteration_count(), model.get_epoch_count(), *(a.tobytes() for a in arrays)]


def epochs_of(model: Any) -> int:
    return (model.get_training_config() if isinstance(model, SameDiff) else model).get_epoch_count()


@pytest.mark.slow
@pytest.mark.parametrize(("model", "data"), CASES, ids=[f"{m.__name__}-{d}" for m, d in CASES])
def test_every_checkpoint_resumes_to_the_same_bits(model, data, tmp_path):
    make = ITERATORS[data]
    whole = model()
    whole.set_listeners(CheckpointListener(tmp_path, save_every_n_iterations=1, save_every_n_epochs=1, log_saving=False))
    whole.fit(make(), epochs=2)
    checkpoints = available_checkpoints(tmp_path)
    assert len(checkpoints) == whole.get_iteration_count() - 1 + 2
    for checkpoint in checkpoints:
        again = make()
        resumed = CheckpointListener.resume(tmp_path, again, checkpoint)
        if epochs_of(resumed) < 2:
            resumed.fit(again, epochs=2 - epochs_of(resumed))
        assert state_of(resumed) == state_of(whole), checkpoint


def test_a_resumed_training_saves_checkpoints_that_resume(tmp_path):
    whole = a_list().fit(shuffled(), epochs=2)
    stopped = a_list()
    stopped.set_listeners(saver(tmp_path / "first", 4))
    stopped.fit(EarlyTerminationDataSetIterator(shuffled(), 5))
    it = EarlyTerminationDataSetIterator(shuffled(), 6)
    second = CheckpointListener.resume(tmp_path / "first", it)
    second.set_listeners(saver(tmp_path / "second", 2))
    second.fit(it, epochs=2)
    it = EarlyTerminationDataSetIterator(shuffled(), 6)
    third = CheckpointListener.resume(tmp_path / "second", it, 1)
    assert third.fit(it, epochs=1).get_epoch_count() == 2
    assert state_of(third) == state_of(second) == state_of(whole)


def saver(folder: Any, iterations: int) -> CheckpointListener:
    return CheckpointListener(folder, save_every_n_iterations=iterations, log_saving=False)


def recurrent() -> MultiLayerNetwork:
    return MultiLayerNetwork(
        NeuralNetConfiguration.Builder().seed(2).updater(Adam(0.01)).list().layer(LSTM(n_in=6, n_out=4, dropout=0.8))
        .layer(RnnOutputLayer(n_in=4, n_out=3)).backprop_type(BackpropType.TruncatedBPTT).t_bptt_length(3).build()).init()


def test_checkpoints_wait_for_the_end_of_a_series(tmp_path):
    def series() -> NumpyDataSetIterator:
        return NumpyDataSetIterator(SERIES, CLASSES, 4, shuffle_seed=1)
    whole = recurrent()
    whole.set_listeners(saver(tmp_path, 4))         # three pieces a batch
    whole.fit(series(), epochs=4)
    found = available_checkpoints(tmp_path)
    assert [c.iteration for c in found] == [5, 8, 14, 17, 20]
    for checkpoint in found:
        again = series()
        resumed = CheckpointListener.resume(tmp_path, again, checkpoint)
        if resumed.get_epoch_count() < 4:
            resumed.fit(again, epochs=4 - resumed.get_epoch_count())
        assert state_of(resumed) == state_of(whole)


def test_files_of_deleted_checkpoints_go_together(tmp_path):
    net = a_list()
    net.set_listeners(CheckpointListener.Builder(tmp_path).save_every_n_iterations(1).keep_last_and_every(2, 3).log_saving(False).build())
    net.fit(shuffled())
    kept = [2, 3, 4]
    assert [c.checkpoint_num for c in available_checkpoints(tmp_path)] == kept
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["checkpointInfo.txt", *(f"checkpoint_{n}_MultiLayerNetwork.zip{end}" for n in kept for end in ("", ".resume.json"))])
    CheckpointListener.Builder(tmp_path).save_every_epoch().delete_existing(True).build()
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_resumed_says_why(tmp_path):
    net = a_list()
    net.set_listeners(saver(tmp_path, 4))
    net.fit(shuffled())
    with pytest.raises(ConfigurationError, match="position is that of a NumpyDataSetIterator, not of a ListDataSetIterator"):
        CheckpointListener.resume(tmp_path, ITERATORS["list"]())
    with pytest.raises(ConfigurationError, match="behind batch 5, but this NumpyDataSetIterator has only 3"):
        CheckpointListener.resume(tmp_path, NumpyDataSetIterator(X[:12], Y[:12], 4, shuffle_seed=3))
    with pytest.raises(ConfigurationError, match="resume got list"):
        CheckpointListener.resume(tmp_path, [DataSet(X, Y)])
    assert CheckpointListener.resume(tmp_path).get_iteration_count() == 5       # the model alone
    state = tmp_path / "checkpoint_0_MultiLayerNetwork.zip.resume.json"
    state.write_text('{"data": {"iterator": "NumpyDataSetIterator"}}')
    with pytest.raises(ConfigurationError, match="'iterator', 'batches' and 'order'"):
        CheckpointListener.resume(tmp_path, shuffled())
    state.write_text("{")
    with pytest.raises(FileFormatError, match="not JSON"):
        CheckpointListener.resume(tmp_path, shuffled())
    for wrong in ("[]", "3", "null", '"text"', '{"data": 3}', '{"data": [1]}', '{"seed": "1"}', '{"seed": null}', '{"seed": 1.5}'):
        state.write_text(wrong)
        with pytest.raises(FileFormatError, match="expected an object with 'data' and 'epochOver'"):
            CheckpointListener.resume(tmp_path, shuffled())
    state.unlink()
    with pytest.raises(ConfigurationError, match="is missing"):
        CheckpointListener.resume(tmp_path, shuffled())


def test_fit_goes_on_where_the_iterator_stands():
    data, seen = NumpyDataSetIterator(X, Y, 4), a_list()
    data.next()
    seen.fit(data)
    assert seen.get_iteration_count() == 5          # five of six batches were left
    seen.fit(data)
    assert seen.get_iteration_count() == 11


@pytest.mark.parametrize("made", [a_list, a_graph, a_samediff])
def test_an_epoch_that_was_over_is_counted_also_without_data(made, tmp_path):
    model = made()
    model.set_listeners(CheckpointListener.builder(tmp_path).save_every_epoch().keep_all().log_saving(False).build())
    model.fit(ListDataSetIterator(DataSet(X, Y).as_list(), 11), epochs=2)
    for saved, epochs in zip(available_checkpoints(tmp_path), (1, 2), strict=True):
        again = CheckpointListener.resume(tmp_path, None, saved)
        counter = again if hasattr(again, "get_epoch_count") else again.get_training_config()
        assert (counter.get_epoch_count(), counter.get_iteration_count()) == (epochs, 2 * epochs)
