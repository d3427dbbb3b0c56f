"""What the texts of statements call besides NumPy and ``Nd4j``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl4py import DynamicCustomOp, Nd4j, Transforms, compiled
from dl4py.samediff import Conditions, DataType, EagerOps, INDArray, NDArrayIndex
from dl4py.samediff.nd4j.op_classes import AddOp

ops = EagerOps()


def changed(a: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of an array, changed in place."""
    made = a.copy()
    change(made)
    return made


def directly(a: Any, change: Callable[[Any], Any]) -> Any:
    """A result of its own, changed while nobody else looks at it, then read."""
    made = a * 1
    change(made)
    return made + made


def part(a: Any, of: Callable[[Any], Any], change: Callable[[Any], Any]) -> Any:
    """A copy of which a part was changed: it changes too where the part shares its memory."""
    made = a.copy()
    change(of(made))
    return made


def seen(a: Any, of: Callable[[Any], Any], change: Callable[[Any], Any]) -> Any:
    """A part of a copy that was changed: the other way round."""
    made = a.copy()
    found = of(made)
    change(made)
    return found


def seeded(draw: Callable[[], Any]) -> Any:
    """Numbers of DL4J's generator."""
    Nd4j.getRandom().setSeed(77)
    return draw()


def num(value: Any) -> Any:
    """A number as an array."""
    return value if hasattr(value, "dtype") and hasattr(value, "ndim") else INDArray.of(np.float64(value))


def whole(a: Any) -> Any:
    """Whole numbers from an array."""
    return a.astype(np.int64)


def mat(a: Any) -> Any:
    """A matrix with elements of an array."""
    return np.resize(np.tanh(a), (3, 3)) + np.eye(3, dtype=np.float32) * 0.5


def vec(a: Any) -> Any:
    """A vector of them."""
    return np.resize(np.tanh(a), 3) + np.float32(0.25)


def spd(a: Any) -> Any:
    """A positive definite matrix of them, its eigenvalues apart."""
    m = mat(a)
    return m @ m.T * 0.1 + np.diag([1.0, 2.0, 3.5])


NAMES = {"np": np, "Nd4j": Nd4j, "T": Transforms, "I": NDArrayIndex, "C": Conditions, "ops": ops, "compiled": compiled, "AddOp": AddOp,
         "DataType": DataType, "DynamicCustomOp": DynamicCustomOp,
         **{f.__name__: f for f in (changed, directly, part, seen, seeded, num, whole, mat, vec, spd)}}
