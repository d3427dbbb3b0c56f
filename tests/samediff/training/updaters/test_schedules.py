"""Schedules: recorded values, JSON, bad options."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, NumericalError
from dl4py.samediff.training import (
    CycleSchedule,
    ExponentialSchedule,
    FixedSchedule,
    InverseSchedule,
    MapSchedule,
    PolySchedule,
    RampSchedule,
    Schedule,
    ScheduleType,
    SigmoidSchedule,
    StepSchedule,
    value_of,
)

GOLDEN = Path(__file__).parents[3] / "golden" / "training" / "schedules"
CASES = [(case, s["name"], s["json"]) for case in ("value_at_epoch", "value_at_iteration")
         for s in json.loads((GOLDEN / case / "case.json").read_text())["schedules"] if not s["error"]]


@pytest.mark.parametrize(("case", "name", "text"), CASES, ids=[f"{c}-{n}" for c, n, _ in CASES])
def test_recorded_values(case: str, name: str, text: str) -> None:
    arrays = np.load(GOLDEN / case / "arrays.npz")
    schedule = Schedule.from_json(text)
    assert json.loads(schedule.to_json()) == json.loads(text)
    np.testing.assert_allclose([schedule.value_at(k, k // 4) for k in range(41)], arrays[name], rtol=1e-14)
    np.testing.assert_allclose([schedule.value_at(100, k) for k in range(41)], arrays[name + "_epochs"], rtol=1e-14)


def test_short_cycle_by_position_and_by_name() -> None:
    short = CycleSchedule(ScheduleType.EPOCH, 0.5, 12)
    assert short == CycleSchedule(schedule_type="EPOCH", max_learning_rate=0.5, cycle_length=12)
    assert (short.initial_learning_rate, short.annealing_length, short.step_size) == (0.05, 1, 5)
    with pytest.raises(ConfigurationError, match="cycle_length"):
        CycleSchedule(ScheduleType.EPOCH, 0.5, 1)
    with pytest.raises(ConfigurationError, match="max_learning_rate"):
        CycleSchedule(ScheduleType.EPOCH)


def test_map_needs_position_zero_and_has_a_builder() -> None:
    built = MapSchedule.Builder(ScheduleType.EPOCH).add(5, 0.2).add(0, 0.1).build()
    assert built == MapSchedule(ScheduleType.EPOCH, {0: 0.1, 5: 0.2})
    with pytest.raises(ConfigurationError, match="position 0"):
        MapSchedule(ScheduleType.EPOCH, {1: 0.1})


def test_numbers_stand_for_fixed_schedules() -> None:
    assert RampSchedule(0.5, 4).base_schedule == FixedSchedule(0.5)
    assert value_of(0.25, 1, 1) == 0.25
    assert value_of(StepSchedule("ITERATION", 1.0, 0.5, 2), 4, 0) == 0.25


def test_wrong_schedule_type() -> None:
    with pytest.raises(ConfigurationError, match="ScheduleType"):
        StepSchedule("STEPS", 1.0, 0.5, 2)


def test_user_schedule() -> None:
    class Half(Schedule):
        def value_at(self, iteration: int, epoch: int) -> float:
            return 0.5

    assert value_of(Half(), 0, 0) == 0.5


@pytest.mark.parametrize("schedule", [
    StepSchedule("EPOCH", 0.1, 0.5, 0), ExponentialSchedule("EPOCH", 0.1, 1e300), InverseSchedule("EPOCH", 0.1, 1e300, 5.0),
    PolySchedule("EPOCH", 0.1, 2e9, 10), SigmoidSchedule("EPOCH", 0.1, 1e300, 10)])
def test_values_beyond_all_numbers(schedule):
    with pytest.raises(NumericalError, match=r"Schedule\(.*has no value at 5"):
        schedule.value_at(0, 5)


@pytest.mark.parametrize("values", [{0: None}, {0: "a"}, {0: [1]}, {"a": 1.0}])
def test_maps_of_no_numbers(values):
    with pytest.raises(ConfigurationError, match="MapSchedule|whole number"):
        MapSchedule("EPOCH", values)
