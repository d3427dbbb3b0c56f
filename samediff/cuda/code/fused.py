"""A fused group on a device: the launch that stores its values, for arrays of any layout."""
from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...errors import DataTypeError
from ...expressions import expression as ex
from ...expressions.scalar import BINARY, COMPARE, FUNCTIONS, LOGICAL, operand_type
from ...plans.actions import KernelLaunch
from ..sources import TYPES
from .emit import KernelSpecialization, fused_source
from .layout import Space, divisor, space_of
from .operators import PRINTER, NoText

THREADS = 256
#: Enough blocks to fill any device; further elements are turns of the loop.
BLOCKS = 4096


def fused_launch(exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> KernelLaunch | None:
    """One loop over the places of the outputs; None where there are none.

    Parameters
    ----------
    exprs : one for each output; converted where the type of an array is another one than that of the expression
    inputs : arrays of the device that broadcast to the shape of the outputs, or NumPy scalars
    outputs : arrays of one shape; each may be the memory of an input of the same shape and strides

    Raises
    ------
    NoText
        When a function has no text for a type.
    """
    used = sorted(ex.inputs_of(exprs))
    arrays = [*(inputs[k] for k in used), *outputs]
    space = space_of(outputs[0].shape, arrays)
    if not space.size:
        return None
    types = [a.dtype for a in arrays]
    given = ex.compose(exprs, {k: ex.input_(i, types[i]) for i, k in enumerate(used)})
    stored = tuple(ex.cast(e, y.dtype) for e, y in zip(given, outputs))
    form = form_of(space, types, len(used), numbers=numbers_in(arrays))
    count = -(-space.size // (THREADS * form.vector))
    index = np.int64 if form.wide else np.int32
    return KernelLaunch(_source(stored, form), "fused", (min(count, BLOCKS), 1, 1), (THREADS, 1, 1),
                  (*arrays, index(space.size), *arguments(space, form)))


_source = functools.lru_cache(maxsize=4096)(fused_source)


def numbers_in(operands: Sequence[Any]) -> tuple[int, ...]:
    """Positions of the operands that are scalars rather than arrays."""
    return tuple(k for k, a in enumerate(operands) if isinstance(a, np.generic))


def form_of(space: Space, types: Sequence[Any], inputs: int, vector: bool = True, numbers: tuple[int, ...] = ()) -> KernelSpecialization:
    """The specialization of the kernel for these operands, the first ``inputs`` of which are read."""
    every = range(len(types))
    width = _width(space, types, inputs) if vector else 1
    varies, dense = tuple(map(space.varies, every)), tuple(map(space.is_dense, every))
    return KernelSpecialization(len(space.sizes), tuple(types), varies, dense, space.is_wide, width, numbers)


def _width(space: Space, types: Sequence[Any], inputs: int) -> int:
    """Number of adjacent elements that one thread reads and writes as a vector."""
    width: int = max(2, min(8, 16 // max(t.itemsize for t in types)))
    last = len(space.sizes) - 1
    if last < 0 or (last > 0 and space.sizes[last] % width):
        return 1
    for k, strides in enumerate(space.strides):
        outer, inner = strides[:last], strides[last]
        if inner not in ((0, 1) if k < inputs else (1,)) or (inner and any(s % width for s in outer)):
            return 1
    return width


def arguments(space: Space, form: KernelSpecialization) -> list[Any]:
    """Sizes and strides as the text takes them."""
    sizes = list(space.sizes[1:]) + ([space.sizes[-1] // form.vector] if form.vector > 1 and form.rank > 1 else [])
    made: list[Any] = []
    for n in sizes:
        made += [np.int64(n)] if form.wide else [np.int32(n), *divisor(n)]
    index = np.int64 if form.wide else np.int32
    return made + [index(space.strides[k][d]) for k in range(len(form.types)) for d in form.strided(k)]


def functions_of(dtype: Any) -> dict[str, ex.Expr]:
    """Every function that is defined for numbers of a type, of inputs 0 and 1, and the conversions of input 0."""
    dtype, made = np.dtype(dtype), {}
    for name in sorted(FUNCTIONS):
        count = 2 if name in BINARY | COMPARE | LOGICAL else 1
        try:
            fits = operand_type(name, [dtype] * count, np.dtype(np.float32)) == dtype
            if fits:
                made[name] = ex.apply(name, *(ex.input_(k, dtype) for k in range(count)))
                PRINTER.text_of(made[name], lambda e: "")
        except (DataTypeError, NoText):
            made.pop(name, None)
    for other in TYPES:
        if other != dtype.name:
            made[f"to {other}"] = ex.cast(ex.input_(0, dtype), DataType.of(other).numpy)
    return made


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Texts of every kind, for checks that they compile."""
    for name in TYPES:
        dtype = DataType.of(name).numpy
        exprs = list(functions_of(dtype).values())
        x = np.zeros(8, dtype)
        launch = fused_launch(exprs, [x, x], [np.zeros(8, e.dtype) for e in exprs])
        yield f"functions of {name}", launch.source if launch else ""
    (total,) = ex.trace(lambda xp, x, y: x * y + 1, [np.dtype(np.float32)] * 2)
    for wide in (False, True):
        for width in (1, 4):
            form = KernelSpecialization(2, (np.dtype(np.float32),) * 3, ((True, True), (False, True), (True, True)),
                                        (True, False, True), wide, width)
            yield f"rows and a vector, {'wide' if wide else 'narrow'}, {width} at once", fused_source((total,), form)
