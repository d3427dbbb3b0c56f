"""Updaters that users write as DL4J's classes are: a configuration that makes a ``GradientUpdater``, which changes gradients in place."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.home import is_ours
from ...base.user_code.users_arrays import users_array
from ...errors import ConfigurationError, ShapeError

#: Methods that are set on a class of updaters written in this form.
Members = dict[str, Any]


def is_in_java_form(cls: type) -> bool:
    """Whether a class defines ``instantiate`` and no elementwise rule."""
    return not is_ours(getattr(cls, "instantiate", None)) and hasattr(getattr(cls, "step", None), "asked_for")


def _parts(self: Any) -> int:
    """Number of state arrays of the size of a parameter."""
    size = int(self.state_size(12))
    if size % 12:
        raise ConfigurationError(f"{type(self).__name__}.stateSize(12) is {size}; a state is made of arrays as large as the parameters")
    return size // 12


def _made(self: Any, view: Any, initialize: bool) -> Any:
    """The user's GradientUpdater on a state (1, n), or without any."""
    made = self.instantiate(None if view is None else users_array(view.reshape(1, -1)), initialize)
    apply = getattr(made, "apply_updater", None) or getattr(made, "applyUpdater", None)
    if apply is None:
        raise ConfigurationError(f"{type(self).__name__}.instantiate gave {type(made).__name__}; an updater with "
                                 "applyUpdater(gradient, iteration, epoch) was expected")
    return apply


def state_names(self: Any) -> tuple[str, ...]:
    """Names of the arrays of the state, which DL4J's form numbers."""
    return tuple(f"S{k}" for k in range(_parts(self)))


def state_init(self: Any) -> tuple[float, ...]:
    """Initial value of each state array."""
    view = np.zeros(_parts(self))
    if view.size:
        _made(self, view, True)
    return tuple(float(v) for v in view)


def hyper(self: Any, iteration: int, epoch: int) -> tuple[float, ...]:
    """Iteration and epoch, which the updater needs."""
    return float(iteration), float(epoch)


def before_step(self: Any, xp: Any, param: Any, gradient: Any) -> Any:
    """The gradient as it is: the rule sees whole parameters."""
    return gradient


def step(self: Any, xp: Any, gradient: Any, state: Any, hyper: Any) -> Any:
    """The update by ``applyUpdater``, on copies of gradient and state."""
    view = np.concatenate([np.ravel(part) for part in state]) if state else None
    array = users_array(np.array(gradient))
    _made(self, view, False)(array, int(np.ravel(hyper[0])[0]), int(np.ravel(hyper[1])[0]))
    if np.shape(array) != np.shape(gradient):
        raise ShapeError(f"applyUpdater of {type(self).__name__} left a gradient of shape {np.shape(array)} where {np.shape(gradient)} was "
                         "expected")
    parts = () if view is None else tuple(part.reshape(np.shape(gradient)) for part in np.split(view, len(state)))
    return np.asarray(array), parts


#: Methods that replace those of :class:`IUpdater` in such a class.
MEMBERS: Members = {"state_names": property(state_names), "state_init": state_init, "hyper": hyper, "before_step": before_step,
                    "step": step}
