"""Source of sweeps: kernels that fold slices of arrays to numbers and may then go over the slices again.

The arrays are seen as (a, b, c, d): the slices run along b and d, one for each a and c. There are three forms. *Rows* fold along d in
registers. *Columns*, for d = 1, fold several slices side by side, since neighbours in memory belong to different ones. *Turned* rows
are so short that they are copied beside each other first and folded like columns.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..code.operators import TYPE_NAMES
from .sweep_spec import SHORT, Fold, Form, Sweep
from .sweep_writer import Writer, identity

#: Elements of a row that are summed in the element type before the sum is carried on in float64.
BLOCK = 1024
#: Slices that columns fold side by side, and turned rows.
CHUNK, TURNED = 512, 64
#: Rows that columns of one fold add up before they touch the running sums; more of it would compile for seconds.
AT_ONCE = 4


class _Rows(Writer):
    def write(self) -> str:
        self.head()
        self.inside("for a in range(A):")
        self.inside("for c in range(C):")
        self.start("ac")
        self.first([self.sweep.each, *(text for f in self.sweep.folds for text in (f.term, f.result))], "x0ac")
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
        run = "for d in range(D):"
        if blocks:
            self.inside(f"for s in range(0, D, {BLOCK}):")
            self.put(f"t = {identity(fold, part)}")
            run = f"for d in range(s, min(s + {BLOCK}, D)):"
        self.inside(run)
        self.load("acb", "d")
        term = self.text(fold.term)
        self.recall(fold.term, "d", "acb")
        if fold.keep:          # a loop that stores may run in another order where arrays lie close together: it must not add up
            self.put(f"put(y0, {self.kept('d', 'acb')}, {term})")
            self.depth -= 1
            self.inside(run)
            term = f"at(y0, {self.kept('d', 'acb')})"
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


class _Columns(Writer):
    chunk = CHUNK

    def begin(self) -> None:
        """Once the first of some slices side by side is known."""
        self.start("a", shift="s")

    def end(self) -> None:
        """When these slices are done."""

    def types(self, fold: Fold) -> tuple[Any, Any]:
        """As everywhere, but sums that are touched by every row stay in the element type: conversions cost more than the rest."""
        part, wide = super().types(fold)
        return (part, wide) if self.at_once(fold) > 1 or fold.counting else (part, part)

    def at_once(self, fold: Fold) -> int:
        return AT_ONCE if fold.combine != "prod" and len(self.sweep.folds) == 1 and not self.sweep.each else 1

    def write(self) -> str:
        self.head()
        for k, fold in enumerate(self.sweep.folds):
            wide = self.types(fold)[1]
            self.put(f"w{k} = scratch({self.chunk}, {TYPE_NAMES[wide]})")
            if self.sweep.each or k + 1 < len(self.sweep.folds):
                self.put(f"r{k} = scratch({self.chunk}, {TYPE_NAMES[wide if fold.counting else self.form.works_in]})")
        self.inside("for a in range(A):")
        self.inside(f"for s in range(0, C, {self.chunk}):")
        self.put(f"m = min({self.chunk}, C - s)")
        self.begin()
        depth = self.depth
        for k, fold in enumerate(self.sweep.folds):
            self.fold(k, fold)
        if self.sweep.each:
            self.inside("for b in range(B):")
            self.start("b", "a")
            self.inside("for c in range(m):")
            self.load("ab", "c")
            self.beside([self.sweep.each])
            self.each("ab", "c", "[c]")
            self.depth = depth
        self.end()
        return "\n".join(self.lines) + "\n"

    def fold(self, k: int, fold: Fold) -> None:
        part, wide = self.types(fold)
        at_once = self.at_once(fold)
        self.inside("for c in range(m):")
        self.put(f"w{k}[c] = {identity(fold, wide)}")
        self.depth -= 1
        if at_once > 1:
            self.inside(f"for b in range(0, B - B % {at_once}, {at_once}):")
            self.step(k, fold, at_once, part, wide)
        self.inside(f"for b in range({f'B - B % {at_once}' if at_once > 1 else 0}, B):")
        self.step(k, fold, 1, part, wide)
        self.inside("for c in range(m):")
        self.beside([fold.result])
        self.put(f"t = {self.total(fold, f'w{k}[c]')}")
        if self.sweep.each or k + 1 < len(self.sweep.folds):
            self.put(f"r{k}[c] = {self.text(fold.result, '[c]')}")
        else:
            self.put(f"r{k} = {self.text(fold.result, '[c]')}")
            for i, text in enumerate(self.sweep.results):
                self.put(f"y{i}[a, s + c] = {TYPE_NAMES[self.form.result]}({self.text(text, '[c]', f'r{k}')})")
        self.depth -= 1

    def beside(self, expressions: Iterable[str]) -> None:
        self.first(expressions, f"x0a + c * {self.form.dtypes[0].itemsize}")

    def step(self, k: int, fold: Fold, count: int, part: Any, wide: Any) -> None:
        """Some rows into the running totals; several of them are joined in pairs before."""
        self.start("b", "a")
        self.inside("for c in range(m):")
        self.beside([fold.term])
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


class _Turned(_Columns):
    """Columns of copies: the operands for each element are called g0, g1, …, and x0, …, y0 are what they are copied to or from."""

    chunk = TURNED

    def given(self) -> dict[str, str]:
        """What stands for the operands in the list of parameters."""
        return {name: f"g{k}" for k, name in enumerate(self.operands())}

    def head(self) -> None:
        super().head()
        self.put("B = D")
        dtypes = (*self.form.dtypes, self.form.result)
        for name, dtype in zip(self.operands(), dtypes):
            self.put(f"{name} = scratch({SHORT * TURNED}, {TYPE_NAMES[dtype]})")
            self.put(f"{name}a, {name}sb = 0, {TURNED * dtype.itemsize}")

    def begin(self) -> None:
        for k in range(self.sweep.inputs):
            self.copied(f"x{k}", f"g{k}", "put({0}, {0}ab + c * {2}, at({1}, {1}ab + c * {1}sc))", self.form.dtypes[k].itemsize)

    def end(self) -> None:
        if self.sweep.each:
            g = self.given()["y0"]
            self.copied("y0", g, "put({1}, {1}ab + c * {1}sc, at({0}, {0}ab + c * {2}))", self.form.result.itemsize)

    def copied(self, name: str, given: str, text: str, size: int) -> None:
        self.inside("for b in range(B):")
        self.put(f"{name}ab = b * {name}sb")
        self.put(f"{given}ab = a * {given}sa + s * {given}sc + b * {given}sd")
        self.inside("for c in range(m):")
        self.put(text.format(name, given, size))
        self.depth -= 2


def source_of(sweep: Sweep, form: Form) -> str:
    """Source of the kernel: ``kernel(x0, …, y0, …)``, inputs (and an output for each element) in four dimensions, others in two."""
    return (_Turned if form.turned else _Rows if form.rows else _Columns)(sweep, form).write()
