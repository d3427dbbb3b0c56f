"""Numba source of a kernel from a group of expressions.

An entry (:mod:`~dl4py.samediff.cpu.native.instruction`) of the operands ``x0, x1, …, y0, y1, …``. Each is an array over the
collapsed loops along which it varies (one element where it varies along none). Sizes are read from the arrays, so one kernel
serves every batch size. The work is divided by ranges of the outermost loop, if its iterations write different elements.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...expressions.scalar import DType
from ...expressions.scalar_node import Expr, nodes
from ...plans.layout import OperandLayout, OutputReduction
from ..library.operators import PRINTER, TYPE_NAMES, NoKernel
from ..native.instruction import ArrayOperand as Table
from ..native.instruction import found

#: Elements that are summed in the element type before the sum is carried on in float64.
BLOCK = 1024

_COMBINE = {"sum": "{0} + {1}", "mean": "{0} + {1}", "prod": "{0} * {1}", "max": "vmax({0}, {1})",
            "min": "vmin({0}, {1})"}
_INTEGER = {**_COMBINE, "max": "{0} if {0} > {1} else {1}", "min": "{0} if {0} < {1} else {1}"}


@dataclass
class KernelOperand:
    """A parameter of the kernel: its name, type, and the loops along which it varies."""

    name: str
    dtype: DType
    dims: tuple[int, ...]

    @property
    def element(self) -> str:
        """Source of the element at the current indices."""
        return self.at(self.name)

    def at(self, name: str) -> str:
        """Source of the element at the current indices of an array that lies like this one."""
        return f"{name}[{', '.join(f'j{d}' for d in self.dims) or 0}]"


class _Target(KernelOperand):
    """An output of the kernel, stored or reduced."""

    def __init__(self, name: str, value: Expr, dims: tuple[int, ...], loops: int, reduction: OutputReduction | None) -> None:
        super().__init__(name, value.dtype, dims)
        self.stored = name
        self.value, self.kind = value, reduction.kind if reduction else None
        self.start = loops  # first loop of the run of reduced loops at the end
        while self.kind and self.start and self.start - 1 not in dims:
            self.start -= 1
        reduced = [d for d in range(loops) if d not in dims]
        self.reduced = reduced
        self.in_memory = self.kind is not None and (self.start == loops or any(d < self.start for d in reduced))
        self.wide = np.dtype(np.float64) if self.dtype == np.float32 else self.dtype
        if self.kind and self.dtype.kind not in "fiu":
            raise NoKernel(f"{self.kind} of {self.dtype}")

    def combine(self, a: str, b: str, dtype: DType, reorder: bool = False) -> str:
        """Source that joins two partial results of a type."""
        assert self.kind is not None
        if reorder and dtype.kind == "f" and self.kind in ("sum", "mean"):
            return f"radd({a}, {b})"
        text = (_COMBINE if dtype.kind == "f" else _INTEGER)[self.kind].format(a, b)
        return text if dtype.kind == "f" else f"{TYPE_NAMES[dtype]}({text})"


class _KernelWriter:
    def __init__(self, inputs: Sequence[KernelOperand], targets: Sequence[_Target], loops: int) -> None:
        self.inputs, self.targets, self.loops = inputs, targets, loops
        self.lines: list[str] = []
        self.depth = 1
        self.order = nodes(t.value for t in targets)
        self.names = {e: f"t{k}" for k, e in enumerate(self.order)}
        self.level: dict[Expr, int] = {}
        by_index = dict(enumerate(inputs))
        for e in self.order:
            dims = by_index[e.value].dims if e.op == "input" else ()
            self.level[e] = max([self.level[a] for a in e.args] + [dims[-1] + 1 if dims else 0])

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def statements(self, level: int) -> None:
        """Write the values that depend only on the indices of the first ``level`` loops."""
        here = [e for e in self.order if self.level[e] == level]
        computed = dict(PRINTER.values(here, self.names))
        for e in here:
            if e.op != "constant":
                self.put(f"{self.names[e]} = {self.inputs[e.value].element if e.op == 'input' else computed[e]}")

    def nest(self, dims: Sequence[int], text: str) -> None:
        """A loop nest of its own around one statement."""
        for d in dims:
            self.put(f"for j{d} in range(n{d}):")
            self.depth += 1
        self.put(text)
        self.depth -= len(dims)

    def loop(self, d: int) -> None:
        """Write loop ``d`` and everything inside it."""
        registers = [t for t in self.targets if t.kind and t.start < self.loops]
        for t in registers:
            if t.start == d:
                self.put(f"s_{t.name} = {PRINTER.identity(t.kind or '', t.wide)}")
        if d == self.loops:
            self.body()
            return
        last = d == self.loops - 1 and bool(registers)
        if last:
            self.put(f"for b in range(0, n{d}, {BLOCK}):")
            self.depth += 1
            for t in registers:
                self.put(f"a_{t.name} = {PRINTER.identity(t.kind or '', t.dtype)}")
            self.put(f"for j{d} in range(b, min(b + {BLOCK}, n{d})):")
        else:
            self.put(f"for j{d} in range(n{d}):")
        self.depth += 1
        self.statements(d + 1)
        self.loop(d + 1)
        self.depth -= 1
        if last:
            for t in registers:
                block = f"{TYPE_NAMES[t.wide]}(a_{t.name})"
                self.put(f"s_{t.name} = {t.combine(f's_{t.name}', block, t.wide)}")
            self.depth -= 1
        for t in registers:
            if t.start == d:
                self.store(t)

    def body(self) -> None:
        for t in self.targets:
            value = PRINTER.ref(t.value, self.names)
            if t.kind is None:
                self.put(f"{t.at(t.stored)} = {value}")
            elif t.start < self.loops:
                self.put(f"a_{t.name} = {t.combine(f'a_{t.name}', value, t.dtype, reorder=True)}")
            else:
                self.put(f"{t.element} = {t.combine(t.element, value, t.dtype)}")

    def store(self, t: _Target) -> None:
        name = TYPE_NAMES[t.dtype]
        if t.in_memory:
            self.put(f"{t.element} = {t.combine(t.element, f'{name}(s_{t.name})', t.dtype)}")
        else:
            count = " * ".join(f"n{d}" for d in t.reduced)
            self.put(f"{t.element} = {name}(s_{t.name}{f' / ({count})' if t.kind == 'mean' else ''})")

    def write(self, heads: Sequence[str]) -> str:
        self.lines.append("def entry(table, part, parts):")
        for text in heads:
            self.put(text)
        self.statements(0)
        in_memory = [t for t in self.targets if t.in_memory]
        for t in in_memory:
            self.nest(t.dims, f"{t.element} = {PRINTER.identity(t.kind or '', t.dtype)}")
        self.loop(0)
        for t in in_memory:
            if t.kind == "mean":
                count = " * ".join(f"n{d}" for d in t.reduced)
                self.nest(t.dims, f"{t.element} = {TYPE_NAMES[t.dtype]}({t.element} / ({count}))")
        return "\n".join(self.lines) + "\n"


def splits(outputs: Sequence[KernelOperand]) -> bool:
    """Whether iterations of the outermost loop write different elements, so that they can be divided among threads."""
    return all(0 in o.dims for o in outputs)


def source_of(exprs: Sequence[Expr], loops: int, inputs: Sequence[KernelOperand], outputs: Sequence[tuple[int, ...]],
              reductions: Sequence[OutputReduction | None], in_place: Mapping[int, int], dense: Sequence[bool], multiple: int = 1) -> str:
    """Source of the kernel that computes ``exprs``.

    Parameters
    ----------
    exprs : sequence of Expr
        One for each output.
    loops : int
        Number of nested loops.
    inputs : sequence of Operand
        The inputs by index.
    outputs : sequence of tuple of int
        The loops along which each output varies.
    reductions : sequence of Reduction or None
        What is done over the others.
    in_place : mapping
        Outputs that are the memory of an input: stores go through the input's name, else LLVM, which cannot know that
        both are one array, would leave the loop scalar.
    dense : sequence of bool
        Which operands are contiguous.
    multiple : int
        A power of two that divides the size of the innermost loop.

    Raises
    ------
    NoKernel
        When a type or function has no compiled form.
    """
    for e in nodes(exprs):
        if e.dtype not in TYPE_NAMES:
            raise NoKernel(f"{e.dtype} has no compiled arithmetic")
    targets = [_Target(f"y{k}", e, dims, loops, r) for k, (e, dims, r) in enumerate(zip(exprs, outputs, reductions))]
    for k, i in in_place.items():
        if targets[k].kind is None and targets[k].dims == inputs[i].dims:
            targets[k].stored = inputs[i].name
    sizes = []
    for d in range(loops):
        operand = next((o for o in (*inputs, *targets) if d in o.dims), None)
        if operand is None:
            raise NoKernel(f"no operand gives the size of loop {d}")
        known = f" & -{multiple}" if multiple > 1 and d == loops - 1 else ""
        sizes.append(f"n{d} = {operand.name}.shape[{operand.dims.index(d)}]{known}")
    shared = bool(loops) and splits(targets)
    forms = [Table(o.dtype, max(len(o.dims), 1), whole, 0 if shared and 0 in o.dims else None)
             for o, whole in zip((*inputs, *targets), dense)]
    return _KernelWriter(inputs, targets, loops).write([found([o.name for o in (*inputs, *targets)], forms), *sizes])


def dims_of(layout: OperandLayout, ranges: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The collapsed loops along which an operand varies."""
    return tuple(k for k, (start, _) in enumerate(ranges) if layout.varies[start])
