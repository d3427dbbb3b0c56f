"""Data of other forms on Spark, each in a training or inference that takes long beside what it tells."""
from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.mllib.linalg import Vectors as OldVectors
from pyspark.mllib.regression import LabeledPoint

from dl4py import spark
from dl4py.layers import LSTM, OutputLayer, RnnOutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import MultiDataSet
from dl4py.samediff.data import ImagePreProcessingScaler, MultiNormalizerHybrid, NormalizerStandardize
from dl4py.samediff.errors import ConfigurationError
from dl4py.spark import SparkComputationGraph, SparkDl4jMultiLayer, fit_normalizer
from tests.networks.spark.spark_cases import (
    arrays,
    averaged,
    batches,
    frame,
    graph,
    master,
    network,
    same,
)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")]


def test_one_output_unit(sc):
    conf = NeuralNetConfiguration.Builder().seed(1).list(OutputLayer(n_in=4, n_out=1, activation="identity", loss_function="mse")).build()
    trainer = SparkDl4jMultiLayer(sc, conf, master(batch_size_per_worker=4, averaging_frequency=1))
    x, _ = arrays(16)
    trainer.fit(sc.parallelize([(x[k:k + 1], x[k:k + 1].sum(keepdims=True)) for k in range(16)], 2))
    assert trainer.get_network().get_iteration_count() == 2


def test_labelled_points(sc):
    x, y = arrays(16)
    points = sc.parallelize([LabeledPoint(int(b.argmax()), OldVectors.dense(a)) for a, b in zip(x, y)], 2)
    trainer = SparkDl4jMultiLayer(sc, network(), master(workers=1))
    assert np.allclose(trainer.fit_labeled_point(points).params(), network().fit(batches(16)).params(), atol=1e-6)


def test_several_inputs(sc):
    data = [MultiDataSet([d.features], [d.labels]) for d in batches(32)]
    trainer = SparkComputationGraph(sc, graph(), master())
    found = trainer.fitMultiDataSet(sc.parallelize(data, 2))
    assert same(found, averaged(graph(), batches(32), 2, 2))
    assert trainer.evaluateMDS(sc.parallelize(data)).accuracy() == found.evaluate(batches(32)).accuracy()


@pytest.mark.parametrize("columns, text", [
    ({"features": "e"}, "no column 'e'"), ({"features": "text"}, "'text' holds string; expected numbers"), ({"label": "lable"}, "label"),
    ({"features": "gaps"}, "1 missing values"), ({"features": "lists"}, "1 to 2 numbers")])
def test_columns_that_are_refused(session, columns, text):
    df = session.createDataFrame([(1.0, "x", None, [1.0], 0), (2.0, "y", 1.0, [1.0, 2.0], 1)],
                                 "a double, text string, gaps double, lists array<double>, label int").coalesce(1)
    with pytest.raises(ConfigurationError, match=text):
        SparkDl4jMultiLayer(session, network(), master()).fit(df, **columns)


def test_outputs_of_series_with_masks(sc):
    net, x = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
        LSTM(n_in=2, n_out=3), RnnOutputLayer(n_in=3, n_out=2)).build()).init(), np.random.default_rng(0).random((3, 2, 4), np.float32)
    mask = np.float32([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
    rdd = sc.parallelize([(k, (x[k:k + 1], mask[k:k + 1])) for k in range(3)], 2)
    found = SparkDl4jMultiLayer(sc, net).feed_forward_with_mask_and_key(rdd).collectAsMap()
    assert np.allclose(np.concatenate([found[k] for k in range(3)]), net.output(x, False, mask), atol=1e-6)


def test_normalizers_of_several_inputs(sc):
    data = [MultiDataSet([d.features, 2 * d.features], [d.labels]) for d in batches(24)]
    alone, fitted = (MultiNormalizerHybrid().standardize_input(0).min_max_scale_input(1) for _ in range(2))
    alone.fit(data)
    fit_normalizer(fitted, sc.parallelize(data, 2))
    assert fitted.is_fit() and all(np.allclose(a, b, atol=1e-6) for a, b in
                                  zip(fitted.transform(data[0].copy()).get_features(), alone.transform(data[0].copy()).get_features()))
    with pytest.raises(ConfigurationError, match="a normalizer with statistics"):
        fit_normalizer(ImagePreProcessingScaler(), sc.parallelize(data, 1))
    with pytest.raises(ConfigurationError, match="no data set"):
        fit_normalizer(NormalizerStandardize(), sc.parallelize([], 2))


def test_map_in_pandas(session):
    net, df = network(), frame(session)
    function = spark.predict_in_pandas(net, ["a", "b", "c", "d"], batch_size=5)
    found = df.mapInPandas(function, "a float, b float, c float, d float, label int, prediction array<float>").collect()
    assert np.allclose([row.prediction for row in found], net.output(arrays(32)[0]), atol=1e-6)
