"""Does something by the reference executor and by the compiled one, and compares all that leaves through public names meanwhile."""
from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import numpy as np

from dl4py.networks import ComputationGraph, MultiLayerNetwork
from dl4py.samediff import InferenceSession, SameDiff, SDVariable

Noted = list[tuple[str, Any]]       # where it left, and the array, number or name of the error

WATCHED = SameDiff, SDVariable, InferenceSession, MultiLayerNetwork, ComputationGraph
CHANGES = "fit", "pretrain", "compute_gradient"       # beginnings of the names after which parameters are looked at
#: By type, relative to the largest entry of an array, or to SMALL where all entries are smaller: sums that cancel are rounding alone.
LIMITS = {"float64": 1e-9, "float32": 1e-5, "float16": 5e-3, "bfloat16": 4e-2}
SMALL = 0.1


class BothExecutors:
    """Inside of ``with``, public methods of graphs and networks write down what they give.

    After those that train, parameters, gradients, state of the updaters and score are written down too.
    """

    def __init__(self) -> None:
        self._noted: Noted = []
        self._depth = 0
        self._replaced: list[tuple[type, str, Callable[..., Any]]] = []

    def __enter__(self) -> BothExecutors:
        for owner in dict.fromkeys(c for w in WATCHED for c in w.__mro__ if c.__module__.startswith("dl4py")):
            for name, method in list(vars(owner).items()):
                if inspect.isfunction(method) and not name.startswith("_"):
                    self._replaced.append((owner, name, method))
                    setattr(owner, name, self._watching(method, f"{owner.__name__}.{name}"))
        return self

    def __exit__(self, *error: object) -> None:
        for owner, name, method in self._replaced:
            setattr(owner, name, method)
        self._replaced.clear()

    def _watching(self, method: Callable[..., Any], where: str) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(model: Any, *args: Any, **options: Any) -> Any:
            self._depth += 1
            try:
                result = method(model, *args, **options)
                if self._depth == 1:
                    self.note(where, result)
                    if method.__name__.startswith(CHANGES):
                        self.note(where, trained(model))
                return result
            except Exception as error:
                if self._depth == 1:
                    self._noted.append((where, type(error).__name__))
                raise
            finally:
                self._depth -= 1
        return call

    def note(self, where: str, value: Any) -> None:
        """Write down copies of the arrays and numbers in a value."""
        if isinstance(value, Mapping):
            for key, one in value.items():
                self.note(f"{where}/{key}", one)
        elif isinstance(value, (list, tuple)):
            for i, one in enumerate(value):
                self.note(f"{where}/{i}", one)
        elif isinstance(value, (np.ndarray, np.generic, float)):
            self._noted.append((where, np.array(value) if isinstance(value, np.ndarray) else value))

    def done(self, job: Callable[[], Any], reference: bool) -> Noted:
        """What is written down while an executor does something."""
        self._noted, self._depth = [], 0
        with mock.patch.dict(os.environ):
            os.environ.pop("DL4PY_EXECUTOR", None)
            if reference:
                os.environ["DL4PY_EXECUTOR"] = "reference"
            job()
        return self._noted

    def compare(self, job: Callable[[], Any], after_steps: float = 0.0) -> tuple[int, list[str]]:
        """How many values were compared, and in words where the compiled executor is not as the reference.

        ``after_steps`` is the limit, if it is larger, for all that comes after the first step of training.
        """
        wanted, found = self.done(job, True), self.done(job, False)
        if [w for w, _ in found] != [w for w, _ in wanted]:
            ends = ("the end", None)
            place, a, b = next((i, a, b) for i, ((a, _), (b, _)) in enumerate(zip([*found, ends], [*wanted, ends])) if a != b)
            return len(wanted), [f"value {place}: compiled {a}, reference {b}"]
        steps = next((i for i, (w, _) in enumerate(wanted) if ".fit" in w), len(wanted))
        texts = [(w, difference(a, b, after_steps if i >= steps else 0.0)) for i, ((w, a), (_, b)) in enumerate(zip(found, wanted))]
        return len(wanted), [f"value {i}, {where}: {text}" for i, (where, text) in enumerate(texts) if text]


def trained(model: Any) -> dict[str, Any]:
    """Parameters, gradients, state of the updaters and score."""
    if isinstance(model, SameDiff):
        step = model.last_training_step()
        return {"parameters": {v.name(): v.get_arr() for v in model.variables() if v.is_trainable()},
                "gradients": {} if step is None else step.flat.gradient_arrays,
                "state": {n: u.get_state() for n, u in model.get_updater_map().items()}}
    return {"parameters": model.params(), "gradients": model.gradient().gradient(), "state": model.get_updater().state_view(),
            "score": model.score()}


#: Errors of the compiled executor and of the reference: shapes that do not fit are found before the first value is looked at.
BEFORE_VALUES = [("ShapeError", "OutOfRangeError")]


def difference(found: Any, wanted: Any, at_least: float = 0.0) -> str:
    """In words; nothing where they agree."""
    if isinstance(wanted, str) or isinstance(found, str):
        equal = type(found) is type(wanted) and (found == wanted or (found, wanted) in BEFORE_VALUES)
        return "" if equal else f"{found!r}, reference {wanted!r}"
    # numbers have the limit of float32, in which networks compute most of them
    limit = LIMITS["float32"] if isinstance(wanted, float) and isinstance(found, float) else LIMITS.get(str(np.asarray(wanted).dtype))
    a, b = np.asarray(found), np.asarray(wanted)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype}{a.shape}, reference {b.dtype}{b.shape}"
    if limit is None:
        return "" if np.array_equal(a, b) else f"{np.count_nonzero(a != b)} of {a.size} entries differ"
    limit = max(limit, at_least)
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(np.where(np.isfinite(a), 0.0, a), np.where(finite, 0.0, b), equal_nan=True):
        return "other entries are not finite"
    off, scale = np.abs(a[finite] - b[finite]).max(initial=0.0), np.abs(b[finite]).max(initial=SMALL)
    return "" if off <= limit * scale else f"off by {off:.2g}, {off / scale:.1e} of the scale, {limit:g} allowed"
