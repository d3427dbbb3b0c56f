"""What is not said: defaults of updaters, schedules and listeners, DL4J's where DL4J has the option."""
from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from dl4py.samediff import training
from dl4py.samediff.training import InvocationType, IUpdater, KeepMode, Listener, Operation, Schedule, SleepMode, TimeMode

MOMENTS = {"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "learning_rate_schedule": None}
DEFAULTS: dict[str, dict[str, Any]] = {
    "AMSGrad": MOMENTS, "AdaMax": MOMENTS, "Adam": MOMENTS, "Nadam": MOMENTS, "AdaBelief": MOMENTS | {"epsilon": 1e-14},
    "AdaDelta": {"rho": 0.95, "epsilon": 1e-6}, "AdaGrad": {"learning_rate": 0.1, "epsilon": 1e-6, "learning_rate_schedule": None},
    "Nesterovs": {"learning_rate": 0.1, "momentum": 0.9, "learning_rate_schedule": None, "momentum_i_schedule": None,
                  "momentum_schedule": None},
    "RmsProp": {"learning_rate": 0.1, "rms_decay": 0.95, "epsilon": 1e-8, "learning_rate_schedule": None},
    "Sgd": {"learning_rate": 1e-3, "learning_rate_schedule": None}, "CycleSchedule": {"annealing_decay": 0.1},
    "CheckpointListener": {
        "save_every_n_epochs": None, "save_every_n_iterations": None, "save_every_n_iterations_since_last": False, "save_every_ms": None,
        "save_every_ms_since_last": False, "keep_mode": KeepMode.ALL, "keep_last": 1, "keep_every": 1, "log_saving": True,
        "delete_existing": False, "file_name_prefix": "", "save_updater_state": True},
    "CollectScoresIterationListener": {"frequency": 1}, "CollectScoresListener": {"frequency": 1, "log_score": False},
    "DoctorListener": {"frequency": 100},
    "EvaluativeListener": {"invocation_type": InvocationType.ITERATION_END, "callback": None},
    "PerformanceListener": {"frequency": 1, "report_score": False, "report_gc": False, "report_time": True, "report_etl": True,
                            "report_sample": True, "report_batch": True, "report_iteration": True},
    "ProfilingListener": {"warmup": 0, "max_iterations": None, "max_milliseconds": None, "operations": (Operation.TRAINING,)},
    "ProgressListener": {"stream": None, "every_seconds": 0.1}, "ScoreIterationListener": {"print_iterations": 10},
    "ScoreListener": {"frequency": 10, "report_epochs": True, "report_iter_performance": True},
    "SleepyTrainingListener": {"timer_es": 0, "timer_ee": 0, "timer_ff": 0, "timer_bp": 0, "timer_iteration": 0,
                               "sleep_mode": SleepMode.PARK, "time_mode": TimeMode.SIMPLE},
    "StatsListener": {"frequency": 1, "bins": 20, "arrays": True, "activations": 25},
    "TimeIterationListener": {"frequency": 1}, "UIListener": {"bins": 20},
    "WatchListener": {"frequency": 1, "method": "pca", "pictures": True}}
CLASSES = {n: c for n, c in vars(training).items() if isinstance(c, type) and issubclass(c, (IUpdater, Schedule, Listener))}


def defaults(cls: type) -> dict[str, Any]:
    """Of the parameters of a class; those of configurations by what an object has."""
    if issubclass(cls, IUpdater):
        return {f.name: getattr(cls(), f.name) for f in dataclasses.fields(cls)}  # type: ignore
    return {p.name: p.default for p in inspect.signature(cls).parameters.values() if p.default is not p.empty}


@pytest.mark.parametrize("name", [n for n, c in CLASSES.items() if "Base" not in n and n not in ("IUpdater", "RatedUpdater")])
def test_defaults(name: str) -> None:
    found = {n: v for n, v in defaults(CLASSES[name]).items() if v is not None or n in DEFAULTS.get(name, ())}
    assert found == DEFAULTS.get(name, {})


def test_only_these_are_named() -> None:
    assert set(DEFAULTS) <= set(CLASSES)
