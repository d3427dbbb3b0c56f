"""Regularization, updater and weight decay of neighbouring parameters as one loop over flat arrays."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...device.device_memory import to_host
from ...expressions import expression as ex
from ...expressions.arrays import xp as numpy_xp
from ...plans.backend import CompiledLoops, host_backend
from ...plans.loops import LoopProgram, Loops
from .normalization import Normalization
from .regularization import ApplyStep, Regularization
from .updater import IUpdater


@dataclass(frozen=True)
class UpdateRule:
    """The elementwise rule from a gradient to the change of a parameter.

    Parameters
    ----------
    updater : IUpdater
    regularization : tuple of Regularization
    minimize : bool
        False adds the update instead of subtracting it (gradient ascent).
    scaled : bool
        Whether the gradient is divided by the batch size first.
    """

    updater: IUpdater
    regularization: tuple[Regularization, ...] = ()
    minimize: bool = True
    scaled: bool = True

    def scalars(self, iteration: int, epoch: int, scale: float) -> list[float]:
        """The numbers that change from step to step, in the order in which :meth:`step` takes them."""
        return [*self._first(iteration, epoch, scale), *self.updater.hyper(iteration, epoch)]

    def several(self, iterations: Sequence[int], epoch: int, scale: float) -> Any:
        """:meth:`scalars` of several iterations, one row each."""
        first = np.array([self._first(i, epoch, scale) for i in (iterations if self.regularization else iterations[:1])])
        return np.hstack([first.repeat(len(iterations) // len(first), 0), self.updater.hypers(iterations, epoch)])

    def _first(self, iteration: int, epoch: int, scale: float) -> list[float]:
        """The scale, and what regularization takes: the rate and its own coefficients."""
        updater, found = self.updater, [scale if self.scaled else 1.0]
        rated = self.regularization and updater.has_learning_rate()
        found.append(updater.get_learning_rate(iteration, epoch) if rated else 1.0)
        return found + [r.coefficient(iteration, epoch) for r in self.regularization]

    def step(self, xp: Any, param: Any, gradient: Any, *rest: Any) -> tuple[Any, ...]:
        """New parameter, then new state: elementwise, so that it is traced into one kernel."""
        n_state, n_reg = len(self.updater.state_names), len(self.regularization)
        state, (scale, rate), strengths, hyper = rest[:n_state], rest[n_state:n_state + 2], rest[n_state + 2:n_state + 2 + n_reg], \
            rest[n_state + 2 + n_reg:]
        update = gradient * scale
        for r, c in zip(self.regularization, strengths):
            if r.apply_step is ApplyStep.BEFORE_UPDATER:
                update = r.apply(xp, param, update, c, rate)
        update = self.updater.before_step(xp, param, update)
        update, new_state = self.updater.step(xp, update, tuple(state), tuple(hyper))
        for r, c in zip(self.regularization, strengths):
            if r.apply_step is ApplyStep.POST_UPDATER:
                update = r.apply(xp, param, update, c, rate)
        update = self.updater.after_step(xp, param, update)
        return (param - update if self.minimize else param + update, *new_state)


class UpdateKernel:
    """A rule bound to flat arrays: parameters, gradients and state change in place.

    Types of 16 bits are computed in float32 and rounded when they are stored; where the square of a gradient would round
    to 0 in float16, the updater's ``half_epsilon`` keeps the step finite.

    Attributes
    ----------
    arrays : parameters, gradients, then the state
    exprs : the new values of parameters and state
    """

    def __init__(self, rule: UpdateRule, params: Any, gradient: Any, state: Sequence[Any], reference: bool = False) -> None:
        self.rule = rule = replace(rule, updater=rule.updater.stored_as(params.dtype))
        self.arrays = [params, gradient, *state]
        self._wide = np.dtype(np.float32) if params.dtype.itemsize == 2 else params.dtype
        count = len(rule.scalars(0, 0, 1.0))
        self._numbers = np.zeros(count, self._wide)
        self._scalars = [self._numbers[k:k + 1] for k in range(count)]
        self._whole = rule.updater.sees_parameters()
        self.exprs = () if self._whole else ex.trace(rule.step, [self._wide] * (len(self.arrays) + count))
        self._by_numpy = reference or self._whole
        self._programs = CompiledLoops()

    @property
    def is_compiled(self) -> bool:
        """Whether a back end compiles the update to one call on the host."""
        program = self._program()
        return program is not None and program.is_one_call

    def _program(self) -> LoopProgram | None:
        """The rule as a program; None where NumPy does it."""
        found = None if self._by_numpy else self._programs.of(host_backend(), lambda loops: {0: self.compile_for(loops)})
        return None if found is None or not found.made else found

    @property
    def numbers(self) -> Any:
        """The array of the numbers that change from step to step."""
        return self._numbers

    def set_rates(self, iteration: int, epoch: int, scale: float = 1.0) -> None:
        """Work out what changes from step to step."""
        self._numbers[:] = self.rule.scalars(iteration, epoch, scale)

    def rates(self, iterations: Sequence[int], epoch: int, scale: float) -> Any:
        """The numbers of several iterations, as rows."""
        return self.rule.several(iterations, epoch, scale)

    def compile_for(self, loops: Loops) -> Any:
        """The compiled loop that applies the rule to the numbers of :meth:`set_rates`, for a device; None without a compiled form."""
        if self._by_numpy:
            return None
        stored = [ex.cast(ex.input_(i, a.dtype), self._wide) for i, a in enumerate(self.arrays)]
        exprs = [ex.cast(e, a.dtype) for e, a in zip(ex.compose(self.exprs, stored), self.changed)]
        return loops.each(exprs, [*self.arrays, *self._scalars], self.changed)

    @property
    def changed(self) -> list[Any]:
        """The arrays that a step changes: parameters and state."""
        return [self.arrays[0], *self.arrays[2:]]

    def copy_to_host(self) -> None:
        """Have the newest values on the host."""
        for array in self.arrays:
            to_host(array)

    def __call__(self, iteration: int, epoch: int, scale: float = 1.0) -> None:
        """Update the parameters once."""
        self.set_rates(iteration, epoch, scale)
        program = self._program()
        if program is not None:
            program()
            return
        self.copy_to_host()
        given = [*(a.astype(self._wide, copy=False) for a in self.arrays), *self._scalars]
        results = self.rule.step(numpy_xp, *given) if self._whole else ex.evaluate(self.exprs, numpy_xp, given)
        for array, value in zip(self.changed, results):
            array[...] = value.astype(array.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class FlatUpdate:
    """A :class:`~dl4py.samediff.plans.training_step.ParameterUpdate` of flat arrays: normalization of gradients, then updaters.

    Attributes
    ----------
    updaters : loops that change the parameters
    outputs : how many of the first results of the plan are wanted
    gate : lock that is held while parameters change
    normalization : what happens to gradients before, if anything does
    counter : array of one number on the host, to which each step adds 1
    """

    updaters: Sequence[UpdateKernel]
    outputs: int
    gate: Any
    normalization: Normalization | None = None
    counter: Any = None

    @property
    def numbers(self) -> list[Any]:
        """The arrays on the host that change from step to step: the loops read what :meth:`set_numbers` wrote last."""
        return [*(u.numbers for u in self.updaters), *([] if self.normalization is None else self.normalization.numbers)]

    def compile_for(self, loops: Loops) -> list[Any]:
        """The compiled loops of normalization and updaters, in order."""
        normalization = [] if self.normalization is None else self.normalization.compile_for(loops)
        return [*normalization, *(u.compile_for(loops) for u in self.updaters)]

    def set_scale(self, scale: float) -> float:
        """Set the factor of the gradients; returns the part of it that the updaters have to apply."""
        if self.normalization is None:
            return scale
        self.normalization.set_scale(scale)
        return 1.0

    def set_numbers(self, iteration: int, epoch: int, scale: float) -> None:
        """Work out all that changes from step to step."""
        if self.normalization is not None:
            scale = self.set_scale(scale)
        for updater in self.updaters:
            updater.set_rates(iteration, epoch, scale)
