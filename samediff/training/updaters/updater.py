"""Base of the updaters (optimizers): an elementwise rule, a few scalars per iteration, and state arrays."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Self

import numpy as np

from ...base.java_names import GradientUpdaterNames, IUpdaterNames
from ...base.user_code.abstract_methods import unwritten
from ...base.user_code.user_methods import ResultCheck, is_number, shown
from ...configuration.configuration import Configuration
from ...configuration.declaring import configuration
from ...errors import ConfigurationError, ShapeError, UnknownNameError, did_you_mean
from .java_form import MEMBERS, is_in_java_form

__all__ = ["GradientUpdater", "IUpdater"]

Arrays = tuple[Any, ...]
Scalars = tuple[float, ...]

#: Makers of updaters with default settings, by the names of DL4J's enum; filled where those are declared.
DEFAULTS: dict[str, Callable[[], IUpdater]] = {}
#: Updaters at work that have a class of their own, by the class of their configuration.
AT_WORK: dict[type[IUpdater], type[GradientUpdater]] = {}


def array_namespace(array: Any) -> Any:
    """Return the module (NumPy or CuPy) that an array belongs to."""
    if isinstance(array, np.ndarray):
        return np
    module = type(array).__module__.partition(".")[0]
    if module == "cupy":
        import cupy
        return cupy
    return np


def _is_step(updater: Any, result: Any, given: Mapping[str, Any]) -> str:
    names = updater.state_names
    expected = f"the update and a tuple of its {len(names)} new states ({', '.join(names)}) were expected" if names else (
        "the update and () were expected: it has no state_names")
    if not isinstance(result, (tuple, list)) or len(result) != 2 or result[0] is None:
        return f"{shown(result)}; {expected}"
    update, state = result
    if not isinstance(state, (tuple, list)):
        return f"{shown(state)} as its new states; {expected}"
    if len(state) != len(names):
        return f"{len(state)} new states; {expected}"
    gradient = given["gradient"]
    wrong = [part for part in (update, *state) if isinstance(gradient, np.ndarray) and np.shape(part) not in ((), gradient.shape)]
    return f"{shown(wrong[0])} for a gradient of shape {gradient.shape}; update and states have the same shape" if wrong else ""


def _keeps_whole(updater: Any, result: Any, given: Mapping[str, Any]) -> str:
    param = given["param"]
    fits = result is not None and (not isinstance(param, np.ndarray) or np.shape(result) == param.shape)
    return "" if fits else f"{shown(result)} for a parameter of shape {np.shape(param)}; an array of that shape was expected"


def _are_numbers(updater: Any, result: Any, given: Mapping[str, Any]) -> str:
    ok = isinstance(result, (tuple, list)) and not any(is_number(updater, n, given) for n in result)
    return "" if ok else f"{shown(result)}; a tuple of numbers was expected"


def _one_for_each_state(updater: Any, result: Any, given: Mapping[str, Any]) -> str:
    fits = not _are_numbers(updater, result, given) and len(result) == len(updater.state_names)
    return "" if fits else f"{shown(result)}; a number for each of state_names {updater.state_names} was expected"


@configuration()
class IUpdater(Configuration, IUpdaterNames):
    """An updater configuration with its rule; parameters change by ``params -= update``.

    A new updater is a subclass with fields, ``state_names`` and ``step``::

        @configuration("com.acme.SignSgd")
        class SignSgd(RatedUpdater):
            learning_rate: float = 1e-3
            def step(self, xp, gradient, state, hyper):
                return hyper[0] * xp.sign(gradient), ()

    ``step`` is traced: it may use only elementwise operations (arithmetic, ``xp.sqrt``, ``xp.abs``, ``xp.maximum``,
    ``xp.where`` …), so that it runs as one loop over a flat block of parameters on every device. Rules that need norms of whole
    parameters write ``before_step`` or ``after_step`` besides. A class in DL4J's form, whose ``instantiate(view, initialize)`` makes a
    :class:`GradientUpdater` with an ``apply_updater`` of its own and which says the ``state_size``, runs by NumPy, too.
    """

    result_checks: ClassVar[Mapping[str, ResultCheck]] = {"step": _is_step, "hyper": _are_numbers, "state_init": _one_for_each_state,
                                                            "before_step": _keeps_whole, "after_step": _keeps_whole}
    kept_by_stand_ins: ClassVar[tuple[str, ...]] = ("state_init", "state_size", "stored_as", "has_learning_rate")
    state_names: ClassVar[tuple[str, ...]] = ()
    half_epsilon: ClassVar[float] = 0.0     # the least epsilon with which a state of float16 keeps steps finite

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in MEMBERS.items() if is_in_java_form(cls) else ():
            setattr(cls, name, member)

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, (str, Enum)):  # a name of DL4J's Updater enum
            name = str(getattr(value, "name", value)).upper()
            if name not in DEFAULTS:
                hint = did_you_mean(name, DEFAULTS)
                raise ConfigurationError(f"no updater is called {value!r}{hint}")
            value = DEFAULTS[name]()
        return super().of(value)

    def hyper(self, iteration: int, epoch: int) -> Scalars:
        """Return the scalars of this iteration (both counts from 0), computed in float64."""
        return ()

    def hypers(self, iterations: Sequence[int], epoch: int) -> Any:
        """Return :meth:`hyper` of several iterations as rows; a rule may work them out together."""
        return [self.hyper(i, epoch) for i in iterations]

    def state_init(self) -> Scalars:
        """Return the number that each state array is filled with at the start."""
        return (0.0,) * len(self.state_names)

    @unwritten
    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        """Return the update and the new state. All arrays have the shape and type of ``gradient``."""
        raise NotImplementedError

    def before_step(self, xp: Any, param: Any, gradient: Any) -> Any:
        """Return the gradient that :meth:`step` gets, from one whole parameter and its gradient, regularized already.

        An updater that overrides this or :meth:`after_step` sees each parameter as one array, so that it may use norms (LARS, LAMB); its
        code runs by NumPy, parameter by parameter. ``xp`` and ``param`` have no effect here.
        """
        return gradient

    def after_step(self, xp: Any, param: Any, update: Any) -> Any:
        """Return the change subtracted from a whole parameter, given the update by :meth:`step` with weight decay added.

        ``xp`` and ``param`` have no effect here.
        """
        return update

    @classmethod
    def sees_parameters(cls) -> bool:
        """Return whether its rule looks at whole parameters, not at single values."""
        return cls.before_step is not IUpdater.before_step or cls.after_step is not IUpdater.after_step

    def flat_step(self, xp: Any, gradient: Any, *rest: Any) -> Arrays:
        """Return ``(update, *new state)`` from ``(gradient, *state, *hyper)``: ``step`` as one function to trace."""
        n = len(self.state_names)
        update, state = self.step(xp, gradient, rest[:n], rest[n:])
        return (update, *state)

    def stored_as(self, dtype: Any) -> Self:
        """Return the updater for a state of that type: float16 may need a larger epsilon."""
        if dtype != np.float16 or not 0 <= getattr(self, "epsilon", math.inf) < self.half_epsilon:
            return self
        return self.replace(epsilon=self.half_epsilon)

    def has_learning_rate(self) -> bool:
        """Return whether the rule has a learning rate (weight decay uses 1 otherwise)."""
        return False

    def get_learning_rate(self, iteration: int | None = None, epoch: int = 0) -> float:
        """Return the learning rate of that iteration, NaN without one; with no iteration the number that was given as rate."""
        return math.nan

    def state_size(self, num_params: int) -> int:
        """Return the length of the flat state for that number of parameters."""
        return len(self.state_names) * num_params

    def instantiate(self, state_view: Any, initialize: bool = True) -> GradientUpdater:
        """Return the updater at work on a flat state array or a mapping of state arrays."""
        updater = AT_WORK.get(type(self), GradientUpdater)(self)
        if isinstance(state_view, Mapping):
            updater.set_state(state_view)
        elif state_view is not None:
            updater.set_state_view_array(state_view, None, "c", initialize)
        return updater


class GradientUpdater(GradientUpdaterNames):
    """An updater with its state: turns gradients into updates in place (DL4J's ``GradientUpdater``).

    Parameters
    ----------
    config : IUpdater
        The updater that is kept with its state.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff.training import Nesterovs
    >>> rule = Nesterovs(learning_rate=0.1, momentum=0.5).instantiate(np.zeros(2), True)
    >>> gradient = np.array([1.0, -2.0])
    >>> rule.apply_updater(gradient, iteration=0, epoch=0)
    >>> gradient
    array([ 0.15, -0.3 ])
    """

    #: The kind of configuration that it takes.
    config_type: ClassVar[type[IUpdater]] = IUpdater

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "config_type" in vars(cls):
            AT_WORK.setdefault(cls.config_type, cls)

    def __init__(self, config: IUpdater) -> None:
        if not isinstance(config, self.config_type):
            raise ConfigurationError(f"{type(self).__name__} takes {self.config_type.__name__}(…); got {shown(config)}")
        self.config = config
        self._view: Any = None
        self._state: dict[str, Any] = {}

    def get_config(self) -> IUpdater:
        """Return the configuration."""
        return self.config

    def state_view(self) -> Any:
        """Return the flat state array (None for an updater without state or with hand-set state arrays)."""
        return self._view

    def set_state_view_array(self, view: Any, gradient_shape: Sequence[int] | None, order: str = "c",
                             initialize: bool = False) -> None:
        """Use ``view`` as the state: one state array after the other. ``initialize`` fills it with the start values."""
        names = self.config.state_names
        if view is None or not names:
            self._state = {}
            return
        flat = view.reshape(-1)
        if flat.size % len(names):
            raise ShapeError(f"{type(self.config).__name__} keeps {len(names)} state arrays ({', '.join(names)}) of "
                             f"equal size; a state view of {flat.size} numbers cannot be divided so")
        if not array_namespace(view).shares_memory(flat, view):
            raise ShapeError("a state view must be contiguous, so that the updater can write into it")
        n = flat.size // len(names)
        self._view = view
        parts = [flat[i * n:(i + 1) * n] for i in range(len(names))]
        if gradient_shape is not None:
            parts = [part.reshape(tuple(gradient_shape), order=order.upper()) for part in parts]
        self._state = dict(zip(names, parts))
        if initialize:
            for part, value in zip(parts, self.config.state_init()):
                part[...] = value

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Use given state arrays by name, e.g. ``{"M": m, "V": v}``; they are changed in place."""
        names = self.config.state_names
        for name in state:
            if name not in names:
                raise UnknownNameError(f"{type(self.config).__name__} has the state arrays {list(names)}, not {name!r}"
                                       + did_you_mean(name, names))
        missing = [name for name in names if name not in state]
        if missing:
            raise ConfigurationError(f"{type(self.config).__name__} also needs the state arrays {missing}")
        self._view, self._state = None, {name: state[name] for name in names}

    def get_state(self) -> dict[str, Any]:
        """Return the state arrays by DL4J's names; they are views, not copies."""
        return dict(self._state)

    def apply_updater(self, gradient: Any, iteration: int, epoch: int) -> None:
        """Replace the gradient by the update, in place, and advance the state."""
        names, xp = self.config.state_names, array_namespace(gradient)
        if names and not self._state:
            raise ConfigurationError(f"{type(self.config).__name__} has no state: call set_state_view_array")
        state = tuple(self._state[name] for name in names)
        for name, array in zip(names, state):
            if array.size != gradient.size:
                raise ShapeError(f"state array {name!r} has {array.size} entries, the gradient {gradient.size}")
        shaped = tuple(array if array.shape == gradient.shape else array.reshape(gradient.shape) for array in state)
        with np.errstate(all="ignore"):  # a huge gradient may overflow its square: that is part of the rule
            update, new = self.config.step(xp, gradient, shaped, self.config.hyper(iteration, epoch))
        gradient[...] = update
        for array, value in zip(state, new):
            array[...] = value.reshape(array.shape)
