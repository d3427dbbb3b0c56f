"""What networks, builders, trainers and listeners answer when they are asked, and their smaller settings."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.layers import (
    ActivationLayer,
    DenseLayer,
    InputType,
    OutputLayer,
    RnnToFeedForwardPreProcessor,
    ScaleVertex,
)
from dl4py.networks import (
    ComputationGraph,
    EarlyStoppingConfiguration,
    EarlyStoppingListener,
    EarlyStoppingTrainer,
    NeuralNetConfiguration,
    ParallelWrapper,
    TransferLearning,
)
from dl4py.networks.early_stopping import DataSetLossCalculator, MaxEpochsTerminationCondition
from dl4py.samediff import DataSet
from dl4py.samediff.data import ListDataSetIterator
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.evaluation import EvaluationBinary, EvaluationCalibration
from dl4py.samediff.training import (
    At,
    Checkpoint,
    CheckpointListener,
    CollectScoresIterationListener,
    EvaluativeListener,
    Operation,
    ProfilingListener,
)
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).normal(size=(12, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[np.arange(12) % 3]
DATA = DataSet(X, Y)


def small(**options):
    return network(DenseLayer(n_in=4, n_out=5, **options), OutputLayer(n_in=5, n_out=3, **options))


def test_graphs_built_one_behind_the_other():
    conf = (NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("in").append_layer("a", DenseLayer(n_in=4, n_out=5))
            .append_vertex("half", ScaleVertex(0.5)).append_layer("out", OutputLayer(n_in=5, n_out=3)).set_outputs("out").build())
    assert conf.vertex_inputs == {"a": ("in",), "half": ("a",), "out": ("half",)}
    net = ComputationGraph(conf).init()
    assert (net.get_num_input_arrays(), net.get_num_output_arrays()) == (1, 1)
    two = (NeuralNetConfiguration.Builder().graph_builder().add_inputs("l", "r").add_layer("d", DenseLayer(n_in=4, n_out=2), "l", "r")
           .add_layer("a", ActivationLayer(activation="relu"), "d"))
    with pytest.raises(ConfigurationError, match="needs outputs"):
        two.build()
    open_end = ComputationGraph(two.allow_no_output(True).set_input_types(InputType.feed_forward(2), InputType.feed_forward(2)).build())
    assert (open_end.get_num_input_arrays(), open_end.get_num_output_arrays()) == (2, 0)


def test_sizes_set_by_hand_may_stay():
    def sizes(override):
        builder = NeuralNetConfiguration.Builder().list(DenseLayer(n_in=7, n_out=5), OutputLayer(n_out=3))
        return [layer.n_in for layer in builder.override_nin_upon_build(override).set_input_type(InputType.feed_forward(4)).build().layers]

    assert (sizes(True), sizes(False)) == ([4, 5], [7, 5])


def test_binary_outputs_and_calibration():
    net = network(OutputLayer(n_in=4, n_out=3, activation="sigmoid", loss="xent"))
    p = net.output(X)
    binary = net.evaluate_binary(DATA)
    assert isinstance(binary, EvaluationBinary)
    assert [binary.accuracy(k) for k in range(3)] == pytest.approx(((p > 0.5) == Y).mean(0).tolist())
    calibration = net.evaluate_calibration(ListDataSetIterator([DATA], 5))
    assert isinstance(calibration, EvaluationCalibration) and list(calibration.get_label_counts_each_class()) == [4, 4, 4]


def test_scores_listeners_and_penalties():
    net, heard = small(l2=0.5), CollectScoresIterationListener(1)
    net.set_listeners(heard)
    assert net.get_training_listeners() == [heard]
    net.fit(X, Y, epochs=3)
    scores = heard.get_score_vs_iter()
    assert [i for i, _ in scores] == [0, 1, 2] and scores[-1][1] == pytest.approx(net.score())
    weights = sum(float((a.astype(np.float64) ** 2).sum()) for n, a in net.param_table().items() if n.endswith("W"))
    assert net.calc_l1() == net.calc_regularization_score() == pytest.approx(0.25 * weights)
    net.set_score(7)
    assert net.score() == 7.0
    net.set_input(X)
    net.clear_layers_states()
    assert net.get_input() is None


def test_what_a_wrapper_was_told():
    net = small()
    with ParallelWrapper(net, workers=2, averaging_frequency=3, average_updaters=False, report_score_after_averaging=False,
                         prefetch_buffer=5) as wrapper:
        assert wrapper.get_model() is net
        assert (wrapper.get_workers(), wrapper.get_averaging_frequency(), wrapper.get_prefetch_size()) == (2, 3, 5)
        assert (wrapper.is_average_updaters(), wrapper.is_report_score()) == (False, False)


def test_transfer_keeps_what_it_is_told():
    made = (TransferLearning.Builder(network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3)))
            .set_input_pre_processor(0, RnnToFeedForwardPreProcessor()).build())
    assert made.get_configuration().get_input_pre_process(0) == RnnToFeedForwardPreProcessor()
    graph = TransferLearning.GraphBuilder(small().to_computation_graph()).set_workspace_mode("NONE").build().get_configuration()
    assert graph.training_workspace_mode.name == graph.inference_workspace_mode.name == "NONE"


def test_a_trainer_tells_the_listener_set_last():
    told = []

    class Heard(EarlyStoppingListener):
        def onEpoch(self, epoch, score, configuration, model):
            told.append(epoch)

    conf = (EarlyStoppingConfiguration.Builder().epoch_termination_conditions(MaxEpochsTerminationCondition(2))
            .score_calculator(DataSetLossCalculator(ListDataSetIterator([DATA], 6))).build())
    trainer = EarlyStoppingTrainer(conf, small(), ListDataSetIterator([DATA], 6))
    trainer.set_listener(Heard())
    trainer.fit()
    assert told == [0, 1]


def test_checkpoints_by_number(tmp_path):
    net = small()
    listener = CheckpointListener.builder(tmp_path).save_every_n_iterations(1).file_name_prefix("run").keep_all().build()
    net.set_listeners(listener)
    net.fit(X, Y, epochs=3)
    path = listener.get_file_for_checkpoint(1)
    assert path.exists() and path.name.startswith("run") and path == listener.get_file_for_checkpoint(listener.last_checkpoint())
    last = CheckpointListener.load_last_checkpoint_mln(tmp_path)
    np.testing.assert_array_equal(last.params(), net.params())
    assert last == CheckpointListener.load_checkpoint_mln(tmp_path, 1)
    assert (tmp_path / "checkpointInfo.txt").read_text().splitlines()[0] == Checkpoint.get_file_header()
    graph = small().to_computation_graph()
    graph.set_listeners(CheckpointListener(tmp_path / "graph", save_every_n_epochs=1, log_saving=False))
    graph.fit(X, Y, epochs=2)
    np.testing.assert_array_equal(CheckpointListener.load_checkpoint_cg(tmp_path / "graph", 1).params(), graph.params())


def test_a_callback_in_place_of_a_report():
    called, listener = [], EvaluativeListener(DATA, 1)
    listener.set_callback(lambda heard, model, number, evaluations: called.append((number, evaluations)))
    net = small()
    net.set_listeners(listener)
    net.fit(X, Y)
    assert len(called) == 1 and called[0][1] == listener.get_evaluations() and listener.get_evaluations()[0].get_num_row_counter() == 12


def test_where_a_run_stands():
    import threading
    at = At(1, 2, Operation.TRAINING, 3)
    assert (at.training_thread_num(), at.java_thread_num()) == (3, threading.get_ident())


def test_profiles_end_after_so_much_time_or_never(tmp_path):
    def events(change):
        net = small()
        net.set_listeners(change(ProfilingListener.builder(tmp_path / "trace.json")).build())
        net.fit(X, Y, epochs=4)
        return [e["name"] for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e.get("ph") == "X"]

    every = events(lambda b: b.warmup(3).record_all())
    assert len(every) > len(events(lambda b: b.warmup(3).max_profile_iterations(1)))
    assert 0 < len(events(lambda b: b.max_profiler_milliseconds(1))) <= len(every)


