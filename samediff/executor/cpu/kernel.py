"""Compiled elementwise kernels: checking of operands, views for the loops, calls."""
from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import DataTypeError, ShapeError
from ...scalar import DType
from ...scalar_node import Expr, inputs_of
from ..cache import function_of, jit
from ..layout import Layout, Reduction, collapse
from . import intrinsics, mathlib
from .emit import Operand, dims_of, source_of
from .operators import TYPE_NAMES

Array = np.ndarray[Any, Any]

_NAMES: dict[str, Any] = {
    **{name: dtype.type for dtype, name in TYPE_NAMES.items()},
    "np": np, "math": math, "inf": math.inf, "nan": math.nan,
    **{n: getattr(mathlib, n) for n in ("exp", "expm1", "log", "log1p", "tanh", "erf", "logaddexp", "remainder",
                                        "floor_divide", "radd")},
    **{n: getattr(intrinsics, n) for n in ("rint", "floor", "ceil", "trunc", "fabs", "sqrt", "copysign", "vmax",
                                           "vmin", "select")},
}


@functools.lru_cache(maxsize=4096)
def compile_source(source: str, types: tuple[tuple[DType, int, str], ...]) -> Any:
    """The compiled ``kernel`` of a source for arrays given as (element type, rank, layout ``"C"`` or ``"A"``)."""
    numba: Any = importlib.import_module("numba")  # its types are not ours to check
    signature = numba.void(*[numba.types.Array(numba.from_dtype(d), rank, layout) for d, rank, layout in types])
    function = function_of(source, "kernel", _NAMES)
    return jit(function, signature, error_model="numpy", nogil=True, fastmath={"contract"})


_UNUSED = np.zeros(1, np.float32)  # stands in for inputs that no expression reads


class _Alias:
    """A writable view of memory that NumPy calls read-only; kernels only read inputs, but have one signature."""

    def __init__(self, array: Array) -> None:
        self.base = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}


class Kernel:
    """A compiled group of expressions.

    ``kernel(*inputs, out=...)`` checks everything at each call; :meth:`bind` checks once and returns a call without
    arguments.  The operands may be of any size: only layouts and types are compiled in.

    Attributes
    ----------
    source : str
        The generated Numba source.
    raw : callable
        The compiled function on the views that :meth:`views` makes; checks nothing.
    """

    def __init__(self, exprs: Sequence[Expr], layouts: Sequence[Layout], outputs: Sequence[Layout],
                 reductions: Sequence[Reduction | None], in_place: Mapping[int, int] | None = None) -> None:
        self._made_from = (exprs, layouts, outputs, reductions)
        self.in_place = dict(in_place or {})
        self.ndim = len(layouts[0].varies) if layouts else len(outputs[0].varies)
        types = inputs_of(exprs)
        self.used = tuple(i in types for i in range(len(layouts)))
        known = [l if used else Layout.scalar(self.ndim) for l, used in zip(layouts, self.used)]
        self.layouts = (*known, *outputs)
        self.inputs = len(layouts)
        self.ranges = collapse(self.ndim, self.layouts)
        self.dtypes = (*(types.get(i, np.dtype(np.float32)) for i in range(len(layouts))), *(e.dtype for e in exprs))
        dims = [dims_of(l, self.ranges) for l in self.layouts]
        operands = [Operand(f"x{i}", self.dtypes[i], dims[i]) for i in range(self.inputs)]
        self.source = source_of(exprs, len(self.ranges), operands, dims[self.inputs :], reductions,
                                self.in_place)
        self.reduced = tuple(r is not None for r in reductions)
        self._types = tuple((d, max(len(k), 1), "C" if l.dense else "A")
                            for d, k, l in zip(self.dtypes, dims, self.layouts))
        self.raw: Callable[..., None] = compile_source(self.source, self._types)

    def _view(self, k: int, array: Array, sizes: dict[int, int]) -> Array:
        """Operand ``k`` as an array over its collapsed loops; sizes seen so far are checked and extended."""
        layout, what = self.layouts[k], f"input {k}" if k < self.inputs else f"output {k - self.inputs}"
        if array.dtype != self.dtypes[k]:
            raise DataTypeError(f"{what} of a kernel: expected {self.dtypes[k]}, got {array.dtype}")
        shape = (1,) * (self.ndim - array.ndim) + array.shape
        if k >= self.inputs and self.reduced[k - self.inputs] and array.ndim == sum(layout.varies):
            given = iter(array.shape)  # reduced without keeping the axes
            shape = tuple(next(given) if v else 1 for v in layout.varies)
        for d, size in enumerate(shape):
            if len(shape) != self.ndim or (sizes.setdefault(d, size) != size if layout.varies[d] else size != 1):
                raise ShapeError(f"{what} of a kernel: shape {array.shape} does not fit; it varies along "
                                 f"{[d for d in range(self.ndim) if layout.varies[d]]} of {self.ndim} dimensions "
                                 f"of sizes {sizes}")
        wanted = [math.prod(shape[a:b]) for a, b in self.ranges if layout.varies[a]] or [1]
        view = array.reshape(wanted)
        exact = view.flags.aligned and (view.flags.c_contiguous or not layout.dense)
        if not exact or (view.size and not np.may_share_memory(view, array)):
            raise ShapeError(f"{what} of a kernel: strides {array.strides} for shape {array.shape} are not the layout "
                             "that it was compiled for; make the array contiguous")
        return view if view.flags.writeable else np.asarray(_Alias(view))

    def views(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The operands (inputs, then outputs) as :attr:`raw` takes them, checked."""
        if len(arrays) != len(self.layouts):
            raise ShapeError(f"a kernel of {self.inputs} inputs and {len(self.layouts) - self.inputs} outputs got "
                             f"{len(arrays)} arrays")
        sizes: dict[int, int] = {}
        return tuple(self._view(k, a, sizes) if k >= self.inputs or self.used[k] else _UNUSED
                     for k, a in enumerate(arrays))

    def bind(self, *inputs: Array, out: Array | Sequence[Array]) -> Callable[[], None]:
        """A call without arguments on fixed arrays; reads and writes their memory each time."""
        outputs = out if isinstance(out, (tuple, list)) else (out,)
        views = self.views((*inputs, *outputs))
        return functools.partial(self.raw_for(views), *views)

    def raw_for(self, views: Sequence[Array]) -> Callable[..., None]:
        """:attr:`raw`, or its variant for outputs that are the memory of an input (vector code needs to know)."""
        start = [v.__array_interface__["data"][0] for v in views]
        found = {k: i for k in range(len(views) - self.inputs) for i in range(self.inputs)
                 if start[i] == start[self.inputs + k] and views[i].strides == views[self.inputs + k].strides
                 and views[i].dtype == views[self.inputs + k].dtype}
        return self.raw if found == self.in_place else Kernel(*self._made_from, found).raw

    def __call__(self, *inputs: Any, out: Any) -> Any:
        """Compute into ``out`` (an array, or a tuple for several outputs) and return it."""
        given = [np.asarray(x, dtype=d if used else None) for x, d, used in zip(inputs, self.dtypes, self.used)]
        given += inputs[self.inputs :]  # too many: refused below
        fit = [np.require(x, requirements=["C", "A"] if l.dense else ["A"]) for x, l in zip(given, self.layouts)]
        self.bind(*fit, out=out)()
        return out
