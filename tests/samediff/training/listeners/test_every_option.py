"""Every option of listeners and configurations is kept under its name, and its builder sets it and nothing else."""
from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.javanames import to_camel
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.evaluation import Evaluation, RegressionEvaluation
from dl4py.samediff.training import (
    Adam,
    CheckpointListener,
    InMemoryStatsStorage,
    KeepMode,
    L1Regularization,
    L2Regularization,
    Operation,
    PerformanceListener,
    ProfilingListener,
    ScoreListener,
    Sgd,
    SleepMode,
    SleepyTrainingListener,
    StatsListener,
    TimeMode,
    TrainingConfig,
    WeightDecay,
)
from dl4py.samediff.training.config_builder import TrainingConfigBuilder

#: Classes, what they cannot do without, and for each option a value away from its default; pairs say under which name it is kept.
LISTENERS: dict[type, tuple[dict[str, Any], dict[str, Any]]] = {
    CheckpointListener: ({"root_dir": "."}, {
        "save_every_n_epochs": ("every_epochs", 2), "save_every_n_iterations": ("every_iterations", 3),
        "save_every_n_iterations_since_last": ("iterations_since_last", True), "save_every_ms": ("every_ms", 5),
        "save_every_ms_since_last": ("ms_since_last", True), "keep_mode": KeepMode.LAST_AND_EVERY, "keep_last": 4, "keep_every": 5,
        "log_saving": False, "file_name_prefix": ("prefix", "mine_"), "save_updater_state": False}),
    ProfilingListener: ({"output_file": Path("trace.json")}, {
        "warmup": 2, "max_iterations": 3, "max_milliseconds": 4, "operations": frozenset([Operation.INFERENCE])}),
    PerformanceListener: ({}, {
        "frequency": 3, "report_score": True, "report_time": False, "report_etl": False, "report_sample": False, "report_batch": False,
        "report_iteration": False}),
    ScoreListener: ({}, {"frequency": 3, "report_epochs": False, "report_iter_performance": False}),
    SleepyTrainingListener: ({}, {
        **{t: ("timers", dict.fromkeys(SleepyTrainingListener.TIMERS, 0) | {t: 7}) for t in SleepyTrainingListener.TIMERS},
        "sleep_mode": SleepMode.BUSY, "time_mode": TimeMode.ADDITIVE}),
    StatsListener: ({"storage": InMemoryStatsStorage()}, {"frequency": 3, "bins": 4, "activations": 2}),
}
#: What does something at the start alone, is kept in parts (tests of their own), or has no effect.
ELSEWHERE = {"delete_existing", "arrays", "session", "report_gc"}
RUNNING = ("_since", "_wanted", "session", "last_samples_per_sec", "last_batches_per_sec")


def state(made: Any) -> dict[str, Any]:
    """What an object keeps, without clocks and functions."""
    return {n: v for n, v in vars(made).items() if n not in RUNNING and not callable(v)}


@pytest.fixture
def make(tmp_path):
    def made(kind: type, needed: dict[str, Any], **options: Any) -> Any:
        if kind is CheckpointListener:
            needed = {"root_dir": tmp_path}
            if not any(n.startswith("save_every") and not n.endswith("last") for n in options):
                options["save_every_n_epochs"] = 1
        return kind(**needed, **options)
    return made


@pytest.mark.parametrize("kind", LISTENERS, ids=lambda k: k.__name__)
def test_an_option_changes_what_has_its_name_and_nothing_else(kind, make):
    needed, options = LISTENERS[kind]
    assert set(inspect.signature(kind.__init__).parameters) - ELSEWHERE == {"self", *needed, *options}
    plain = state(make(kind, needed))
    for name, value in options.items():
        kept, wanted = value if isinstance(value, tuple) else (name, value)
        option = value[1][name] if kept == "timers" else wanted
        changed = state(make(kind, needed, **{name: option}))
        differing = {n for n in plain if plain[n] != changed[n]}
        ignored = {"every_epochs"} if kind is CheckpointListener and kept != "every_epochs" else set()
        assert changed[kept] == wanted and differing - ignored == {kept}, name


def test_every_call_of_a_builder_is_tried():
    for kind in (CheckpointListener, ProfilingListener):
        assert {n for n, v in vars(kind.Builder).items() if callable(v) and not n.startswith("_")} == {*CALLS[kind], "build"}


#: Calls of builders, and the options of the class that they stand for.
CALLS: dict[type, dict[str, tuple[tuple[Any, ...], dict[str, Any]]]] = {
    CheckpointListener: {
        "save_every_epoch": ((), {"save_every_n_epochs": 1}), "save_every_n_epochs": ((2,), {"save_every_n_epochs": 2}),
        "save_every_n_iterations": ((3, True), {"save_every_n_iterations": 3, "save_every_n_iterations_since_last": True}),
        "save_every": ((1.5, "MINUTES", True), {"save_every_ms": 90_000, "save_every_ms_since_last": True}),
        "keep_all": ((), {"keep_mode": "ALL"}), "keep_last": ((4,), {"keep_mode": "LAST", "keep_last": 4}),
        "keep_last_and_every": ((4, 5), {"keep_mode": "last_and_every", "keep_last": 4, "keep_every": 5}),
        "log_saving": ((False,), {"log_saving": False}), "delete_existing": ((True,), {"delete_existing": True}),
        "file_name_prefix": (("mine_",), {"file_name_prefix": "mine_"}), "save_updater_state": ((False,), {"save_updater_state": False})},
    ProfilingListener: {
        "record_all": ((), {"operations": tuple(Operation)}), "warmup": ((2,), {"warmup": 2}),
        "max_profile_iterations": ((3,), {"max_iterations": 3}), "max_profiler_milliseconds": ((4,), {"max_milliseconds": 4}),
        "operations": ((Operation.INFERENCE, Operation.TRAINING), {"operations": [Operation.INFERENCE, Operation.TRAINING]})},
    PerformanceListener: {
        "set_frequency": ((3,), {"frequency": 3}),
        **{f"report_{n}": ((n == "score",), {f"report_{n}": n == "score"})
           for n in ("score", "time", "etl", "sample", "batch", "iteration")}},
    SleepyTrainingListener: {
        **{t: ((7,), {t: 7}) for t in SleepyTrainingListener.TIMERS}, "sleep_mode": ((SleepMode.SLEEP,), {"sleep_mode": SleepMode.SLEEP}),
        "time_mode": ((TimeMode.ADDITIVE,), {"time_mode": TimeMode.ADDITIVE})},
}


def built(kind: type, needed: dict[str, Any], name: str, args: tuple[Any, ...]) -> Any:
    builder = getattr(kind, "builder", getattr(kind, "Builder", None))(*needed.values())
    if kind is CheckpointListener and not name.startswith(("save_every", "saveEvery")):
        builder.save_every_epoch()
    assert getattr(builder, name)(*args) is builder
    return builder.build()


@pytest.mark.parametrize("kind", CALLS, ids=lambda k: k.__name__)
def test_builders_make_what_the_class_makes(kind, make, tmp_path):
    needed = {"root_dir": tmp_path} if kind is CheckpointListener else LISTENERS[kind][0]
    for name, (args, options) in CALLS[kind].items():
        wanted = state(make(kind, needed, **options))
        for spelling in (name, to_camel(name)):
            assert state(built(kind, needed, spelling, args)) == wanted, spelling


def test_recording_all_takes_limits_back():
    listener = ProfilingListener.builder("x").warmup(3).max_profile_iterations(2).max_profiler_milliseconds(1).record_all().build()
    assert (listener.warmup, listener.max_iterations, listener.max_milliseconds) == (0, None, None)
    assert listener.operations == frozenset(Operation)


@pytest.mark.parametrize("unit, milliseconds", [("MILLISECONDS", 1), ("SECONDS", 1000), ("MINUTES", 60_000), ("HOURS", 3_600_000),
                                                ("DAYS", 86_400_000)])
def test_units_of_time(unit, milliseconds, tmp_path):
    assert CheckpointListener.builder(tmp_path).save_every(2, unit.lower()).build().every_ms == 2 * milliseconds
    assert CheckpointListener.builder(tmp_path).save_every(2).build().every_ms == 2000


# The training configuration

CONFIG = {
    "updater": Adam(0.2), "regularization": [L1Regularization(0.5)], "minimize": False, "data_set_feature_mapping": ["a", "b"],
    "data_set_label_mapping": ["c", "d"], "data_set_feature_mask_mapping": ["e", "f"], "data_set_label_mask_mapping": ["g", "h"],
    "loss_variables": ["l", "m"], "iteration_count": 5, "epoch_count": 2, "initial_loss_data_type": DataType.DOUBLE,
    "train_evaluations": {"p": [Evaluation()]}, "train_evaluation_labels": {"p": 1}, "validation_evaluations": {"q": [Evaluation()]},
    "validation_evaluation_labels": {"q": 1},
}


def test_every_option_of_a_training_configuration_is_kept_and_in_its_json():
    assert set(CONFIG) == set(inspect.signature(TrainingConfig.__init__).parameters) - {"self", "unknown", "listeners"}
    plain = TrainingConfig().to_document()
    for name, value in CONFIG.items():
        needed = {"train_evaluations": {"train_evaluation_labels": {"p": 1}},
                  "validation_evaluations": {"validation_evaluation_labels": {"q": 1}}}.get(name, {})
        config = TrainingConfig(**{name: value}, **needed)
        assert getattr(config, name) == value
        document = config.to_document()
        assert {k for k in plain if plain[k] != document[k]} == {to_camel(name), *map(to_camel, needed)}
        again = TrainingConfig.from_json(config.to_json())
        assert again == config == config.clone() and getattr(again, name) == value
        assert config != TrainingConfig() and TrainingConfig() != config
    both = TrainingConfig(**CONFIG)
    assert TrainingConfig.from_json(both.to_json()) == both
    assert both.get_updater() == Adam(0.2) and both.get_regularization() == [L1Regularization(0.5)]
    assert (both.get_iteration_count(), both.get_epoch_count()) == (5, 2)
    text = repr(both)
    assert all(part in text for part in ("learning_rate=0.2", "l1=", "['a', 'b']", "['c', 'd']", "iteration=5", "epoch=2"))


BUILDER = {
    "updater": [((Adam(0.2),), {"updater": Adam(0.2)})],
    "l1": [((0.5,), {"regularization": [L1Regularization(0.5)]})], "l2": [((0.5,), {"regularization": [L2Regularization(0.5)]})],
    "weight_decay": [((0.5,), {"regularization": [WeightDecay(0.5, True)]}), ((0.5, False), {"regularization": [WeightDecay(0.5, False)]})],
    "add_regularization": [((L1Regularization(0.5), L2Regularization(0.1)), {"regularization": [L1Regularization(0.5),
                                                                                                L2Regularization(0.1)]})],
    "regularization": [((L1Regularization(0.5), L2Regularization(0.1)), {"regularization": [L1Regularization(0.5), L2Regularization(0.1)]}),
                       (([L1Regularization(0.5)],), {"regularization": [L1Regularization(0.5)]}), (([],), {})],
    "minimize": [((False,), {"minimize": False}), ((True,), {}), (("l", "m"), {"loss_variables": ["l", "m"]}),
                 (("l",), {"loss_variables": ["l"]})],
    **{n: [(("a", "b"), {n: ["a", "b"]}), ((["a", "b"],), {n: ["a", "b"]})] for n in CONFIG if n.endswith("_mapping")},
    "data_set_labels_mapping": [(("a", "b"), {"data_set_label_mapping": ["a", "b"]})],
    "loss_variables": [(("l", "m"), {"loss_variables": ["l", "m"]}), ((["l"],), {"loss_variables": ["l"]})],
    "listeners": [((ScoreListener(),), {}), (([],), {})],
    "mark_labels_unused": [((), {})], "skip_builder_validation": [((), {}), ((True,), {})],
    "initial_loss_data_type": [((DataType.DOUBLE,), {"initial_loss_data_type": DataType.DOUBLE}),
                               (("double",), {"initial_loss_data_type": DataType.DOUBLE})],
    "train_evaluation": [(("p", 1, Evaluation()), {"train_evaluations": {"p": [Evaluation()]}, "train_evaluation_labels": {"p": 1}})],
    "validation_evaluation": [(("q", 1, [Evaluation()]), {"validation_evaluations": {"q": [Evaluation()]},
                                                          "validation_evaluation_labels": {"q": 1}})],
    "add_evaluations": [((v, "p", 2, Evaluation(), RegressionEvaluation(2)), {
        f"{k}_evaluations": {"p": [Evaluation(), RegressionEvaluation(2)]}, f"{k}_evaluation_labels": {"p": 2}})
        for v, k in ((False, "train"), (True, "validation"))],
}


def test_the_builder_makes_what_the_configuration_makes():
    public = {n for n, v in vars(TrainingConfigBuilder).items() if callable(v) and not n.startswith("_")} - {"build"}
    assert public == set(BUILDER)
    for name, calls in BUILDER.items():
        for args, options in calls:
            for spelling in (name, to_camel(name)):
                builder = TrainingConfig.builder().skip_builder_validation()
                assert getattr(builder, spelling)(*args) is builder
                assert json.loads(builder.build().to_json()) == TrainingConfig(**options).to_document(), (spelling, args)


FULL = {"updater": Sgd(0.1), "data_set_feature_mapping": "x", "data_set_label_mapping": "y"}


def described(options: Any) -> TrainingConfigBuilder:
    builder = TrainingConfig.builder()
    for name in options:
        getattr(builder, name)(FULL[name])
    return builder


@pytest.mark.parametrize("left", [[n] for n in FULL] + [list(FULL)], ids=str)
def test_build_checks_unless_told_not_to(left):
    for builder in (described(FULL), described(FULL).skip_builder_validation(False)):
        assert builder.build().updater == FULL["updater"]
    part = [n for n in FULL if n not in left]
    for builder in (described(part), described(part).skip_builder_validation(False)):
        with pytest.raises(ConfigurationError, match=left[0]):
            builder.build()
    described(part).skip_builder_validation().build()


def test_labels_may_be_unused():
    assert described(["updater", "data_set_feature_mapping"]).mark_labels_unused().build().placeholders([1]) == {"x": 1}


def test_evaluations_of_a_variable_have_one_label_array():
    builder = TrainingConfig.builder().skip_builder_validation()
    builder.train_evaluation("p", 1, Evaluation()).train_evaluation("p", 1, Evaluation())
    with pytest.raises(ConfigurationError, match="train evaluations of 'p' use label array 1 already, not 0"):
        builder.train_evaluation("p", 0, Evaluation())
    config = builder.validation_evaluation("p", 0, Evaluation()).build()
    assert len(config.train_evaluations["p"]) == 2 and config.validation_evaluation_labels == {"p": 0}


@pytest.mark.parametrize("masks", [(None, None), ([1], None), (None, [2]), ([1], [2])])
def test_masks_go_to_their_placeholders(masks):
    config = TrainingConfig(data_set_feature_mapping=["x"], data_set_label_mapping=["y"], data_set_feature_mask_mapping=["m"],
                            data_set_label_mask_mapping=["n"])
    found = config.placeholders([3], [4], *masks)
    assert found == {"x": 3, "y": 4} | ({"m": 1} if masks[0] else {}) | ({"n": 2} if masks[1] else {})
