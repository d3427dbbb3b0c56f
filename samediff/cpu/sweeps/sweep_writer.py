"""Text that both forms of sweeps share: operands, distances, expressions, ways to combine."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...expressions.scalar_node import Expr
from ...plans.sweeps.spec import Sweep
from ...plans.sweeps.traced import TracedStage, reads, traced
from ..library.operators import PRINTER, TYPE_NAMES
from .specialization import SweepSpecialization


class SweepWriter:
    """Lines of source and the names in it."""

    def __init__(self, sweep: Sweep, form: SweepSpecialization) -> None:
        self.sweep, self.form = traced(sweep, (form.works_in,) * sweep.inputs), form
        self.lines: list[str] = []
        self.depth = 0
        self.T = TYPE_NAMES[form.works_in]

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def inside(self, text: str) -> None:
        self.put(text)
        self.depth += 1

    def head(self) -> None:
        """Parameters, sizes and strides; operands of size 1 stay where they are."""
        given = self.given()
        self.inside(f"def kernel({', '.join([*given.values(), *(f'y{k}' for k in range(len(self.sweep.results)))])}):")
        self.put(f"A, B, C, D = {given['x0']}.shape")
        self.put(f"n = {self.T}(B * D)")
        for name in given.values():
            self.put(f"{', '.join(f'{name}s{axis}' for axis in 'abcd')} = steps({name})")

    def given(self) -> dict[str, str]:
        """The parameter names of the operands."""
        return {name: name for name in self.operands()}

    def operands(self) -> list[str]:
        """Inputs, and the output for each element."""
        return [f"x{k}" for k in range(len(self.form.dtypes))] + (["y0"] if self.sweep.epilogue else [])

    def start(self, axes: str, before: str = "", shift: str = "") -> None:
        """Distances of all operands once the indices of ``axes`` are known."""
        for name in self.operands():
            steps = [f"{axis} * {name}s{axis}" for axis in axes] + ([f"{shift} * {name}sc"] if shift else [])
            self.put(f"{name}{before}{axes} = " + " + ".join(([f"{name}{before}"] if before else []) + steps))

    def first(self, place: str) -> None:
        """Write the element that is subtracted from all others; 0 in place of infinity and NaN, which would spoil the mean."""
        self.put(f"first = {self.T}(at(x0, {place}))")
        self.put(f"first = select(fabs(first) < inf, first, {self.T}(0))")

    def moved(self, results: str = "", first: str = "first") -> str:
        """The value subtracted instead of ``first``, where that is far from the mean."""
        return f"select(fabs(r0{results}) < inf, {first} + r0{results}, {self.T}(0))"

    def load(self, base: str, index: str, extra: str = "") -> None:
        """The elements of all inputs at an innermost index."""
        for k in range(len(self.form.dtypes)):
            size = self.form.dtypes[k].itemsize if self.form.dense[k] else 0
            element = f"at(x{k}, x{k}{base} + {index} * {size}{extra.format(k)})"
            self.put(f"x{k}_ = {element if self.form.dtypes[k] == self.form.works_in else f'{self.T}({element})'}")

    def text(self, e: Expr, results: str = "", local: str = "") -> str:
        """An expression in the names of the source; ``results`` indexes what folds left, but for a ``local`` one."""
        names = {name: f"{name}_" if name[0] == "x" else name + (results if name[0] == "r" and name != local else "") for name in reads(e)}
        return PRINTER.in_one(e, names)

    def kept(self, index: str, base: str) -> str:
        """The address of a stored term."""
        return f"y0{base} + {index} * {self.form.result.itemsize}"

    def recall(self, e: Expr, index: str, base: str, extra: str = "") -> None:
        """The stored term, where an expression reads it."""
        if "kept" in reads(e):
            self.put(f"kept = at(y0, {self.kept(index, base)}{extra})")

    def epilogue(self, e: Expr, base: str, index: str, results: str) -> None:
        """Write the store of one element."""
        self.recall(e, index, base)
        self.put(f"put(y0, {self.kept(index, base)}, {self.text(e, results)})")

    def types(self, fold: TracedStage) -> tuple[Any, Any]:
        """Types of a partial result and of the total."""
        if fold.counting:
            return np.dtype(np.int32), np.dtype(np.int64 if fold.combine == "sum" else np.int32)
        own = self.form.works_in
        return own, np.dtype(np.float64) if fold.combine == "sum" and own.kind == "f" else own

    def combine(self, fold: TracedStage, a: str, b: str, dtype: Any, reorder: bool = False) -> str:
        name = TYPE_NAMES[dtype]
        if fold.combine in ("max", "min"):
            if dtype.kind == "f":
                return f"v{fold.combine}({a}, {b})"
            return f"{name}({a} if {a} {'>' if fold.combine == 'max' else '<'} {b} else {b})"
        if reorder and dtype.kind == "f" and fold.combine == "sum":
            return f"radd({a}, {b})"
        text = f"{a} {'+' if fold.combine == 'sum' else '*'} {b}"
        return text if dtype.kind == "f" else f"{name}({text})"

    def total(self, fold: TracedStage, text: str) -> str:
        return text if fold.counting else f"{self.T}({text})"
