"""What is no array of numbers is refused wherever arrays are given, by an error that says what came and what to do."""
from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py.layers import DenseLayer, EmbeddingLayer, OutputLayer
from dl4py.layers.functions.embedding_init import EmbeddingInitializer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam, DataSet, DataType, MultiDataSet, SameDiff, TrainingConfig
from dl4py.samediff.data import ImagePreProcessingScaler, NormalizerMinMaxScaler, NormalizerStandardize
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.evaluation import ROC, Evaluation, RegressionEvaluation

X, Y = np.ones((4, 3), np.float32), np.eye(2, dtype=np.float32)[[0, 1, 0, 1]]


def network() -> MultiLayerNetwork:
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().updater(Adam(0.1)).list(
        DenseLayer(n_in=3, n_out=4), OutputLayer(n_in=4, n_out=2, activation="softmax")).build()).init()


def embedding() -> MultiLayerNetwork:
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().list(
        EmbeddingLayer(n_in=5, n_out=4, layer_name="words"), OutputLayer(n_in=4, n_out=2, activation="softmax")).build()).init()


def net_graph() -> ComputationGraph:
    return ComputationGraph(NeuralNetConfiguration.Builder().updater(Adam(0.1)).graph_builder().add_inputs("in")
                            .add_layer("out", OutputLayer(n_in=3, n_out=2, activation="softmax"), "in").set_outputs("out").build()).init()


def graph() -> SameDiff:
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.placeholder("y", DataType.FLOAT, -1, 2)
    sd.loss.softmax_cross_entropy("loss", y, x.mmul("z", sd.var("w", np.full((3, 2), 0.1, np.float32))), None)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Adam(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


def scaled(normalizer: Any, bad: Any) -> None:
    normalizer.fit(DataSet(X, Y))
    normalizer.transform(bad)


ENTRIES: dict[str, Callable[[Any], Any]] = {
    "output": lambda a: network().output(a), "fit": lambda a: network().fit(a, Y), "fit, labels": lambda a: network().fit(X, a),
    "feed_forward": lambda a: network().feed_forward(a), "predict": lambda a: network().predict(a),
    "data set": lambda a: network().fit(DataSet(a, Y)), "data set, labels": lambda a: network().fit(DataSet(X, a)),
    "data set, mask": lambda a: network().fit(DataSet(X, Y, None, a)), "score": lambda a: network().score(DataSet(a, Y)),
    "evaluate": lambda a: network().evaluate([DataSet(a, Y)]), "set_params": lambda a: network().set_params(a),
    "set_param": lambda a: network().set_param("0_W", a), "embedding": lambda a: embedding().output(a),
    "state of an updater": lambda a: network().get_updater().set_state_view_array(a),
    "graph, output": lambda a: net_graph().output(a), "multi data set": lambda a: net_graph().fit(MultiDataSet([a], [Y])),
    "placeholder": lambda a: graph().output({"x": a}, "z"), "set_array": lambda a: graph().set_array("w", a),
    "graph, fit": lambda a: graph().fit(DataSet(a, Y), 1), "operand": lambda a: graph().variable("w") + a,
    "constant": lambda a: SameDiff.create().constant("c", DataType.FLOAT, a),
    "standardize": lambda a: NormalizerStandardize().fit(DataSet(a, Y)),
    "min-max": lambda a: scaled(NormalizerMinMaxScaler(), a), "pixels": lambda a: scaled(ImagePreProcessingScaler(), a),
    "evaluation": lambda a: Evaluation().eval(Y, a), "evaluation, labels": lambda a: Evaluation().eval(a, Y),
    "regression": lambda a: RegressionEvaluation().eval(X, a), "roc": lambda a: ROC().eval(Y, a),
    "evaluation, mask": lambda a: Evaluation().eval(Y, Y, a), "weights of an embedding": EmbeddingInitializer.of,
}


def repeated(power: int) -> Any:
    """A few bytes seen as 2**power rows."""
    return np.lib.stride_tricks.as_strided(np.ones(3, np.uint8), (2 ** power, 3), (0, 1))


ARRAYS: dict[str, tuple[Any, str]] = {
    "rows of different length": ([[1.0, 2.0, 3.0], [1.0]], "rows must have one length|rows of different length"),
    "arrays of different length": ([np.ones(3), np.ones(2)], "rows must have one length|rows of different length"),
    "complex": (np.ones((4, 3), complex), "complex"), "dates": (np.zeros((4, 3), "M8[D]"), "datetime|date"),
    "durations": (np.zeros((4, 3), "m8[s]"), "timedelta"), "void": (np.zeros((4, 3), "V4"), "bytes"),
    "records": (np.zeros((4, 3), [("a", "f4")]), "records"), "text": (np.full((4, 3), "1.5"), "text|numbers|object"),
    "bytes": (np.full((4, 3), b"a"), "text|numbers|object"), "objects": (np.array([[object()] * 3] * 4), "objects such as"),
    "missing values": (np.array([[1.0, None, 2.0]] * 4), "missing values .None at .0, 1..: fill them"),
    "decimals": (np.array([[decimal.Decimal(1)] * 3] * 4), "Python objects, such as Decimal.* astype"),
    "2**58 rows": (repeated(58), "more than any memory holds"), "2**60 rows": (repeated(60), "more than any memory holds"),
    "a set": ({1, 2}, "objects such as|set"),
    "masked": (np.ma.array(X, mask=[[0, 1, 0]] * 4), "masked array that hides 4 of its 12 values.*filled"),
    "a value of a list": ([[1.0, np.ma.masked, 2.0]] * 4, "masked array that hides 1 of its 1 values"),
    "a list of masked": ([np.ma.array(X[0], mask=[0, 1, 0])] * 4, "masked array that hides 1 of its 3 values"),
}


#: What is taken for something else, and refused as that.
OTHERWISE = {("fit", "a set"): "epochs", ("graph, output", "arrays of different length"): "1 input",
             ("operand", "text"): "UTF8", ("operand", "bytes"): "UTF8", ("weights of an embedding", "a set"): "expected"}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("entry", ENTRIES)
def test_refused(entry, kind, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    bad, said = ARRAYS[kind]
    if (entry, kind) in OTHERWISE:
        said = OTHERWISE[entry, kind]
    with pytest.raises(DL4PyError, match=f"(?s){said}") as error:
        ENTRIES[entry](bad)
    assert len(str(error.value)) < 1000


def test_a_masked_array_that_hides_nothing_is_an_array():
    plain = network().output(X)
    net = network()
    assert np.array_equal(net.output(np.ma.array(X)), net.output(X)) and plain.shape == (4, 2)


@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize(("indices", "said"), [
    (np.ones((4, 3)), "one index for each example.*\\(4, 3\\)"), (np.ones((4, 0)), "one index for each example"),
    (np.ones((4, 1, 2)), "one index for each example"), ([[np.nan]], "whole number, got nan"), ([[np.inf]], "whole number, got inf"),
    ([[1.5]], "whole number, got 1.5"), ([[-1]], "-1 is out of range"), ([[5]], "5 is out of range"),
    ([[2 ** 40]], f"{2 ** 40} is out of range")])
def test_indices_of_an_embedding(executor, indices, said, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    with pytest.raises(DL4PyError, match=f"'words'.*{said}"):
        embedding().output(np.array(indices))


def test_an_embedding_takes_a_column_or_a_vector():
    net = embedding()
    assert np.array_equal(net.output(np.array([[1], [4]])), net.output(np.array([1, 4])))


def test_nullable_columns():
    pandas = pytest.importorskip("pandas")
    missing = pandas.DataFrame({c: pandas.array([1.0, None], dtype="Float64") for c in "abc"})
    with pytest.raises(DL4PyError, match="missing values: column 'a' has none in row 1.*fill them"):
        network().output(missing)
    net, filled = network(), missing.fillna(0.5)
    assert np.array_equal(net.output(filled), net.output(filled.astype(np.float32)))
