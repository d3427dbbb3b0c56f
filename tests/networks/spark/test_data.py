"""Data of all forms on Spark, evaluations, scores and outputs, Spark ML."""
from __future__ import annotations

import numpy as np
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import DenseMatrix, Vectors
from pyspark.mllib.linalg import Vectors as OldVectors
from pyspark.mllib.regression import LabeledPoint

from dl4py.layers import LSTM, RnnOutputLayer
from dl4py.networks import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingGraphTrainer,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    MultiLayerNetwork,
    NeuralNetConfiguration,
)
from dl4py.networks.spark import (
    FileBatch,
    ParameterAveragingTrainingMaster,
    SparkComputationGraph,
    SparkDataSetLossCalculator,
    SparkDataUtils,
    SparkDl4jModel,
    SparkDl4jMultiLayer,
    SparkDl4jNetwork,
    SparkEarlyStoppingGraphTrainer,
    SparkEarlyStoppingTrainer,
    SparkLossCalculatorComputationGraph,
    fit_normalizer,
    normalized,
    predict_in_pandas,
    predict_udf,
)
from dl4py.samediff import DataSet, MultiDataSet
from dl4py.samediff.data import ImagePreProcessingScaler, MultiNormalizerHybrid, NormalizerMinMaxScaler, NormalizerStandardize
from dl4py.samediff.errors import ConfigurationError, FileFormatError, PathError
from tests.networks.spark.spark_cases import arrays, averaged, batches, configuration, graph, loaded, network, same, same_diff


def master(**options):
    return ParameterAveragingTrainingMaster(batch_size_per_worker=8, averaging_frequency=2, **{"workers": 2, **options})


def rows(count=32):
    x, y = arrays(count)
    return [(*map(float, a), int(b.argmax())) for a, b in zip(x, y)]


def frame(session, count=32):
    """Four columns of numbers and one of classes, in one partition, whose order is known."""
    return session.createDataFrame(rows(count), "a float, b float, c float, d float, label int").coalesce(1)


# Forms of data

@pytest.mark.parametrize("form", ["columns", "array", "vector"])
def test_frames(session, form):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql.functions import array
    df, options = frame(session), {"features": ["a", "b", "c", "d"], "label": "label"} if form == "columns" else {}
    if form != "columns":
        column = array("a", "b", "c", "d")
        df = df.select((column if form == "array" else array_to_vector(column)).alias("features"), "label")
    found = SparkDl4jMultiLayer(session, network(), master()).fit(df, **options)
    expected = averaged(network(), batches(32), 2, 2)
    assert found.get_iteration_count() == 2 and np.allclose(found.params(), expected.params(), rtol=0, atol=1e-6 if form == "vector" else 0)


def test_parquet_is_a_frame(session, tmp_path):
    frame(session).write.parquet(str(tmp_path / "rows"))
    read = session.read.parquet(str(tmp_path / "rows"))
    trainer = SparkDl4jMultiLayer(session, network(), master())
    assert same(trainer.fit(read), averaged(network(), batches(32), 2, 2))
    assert trainer.evaluate(read).accuracy() == trainer.get_network().evaluate(batches(32)).accuracy()
    assert trainer.calculate_score(read) == pytest.approx(trainer.get_network().score(batches(32)))


def test_files(sc, tmp_path):
    data = batches(32)
    for number, one in enumerate(data):
        one.save(tmp_path / f"{number}.bin")
    paths = [str(tmp_path / f"{number}.bin") for number in range(4)]
    expected = averaged(network(), data, 2, 2)
    trainer = SparkDl4jMultiLayer(sc, network(), master())
    assert same(trainer.fitPaths(sc.parallelize(paths, 2)), expected)
    assert same(SparkDl4jMultiLayer(sc, network(), master()).fit(str(tmp_path)), expected)
    read = SparkDl4jMultiLayer(sc, network(), master(worker_prefetch_num_batches=2)).fit_paths(paths, loaded)
    assert same(read, expected)
    assert trainer.evaluate(str(tmp_path)).accuracy() == trainer.evaluate(sc.parallelize(data)).accuracy()
    assert trainer.calculate_score(f"file://{tmp_path}") == pytest.approx(trainer.calculate_score(sc.parallelize(data)))
    with pytest.raises(PathError, match="no such file on this machine"):
        trainer.fit_paths([str(tmp_path / "other.bin")])
    with pytest.raises(PathError, match="no such file or folder"):
        trainer.fit(str(tmp_path / "other"))


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


# Measures, scores, outputs

def test_evaluations(sc):
    data, net = batches(40), network()
    rdd, spark = sc.parallelize(data, 3), SparkDl4jMultiLayer(sc, net)
    assert spark.evaluate(rdd, ["a", "b", "c"]).stats() == net.evaluate(data, ["a", "b", "c"]).stats()
    found, expected = spark.evaluateRegression(rdd), net.evaluate_regression(data)
    assert found.average_mean_squared_error() == pytest.approx(expected.average_mean_squared_error())
    assert spark.evaluateROCMultiClass(rdd).stats() == net.evaluate_roc_multi_class(data, 32).stats()
    assert spark.calculateScore(rdd, True, 7) == pytest.approx(net.score(data))
    assert spark.calculate_score(rdd, False) == pytest.approx(40 * net.score(data))
    with pytest.raises(ConfigurationError, match="no labels of output"):
        spark.evaluate(sc.parallelize([DataSet(data[0].features)], 1))
    with pytest.raises(ConfigurationError, match="no example"):
        spark.calculate_score(sc.parallelize([], 1))


def test_scores_and_outputs_with_keys(sc):
    (x, y), net = arrays(20), network()
    spark, whole = SparkDl4jMultiLayer(sc, net), DataSet(x, y)
    single = [DataSet(x[k:k + 1], y[k:k + 1]) for k in range(20)]
    assert np.allclose(spark.score_examples(sc.parallelize(single, 3), True).collect(), net.score_examples(whole, True))
    keyed = spark.scoreExamples(sc.parallelize(list(enumerate(single)), 3)).collectAsMap()
    assert np.allclose([keyed[k] for k in range(20)], net.score_examples(whole))
    found = spark.feedForwardWithKey(sc.parallelize([(k, x[k:k + 1 + k % 3]) for k in range(17)], 2), 4).collectAsMap()
    assert all(np.allclose(found[k], net.output(x[k:k + 1 + k % 3])) for k in range(17))
    assert np.allclose(np.concatenate(spark.predict(sc.parallelize(list(x), 2)).collect()), net.output(x))
    assert np.allclose(spark.predict(Vectors.dense(x[0])), net.output(x[:1])[0])
    assert np.allclose(spark.predict(DenseMatrix(2, 4, x[:2].T.ravel())), net.output(x[:2]))
    several = SparkComputationGraph(sc, graph()).feed_forward_with_key(sc.parallelize([(1, [x[:2]]), (2, [x[2:3]])], 1)).collectAsMap()
    assert np.allclose(several[1], graph().output(x[:2])) and len(several[2]) == 1


def test_outputs_of_series_with_masks(sc):
    net, x = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
        LSTM(n_in=2, n_out=3), RnnOutputLayer(n_in=3, n_out=2)).build()).init(), np.random.default_rng(0).random((3, 2, 4), np.float32)
    mask = np.float32([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
    rdd = sc.parallelize([(k, (x[k:k + 1], mask[k:k + 1])) for k in range(3)], 2)
    found = SparkDl4jMultiLayer(sc, net).feed_forward_with_mask_and_key(rdd).collectAsMap()
    assert np.allclose(np.concatenate([found[k] for k in range(3)]), net.output(x, False, mask), atol=1e-6)


# Normalizers, files of files, early stopping

@pytest.mark.parametrize("normalizer", [NormalizerStandardize, lambda: NormalizerMinMaxScaler(-1, 1)], ids=["standardize", "range"])
def test_normalizers(sc, normalizer):
    data, alone, spark = batches(40), normalizer(), normalizer()
    for one in (alone, spark):
        one.fit_label(True)
    alone.fit(data)
    rdd = sc.parallelize(data, 9)           # empty partitions among them
    fit_normalizer(spark, rdd)
    assert all(np.allclose(a, b, atol=1e-7) for a, b in zip((spark.feature_stats.first, spark.label_stats.second),
                                                            (alone.feature_stats.first, alone.label_stats.second)))
    mapped = normalized(rdd, spark).collect()
    assert np.allclose(mapped[1].features, alone.transform(data[1].copy()).features, atol=1e-6) and (data[1].features >= 0).all()


def test_normalizers_of_several_inputs(sc):
    data = [MultiDataSet([d.features, 2 * d.features], [d.labels]) for d in batches(24)]
    alone, spark = (MultiNormalizerHybrid().standardize_input(0).min_max_scale_input(1) for _ in range(2))
    alone.fit(data)
    fit_normalizer(spark, sc.parallelize(data, 2))
    assert spark.is_fit() and all(np.allclose(a, b, atol=1e-6) for a, b in
                                  zip(spark.transform(data[0].copy()).get_features(), alone.transform(data[0].copy()).get_features()))
    with pytest.raises(ConfigurationError, match="a normalizer with statistics"):
        fit_normalizer(ImagePreProcessingScaler(), sc.parallelize(data, 1))
    with pytest.raises(ConfigurationError, match="no data set"):
        fit_normalizer(NormalizerStandardize(), sc.parallelize([], 2))


def test_batches_of_files(sc, tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.csv").write_text(str(number))
    (tmp_path / "other.txt").write_text("x")
    made = SparkDataUtils.createFileBatchesLocal(tmp_path, ["csv"], False, tmp_path / "out", 2)
    batch = FileBatch.readFromZip(made[0])
    assert len(made) == 3 and len(batch) == 2 and batch.file_bytes == [b"0", b"1"] and batch.original_uris[1].endswith("1.csv")
    paths = sc.parallelize([str(tmp_path / f"{number}.csv") for number in range(5)], 2)
    made = SparkDataUtils.create_file_batches_spark(paths, str(tmp_path / "more"), 2, sc)
    assert [FileBatch.read_from_zip(path).file_bytes for path in made] == [[b"0", b"1"], [b"2", b"3"], [b"4"]]
    with pytest.raises(FileFormatError, match="no batch of files"):
        FileBatch.read_from_zip(tmp_path / "0.csv")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind, made, alone, calculator", [
    (SparkEarlyStoppingTrainer, network, EarlyStoppingTrainer, SparkDataSetLossCalculator),
    (SparkEarlyStoppingGraphTrainer, graph, EarlyStoppingGraphTrainer, SparkLossCalculatorComputationGraph)])
def test_early_stopping(sc, kind, made, alone, calculator):
    data = batches(16)
    rdd = sc.parallelize(data, 2)
    one = EarlyStoppingConfiguration(DataSetLossCalculator(data), [MaxEpochsTerminationCondition(2)])
    expected = alone(one, made(), data).fit()
    conf = EarlyStoppingConfiguration(calculator(rdd, True, sc), [MaxEpochsTerminationCondition(2)])
    found = kind(sc, conf, made(), master(workers=1), rdd).fit()
    assert found.get_score_vs_epoch() == pytest.approx(expected.get_score_vs_epoch())
    assert found.get_best_model().params() == pytest.approx(expected.get_best_model().params())


def test_conditions_are_asked_after_each_averaging(sc):
    calculator = SparkDataSetLossCalculator(sc.parallelize(batches(8), 1), True, sc)
    conf = EarlyStoppingConfiguration(calculator, [MaxEpochsTerminationCondition(3)], [MaxScoreIterationTerminationCondition(0.1)])
    net = network()
    found = SparkEarlyStoppingTrainer(sc, conf, net, master(), sc.parallelize(batches(64), 2)).fit()
    assert found.get_termination_reason().name == "IterationTerminationCondition" and net.get_iteration_count() == 2


# DataFrames: Spark ML, functions of columns

def test_estimator_in_a_pipeline(session, tmp_path):
    df = frame(session, 48)
    assembled = VectorAssembler(inputCols=["a", "b", "c", "d"], outputCol="features")
    network_ = SparkDl4jNetwork(configuration=configuration(), epochs=2, batchSize=8, numWorkers=2, averagingFrequency=1)
    network_.write().overwrite().save(str(tmp_path / "estimator"))
    again = SparkDl4jNetwork.load(str(tmp_path / "estimator"))
    assert again.getOrDefault("epochs") == 2 and again.getOrDefault(again.configuration) == network_.getOrDefault("configuration")
    model = Pipeline(stages=[assembled, again]).fit(df)
    model.write().overwrite().save(str(tmp_path / "pipeline"))
    found = PipelineModel.load(str(tmp_path / "pipeline")).transform(df).select("prediction", "probability").collect()
    net = model.stages[-1].get_network()
    x, _ = arrays(48)
    assert net.get_epoch_count() == 2
    assert [row.prediction for row in found] == net.predict(x).tolist()
    assert np.allclose([row.probability.toArray() for row in found], net.output(x), atol=1e-6)


def test_models_of_files(session, tmp_path):
    net = network()
    net.save(tmp_path / "net.zip")
    model = SparkDl4jModel(tmp_path / "net.zip")
    assert same(model.get_network(), net)


@pytest.mark.parametrize("made", [network, same_diff, "path"], ids=["network", "graph", "path"])
def test_functions_of_columns(session, tmp_path, made):
    model = network() if made == "path" else made()
    x, _ = arrays(32)
    expected = model.output({"x": x}, "p")["p"] if made is same_diff else model.output(x)
    if made == "path":
        model.save(tmp_path / "net.zip")
    df, predict = frame(session), predict_udf(tmp_path / "net.zip" if made == "path" else model, batch_size=9)
    found = df.select(predict("a", "b", "c", "d").alias("p")).collect()
    assert np.allclose([row.p for row in found], expected, atol=1e-6)


def test_map_in_pandas(session):
    net, df = network(), frame(session)
    function = predict_in_pandas(net, ["a", "b", "c", "d"], batch_size=5)
    found = df.mapInPandas(function, "a float, b float, c float, d float, label int, prediction array<float>").collect()
    assert np.allclose([row.prediction for row in found], net.output(arrays(32)[0]), atol=1e-6)
