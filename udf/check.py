"""Checking an op: shape rule, gradients, kernels, files."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..samediff.arrays import as_array, xp
from ..samediff.checks import Check, CheckFailure, CheckReport
from ..samediff.datatype import DataType
from ..samediff.devices import device as on_device
from ..samediff.errors import DeviceError
from ..samediff.executor.context import RunContext
from ..samediff.executor.reference import compute as compute_op
from ..samediff.files.flat_graph import FlatNode
from ..samediff.files.node_args import read_op, write_op
from ..samediff.gradient_check import check_gradient
from ..samediff.graph import SameDiff
from ..samediff.op import OPS, Op, as_tuple
from ..samediff.signature import formals, input_names
from ..samediff.spec import TensorSpec
from .base import UserOp
from .derived import way
from .user_op import UserFunction, owner_class


class OpReport(CheckReport):
    """What :func:`check_op` found; ``str(report)`` is a readable list."""

    def __init__(self, op_id: str) -> None:
        super().__init__(f"op {op_id!r}")
        self.op_id = op_id


def check_op(op: UserFunction | Op | type[Op] | str, inputs: Sequence[Any], attributes: Mapping[str, Any] | None = None, *,
             shapes: Sequence[Sequence[tuple[int, ...]]] = (), dtypes: Sequence[Any] = ("float32", "float64"), gradient: bool | None = None,
             order: int = 2, tolerance: float = 1e-4, seed: int = 0, device: str | None = None) -> OpReport:
    """Check an op on example inputs.

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
      ok    gradient                           relative error below 0.0001
      ok    second gradient                    relative error below 0.0001
    """
    made = _made(op, attributes or {})
    arrays = [None if a is None else as_array(a) for a in inputs]
    report = OpReport(made.id)
    report.run("attributes are typed and hashable", lambda: _schema(made))
    report.run("survives saving and loading", lambda: _round_trip(made, arrays))
    for label, variant in _variants(arrays, dtypes, shapes, seed):
        report.run(f"shape rule, {label}", lambda variant=variant: _shape_rule(made, variant))  # type: ignore[misc]
    if (more := _more_rows(made, arrays)) is not None:
        report.run("shape rule, twice the rows", lambda: _shape_rule(made, more))
    report.run("inputs stay unchanged", lambda: _unchanged(made, arrays))
    if not made.stateful:
        report.run("compiled plan agrees with compute", lambda: _plan(made, arrays))
        _on_device(report, made, arrays, device)
    floating = any(a is not None and a.dtype.kind == "f" for a in arrays)
    if gradient is None and floating and _has_none(made, arrays):
        report.checks.append(Check("gradient", True, "none: the code cannot be followed; write grad to have one"))
    elif gradient if gradient is not None else made.gradient == "full" and floating and not made.stateful:
        for n in range(1, order + 1):
            name = ("gradient", "second gradient")[n - 1]
            report.run(name, lambda n=n: check_gradient(lambda sd, v: sd.add_op(made, v), arrays, n, tolerance, seed))  # type: ignore[misc]
    return report


def _made(op: Any, attributes: Mapping[str, Any]) -> Op:
    if isinstance(op, Op):
        return op.replace(**attributes) if attributes else op
    cls = OPS[op] if isinstance(op, str) else owner_class(op)
    return cls(**attributes)


def _has_none(op: Op, arrays: Sequence[Any]) -> bool:
    return isinstance(op, UserOp) and type(op).grad is UserOp.grad and way(op, [_spec(a) for a in arrays]) == "trial"


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


def _variants(arrays: Sequence[Any], dtypes: Sequence[Any], shapes: Sequence[Any], seed: int) -> Iterator[tuple[str, list[Any]]]:
    floating = [a for a in arrays if a is not None and a.dtype.kind == "f"]
    for dtype in dtypes if floating else [None]:
        kind = None if dtype is None else DataType.of(dtype).numpy
        cast = [a if a is None or kind is None or a.dtype.kind != "f" else a.astype(kind) for a in arrays]
        yield ("as given" if kind is None else kind.name), cast
    rng = np.random.default_rng(seed)
    for several in shapes:
        drawn = [a if a is None else rng.choice(a.reshape(-1), size=s).astype(a.dtype) for a, s in zip(arrays, several)]
        yield f"shapes {', '.join(map(str, several))}", drawn


def _more_rows(op: Op, arrays: Sequence[Any]) -> list[Any] | None:
    """The inputs that share the first axis of the first one, twice as long; None when the op does not take them."""
    rows = next((a.shape[0] for a in arrays if a is not None and a.ndim), None)
    longer = [np.concatenate([a, a]) if a is not None and a.ndim and a.shape[0] == rows else a for a in arrays]
    try:
        getattr(op, "raw_compute", op.compute)(xp, *[None if a is None else a.copy() for a in longer])
    except Exception:  # sizes that the op refuses are no failure of its shape rule
        return None
    return longer if rows is not None else None


def _spec(a: Any) -> TensorSpec | None:
    return None if a is None else TensorSpec(tuple(a.shape), DataType.of(a))


def _result(op: Op, arrays: Sequence[Any]) -> tuple[Any, ...]:
    return compute_op(op, arrays, RunContext(False, 1, 0), "check")


def _shape_rule(op: Op, arrays: Sequence[Any]) -> str:
    results = _result(op, arrays)
    specs = [_spec(a) for a in arrays]
    for known in (True, False):
        given = specs if known else [s if s is None else s.with_shape((-1,) * len(s.shape or ())) for s in specs]
        promised = as_tuple(op.infer(*given))  # type: ignore[arg-type]
        if len(promised) != len(results):
            raise CheckFailure(f"infer gives {len(promised)} outputs, compute {len(results)}")
        for i, (p, r) in enumerate(zip(promised, results)):
            if not p.accepts(np.shape(r)):
                sizes = "known" if known else "unknown"
                raise CheckFailure(f"output {i}: infer says {p.shape} for inputs of {sizes} sizes, compute gives {np.shape(r)}")
            kind = np.asarray(r).dtype
            if known and p.dtype.is_floating != (kind.kind == "f") and not p.dtype.numpy == kind:
                raise CheckFailure(f"output {i}: infer says {p.dtype.name}, compute gives {kind}")
    return ", ".join(str(np.shape(r)) for r in results)


def _unchanged(op: Op, arrays: Sequence[Any]) -> str | None:
    copies = [None if a is None else a.copy() for a in arrays]
    failure: Exception | None = None
    try:
        _result(op, copies)
    except Exception as error:
        failure = error
    for i, (a, b) in enumerate(zip(arrays, copies)):
        if a is not None and not np.array_equal(a, np.asarray(b), equal_nan=a.dtype.kind == "f"):
            names = input_names(type(op))
            name = names[i] if i < len(names) and "*" not in type(op).inputs else f"number {i}"
            raise CheckFailure(f"compute changes its input {name}; work on a copy")
    if failure is not None:
        raise failure
    return None


def _on_device(report: OpReport, op: Op, arrays: Sequence[Any], name: str | None) -> None:
    """Compare what runs on a device, where one was asked for or there is CUDA text to check."""
    if name is None and not (isinstance(op, UserOp) and op.has_cuda()):
        return
    where = None
    for each in ("cuda", "emulated") if name is None else (name,):
        try:
            where = on_device(each)
            break
        except DeviceError as error:
            if name is not None:
                raise
            reason = str(error)
    if where is None:
        report.checks.append(Check("CUDA kernel agrees with compute", True, f"not run: {reason}"))
        return
    with where as found:
        report.run(f"{found} agrees with compute", lambda: _plan(op, arrays))


def _plan(op: Op, arrays: Sequence[Any]) -> str:
    sd = SameDiff()
    feeds = {f"input{i}": a for i, a in enumerate(arrays) if a is not None}
    variables = [None if a is None else sd.placeholder(f"input{i}", DataType.of(a), *a.shape) for i, a in enumerate(arrays)]
    made = sd.add_op(op, variables)
    outputs = made if isinstance(made, list) else [made]
    found = sd._run(feeds, [o.name() for o in outputs], training=True)       # the op itself, not its form for inference
    largest = 0.0
    for got, expected in zip(found.values(), _result(op, arrays)):
        wanted = np.asarray(expected)
        if got.shape != wanted.shape:
            raise CheckFailure(f"shape {got.shape} from the plan, {wanted.shape} from compute")
        if got.dtype.kind in "fiub" and got.size:
            differences = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
            largest = max(largest, float(np.nanmax(differences, initial=0.0)))
            relative, absolute = (1e-9, 1e-12) if got.dtype == np.float64 else (1e-5, 1e-6)
            if not np.allclose(got, wanted, relative, absolute, equal_nan=True):
                raise CheckFailure(f"largest difference {largest:.3g} between the compiled plan and compute")
    return f"largest difference {largest:.2g}"


