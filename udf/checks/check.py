"""Checking an op: shape rule, memory, gradients, kernels, files."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.base.user_code.check_report import CheckFailure, CheckReport, process_stays
from ...samediff.base.user_code.leaks import keeps_no_memory
from ...samediff.base.user_code.upgrades import upgrade_fits
from ...samediff.codecs.flatbuffers.graph import FlatNode
from ...samediff.device.devices import device as on_device
from ...samediff.errors import DeviceError, GradientError, GraphError, did_you_mean
from ...samediff.expressions.arrays import as_array
from ...samediff.files.node_args import read_op, write_op
from ...samediff.graph.child_process import is_stuck, needed, possible, run_apart, run_here
from ...samediff.graph.gradient_check import check_gradient
from ...samediff.ir.op import OPS, Op, as_tuple
from ...samediff.ir.signature import Mismatch, coerce, formals
from ..code.failure import sizes
from ..code.gpu_text import THREADS
from ..code.gradient_op import NoSecondGradientError
from ..java.java_op import JavaOp
from ..java.java_style import UserDefinedCustomOp
from ..ops.base import UserOp
from ..ops.user_op import UserFunction, owner_class
from . import circumstances, runs, values
from .attributes import are_read, can_be_changed, gradient_is_written, other_attributes, users_code, with_other_attributes
from .batching import batching_agrees
from .examples import Example, larger, more_rows, of_several_blocks, other_counts, other_ranks, other_sizes, variants
from .gradient_code import stands_alone
from .kernels import KERNELS
from .saved_op import in_new_process

Named = Iterator[tuple[str, Callable[[], str | None]]]


class OpReport(CheckReport):
    """The results of :func:`check_op`; ``str(report)`` is a readable list.

    Parameters
    ----------
    op_id : str
        The op.
    """

    def __init__(self, op_id: str) -> None:
        super().__init__(f"op {op_id!r}")
        self.op_id = op_id


def check_op(op: UserFunction | Op | type[Op] | str, inputs: Sequence[Any], attributes: Mapping[str, Any] | None = None, *,
             shapes: Sequence[Sequence[tuple[int, ...]]] = (), dtypes: Sequence[Any] = ("float32", "float64"), gradient: bool | None = None,
             order: int = 2, tolerance: float = 1e-6, seed: int = 0, device: str | None = None,
             allow: Collection[str] = ()) -> OpReport:
    """Check an op on example inputs.

    A user-defined op is checked in a child process where the system can copy processes (Linux): one that ends the process is
    a finding as any other. Its kernels run on memory that shows what they read and write beside their arrays.

    Parameters
    ----------
    op : decorated function, op, op class or registry id
        A class or id is made with ``attributes``.
    inputs : sequence of array or None
        Example inputs, away from points where the op has no derivative.
    attributes : mapping, optional
        Attribute values, when ``op`` is not an op already.
    shapes : sequence of sequences of tuples
        Further shapes of the inputs to compare the shape rule with; random values are drawn from the examples' range.
    dtypes : sequence
        Floating types to try in the place of the floating inputs' own.
    gradient : bool, optional
        Whether to check gradients; by default of all ops with floating inputs and outputs that do not declare ``gradient="none"``
        or ``"zero"``.
    order : int
        2 checks second derivatives too.
    tolerance : float
        Largest relative error of a gradient.
    device : str, optional
        A device on which the op is compared with ``compute`` too; by default ops with CUDA text are, on the GPU or, where there is none,
        ``"emulated"``.
    allow : collection of str
        Names of checks that may fail, because it is intended.
    seed : int
        Of drawn inputs and of the directions in which gradients are compared.

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
    dtypes, shapes = _options(dtypes, shapes, order, tolerance, seed)
    made = _made(op, attributes or {})
    report = OpReport(made.id)
    arrays = _examples(made, inputs)
    typed = list(variants(arrays, dtypes, shapes, seed))
    run = run_apart if isinstance(made, runs.FOREIGN) and needed() else run_here
    run(report, [*_itself(made, arrays, typed)])
    if is_stuck(report) or _fails_itself(report):
        return report
    kernels = [*_kernels(made, arrays, typed)] if isinstance(made, UserOp) else []
    checks = [*kernels, *_runs(made, arrays, report), *_gradients(made, arrays, gradient, order, tolerance, seed)]
    there = _on_device(made, arrays, device)
    if there is not None and not there[2]:
        checks.append(there[:2])
    decisive = [name for name, _ in kernels]            # what writes beside its arrays makes all that follows fail anyhow
    run(report, checks, decisive)
    if there is not None and there[2] and not any(c.name in decisive for c in report.failures):    # a copy of a process cannot use its GPU
        report.run(*there[:2])
    return report.permit(allow)


def _fails_itself(report: OpReport) -> bool:
    """Whether the code takes none of the examples: each further check would say so again."""
    rules = [c for c in report.checks if c.name.startswith("shape rule")]
    return bool(rules) and all(not c.passed and f"in the code of user op {report.op_id!r}" in c.detail for c in rules)


def _kernels(op: UserOp, arrays: Example, typed: Sequence[tuple[str, Example]]) -> Named:
    """Kernels keep to their arrays."""
    several = [*(variant for _, variant in typed), *other_sizes(arrays), *larger(arrays)]
    if op.has_cuda() or op.cuda_gradient is not None:
        several += of_several_blocks(arrays, THREADS)
    for name, has, check in KERNELS:
        if has(type(op)):
            yield name, partial(check, op, several)


def _itself(op: Op, arrays: Example, typed: Sequence[tuple[str, Example]]) -> Named:
    """Attributes, files and shapes."""
    yield "attributes are typed and hashable", lambda: _schema(op)
    yield "survives saving and loading", lambda: _round_trip(op, arrays)
    upgrade, names = getattr(op, "upgrade", None), op.attribute_names()
    if isinstance(op, UserOp) and upgrade is not None and type(op).version > 1:
        today = {n: getattr(op, n) for n in names}
        yield "upgrade", lambda: upgrade_fits(upgrade, type(op).version, today, lambda made: [n for n in made if n not in names])
    for label, variant in typed:
        yield f"shape rule, {label}", partial(_unless_refused, op, variant, arrays, partial(runs.shape_rule, op, variant))


def _unless_refused(op: Op, variant: Example, arrays: Example, check: Callable[[], str | None]) -> str | None:
    """The check, where code of others does not refuse a type of inputs, and takes the examples that were given."""
    refused = isinstance(op, runs.FOREIGN) and runs.takes(op, arrays) and not runs.takes(op, variant)
    return "refused" if refused else check()


def _runs(op: Op, arrays: Example, report: CheckReport) -> Named:
    """Runs that must agree."""
    rows = more_rows(arrays)
    if not isinstance(op, runs.FOREIGN):
        if rows and runs.takes(op, rows):
            yield "shape rule, twice the rows", lambda: runs.shape_rule(op, rows)
        yield "inputs stay unchanged", lambda: runs.keeps_inputs(op, arrays)
        if not op.stateful:
            yield "compiled plan agrees with compute", lambda: runs.plan_rewrite(op, arrays)
        return
    if possible():          # first of all: whatever is called before may be what decides
        yield "calls in either order", lambda: circumstances.in_either_order(op, arrays)
    yield "saved, in a new process", lambda: in_new_process(op, arrays)
    yield "inputs stay unchanged", lambda: runs.keeps_inputs(op, arrays)
    yield "calls do not depend on each other", lambda: runs.independent(op, arrays)
    yield "several threads", lambda: runs.in_threads(op, arrays)
    yield "memory", lambda: keeps_no_memory(lambda: runs.results(op, arrays), users_code(op))
    yield "process stays", lambda: process_stays(report, lambda: runs.results(op, arrays))
    yield "compiled plan agrees with compute", lambda: runs.plan_rewrite(op, arrays)
    yield "the same outside training", lambda: runs.plan_rewrite(op, arrays, training=False)
    yield "other sizes", lambda: runs.follow_sizes(op, arrays, other_sizes(arrays))
    if counts := other_counts(op, arrays):
        yield "other numbers of inputs", lambda: runs.of_sizes(op, counts)
    if not isinstance(op, UserOp) or op.has_infer():
        yield "other numbers of axes", lambda: runs.of_ranks(op, other_ranks(arrays))
    if isinstance(op, UserOp) and (op.has_cpu() or op.has_cuda()):
        yield "other values", lambda: values.other_values(op, arrays)
        yield "special values", lambda: values.special_values(op, arrays)
    if op.stateful:
        yield "random numbers", lambda: circumstances.heeds_runs(op, arrays)
    yield "inputs are used", lambda: circumstances.uses_inputs(op, arrays)
    yield "precision", lambda: values.keeps_precision(op, arrays)
    if isinstance(op, UserOp) and op.attribute_names():
        yield "attributes are read", lambda: are_read(op)
    if can_be_changed(op):
        yield "other attributes", lambda: with_other_attributes(op, arrays, _round_trip)
    yield "result types", lambda: values.follows_types(op, arrays)
    yield "strided inputs", lambda: runs.strided(op, arrays)
    yield "one array as several inputs", lambda: runs.shared(op, arrays)
    if any(a is not None and is_floating(a.dtype) for a in arrays):
        yield "half precision", lambda: runs.of_types(op, arrays, (DataType.HALF, DataType.BFLOAT16))
    if isinstance(op, UserOp) and op.batching not in (None, "none") and not op.stateful:
        yield "batching agrees with single calls", lambda: batching_agrees(op, arrays)


def _gradients(op: Op, arrays: Example, asked: bool | None, order: int, tolerance: float, seed: int) -> Named:
    """Gradients, which are compared in float64."""
    wide = [a if a is None or not is_floating(a.dtype) else a.astype(np.float64) for a in arrays]
    for name, check in _gradients_in_float64(op, arrays, asked, order, tolerance, seed):
        yield name, partial(_unless_refused, op, wide, arrays, check)


def _gradients_in_float64(op: Op, arrays: Example, asked: bool | None, order: int, tolerance: float, seed: int) -> Named:
    floating = any(a is not None and is_floating(a.dtype) for a in arrays)
    foreign = isinstance(op, runs.FOREIGN)

    def check(n: int) -> str:
        none = _none(op, arrays) if asked is None else ""
        try:
            return none or circumstances.beside_masks(
                lambda given: check_gradient(lambda sd, v: sd.place_op(op, v), given, n, tolerance, seed), arrays)
        except NoSecondGradientError as error:
            if asked:
                raise
            return f"none: {error}"
        except GradientError as error:
            if asked or not foreign:
                raise
            if n == 2:
                return "none: there is no first one"
            raise CheckFailure(f"{error}. {_WHERE_NONE_IS_MEANT[isinstance(op, JavaOp)]}") from error
    if asked is None and foreign and floating and op.gradient == "zero" and not op.stateful:
        yield "gradient", lambda: circumstances.steps_piece_by_piece(op, arrays)
    elif asked if asked is not None else op.gradient in ("full", "surrogate") and floating and (foreign or not op.stateful):
        for n in range(1, order + 1):
            yield ("gradient", "second gradient")[n - 1], partial(check, n)
        if isinstance(op, UserOp) and op.has_coded_gradient() and not op.stateful and not _none(op, arrays):
            yield "gradient by itself", lambda: stands_alone(op, arrays)
        if foreign and order and gradient_is_written(op) and not _none(op, arrays):
            yield "gradient elsewhere", lambda: circumstances.gradients_elsewhere(op, arrays, tolerance, seed)
            if other_attributes(op):
                yield "gradient with other attributes", lambda: circumstances.gradients_of_other_attributes(op, arrays, tolerance, seed)
            if op.stateful:
                yield "gradient outside training", lambda: circumstances.gradient_outside_training(op, arrays, tolerance, seed)
            yield "gradient in float32", lambda: circumstances.gradient_in_float32(op, arrays)
            yield "gradient of open sizes", lambda: circumstances.gradient_of_open_sizes(op, arrays)


#: Of functions and classes, and of ops in DL4J's form.
_WHERE_NONE_IS_MEANT = 'Where none is meant, declare gradient="none"', "Where none is meant: check_op(..., gradient=False)"


def _none(op: Op, arrays: Example) -> str:
    """Why an op has no gradient, where nobody promised one."""
    if isinstance(op, runs.FOREIGN) and not any(s.dtype.is_floating for s in as_tuple(op.infer(*runs.specs_of(arrays)))):  # type: ignore[arg-type]
        return "none: there is no floating output"
    return ""


def _options(dtypes: Any, shapes: Any, order: Any, tolerance: Any, seed: Any) -> tuple[list[Any], list[list[tuple[int, ...]]]]:
    """Types and shapes as lists; GraphError for options that are none."""
    numbers: list[tuple[str, Any, type, Callable[[Any], bool], str]] = [
        ("order", order, int, lambda n: n in (0, 1, 2), "0, 1 or 2"), ("seed", seed, int, lambda n: n >= 0, "an int from 0 on"),
        ("tolerance", tolerance, float, lambda x: x > 0, "a positive number")]
    for name, value, hint, fits, wanted in numbers:
        try:
            right = fits(coerce(hint, value, name))
        except Mismatch:
            right = False
        if not right:
            raise GraphError(f"check_op: {name} must be {wanted}, got {value!r:.60}")
    for name, value in (("dtypes", dtypes), ("shapes", shapes)):
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise GraphError(f"check_op: {name} must be a list, got {value!r:.60}")
    found = []
    for several in shapes:
        if not isinstance(several, (list, tuple)):
            raise GraphError(f"check_op: shapes must hold a list with a shape for each input, [(2, 3), (3,)]; got {several!r:.60}")
        found.append([sizes("check_op", s) for s in several])
    return [DataType.of(t) for t in dtypes], found


def _made(op: Any, attributes: Mapping[str, Any]) -> Op:
    if not isinstance(attributes, Mapping):
        raise GraphError(f"check_op: attributes must be a dict, got {attributes!r:.60}")
    if isinstance(op, Op):
        return op.replace(**attributes) if attributes else op
    cls = OPS[op] if isinstance(op, str) else owner_class(op)
    if isinstance(cls, type) and issubclass(cls, JavaOp):
        op = cls.user_class
    if isinstance(op, UserDefinedCustomOp) or (isinstance(op, type) and issubclass(op, UserDefinedCustomOp)):
        return _with_properties(op() if isinstance(op, type) else op, attributes).as_op()
    if not (isinstance(cls, type) and issubclass(cls, Op) and cls.id):
        raise GraphError(f"check_op takes a decorated function, an op, a registered class or an id; got {op!r:.80}")
    return cls(**attributes)


def _with_properties(user: UserDefinedCustomOp, properties: Mapping[str, Any]) -> UserDefinedCustomOp:
    """An op in DL4J's form with other properties; GraphError for those that it does not have."""
    if properties:
        known = dict(user.properties_for_function())
        for name in properties:
            if name not in known:
                raise GraphError(f"op {user.op_name()!r} has no property {name!r}{did_you_mean(name, known)}")
        user = copy(user)
        user.set_properties_for_function({**known, **properties})
    return user


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
                return runs.plan_rewrite(op, arrays)
        return text, agrees, is_gpu
    return "CUDA kernel agrees with compute", lambda: f"not run: {reason}", False
