"""Every updater with every regularization against formulas that are written out here."""
from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dl4py.samediff import AdaBelief, AdaDelta, AdaGrad, Adam, AdaMax, AMSGrad, Nadam, Nesterovs, NoOp, RmsProp, Sgd
from dl4py.samediff.training import ExponentialSchedule, IUpdater, L1Regularization, L2Regularization, StepSchedule, WeightDecay
from dl4py.samediff.training.updaters.kernel import UpdateKernel, UpdateRule
from dl4py.samediff.training.updaters.updaters import RatedUpdater

RATE, B1, B2 = 0.05, 0.7, 0.9


def by_adam(g, s, t, rate):
    m, v = B1 * s[0] + (1 - B1) * g, B2 * s[1] + (1 - B2) * g * g
    return m, v, rate * np.sqrt(1 - B2 ** (t + 1)) / (1 - B1 ** (t + 1))


def adam(g, s, t, rate):
    m, v, a = by_adam(g, s, t, rate)
    return a * m / (np.sqrt(v) + 0.1), [m, v]


def amsgrad(g, s, t, rate):
    m, v, a = by_adam(g, s, t, rate)
    h = np.maximum(s[2], v)
    return a * m / (np.sqrt(h) + 0.1), [m, v, h]


def adabelief(g, s, t, rate):
    m, _, a = by_adam(g, s, t, rate)
    v = B2 * s[1] + (1 - B2) * (g - m) ** 2 + 0.1
    return a * m / (np.sqrt(v) + 0.1), [m, v]


def adamax(g, s, t, rate):
    m, v = B1 * s[0] + (1 - B1) * g, np.maximum(B2 * s[1], np.abs(g)) + 1e-32
    return rate / (1 - B1 ** (t + 1)) * m / v, [m, v]


def nadam(g, s, t, rate):
    m, v = B1 * s[0] + (1 - B1) * g, B2 * s[1] + (1 - B2) * g * g
    return rate / (1 - B1 ** (t + 1)) * (B1 * m + (1 - B1) * g) / (np.sqrt(v) + 0.1), [m, v]


def nesterovs(g, s, t, rate):
    v = 0.6 * s[0] - rate * g
    return 0.6 * s[0] - 1.6 * v, [v]


def adagrad(g, s, t, rate):
    h = s[0] + g * g
    return rate * g / (np.sqrt(h) + 0.1), [h]


def rmsprop(g, s, t, rate):
    h = 0.8 * s[0] + 0.2 * g * g
    return rate * g / (np.sqrt(h) + 0.1), [h]


def adadelta(g, s, t, rate):
    e = 0.8 * s[0] + 0.2 * g * g
    u = g * np.sqrt(s[1] + 0.1) / np.sqrt(e + 0.1)
    return u, [e, 0.8 * s[1] + 0.2 * u * u]


MOMENTS = {"beta1": B1, "beta2": B2, "epsilon": 0.1}
#: Class, its options besides the rate, what its state starts with, the formula.
UPDATERS = {
    "Sgd": (Sgd, {}, [], lambda g, s, t, rate: (rate * g, [])),
    "NoOp": (NoOp, {}, [], lambda g, s, t, rate: (g, [])),
    "Adam": (Adam, MOMENTS, [0, 0], adam),
    "AMSGrad": (AMSGrad, MOMENTS, [0, 0, 0], amsgrad),
    "AdaBelief": (AdaBelief, MOMENTS, [0, 0], adabelief),
    "AdaMax": (AdaMax, MOMENTS, [0, 0], adamax),
    "Nadam": (Nadam, MOMENTS, [0, 0], nadam),
    "Nesterovs": (Nesterovs, {"momentum": 0.6}, [0], nesterovs),
    "AdaGrad": (AdaGrad, {"epsilon": 0.1}, [1e-6], adagrad),
    "RmsProp": (RmsProp, {"rms_decay": 0.8, "epsilon": 0.1}, [0.1], rmsprop),
    "AdaDelta": (AdaDelta, {"rho": 0.8, "epsilon": 0.1}, [0, 0], adadelta),
}
#: Schedules beside the formulas of what they give in iteration t of epoch e.
RATES = {"fixed": (RATE, lambda t, e: RATE), "iterations": (ExponentialSchedule("ITERATION", RATE, 0.6), lambda t, e: RATE * 0.6 ** t),
         "epochs": (StepSchedule("EPOCH", RATE, 0.6, 2), lambda t, e: RATE * 0.6 ** (e // 2))}
DECAYING, STEADY = (ExponentialSchedule("ITERATION", 0.3, 0.5), lambda t: 0.3 * 0.5 ** t), (0.2, lambda t: 0.2)
TERMS = {"none": [], "l1": [("l1", STEADY)], "l2": [("l2", DECAYING)], "decay": [("decay", STEADY)], "rated decay": [("rated", DECAYING)],
         "l1 and decay": [("l1", DECAYING), ("rated", STEADY)], "decay, then l1": [("decay", DECAYING), ("l1", STEADY)]}
MAKE = {"l1": L1Regularization, "l2": L2Regularization, "decay": lambda c: WeightDecay(c, False), "rated": lambda c: WeightDecay(c, True)}
W, G = np.array([0.5, -2.0, 0.0, 1.5]), np.array([[0.31, -1.07, 0.217, 0.0], [2.03, 0.13, -0.431, 0.57], [-0.61, 0.23, 0.06, 1.01]])


def test_every_updater_has_a_formula():
    assert {c.__name__ for c in (*IUpdater.__subclasses__(), *(d for c in IUpdater.__subclasses__() for d in c.__subclasses__()),
                                 Adam, AMSGrad, AdaBelief, AdaMax, Nadam)
            if c.__module__ == Sgd.__module__ and c is not RatedUpdater and not c.__name__.startswith("_")} == set(UPDATERS)


def made(name, rate, terms):
    kind, options, start, formula = UPDATERS[name]
    rated = name not in ("NoOp", "AdaDelta")
    updater = kind(**options, **({"learning_rate": RATES[rate][0]} if rated else {}))
    assert updater.has_learning_rate() == rated
    return updater, tuple(MAKE[t](c) for t, (c, _) in TERMS[terms]), start, formula, RATES[rate][1] if rated else lambda t, e: 1.0


def by_hand(name, rate, terms, minimize, scale):
    """Parameters and state after a step for each gradient, in iterations 2, 3, ... of epoch 3."""
    _, _, start, formula, present = made(name, rate, terms)
    w, s = W.copy(), [np.full(4, float(v)) for v in start]
    for t, gradient in enumerate(G, 2):
        g, lr = gradient * scale, present(t, 3)
        for kind, (_, c) in TERMS[terms]:
            g = g + {"l1": c(t) * np.sign(w), "l2": c(t) * w}.get(kind, 0.0)
        u, s = formula(g, s, t, lr)
        for kind, (_, c) in TERMS[terms]:
            u = u + {"decay": c(t) * w, "rated": lr * c(t) * w}.get(kind, 0.0)
        w = w - u if minimize else w + u
    return [w, *s]


@pytest.mark.sampled(90)
@pytest.mark.parametrize("reference", [False, True], ids=["compiled", "reference"])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", UPDATERS)
def test_steps(name, rate, reference):
    every = reference or name in ("NoOp", "Adam")               # each compiles a kernel
    for terms, (minimize, scaled) in product(TERMS if every else ("none", "l1 and decay"), ((True, True), (False, False))):
        updater, regularization, start, *_ = made(name, rate, terms)
        w, g, state = W.copy(), np.empty(4), [np.full(4, v) for v in updater.state_init()]
        assert [s[0] for s in state] == start
        rule = UpdateRule(updater, regularization, minimize, scaled)
        kernel = UpdateKernel(rule, w, g, state, reference)
        assert kernel.is_compiled != reference
        for t, gradient in enumerate(G, 2):
            g[:] = gradient
            kernel(t, 3, 0.25)
            np.testing.assert_array_equal(g, gradient)
        for found, wanted in zip([w, *state], by_hand(name, rate, terms, minimize, 0.25 if scaled else 1.0)):
            np.testing.assert_allclose(found, wanted, 1e-12, 1e-15, err_msg=f"{terms}, {minimize=}, {scaled=}")
        ahead = np.array([rule.scalars(t, 3, 0.5) for t in (2, 3, 4)])
        np.testing.assert_array_equal(np.broadcast_to(rule.several([2, 3, 4], 3, 0.5), ahead.shape), ahead)


@pytest.mark.parametrize("name", UPDATERS)
def test_steps_of_half_precision_are_rounded_steps_of_single(name):
    updater, regularization, *_ = made(name, "fixed", "l1 and decay")
    w, g = W.astype(np.float16), np.empty(4, np.float16)
    state = [np.full(4, v, np.float16) for v in updater.state_init()]
    kernel = UpdateKernel(UpdateRule(updater, regularization), w, g, state)
    assert not kernel.is_compiled
    for t, gradient in enumerate(G, 2):
        g[:] = gradient
        kernel(t, 3, 0.25)
    for found, wanted in zip([w, *state], by_hand(name, "fixed", "l1 and decay", True, 0.25)):
        np.testing.assert_allclose(found, wanted, 5e-3, 5e-3)


HALVES = {"Adam": 1e-3, "AMSGrad": 1e-3, "Nadam": 1e-3, "AdaMax": 1e-3, "AdaBelief": 1e-6, "AdaGrad": 1e-3, "RmsProp": 1e-3}


@pytest.mark.parametrize("name", UPDATERS)
def test_only_half_precision_raises_a_small_epsilon(name):
    kind = UPDATERS[name][0]
    plain = kind()
    assert plain.stored_as(np.float32) == plain.stored_as(np.float64) == plain
    least = HALVES.get(name)
    assert plain.stored_as(np.float16) == (plain if least is None else plain.replace(epsilon=least))
    if least is not None:
        for epsilon in (0.0, least / 2, least, 2 * least, -1.0):
            raised = least if 0 <= epsilon < least else epsilon
            assert plain.replace(epsilon=epsilon).stored_as(np.float16).epsilon == raised


@pytest.mark.parametrize("name", UPDATERS)
def test_rates_of_updaters(name):
    kind = UPDATERS[name][0]
    if not kind().has_learning_rate():
        assert np.isnan(kind().get_learning_rate(0, 0))
        return
    schedule = ExponentialSchedule("ITERATION", 0.5, 0.1)
    assert kind(learning_rate=schedule) == kind(learning_rate_schedule=schedule)
    assert np.isnan(kind(learning_rate=schedule).learning_rate)
    assert [kind(learning_rate=schedule).get_learning_rate(t, 7) for t in (0, 1)] == [0.5, 0.05]
    assert kind(learning_rate=schedule).with_learning_rate(0.3) == kind(learning_rate=0.3)
    assert kind(learning_rate=0.3).with_learning_rate(schedule) == kind(learning_rate=schedule)


def test_momentum_follows_a_schedule():
    updater = Nesterovs(0.1, ExponentialSchedule("EPOCH", 0.8, 0.5))
    assert np.isnan(updater.momentum) and updater.hyper(5, 2) == (0.1, 0.2) and updater.current_momentum(5, 1) == 0.4
    assert Nesterovs(0.3).momentum == 0.3 and Nesterovs(StepSchedule("ITERATION", 0.5, 0.5, 1)).momentum == 0.9


@pytest.mark.parametrize("kind", [Adam, AMSGrad, AdaBelief, AdaMax])
@pytest.mark.parametrize("rate", [0.0, float("inf"), float("nan")])
def test_epsilon_takes_the_place_of_factors_that_are_no_use(kind, rate):
    assert kind(learning_rate=rate, epsilon=0.25).hyper(3, 0) == (0.25,)
    np.testing.assert_array_equal(np.ravel(kind(learning_rate=rate, epsilon=0.25).hypers([3, 4], 0)), [0.25, 0.25])
    assert kind(learning_rate=0.5, beta1=1.0, epsilon=0.25).hyper(3, 0) == (0.25,)
