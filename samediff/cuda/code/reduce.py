"""A group of expressions folded over all elements: sums, means, products, largest and smallest values."""
from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...expressions import expression as ex
from ...expressions.scalar import DType
from ...plans.actions import KernelLaunch
from ...plans.layout import OutputReduction
from ..sources import text_of, type_name
from .emit import CudaWriter, KernelSpecialization
from .fused import arguments, form_of, numbers_in
from .layout import space_of
from .operators import PRINTER, NoText, work_type

THREADS = 256
#: Elements of a thread before there are more blocks, and the largest number of blocks.
EACH, BLOCKS = 32, 1024


def joined(combine: str) -> str:
    """The name in ``kernels/fold.cu`` of what joins two values."""
    return f"{'sum' if combine == 'mean' else combine}_of"


def _wide(kind: str, dtype: DType) -> DType:
    """The type in which threads are joined."""
    own = np.dtype(np.float32) if work_type(dtype) == "float" else dtype
    return np.dtype(np.float64) if own == np.float32 and kind in ("sum", "mean") else own


def _blocks(n: int) -> int:
    return max(1, min(BLOCKS, -(-n // (THREADS * EACH))))


def reduce_workspace(exprs: Sequence[ex.Expr], inputs: Sequence[Any], reductions: Sequence[OutputReduction]) -> tuple[TensorSpec, ...]:
    """The arrays that :func:`reduce_launches` needs besides, for arrays of these shapes."""
    n = int(np.prod(np.broadcast_shapes(*(tuple(a.shape) for a in inputs)), dtype=np.int64))
    return tuple(TensorSpec((_blocks(n),), DataType.of(_wide(r.kind, e.dtype))) for e, r in zip(exprs, reductions))


def reduce_launches(exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any], reductions: Sequence[OutputReduction],
                    workspace: Sequence[Any]) -> list[KernelLaunch]:
    """Each expression folded over all elements into an array of one element, always in the same order.

    Parameters
    ----------
    exprs : one for each output
    inputs : arrays of the device that broadcast together
    outputs : arrays of one element
    reductions : over all axes
    workspace : arrays as :func:`reduce_workspace` says
    """
    used = sorted(ex.inputs_of(exprs))
    arrays = [inputs[k] for k in used]
    space = space_of(np.broadcast_shapes(*(tuple(a.shape) for a in inputs)), arrays)
    types = [a.dtype for a in arrays]
    given = ex.compose(exprs, {k: ex.input_(i, types[i]) for i, k in enumerate(used)})
    if any(e.dtype.kind == "b" for e in given):
        raise NoText("folds of truth values")
    form = form_of(space, types, len(used), vector=False, numbers=numbers_in(arrays))
    kinds = tuple(r.kind for r in reductions)
    text = _source(tuple(given), form, kinds, tuple(y.dtype for y in outputs))
    index = np.int64 if form.wide else np.int32
    blocks = _blocks(space.size)
    made = [KernelLaunch(text, "fold", (blocks, 1, 1), (THREADS, 1, 1),
                   (*arrays, *workspace, *outputs, index(space.size), *arguments(space, form)))]
    if blocks > 1:
        made.append(KernelLaunch(text, "finish", (1, 1, 1), (THREADS, 1, 1),
                                 (*workspace, *outputs, np.int32(blocks), np.int64(space.size))))
    return made


@functools.lru_cache(maxsize=512)
def _source(exprs: tuple[ex.Expr, ...], form: KernelSpecialization, kinds: tuple[str, ...], results: tuple[DType, ...]) -> str:
    w = CudaWriter(exprs, form, 0)
    every = range(len(exprs))
    wide = [_wide(k, e.dtype) for k, e in zip(kinds, exprs)]
    own = [work_type(e.dtype) for e in exprs]
    parts = [f"{type_name(t)} *part{k}" for k, t in enumerate(wide)]
    stored = [f"{type_name(t)} *y{k}" for k, t in enumerate(results)]
    shared = "".join(f"    __shared__ {type_name(t)} room{k}[32];\n" for k, t in enumerate(wide))
    starts = "".join(f"    {own[k]} a{k} = {PRINTER.identity(kinds[k], exprs[k].dtype)};\n" for k in every)
    totals = "".join(f"    const {type_name(wide[k])} t{k}_ = over_block<{joined(kinds[k])}>(({type_name(wide[k])})a{k}, room{k});\n"
                     for k in every)
    last = "".join(f" store(*y{k}, t{k}_{' / n' if kinds[k] == 'mean' else ''});" for k in every)
    keep = "".join(f" part{k}[blockIdx.x] = t{k}_;" for k in every)
    values = [f"load(p{e.value}[{w.place(e.value)}])" for e in w.read] + [w.names[e] for e in w.handed]
    call = f"body({', '.join([*values, *(f'v{k}' for k in every)])});"
    joins = "".join(f" a{k} = {joined(kinds[k])}::of(a{k}, v{k});" for k in every)
    locals_ = "".join(f" {own[k]} v{k};" for k in every)
    parameters = ", ".join([*w.given(), *parts, *stored, f"const {form.index} n", *w.parameters()])
    fold = (f'extern "C" __global__ void fold({parameters}) {{\n{shared}{w.prologue()}{starts}'
            f"    const {form.index} step = ({form.index})gridDim.x * blockDim.x;\n"
            f"    for ({form.index} i = ({form.index})blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {{\n"
            f"        {w.indices()}\n       {locals_} {call}{joins}\n    }}\n{totals}"
            f"    if (threadIdx.x == 0) {{\n        if (gridDim.x == 1) {{{last} }} else {{{keep} }}\n    }}\n}}\n")
    gathered = "".join(f"    {type_name(wide[k])} a{k} = {PRINTER.identity(kinds[k], wide[k])};\n"
                       f"    for (int i = threadIdx.x; i < parts; i += blockDim.x) a{k} = {joined(kinds[k])}::of(a{k}, part{k}[i]);\n"
                       for k in every)
    given = ", ".join([*(f"const {p}" for p in parts), *stored, "const int parts", "const long long n"])
    finish = (f'extern "C" __global__ void finish({given}) {{\n{shared}{gathered}{totals}'
              f"    if (threadIdx.x == 0) {{{last} }}\n}}\n")
    return "".join([w.head(), text_of("fold.cu"), w.body(), fold, finish])


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Texts of every kind, for checks that they compile."""
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "int64"):
        x = np.zeros(8, DataType.of(name).numpy)
        exprs = [ex.input_(0, x.dtype)] * 5
        kinds = [OutputReduction("sum"), OutputReduction("mean"), OutputReduction("max"), OutputReduction("min"), OutputReduction("prod")]
        work = [np.zeros(1, s.dtype.numpy) for s in reduce_workspace(exprs, [x], kinds)]
        yield f"folds of {name}", reduce_launches(exprs, [x], [x[:1]] * 5, kinds, work)[0].source
