"""Sweeps bound to arrays of a device: who does what, and the launches for it."""
from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.datatype import DataType, is_floating
from ...base.spec import Shape, TensorSpec
from ...ir.op import SweepOf
from ...plans.actions import Action, ArrayCopy, CudaKernel, KernelLaunch
from ...plans.sweeps.loops import loops
from ...plans.sweeps.spec import Sweep
from ...plans.sweeps.table import NORMALIZATIONS
from ..code.layout import NARROW, contiguous
from .sweep_source import SweepForm, passes, sweep_source
from .table import REDUCTIONS

_text = functools.lru_cache(maxsize=1024)(sweep_source)


@dataclass(frozen=True)
class ThreadLayout:
    """The assignment of slices to threads and blocks.

    Attributes
    ----------
    lanes : threads for a slice, a power of two
    threads : of a block
    blocks : for the slices
    parts : how many blocks share a slice
    """

    lanes: int
    threads: int
    blocks: int
    parts: int = 1


def shares(rows: bool, slices: int, length: int, rounds: int) -> ThreadLayout:
    """The shares for slices of a length, which are gone over ``rounds`` times.

    Blocks of rows have at most 1024 threads, those of columns 512.
    """
    if rows:
        lanes = min(32, _power(max(1, length // 2)))
        if length > 1024 or (length > 256 and slices <= 1024):
            lanes = 128 if length <= 1024 else 256 if length <= 4096 else 512 if length <= 16384 else 1024
        threads = max(lanes, 128)
    else:
        lanes = 1 if slices >= 2**18 else min(16, _power(max(1, length // 16)))
        width = min(32 if lanes >= 4 else 128 // lanes, _power(slices))
        while width * lanes < 32 or (width * lanes < 512 and lanes * 32 < length):
            lanes *= 2
        threads = width * lanes
    blocks = -(-slices // (threads // lanes))
    turns = length // lanes
    parts = 1
    if blocks <= 64 and turns > (32 if rounds == 1 else 64):
        parts = max(1, min(256 // blocks, turns // 16))
    return ThreadLayout(lanes, threads, min(blocks, 2**16), parts)


def _power(n: int) -> int:
    """The smallest power of two that is not below n."""
    return 1 << max(n - 1, 0).bit_length()


class BoundSweep:
    """A sweep for arrays of known shapes; :meth:`actions` takes inputs, outputs and then arrays as :attr:`workspace` says.

    Parameters
    ----------
    shapes : of the inputs, of equal rank, with 1 where they are repeated
    types, results : of inputs and outputs
    """

    def __init__(self, sweep: Sweep, rows: bool, views: Sequence[Shape], types: Sequence[Any], results: Sequence[Any]) -> None:
        self.source, self.views, self.rows = sweep, list(views), rows
        a, b, c, d = views[0]
        self.slices, self.length = a * c, b * d
        works_in = _works_in(types[0], results[0])
        wide = math.prod(views[0]) >= NARROW
        self.form = SweepForm(rows, works_in, tuple(types), tuple(results), wide)
        self.sweep = self.form.traced(sweep)
        self.rounds = passes(self.sweep)
        self.shares = shares(rows, self.slices, self.length, len(self.rounds) + (sweep.epilogue is not None))
        self.workspace: tuple[TensorSpec, ...] = ()
        if self.shares.parts > 1:
            own = DataType.of(works_in)
            every = self.sweep.folds
            totals = [TensorSpec((self.shares.parts * self.slices,), DataType.LONG if f.counting else own) for f in every]
            left = [TensorSpec((self.slices,), DataType.of(f.result.dtype)) for f in every]
            self.workspace = (*totals, *left)

    def _numbers(self) -> list[Any]:
        """Sizes and strides as the text takes them."""
        index = np.int64 if self.form.wide else np.int32
        _, b, c, d = self.views[0]
        found = [self.slices, b, c, d] if self.length else [self.slices, 0, c, 1]
        for view in self.views[1:]:
            found += [0 if n == 1 else s for n, s in zip(view, contiguous(view))]
        return [index(n) for n in found]

    def actions(self, *arrays: Any) -> list[KernelLaunch]:
        """The launches on contiguous arrays."""
        if not self.slices:
            return []
        s, numbers = self.shares, self._numbers()
        whole, shared = _text(self.source, self.form)
        block, lanes = (s.threads, 1, 1), np.int32(s.lanes)
        if s.parts == 1:
            return [KernelLaunch(whole, "whole", (s.blocks, 1, 1), block, (*arrays, *numbers, lanes))]
        made = []
        few = shares(True, self.slices, s.parts, 1) if self.rows else shares(False, self.slices, s.parts, 1)
        for p in range(len(self.rounds)):
            made.append(KernelLaunch(shared, f"part{p}", (s.blocks, s.parts, 1), block, (*arrays, *numbers, lanes)))
            made.append(KernelLaunch(shared, f"total{p}", (few.blocks, 1, 1), (few.threads, 1, 1),
                               (*arrays, *numbers, np.int32(few.lanes), np.int32(s.parts))))
        if self.sweep.epilogue is not None:
            made.append(KernelLaunch(shared, "epilogue", (s.blocks, s.parts, 1), block, (*arrays, *numbers, lanes)))
        return made


def _works_in(x: Any, result: Any) -> Any:
    """The type in which the sweep computes."""
    if x.itemsize == 2 and is_floating(x):
        return np.dtype(np.float32)
    if not is_floating(x) and is_floating(result):
        return np.dtype(np.float64) if result == np.float64 else np.dtype(np.float32)
    return np.dtype(np.uint8) if x == np.bool_ else x


def _serves(sweep: Sweep, x: TensorSpec, slices: int, length: int, result: TensorSpec) -> bool:
    """Whether the sweep is defined for such arrays: no maximum or minimum of nothing."""
    if not x.dtype.is_numeric or (x.dtype.name == result.dtype.name == "BOOL" and not sweep.folds[0].counting):
        return False
    return length > 0 or slices == 0 or all(f.combine in ("sum", "prod") for f in sweep.folds)


def kernel_of(found: SweepOf, specs: Sequence[TensorSpec | None]) -> CudaKernel | None:
    """The kernel of an op that is a sweep, for inputs of these specs (None: left out); None for one that is not among these."""
    given = [s for s in specs if s is not None]
    if found.result is None:
        sweep = NORMALIZATIONS.get(found.name)
        kernel = None if sweep is None else swept(sweep, found.axes, given, found.shapes)
    else:
        sweep = REDUCTIONS.get(found.name)
        results = [] if sweep is None else [TensorSpec(None, found.result)] * len(sweep.results)
        kernel = None if sweep is None else folded(sweep, found.axes, given, results)
    if kernel is None or len(given) == len(specs):
        return kernel
    actions = kernel.actions
    return CudaKernel(lambda *arrays: actions(*(a for a in arrays if a is not None)), kernel.workspace)


def folded(sweep: Sweep, axes: Sequence[int], specs: Sequence[TensorSpec], results: Sequence[TensorSpec],
           shapes: Sequence[Shape] = ()) -> CudaKernel | None:
    """A kernel ``(*inputs, *results)`` for a sweep with numbers for each slice; None where array code explains errors.

    Parameters
    ----------
    axes : the folded ones of the first input
    specs : of the inputs
    results : specs whose types are those of the outputs
    shapes : of the inputs aligned with the first one, 1 where they are repeated; by default all have its shape
    """
    x = specs[0]
    if any(not s.is_static for s in specs):
        return None
    shape: Shape = x.shape or ()
    aligned = list(shapes or [shape] * len(specs))
    types, made = [s.dtype.numpy for s in specs], [r.dtype.numpy for r in results]
    slices, length = (math.prod(n for i, n in enumerate(shape) if (i in axes) == inside) for inside in (False, True))
    if not _serves(sweep, x, slices, length, results[0]):
        return None
    found = loops(shape, axes, aligned[1:])
    if found is not None:
        rows, views = found
        bound = BoundSweep(sweep, rows, views, types, made)
        return CudaKernel(bound.actions, bound.workspace)
    order = (*(i for i in range(len(shape)) if i not in axes), *axes)
    kept = len(shape) - len(axes)
    permuted = [tuple(s[i] for i in order) for s in aligned]
    found = loops(permuted[0], range(kept, len(shape)), permuted[1:])
    if found is None:
        return None
    bound = BoundSweep(sweep, found[0], found[1], types, made)
    return CudaKernel(_copied(bound, aligned, order), (*bound.workspace, *(TensorSpec(t, s.dtype) for t, s in zip(permuted, specs))))


def _copied(bound: BoundSweep, shapes: Sequence[Shape], order: Sequence[int]) -> Any:
    """A function that makes the actions of a sweep on copies of its inputs with the axes in another order."""
    count = len(shapes)

    def actions(*arrays: Any) -> list[Action]:
        copies = arrays[len(arrays) - count:]
        moves = [ArrayCopy(a.reshape(s).transpose(order), c) for a, s, c in zip(arrays, shapes, copies) if c.size]
        return [*moves, *bound.actions(*copies, *arrays[count:len(arrays) - count])]
    return actions


def swept(sweep: Sweep, axes: Sequence[int], specs: Sequence[TensorSpec], shapes: Sequence[Shape] = (),
          result: DataType | None = None) -> CudaKernel | None:
    """A kernel ``(*inputs, out)`` for a sweep that stores each element, in the shape of the first input (and its type by default)."""
    x = specs[0]
    if any(not s.is_static for s in specs):
        return None
    shape: Shape = x.shape or ()
    if 0 in shape:
        return CudaKernel(lambda *arrays: [])
    found = loops(shape, axes, list(shapes or [shape] * len(specs))[1:])
    if found is None:
        return None
    rows, views = found
    bound = BoundSweep(sweep, rows, views, [s.dtype.numpy for s in specs], [(result or x.dtype).numpy])
    return CudaKernel(bound.actions, bound.workspace)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Texts of every kind, for checks that they compile."""
    from . import table as sweeps
    more = {**sweeps.CROSS_ENTROPY, **sweeps.DISTANCES, **sweeps.PLACES, "is max": sweeps.IS_MAX, "clipped": sweeps.clipped(0.5, True),
            "sum, spread": sweeps.SUM_SPREAD, "half squares": sweeps.HALF_SQUARES, "proximity": sweeps.PROXIMITY,
            "its slope": sweeps.PROXIMITY_SLOPE, "statistics": sweeps.statistics(1e-5, True), "mean less 1": sweeps.mean_less(1),
            **{" ".join(map(str, key)): sweep for key, sweep in sweeps.POSITIONS.items()}}
    f4, i8 = np.dtype(np.float32), np.dtype(np.int64)
    for name, sweep in more.items():
        inputs = (np.dtype(np.bool_) if name in sweeps.PLACES else f4, i8 if name.startswith("indices") else f4, f4)[:sweep.inputs]
        results = (i8 if sweep.folds[-1].counting and sweep.inputs == 1 else f4,) * (len(sweep.results) or 1)
        yield name, sweep_source(sweep, SweepForm(True, _works_in(inputs[0], results[0]), inputs, results, False))[0]
    for name, sweep in (sweeps.REDUCTIONS | NORMALIZATIONS).items():
        most = name in ("reduce_sum", "reduce_max", "all", "moments", "softmax_bp", "standardize_backward")
        for kind in ("float16", "float32", "float64", "int8", "int64", "bool") if most else ("float32",):
            dtype = DataType.of(kind).numpy
            counts = sweep.folds[0].counting
            if not counts and (kind == "bool" or (dtype.kind == "i" and not name.startswith("reduce"))):
                continue
            result = np.dtype(np.int64) if counts else dtype
            for rows in (True, False) if most else (True,):
                form = SweepForm(rows, _works_in(dtype, result), (dtype,) * sweep.inputs, (result,) * (len(sweep.results) or 1), not rows)
                whole, shared = sweep_source(sweep, form)
                label = f"{name} of {kind}, {'rows' if rows else 'columns'}"
                yield label, whole
                if most and kind == "float32":
                    yield f"{label}, shared", shared
