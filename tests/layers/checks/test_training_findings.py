"""Configurations, schedules, updaters and evaluations that are wrong in one way: the check of that name finds it, and no other."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import check_evaluation, check_schedule, check_updater
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.evaluation import BaseEvaluation, RegressionEvaluation
from dl4py.samediff.graph import child_process
from dl4py.samediff.training import FixedSchedule, RatedUpdater, Schedule
from tests.layers.checks.findings import found, hiding, made, numbers, only

# Configurations

def configured(top=0.3, **body):
    return made(Schedule, ("top",), top=0.1, value_at=lambda self, i, e: 0.2 if self.top > 10 else 0.1, **body)(top=top)


def built(shift):
    class Builder:
        """A builder that is ``shift`` off."""

        def top(self, value):
            self.value = value
            return self

        def build(self):
            return self.made(**({"top": self.value + shift} if hasattr(self, "value") else {}))
    return Builder


CONFIGURATIONS = [
    ({}, None, ""), ({"to_json": lambda self: Schedule.to_json(self.replace(top=0.5))}, "survives JSON", "top=0.3"),
    ({"to_yaml": lambda self: Schedule.to_yaml(self.replace(top=0.5))}, "survives YAML", "came back as"),
    ({"from_json": classmethod(lambda cls, text: FixedSchedule(0.1)), "__eq__": lambda self, other: True, "__hash__": None},
     "survives JSON", "FixedSchedule"),
    ({"__eq__": lambda self, other: type(other) is type(self), "__hash__": None}, "options have an effect", "__eq__ looks at every option"),
    ({"replace": lambda self, **changes: Schedule.replace(self, **{"top": 0.5, **changes})}, "builder and copy are equal", "top=0.5"),
    ({"Builder": None}, None, "")]


@pytest.mark.parametrize("body, name, text", CONFIGURATIONS)
def test_configurations(body, name, text):
    also = ["options have an effect"] if name == "survives JSON" and "__eq__" in body else []
    only(check_schedule(configured(**body), iterations=4), name, text, also)


@pytest.mark.parametrize(("shift", "top", "name"), [(0.0, 0.3, None), (1.0, 0.3, "builder and copy are equal"), (1.0, 0.1, None)])
def test_builders(shift, top, name):
    """Options that are as by default need not be said."""
    one = configured(top)
    type(one).Builder = built(shift)
    type(one).Builder.made = type(one)
    only(check_schedule(one, iterations=4), name, "top=1.3")


def test_builders_of_what_needs_arguments():
    cls = made(Schedule, value_at=lambda self, i, e: self.top, __annotations__={"top": float})
    only(check_schedule(cls(0.3), iterations=4), None, "")
    cls.Builder = built(1.0)
    cls.Builder.made = cls
    only(check_schedule(cls(0.3), iterations=4), "builder and copy are equal", "top=1.3")


# Schedules

@pytest.mark.parametrize(("iterations", "epochs", "places"), [
    (5, 2, [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)]), (4, 20, [(0, 0), (1, 5), (2, 10), (3, 15)]), (2, 1, [(0, 0), (1, 0)]),
    (1, 3, [(0, 0)])])
def test_schedules_are_asked_forwards_and_backwards(iterations, epochs, places, monkeypatch):
    monkeypatch.setattr(child_process, "possible", lambda: False)       # what a child has seen stays there
    seen = []
    one = made(Schedule, value_at=lambda self, i, e: seen.append((i, e)) or 0.1)()
    only(check_schedule(one, iterations=iterations, epochs=epochs), None, "")
    late = [(100_000, 100), (1_000_000, 1000), (10_000_000, 10_000)]
    wanted = places + late + places[::-1] + places[::-1]
    assert seen[:len(wanted)] == wanted


def lasting(*values):
    """A value for each place, whatever was asked before."""
    return lambda self, i, e: values[min(i, len(values) - 1)]


SCHEDULES = [
    (lasting(1, np.float32(2), 0.0), None, "from 1 to 0"), (lasting(0.1, True, 0.1), "values", "value_at(1, 6) is True"),
    (lasting(0.1, 0.1, float("inf")), "values", "value_at(2, 13) is inf"),
    (lasting(0.1, None, 0.1), "values", "returned None; a number was expected"),
    (lasting(0.1, -1e-9, -0.5), "not negative", "value_at(2, 13) is -0.5"),
    (lasting(float("nan"), 0, 0), "values", "value_at(0, 0) is nan"),
    (lasting(0.1, 0.1, 2e6), "later iterations", "is 2e+06, after 0.1 at first: end with min")]


@pytest.mark.parametrize("value_at, name, text", SCHEDULES)
def test_schedules(value_at, name, text):
    report = check_schedule(made(Schedule, value_at=value_at)(), iterations=3)
    only(report, name, text)
    assert name or {c.name: c.detail for c in report.checks}["values"] == text


def test_schedules_that_count_or_forget():
    text = "value_at(2, 13) gives another value"
    only(check_schedule(made(Schedule, value_at=lambda self, i, e: 0.1 * next(numbers))(), iterations=3),
         "values do not depend on each other", text, ["the same after JSON"])
    forgets = made(Schedule, __init__=hiding(Schedule, 0.3), value_at=lambda self, i, e: getattr(self, "_value", 0.1))
    only(check_schedule(forgets(), iterations=3), "the same after JSON", text)


# Updaters

def updater(**body):
    return made(RatedUpdater, ("learning_rate",), **{"learning_rate": 0.1, "step": lambda self, xp, g, s, h: (h[0] * g, ()), **body})()


def averaging(self, xp, g, s, h):
    mean = 0.5 * s[0] + g
    return h[0] * mean, (mean,)


STATE = {"state_names": ("M",), "state_init": lambda self: (0.0,)}


def writes_state(self, xp, g, s, h):
    if isinstance(s[0], np.ndarray):
        s[0][...] = 0
    return h[0] * g, s


def raises(error):
    def step(self, xp, g, s, h):
        raise error
    return step


UPDATERS = [
    ({}, None, ""), ({**STATE, "step": averaging}, None, ""),
    ({**STATE, "state_init": lambda self: (), "step": averaging}, "step", "a number for each of state_names ('M',) was expected"),
    ({"state_init": lambda self: (0.0,)}, "step", "a number for each of state_names () was expected"),
    ({**STATE, "step": writes_state}, "step", "step writes to gradient or state"),
    ({"step": raises(ValueError("mine"))}, "step", "ValueError: mine"),
    ({"step": lambda self, xp, g, s, h: (h[0] * ((g + 1e10) - 1e10), ())}, "float32", "float32 and float64"),
    *(({"step": lambda self, xp, g, s, h, where=where: (h[0] * xp.where(where(xp.abs(g)), g / (g * 0), g), ())},
       "gradients of any size", text) for where, text in (
           (lambda a: a < 1e-25, "gradients of 0 in float64 give"), (lambda a: (a < 1e-15) & (a > 1e-25), "of 1e-20 in float64 give"),
           (lambda a: a > 1e3, "of 10000 in float64 give"))),
    ({"step": lambda self, xp, g, s, h: (h[0] * g / (xp.sqrt(g * g) + 1e-46), ())}, "gradients of any size",
     "of 0 in float32 give"),
    ({"step": lambda self, xp, g, s, h: (-h[0] * g, ())}, "descends", "200 steps down |w|^2 / 2 lead from"),
    ({"step": lambda self, xp, g, s, h: (xp.sign(g) * h[0], ())}, None, ""),
    ({"before_step": lambda self, xp, p, g: g / (1 + (g * g).sum(axis=1, keepdims=True))}, "step", "in its own shape, biases too"),
    ({"before_step": lambda self, xp, p, g: g * xp.sqrt((p * p).sum())}, "parameters at 0", "start at 0, as biases do, stay there"),
    ({"before_step": lambda self, xp, p, g: g * xp.sqrt((p * p).sum() + 1e-6)}, None, ""),
    ({"after_step": lambda self, xp, p, u: u.mean(keepdims=True)}, "step", "shape (1,) for a parameter of shape (3,)"),
    ({"after_step": lambda self, xp, p, u: None}, "step", "returned None")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body, name, text", UPDATERS)
def test_updaters(body, name, text):
    only(check_updater(updater(**body)), name, text)


def test_rates_of_updaters():
    told = {c.name: c.detail for c in check_updater(updater()).checks}
    assert told["learning rate"] == "0.1" and told["step"] == "states none"
    assert {c.name: c.detail for c in check_updater(updater(**STATE, step=averaging)).checks}["step"] == "states M"
    endless = updater(get_learning_rate=lambda self, i, e: float("inf"))
    assert found(check_updater(endless))["learning rate"] == "get_learning_rate(0, 0) is inf"
    assert "hyper[0]" in found(check_updater(updater(step=lambda self, xp, g, s, h: (0.1 * g, ()))))["learning rate"]
    assert {c.name: c.detail for c in check_updater(updater(has_learning_rate=lambda self: False)).checks}["learning rate"] == "none"


def test_steps_that_are_not_finite():
    roots = updater(**STATE, step=lambda self, xp, g, s, h: (h[0] * g * xp.sqrt(s[0]), (s[0] - 1,)))
    with np.errstate(all="ignore"):
        assert "states that are not finite" in found(check_updater(roots))["steps do not depend on other steps"]


def test_few_steps_may_be_too_few():
    """A rate that is far too large for the first steps, and comes down."""
    waits = {**STATE, "step": lambda self, xp, g, s, h: (xp.where(s[0] < 5, -0.1 * h[0] * g, h[0] * g), (s[0] + 1,))}
    for steps, early in ((5, True), (40, False)):
        assert ("descends" in found(check_updater(updater(**waits), steps=steps))) == early


# Evaluations

PREDICTED = np.array([[1.0, 2], [3, 5], [4, 4], [0, 1]])
WANTED = PREDICTED + [[0.5, 0], [0, -1], [1, 1], [0.25, 0]]


def evaluation(**body):
    return type(f"Found{next(numbers)}", (RegressionEvaluation,), body, name=f"test_findings.Evaluation{next(numbers)}")()


def spoils(labels, predictions, which):
    (labels if which == "labels" else predictions)[...] += 1


BASE = RegressionEvaluation
EVALUATIONS = [
    ({}, None, ""),
    ({"eval": lambda self, y, p, mask=None: (BASE.eval(self, y, p, mask), y.__iadd__(0.5))[0]}, "counts", "labels or predictions are"),
    ({"eval": lambda self, y, p, mask=None: (BASE.eval(self, y, p, mask), p.__iadd__(0.5))[0]}, "counts", "work on copies"),
    ({"eval": lambda self, y, p, mask=None: BASE.eval(self, y[:3], p[:3], None if mask is None else mask[:3])}, "batches", "two batches"),
    ({"merge": lambda self, other: None}, "merge", "two merged halves and the whole differ"),
    ({"eval": lambda self, y, p, mask=None: BASE.eval(self, y, p)}, "masks", "masked rows are counted"),
    ({"reset": lambda self: None}, "reset", "reset does not forget everything"),
    ({"to_json": lambda self: type(self)().__class__.__mro__[1].to_json(type(self)())}, "survives JSON", "after JSON")]


@pytest.mark.parametrize("body, name, text", EVALUATIONS)
def test_evaluations(body, name, text):
    report = check_evaluation(evaluation(**body), WANTED.copy(), PREDICTED.copy())
    assert name in found(report) if name else report.passed, report
    assert not name or text in found(report)[name]
    assert not found(report).keys() - {name, *(("merge", "order of rows") if name == "batches" else ())}, report


def test_evaluations_of_nothing():
    class Mean(BaseEvaluation, name="test_findings.Mean"):
        def __init__(self):
            self.total, self.rows = 0.0, 0

        def count(self, rows):
            seen = True if rows.mask is None else rows.mask != 0
            self.total, self.rows = self.total + float(rows.predictions.sum(where=seen)), self.rows + len(rows.labels)

        def join(self, other):
            self.total, self.rows = self.total + other.total, self.rows + other.rows

        def reset(self):
            Mean.__init__(self)

        def stats(self):
            return f"{self.total / self.rows:.4f}"
    only(check_evaluation(Mean(), WANTED, PREDICTED), "before anything is counted", "ZeroDivisionError: float division by zero. Divide by")


def test_evaluations_that_keep_what_they_are_given():
    class Keeps(BaseEvaluation, name="test_findings.Keeps"):
        def __init__(self):
            self.errors = []

        def count(self, rows):
            self.errors += list(rows.labels - rows.predictions if self.copies else zip(rows.labels, rows.predictions))

        def join(self, other):
            self.errors += other.errors

        def reset(self):
            self.errors = []

        def stats(self):
            return f"{sum(np.abs(e if self.copies else e[0] - e[1]).sum() for e in self.errors):.6f}"

        def document(self):
            return {"errors": np.asarray(self.errors).tolist()}

        @classmethod
        def restore(cls, document):
            made = cls()
            made.errors = list(np.array(document["errors"]))
            return made
    for copies in (True, False):
        Keeps.copies = copies
        report = check_evaluation(Keeps(), WANTED, PREDICTED, allow={"masks of outputs"})
        assert report.passed if copies else "keep numbers or copies" in found(report)["arrays that are used again"]


def test_evaluations_that_come_back_as_another_class_or_take_no_more():
    other = evaluation(from_json=classmethod(lambda cls, text: BASE.from_json(BASE().to_json())))
    only(check_evaluation(other, WANTED, PREDICTED), "survives JSON", "JSON comes back as RegressionEvaluation")

    def refusing(self, y, p, mask=None):
        if getattr(self, "read", False):
            raise self.error("enough")
        BASE.eval(self, y, p, mask)

    def reading(cls, text):
        made = BASE.from_json.__func__(cls, text)
        made.read = True
        return made
    for error, name in ((ConfigurationError, None), (KeyError, "survives JSON")):
        only(check_evaluation(evaluation(eval=refusing, error=error, from_json=classmethod(reading)), WANTED, PREDICTED), name, "enough")
