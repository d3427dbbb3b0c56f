"""CUDA text of a group of expressions: one value for each element of an index space, stored or folded.

The text knows types, the number of dimensions after neighbouring ones were joined, and along which of them operands vary; sizes and
strides are arguments. What depends on operands of one element alone is worked out once by each thread.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...expressions.scalar import DType
from ...expressions.scalar_node import Expr, nodes
from ..sources import text_of, type_name
from .operators import PRINTER, SPECIAL, work_type


@dataclass(frozen=True)
class KernelSpecialization:
    """The constants of a kernel besides its expressions, for inputs and then outputs.

    Attributes
    ----------
    rank : of the index space
    types : of the arrays
    varies : along which dimensions each varies
    dense : which of them lie in memory like the space
    wide : whether indices have 64 bits
    vector : how many neighbours are read and written at once where memory is aligned (1: no more than one)
    numbers : the operands that are numbers among the arguments, not arrays
    """

    rank: int
    types: tuple[DType, ...]
    varies: tuple[tuple[bool, ...], ...]
    dense: tuple[bool, ...]
    wide: bool
    vector: int = 1
    numbers: tuple[int, ...] = ()

    @property
    def index(self) -> str:
        """The C type of indices."""
        return "long long" if self.wide else "int"

    def strided(self, k: int) -> tuple[int, ...]:
        """The dimensions whose strides operand ``k`` needs as arguments."""
        return () if self.dense[k] else tuple(d for d, v in enumerate(self.varies[k]) if v)


#: An index over a size that is known as an argument only, without a division (see :func:`.layout.divisor`).
_DIVIDE = """__device__ __forceinline__ int over(int i, unsigned int factor, int shift) {
    return (int)(((unsigned int)(((unsigned long long)(unsigned int)i * factor) >> 32) + (unsigned int)i) >> shift);
}
"""
_PACK = "template <typename T, int N> struct alignas(sizeof(T) * N) pack { T v[N]; };\n"


class CudaWriter:
    """Parts of the source for expressions of a form; the last ``outputs`` operands are the arrays that are written."""

    def __init__(self, exprs: Sequence[Expr], form: KernelSpecialization, outputs: int) -> None:
        self.exprs, self.form, self.outputs = exprs, form, outputs
        self.inputs = len(form.types) - outputs
        self.order = nodes(exprs)
        self.uniform = set(self._uniform())
        self.names = {e: f"x{e.value}" if e.op == "input" else f"t{k}" for k, e in enumerate(self.order)}
        self.read = [e for e in self.order if e.op == "input" and e not in self.uniform]
        later = [a for e in self.order if e not in self.uniform for a in e.args] + list(exprs)
        self.handed = [e for e in dict.fromkeys(later) if e in self.uniform and e.op != "constant"]

    def _uniform(self) -> list[Expr]:
        found: set[Expr] = set()
        for e in self.order:
            if e.op == "input":
                same = not any(self.form.varies[e.value])
            else:
                same = all(a in found for a in e.args)
            if same:
                found.add(e)
        return [e for e in self.order if e in found]

    def head(self) -> str:
        """The helper functions and types at the top of the source."""
        special = any(e.op in SPECIAL for e in self.order)
        narrow = self.form.rank > 1 and not self.form.wide
        return "".join([text_of("functions.cu"), text_of("special.cu") if special else "", _DIVIDE if narrow else "",
                        _PACK if self.form.vector > 1 else ""])

    def body(self) -> str:
        """The function from the elements of one place to the values there."""
        given = [f"const {work_type(e.dtype)} {self.names[e]}" for e in (*self.read, *self.handed)]
        made = [f"{work_type(e.dtype)} &v{k}" for k, e in enumerate(self.exprs)]
        text = PRINTER.statements([e for e in self.order if e not in self.uniform], self.names)
        stores = "".join(f"    v{k} = {PRINTER.ref(e, self.names)};\n" for k, e in enumerate(self.exprs))
        return f"__device__ __forceinline__ void body({', '.join(given + made)}) {{\n{text}{stores}}}\n"

    def prologue(self) -> str:
        """Values that are the same for all places."""
        order = [e for e in self.order if e in self.uniform]
        loads = [f"    const {work_type(e.dtype)} {self.names[e]} = load(p{e.value}{'' if e.value in self.form.numbers else '[0]'});\n"
                 for e in order if e.op == "input"]
        return "".join(loads) + PRINTER.statements(order, self.names)

    def given(self) -> list[str]:
        """Declarations of the input parameters."""
        return [f"const {type_name(t)} {'' if k in self.form.numbers else '*'}p{k}" for k, t in enumerate(self.form.types[:self.inputs])]

    def parameters(self) -> list[str]:
        """Declarations of the size and stride parameters, in the order of :func:`.fused.arguments`."""
        form, made = self.form, []
        sizes = [f"n{d}" for d in range(1, form.rank)] + (["m"] if form.vector > 1 and form.rank > 1 else [])
        for name in sizes:
            made += [f"const {form.index} {name}"] + ([] if form.wide else [f"const unsigned int {name}f", f"const int {name}s"])
        return made + [f"const {form.index} s{k}_{d}" for k in range(len(form.types)) for d in form.strided(k)]

    def indices(self, grouped: bool = False) -> str:
        """The places in all dimensions that strides need, from the place ``i``; ``grouped`` counts the last one in groups."""
        form = self.form
        needed = {d for k in range(len(form.types)) for d in form.strided(k)}
        lines, whole = [], "i"
        for d in range(form.rank - 1, 0, -1):
            if not any(n <= d for n in needed):
                break
            size = "m" if grouped and d == form.rank - 1 else f"n{d}"
            quotient = f"{whole} / {size}" if form.wide else f"over({whole}, {size}f, {size}s)"
            lines.append(f"const {form.index} q{d} = {quotient}, j{d} = {whole} - q{d} * {size};")
            whole = f"q{d}"
        if 0 in needed:
            lines.append(f"const {form.index} j0 = {whole};")
        return " ".join(lines)

    def place(self, k: int) -> str:
        """The index of operand ``k``'s element, as text."""
        return "i" if self.form.dense[k] else " + ".join(f"j{d} * s{k}_{d}" for d in self.form.strided(k)) or "0"

    def group_place(self, k: int) -> tuple[str, bool]:
        """The index of the vector of operand ``k``, as text, and whether it is a vector rather than one element."""
        if self.form.dense[k]:
            return "i", True
        last = self.form.rank - 1
        outer = " + ".join(f"j{d} * s{k}_{d}" for d in self.form.strided(k) if d != last)
        if not self.form.varies[k][last]:
            return outer or "0", False
        return f"({outer}) / V + j{last}" if outer else f"j{last}", True


def fused_source(exprs: Sequence[Expr], form: KernelSpecialization) -> str:
    """The text of ``fused(p0, …, n, sizes and strides)``, which stores the values of ``exprs``."""
    w = CudaWriter(exprs, form, len(exprs))
    stored = [f"{type_name(t)} *p{w.inputs + k}" for k, t in enumerate(form.types[w.inputs:])]
    parameters = ", ".join([*w.given(), *stored, f"const {form.index} n", *w.parameters()])
    lines = [w.head(), w.body(), f'extern "C" __global__ void fused({parameters}) {{\n', w.prologue(),
             f"    const {form.index} first = ({form.index})blockIdx.x * blockDim.x + threadIdx.x, "
             f"step = ({form.index})gridDim.x * blockDim.x;\n"]
    begin = "first"
    if form.vector > 1:
        lines.append(_groups(w))
        begin = "done + first"
    values = [f"load(p{e.value}[{w.place(e.value)}])" for e in w.read] + [w.names[e] for e in w.handed]
    results = "".join(f" {work_type(e.dtype)} v{k};" for k, e in enumerate(exprs))
    stores = "".join(f" store(p{w.inputs + k}[{w.place(w.inputs + k)}], v{k});" for k in range(len(exprs)))
    arguments = ", ".join([*values, *(f"v{k}" for k in range(len(exprs)))])
    lines.append(f"    for ({form.index} i = {begin}; i < n; i += step) {{\n        {w.indices()}\n"
                 f"       {results} body({arguments});{stores}\n    }}\n}}\n")
    return "".join(lines)


def _groups(w: CudaWriter) -> str:
    """The loop over groups of neighbours, where all memory is aligned for it."""
    form, width = w.form, w.form.vector
    grouped = [k for k in range(len(form.types)) if (k >= w.inputs or any(e.value == k for e in w.read)) and w.group_place(k)[1]]
    aligned = " && ".join(f"((unsigned long long)p{k} & {width * form.types[k].itemsize - 1}) == 0" for k in grouped)
    lines = [f"    const int V = {width};\n    {form.index} done = 0;\n    if ({aligned}) {{\n        done = n / V * V;\n"
             f"        for ({form.index} i = first; i < n / V; i += step) {{\n            {w.indices(grouped=True)}\n"]
    values = []
    for e in w.read:
        k, name = e.value, type_name(form.types[e.value])
        place, is_group = w.group_place(k)
        if is_group:
            lines.append(f"            const pack<{name}, {width}> g{k} = ((const pack<{name}, {width}> *)p{k})[{place}];\n")
        else:
            lines.append(f"            const {work_type(e.dtype)} g{k} = load(p{k}[{place}]);\n")
        values.append(f"load(g{k}.v[k])" if is_group else f"g{k}")
    names = [type_name(t) for t in form.types[w.inputs:]]
    for k, name in enumerate(names):
        lines.append(f"            pack<{name}, {width}> r{k};\n")
    results = "".join(f"{work_type(e.dtype)} v{k}; " for k, e in enumerate(w.exprs))
    arguments = ", ".join([*values, *(w.names[e] for e in w.handed), *(f"v{k}" for k in range(len(w.exprs)))])
    stores = "".join(f" store(r{k}.v[k], v{k});" for k in range(len(names)))
    lines.append(f"            #pragma unroll\n            for (int k = 0; k < V; ++k) {{ {results}body({arguments});{stores} }}\n")
    for k, name in enumerate(names):
        lines.append(f"            ((pack<{name}, {width}> *)p{w.inputs + k})[{w.group_place(w.inputs + k)[0]}] = r{k};\n")
    return "".join(lines) + "        }\n    }\n"
