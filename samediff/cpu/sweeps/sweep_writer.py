"""What both forms of sweeps need to be written: operands, distances, expressions, ways to combine."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..code.operators import TYPE_NAMES, literal
from .sweep_spec import Fold, Form, Sweep


class Writer:
    """Lines of source and the names in it."""

    def __init__(self, sweep: Sweep, form: Form) -> None:
        self.sweep, self.form = sweep, form
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
        """What stands for the operands in the list of parameters."""
        return {name: name for name in self.operands()}

    def operands(self) -> list[str]:
        """Inputs, and the output for each element."""
        return [f"x{k}" for k in range(self.sweep.inputs)] + (["y0"] if self.sweep.each else [])

    def start(self, axes: str, before: str = "", shift: str = "") -> None:
        """Distances of all operands once the indices of ``axes`` are known."""
        for name in self.operands():
            steps = [f"{axis} * {name}s{axis}" for axis in axes] + ([f"{shift} * {name}sc"] if shift else [])
            self.put(f"{name}{before}{axes} = " + " + ".join(([f"{name}{before}"] if before else []) + steps))

    def first(self, expressions: Iterable[str], place: str) -> None:
        """What differences are taken from, where an expression reads it; 0 for infinity and NaN, which would spoil the mean."""
        if any("first" in e for e in expressions):
            self.put(f"first = {self.T}(at(x0, {place}))")
            self.put(f"first = select(fabs(first) < inf, first, {self.T}(0))")

    def load(self, base: str, index: str, extra: str = "") -> None:
        """The elements of all inputs at an innermost index."""
        for k in range(self.sweep.inputs):
            size = self.form.dtypes[k].itemsize if self.form.dense[k] else 0
            element = f"at(x{k}, x{k}{base} + {index} * {size}{extra.format(k)})"
            self.put(f"x{k}_ = {element if self.form.dtypes[k] == self.form.works_in else f'{self.T}({element})'}")

    def text(self, expression: str, results: str = "", local: str = "") -> str:
        """An expression of a fold in the names of the source; ``results`` indexes what folds left, but for a ``local`` one."""
        tokens = []
        for part in _tokens(expression):
            if part[0] == "x" and part[1:].isdigit():
                part += "_"
            elif part[0] == "r" and part[1:].isdigit() and part != local:
                part += results
            elif part == "T":
                part = self.T
            tokens.append(part)
        return "".join(tokens)

    def kept(self, index: str, base: str) -> str:
        """Distance of the stored term."""
        return f"y0{base} + {index} * {self.form.result.itemsize}"

    def recall(self, expression: str, index: str, base: str, extra: str = "") -> None:
        """The stored term, where an expression reads it."""
        if "kept" in expression:
            self.put(f"kept = at(y0, {self.kept(index, base)}{extra})")

    def each(self, base: str, index: str, results: str) -> None:
        """Store an element."""
        self.recall(self.sweep.each, index, base)
        self.put(f"put(y0, {self.kept(index, base)}, {self.text(self.sweep.each, results)})")

    def types(self, fold: Fold) -> tuple[Any, Any]:
        """Types of a partial result and of the total."""
        if fold.counting:
            return np.dtype(np.int32), np.dtype(np.int64 if fold.combine == "sum" else np.int32)
        own = self.form.works_in
        return own, np.dtype(np.float64) if fold.combine == "sum" and own.kind == "f" else own

    def combine(self, fold: Fold, a: str, b: str, dtype: Any, reorder: bool = False) -> str:
        name = TYPE_NAMES[dtype]
        if fold.combine in ("max", "min"):
            if dtype.kind == "f":
                return f"v{fold.combine}({a}, {b})"
            return f"{name}({a} if {a} {'>' if fold.combine == 'max' else '<'} {b} else {b})"
        if reorder and dtype.kind == "f" and fold.combine == "sum":
            return f"radd({a}, {b})"
        text = f"{a} {'+' if fold.combine == 'sum' else '*'} {b}"
        return text if dtype.kind == "f" else f"{name}({text})"

    def total(self, fold: Fold, text: str) -> str:
        return text if fold.counting else f"{self.T}({text})"


def _tokens(expression: str) -> list[str]:
    """Words and what stands between them."""
    parts: list[str] = []
    for c in expression:
        if parts and (c.isalnum() or c == "_") == (parts[-1][-1].isalnum() or parts[-1][-1] == "_"):
            parts[-1] += c
        else:
            parts.append(c)
    return parts


def identity(fold: Fold, dtype: Any) -> str:
    """What does not change a fold."""
    if fold.combine in ("sum", "prod"):
        return literal(fold.combine == "prod", dtype)
    if dtype.kind == "f":
        return literal(-np.inf if fold.combine == "max" else np.inf, dtype)
    return literal(np.iinfo(dtype).min if fold.combine == "max" else np.iinfo(dtype).max, dtype)
