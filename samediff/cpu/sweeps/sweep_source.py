"""Source of sweeps: kernels that fold slices of arrays to numbers and may then go over the slices again.

The arrays are seen as (a, b, c, d): the slices run along b and d, one for each a and c. There are three forms. *Rows* fold along d in
registers. *Columns*, for d = 1, fold several slices side by side, since neighbours in memory belong to different ones. *Turned* rows
are so short that they are copied beside each other first and folded like columns.
"""
from __future__ import annotations

import functools
from typing import Any

from ...expressions.scalar_node import Expr
from ...plans.sweeps.spec import Sweep
from ...plans.sweeps.traced import SecondPass, TracedStage, reads
from ..library.operators import PRINTER, TYPE_NAMES
from .specialization import SHORT, SweepSpecialization
from .sweep_writer import SweepWriter

#: Elements of a row that are summed in the element type before the sum is carried on in float64.
BLOCK = 1024
#: Slices that columns fold side by side, and transposed rows.
CHUNK, TURNED = 512, 64
#: Rows that columns of one fold add up before they touch the running sums; more of it would compile for seconds.
AT_ONCE = 4
#: Rows that columns of several folds add up in the element type.
ROWS = 64


class _RowLoops(SweepWriter):
    def write(self) -> str:
        self.head()
        self.inside("for a in range(A):")
        self.inside("for c in range(C):")
        self.start("ac")
        if self.sweep.second_pass:
            self.first("x0ac")
        for k, fold in enumerate(self.sweep.folds):
            self.fold(k, fold)
            if self.sweep.second_pass and k == 1:
                self.inside(f"if not ({self.text(self.sweep.second_pass.near)}):")
                self.put(f"first = {self.moved()}")
                self.put(f"unit = {self.text(self.sweep.second_pass.unit)}")
                for i, stage in enumerate(self.sweep.second_pass.folds):
                    self.fold(i, stage)
                self.depth -= 1
        result = TYPE_NAMES[self.form.result]
        for k, text in enumerate(self.sweep.results):
            self.put(f"y{k}[a, c] = {result}({self.text(text)})")
        if self.sweep.epilogue:
            self.inside("for b in range(B):")
            self.start("b", "ac")
            self.inside("for d in range(D):")
            self.load("acb", "d")
            self.epilogue(self.sweep.epilogue, "acb", "d", "")
        return "\n".join(self.lines) + "\n"

    def fold(self, k: int, fold: TracedStage) -> None:
        part, wide = self.types(fold)
        blocks = part != wide or (fold.combine == "sum" and part.kind == "f")
        depth = self.depth
        self.put(f"{'w' if blocks else 't'} = {PRINTER.identity(fold.combine, wide)}")
        if blocks and part == wide:
            self.put("e = 0.0")
        self.inside("for b in range(B):")
        self.start("b", "ac")
        run = "for d in range(D):"
        if blocks:
            self.inside(f"for s in range(0, D, {BLOCK}):")
            self.put(f"t = {PRINTER.identity(fold.combine, part)}")
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
        if blocks and part == wide:          # compensated summation: the rounding error of the sum of blocks is kept
            for text in ("u = w + t", "z = u - w", "e += (w - (u - z)) + (t - z)", "w = u"):
                self.put(text)
        elif blocks:
            self.put(f"w = w + {TYPE_NAMES[wide]}(t)")
        self.depth = depth
        if blocks:
            self.put(f"t = {self.total(fold, 'w + e if e == e else w' if part == wide else 'w')}")
        self.put(f"r{k} = {self.text(fold.result)}")


class _ColumnLoops(SweepWriter):
    chunk = CHUNK

    def begin(self) -> None:
        """Once the first of some slices side by side is known."""
        self.start("a", shift="s")

    def end(self) -> None:
        """Write what follows when all slices of a block are done."""

    def at_once(self, fold: TracedStage) -> int:
        return AT_ONCE if fold.combine != "prod" and len(self.sweep.folds) == 1 and not self.sweep.epilogue else 1

    def parted(self, fold: TracedStage) -> bool:
        """Whether rows add to sums of the element type that are carried on now and then: conversions cost more than the rest."""
        part, wide = self.types(fold)
        return part != wide and self.at_once(fold) == 1 and not fold.counting

    def is_kept(self, k: int) -> bool:
        """Whether what a fold leaves is an array."""
        return bool(self.sweep.epilogue or self.sweep.second_pass) or k + 1 < len(self.sweep.folds)

    def write(self) -> str:
        self.head()
        for k, fold in enumerate(self.sweep.folds):
            part, wide = self.types(fold)
            self.put(f"w{k} = scratch({self.chunk}, {TYPE_NAMES[wide]})")
            if self.parted(fold):
                self.put(f"p{k} = scratch({self.chunk}, {TYPE_NAMES[part]})")
            if self.is_kept(k):
                self.put(f"r{k} = scratch({self.chunk}, {TYPE_NAMES[fold.result.dtype]})")
        if self.sweep.second_pass:
            self.put(f"origin = scratch({self.chunk}, {self.T})")
            self.put(f"units = scratch({self.chunk}, {self.T})")
        self.inside("for a in range(A):")
        self.inside(f"for s in range(0, C, {self.chunk}):")
        self.put(f"m = min({self.chunk}, C - s)")
        self.begin()
        depth = self.depth
        if self.sweep.second_pass:
            self.inside("for c in range(m):")
            self.first(f"x0a + c * {self.form.dtypes[0].itemsize}")
            self.put("origin[c] = first")
            self.depth -= 1
            self.put("far = 0")
        for k, fold in enumerate(self.sweep.folds):
            self.fold(k, fold)
            if self.sweep.second_pass and k == 1:
                self.second_pass(fold, self.sweep.second_pass)
        if self.sweep.second_pass and self.sweep.results:
            self.inside("for c in range(m):")
            self.beside(*self.sweep.results)
            self.slices()
            self.depth = depth
        if self.sweep.epilogue:
            self.inside("for b in range(B):")
            self.start("b", "a")
            self.inside("for c in range(m):")
            self.load("ab", "c")
            self.beside(self.sweep.epilogue)
            self.epilogue(self.sweep.epilogue, "ab", "c", "[c]")
            self.depth = depth
        self.end()
        return "\n".join(self.lines) + "\n"

    def second_pass(self, fold: TracedStage, second: SecondPass) -> None:
        """The second pass, for slices that need it; others come to the same again."""
        self.inside("if far:")
        self.inside("for c in range(m):")
        self.put(f"t = {self.total(fold, self.sums(1, fold))}")
        self.put(f"close = {self.text(second.near, '[c]')}")
        self.put(f"origin[c] = origin[c] if close else {self.moved('[c]', 'origin[c]')}")
        self.put(f"units[c] = {self.T}(1) if close else {self.T}({self.text(second.unit, '[c]')})")
        self.depth -= 1
        for k, stage in enumerate(second.folds):
            self.fold(k, stage, again=True)
        self.depth -= 1

    def slices(self, local: str = "") -> None:
        """Write the results of each slice."""
        for i, text in enumerate(self.sweep.results):
            self.put(f"y{i}[a, s + c] = {TYPE_NAMES[self.form.result]}({self.text(text, '[c]', local)})")

    def sums(self, k: int, fold: TracedStage) -> str:
        """The place of a total."""
        return f"{'p' if self.parted(fold) else 'w'}{k}[c]"

    def fold(self, k: int, fold: TracedStage, again: bool = False) -> None:
        part, wide = self.types(fold)
        at_once = self.at_once(fold)
        parted, sums = self.parted(fold), self.sums(k, fold)
        self.inside("for c in range(m):")
        self.put(f"{sums} = {PRINTER.identity(fold.combine, part if parted else wide)}")
        self.depth -= 1
        if parted:
            self.inside(f"if B >= {ROWS}:")
            self.inside("for c in range(m):")
            self.put(f"w{k}[c] = {PRINTER.identity(fold.combine, wide)}")
            self.depth -= 2
        if at_once > 1:
            self.inside(f"for b in range(0, B - B % {at_once}, {at_once}):")
            self.step(k, fold, at_once, part, wide)
            self.depth -= 1
        self.inside(f"for b in range({f'B - B % {at_once}' if at_once > 1 else 0}, B):")
        self.step(k, fold, 1, part, wide)
        if parted:
            self.inside(f"if b % {ROWS} == {ROWS - 1} or (b == B - 1 and B >= {ROWS}):")
            self.inside("for c in range(m):")
            self.put(f"w{k}[c] += {TYPE_NAMES[wide]}(p{k}[c])")
            self.put(f"p{k}[c] = {self.total(fold, f'w{k}[c]')} if b == B - 1 else {PRINTER.identity(fold.combine, part)}")
            self.depth -= 2
        self.depth -= 1
        self.inside("for c in range(m):")
        self.beside(fold.result)
        self.put(f"t = {self.total(fold, sums)}")
        self.put(f"{f'r{k}[c]' if self.is_kept(k) else f'r{k}'} = {self.text(fold.result, '[c]')}")
        if not self.is_kept(k):
            self.slices(f"r{k}")
        if self.sweep.second_pass and k == 1 and not again:
            self.put(f"far |= 0 if {self.text(self.sweep.second_pass.near, '[c]')} else 1")
        self.depth -= 1

    def beside(self, *expressions: Expr) -> None:
        if "first" in reads(*expressions):
            self.put("first = origin[c]")
        if "unit" in reads(*expressions):
            self.put("unit = units[c]")

    def step(self, k: int, fold: TracedStage, count: int, part: Any, wide: Any) -> None:
        """Write the loop that adds ``count`` rows to the totals; several rows are combined in pairs before."""
        self.start("b", "a")
        self.inside("for c in range(m):")
        self.beside(fold.term)
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
        if self.parted(fold):
            self.put(f"p{k}[c] = {self.combine(fold, f'p{k}[c]', 't0', part)}")
        else:
            self.put(f"w{k}[c] = {self.combine(fold, f'w{k}[c]', f'{TYPE_NAMES[wide]}(t0)', wide)}")
        self.depth -= 1


class _TransposedRowLoops(_ColumnLoops):
    """Columns of copies: the operands for each element are called g0, g1, …, and x0, …, y0 are what they are copied to or from."""

    chunk = TURNED

    def types(self, fold: TracedStage) -> tuple[Any, Any]:
        """Types of partial and final totals; sums of few elements stay in the element type."""
        part, wide = super().types(fold)
        return (part, wide) if self.at_once(fold) > 1 or fold.counting else (part, part)

    def given(self) -> dict[str, str]:
        """The parameter names of the operands."""
        return {name: f"g{k}" for k, name in enumerate(self.operands())}

    def head(self) -> None:
        super().head()
        self.put("B = D")
        dtypes = (*self.form.dtypes, self.form.result)
        for name, dtype in zip(self.operands(), dtypes):
            self.put(f"{name} = scratch({SHORT * TURNED}, {TYPE_NAMES[dtype]})")
            self.put(f"{name}a, {name}sb = 0, {TURNED * dtype.itemsize}")

    def begin(self) -> None:
        for k in range(len(self.form.dtypes)):
            self.copied(f"x{k}", f"g{k}", "put({0}, {0}ab + c * {2}, at({1}, {1}ab + c * {1}sc))", self.form.dtypes[k].itemsize)

    def end(self) -> None:
        if self.sweep.epilogue:
            g = self.given()["y0"]
            self.copied("y0", g, "put({1}, {1}ab + c * {1}sc, at({0}, {0}ab + c * {2}))", self.form.result.itemsize)

    def copied(self, name: str, given: str, text: str, size: int) -> None:
        self.inside("for b in range(B):")
        self.put(f"{name}ab = b * {name}sb")
        self.put(f"{given}ab = a * {given}sa + s * {given}sc + b * {given}sd")
        self.inside("for c in range(m):")
        self.put(text.format(name, given, size))
        self.depth -= 2


@functools.lru_cache(maxsize=1024)
def source_of(sweep: Sweep, form: SweepSpecialization) -> str:
    """Source of the kernel: ``kernel(x0, …, y0, …)``, inputs (and an output for each element) in four dimensions, others in two."""
    return (_TransposedRowLoops if form.transposed else _RowLoops if form.rows else _ColumnLoops)(sweep, form).write()
