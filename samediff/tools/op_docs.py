"""Writes ``docs/ops.md``: every op that can be called, with its signatures, types, gradient, kernel and files.

    python -m dl4py.samediff.tools.op_docs            # after adding or changing an op
"""
from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from ..codecs.file_args import FileArgs
from ..cpu.kernel_table import KERNELS
from ..families.composite import Composite
from ..families.elementwise import Elementwise
from ..families.reduction import Reduction
from ..files.node_args import file_args
from ..ir.namespaces import NAMESPACES
from ..ir.op import METHODS, Op
from ..ir.signature import describe, formals
from ..ops.reduce.argreduce import IndexReduction
from ..plans.sweeps.table import REDUCTIONS

HEAD = """# Ops

Written by `python -m dl4py.samediff.tools.op_docs`: do not edit.

`sd.<namespace>.<method>(...)` calls an op; those of `base` are methods of the graph itself, those of `var` of variables. A name or a list
of names for the outputs may stand in front. `x` without a default is required, `*x` takes any number, `x=None` may be left out.

* **types**: result for the inputs. *promote*: the floating operand's type, else the left one's; *same*: that of the first input; *float*:
  floating inputs only, same type; *to float*: integers become FLOAT; *own*: by the op's shape rule, see its docstring.
* **gradient**: *full*; *zero* for piecewise constant results; *none* where there is no derivative.
* **kernel**: *fused* with its neighbours into one compiled loop; *own* compiled code or BLAS for static shapes; *view* without a copy;
  *NumPy* else: its array code, as nodes where all of these have kernels.
* **file**: *DL4J* where graph files hold the attributes as Deeplearning4j does; *by name* where the op's own names are kept.

**Indices** (of gather, scatter, segments, partitions, embeddings, class labels, CTC, crops, …) are whole numbers from 0 to n - 1. One
that is negative or too large raises OutOfRangeError, a fraction, NaN or infinity DataTypeError; either says which op, which value, what is
allowed. Nothing is rounded, dropped, or counted from the end; on a GPU, which cannot raise, see [GPUs](gpu.md). Ids of sorted segments
also have to ascend; lengths of sequences reach from 0 to the number of steps. Where "no such place" has a meaning, it is that: `one_hot`
of an index out of range is `off` everywhere, `in_top_k` False, `bincount` leaves out what is above `max_length`, `sequence_mask` hides
all for a length of 0 or below. Positions in lists and tensor arrays, and Python's `x[-1]`, count from the end.

**Whole numbers** wrap around in sums and products. Divided by 0 they give 0, as quotient and as remainder, and so does 0 to a negative
power; the smallest number divided by -1 is itself. Bits shifted by more than there are, or by a negative number, are gone: 0, or -1 for a
negative number shifted right.
"""

#: The wording of the rules of elementwise ops.
RULES = {"to_float": "to float", "match": "one type, same", "match_float": "one type, to float", "bool": "BOOL",
         "compare": "one type, BOOL", "long": "LONG"}

_ENUM, _NAME = re.compile(r"<(\w+\.\w+)(: [^>]*)?>"), r"\1"


def generate() -> str:
    """The text of the document, for the ops of this distribution."""
    parts = [HEAD]
    for place in (*NAMESPACES, "base", "var"):
        methods = sorted(m for n, m in METHODS if n == place)
        parts.append(f"\n## {place}\n\n| method | op | types | gradient | kernel | file | |\n|---|---|---|---|---|---|---|\n")
        parts += [_line(cls, m) for m in methods for cls in METHODS[place, m] if cls.__module__.startswith("dl4py.samediff.")]
    return "".join(parts)


def _line(cls: type[Op], method: str) -> str:
    calls = "<br>".join(f"`{_ENUM.sub(_NAME, text)}`" for text in describe(cls, method))
    cells = (calls, f"`{cls.id}`", types(cls), cls.gradient, kernel(cls), file_support(cls), _summary(cls))
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |\n"


def _summary(cls: type[Op]) -> str:
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split("Shapes:")[0].split())


def types(cls: Any) -> str:
    """Rule for the type of the result."""
    if any(f.name == "data_type" for signature in formals(cls) for f in signature):
        return "`data_type`"
    if issubclass(cls, Elementwise) and cls.result_type is Elementwise.result_type:
        return str(RULES.get(cls.rule, cls.rule))
    if issubclass(cls, Reduction) and cls.result_type is Reduction.result_type:
        return str(getattr(cls.result, "name", cls.result)).replace("_", " ")
    return "own"


def kernel(cls: Any) -> str:
    """What runs it in a compiled plan."""
    if issubclass(cls, Elementwise):
        return "fused"
    if KERNELS.find(cls) is None and getattr(cls, "as_sweep", None) is Reduction.as_sweep:
        return "own" if cls.id in REDUCTIONS else "NumPy"
    if issubclass(cls, IndexReduction) and cls.which is None:
        return "NumPy"
    composed = getattr(cls, "inlines", False) or cls.plan_rewrite not in (Op.plan_rewrite, Composite.plan_rewrite)
    if KERNELS.has(cls) or composed:
        return "own"
    return "view" if cls.is_view is True else "NumPy"


def file_support(cls: type[Op]) -> str:
    """How graph files hold the attributes."""
    args = file_args(cls)
    return "by name" if type(args) is FileArgs and args.all_properties and cls.attribute_names() else "DL4J"


def main() -> None:
    """Write the document beside the packages."""
    from .. import ops  # noqa: F401 - registers the ops
    Path(__file__).resolve().parents[2].joinpath("docs", "ops.md").write_text(generate())


if __name__ == "__main__":
    main()
