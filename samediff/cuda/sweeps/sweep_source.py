"""CUDA text of sweeps: slices of arrays folded to numbers, after which they may be gone over again.

Arrays are seen as (a, b, c, d): slices run along b and d, one for each a and c. In the form of *rows* neighbours in memory belong to
one slice, in that of *columns* (d is 1) to different ones. There are two ways to do the work: ``whole`` lets the threads that share a
slice do all of it; for few long slices ``part0``, ``total0``, ``part1``, … and ``epilogue`` share a slice among blocks, with what folds
leave in memory. Folds that do not need each other go over the slice together. A second pass from another origin
is folds of its own, since blocks that share a slice cannot turn back.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...expressions import expression as ex
from ...expressions.scalar import DType
from ...expressions.scalar_node import Expr
from ...plans.sweeps.spec import Sweep
from ...plans.sweeps.traced import TracedStage, TracedSweep, reads, traced
from ..code.operators import PRINTER
from ..sources import text_of, type_name


@dataclass(frozen=True)
class SweepForm:
    """The constants of a sweep's kernel.

    Attributes
    ----------
    works_in : type of the arithmetic; numbers of 16 bits are worked with as float32
    inputs, outputs : types of the arrays
    wide : whether indices have 64 bits
    """

    rows: bool
    works_in: DType
    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    wide: bool

    def loaded(self, k: int) -> DType:
        """The type of an input in expressions."""
        return self.inputs[k] if k and self.inputs[k].kind in "iu" else self.works_in

    def traced(self, sweep: Sweep) -> TracedSweep:
        """The expressions of a sweep without what a device does not do: keep terms and take second passes."""
        return _without_second_pass(_without_keeping(traced(sweep, tuple(self.loaded(k) for k in range(len(self.inputs))))))


def passes(sweep: TracedSweep) -> list[list[int]]:
    """The numbers of the folds that go over a slice together."""
    found: list[list[int]] = []
    for k, fold in enumerate(sweep.folds):
        if found and sweep.folds[found[-1][0]].unless is fold.unless and not reads(fold.term) & {f"r{i}" for i in found[-1]}:
            found[-1].append(k)
        else:
            found.append([k])
    return found


def _without_keeping(sweep: TracedSweep) -> TracedSweep:
    """The sweep with terms computed again rather than stored: memory is slower than arithmetic."""
    kept = next((f.term for f in sweep.folds if f.keep), None)
    table = {} if kept is None else {"kept": kept}
    return _with(sweep, [_stage(f, table) for f in sweep.folds], table)


def _without_second_pass(sweep: TracedSweep) -> TracedSweep:
    """The sweep with its second pass as separate folds, whose results are those of the first where ``near`` holds."""
    if sweep.second_pass is None:
        return sweep
    start, spread = sweep.folds[:2]
    own = start.term.dtype
    first, r0, total = ex.input_("first", own), ex.input_("r0", start.result.dtype), ex.input_("r1", own)
    near, unit = ex.compose([sweep.second_pass.near, sweep.second_pass.unit], {"t": total})
    (done,) = ex.compose([spread.result], {"t": total})
    moved = ex.where(ex.apply("isfinite", r0), ex.apply("add", first, r0), ex.constant(0, r0.dtype))
    table = {"first": ex.where(near, first, moved), "unit": unit,
             **{f"r{k}": ex.input_(f"r{k + 2}", fold.result.dtype) for k, fold in enumerate(sweep.folds)}}
    again = [replace(stage, result=ex.where(near, before, stage.result), unless=near)
             for stage, before in zip((_stage(f, table) for f in sweep.second_pass.folds), (r0, done))]
    more = [_stage(f, table) for f in sweep.folds[2:]]
    return _with(sweep, [start, replace(spread, result=ex.input_("t", own)), *again, *more], table)


def _with(sweep: TracedSweep, folds: Sequence[TracedStage], table: Mapping[str, Expr]) -> TracedSweep:
    """Other folds, and expressions in the place of names in what comes after them."""
    epilogue = None if sweep.epilogue is None else ex.compose([sweep.epilogue], table)[0]
    return replace(sweep, folds=tuple(folds), results=ex.compose(sweep.results, table), epilogue=epilogue)


def _stage(fold: TracedStage, table: Mapping[str, Expr]) -> TracedStage:
    """A fold with expressions in the place of names."""
    term, result = ex.compose([fold.term, fold.result], table)
    return replace(fold, term=term, result=result)


class _SweepTextWriter:
    def __init__(self, sweep: TracedSweep, form: SweepForm) -> None:
        self.sweep, self.form = sweep, form
        self.index = "long long" if form.wide else "int"
        self.T = type_name(form.works_in)
        self.passes = passes(sweep)

    def c(self, e: Expr) -> str:
        """An expression as C, in the names of its inputs."""
        return PRINTER.in_one(e, {name: name for name in reads(e)})

    def total_type(self, k: int) -> str:
        """The C type of a fold's total."""
        return "long long" if self.sweep.folds[k].counting else self.T

    def result_type(self, k: int) -> str:
        """The type of what a fold leaves."""
        return type_name(self.sweep.folds[k].result.dtype)

    def start(self, k: int) -> str:
        """The initial value of a fold."""
        fold = self.sweep.folds[k]
        if fold.counting:
            return {"sum": "0", "min": "0x7fffffffffffffffll", "max": "-0x7fffffffffffffffll"}[fold.combine]
        return PRINTER.identity(fold.combine, self.form.works_in)

    # Parts of functions

    def parameters(self, *more: str) -> str:
        """Declarations of arrays, sizes and strides."""
        arrays = [f"const {type_name(t)} *p{k}" for k, t in enumerate(self.form.inputs)]
        arrays += [f"{type_name(t)} *y{k}" for k, t in enumerate(self.form.outputs)]
        sizes = [f"const {self.index} {n}" for n in ("slices", "B", "C", "D")]
        strides = [f"const {self.index} s{k}{axis}" for k in range(1, len(self.form.inputs)) for axis in "abcd"]
        return ", ".join([*arrays, *more, *sizes, *strides])

    def head(self) -> str:
        """Numbers that all slices share, and which threads share a slice."""
        index, T = self.index, self.T
        return (f"    const {index} L = B * D; const {T} n = ({T})L; const long long count = L;\n"
                f"    const {index} s0a = B * C * D, s0b = C * D, s0c = D, s0d = 1;\n"
                f"    const int group = GROUP, lane = LANE, groups = GROUPS;\n    __shared__ double room[ROOM];\n")

    def slices(self, inner: str) -> str:
        """The loop over slices; threads without one take the last, since all of a block must meet."""
        index = self.index
        bases = " ".join(f"const {index} b{k} = a * s{k}a + c * s{k}c;" for k in range(len(self.form.inputs)))
        first = (f"        const {self.T} given = L > 0 ? ({self.T})load(p0[b0]) : ({self.T})0, "
                 f"first = given - given == 0 ? given : ({self.T})0;\n" if self.uses("first") else "")
        return (f"    for ({index} s = ({index})blockIdx.x * groups; s < slices; s += ({index})gridDim.x * groups) {{\n"
                f"        const bool is_own = s + group < slices; const {index} slice = is_own ? s + group : slices - 1;\n"
                f"        const {index} a = slice / C, c = slice - a * C; {bases}\n{first}{inner}    }}\n")

    def uses(self, name: str) -> bool:
        """Whether any expression of the sweep reads a value."""
        return name in reads(*(e for f in self.sweep.folds for e in (f.term, f.result)), *self.sweep.results, self.sweep.epilogue)

    def elements(self, expressions: Sequence[Expr], inner: str, unless: Expr | None = None) -> str:
        """The loop over the elements of a slice that fall to a thread, with what the expressions ask for."""
        index, asked = self.index, reads(*expressions)
        loads = []
        for k in range(len(self.form.inputs)):
            if f"x{k}" in asked:
                name = type_name(self.form.loaded(k))
                loads.append(f"            const {name} x{k} = ({name})load(p{k}[b{k} + b * s{k}b + d * s{k}d]);\n")
        position = "            const long long j = e;\n" if "j" in asked else ""
        start = f"{self.c(unless)} ? L : at" if unless is not None else "at"
        return (f"        for ({index} e = {start}, b = e / D, d = e - b * D, jump = step / D, slip = step - jump * D; e < L;) {{\n"
                f"{''.join(loads)}{position}{inner}"
                f"            e += step; b += jump; d += slip; if (d >= D) {{ d -= D; ++b; }}\n        }}\n")

    def folded(self, p: int) -> str:
        """The folds of a pass over the elements of a thread."""
        numbers = self.passes[p]
        starts = "".join(f"        {self.total_type(k)} t{k} = {self.start(k)};\n" for k in numbers)
        terms = "".join(f"            t{k} = {f.combine}_of::of(t{k}, ({self.total_type(k)}){self.c(f.term)});\n"
                        for k, f in ((k, self.sweep.folds[k]) for k in numbers))
        return starts + self.elements([self.sweep.folds[k].term for k in numbers], terms, self.sweep.folds[numbers[0]].unless)

    def joined(self, p: int, lanes: str = "lanes") -> str:
        """The totals of the threads of a slice."""
        return "".join(f"        t{k} = over_slice<{self.sweep.folds[k].combine}_of>(t{k}, {lanes}, room);\n" for k in self.passes[p])

    def results(self, p: int) -> str:
        """Statements that compute the results of the folds of a pass."""
        lines = []
        for k in self.passes[p]:
            result = self.sweep.folds[k].result
            lines.append(f"        {self.result_type(k)} r{k}; {{ const {self.total_type(k)} t = t{k};{self.at_slice(result)} "
                         f"r{k} = {self.c(result)}; }}\n")
        return "".join(lines)

    def at_slice(self, e: Expr) -> str:
        """The inputs of an expression of the whole slice: those of its first element."""
        asked = reads(e)
        return "".join(f" const {self.T} x{k} = ({self.T})load(p{k}[b{k}]);" for k in range(len(self.form.inputs)) if f"x{k}" in asked)

    def stored(self) -> str:
        """The numbers of a slice into its outputs."""
        lines = [f"            {{{self.at_slice(e)} store(y{k}[slice], {self.c(e)}); }}\n" for k, e in enumerate(self.sweep.results)]
        return f"        if (is_own && lane == 0) {{\n{''.join(lines)}        }}\n" if lines else ""

    def every(self) -> str:
        """The elements of a slice into the output."""
        if self.sweep.epilogue is None:
            return ""
        store = f"            if (is_own) store(y0[b0 + b * s0b + d], {self.c(self.sweep.epilogue)});\n"
        return self.elements([self.sweep.epilogue], store)

    # Functions

    def whole(self) -> str:
        inner = f"        const {self.index} at = lane, step = lanes;\n"
        inner += "".join(self.folded(p) + self.joined(p) + self.results(p) for p in range(len(self.passes)))
        return self.function("whole", self.parameters(), "const int lanes", inner + self.stored() + self.every())

    def function(self, name: str, parameters: str, last: str, inner: str) -> str:
        most = 1024 if self.form.rows else 512
        head = f'extern "C" __global__ void __launch_bounds__({most}) {name}({parameters}, {last})'
        return f"{head} {{\n{self.head()}{self.slices(inner)}}}\n"

    def memory(self, read: bool) -> list[str]:
        """Totals of parts, then results of folds."""
        every = range(len(self.sweep.folds))
        return [f"{self.total_type(k)} *w{k}" for k in every] + [f"{self.result_type(k)} *f{k}" for k in every]

    def recalled(self, p: int) -> str:
        """Statements that read the results of earlier passes for a slice."""
        return "".join(f"        const {self.result_type(k)} r{k} = f{k}[slice];\n" for q in range(p) for k in self.passes[q])

    def part(self, p: int) -> str:
        keep = "".join(f" w{k}[blockIdx.y * slices + slice] = t{k};" for k in self.passes[p])
        inner = (f"        const {self.index} at = blockIdx.y * lanes + lane, step = gridDim.y * lanes;\n{self.recalled(p)}{self.folded(p)}"
                 f"{self.joined(p)}        if (is_own && lane == 0) {{{keep} }}\n")
        return self.function(f"part{p}", self.parameters(*self.memory(False)), "const int lanes", inner)

    def total(self, p: int) -> str:
        inner = self.recalled(p)
        for k in self.passes[p]:
            inner += (f"        {self.total_type(k)} t{k} = {self.start(k)};\n        for (int i = lane; i < parts; i += lanes) "
                      f"t{k} = {self.sweep.folds[k].combine}_of::of(t{k}, w{k}[i * slices + slice]);\n")
        keep = "".join(f" f{k}[slice] = r{k};" for k in self.passes[p])
        inner += f"{self.joined(p)}{self.results(p)}        if (is_own && lane == 0) {{{keep} }}\n"
        if p == len(self.passes) - 1:
            inner += self.stored()
        return self.function(f"total{p}", self.parameters(*self.memory(True)), "const int lanes, const int parts", inner)

    def epilogue(self) -> str:
        inner = (f"        const {self.index} at = blockIdx.y * lanes + lane, step = gridDim.y * lanes;\n"
                 f"{self.recalled(len(self.passes))}{self.every()}")
        return self.function("epilogue", self.parameters(*self.memory(True)), "const int lanes", inner)


def sweep_source(sweep: Sweep, form: SweepForm) -> tuple[str, str]:
    """The texts of ``whole`` and of the functions that share slices among blocks."""
    w = _SweepTextWriter(form.traced(sweep), form)
    head = f"#define ROWS {int(form.rows)}\ntypedef {w.T} T;\n{text_of('fold.cu')}{text_of('sweep.cu')}"
    every = range(len(w.passes))
    shared = "".join(w.part(p) + w.total(p) for p in every) + ("" if w.sweep.epilogue is None else w.epilogue())
    return head + w.whole(), head + shared
