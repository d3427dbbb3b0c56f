"""Shape rules by trial: run the code of an op on small stand-in arrays and see which sizes of its results change."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.spec import Shape, TensorSpec
from ...samediff.errors import ShapeError
from ...samediff.expressions.arrays import xp
from ...samediff.ir.op import as_tuple

#: Sizes tried in the place of unknown ones, besides those that other inputs have.
SIZES = (2, 3, 4, 6, 8, 12, 16, 100)
_FEW = SIZES[:4]              # for combinations of several unknown sizes
_EXHAUSTIVE = 6               # so many unknown sizes are varied in every combination
_MIXED = 512                  # so many mixtures of known sizes are tried in the place of unknown ones
_ELEMENTS = 1 << 20           # larger stand-ins are tried where the known sizes make them so large
_RANKS = (2, 1, 3, 4, 0)
Shapes = tuple[tuple[int, ...], ...]


def trial_specs(op_id: str, compute: Callable[..., Any], specs: Sequence[TensorSpec | None]) -> TensorSpec | tuple[TensorSpec, ...]:
    """Output specs found by running ``compute(xp, *arrays)``.

    Sizes of the outputs that change with unknown sizes of the inputs, or with their values, are unknown.

    Raises
    ------
    ShapeError
        The code fails on all stand-ins; gives the reason.
    """
    several: list[bool] = []
    types: list[DataType] = []
    counts: set[int] = set()

    def shapes(tried: Sequence[TensorSpec | None], values: int) -> Shapes:
        with np.errstate(all="ignore"):
            result = compute(xp, *[None if s is None else _dummy_array(s, i, values) for i, s in enumerate(tried)])
        results = as_tuple(result)
        if not results or any(r is None for r in results):
            raise ShapeError(f"it returned {'no result' if not results else 'None'}; it must return an array or a tuple of arrays")
        found = tuple(np.shape(r) for r in results)
        types[:] = types or [DataType.of(np.asarray(r)) for r in results]
        several.append(isinstance(result, (tuple, list)))
        counts.add(len(results))
        return found

    reason: Exception | None = None
    for ranked, values in itertools.product(_ranked(specs), range(_VALUES)):
        try:
            base, found = vary_sizes(ranked, lambda tried, values=values: shapes(tried, values))  # type: ignore[misc]
        except Exception as error:
            reason = reason or error
            continue
        break
    else:
        shown = ", ".join("-" if s is None else str(s) for s in specs)
        raise ShapeError(f"the shape rule cannot be derived: the code of {op_id!r} fails on stand-in arrays for ({shown}): "
                         f"{type(reason).__name__}: {reason}. Correct the inputs, or give the op a shape rule (infer)") from reason
    for other in range(_VALUES):
        if other != values and not _all_unknown(found):
            found = _seen(found, lambda other=other: shapes(base, other))  # type: ignore[misc]
    if len(counts) > 1:
        raise ShapeError(f"{op_id!r} returns {min(counts)} outputs for some inputs and {max(counts)} for others")
    unranked = any(s is not None and s.shape is None for s in specs)
    merged = tuple(TensorSpec(None if unranked else s, t) for s, t in zip(found, types))
    return merged if several[0] else merged[0]


def _ranked(specs: Sequence[TensorSpec | None]) -> Iterator[list[TensorSpec | None]]:
    """The specs with ranks in the place of unknown ones."""
    for rank in _RANKS if any(s is not None and s.shape is None for s in specs) else (0,):
        yield [s if s is None or s.shape is not None else s.with_shape((-1,) * rank) for s in specs]


def workable(compute: Callable[..., Any], specs: Sequence[TensorSpec | None]) -> list[TensorSpec | None]:
    """Specs of known sizes with which ``compute(xp, *arrays)`` works; ShapeError where none of those that are tried do."""
    for ranked, values in itertools.product(_ranked(specs), range(_VALUES)):
        def run(tried: Sequence[TensorSpec | None], values: int = values) -> Shapes:
            with np.errstate(all="ignore"):
                compute(xp, *[None if s is None else _dummy_array(s, i, values) for i, s in enumerate(tried)])
            return ()
        places = [(i, axis) for i, s in enumerate(ranked) if s is not None for axis, n in enumerate(s.shape or ()) if n == -1]
        try:
            return _first(ranked, places, run)[0]
        except Exception:  # code of users raises anything for sizes and values that it does not take
            continue
    raise ShapeError("the code works with none of the sizes that were tried in the place of open ones")


def vary_sizes(specs: Sequence[TensorSpec | None], shapes: Callable[[Sequence[TensorSpec | None]], Shapes]
               ) -> tuple[list[TensorSpec | None], tuple[Shape | None, ...]]:
    """The shapes that a rule gives, as far as they do not depend on unknown sizes.

    All unknown sizes are one number at first. From the first with which the rule works, each of them and their combinations
    are varied: what changes in the result is unknown.

    Parameters
    ----------
    specs : of known ranks
    shapes : callable
        The rule, for specs without unknown sizes; raises where it cannot.

    Returns
    -------
    The specs with which the rule works, and the shapes: -1 for what changed, None where the rank did.
    """
    places = [(i, axis) for i, s in enumerate(specs) if s is not None for axis, n in enumerate(s.shape or ()) if n == -1]
    base, found = _first(specs, places, shapes)
    if not places:
        return base, found
    at = {k: (base[i].shape or ())[axis] for k, (i, axis) in enumerate(places)}  # type: ignore[union-attr]
    stuck: set[int] = set()
    for together in _subsets(len(places)):
        varied = False
        multiples = [m * at[k] for k in together[:1] for m in (2, 3)]
        for n in (*(SIZES if len(together) in (1, len(places)) else _FEW), *multiples, 1):      # 1 cuts slices short
            if _all_unknown(found):
                return base, found
            tried = _sized(base, [places[k] for k in together], n)
            if tried != base and _largest(tried) <= max(_ELEMENTS, 8 * _largest(base)):
                seen = _seen(found, lambda tried=tried: shapes(tried))  # type: ignore[misc]
                varied |= seen is not found
                found = seen
        if varied:
            stuck -= set(together)
        elif len(together) == 1:
            stuck |= set(together)
    known = {n for s in specs if s is not None for n in s.shape or ()} if len(places) <= _EXHAUSTIVE else set()
    held = {at[k] for k in stuck} - known      # a size that no input explains may be right by chance
    found = tuple(None if s is None else tuple(-1 if n in held else n for n in s) for s in found)
    return base, found


def _first(specs: Sequence[TensorSpec | None], places: Sequence[tuple[int, int]],
           shapes: Callable[[Sequence[TensorSpec | None]], Shapes]) -> tuple[list[TensorSpec | None], tuple[Shape | None, ...]]:
    """The first sizes with which the rule works: all the same, else those of other inputs in some places; else its first failure."""
    reason: Exception | None = None
    known = dict.fromkeys(n for s in specs if s is not None for n in s.shape or () if n > 1)
    mixed = itertools.product((SIZES[0], *known), repeat=len(places))
    for sizes in itertools.chain(((n,) * len(places) for n in SIZES[:-1]), itertools.islice(mixed, _MIXED)):
        tried = list(specs)
        for place, n in zip(places, sizes):
            tried = _sized(tried, [place], n)
        try:
            return tried, tuple(shapes(tried))
        except Exception as error:
            reason = reason or error
            if not places:
                break
    assert reason is not None
    raise reason


def _sized(specs: Sequence[TensorSpec | None], places: Sequence[tuple[int, int]], n: int) -> list[TensorSpec | None]:
    """The specs with one number at some places."""
    made = list(specs)
    for i, axis in places:
        s = made[i]
        assert s is not None
        shape = list(s.shape or ())
        shape[axis] = n
        made[i] = s.with_shape(tuple(shape))
    return made


def _largest(specs: Sequence[TensorSpec | None]) -> int:
    return max((math.prod(s.shape or ()) for s in specs if s is not None), default=0)


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    """All together, each alone, and further combinations."""
    everything = tuple(range(count))
    yield everything
    for size in range(1, count if count <= _EXHAUSTIVE else 3):
        yield from itertools.combinations(everything, size)


def _seen(found: tuple[Shape | None, ...], run: Callable[[], Shapes]) -> tuple[Shape | None, ...]:
    """The shapes that also cover one more run, with -1 for sizes that differ; ``found`` itself where that run fails."""
    try:
        shapes = run()
    except Exception:  # sizes or values that the code does not take tell nothing
        return found
    return tuple(None if a is None or len(a) != len(b) else tuple(m if m == n else -1 for m, n in zip(a, b)) for a, b in zip(found, shapes))


def _all_unknown(found: Sequence[Shape | None]) -> bool:
    return all(s is None or all(n == -1 for n in s) for s in found) and any(found)


def _dummy_array(spec: TensorSpec, index: int, values: int) -> Any:
    """An array for the input of that index: the values differ from one number of ``values`` to the next, and between inputs."""
    if spec.value is not None:
        return np.array(spec.value)
    kind, shape = spec.dtype.numpy, spec.shape or ()
    if kind.kind == "O":
        return np.full(shape, "text", kind)
    count = math.prod(shape)
    if spec.dtype.is_floating:
        rng = np.random.default_rng(count + len(shape))
        return (rng.uniform(0.1, 1.0, shape), np.ones(shape), np.zeros(shape), rng.uniform(-1.0, 1.0, shape))[values % 4].astype(kind)
    whole = (1, index + 1, 0, 2 * (index + 1), np.arange(count) % 3)[values]
    return np.broadcast_to(np.reshape(whole, shape) if np.ndim(whole) else whole, shape).astype(kind)


#: How many different values of stand-ins there are.
_VALUES = 5
