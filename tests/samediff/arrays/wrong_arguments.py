"""Every public method of arrays, function of Nd4j and Transforms, and op that computes at once, with arguments that it may not take."""
from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dl4py.samediff import Conditions, INDArray, Nd4j, NDArrayIndex
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir import namespaces

#: Arrays whose methods are called, and which functions get first.
RECEIVERS: dict[str, Callable[[], Any]] = {
    "matrix": lambda: INDArray.of(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "truth": lambda: INDArray.of([[True, False], [False, True]]), "whole": lambda: INDArray.of([3, 1, 2]),
    "number": lambda: INDArray.of(2.5), "empty": lambda: INDArray.of(np.zeros((0, 3), np.float32)),
    "texts": lambda: INDArray.of(["a", "b"]), "columns": lambda: INDArray.of(np.asfortranarray(np.arange(6.0).reshape(2, 3)))}

#: Arguments of other kinds, shapes and types than methods want, too few and too many, and positions that no array has.
ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "none": lambda: (), "None": lambda: (None,), "text": lambda: ("a",), "object": lambda: (object(),), "far": lambda: (99,),
    "far back": lambda: (-99,), "fraction": lambda: (0.5,), "list": lambda: ([7, 8, 9],), "texts": lambda: (["a", "b"],),
    "vector": lambda: (INDArray.of(np.ones(7, np.float32)),), "matrix": lambda: (INDArray.of(np.ones((5, 7))),),
    "array of texts": lambda: (INDArray.of(["a", "b"]),), "mask": lambda: (INDArray.of(np.ones((4, 4), bool)),), "map": lambda: ({},),
    "mask, vector": lambda: (INDArray.of(np.ones((2, 3), bool)), np.ones(4)), "far, number": lambda: (99, 1.0),
    "text, number": lambda: ("a", 1.0), "places, number": lambda: ([99, 0], 1.0), "far, far": lambda: (99, 99),
    "row, vector": lambda: (0, np.ones(7)), "row, text": lambda: (0, "a"), "row, None": lambda: (0, None),
    "two vectors": lambda: (np.ones(7), np.ones(5)), "array, text": lambda: (np.ones(7, np.float32), "x"),
    "three": lambda: (None, None, None),
    "index": lambda: (NDArrayIndex.point(99),), "indices": lambda: (NDArrayIndex.all(), NDArrayIndex.interval(2, 99)),
    "many indices": lambda: tuple(NDArrayIndex.all() for _ in range(5)), "index, text": lambda: (NDArrayIndex.point(0), "a"),
    "condition": lambda: (Conditions.less_than(1),), "number, condition": lambda: (1, Conditions.less_than(1)),
    "vector, condition": lambda: (np.ones(7), Conditions.less_than(1)), "condition, vector": lambda: (Conditions.less_than(1), np.ones(7)),
    "vector, number, condition": lambda: (np.ones(7), 2.0, Conditions.less_than(1)), "numbers": lambda: (1, 2, 3, 4, 5, 6, 7),
    "keyword": lambda: (0, {"of_nobody": 1})}


def methods(cls: type) -> Iterator[str]:
    """Public methods of a class in Python's spelling, but for NumPy's own."""
    for owner in cls.__mro__:
        if owner in (object, *np.ndarray.__mro__):
            continue
        for name, member in vars(owner).items():
            member = member.__func__ if isinstance(member, staticmethod) else member
            if isinstance(member, types.FunctionType) and not name.startswith("_") and name.islower() and not hasattr(member, "of_numpy"):
                yield name


def ops() -> Iterator[tuple[str, Callable[..., Any]]]:
    for namespace in ("base", *namespaces.NAMESPACES):
        for name in namespaces.method_names(namespace):
            yield f"{namespace}.{name}", getattr(getattr(Nd4j, namespace), name)


def fault(call: Callable[[], Any], given: Any) -> str | None:
    """What is wrong with how a call refuses its arguments; None where it takes them, or refuses as it should."""
    before = copy.deepcopy(given)
    try:
        call()
    except DL4PyError as error:
        if len(str(error)) < 20:
            return f"says little: {error!r}"
        return None if _same(before, given) else f"changes its arguments and raises {error}"
    except (MemoryError, OSError):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, (tuple, list)):
        return all(map(_same, before, after))
    if isinstance(before, np.ndarray):
        return before.shape == after.shape and before.dtype == after.dtype and bool(np.all((before == after) | (before != before)))
    return True
