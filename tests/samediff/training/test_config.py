"""The training configuration: builder, JSON, mappings, errors."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.errors import ConfigurationError, FileFormatError
from dl4py.samediff.evaluation import Evaluation
from dl4py.samediff.training import (
    Adam,
    L1Regularization,
    L2Regularization,
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
