"""Records of trainings in TensorBoard's files, read back by its own reader, and in experiment trackers."""
from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

from dl4py.layers import ConvolutionLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import ConfigurationError, MissingPackageError
from dl4py.samediff.training import (
    Adam,
    InMemoryStatsStorage,
    MlflowRouter,
    StatsListener,
    StatsStorageRouter,
    TensorBoardRouter,
    WandbRouter,
    WatchListener,
)
from dl4py.samediff.training.tracking.scalars import scalars_of


def pictures(count=12):
    rng = np.random.default_rng(0)
    x = rng.random((count, 1, 6, 6), np.float32)
    y = np.eye(2, dtype=np.float32)[np.arange(count) % 2]
    x[y[:, 1] > 0, :, :3] += 2
    return DataSet(x, y)


@pytest.fixture(scope="module")
def storage():
    """Two epochs of a small network, recorded once."""
    conf = (NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.05)).list()
            .layer(ConvolutionLayer(kernel_size=(3, 3), n_out=2, activation="relu")).layer(OutputLayer(n_out=2))
            .set_input_type(InputType.convolutional(6, 6, 1)).build())
    net, kept = MultiLayerNetwork(conf).init(), InMemoryStatsStorage()
    stats = StatsListener(kept, 2, bins=8, activations=1)
    watch = WatchListener(kept, pictures(), session=stats.session, names=["low", "high"])
    net.fit([pictures(), pictures()], epochs=2, listeners=[stats, watch])
    return kept


def test_tensorboard_reads_what_was_recorded(storage, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams.metadata import parse_session_start_info_plugin_data
    from tensorboard.util.tensor_util import make_ndarray
    with TensorBoardRouter(tmp_path) as router:
        for record in storage.records():
            router.put(record)
    found = EventAccumulator(str(tmp_path), size_guidance={"tensors": 0, "images": 0, "histograms": 0}).Reload()
    steps, scores = storage.series("score")
    assert [(e.step, e.value) for e in found.Scalars("score")] == [(s, pytest.approx(v)) for s, v in zip(steps, scores)]
    wanted = {name for record in storage.records() for name in scalars_of(record)}
    assert set(found.Tags()["scalars"]) == wanted
    assert {"learning_rate", "update_ratio/0_W", "activations/0/stdev", "evaluation/f1"} <= wanted
    drawn = storage.series("parameters", "0_W")[1][0]
    (first, *_) = found.Histograms("parameters/0_W")
    assert list(first.histogram_value.bucket) == [0, *drawn["histogram"]["counts"]]
    assert first.histogram_value.bucket_limit[-1] == pytest.approx(drawn["histogram"]["max"])
    assert first.histogram_value.sum_squares == pytest.approx(drawn["l2"] ** 2)
    assert {"pictures/filters 0_W", "pictures/activations 0"} == set(found.Tags()["images"])
    assert found.Images("pictures/filters 0_W")[0].encoded_image_string[:4] == b"\x89PNG"
    graph = found.Graph()
    assert [(n.op, list(n.input)) for n in graph.node] == [("input", []), ("ConvolutionLayer", ["input"]), ("OutputLayer", ["0"])]
    told = parse_session_start_info_plugin_data(found.SummaryMetadata("_hparams_/session_start_info").plugin_data.content)
    assert told.hparams["updater"].string_value == "Adam" and told.hparams["learning_rate"].number_value == 0.05
    curve = make_ndarray(found.Tensors("evaluation/high/pr_curves")[-1].tensor_proto)
    assert curve.shape == (6, 101) and (curve[:4].sum(0) == 12).all()


def test_a_router_without_its_package(monkeypatch, tmp_path):
    for name, make in (("tensorboard.summary.writer.event_file_writer", lambda: TensorBoardRouter(tmp_path)), ("mlflow", MlflowRouter)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingPackageError, match="pip install"):
            make()


class Tracker:
    """What is called of MLflow and of Weights and Biases."""

    def __init__(self):
        self.params, self.metrics, self.files, self.config = {}, [], {}, {}

    def log_params(self, values):
        self.params |= values

    def log_metrics(self, values, step=None):
        self.metrics.append((step, values))

    def log_dict(self, values, name):
        self.files[name] = values

    def log(self, values, step=None):
        self.metrics.append((step, values))


@pytest.mark.parametrize("router", [MlflowRouter, WandbRouter])
def test_trackers_take_the_same_numbers(storage, router):
    tracker = Tracker()
    with router(tracker) as made:
        for record in storage.records():
            made.put({k: v for k, v in record.items() if k != "pictures"})
    assert [(step, values["score"]) for step, values in tracker.metrics if "score" in values] == list(zip(*storage.series("score")))
    assert (tracker.params or tracker.config)["updater"] == "Adam" and (not tracker.params or tracker.files["model.json"]["graph"]["nodes"])
    with pytest.raises(ConfigurationError, match="lacks"):
        router(object())


@pytest.mark.slow
def test_a_local_store_of_mlflow(storage, tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    import mlflow
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
        with mlflow.start_run() as run, MlflowRouter() as router:
            for record in storage.records():
                router.put({k: v for k, v in record.items() if k != "pictures"})
        client = mlflow.MlflowClient()
        assert [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, "score")] == list(zip(*storage.series("score")))
        assert client.get_run(run.info.run_id).data.params["updater"] == "Adam"


def test_numbers_of_a_record():
    record = {"score": 1.0, "examples": 0, "iteration_ms": 2.0, "parameters": {"w": {"mean_magnitude": 1.0}},
              "updates": {"w": {"mean_magnitude": 0.01}, "b": {"mean_magnitude": 0.0}}, "activations": {"0": {"stdev": None}},
              "evaluation": {"accuracy": 0.5, "roc": {}}}
    assert scalars_of(record)["update_ratio/w"] == pytest.approx(-2)
    assert set(scalars_of(record)) == {"score", "iteration_ms", "updates/w/mean_magnitude", "updates/b/mean_magnitude",
                                       "parameters/w/mean_magnitude", "update_ratio/w", "evaluation/accuracy"}


def test_the_first_record_tells_of_the_run(storage):
    first, *rest = storage.records()
    assert first["run"]["hyperparameters"] == {
        "updater": "Adam", "learning_rate": 0.05, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "seed": 1, "layers": 2, "parameters": 86}
    assert [n["shape"] for n in first["run"]["graph"]["nodes"]] == ["(?, 1, 6, 6)", "(?, 2, 4, 4)", "(?, 2)"]
    assert not [r for r in rest if "run" in r]
    assert {r["session"] for r in [first, *rest]} == {first["session"]}
    assert set(first["activations"]) == {"input", "0"}


def test_what_a_watch_records(storage):
    found = next(r for r in reversed(storage.records()) if "evaluation" in r)
    assert np.sum(found["evaluation"]["confusion"]) == 12 and found["evaluation"]["names"] == ["low", "high"]
    assert found["embedding"]["layer"] == "0" and np.shape(found["embedding"]["points"]) == (12, 2)
    assert found["embedding"]["labels"] == [0, 1] * 6


@pytest.mark.parametrize(("wrong", "text"), [
    ({"frequency": 0}, "at least 1"), ({"method": "umap"}, "'pca' or 'tsne'"), ({"data": DataSet([[1.0]], None)}, "features and labels")])
def test_watches_refuse_what_is_wrong(wrong, text):
    with pytest.raises(ConfigurationError, match=text):
        WatchListener(**{"storage": InMemoryStatsStorage(), "data": pictures(), **wrong})


def test_layers_that_a_watch_cannot_find():
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(OutputLayer(n_in=36, n_out=2)).build()).init()
    flat = DataSet(np.zeros((4, 36), np.float32), np.eye(2, dtype=np.float32)[[0, 1, 0, 1]])
    assert "embedding" not in WatchListener([], flat).look(net)
    with pytest.raises(ConfigurationError, match="watches networks"):
        WatchListener([], flat).look(object())


def test_records_go_where_they_can():
    with pytest.raises(ConfigurationError, match="go into a StatsStorageRouter"):
        StatsListener(3).iteration_done(object.__new__(_Scored), _at())

    class Silent(StatsStorageRouter):
        def put(self, record):
            pass

    with Silent() as silent:
        silent.put({})


class _Scored:
    def score(self):
        return 1.0


def _at():
    from dl4py.samediff.training import At
    return At(0, 0)
