"""Training and inference on Spark: the values of one process, whatever is dealt out, fails or is tried again.

One file, as files are what runs of several processes share out: Spark is started once.
"""
from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import DenseMatrix, Vectors
from pyspark.ml.tuning import ParamGridBuilder
from pyspark.sql import SparkSession
from pyspark.sql.functions import array, col

from dl4py import networks, spark
from dl4py.networks import EarlyStoppingConfiguration, MaxEpochsTerminationCondition, MultiLayerNetwork
from dl4py.networks.parallel.averaging import Sums
from dl4py.networks.spark.models import ModelSender
from dl4py.networks.spark.tree import Tree
from dl4py.samediff import DataSet, Evaluation
from dl4py.samediff.data import NormalizerMinMaxScaler, NormalizerStandardize
from dl4py.samediff.errors import ConfigurationError, PathError, ShapeError, WorkerError
from dl4py.samediff.training import Listener
from dl4py.spark import SparkComputationGraph, SparkDl4jMultiLayer, fit_normalizer, predict_udf
from tests.networks.spark.spark_cases import (
    FailsAlways,
    FailsFirst,
    arrays,
    averaged,
    batches,
    configuration,
    frame,
    graph,
    loaded,
    master,
    network,
    same,
    same_diff,
)

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
JAVA = json.loads((Path(__file__).parent / "java_runs.json").read_text())


def trained(sc, data, partitions=3, hooks=(), **options):
    """A network after a pass on Spark."""
    return SparkDl4jMultiLayer(sc, network(), master(training_hooks=hooks, **options)).fit(sc.parallelize(data, partitions))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind, made", [(SparkDl4jMultiLayer, network), (SparkComputationGraph, graph)])
def test_one_worker_is_fit(sc, kind, made):
    data, trainer = batches(), kind(sc, made(), master(workers=1, averaging_frequency=3))
    assert same(trainer.fit(sc.parallelize(data, 3)), made().fit(data)) and trainer.get_network().get_epoch_count() == 1


def test_same_diff(sc):
    data, alone = batches(), same_diff()
    alone.fit(data)
    trainer = spark.SparkSameDiff(sc, same_diff(), master(workers=1, averaging_frequency=4))
    found = trainer.fit(sc.parallelize(data, 2))
    assert np.array_equal(found.variable("w").get_arr(), alone.variable("w").get_arr())
    assert found.get_training_config().iteration_count == 8 and found.get_training_config().epoch_count == 1
    evaluation = Evaluation()
    found.evaluate(data, "p", evaluation)
    assert trainer.evaluate(sc.parallelize(data, 2)).stats() == evaluation.stats()
    assert trainer.calculate_score(sc.parallelize(data, 2)) == pytest.approx(found.score(data))


@pytest.mark.slow
def test_workers_average_as_in_one_process(sc):
    """Three rounds, the last with one batch: a worker without one does not count."""
    data = batches(72)
    found = trained(sc, data)
    assert same(found, averaged(network(), data, 2, 2))
    assert same(found, trained(sc, data, 5))        # a run repeats, however the data lies


@pytest.mark.slow
def test_parallel_wrapper_gives_the_same(sc):
    data, net = batches(), network()
    with networks.ParallelWrapper(net, workers=2, averaging_frequency=2) as wrapper:
        wrapper.fit([data[k] for k in (0, 2, 1, 3, 4, 6, 5, 7)])
    assert same(trained(sc, data), net)


UNEVEN = (1, 20, 3, 8, 24, 8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options, partitions", [
    ({}, 4), ({"repartition_data": spark.Repartition.NumPartitionsWorkersDiffers}, 3), ({"aggregation_depth": 3}, 12),
    ({"worker_prefetch_num_batches": 2}, 2)], ids=str)
def test_data_sets_are_cut_and_put_together(sc, options, partitions):
    """Also where partitions are empty."""
    x, y = arrays()
    ends = np.cumsum(UNEVEN)[:-1]
    data = [DataSet(a, b) for a, b in zip(np.split(x, ends), np.split(y, ends))]
    assert same(trained(sc, data, partitions, **options), averaged(network(), batches(), 2, 2))


@pytest.mark.slow
def test_partitions_may_be_workers(sc):
    data = batches(32)
    rdd = sc.parallelize(data, 2)
    for options in ({"repartition_data": "Never"}, {"repartition_data": spark.Repartition.NumPartitionsWorkersDiffers, "workers": 2}):
        trainer = SparkDl4jMultiLayer(sc, network(), master(**options))
        assert same(trainer.fit(rdd), averaged(network(), data, 2, 2))
    skewed = sc.parallelize(range(3), 3).flatMap(lambda k: data[:3] if k == 0 else data[3:] if k == 2 else [])
    found = SparkDl4jMultiLayer(sc, network(), master(repartition_data="Never")).fit(skewed)
    assert found.get_iteration_count() == 3         # rounds of 2 and 1 steps, as the longest partition has them


@pytest.mark.slow
def test_batches_wait_in_files(sc, tmp_path):
    data = batches(32)
    exports = master(rdd_training_approach=spark.RDDTrainingApproach.Export, export_directory=str(tmp_path))
    with SparkDl4jMultiLayer(sc, network(), exports) as trainer:
        assert same(trainer.fit(sc.parallelize(data, 2)), averaged(network(), data, 2, 2))
        assert len(list(tmp_path.rglob("*.bin"))) == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_seeds_deal_out_in_another_order(sc):
    data = batches(32)
    first, second, ordered = (trained(sc, data, averaging_frequency=1, rng_seed=seed) for seed in (7, 7, None))
    assert same(first, second) and not same(first, ordered)


@pytest.mark.slow
def test_trees_add_up_neighbours(sc):
    tree = Tree(12, 2)
    assert tree.levels
    numbers = sc.parallelize(range(12), 12).map(lambda k: Sums(1, float(k), k, [np.float32([k, 1])]))
    total = tree.total(numbers, 12)
    assert (total.count, total.score, total.steps, total.arrays[0].tolist()) == (12, 66.0, 11, [66.0, 12.0])


# What goes wrong
def test_a_task_that_fails_is_tried_again(sc):
    """And nothing counts twice, though the replica in its process has made a step."""
    data = batches(32)
    assert same(trained(sc, data, hooks=[FailsFirst()]), averaged(network(), data, 2, 2))


@pytest.mark.slow
def test_a_task_that_always_fails(sc):
    net = network()
    trainer = SparkDl4jMultiLayer(sc, net, master(training_hooks=[FailsAlways()]))
    with pytest.raises(WorkerError, match=r"round 0 of 1 .*last averaging: OSError: the disk is full for good \(task \d, on "):
        trainer.fit(sc.parallelize(batches(16), 2))
    assert same(net, network())


@pytest.mark.slow
@pytest.mark.parametrize("rows, text", [(8, "5"), (4, "cannot merge features of shapes")])
def test_a_batch_of_another_shape(sc, rows, text):
    """As it is, and where it would be put together with others: the model is as after the round before."""
    data, net, wrong = batches(48), network(), DataSet(np.ones((rows, 5)), np.eye(3)[[0] * rows])
    trainer = SparkDl4jMultiLayer(sc, net, master(averaging_frequency=1))
    with pytest.raises(ShapeError, match=text) as caught:
        trainer.fit(sc.parallelize([*data[:4], wrong, *data[4:]], 3))
    assert any("of Spark, on" in note for note in caught.value.__notes__)
    assert same(net, averaged(network(), data[:4], 2, 1))


@pytest.mark.slow
def test_a_training_goes_on_where_it_ended(sc, tmp_path):
    """A driver that was lost: another one takes the checkpoint, and leaves out the rounds that were done."""
    data = batches(72)
    rdd = sc.parallelize(data, 3)

    class Ends(Listener):
        def iteration_done(self, model, iteration, epoch):
            model.save(tmp_path / "net.zip")
            if iteration == 3:
                raise KeyboardInterrupt
    net = network()
    net.set_listeners(Ends())
    with pytest.raises(KeyboardInterrupt):
        SparkDl4jMultiLayer(sc, net, master()).fit(rdd)
    kept = MultiLayerNetwork.load(tmp_path / "net.zip")
    found = SparkDl4jMultiLayer(sc, kept, master()).fit(rdd, first_round=kept.get_iteration_count() // 2)
    whole = averaged(network(), data, 2, 2)
    assert np.array_equal(found.params(), whole.params()) and found.get_iteration_count() == whole.get_iteration_count()


@pytest.mark.parametrize("call, text", [
    (lambda sc: SparkDl4jMultiLayer("local", network()), "expected a SparkContext or SparkSession; got str"),
    (lambda sc: SparkDl4jMultiLayer(sc, graph()), "trains a MultiLayerNetwork; got a ComputationGraph"),
    (lambda sc: SparkDl4jMultiLayer(sc, network(), 3), "expected a TrainingMaster"),
    (lambda sc: SparkDl4jMultiLayer(sc, network()).fit(sc.parallelize(batches(16))), "needs a training master to train"),
    (lambda sc: SparkDl4jMultiLayer(sc, network(), master()).fit(sc.parallelize([], 2)), "no batch: nothing to fit"),
    (lambda sc: SparkDl4jMultiLayer(sc, network(), master()).fit(sc.parallelize([3], 1)), "holds data sets or .* got a int"),
    (lambda sc: SparkDl4jMultiLayer(sc, network(), master()).fit(batches(16), first_round=2), "first_round must be from 0 to 1.*got 2"),
    (lambda sc: SparkDl4jMultiLayer(sc, network(), master()).fit(*arrays(16)), r"are one argument: fit\(\(features, labels\)\)"),
    (lambda sc: SparkDl4jMultiLayer(sc, network()).evaluate(batches(16), None, 0), "batch size must be at least 1, got 0"),
    (lambda sc: SparkDl4jMultiLayer(sc, network()).calculate_score(sc.parallelize([], 1)), "no example"),
    (lambda sc: predict_udf(network(), 0), "batch size must be at least 1, got 0"),
    (lambda sc: spark.SparkDl4jNetwork().fit(frame(SparkSession(sc))), "needs the configuration"),
    (lambda sc: spark.SparkDl4jModel(network()).transform(frame(SparkSession(sc))), "no column 'features'.*columns: a, b, c, d, label"),
])
def test_what_is_refused(sc, call, text):
    with pytest.raises(ConfigurationError, match=text):
        call(sc)


def test_listeners_and_times(sc):
    heard = []

    class Hears(Listener):
        def iteration_done(self, model, iteration, epoch):
            heard.append((iteration, epoch, model.score()))
    trainer = SparkDl4jMultiLayer(sc, configuration(), master(averaging_frequency=1))
    trainer.setListeners(Hears())
    trainer.setCollectTrainingStats(True)
    trainer.fit(batches(32))            # from the driver
    assert [at[:2] for at in heard] == [(0, 0), (1, 0)] and trainer.getScore() == heard[-1][2]
    stats = trainer.getSparkTrainingStats()
    assert {"split", "broadcast", "aggregate", "worker_init", "worker_fit", "process"} == set(stats.get_key_set())
    assert len(stats.get_value("worker_fit")) == 4 and stats.total("aggregate") > 0 and "worker_fit" in stats.stats_as_string()
    trainer.set_score(1.5)
    assert trainer.get_score() == 1.5 and trainer.get_spark_context() is sc and trainer.get_training_master() is not None


def test_executors_make_a_model_once(sc):
    """Its plans stay in their processes from job to job, until the model is made of something else."""
    sender, found = ModelSender(sc, network()), set()
    for _ in range(4):
        with sender.sent() as sent:
            found.update(sc.parallelize([0], 1).map(lambda _, sent=sent: (os.getpid(), id(sent.network()))).collect())
    assert len(found) == len(dict(found))
    with sender.sent() as before:
        sender.model.model.set_learning_rate(0.5)
        with sender.sent() as after:
            assert after.text is not before.text


@pytest.mark.sampled(4)
@pytest.mark.parametrize("run", JAVA["runs"], ids=lambda r: f"{r['updater']}-{r['workers']}x{r['frequency']}-{r['save_updater']}")
def test_values_are_dl4js(sc, run):
    """Parameters, updater state, score and counters after each of two passes, and what is measured then."""
    conf = networks.MultiLayerConfiguration.from_json(run["configuration"])
    net = MultiLayerNetwork(conf).init(np.float32(run["start"]))
    data = [DataSet(np.float32(x), np.float32(y)) for x, y in zip(JAVA["x"], JAVA["y"])]
    options = {"workers": run["workers"], "averaging_frequency": run["frequency"], "save_updater": run["save_updater"]}
    trainer = SparkDl4jMultiLayer(sc, net, master(**options))
    for numbers, found in zip(run["passes"], run["found"]):
        trainer.fit(sc.parallelize([data[k] for k in numbers], 2))
        assert np.allclose(net.params(), found["params"], rtol=1e-5, atol=1e-6)
        assert np.allclose(net.engine.flat.state, found["state"], rtol=1e-5, atol=1e-7)
        assert trainer.get_score() == pytest.approx(found["score"], rel=1e-5)
    rdd = sc.parallelize(data, 2)
    assert trainer.evaluate(rdd).accuracy() == pytest.approx(run["accuracy"])
    assert trainer.calculate_score(rdd) == pytest.approx(run["mean_score"], rel=1e-5)
    assert np.allclose(trainer.score_examples(rdd, True).collect(), run["examples"], rtol=1e-5)


# Forms of data

@pytest.mark.slow
@pytest.mark.parametrize("form", ["columns", "array", "vector"])
def test_frames(session, form):
    df, options = frame(session), {"features": ["a", "b", "c", "d"], "label": "label"} if form == "columns" else {}
    if form != "columns":
        column = array("a", "b", "c", "d")
        df = df.select((column if form == "array" else array_to_vector(column)).alias("features"), "label")
    found = SparkDl4jMultiLayer(session, network(), master()).fit(df, **options)
    expected = averaged(network(), batches(32), 2, 2)
    assert found.get_iteration_count() == 2 and np.allclose(found.params(), expected.params(), rtol=0, atol=1e-6 if form == "vector" else 0)


@pytest.mark.slow
def test_parquet_is_a_frame(session, tmp_path):
    frame(session).write.parquet(str(tmp_path / "rows"))
    read = session.read.parquet(str(tmp_path / "rows"))
    trainer = SparkDl4jMultiLayer(session, network(), master())
    assert same(trainer.fit(read), averaged(network(), batches(32), 2, 2))
    assert trainer.evaluate(read).accuracy() == trainer.get_network().evaluate(batches(32)).accuracy()
    assert trainer.calculate_score(read) == pytest.approx(trainer.get_network().score(batches(32)))


@pytest.mark.slow
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


# Measures, scores, outputs

def test_evaluations(sc):
    data, net = batches(40), network()
    rdd, trainer = sc.parallelize(data, 3), SparkDl4jMultiLayer(sc, net)
    assert trainer.evaluate(rdd, ["a", "b", "c"]).stats() == net.evaluate(data, ["a", "b", "c"]).stats()
    assert trainer.doEvaluation(rdd, 64, Evaluation())[0].stats() == net.evaluate(data).stats()
    found, expected = trainer.evaluateRegression(rdd), net.evaluate_regression(data)
    assert found.average_mean_squared_error() == pytest.approx(expected.average_mean_squared_error())
    assert trainer.evaluateROCMultiClass(rdd).stats() == net.evaluate_roc_multi_class(data, 32).stats()
    assert trainer.calculateScore(rdd, True, 7) == pytest.approx(net.score(data))
    assert trainer.calculate_score(rdd, False) == pytest.approx(40 * net.score(data))
    with pytest.raises(ConfigurationError, match="no labels of output"):
        trainer.evaluate(sc.parallelize([DataSet(data[0].features)], 1))


def test_scores_and_outputs_with_keys(sc):
    (x, y), net = arrays(20), network()
    trainer, whole = SparkDl4jMultiLayer(sc, net), DataSet(x, y)
    single = [DataSet(x[k:k + 1], y[k:k + 1]) for k in range(20)]
    assert np.allclose(trainer.score_examples(sc.parallelize(single, 3), True).collect(), net.score_examples(whole, True))
    keyed = trainer.scoreExamples(sc.parallelize(list(enumerate(single)), 3)).collectAsMap()
    assert np.allclose([keyed[k] for k in range(20)], net.score_examples(whole))
    found = trainer.feedForwardWithKey(sc.parallelize([(k, x[k:k + 1 + k % 3]) for k in range(17)], 2), 4).collectAsMap()
    assert all(np.allclose(found[k], net.output(x[k:k + 1 + k % 3])) for k in range(17))
    assert np.allclose(np.concatenate(trainer.predict(sc.parallelize(list(x), 2)).collect()), net.output(x))
    assert np.allclose(trainer.predict(Vectors.dense(x[0])), net.output(x[:1])[0])
    assert np.allclose(trainer.predict(DenseMatrix(2, 4, x[:2].T.ravel())), net.output(x[:2]))
    several = SparkComputationGraph(sc, graph()).feed_forward_with_key(sc.parallelize([(1, [x[:2]]), (2, [x[2:3]])], 1)).collectAsMap()
    assert np.allclose(several[1], graph().output(x[:2])) and len(several[2]) == 1


@pytest.mark.slow
def test_tasks_of_one_process_take_turns(sc):
    """Two networks of the same layers in one pipeline: each computes with its own values."""
    x, nets = arrays(6)[0], [network(), network()]
    nets[1].set_params(nets[0].params() + 0.5)
    first, second = (SparkDl4jMultiLayer(sc, net) for net in nets)
    scores = first.predict(sc.parallelize(list(x), 1), 2).map(lambda scores: np.append(scores, 1.0))
    expected = nets[1].output(np.column_stack([nets[0].output(x), np.ones(6)]))
    assert np.allclose(np.concatenate(second.predict(scores, 1).collect()), expected, atol=1e-6)


# Normalizers, files of files, early stopping

@pytest.mark.sampled(2)
@pytest.mark.parametrize("normalizer", [NormalizerStandardize, lambda: NormalizerMinMaxScaler(-1, 1)], ids=["standardize", "range"])
def test_normalizers(sc, normalizer):
    data, alone, fitted = batches(40), normalizer(), normalizer()
    for one in (alone, fitted):
        one.fit_label(True)
    alone.fit(data)
    rdd = sc.parallelize(data, 9)           # empty partitions among them
    fit_normalizer(fitted, rdd)
    assert all(np.allclose(a, b, atol=1e-7) for a, b in zip((fitted.feature_stats.first, fitted.label_stats.second),
                                                            (alone.feature_stats.first, alone.label_stats.second)))
    mapped = spark.normalized(rdd, fitted).collect()
    assert np.allclose(mapped[1].features, alone.transform(data[1].copy()).features, atol=1e-6) and (data[1].features >= 0).all()


def test_batches_of_files(sc, tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.csv").write_text(str(number))
    paths = sc.parallelize([str(tmp_path / f"{number}.csv") for number in range(5)], 2)
    made = spark.SparkDataUtils.create_file_batches_spark(paths, str(tmp_path / "more"), 2, sc)
    assert [spark.FileBatch.read_from_zip(path).file_bytes for path in made] == [[b"0", b"1"], [b"2", b"3"], [b"4"]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind, made, alone, calculator", [
    (spark.SparkEarlyStoppingTrainer, network, networks.EarlyStoppingTrainer, spark.SparkDataSetLossCalculator),
    (spark.SparkEarlyStoppingGraphTrainer, graph, networks.EarlyStoppingGraphTrainer, spark.SparkLossCalculatorComputationGraph)])
def test_early_stopping(sc, kind, made, alone, calculator):
    data = batches(16)
    rdd = sc.parallelize(data, 2)
    one = EarlyStoppingConfiguration(networks.DataSetLossCalculator(data), [MaxEpochsTerminationCondition(2)])
    expected = alone(one, made(), data).fit()
    conf = EarlyStoppingConfiguration(calculator(rdd, True, sc), [MaxEpochsTerminationCondition(2)])
    found = kind(sc, conf, made(), master(workers=1), rdd).fit()
    assert found.get_score_vs_epoch() == pytest.approx(expected.get_score_vs_epoch())
    assert found.get_best_model().params() == pytest.approx(expected.get_best_model().params())


@pytest.mark.slow
def test_conditions_are_asked_after_each_averaging(sc):
    calculator = spark.SparkDataSetLossCalculator(sc.parallelize(batches(8), 1), True, sc)
    conf = EarlyStoppingConfiguration(calculator, [MaxEpochsTerminationCondition(3)], [networks.MaxScoreIterationTerminationCondition(0.1)])
    net = network()
    found = spark.SparkEarlyStoppingTrainer(sc, conf, net, master(), sc.parallelize(batches(64), 2)).fit()
    assert found.get_termination_reason().name == "IterationTerminationCondition" and net.get_iteration_count() == 2


# DataFrames: Spark ML, functions of columns

@pytest.mark.slow
def test_estimator_in_a_pipeline(session, tmp_path):
    df = frame(session, 48)
    assembled = VectorAssembler(inputCols=["a", "b", "c", "d"], outputCol="features")
    network_ = spark.SparkDl4jNetwork(configuration=configuration(), epochs=2, batchSize=8, numWorkers=2, averagingFrequency=1)
    network_.write().overwrite().save(str(tmp_path / "estimator"))
    again = spark.SparkDl4jNetwork.load(str(tmp_path / "estimator"))
    assert again.getOrDefault("epochs") == 2 and again.getOrDefault(again.configuration) == network_.getOrDefault("configuration")
    model = Pipeline(stages=[assembled, again]).fit(df)
    model.write().overwrite().save(str(tmp_path / "pipeline"))
    found = PipelineModel.load(str(tmp_path / "pipeline")).transform(df).select("prediction", "probability").collect()
    net = model.stages[-1].get_network()
    x, _ = arrays(48)
    assert net.get_epoch_count() == 2
    assert [row.prediction for row in found] == net.predict(x).tolist()
    assert np.allclose([row.probability.toArray() for row in found], net.output(x), atol=1e-6)


@pytest.mark.slow
def test_parameters_of_the_estimator(session):
    table = frame(session).withColumn("kind", col("label") * 1.0)          # as StringIndexer makes labels
    df = VectorAssembler(inputCols=["a", "b", "c", "d"], outputCol="inputs").transform(table)
    network_ = spark.SparkDl4jNetwork(batchSize=8, numWorkers=1).setFeaturesCol("inputs").setLabelCol("kind")
    network_.setPredictionCol("class").setProbabilityCol("scores")
    grid = ParamGridBuilder().addGrid(network_.configuration, [configuration()]).addGrid(network_.epochs, [1, 2]).build()
    found = network_.fit(df, grid)
    assert [model.get_network().get_epoch_count() for model in found] == [1, 2]
    assert found[0].transform(df).columns[-2:] == ["scores", "class"]


@pytest.mark.slow
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
