"""Updaters: recorded values, state handling, JSON, bad options."""
from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff import training
from dl4py.samediff.errors import ConfigurationError, ShapeError, UnknownNameError
from dl4py.samediff.expressions.expression import evaluate, trace
from dl4py.samediff.training import (
    AdaBelief,
    AdaDelta,
    AdaGrad,
    Adam,
    AdaMax,
    AMSGrad,
    ExponentialSchedule,
    FixedSchedule,
    IUpdater,
    Nadam,
    Nesterovs,
    NoOp,
    RmsProp,
    ScheduleType,
    Sgd,
    Updater,
)

GOLDEN = Path(__file__).parents[3] / "golden" / "training" / "updater_direct"
ALL = (AMSGrad, AdaBelief, AdaDelta, AdaGrad, AdaMax, Adam, Nadam, Nesterovs, NoOp, RmsProp, Sgd)


def from_text(text: str) -> IUpdater:
    """DL4J's toString, e.g. ``Sgd(learningRate=0.5, learningRateSchedule=null)``."""
    name, inner = text[:-1].split("(", 1)
    pairs = [part.split("=") for part in inner.split(", ") if part]
    fields = {k: float(v) for k, v in pairs if v != "null"}
    return next(c for c in ALL if c.__name__ == name)(**fields)


@pytest.mark.parametrize("case", sorted(p.name for p in GOLDEN.iterdir()))
def test_recorded_updates(case: str) -> None:
    info = json.loads((GOLDEN / case / "case.json").read_text())
    arrays = np.load(GOLDEN / case / "arrays.npz")
    updater = from_text(info["updater"])
    size, dtype = arrays["gradient_0"].size, arrays["gradient_0"].dtype
    assert updater.state_size(size) == info["state_size"]
    state = np.full((1, info["state_size"]), -1, dtype)
    rule = updater.instantiate(state, True)
    # float32: DL4J rounds 1 - 0.999 to float32 before it multiplies, which is 1.3e-5 off
    tolerance = {"rtol": 3e-5, "atol": 0} if dtype == np.float32 else {"rtol": 1e-12, "atol": 0}
    if "state_init" in arrays:
        np.testing.assert_array_equal(state, arrays["state_init"])
    for i in range(6):
        gradient = arrays[f"gradient_{i}"].copy()
        rule.apply_updater(gradient, i, 0)
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient, arrays[f"update_{i}"], **tolerance)
        if f"state_{i}" in arrays:
            np.testing.assert_allclose(state, arrays[f"state_{i}"], **tolerance)


@pytest.mark.parametrize("kind", ALL)
def test_step_keeps_float32_and_does_not_touch_its_inputs(kind: type[IUpdater]) -> None:
    updater = kind()
    gradient = np.array([0.0, 1e-3, -2.0], np.float32)
    state = tuple(np.full(3, value, np.float32) for value in updater.state_init())
    before = [a.copy() for a in (gradient, *state)]
    update, new = updater.step(np, gradient, state, updater.hyper(3, 0))
    assert update.dtype == np.float32
    assert [a.dtype for a in new] == [np.float32] * len(updater.state_names)
    for a, b in zip((gradient, *state), before):
        np.testing.assert_array_equal(a, b)
    assert all(type(h) is float for h in updater.hyper(3, 0))


@pytest.mark.parametrize(("updater", "wanted"), [
    (Adam(beta1=0.7, beta2=0.9), {"M": 0.6, "V": 0.4}), (AMSGrad(beta1=0.7, beta2=0.9), {"M": 0.6, "V": 0.4, "V_HAT": 0.4}),
    (AdaBelief(beta1=0.7, beta2=0.9), {"M": 0.6, "S": 0.196}), (AdaMax(beta1=0.7, beta2=0.9), {"M": 0.6, "V": 2.0}),
    (Nadam(beta1=0.7, beta2=0.9), {"M": 0.6, "V": 0.4}), (Nesterovs(0.5, 0.9), {"V": -1.0}), (RmsProp(rms_decay=0.9), {"G": 0.4}),
    (AdaGrad(), {"grad": 4.0}), (AdaDelta(rho=0.9, epsilon=0.1), {"msg": 0.4, "msdx": 0.08})], ids=lambda u: type(u).__name__)
def test_states_are_named_for_what_they_are(updater, wanted):
    """After one step from nothing with a gradient of 2."""
    rule = updater.instantiate(np.zeros((1, updater.state_size(1))), True)
    rule.apply_updater(np.array([2.0]), 0, 0)
    assert {k: float(np.ravel(v)[0]) for k, v in rule.get_state().items()} == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ALL)
def test_the_rule_can_be_traced_with_its_scalars_as_inputs(kind: type[IUpdater], dtype: type) -> None:
    updater, gradient = kind(), np.array([0.5, 1e-3, -2.0], dtype)
    state = [np.full(3, 0.1, dtype) for _ in updater.state_names]
    hyper = [np.array(h, dtype) for h in updater.hyper(3, 0)]
    inputs = [gradient, *state, *hyper]
    exprs = trace(updater.flat_step, [a.dtype for a in inputs])
    got = evaluate(exprs, np, inputs)
    want = updater.flat_step(np, gradient, *state, *updater.hyper(3, 0))
    assert len(got) == 1 + len(state)
    for a, b in zip(got, want):
        assert np.asarray(a).dtype == dtype
        np.testing.assert_allclose(a, b, rtol=1e-6 if dtype is np.float32 else 1e-15)


@pytest.mark.parametrize("kind", ALL)
def test_json_and_yaml_round_trip(kind: type[IUpdater]) -> None:
    updater = kind()
    assert IUpdater.from_json(updater.to_json()) == updater
    assert IUpdater.from_yaml(updater.to_yaml()) == updater
    assert "null" not in updater.to_json()


def test_schedule_in_place_of_a_rate() -> None:
    schedule = ExponentialSchedule(ScheduleType.EPOCH, 0.5, 0.1)
    by_position, by_name = Adam(schedule), Adam(learning_rate_schedule=schedule)
    assert by_position == by_name
    assert math.isnan(by_position.learning_rate)
    assert by_position.get_learning_rate(99, 1) == pytest.approx(0.05)
    document = json.loads(by_position.to_json())
    assert document["learningRate"] == "NaN"
    assert document["learningRateSchedule"]["@class"] == "org.nd4j.linalg.schedule.ExponentialSchedule"
    assert by_position.with_learning_rate(0.3) == Adam(0.3)
    assert Adam(0.3).with_learning_rate(schedule) == by_position


def test_nesterovs_by_position_as_in_java() -> None:
    assert Nesterovs(0.5) == Nesterovs(learning_rate=0.1, momentum=0.5)
    assert Nesterovs(0.2, 0.5) == Nesterovs(learning_rate=0.2, momentum=0.5)
    moving = Nesterovs(0.2, FixedSchedule(0.7))
    assert moving.hyper(0, 0) == (0.2, 0.7)
    assert json.loads(moving.to_json())["momentum"] == "NaN"


def test_numbers_by_position_follow_the_java_constructor() -> None:
    assert Adam(0.1, 0.8, 0.9, 1e-3) == Adam(learning_rate=0.1, beta1=0.8, beta2=0.9, epsilon=1e-3)
    assert RmsProp(0.1, 0.8, 1e-3) == RmsProp(learning_rate=0.1, rms_decay=0.8, epsilon=1e-3)


def test_builder_in_both_spellings() -> None:
    assert Adam.Builder().learningRate(0.1).beta_1(0.8).build() == Adam(0.1, beta1=0.8)


def test_zero_rate_uses_epsilon_as_factor() -> None:
    assert Adam(0.0).hyper(0, 0) == (1e-8,)
    assert AdaMax(0.0, epsilon=0.5).hyper(0, 0) == (0.5,)
    assert Adam(beta1=1.0).hyper(0, 0) == (1e-8,)


@pytest.mark.parametrize("updater", [*(kind() for kind in ALL), Adam(0.0), Adam(beta1=1.0, epsilon=0.5), Adam(0.3, 0.0, 0.0),
                                     Adam(ExponentialSchedule(ScheduleType.ITERATION, 0.5, 0.9))], ids=str)
def test_scalars_of_several_iterations_have_the_bits_of_each(updater: IUpdater) -> None:
    class Own(type(updater)):  # type: ignore[misc]
        def hyper(self, iteration: int, epoch: int) -> tuple[float, ...]:
            return iteration * 0.5, epoch * 0.5
    for iterations in (range(3), range(400, 464), range(10**6, 10**6 + 2)):
        each = np.array([updater.hyper(i, 1) for i in iterations])
        np.testing.assert_array_equal(np.array(updater.hypers(iterations, 1)), each)
    assert [tuple(h) for h in Own().hypers(range(2), 3)] == [(0.0, 1.5), (0.5, 1.5)]


def test_rates() -> None:
    assert not NoOp().has_learning_rate()
    assert not AdaDelta().has_learning_rate()
    assert math.isnan(AdaDelta().get_learning_rate(0, 0))
    assert Sgd(0.25).has_learning_rate()
    assert AdaGrad().get_learning_rate(0, 0) == 0.1


def test_state_arrays_are_views_in_the_order_of_the_names() -> None:
    state = np.zeros(8)
    rule = Adam().instantiate(state, False)
    rule.get_state()["V"][...] = 5
    np.testing.assert_array_equal(state, [0, 0, 0, 0, 5, 5, 5, 5])
    rule.set_state_view_array(state, (2, 2), "f", True)
    assert rule.get_state()["M"].shape == (2, 2)
    assert not state.any()


def test_hand_set_state() -> None:
    m, v = np.ones(2), np.ones(2)
    rule = Adam().instantiate({"M": m, "V": v})
    rule.apply_updater(np.ones(2), 0, 0)
    np.testing.assert_allclose(m, 1)
    with pytest.raises(UnknownNameError, match="'W'"):
        rule.set_state({"W": m})
    with pytest.raises(ConfigurationError, match="'V'"):
        rule.set_state({"M": m})


def test_bad_state() -> None:
    with pytest.raises(ShapeError, match="M, V"):
        Adam().instantiate(np.zeros(3), True)
    with pytest.raises(ShapeError, match="contiguous"):
        Adam().instantiate(np.zeros((4, 4))[:, :2], True)
    with pytest.raises(ShapeError, match="gradient"):
        Adam().instantiate(np.zeros(4), True).apply_updater(np.zeros(3), 0, 0)
    with pytest.raises(ConfigurationError, match="state"):
        Adam().instantiate(None).apply_updater(np.zeros(3), 0, 0)


def test_misspelt_option() -> None:
    with pytest.raises(ConfigurationError, match="learning_rate"):
        Adam(learning_rat=0.1)


def test_enum_has_the_defaults() -> None:
    assert Updater.ADAM.get_i_updater_with_default_config() == Adam()
    assert Updater.NONE.get_i_updater_with_default_config() == NoOp()
    with pytest.raises(ConfigurationError, match="CUSTOM"):
        Updater.CUSTOM.get_i_updater_with_default_config()


@pytest.mark.parametrize("config", ALL, ids=lambda cls: cls.__name__)
def test_updaters_at_work_have_names(config):
    updater = getattr(training, f"{config.__name__}Updater")(config())
    gradient, other = np.array([[0.5, -2.0]]), np.array([0.5, -2.0])
    updater.set_state_view_array(np.zeros((1, config().state_size(2))), [1, 2], "c", True)
    updater.apply_updater(gradient, 0, 0)
    same = config().instantiate(np.zeros(config().state_size(2)), True)
    same.apply_updater(other, 0, 0)
    np.testing.assert_array_equal(gradient[0], other)
    assert type(same) is type(updater) and updater.get_config() == config()
    with pytest.raises(ConfigurationError, match=f"takes {config.__name__}"):
        type(updater)(NoOp() if config is not NoOp else Sgd())
