"""Checking updaters, schedules and evaluations, one's own or built in."""
from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection
from itertools import product
from typing import Any

import numpy as np

from ...samediff.base.user_code.check_report import CheckFailure, CheckReport, require_instance
from ...samediff.errors import ConfigurationError, DL4PyError
from ...samediff.evaluation.base import BaseEvaluation
from ...samediff.expressions.arrays import xp
from ...samediff.graph.child_process import in_child, in_copy, possible
from ...samediff.training.updaters.kernel import UpdateKernel, UpdateRule
from ...samediff.training.updaters.schedules import ExponentialSchedule, Schedule
from ...samediff.training.updaters.updater import IUpdater
from .check_options import is_foreign, options_check
from .check_parts import close, configuration_checks

__all__ = ["check_evaluation", "check_schedule", "check_updater"]

_STEPS = 5
#: Iterations and epochs of long trainings.
_LATE = [(10 ** n, 10 ** (n - 3)) for n in (5, 6, 7)]
#: No rate, probability or momentum is larger.
_LARGEST = 1e6


@in_child
def check_updater(updater: IUpdater, *, steps: int = 200, seed: int = 0, allow: Collection[str] = ()) -> CheckReport:
    """Check an updater: configuration, its step by NumPy and compiled, state, both floating types, and that it descends.

    Parameters
    ----------
    updater : IUpdater
        What to check.
    steps : int
        So many steps down a bowl are to lower it; its rate should be one that can.
    seed : int
        Of gradients and the point where the descent starts.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import check_updater
    >>> from dl4py.samediff.training import Adam
    >>> check_updater(Adam(0.1)).passed
    True
    """
    require_instance("check_updater", updater, IUpdater, "Adam(0.1)")
    report = CheckReport(f"updater {type(updater).__name__}")
    configuration_checks(report, updater)
    if report.run("step", lambda: _step(updater)):
        gradients = np.random.default_rng(seed).normal(size=(_STEPS, 6))
        wanted: list[Any] = []

        def by_numpy() -> None:
            wanted.append(_run(updater, gradients, np.float64, True))
            if not np.isfinite(wanted[0]).all():
                raise CheckFailure("a few steps with gradients near 1 give parameters or states that are not finite: look for a root or "
                                   "logarithm of what may be negative, and for a division by 0")
            again = _run(updater, gradients, np.float64, True)
            close(again, wanted[0], "the same steps once more; what an updater learns is in its state")

        def compiled() -> str:
            if updater.sees_parameters():
                return "sees whole parameters: by NumPy"
            return f"largest difference {close(_run(updater, gradients, np.float64, False), wanted[0], 'compiled and by NumPy'):.1g}"

        def loaded() -> None:
            again = type(updater).from_json(updater.to_json())
            close(_run(again, gradients, np.float64, True), wanted[0], "steps after JSON")

        def single() -> str:
            return f"largest difference {close(_run(updater, gradients, np.float32, False), wanted[0], 'float32 and float64', 1e-4):.1g}"

        if report.run("steps do not depend on other steps", by_numpy):
            report.run("compiled step", compiled)
            report.run("the same after JSON", loaded)
            report.run("float32", single)
        if updater.state_names:
            report.run("states", lambda: _states(updater, gradients))
        report.run("gradients of any size", lambda: _any_size(updater))
        if updater.sees_parameters():
            report.run("parameters at 0", lambda: _from_zero(updater))
        report.run("learning rate", lambda: _rate(updater, gradients))
        report.run("descends", lambda: _descends(updater, steps, seed))
        options_check(report, updater, lambda made: [_run(made, by * gradients, np.float64, True, start) for by in (1, 100)
                                                     for start in (0, 500)])
    return report.permit(allow)


def _arrays(updater: IUpdater, dtype: Any, params: Any) -> tuple[Any, Any, list[Any]]:
    state = [np.full(params.shape, v, dtype) for v in updater.state_init()]
    return params.astype(dtype), np.zeros(params.shape, dtype), state


def _run(updater: IUpdater, gradients: Any, dtype: Any, reference: bool, start: int = 0, raised: int = -1) -> Any:
    """Parameters and state after steps with given gradients; ``raised`` is the number of a state that starts higher."""
    params, gradient, state = _arrays(updater, dtype, np.linspace(-1, 2, gradients.shape[1]))
    if raised >= 0:
        state[raised] += 0.5
    kernel = UpdateKernel(UpdateRule(updater), params, gradient, state, reference)
    with np.errstate(all="ignore"):
        for i, g in enumerate(gradients):
            gradient[...] = g
            kernel(start + i, start // 50)
    return np.array([params, *state], np.float64)


def _step(updater: IUpdater) -> str:
    """The step takes arrays that cannot be written and gives arrays of their shape; it can be traced."""
    gradient, names = np.array([0.5, -1.0, 0.0]), updater.state_names
    init = updater.state_init()
    if len(init) != len(names):
        raise CheckFailure(f"state_init gives {len(init)} numbers for the states {', '.join(names) or '(none)'}")
    state = tuple(np.full(3, v) for v in init)
    param = np.array([1.0, 2.0, 0.5])
    for a in (gradient, param, *state):
        a.flags.writeable = False
    calls: list[tuple[str, str, tuple[Any, ...]]] = [("step", "gradient or state", (gradient, state, updater.hyper(0, 0)))]
    if updater.sees_parameters():
        calls += [(name, "what it is given", (param, gradient)) for name in ("before_step", "after_step")]
    for name, what, given in calls:
        try:
            with np.errstate(all="ignore"):
                getattr(updater, name)(xp, *given)
        except (ValueError, IndexError) as error:
            if "read-only" in str(error):
                raise CheckFailure(f"{name} writes to {what} ({error}); it returns new arrays") from error
            if name == "step" or isinstance(error, DL4PyError):
                raise
            raise CheckFailure(f"{name} fails for a parameter of shape {param.shape}: {type(error).__name__}: {error}. It is given each "
                               "one in its own shape, biases too: sum over all of it, or look at param.ndim") from error
    _run(updater, np.ones((1, 6)), np.float64, False)
    return f"states {', '.join(names) or 'none'}"


def _states(updater: IUpdater, gradients: Any) -> str:
    """Each state is changed by steps, and something of it goes into them."""
    before = [np.full(gradients.shape[1], v, np.float64) for v in updater.state_init()]
    params, *after = _run(updater, gradients, np.float64, True)
    still = [name for name, a, b in zip(updater.state_names, before, after) if np.array_equal(a, b)]
    if still:
        raise CheckFailure(f"{', '.join(still)} never changes: step returns the update and the new states, (update, (state, ...))")
    unread = [name for k, name in enumerate(updater.state_names)
              if np.array_equal(_run(updater, gradients, np.float64, True, raised=k)[0], params)]
    if unread:
        raise CheckFailure(f"whatever {', '.join(unread)} is, parameters are the same after {_STEPS} steps: use it, or leave it out")
    return ", ".join(updater.state_names)


def _any_size(updater: IUpdater) -> None:
    for i in (10 ** 4, 10 ** 6):
        numbers = updater.hyper(i, i // 1000)
        if not np.isfinite(np.asarray(numbers, np.float64)).all():
            raise CheckFailure(f"hyper({i}, {i // 1000}) gives {numbers}")
    for dtype, size in product((np.float64, np.float32), (0.0, 1e-20, 1e4)):
        if not np.isfinite(_run(updater, np.full((_STEPS, 6), size), dtype, True)).all():
            raise CheckFailure(f"gradients of {size:g} in {np.dtype(dtype).name} give parameters or states that are not finite: divide by "
                               "a number that is never 0, such as 1e-8 more")


def _from_zero(updater: IUpdater) -> None:
    """Parameters that start at 0, as biases do, are moved."""
    params, gradient, state = _arrays(updater, np.float64, np.zeros(6))
    kernel = UpdateKernel(UpdateRule(updater), params, gradient, state, True)
    for i in range(_STEPS):
        gradient[...] = 1.0
        kernel(i, 0)
    if not params.any():
        raise CheckFailure("parameters that start at 0, as biases do, stay there: their norm is 0, and so is the step. Take a ratio of 1 "
                           "where it is")


def _rate(updater: IUpdater, gradients: Any) -> str:
    if not updater.has_learning_rate():
        return "none"
    rate = updater.get_learning_rate(0, 0)
    if not math.isfinite(rate):
        raise CheckFailure(f"get_learning_rate(0, 0) is {rate}")
    with_rate = getattr(updater, "with_learning_rate", None)
    made = [] if with_rate is None else [_run(with_rate(r), gradients[:1], np.float64, True) for r in (rate, 2 * rate)]
    if made and np.array_equal(*made):
        raise CheckFailure("twice the learning rate makes the same step; step is given it as hyper[0]")
    try:
        scheduled = None if with_rate is None else with_rate(ExponentialSchedule("ITERATION", rate, 0.5))
    except ConfigurationError:          # it takes numbers alone, and says so
        scheduled = None
    if with_rate is not None and scheduled is not None:
        planned = _run(scheduled, gradients[:1], np.float64, True, start=1)
        if not np.array_equal(planned, _run(with_rate(rate / 2), gradients[:1], np.float64, True, start=1), equal_nan=True):
            raise CheckFailure("a schedule as the learning rate does not make the steps of its values: step is given the present one as "
                               "hyper[0]; the attribute is NaN then")
    return f"{rate:g}"


def _descends(updater: IUpdater, steps: int, seed: int) -> str:
    """Down f(w) = |w|^2 / 2, whose gradient is w."""
    params, gradient, state = _arrays(updater, np.float64, np.random.default_rng(seed).normal(size=8))
    before = float((params ** 2).sum() / 2)
    kernel = UpdateKernel(UpdateRule(updater), params, gradient, state, True)
    for i in range(steps):
        gradient[...] = params
        kernel(i, 0)
    after = float((params ** 2).sum() / 2)
    if not after < before and updater.state_size(1) + len(updater.hyper(0, 0)):
        raise CheckFailure(f"{steps} steps down |w|^2 / 2 lead from {before:.3g} to {after:.3g}: parameters change by -update")
    return f"from {before:.3g} to {after:.3g} in {steps} steps"


@in_child
def check_schedule(schedule: Schedule, *, iterations: int = 1000, epochs: int = 20, allow: Collection[str] = ()) -> CheckReport:
    """Check a schedule: configuration, and values that are finite, not negative and the same whenever they are asked for.

    Parameters
    ----------
    schedule : Schedule
        What to check.
    iterations, epochs : int
        So many iterations, spread evenly over so many epochs, are asked for their values.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import check_schedule
    >>> from dl4py.samediff.training import ExponentialSchedule
    >>> check_schedule(ExponentialSchedule("ITERATION", 0.1, 0.9)).passed
    True
    """
    require_instance("check_schedule", schedule, Schedule, "FixedSchedule(0.1)")
    report = CheckReport(f"schedule {type(schedule).__name__}")
    configuration_checks(report, schedule)
    places = [(i, min(i * epochs // iterations, epochs)) for i in range(iterations)]
    found: list[float] = []

    def value_at(i: int, e: int) -> float:
        value = schedule.value_at(i, e)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
            raise CheckFailure(f"value_at({i}, {e}) is {value!r}")
        return float(value)

    def values() -> str:
        found.extend(value_at(i, e) for i, e in places)
        return f"from {found[0]:.3g} to {found[-1]:.3g}"

    def later() -> str:
        """Long trainings, with which an author does not try it."""
        last = [(place, value_at(*place)) for place in _LATE]
        for place, value in last:
            if value < 0 <= min(found):
                raise CheckFailure(f"value_at{place} is {value:.3g}: end with max(0.0, ...), or hold the last value")
            if value > _LARGEST:
                raise CheckFailure(f"value_at{place} is {value:.3g}, after {found[0]:.3g} at first: end with min(..., the largest rate)")
        return f"{last[-1][1]:.3g}"

    def negative() -> None:
        if min(found) < 0:
            i = int(np.argmin(found))
            raise CheckFailure(f"value_at{places[i]} is {found[i]:.3g}")

    def repeated(other: Schedule) -> None:
        again = [float(other.value_at(i, e)) for i, e in reversed(places)]
        different = [p for p, a, b in zip(reversed(places), again, reversed(found)) if a != b]
        if different:
            raise CheckFailure(f"value_at{different[0]} gives another value when it is asked again: a schedule counts nothing itself")
        if early:
            raise CheckFailure(early)

    def first_asked() -> str:
        """What is wrong where one of two values is asked for first, each in a process of its own."""
        def asked(*order: tuple[int, int]) -> list[float] | None:
            try:
                return [value_at(*p) for p in order]
            except Exception:       # other checks say so
                return None
        ends = places[-1], places[0]
        one, two = in_copy(lambda: asked(*ends)), in_copy(lambda: asked(*ends[::-1]))
        return "" if one is None or two is None or one == two[::-1] else (
            f"value_at{ends[0]} is {one[0]:.6g} where it is asked for first, and {two[1]:.6g} after value_at{ends[1]}: a schedule keeps "
            "nothing")

    def marks(made: Schedule) -> list[Any]:
        return [np.array([made.value_at(i, e) for i, e in places], np.float64)]

    early = first_asked() if is_foreign(schedule) and possible() else ""     # first of all: what was asked before may be what decides
    if report.run("values", values):
        report.run("not negative", negative)
        report.run("later iterations", later)
        report.run("values do not depend on each other", lambda: repeated(schedule))
        report.run("the same after JSON", lambda: repeated(type(schedule).from_json(schedule.to_json())))
        options_check(report, schedule, marks)
    return report.permit(allow)


def _same_text(a: str, b: str) -> bool:
    """Whether texts are equal but for the last digits of numbers: sums in another order differ there."""
    number = r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?"
    if re.sub(number, "#", a).split() != re.sub(number, "#", b).split():
        return False
    first, second = ([float(n) for n in re.findall(number, text)] for text in (a, b))
    return bool(np.allclose(first, second, 1e-6, 1e-9))


@in_child
def check_evaluation(evaluation: BaseEvaluation, labels: Any, predictions: Any, *, allow: Collection[str] = ()) -> CheckReport:
    """Check an evaluation: batches, merging, masks, forgetting, JSON.

    Parameters
    ----------
    evaluation : BaseEvaluation
        What to check, without counts; it stays as it is.
    labels, predictions : array
        (batch, outputs), four rows or more.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.layers import check_evaluation
    >>> from dl4py.samediff.evaluation import RegressionEvaluation
    >>> y = np.arange(8.0).reshape(4, 2)
    >>> check_evaluation(RegressionEvaluation(), y, y + 0.5).passed
    True
    """
    require_instance("check_evaluation", evaluation, BaseEvaluation, "Evaluation()")
    report = CheckReport(f"evaluation {type(evaluation).__name__}")
    y, p = np.array(labels, np.float64), np.array(predictions, np.float64)
    for given in (y, p):
        given.flags.writeable = False
    half = max(1, len(y) // 2 - 1)          # batches of different sizes

    def counted(*parts: Any, mask: Any = None) -> BaseEvaluation:
        made = copy.deepcopy(evaluation)
        for part in parts:
            made.eval(y[part], p[part], None if mask is None else mask[part])
        return made

    everything = slice(None)

    def alike(made: BaseEvaluation, wanted: BaseEvaluation, what: str) -> None:
        if not _same_text(made.stats(), wanted.stats()):
            raise CheckFailure(f"{what}: {made.stats().strip()[:200]!r} and {wanted.stats().strip()[:200]!r}")

    def in_batches() -> None:
        alike(counted(slice(None, half), slice(half, None)), counted(everything), "two batches and one differ")

    def merged() -> None:
        made, other = counted(slice(None, half)), counted(slice(half, None))
        before = other.stats()
        made.merge(other)
        alike(made, counted(everything), "two merged halves and the whole differ")
        empty = counted()
        empty.merge(other)
        alike(empty, other, "one without counts that is merged with another differs from it")
        for one in (made, empty):
            one.eval(y, p)
        alike(made, counted(everything, everything), "two merged halves that count on and the whole that does so differ")
        if other.stats() != before:
            raise CheckFailure("what is counted after merge is counted by the merged evaluation too: merge copies lists and arrays")

    def ordered() -> None:
        backwards = slice(None, None, -1)
        alike(counted(backwards), counted(everything), "rows in another order give something else")

    def masked() -> None:
        mask = np.ones((len(y), 1))
        mask[half:] = 0
        alike(counted(everything, mask=mask), counted(slice(None, half)), "masked rows are counted")

    def masked_outputs() -> str:
        mask = np.ones(y.shape)
        mask[:half, -1] = 0
        made, other = copy.deepcopy(evaluation), copy.deepcopy(evaluation)
        try:
            made.eval(y, p, mask)
            other.eval(np.where(mask == 0, y[::-1], y), np.where(mask == 0, 1 - p, p), mask)
        except DL4PyError:          # it says itself that it takes none
            return "refused"
        alike(other, made, "masked outputs are counted (rows.mask is 0 there)")
        return ""

    def forgotten() -> None:
        made = counted(everything)
        made.reset()
        made.eval(y[:half], p[:half])
        alike(made, counted(slice(None, half)), "reset does not forget everything")

    def loaded() -> None:
        made = counted(everything)
        again = type(made).from_json(made.to_json())
        if type(again) is not type(made):
            raise CheckFailure(f"JSON comes back as {type(again).__name__}")
        alike(again, made, "after JSON")
        try:
            again.eval(y, p)
        except DL4PyError:          # what is saved need not be enough to go on
            return
        alike(again, counted(everything, everything), "after JSON and another batch")

    def apart() -> None:
        made, labels, predictions = copy.deepcopy(evaluation), y.copy(), p.copy()
        made.eval(labels, predictions)
        for a in (labels, predictions):
            a[...] = a[::-1] * 3 + 1
        alike(made, counted(everything), "what is counted changes with the arrays, which callers use again: keep numbers or copies")

    def empty() -> None:
        try:
            copy.deepcopy(evaluation).stats()
        except DL4PyError:          # it says itself that there is nothing yet
            return
        except Exception as error:
            raise CheckFailure(f"stats() before anything is counted raises {type(error).__name__}: {error}. Divide by max(n, 1), or say "
                               "what is missing: raise self.error(...)") from error

    def unchanged() -> str:
        try:
            made = counted(everything)
        except ValueError as error:
            if "read-only" in str(error):
                raise CheckFailure(f"labels or predictions are written to ({error}); work on copies") from error
            raise
        made.stats()
        alike(made, counted(everything), "asking for stats changes the counts")
        return ""

    if report.run("counts", unchanged):
        report.run("before anything is counted", empty)
        report.run("batches", in_batches)
        report.run("merge", merged)
        report.run("order of rows", ordered)
        report.run("arrays that are used again", apart)
        if report.run("masks", masked):
            report.run("masks of outputs", masked_outputs)
        report.run("reset", forgotten)
        report.run("survives JSON", loaded)
    return report.permit(allow)
