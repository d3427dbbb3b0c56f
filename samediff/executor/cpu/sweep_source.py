"""Source of sweeps: kernels that fold slices of arrays to numbers and may then go over the slices again.

The arrays are seen as (a, b, c, d): the slices run along b and d, one for each a and c. There are two forms. *Rows* fold along d in
registers. *Columns*, for d = 1, fold several slices side by side, since neighbours in memory belong to different ones.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .operators import TYPE_NAMES, literal

#: Elements of a row that are summed in the element type before the sum is carried on in float64.
BLOCK = 1024
#: Slices that columns fold side by side.
CHUNK = 512
#: Rows that columns of one fold add up before they touch the running sums; more of it would compile for seconds.
AT_ONCE = 4


@dataclass(frozen=True)
class Fold:
    """A pass over a slice.

    Attributes
    ----------
    term : str
        Of an element: ``x0``, ``x1``, … of the inputs, ``r0``, ``r1``, … of the folds before, ``first`` of the slice of x0.
    combine : "sum", "prod", "max" or "min"
    result : str
        Of the total ``t`` and the length ``n`` of a slice, besides what terms may use.
    counting : bool
        The terms are small whole numbers, whatever the type of the inputs.
    keep : bool
        The terms are stored in the output for each element, where what comes later finds them as ``kept``.
    """

    term: str = "x0"
    combine: Literal["sum", "prod", "max", "min"] = "sum"
    result: str = "t"
    counting: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Sweep:
    """Folds one after the other.

    Attributes
    ----------
    results : tuple of str
        What is stored for each slice, in terms of ``r0``, …; one output for each.
    each : str
        What is stored for each element instead; the only output, in the shape of x0.
    inputs : int
    """

    folds: tuple[Fold, ...]
    results: tuple[str, ...] = ()
    each: str = ""
    inputs: int = 1


@dataclass(frozen=True)
class Form:
    """What is compiled in: types, and along which of (a, b, c, d) each input varies (innermost only)."""

    rows: bool
    dtypes: tuple[Any, ...]            # of the inputs
    result: Any                        # of the outputs
    dense: tuple[bool, ...]            # whether an input varies along the innermost loop

    @property
    def works_in(self) -> Any:
        """The type of the arithmetic."""
        return self.dtypes[0]


class _Writer:
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
        outputs = [f"y{k}" for k in range(len(self.sweep.results) or 1)]
        names = [f"x{k}" for k in range(self.sweep.inputs)]
        self.inside(f"def kernel({', '.join(names + outputs)}):")
        self.put("A, B, C, D = x0.shape")
        self.put(f"n = {self.T}(B * D)")
        for name in names + (["y0"] if self.sweep.each else []):
            for k, axis in enumerate("abcd"):
                self.put(f"{name}s{axis} = {name}.strides[{k}] if {name}.shape[{k}] > 1 else 0")

    def operands(self) -> list[str]:
        return [f"x{k}" for k in range(self.sweep.inputs)] + (["y0"] if self.sweep.each else [])

    def start(self, axes: str, before: str = "", shift: str = "") -> None:
        """Distances of all operands once the indices of ``axes`` are known."""
        for name in self.operands():
            steps = [f"{axis} * {name}s{axis}" for axis in axes] + ([f"{shift} * {name}sc"] if shift else [])
            self.put(f"{name}{before}{axes} = " + " + ".join(([f"{name}{before}"] if before else []) + steps))

    def load(self, base: str, index: str, extra: str = "") -> None:
        """The elements of all inputs at an innermost index."""
        for k in range(self.sweep.inputs):
            size = self.form.dtypes[k].itemsize if self.form.dense[k] else 0
            self.put(f"x{k}_ = {self.T}(at(x{k}, x{k}{base} + {index} * {size}{extra.format(k)}))")

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


class _Rows(_Writer):
    def write(self) -> str:
        self.head()
        self.inside("for a in range(A):")
        self.inside("for c in range(C):")
        self.start("ac")
        self.put(f"first = {self.T}(at(x0, x0ac))")
        for k, fold in enumerate(self.sweep.folds):
            self.fold(k, fold)
        result = TYPE_NAMES[self.form.result]
        for k, text in enumerate(self.sweep.results):
            self.put(f"y{k}[a, c] = {result}({self.text(text)})")
        if self.sweep.each:
            self.inside("for b in range(B):")
            self.start("b", "ac")
            self.inside("for d in range(D):")
            self.load("acb", "d")
            self.each("acb", "d", "")
        return "\n".join(self.lines) + "\n"

    def fold(self, k: int, fold: Fold) -> None:
        part, wide = self.types(fold)
        blocks = part != wide or (fold.combine == "sum" and part.kind == "f")
        depth = self.depth
        self.put(f"{'w' if blocks else 't'} = {identity(fold, wide)}")
        if blocks and part == wide:
            self.put("e = 0.0")
        self.inside("for b in range(B):")
        self.start("b", "ac")
        if blocks:
            self.inside(f"for s in range(0, D, {BLOCK}):")
            self.put(f"t = {identity(fold, part)}")
            self.inside(f"for d in range(s, min(s + {BLOCK}, D)):")
        else:
            self.inside("for d in range(D):")
        self.load("acb", "d")
        term = self.text(fold.term)
        self.recall(fold.term, "d", "acb")
        if fold.keep:
            self.put(f"kept = {term}")
            self.put(f"put(y0, {self.kept('d', 'acb')}, kept)")
            term = "kept"
        self.put(f"t = {self.combine(fold, 't', f'{TYPE_NAMES[part]}({term})', part, reorder=True)}")
        self.depth -= 1
        if blocks and part == wide:          # what rounding takes from the sum of blocks is kept aside
            for text in ("u = w + t", "z = u - w", "e += (w - (u - z)) + (t - z)", "w = u"):
                self.put(text)
        elif blocks:
            self.put(f"w = w + {TYPE_NAMES[wide]}(t)")
        self.depth = depth
        if blocks:
            self.put(f"t = {self.total(fold, 'w + e if e == e else w' if part == wide else 'w')}")
        self.put(f"r{k} = {self.text(fold.result)}")


class _Columns(_Writer):
    def write(self) -> str:
        self.head()
        for k, fold in enumerate(self.sweep.folds):
            wide = self.types(fold)[1]
            self.put(f"w{k} = np.empty({CHUNK}, np.{wide})")
            if self.sweep.each or k + 1 < len(self.sweep.folds):
                self.put(f"r{k} = np.empty({CHUNK}, np.{wide if fold.counting else self.form.works_in})")
        self.inside("for a in range(A):")
        self.inside(f"for s in range(0, C, {CHUNK}):")
        self.put(f"m = min({CHUNK}, C - s)")
        self.start("a", shift="s")
        for k, fold in enumerate(self.sweep.folds):
            self.fold(k, fold)
        if self.sweep.each:
            self.inside("for b in range(B):")
            self.start("b", "a")
            self.inside("for c in range(m):")
            self.load("ab", "c")
            self.first(self.sweep.each)
            self.each("ab", "c", "[c]")
        return "\n".join(self.lines) + "\n"

    def fold(self, k: int, fold: Fold) -> None:
        part, wide = self.types(fold)
        at_once = AT_ONCE if fold.combine != "prod" and len(self.sweep.folds) == 1 and not self.sweep.each else 1
        self.inside("for c in range(m):")
        self.put(f"w{k}[c] = {identity(fold, wide)}")
        self.depth -= 1
        if at_once > 1:
            self.inside(f"for b in range(0, B - B % {at_once}, {at_once}):")
            self.step(k, fold, at_once, part, wide)
        self.inside(f"for b in range({f'B - B % {at_once}' if at_once > 1 else 0}, B):")
        self.step(k, fold, 1, part, wide)
        self.inside("for c in range(m):")
        self.first(fold.result)
        self.put(f"t = {self.total(fold, f'w{k}[c]')}")
        if self.sweep.each or k + 1 < len(self.sweep.folds):
            self.put(f"r{k}[c] = {self.text(fold.result, '[c]')}")
        else:
            self.put(f"r{k} = {self.text(fold.result, '[c]')}")
            for i, text in enumerate(self.sweep.results):
                self.put(f"y{i}[a, s + c] = {TYPE_NAMES[self.form.result]}({self.text(text, '[c]', f'r{k}')})")
        self.depth -= 1

    def first(self, expression: str) -> None:
        if "first" in expression:
            self.put(f"first = {self.T}(at(x0, x0a + c * {self.form.dtypes[0].itemsize}))")

    def step(self, k: int, fold: Fold, count: int, part: Any, wide: Any) -> None:
        """Some rows into the running totals; several of them are joined in pairs before."""
        self.start("b", "a")
        self.inside("for c in range(m):")
        self.first(fold.term)
        terms = []
        for u in range(count):
            self.load("ab", "c", f" + {u} * x{{0}}sb" if u else "")
            self.recall(fold.term, "c", "ab", f" + {u} * y0sb" if u else "")
            self.put(f"t{u} = {TYPE_NAMES[part]}({self.text(fold.term, '[c]')})")
            if fold.keep:
                self.put(f"put(y0, {self.kept('c', 'ab')}, t{u})")
            terms.append(f"t{u}")
        while len(terms) > 1:
            for u in range(0, len(terms), 2):
                self.put(f"{terms[u]} = {self.combine(fold, terms[u], terms[u + 1], part)}")
            terms = terms[::2]
        self.put(f"w{k}[c] = {self.combine(fold, f'w{k}[c]', f'{TYPE_NAMES[wide]}(t0)', wide)}")
        self.depth -= 2


def source_of(sweep: Sweep, form: Form) -> str:
    """Source of the kernel: ``kernel(x0, …, y0, …)``, inputs (and an output for each element) in four dimensions, others in two."""
    return (_Rows if form.rows else _Columns)(sweep, form).write()
