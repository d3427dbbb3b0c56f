"""Checking an op: shape rule, memory, gradients, kernels, files."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..samediff.base.checks import CheckFailure, CheckReport
from ..samediff.base.datatype import DataType
from ..samediff.codecs.flat_graph import FlatNode
from ..samediff.device.devices import device as on_device
from ..samediff.errors import DeviceError, GraphError
from ..samediff.expressions.arrays import as_array
from ..samediff.files.node_args import read_op, write_op
from ..samediff.graph.gradient_check import check_gradient
from ..samediff.ir.op import OPS, Op, as_tuple
from ..samediff.ir.signature import formals
from . import check_runs as runs
from .apart import Checks, possible, run_apart
from .base import UserOp
from .check_examples import Example, more_rows, other_sizes, variants
from .check_kernels import KERNELS
from .derived import way
from .java_op import JavaOp
from .java_style import UserDefinedCustomOp
from .user_op import UserFunction, owner_class

Named = Iterator[tuple[str, Callable[[], str | None]]]


class OpReport(CheckReport):
    """What :func:`check_op` found; ``str(report)`` is a readable list."""

    def __init__(self, op_id: str) -> None:
        super().__init__(f"op {op_id!r}")
        self.op_id = op_id


def check_op(op: UserFunction | Op | type[Op] | str, inputs: Sequence[Any], attributes: Mapping[str, Any] | None = None, *,
             shapes: Sequence[Sequence[tuple[int, ...]]] = (), dtypes: Sequence[Any] = ("float32", "float64"), gradient: bool | None = None,
             order: int = 2, tolerance: float = 1e-6, seed: int = 0, device: str | None = None) -> OpReport:
    """Check an op on example inputs.

    A user-defined op is checked in a child process where the system can copy processes (Linux): one that ends the process is
    a finding as any other. Its kernels run on memory that shows what they read and write beside their arrays.

    Parameters
    ----------
    op : decorated function, op, op class or registry id
    inputs : sequence of array or None
        Example inputs, away from points where the op has no derivative.
    attributes : mapping, optional
        Attribute values, when ``op`` is not an op already.
    shapes : sequence of sequences of tuples
        Further shapes of the inputs to compare the shape rule with; random values are drawn from the examples' range.
    dtypes : sequence
        Floating types to try in the place of the floating inputs' own.
    gradient : bool, optional
        Whether to check gradients; by default where the op says that it has one.
    order : int
        2 checks second derivatives too.
    tolerance : float
        Largest relative error of a gradient.
    device : str, optional
        A device on which the op is compared with ``compute`` too; by default ops with CUDA text are, on the GPU or, where there is none,
        ``"emulated"``.

    Returns
    -------
    OpReport
        With ``passed``, ``failures`` and a readable ``str``.

    Examples
    --------
    >>> import numpy as np
    >>> print(check_op("tanh", [np.array([0.5, 1.0])]))
    op 'tanh': all 9 checks passed
      ok    attributes are typed and hashable
      ok    survives saving and loading
      ok    shape rule, float32                (2,)
      ok    shape rule, float64                (2,)
      ok    shape rule, twice the rows         (4,)
      ok    inputs stay unchanged
      ok    compiled plan agrees with compute  largest difference 0
      ok    gradient                           relative error below 1e-06
      ok    second gradient                    relative error below 1e-06
    """
    made = _made(op, attributes or {})
    arrays = _examples(made, inputs)
    report = OpReport(made.id)
    typed = list(variants(arrays, dtypes, shapes, seed))
    apart = isinstance(made, runs.FOREIGN) and possible()
    (run_apart if apart else _run)(report, [*_itself(made, arrays, typed)])
    if not isinstance(made, UserOp) or _run_kernels(report, made, arrays, typed, apart):
        checks = [*_runs(made, arrays), *_gradients(made, arrays, gradient, order, tolerance, seed)]
        there = _on_device(made, arrays, device)
        if there is not None and not there[2]:
            checks.append(there[:2])
        (run_apart if apart else _run)(report, checks)
        if there is not None and there[2]:                 # a copy of a process cannot use its GPU
            report.run(*there[:2])
    return report


def _run(report: CheckReport, checks: Checks) -> None:
    for name, check in checks:
        report.run(name, check)


def _run_kernels(report: CheckReport, op: UserOp, arrays: Example, typed: Sequence[tuple[str, Example]], apart: bool) -> bool:
    """Whether kernels keep to their arrays: what writes elsewhere makes all that follows fail anyhow."""
    several = [*(variant for _, variant in typed), *other_sizes(arrays)]
    kernels = [(name, partial(check, op, several)) for name, has, check in KERNELS if has(type(op))]
    (run_apart if apart else _run)(report, kernels)
    return not {name for name, _ in kernels} & {c.name for c in report.failures}


def _itself(op: Op, arrays: Example, typed: Sequence[tuple[str, Example]]) -> Named:
    """Attributes, files and shapes."""
    yield "attributes are typed and hashable", lambda: _schema(op)
    yield "survives saving and loading", lambda: _round_trip(op, arrays)
    for label, variant in typed:
        yield f"shape rule, {label}", partial(runs.shape_rule, op, variant)


def _runs(op: Op, arrays: Example) -> Named:
    """Runs that must agree."""
    rows = more_rows(arrays)
    if not isinstance(op, runs.FOREIGN):
        if rows and runs.takes(op, rows):
            yield "shape rule, twice the rows", lambda: runs.shape_rule(op, rows)
        yield "inputs stay unchanged", lambda: runs.keeps_inputs(op, arrays)
        if not op.stateful:
            yield "compiled plan agrees with compute", lambda: runs.in_plan(op, arrays)
        return
    yield "inputs stay unchanged", lambda: runs.keeps_inputs(op, arrays)
    yield "calls do not depend on each other", lambda: runs.repeated(op, arrays)
    yield "compiled plan agrees with compute", lambda: runs.in_plan(op, arrays)
    yield "the same outside training", lambda: runs.in_plan(op, arrays, training=False)
    yield "other sizes", lambda: runs.of_sizes(op, other_sizes(arrays))
    yield "strided inputs", lambda: runs.strided(op, arrays)
    yield "one array as several inputs", lambda: runs.shared(op, arrays)
    if any(a is not None and a.dtype.kind == "f" for a in arrays):
        yield "half precision", lambda: runs.of_types(op, arrays, (DataType.HALF, DataType.BFLOAT16))


def _gradients(op: Op, arrays: Example, asked: bool | None, order: int, tolerance: float, seed: int) -> Named:
    floating = any(a is not None and a.dtype.kind == "f" for a in arrays)
    foreign = isinstance(op, runs.FOREIGN)

    def check(n: int) -> str:
        return (_none(op, arrays) if asked is None else "") or check_gradient(lambda sd, v: sd.add_op(op, v), arrays, n, tolerance, seed)
    if asked if asked is not None else op.gradient == "full" and floating and (foreign or not op.stateful):
        for n in range(1, order + 1):
            yield ("gradient", "second gradient")[n - 1], partial(check, n)


def _none(op: Op, arrays: Example) -> str:
    """Why an op has no gradient, where nobody promised one."""
    if isinstance(op, runs.FOREIGN) and not any(s.dtype.is_floating for s in as_tuple(op.infer(*runs.specs_of(arrays)))):  # type: ignore[arg-type]
        return "none: there is no floating output"
    if isinstance(op, JavaOp) and op.user_class.do_diff is UserDefinedCustomOp.do_diff:
        return "none: write do_diff to have one"
    if isinstance(op, UserOp) and type(op).grad is UserOp.grad:
        if op.stateful:
            return "none: the op draws random numbers; write grad to have one"
        if way(op, runs.specs_of(arrays)) == "trial":
            return "none: the code cannot be followed; write grad to have one"
    return ""


def _made(op: Any, attributes: Mapping[str, Any]) -> Op:
    if isinstance(op, Op):
        return op.replace(**attributes) if attributes else op
    if isinstance(op, UserDefinedCustomOp):
        return op.as_op()
    if isinstance(op, type) and issubclass(op, UserDefinedCustomOp):
        return op().as_op()
    cls = OPS[op] if isinstance(op, str) else owner_class(op)
    if not (isinstance(cls, type) and issubclass(cls, Op) and cls.id):
        raise GraphError(f"check_op takes a decorated function, an op, a registered class or an id; got {op!r:.80}")
    return cls(**attributes)


def _examples(op: Op, inputs: Any) -> list[Any]:
    """The arrays; GraphError where the op takes fewer or more."""
    if not isinstance(inputs, (list, tuple)):
        raise GraphError(f"check_op takes a list with an example for each input, [x, y]; got {type(inputs).__name__}")
    names = type(op).inputs.split()
    least = sum(not n.startswith("*") and not n.endswith("?") for n in names)
    if not least <= len(inputs) <= (len(inputs) if any(n.startswith("*") for n in names) else len(names)):
        raise GraphError(f"op {op.id!r} takes the inputs {' '.join(names) or '(none)'}; {len(inputs)} examples were given")
    return [None if a is None else as_array(a) for a in inputs]


def _schema(op: Op) -> str | None:
    hash(op)
    formals(type(op))
    if op != op.replace():
        raise CheckFailure("a copy is not equal to the op: an attribute has no ==")
    return None


def _round_trip(op: Op, arrays: Sequence[Any]) -> str | None:
    names = tuple(None if a is None else f"input{i}" for i, a in enumerate(arrays))
    dtype = next((DataType.of(a) for a in arrays if a is not None), DataType.FLOAT)
    parts = write_op(op, names, dtype)
    again = read_op(type(op), FlatNode(name="check", **parts))
    if again != op:
        raise CheckFailure(f"{op!r} came back as {again!r}")
    return None


def _on_device(op: Op, arrays: Example, name: str | None) -> tuple[str, Callable[[], str], bool] | None:
    """Compare what runs on a device, where one was asked for or there is CUDA text to check; and whether it is a GPU."""
    if op.stateful or (name is None and not (isinstance(op, UserOp) and op.has_cuda())):
        return None
    reason = ""
    for each in ("cuda", "emulated") if name is None else (name,):
        try:
            where = on_device(each)
        except DeviceError as error:
            if name is not None:
                raise
            reason = str(error)
            continue
        with where as found:
            text, is_gpu = f"{found} agrees with compute", found.kind == "cuda"

        def agrees(where: on_device = where) -> str:
            with where:
                return runs.in_plan(op, arrays)
        return text, agrees, is_gpu
    return "CUDA kernel agrees with compute", lambda: f"not run: {reason}", False
