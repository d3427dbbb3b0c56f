"""Early stopping replayed against recorded trainings, and what may go wrong."""
from __future__ import annotations

import json
import math
import re
import time
from pathlib import Path

import numpy as np
import pytest

from dl4py import networks
from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import (
    BestScoreEpochTerminationCondition,
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingGraphTrainer,
    EarlyStoppingListener,
    EarlyStoppingTrainer,
    InvalidScoreIterationTerminationCondition,
    LocalFileGraphSaver,
    LocalFileModelSaver,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    MaxTimeIterationTerminationCondition,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    ScoreCalculator,
    TimeUnit,
)
from dl4py.samediff import DataSet, ListDataSetIterator, evaluation
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import Sgd
from tests.helpers.replay import Recorded, close

ROOT = Path(__file__).parents[2] / "golden" / "training" / "early_stopping"
TEXTS = ROOT / "conditions_to_string" / "case.json"


class Told(EarlyStoppingListener):
    """Writes down what it hears in DL4J's words."""

    def __init__(self):
        self.events = []

    def on_start(self, configuration, model):
        self.events.append("onStart")

    def on_epoch(self, epoch, score, configuration, model):
        self.events.append(f"onEpoch {epoch}")

    def on_completion(self, result):
        self.events.append("onCompletion")


def condition(text):
    """``BestScoreEpochTerminationCondition(0.5)`` as an object."""
    name, inner = re.fullmatch(r"(\w+)\((.*)\)", text).groups()
    values = [v.split("=")[-1] for v in inner.split(",")] if inner else []
    return getattr(networks, name)(*[v if v.isalpha() else float(v) if "." in v else int(v) for v in values])


def replay(name):
    case = Recorded(ROOT / name)
    a, info, options = case.arrays, case.info, case.info.get("options", {})
    rows = len(a["train_features_0"])

    def data(kind):
        count = sum(k.startswith(f"{kind}_features_") for k in a)
        examples = [DataSet(*(a[f"{kind}_{what}_{i}"][j:j + 1] for what in ("features", "labels")))
                    for i in range(count) for j in range(rows)]
        return ListDataSetIterator(examples, rows)

    if "options" in info:
        epochs, iterations = [getattr(networks, n)(*values) for n, *values in options["epoch"]], []
    else:                                                         # of these only the condition that ended them is recorded
        ended = condition(info["termination_details"])
        by_epoch = info["termination_reason"].startswith("Epoch")
        epochs, iterations = [MaxEpochsTerminationCondition(30), *[ended] * by_epoch], [ended] * (not by_epoch)
    how = options.get("score", {"class": "DataSetLossCalculator", "after": [True]})
    before = [resolved(v) for v in how.get("before", [])]
    calculator = getattr(networks, how["class"])(*before, data(how.get("data", "test")), *how.get("after", []))
    conf = (EarlyStoppingConfiguration.Builder().epochTerminationConditions(*epochs).iterationTerminationConditions(*iterations)
            .scoreCalculator(calculator).evaluateEveryNEpochs(options.get("every", 1)).saveLastModel(True).build())
    net, told = case.network(a["params_0"]), Told()
    return case, net, told, conf, EarlyStoppingTrainer(conf, net, data("train"), told).fit()


def resolved(text):
    value = networks if text.startswith("ROCScore") else evaluation
    for part in text.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", sorted(p.name for p in ROOT.iterdir() if (p / "arrays.npz").exists()))
def test_recorded(name):
    case, net, told, conf, result = replay(name)
    a, info = case.arrays, case.info
    assert result.get_termination_reason().name == info["termination_reason"]
    assert result.get_termination_details() == info["termination_details"]
    assert (result.getBestModelEpoch(), result.getTotalEpochs()) == (info["best_model_epoch"], info["total_epochs"])
    assert [str(e) for e in result.get_score_vs_epoch()] == list(info["score_vs_epoch"])
    close(np.array(list(result.get_score_vs_epoch().values())), np.array(list(info["score_vs_epoch"].values())), 2e-4)
    assert result.get_best_model_score() == result.get_score_vs_epoch()[info["best_model_epoch"]]
    # DL4J counts an epoch when the next one begins, so that schedules of who goes on are one behind
    whole = info["termination_reason"].startswith("Epoch")
    assert (net.get_iteration_count(), net.get_epoch_count()) == (info["final_iteration_count"], info["final_epoch_count"] + whole)
    assert told.events == [e.split(" score")[0] for e in info["listener_events"]]
    best = result.get_best_model()
    assert (best.get_iteration_count(), best.get_epoch_count()) == (info["best_model_iteration_count"], info["best_model_epoch_count"] + 1)
    close(best.params(), a["params_best"], 2e-4)
    if np.isfinite(a["params_final"]).all():        # else training has diverged
        close(net.params(), a["params_final"], 2e-4)
        close(conf.get_model_saver().get_latest_model().params(), net.params(), 0)


@pytest.mark.parametrize("text", json.loads(TEXTS.read_text())["strings"])
def test_text_of_conditions(text):
    assert str(condition(text)) == text


X = np.random.default_rng(0).normal(size=(24, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[(X[:, 0] > 0).astype(int)]
DATA = ListDataSetIterator([DataSet(x[None], y[None]) for x, y in zip(X, Y)], 8)


def network(rate=0.1):
    builder = NeuralNetConfiguration.Builder().seed(1).updater(Sgd(rate)).list()
    return MultiLayerNetwork(builder.layer(DenseLayer(n_in=3, n_out=4)).layer(OutputLayer(n_in=4, n_out=2)).build()).init()


def graph():
    return network().to_computation_graph()


def configuration(**more):
    return EarlyStoppingConfiguration(**{"score_calculator": DataSetLossCalculator(DATA), "epoch_termination_conditions":
                                         [MaxEpochsTerminationCondition(3)], **more})


@pytest.mark.parametrize(("trainer", "model", "saver", "names"), [
    (EarlyStoppingTrainer, network, LocalFileModelSaver, {"bestModel.bin", "latestModel.bin"}),
    (EarlyStoppingGraphTrainer, graph, LocalFileGraphSaver, {"bestGraph.bin", "latestGraph.bin"})])
def test_models_in_files(trainer, model, saver, names, tmp_path):
    net = model()
    result = trainer(configuration(model_saver=saver(tmp_path), save_last_model=True), net, DATA).fit()
    assert {p.name for p in tmp_path.iterdir()} == names
    np.testing.assert_array_equal(saver(tmp_path).get_latest_model().params(), net.params())
    assert math.isclose(result.get_best_model().score(next(iter(DATA))), net.score(next(iter(DATA))), rel_tol=0.1)
    assert saver(tmp_path).get_best_model().get_iteration_count() == result.get_best_model().get_iteration_count()


def test_time_is_counted_from_the_start():
    ended = MaxTimeIterationTerminationCondition(1, TimeUnit.NANOSECONDS)
    time.sleep(0.001)
    result = EarlyStoppingTrainer(configuration(iteration_termination_conditions=[ended]), network(), DATA).fit()
    assert result.get_termination_details() == "MaxTimeIterationTerminationCondition(1,unit=NANOSECONDS)"
    assert (result.get_best_model_epoch(), result.get_best_model(), result.get_total_epochs()) == (-1, None, 0)
    patient = MaxTimeIterationTerminationCondition(1, "HOURS")
    assert EarlyStoppingTrainer(configuration(iteration_termination_conditions=[patient]), network(), DATA).fit().get_total_epochs() == 3


def test_a_configuration_serves_again():
    improving = networks.ScoreImprovementEpochTerminationCondition(1)
    conf = configuration(epoch_termination_conditions=[improving, MaxEpochsTerminationCondition(4)])
    first, second = (EarlyStoppingTrainer(conf, network(), DATA).fit() for _ in range(2))
    assert first.get_score_vs_epoch() == second.get_score_vs_epoch()


def test_score_of_my_own():
    class Largest(ScoreCalculator):
        def calculate_score(self, network):
            return float(np.abs(network.params()).max())

        def minimize_score(self):
            return False

    conf = configuration(score_calculator=Largest, epoch_termination_conditions=[BestScoreEpochTerminationCondition(1e-9)])
    assert EarlyStoppingTrainer(conf, network().get_configuration(), DATA).fit().get_total_epochs() == 1


def test_an_error_ends_the_training():
    bad = [DataSet(X, Y), DataSet(X[:, :2], Y)]
    result = EarlyStoppingTrainer(configuration(), network(), bad).fit()
    assert result.get_termination_reason().name == "Error" and "ShapeError" in result.get_termination_details()


def test_nan_from_the_start():
    conf = configuration(iteration_termination_conditions=[MaxScoreIterationTerminationCondition(10)])
    result = EarlyStoppingTrainer(conf, network(), [DataSet(X * np.nan, Y)]).fit()
    assert result.get_best_model() is None and result.get_termination_reason().name == "IterationTerminationCondition"


@pytest.mark.parametrize(("make", "message"), [
    (lambda: EarlyStoppingTrainer(configuration(epoch_termination_conditions=[]), network(), DATA).fit(), "never end"),
    (lambda: EarlyStoppingTrainer(configuration(score_calculator=None), network(), DATA).fit(), "score calculator"),
    (lambda: EarlyStoppingTrainer(configuration(score_calculator=lambda: 3), network(), DATA).fit(), "got 3"),
    (lambda: configuration(epoch_termination_conditions=[InvalidScoreIterationTerminationCondition()]), "EpochTermination"),
    (lambda: configuration(evaluate_every_n_epochs=0), "at least 1"),
    (lambda: MaxTimeIterationTerminationCondition(0, TimeUnit.SECONDS), "positive"),
    (lambda: MaxEpochsTerminationCondition(0), "at least 1"),
    (lambda: EarlyStoppingGraphTrainer(configuration(), network(), DATA), "MultiLayerNetwork"),
    (lambda: LocalFileModelSaver("no such folder"), "no such folder")])
def test_mistakes(make, message):
    with pytest.raises(ConfigurationError, match=message):
        make()
