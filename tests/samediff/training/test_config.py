"""The training configuration: builder, JSON, mappings, errors."""
from __future__ import annotations

import contextlib
import copy
import json
import pickle

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.javanames import to_camel
from dl4py.samediff.errors import ConfigurationError, DL4PyError, FileFormatError
from dl4py.samediff.evaluation import Evaluation
from dl4py.samediff.training import (
    Adam,
    L1Regularization,
    L2Regularization,
    Listener,
    Sgd,
    StepSchedule,
    TrainingConfig,
    WeightDecay,
)

RECORDED = """{"updater": {"@class": "org.nd4j.linalg.learning.config.Adam", "learningRate": "NaN",
 "learningRateSchedule": {"@class": "org.nd4j.linalg.schedule.StepSchedule", "scheduleType": "ITERATION",
 "initialValue": 0.05, "decayRate": 0.5, "step": 3.0}, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-08},
 "regularization": [{"@class": "org.nd4j.linalg.learning.regularization.WeightDecay",
 "coeff": {"@class": "org.nd4j.linalg.schedule.FixedSchedule", "value": 0.03}, "applyLR": true}],
 "minimize": true, "dataSetFeatureMapping": ["x"], "dataSetLabelMapping": ["y"], "dataSetFeatureMaskMapping": null,
 "dataSetLabelMaskMapping": null, "lossVariables": ["huber"], "iterationCount": 3, "epochCount": 1,
 "initialLossDataType": "DOUBLE", "trainEvaluations": {}, "trainEvaluationLabels": {}, "validationEvaluations": {},
 "validationEvaluationLabels": {}}"""


def base() -> TrainingConfig:
    return TrainingConfig.builder().updater(Sgd(0.1)).data_set_feature_mapping("x").data_set_label_mapping("y").build()


def test_recorded_json_both_ways() -> None:
    config = TrainingConfig.from_json(RECORDED)
    assert config.updater == Adam(StepSchedule("ITERATION", 0.05, 0.5, 3))
    assert config.regularization == [WeightDecay(0.03, True)]
    assert (config.get_iteration_count(), config.get_epoch_count()) == (3, 1)
    assert config.initial_loss_data_type is DataType.DOUBLE
    assert json.loads(config.to_json()) == json.loads(RECORDED)
    assert list(json.loads(config.to_json())) == list(json.loads(RECORDED))
    assert config.clone() == config


def test_unknown_keys_survive_and_missing_ones_have_defaults() -> None:
    config = TrainingConfig.from_json('{"updater": null, "novelty": [1], "dataSetFeatureMapping": ["x"]}')
    assert json.loads(config.to_json())["novelty"] == [1]
    assert config.initial_loss_data_type is DataType.FLOAT


def test_evaluations_are_in_the_json() -> None:
    config = (TrainingConfig.builder().updater(Sgd(0.1)).data_set_feature_mapping("x").data_set_label_mapping("y")
              .train_evaluation("out", 0, Evaluation())
              .validation_evaluation("out", 0, Evaluation(), Evaluation()).build())
    document = json.loads(config.to_json())
    assert document["trainEvaluations"]["out"][0]["@class"] == "org.nd4j.evaluation.classification.Evaluation"
    assert document["trainEvaluationLabels"] == {"out": 0}
    again = TrainingConfig.from_json(config.to_json())
    assert again == config
    assert len(again.validation_evaluations["out"]) == 2


def test_java_spelling() -> None:
    config = (TrainingConfig.builder().updater(Sgd(0.1)).dataSetFeatureMapping("x").dataSetLabelMapping("y")
              .weightDecay(0.1, False).minimize("loss").build())
    assert config.getIterationCount() == 0
    assert config.lossVariables == ["loss"]
    assert config.minimize is True
    assert config.regularization == [WeightDecay(0.1, False)]


def test_regularization_options() -> None:
    builder = TrainingConfig.builder().skip_builder_validation()
    assert builder.l2(0.1).weight_decay(0.2, True).build().regularization == [WeightDecay(0.2, True)]
    assert builder.l2(0.3).l1(0.1).build().regularization == [L2Regularization(0.3), L1Regularization(0.1)]
    assert builder.regularization(L2Regularization(0.5)).build().regularization == [L2Regularization(0.5)]


@pytest.mark.parametrize(("builder", "text"), [
    (TrainingConfig.builder(), "updater"),
    (TrainingConfig.builder().updater(Sgd(0.1)), "data_set_feature_mapping"),
    (TrainingConfig.builder().updater(Sgd(0.1)).data_set_feature_mapping("x"), "mark_labels_unused"),
])
def test_what_is_missing_is_named(builder, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        builder.build()


def test_labels_may_be_unused() -> None:
    config = TrainingConfig.builder().updater(Sgd(0.1)).data_set_feature_mapping("x").mark_labels_unused().build()
    assert config.placeholders([1]) == {"x": 1}
    with pytest.raises(ConfigurationError, match="maps 0 label"):
        config.placeholders([1], [2])


def test_placeholders_of_a_batch() -> None:
    x, y, mask = np.ones(2), np.zeros(2), np.ones(1)
    config = base()
    assert config.placeholders([x], [y]) == {"x": x, "y": y}
    assert config.label_idx("y") == 0
    assert config.label_idx("nope") == -1
    with pytest.raises(ConfigurationError, match=r"maps 1 feature array\(s\) \(x\), the data has 2"):
        config.placeholders([x, x], [y])
    with pytest.raises(ConfigurationError, match="mask"):
        config.placeholders([x], [y], [mask])
    assert config.placeholders([x], [y], [None]) == {"x": x, "y": y}


def test_counters() -> None:
    config = base()
    config.increment_iteration_count()
    config.increment_epoch_count()
    assert (config.iteration_count, config.epoch_count) == (1, 1)


def test_bad_values() -> None:
    with pytest.raises(ConfigurationError, match="updater"):
        TrainingConfig(updater="adam")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="regularization"):
        TrainingConfig(Sgd(0.1), [0.1])  # type: ignore[list-item]
    with pytest.raises(ConfigurationError, match="label array"):
        TrainingConfig(Sgd(0.1), train_evaluations={"out": [Evaluation()]})
    with pytest.raises(FileFormatError):
        TrainingConfig.from_json("{")
    with pytest.raises(ConfigurationError):
        TrainingConfig.from_json("[]")


@pytest.mark.parametrize("count", [2**70, 2**63, -1, 1.5, "a", None, True, float("nan"), float("inf"), [], {}, 1e300])
@pytest.mark.parametrize("name", ["iteration_count", "epoch_count"])
def test_counts_that_are_none(name, count):
    config = TrainingConfig(Adam())
    document = config.to_document() | {to_camel(name): count}
    makers = [lambda: TrainingConfig(**{name: count}), lambda: setattr(config, name, count), lambda: TrainingConfig.from_document(document)]
    for make in makers[:2 if count is None else 3]:             # null in a document is the default, as for other options
        with pytest.raises(ConfigurationError, match=f"{name} must be an int from 0"):
            make()
    assert (config.iteration_count, config.epoch_count) == (0, 0)
    setattr(config, name, 2.0)
    assert getattr(config, name) == 2


@pytest.mark.parametrize("value", [2**70, 1.5, "a", [None], {"a": 1}, [3], True])
@pytest.mark.parametrize("name", [
    "regularization", "dataSetFeatureMapping", "dataSetLabelMaskMapping", "lossVariables", "trainEvaluations", "trainEvaluationLabels",
    "validationEvaluations", "validationEvaluationLabels", "updater", "initialLossDataType"])
def test_documents_with_other_values(name, value):
    document = TrainingConfig(Adam()).to_document() | {name: value}
    with contextlib.suppress(DL4PyError):
        TrainingConfig.from_document(document)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c)), TrainingConfig.clone])
def test_copies_count_alone(again):
    config = TrainingConfig(Adam(), regularization=[L2Regularization(0.1)], iteration_count=3, epoch_count=1,
                            train_evaluations={"y": [Evaluation()]}, train_evaluation_labels={"y": 0})
    made = again(config)
    assert made == config
    made.increment_iteration_count()
    made.increment_epoch_count()
    made.regularization.clear()
    made.train_evaluations["y"][0].eval(np.eye(2), np.eye(2))
    assert (config.iteration_count, config.epoch_count, len(config.regularization)) == (3, 1, 1)
    assert config.train_evaluations["y"][0] == Evaluation()


def test_losses_and_listeners_belong_to_it():
    class Counting(Listener):
        steps = 0

        def iteration_done(self, sd, at, data, loss):
            self.steps += 1
    heard = Counting()
    config = (TrainingConfig.builder().updater(Sgd(0.1)).lossVariables("loss").listeners(heard).dataSetFeatureMapping("x")
              .dataSetLabelsMapping("y").build())
    assert config.loss_variables == ["loss"] and config.listeners == [heard] and config.data_set_label_mapping == ["y"]
    sd = SameDiff.create()
    x, y, w = sd.placeholder("x", DataType.FLOAT, -1, 2), sd.placeholder("y", DataType.FLOAT, -1, 1), sd.var("w", 2, 1)
    z = x.mmul(w) - y
    (z * z).mean("loss"), z.sum("other")
    sd.set_training_config(config)
    sd.fit(np.ones((3, 2)), np.ones((3, 1)), epochs=2)
    assert heard.steps == 2
    assert config.clone().listeners == [heard] and config.clone() == config
    assert "istener" not in config.to_json() and TrainingConfig.from_json(config.to_json()).listeners == []
    assert TrainingConfig(Sgd(0.1), listeners=heard).listeners == [heard]
    with pytest.raises(ConfigurationError, match="expected listeners"):
        TrainingConfig.builder().updater(Sgd(0.1)).listeners(print).mark_labels_unused().skip_builder_validation().build()
