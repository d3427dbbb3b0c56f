"""Training on Spark: the values of one process, whatever is dealt out, fails or is tried again."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import OutputLayer
from dl4py.networks import MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration, ParallelWrapper
from dl4py.networks.spark import (
    ParameterAveragingTrainingMaster,
    RDDTrainingApproach,
    Repartition,
    RepartitionStrategy,
    SharedTrainingMaster,
    SparkComputationGraph,
    SparkDl4jMultiLayer,
    SparkSameDiff,
    TrainingHook,
)
from dl4py.networks.spark.rounds import Deal
from dl4py.networks.spark.tree import Tree
from dl4py.samediff import DataSet, Evaluation
from dl4py.samediff.errors import ConfigurationError, ShapeError, WorkerError
from dl4py.samediff.training import Listener
from tests.networks.spark.spark_cases import (
    FailsAlways,
    FailsFirst,
    arrays,
    averaged,
    batches,
    configuration,
    graph,
    network,
    same,
    same_diff,
)

Master = ParameterAveragingTrainingMaster
JAVA = json.loads((Path(__file__).parent / "java_runs.json").read_text())


def trained(sc, data, partitions=3, hooks=(), **options):
    """A network after a pass on Spark."""
    master = Master(batch_size_per_worker=8, training_hooks=hooks, **options)
    return SparkDl4jMultiLayer(sc, network(), master).fit(sc.parallelize(data, partitions))


@pytest.mark.parametrize("kind, made", [(SparkDl4jMultiLayer, network), (SparkComputationGraph, graph)])
def test_one_worker_is_fit(sc, kind, made):
    data, trainer = batches(), kind(sc, made(), Master(workers=1, averaging_frequency=3, batch_size_per_worker=8))
    assert same(trainer.fit(sc.parallelize(data, 3)), made().fit(data)) and trainer.get_network().get_epoch_count() == 1


def test_same_diff(sc):
    data, alone = batches(), same_diff()
    alone.fit(data)
    trainer = SparkSameDiff(sc, same_diff(), Master(workers=1, averaging_frequency=4, batch_size_per_worker=8))
    found = trainer.fit(sc.parallelize(data, 2))
    assert np.array_equal(found.variable("w").get_arr(), alone.variable("w").get_arr())
    assert found.get_training_config().iteration_count == 8 and found.get_training_config().epoch_count == 1
    evaluation = Evaluation()
    found.evaluate(data, "p", evaluation)
    assert trainer.evaluate(sc.parallelize(data, 2)).stats() == evaluation.stats()
    assert trainer.calculate_score(sc.parallelize(data, 2)) == pytest.approx(found.score(data))


def test_workers_average_as_in_one_process(sc):
    """Three rounds, the last with one batch: a worker without one does not count."""
    data = batches(72)
    found = trained(sc, data, workers=2, averaging_frequency=2)
    assert same(found, averaged(network(), data, 2, 2))
    assert same(found, trained(sc, data, 5, workers=2, averaging_frequency=2))        # a run repeats, however the data lies


def test_parallel_wrapper_gives_the_same(sc):
    data, net = batches(), network()
    with ParallelWrapper(net, workers=2, averaging_frequency=2) as wrapper:
        wrapper.fit([data[k] for k in (0, 2, 1, 3, 4, 6, 5, 7)])
    assert same(trained(sc, data, workers=2, averaging_frequency=2), net)


def test_updaters_may_stay(sc):
    data = batches(32)
    found = trained(sc, data, workers=2, averaging_frequency=2, save_updater=False)
    assert same(found, averaged(network(), data, 2, 2, updater=False)) and not found.engine.flat.state.any()


UNEVEN = (1, 20, 3, 8, 24, 8)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options, partitions", [
    ({}, 4), ({"repartition_data": Repartition.NumPartitionsWorkersDiffers}, 3), ({"aggregation_depth": 3}, 12),
    ({"worker_prefetch_num_batches": 2}, 2)], ids=str)
def test_data_sets_are_cut_and_put_together(sc, options, partitions):
    """Also where partitions are empty."""
    x, y = arrays()
    ends = np.cumsum(UNEVEN)[:-1]
    data = [DataSet(a, b) for a, b in zip(np.split(x, ends), np.split(y, ends))]
    assert same(trained(sc, data, partitions, workers=2, averaging_frequency=2, **options), averaged(network(), batches(), 2, 2))


def test_partitions_may_be_workers(sc):
    data = batches(32)
    rdd = sc.parallelize(data, 2)
    for options in ({"repartition_data": "Never"}, {"repartition_data": Repartition.NumPartitionsWorkersDiffers, "workers": 2}):
        trainer = SparkDl4jMultiLayer(sc, network(), Master(averaging_frequency=2, batch_size_per_worker=8, **options))
        assert same(trainer.fit(rdd), averaged(network(), data, 2, 2))
    skewed = sc.parallelize(range(3), 3).flatMap(lambda k: data[:3] if k == 0 else data[3:] if k == 2 else [])
    found = SparkDl4jMultiLayer(sc, network(), Master(averaging_frequency=2, batch_size_per_worker=8, repartition_data="Never")).fit(skewed)
    assert found.get_iteration_count() == 3         # rounds of 2 and 1 steps, as the longest partition has them


def test_batches_wait_in_files(sc, tmp_path):
    data = batches(32)
    master = Master(workers=2, averaging_frequency=2, batch_size_per_worker=8, rdd_training_approach=RDDTrainingApproach.Export,
                    export_directory=str(tmp_path))
    with SparkDl4jMultiLayer(sc, network(), master) as trainer:
        assert same(trainer.fit(sc.parallelize(data, 2)), averaged(network(), data, 2, 2))
        assert len(list(tmp_path.rglob("*.bin"))) == 4
    assert not list(tmp_path.iterdir())


def test_seeds_deal_out_in_another_order(sc):
    data = batches(32)
    first, second, ordered = (trained(sc, data, workers=2, averaging_frequency=1, rng_seed=seed) for seed in (7, 7, None))
    assert same(first, second) and not same(first, ordered)
    order = [Deal(40, 2, 3, [7, epoch]).order.tolist() for epoch in (0, 1)]
    assert order[0] != order[1] and sorted(order[0]) == list(range(40))


@pytest.mark.parametrize("batches, workers, frequency", [(7, 2, 2), (1, 3, 2), (23, 4, 3), (24, 4, 3), (5, 8, 1)])
def test_every_batch_is_dealt_out_once(batches, workers, frequency):
    deal = Deal(batches, workers, frequency)
    counts = np.bincount([deal.partition(turn) for turn in range(batches)], minlength=deal.rounds * workers)
    assert counts.sum() == batches and counts.max() <= frequency and deal.rounds == -(-batches // (workers * frequency))
    last = counts[-workers:]
    assert last.max() - last.min() <= 1


def test_trees_add_up_neighbours(sc):
    from dl4py.networks.parallel.averaging import Sums
    tree = Tree(12, 2)
    assert tree.levels
    numbers = sc.parallelize(range(12), 12).map(lambda k: Sums(1, float(k), k, [np.float32([k, 1])]))
    total = tree.total(numbers, 12)
    assert (total.count, total.score, total.steps, total.arrays[0].tolist()) == (12, 66.0, 11, [66.0, 12.0])


# What goes wrong

def test_a_task_that_fails_is_tried_again(sc):
    """And nothing counts twice, though the replica in its process has made a step."""
    data = batches(32)
    assert same(trained(sc, data, workers=2, averaging_frequency=2, hooks=[FailsFirst()]), averaged(network(), data, 2, 2))


def test_a_task_that_always_fails(sc):
    net = network()
    trainer = SparkDl4jMultiLayer(sc, net, Master(workers=2, batch_size_per_worker=8, training_hooks=[FailsAlways()]))
    with pytest.raises(WorkerError, match=r"round 0 of 1 .*OSError: the disk is full for good \(task \d, on .*\).*last averaging"):
        trainer.fit(sc.parallelize(batches(16), 2))
    assert same(net, network())


@pytest.mark.parametrize("rows, text", [(8, "5"), (4, "")])
def test_a_batch_of_another_shape(sc, rows, text):
    """As it is, and where it would be put together with others: the model is as after the round before."""
    data, net, wrong = batches(48), network(), DataSet(np.ones((rows, 5)), np.eye(3)[[0] * rows])
    trainer = SparkDl4jMultiLayer(sc, net, Master(workers=2, averaging_frequency=1, batch_size_per_worker=8))
    with pytest.raises(ShapeError, match=text) as caught:
        trainer.fit(sc.parallelize([*data[:4], wrong, *data[4:]], 3))
    assert any("of Spark, on" in note for note in caught.value.__notes__)
    assert same(net, averaged(network(), data[:4], 2, 1))


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
    master = Master(workers=2, averaging_frequency=2, batch_size_per_worker=8)
    with pytest.raises(KeyboardInterrupt):
        SparkDl4jMultiLayer(sc, net, master).fit(rdd)
    kept = MultiLayerNetwork.load(tmp_path / "net.zip")
    found = SparkDl4jMultiLayer(sc, kept, Master(workers=2, averaging_frequency=2, batch_size_per_worker=8)).fit(
        rdd, first_round=kept.get_iteration_count() // 2)
    whole = averaged(network(), data, 2, 2)
    assert np.array_equal(found.params(), whole.params()) and found.get_iteration_count() == whole.get_iteration_count()


@pytest.mark.parametrize("call, text", [
    (lambda sc: SparkDl4jMultiLayer("local", network()), "expected a SparkContext or SparkSession; got str"),
    (lambda sc: SparkDl4jMultiLayer(sc, graph()), "trains a MultiLayerNetwork; got a ComputationGraph"),
    (lambda sc: SparkDl4jMultiLayer(sc, network(), 3), "expected a TrainingMaster"),
    (lambda sc: SparkDl4jMultiLayer(sc, network()).fit(sc.parallelize(batches(16))), "needs a training master to train"),
    (lambda sc: SparkDl4jMultiLayer(sc, network(), Master(workers=2)).fit(sc.parallelize([], 2)), "no batch: nothing to fit"),
    (lambda sc: Master(workers=0), "num_workers must be at least 1, got 0"),
    (lambda sc: Master(averaging_frequency=0), "averaging_frequency must be at least 1"),
    (lambda sc: Master(storage_level="MEMORY"), "storage_level must be the name of a storage level"),
    (lambda sc: Master(rdd_training_approach="Export"), "Export writes the batches into export_directory"),
    (lambda sc: Master(worker_prefetch_num_batches=-1), "must be 0 .none. or more"),
    (lambda sc: Master(training_hooks=[3]), "of classes derived from TrainingHook; got 3"),
    (lambda sc: SharedTrainingMaster.Builder(1), "Use ParameterAveragingTrainingMaster.averaging_frequency=1."),
    (lambda sc: SharedTrainingMaster(), "mesh of DL4J's own"),
])
def test_settings_and_data_that_are_refused(sc, call, text):
    with pytest.raises(ConfigurationError, match=text):
        call(sc)


# Java's spelling, listeners, times

def test_builder_and_files_of_settings():
    made = (Master.Builder(3, 1).averagingFrequency(2).batchSizePerWorker(4).workerPrefetchNumBatches(1).saveUpdater(False)
            .aggregationDepth(3).repartionData(Repartition.Never).repartitionStrategy(RepartitionStrategy.SparkDefault)
            .storageLevel("MEMORY_ONLY_SER").rngSeed(12345).collectTrainingStats(True).trainingHooks(TrainingHook()).build())
    assert made.settings.num_workers == 3 and made.settings.repartition_data is Repartition.Never
    assert Master.fromJson(made.toJson()).settings == made.settings == Master.from_yaml(made.to_yaml()).settings
    assert made.get_is_collect_training_stats()


def test_listeners_and_times(sc):
    heard = []

    class Hears(Listener):
        def iteration_done(self, model, iteration, epoch):
            heard.append((iteration, epoch, model.score()))
    trainer = SparkDl4jMultiLayer(sc, configuration(), Master(workers=2, averaging_frequency=1, batch_size_per_worker=8))
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
    """Its plans stay in their processes from round to round, and from one pass to the next."""
    from dl4py.networks.spark.models import ModelSender
    sender = ModelSender(sc, network())
    with sender.sent() as first, sender.sent() as second:
        assert first.text is second.text
    sender.model.model.set_learning_rate(0.5)
    with sender.sent() as third:
        assert third.text is not first.text
    trainer = SparkDl4jMultiLayer(sc, network(), Master(workers=1, averaging_frequency=1, batch_size_per_worker=8,
                                                        collect_training_stats=True))
    for _ in range(2):
        trainer.fit(sc.parallelize(batches(16), 1))
    assert trainer.get_network().get_iteration_count() == 4


def test_hooks_come_and_go():
    hook, master = TrainingHook(), Master()
    master.add_hook(hook)
    master.remove_hook(hook)
    hook.pre_update(None, None), hook.post_update(None, None)
    assert master._hooks == [] and master.delete_temp_files()


def test_one_output_unit(sc):
    conf = NeuralNetConfiguration.Builder().seed(1).list(OutputLayer(n_in=4, n_out=1, activation="identity", loss_function="mse")).build()
    trainer = SparkDl4jMultiLayer(sc, conf, Master(workers=2, batch_size_per_worker=4, averaging_frequency=1))
    x, _ = arrays(16)
    trainer.fit(sc.parallelize([(x[k:k + 1], x[k:k + 1].sum(keepdims=True)) for k in range(16)], 2))
    assert trainer.get_network().get_iteration_count() == 2




@pytest.mark.sampled(2)
@pytest.mark.parametrize("run", JAVA["runs"], ids=lambda r: f"{r['updater']}-{r['workers']}x{r['frequency']}-{r['save_updater']}")
def test_values_are_dl4js(sc, run):
    """Parameters, updater state, score and counters after each of two passes, and what is measured then."""
    conf = MultiLayerConfiguration.from_json(run["configuration"])
    net = MultiLayerNetwork(conf).init(np.float32(run["start"]))
    data = [DataSet(np.float32(x), np.float32(y)) for x, y in zip(JAVA["x"], JAVA["y"])]
    master = Master(workers=run["workers"], averaging_frequency=run["frequency"], save_updater=run["save_updater"], batch_size_per_worker=8)
    trainer = SparkDl4jMultiLayer(sc, net, master)
    for numbers, found in zip(run["passes"], run["found"]):
        trainer.fit(sc.parallelize([data[k] for k in numbers], 2))
        assert np.allclose(net.params(), found["params"], rtol=1e-5, atol=1e-6)
        assert np.allclose(net.engine.flat.state, found["state"], rtol=1e-5, atol=1e-7)
        assert trainer.get_score() == pytest.approx(found["score"], rel=1e-5)
    rdd = sc.parallelize(data, 2)
    assert trainer.evaluate(rdd).accuracy() == pytest.approx(run["accuracy"])
    assert trainer.calculate_score(rdd) == pytest.approx(run["mean_score"], rel=1e-5)
    assert np.allclose(trainer.score_examples(rdd, True).collect(), run["examples"], rtol=1e-5)
