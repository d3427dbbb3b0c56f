"""Shape rules by trial: run the code of an op on small stand-in arrays."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..samediff.arrays import xp
from ..samediff.datatype import DataType
from ..samediff.errors import ShapeError
from ..samediff.op import as_tuple
from ..samediff.spec import TensorSpec

#: Sizes tried in the place of unknown ones; the first two with which the code runs decide.
SIZES = (2, 3, 4, 6, 8, 12, 16)
_RANKS = (2, 1, 3, 4, 0)
_Found = tuple[tuple[tuple[int, ...], DataType], ...]


def trial_specs(op_id: str, compute: Callable[..., Any], specs: Sequence[TensorSpec | None]) -> TensorSpec | tuple[TensorSpec, ...]:
    """Output specs found by running ``compute(xp, *arrays)``.

    All unknown sizes are set to one number, then to another: output sizes that change are unknown. Where all sizes are
    known the values change instead, so that a result whose size depends on values is seen as unknown.

    Raises
    ------
    ShapeError
        The code fails on all stand-ins; gives the reason.
    """
    found: list[tuple[Any, _Found]] = []
    reason: Exception | None = None
    for arrays in _trials(specs):
        try:
            with np.errstate(all="ignore"):
                result = compute(xp, *arrays)
            found.append((result, tuple((np.shape(r), DataType.of(np.asarray(r))) for r in as_tuple(result))))
        except Exception as error:
            reason = reason or error
        if len(found) == 2:
            break
    if not found:
        shown = ", ".join("-" if s is None else str(s) for s in specs)
        raise ShapeError(f"the shape rule cannot be derived: the code of {op_id!r} fails on stand-in arrays for ({shown}): "
                         f"{type(reason).__name__}: {reason}. Correct the inputs, or give the op a shape rule (infer)") from reason
    first, last = found[0][1], found[-1][1]
    if len(first) != len(last):
        raise ShapeError(f"{op_id!r} returns {len(first)} outputs for some inputs and {len(last)} for others")
    unranked = any(s is not None and s.shape is None for s in specs)
    merged = tuple(TensorSpec(None if unranked else _merged(a[0], b[0]), a[1]) for a, b in zip(first, last))
    return merged if isinstance(found[0][0], (tuple, list)) else merged[0]


def _merged(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    return tuple(m if m == n else -1 for m, n in zip(a, b)) if len(a) == len(b) else None


def _trials(specs: Sequence[TensorSpec | None]) -> Iterator[list[Any]]:
    given = [s for s in specs if s is not None]
    ranks = _RANKS if any(s.shape is None for s in given) else (0,)
    sizes = SIZES if any(not s.is_static for s in given) else (0,)
    for rank in ranks:
        for whole, same in ((1, False), (1, True), (0, False)):
            for size in sizes:
                yield [None if s is None else _stand_in(s, size, rank, whole, same) for s in specs]


def _stand_in(spec: TensorSpec, size: int, rank: int, whole: int, same: bool) -> Any:
    shape = (size,) * rank if spec.shape is None else tuple(size if n == -1 else n for n in spec.shape)
    if spec.value is not None:
        return np.array(spec.value)
    kind = spec.dtype.numpy
    if spec.dtype.is_floating and not same:
        return np.random.default_rng(size + len(shape)).uniform(0.1, 1.0, shape).astype(kind)
    return np.full(shape, "text" if kind.kind == "O" else whole, kind)
