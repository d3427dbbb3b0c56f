"""Compiled elementwise kernels: checking of operands, views for the loops, calls."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import DataTypeError, ShapeError
from ...expressions.scalar_node import Expr, inputs_of, nodes
from ...plans.layout import OperandLayout, OutputReduction, collapse
from ..native.instruction import Entry, Instruction, entry_of_source
from .emit import KernelOperand, dims_of, source_of

if TYPE_CHECKING:
    from ..native.program import Program

Array = np.ndarray[Any, Any]

#: Nanoseconds that a function takes for an element, where that is more than for a sum.
COSTS = {"exp": 0.4, "log": 0.6, "tanh": 0.4, "erf": 0.6, "expm1": 0.6, "log1p": 0.8, "power": 3.0, "sin": 5.0, "cos": 5.0,
         "input": 0.05, "constant": 0.0}

#: Floats of the widest vector.
LANES = 16

_UNUSED = np.zeros(1, np.float32)  # stands in for inputs that no expression reads


class ArrayAlias:
    """A writable view of memory that NumPy calls read-only; kernels only read inputs, but have one signature."""

    def __init__(self, array: Array) -> None:
        self.base = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}


class ElementwiseKernel:
    """A compiled group of expressions.

    ``kernel(*inputs, out=...)`` checks everything at each call; :meth:`bind` checks once and returns a call without
    arguments.  The operands may be of any size: only layouts and types are compiled in.

    Attributes
    ----------
    source : str
        The generated Numba source.
    """

    def __init__(self, exprs: Sequence[Expr], layouts: Sequence[OperandLayout], outputs: Sequence[OperandLayout],
                 reductions: Sequence[OutputReduction | None], in_place: Mapping[int, int] | None = None, multiple: int = 1) -> None:
        self._made_from = (exprs, layouts, outputs, reductions)
        self.in_place, self.multiple = dict(in_place or {}), multiple
        self.ndim = len(layouts[0].varies) if layouts else len(outputs[0].varies)
        types = inputs_of(exprs)
        self.used = tuple(i in types for i in range(len(layouts)))
        known = [l if used else OperandLayout.scalar(self.ndim) for l, used in zip(layouts, self.used)]
        self.layouts = (*known, *outputs)
        self.inputs = len(layouts)
        self.ranges = collapse(self.ndim, self.layouts)
        self.dtypes = (*(types.get(i, np.dtype(np.float32)) for i in range(len(layouts))), *(e.dtype for e in exprs))
        dims = self._dims = [dims_of(l, self.ranges) for l in self.layouts]
        operands = [KernelOperand(f"x{i}", self.dtypes[i], dims[i]) for i in range(self.inputs)]
        self.dense = tuple(l.dense for l in self.layouts)
        self.source = source_of(exprs, len(self.ranges), operands, dims[self.inputs :], reductions,
                                self.in_place, self.dense, multiple)
        self.splits = bool(self.ranges) and all(0 in d for d in dims[self.inputs :])
        self.cost = sum(COSTS.get(e.op, 0.1) for e in nodes(exprs))
        self.reduced = tuple(r is not None for r in reductions)

    @property
    def entry(self) -> Entry:
        """The function, which is compiled when its address is asked for, since a variant may take its place."""
        return entry_of_source(self.source)

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
        return view if view.flags.writeable else np.asarray(ArrayAlias(view))

    def views(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The operands (inputs, then outputs) as :attr:`entry` takes them, checked."""
        if len(arrays) != len(self.layouts):
            raise ShapeError(f"a kernel of {self.inputs} inputs and {len(self.layouts) - self.inputs} outputs got "
                             f"{len(arrays)} arrays")
        sizes: dict[int, int] = {}
        return tuple(self._view(k, a, sizes) if k >= self.inputs or self.used[k] else _UNUSED
                     for k, a in enumerate(arrays))

    def bind(self, *inputs: Array, out: Array | Sequence[Array]) -> Program:
        """A call without arguments on fixed arrays; reads and writes their memory each time."""
        outputs = out if isinstance(out, (tuple, list)) else (out,)
        from ..native.program import Program
        return Program([self.instruction(self.views((*inputs, *outputs)))])

    def instruction(self, views: Sequence[Array]) -> Instruction:
        """The call on :meth:`views`.

        Variants serve outputs that are the memory of an input, and rows that end in half a vector: vector code needs to know.
        """
        start = [v.__array_interface__["data"][0] for v in views]
        found = {k: i for k in range(len(views) - self.inputs) for i in range(self.inputs)
                 if start[i] == start[self.inputs + k] and views[i].strides == views[self.inputs + k].strides
                 and views[i].dtype == views[self.inputs + k].dtype}
        multiple = self._row_multiple(views)
        if found != self.in_place or multiple != self.multiple:
            return ElementwiseKernel(*self._made_from, found, multiple).instruction(views)
        size = max((v.size for v in views), default=0)
        return Instruction(self.entry, views, self.dense, (), 5 + size * self.cost, self.splits)

    def _row_multiple(self, views: Sequence[Array]) -> int:
        """What is known to divide the length of rows: half a vector, where that is left of them; LLVM would take it in quarters."""
        last = len(self.ranges) - 1
        row = next((v.shape[-1] for v, dims in zip(views, self._dims) if last in dims), 1)
        return LANES // 2 if last and row % LANES == LANES // 2 else 1

    def __call__(self, *inputs: Any, out: Any) -> Any:
        """Compute into ``out`` (an array, or a tuple for several outputs) and return it."""
        given = [np.asarray(x, dtype=d if used else None) for x, d, used in zip(inputs, self.dtypes, self.used)]
        given += inputs[self.inputs :]  # too many: refused below
        fit = [np.require(x, requirements=["C", "A"] if l.dense else ["A"]) for x, l in zip(given, self.layouts)]
        self.bind(*fit, out=out)()
        return out
