"""Ops that only move elements: copies between views."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...base.choices import PadMode
from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ..actions import Action, Copy, CudaKernel, Fill, Launch
from ..routines.rows import flat
from ..sources import source, type_name


def _served(*specs: TensorSpec) -> bool:
    return all(s.is_static and s.dtype is specs[0].dtype for s in specs) and specs[0].dtype.code not in (-1, 50)


def _copies(pairs: Sequence[tuple[Any, Any]]) -> list[Action]:
    return [Copy(source, target) for source, target in pairs if target.size]


def copied(pairs: Callable[..., Sequence[tuple[Any, Any]]], *specs: TensorSpec) -> CudaKernel | None:
    """``pairs(*inputs, *outputs)`` says what is copied where, as views of them."""
    if not all(s.is_static for s in specs) or specs[0].dtype.code in (-1, 50):
        return None
    return CudaKernel(lambda *arrays: _copies(pairs(*arrays)))


def concatenation(dimension: int, *specs: TensorSpec) -> CudaKernel | None:
    """``call(*xs, out)``: one after the other along an axis; scalars count as vectors."""
    if not specs or not _served(*specs):
        return None

    def actions(*arrays: Any) -> list[Action]:
        xs, out = arrays[:-1], arrays[-1]
        axis, start, pairs = dimension % out.ndim, 0, []
        for x in xs:
            x = x.reshape(1) if x.ndim == 0 else x
            if x.ndim == out.ndim:                  # empty vectors may stand between arrays of another rank
                pairs.append((x, out[(slice(None),) * axis + (slice(start, start + x.shape[axis]),)]))
                start += x.shape[axis]
        return _copies(pairs)
    return CudaKernel(actions)


def stack(axis: int, *specs: TensorSpec) -> CudaKernel | None:
    """``call(*xs, out)``: arrays of one shape along a new axis."""
    if not specs or not _served(*specs):
        return None

    def actions(*arrays: Any) -> list[Action]:
        out = arrays[-1]
        front = (slice(None),) * (axis % out.ndim)
        return _copies([(x, out[(*front, i, ...)]) for i, x in enumerate(arrays[:-1])])
    return CudaKernel(actions)


def stack_padded(*specs: TensorSpec) -> CudaKernel | None:
    """``call(*xs, out)``: below each other, the last axis filled with zeros."""
    if not specs or not _served(*specs):
        return None

    def actions(*arrays: Any) -> list[Action]:
        xs, out, start, pairs = arrays[:-1], arrays[-1], 0, []
        for x in xs:
            pairs.append((x, out[start:start + x.shape[0], ..., :x.shape[-1]]))
            start += x.shape[0]
        return [Fill(out), *_copies(pairs)] if out.size else []
    return CudaKernel(actions)


def tile(counts: Sequence[int], x: TensorSpec) -> CudaKernel | None:
    """``call(x, [counts,] out)``: the whole array so many times along each axis."""
    if not _served(x) or x.shape is None:
        return None
    once = [n for size in x.shape for n in (1, size)]
    often = [n for count, size in zip(counts, x.shape) for n in (count, size)]

    def actions(x: Any, *rest: Any) -> list[Action]:
        return _copies([(np.broadcast_to(x.reshape(once), often), rest[-1].reshape(often))])
    return CudaKernel(actions)


def placed(index: tuple[Any, ...]) -> CudaKernel:
    """``call(x, like, ..., out)``: zeros with x at a NumPy index."""

    def actions(x: Any, *rest: Any) -> list[Action]:
        out = rest[-1]
        if not out.size:
            return []
        return [Fill(out), *_copies([(x, out[(*index, ...)])])]
    return CudaKernel(actions)


def padded(widths: Sequence[tuple[int, int]], mode: PadMode, constant: float, x: TensorSpec) -> CudaKernel | None:
    """``call(x, padding, out)``: mirrored parts are copied axis by axis, so that corners come from what is there already."""
    if not _served(x) or x.shape is None or (constant and x.dtype is DataType.BFLOAT16):
        return None
    sizes, skip = x.shape, 1 if mode is PadMode.REFLECT else 0
    inner = tuple(slice(before, before + n) for (before, _), n in zip(widths, sizes))
    value, text = x.dtype.numpy.type(constant), source("fill", T=type_name(x.dtype))

    def actions(x: Any, padding: Any, out: Any) -> list[Action]:
        if not out.size:
            return []
        middle = _copies([(x, out[(*inner, ...)])])
        if mode is PadMode.CONSTANT:
            if middle and x.size == out.size:
                return middle
            return [Launch(text, "fill", *flat(out.size), (out, value, np.int64(out.size))) if constant else Fill(out), *middle]
        pairs = []
        for axis, ((before, behind), n) in enumerate(zip(widths, sizes)):
            done = out[(*(slice(None),) * axis, slice(None), *inner[axis + 1:])].swapaxes(0, axis)
            end = before + n
            pairs += [(done[before + skip:2 * before + skip][::-1], done[:before]),
                      (done[end - skip - behind:end - skip][::-1], done[end:])]
        return [*middle, *_copies(pairs)]
    return CudaKernel(actions)


def texts() -> Iterator[tuple[str, str]]:
    """Some of the texts."""
    yield "fill", source("fill", T="half_t")
