"""Checks of the code of an op: runs that must agree, whatever the memory, the number of calls and the executor."""
from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.base.spec import TensorSpec
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.errors import DL4PyError
from ...samediff.executor.session import run
from ...samediff.expressions.arrays import xp
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.op import Op, as_tuple
from ...samediff.ir.run_context import RunContext
from ...samediff.ir.signature import input_names
from ...samediff.plans.reference import as_type
from ...samediff.plans.reference import compute as compute_op
from ..java.java_op import JavaOp
from ..ops.base import UserOp
from .examples import Example

#: What other projects write; it is looked at from more sides than dl4py's own ops, which have tests.
FOREIGN = (UserOp, JavaOp)
CONTEXT = RunContext(training=True, seed=1, iteration=0)

#: Of the largest value, and of each value, between two ways to compute the same.
_TOLERANCES = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-5, "float64": 1e-9}
_REPEATS, _SECONDS = 1000, 0.25
#: Results of 16 bits may differ by so many roundings of an input or of the largest result.
_ROUNDINGS = 16
#: So many times new arrays take the place of others.
_FRESH = 4


def specs_of(arrays: Example) -> list[TensorSpec | None]:
    """Shapes and types."""
    return [None if a is None else TensorSpec(tuple(a.shape), DataType.of(a)) for a in arrays]


def results(op: Op, arrays: Example, context: RunContext = CONTEXT, name: str = "check") -> tuple[Any, ...]:
    """The results of ``compute``."""
    return compute_op(op, arrays, context, name)


def agree(found: Sequence[Any], wanted: Sequence[Any], what: str, inputs: Example = ()) -> float:
    """The largest difference between results, where those of ``wanted`` have been cast to the types of ``found``.

    Results of ``inputs`` in a narrower type are as near as that type lets them be.
    """
    narrow = max((_TOLERANCES.get(a.dtype.name, 0.0) for a in inputs if a is not None), default=0.0)
    largest = 0.0
    for i, (got, expected) in enumerate(zip(found, wanted)):
        expected = as_type(expected, got.dtype)
        if got.shape != expected.shape:
            raise CheckFailure(f"output {i} of {what}: shapes {got.shape} and {expected.shape}")
        if not DataType.of(got).is_numeric or not got.size:
            continue
        a, b = (x.astype(np.float64) for x in (got, expected))
        tolerance = max(_TOLERANCES[got.dtype.name], narrow) if got.dtype.name in _TOLERANCES else 0.0
        with np.errstate(all="ignore"):
            apart = np.abs(a - b)
        largest = max(largest, float(apart[~np.isnan(apart)].max(initial=0.0)))
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            raise CheckFailure(f"output {i} of {what}: NaN in one of them")
        if not np.allclose(a, b, tolerance, tolerance / 10, equal_nan=True):
            raise CheckFailure(f"output {i} of {what}: largest difference {largest:.3g}")
    return largest


def unchanged(op: Op, what: str, before: Example, after: Example) -> None:
    """CheckFailure when inputs were written."""
    names = input_names(type(op))
    for i, (a, b) in enumerate(zip(before, after)):
        if a is not None and not np.array_equal(a, np.asarray(b), equal_nan=is_floating(a.dtype)):
            name = names[i] if "*" not in type(op).inputs else f"number {i}"
            raise CheckFailure(f"{what} changes its input {name}; work on a copy")


def keeps_inputs(op: Op, arrays: Example) -> None:
    """``compute`` writes to no input; on arrays that cannot be written neither."""
    copies = [None if a is None else a.copy() for a in arrays]
    failure: Exception | None = None
    try:
        results(op, copies)
    except Exception as error:      # what it did before counts
        failure = error
    unchanged(op, "compute", arrays, copies)
    if failure is not None:
        raise failure
    for given in (copies, *(scaled(arrays, by) for by in (10, -1, 0))):
        for a in given:
            if a is not None:
                a.flags.writeable = False
        try:
            with np.errstate(all="ignore"):
                results(op, given)
        except Exception as error:
            if "read-only" in str(error):
                raise CheckFailure(f"compute writes to an input, for some values: {error}. Constants and views cannot be written; "
                                   "work on a copy") from error
            if given is copies:             # other values may be refused
                raise


def scaled(arrays: Example, by: float) -> list[Any]:
    """Other values of the floating inputs."""
    return [None if a is None else np.asarray(a * by, a.dtype) if is_floating(a.dtype) else a.copy() for a in arrays]


def in_threads(op: Op, arrays: Example) -> str:
    """Calls from several threads, each with inputs of its own, give what they give alone."""
    given = [scaled(arrays, by) for by in (1, 2, 3, 4)]
    given = [g for g in given if takes(op, g)]
    if not given:
        return "not run: it takes none of the inputs"
    wanted = [[np.array(r) for r in results(op, g)] for g in given]

    def work(i: int) -> bool:
        return all(equal([np.asarray(r) for r in results(op, given[i])], wanted[i]) for _ in _calls())
    with ThreadPoolExecutor(len(given)) as pool:
        if not all(pool.map(work, range(len(given)))):
            raise CheckFailure("calls from several threads disturb each other: keep nothing in globals or closures while the code runs")
    return f"{len(given)} threads"


def independent(op: Op, arrays: Example) -> str:
    """Calls give the same whatever was called before, and whatever lay in their memory."""
    found = repeated(op, arrays)
    other = scaled(arrays, 2)
    wanted = [[np.array(r) for r in _others(op, given)] for given in (arrays, other)]
    for given, kept in [*zip((arrays, other), wanted)] * _FRESH:
        if kept and not equal([np.asarray(r) for r in results(op, [None if a is None else a.copy() for a in given])], kept):
            raise CheckFailure("arrays that lie where earlier ones were give the results of those: id(x) and addresses tell no arrays "
                               "apart")
    return found


def repeated(op: Op, arrays: Example) -> str:
    """Equal calls give equal results, in memory that no other call and no other result uses."""
    first = [np.asarray(r) for r in results(op, arrays)]
    kept = [r.copy() for r in first]
    for i, a in enumerate(first):
        if any(np.shares_memory(a, b) for b in first[:i]):
            raise CheckFailure(f"output {i} lies in the memory of an earlier output; return a copy")
    other = [None if a is None else np.array(a[::-1] if a.ndim else a, order="C") for a in arrays]
    second = _others(op, other)
    if any(np.shares_memory(a, np.asarray(b)) for a in first for b in second) or not equal(first, kept):
        raise CheckFailure("a result changes when the op is called again: it lies in memory that the op keeps; return a new array")
    del second, first
    calls = 1
    for calls in _calls():
        if not equal(results(op, arrays), kept):
            raise CheckFailure(f"call {calls} with the same inputs gives another result. An op keeps nothing from call to call; "
                               "one that draws random numbers is stateful and takes them from context.random()")
    return f"{calls} calls"


def _calls() -> Iterator[int]:
    """Numbers of further calls: as many as there is time for, two at least."""
    start = time.perf_counter()
    for call in range(2, _REPEATS + 1):
        if call > 3 and time.perf_counter() - start > _SECONDS:
            return
        yield call


def _others(op: Op, arrays: Example) -> Sequence[Any]:
    try:
        return results(op, arrays)
    except Exception:       # values that the op refuses tell nothing here
        return ()


def equal(found: Sequence[Any], kept: Sequence[Any]) -> bool:
    """Up to what the place of an array in memory may change in sums."""
    def near(a: Any, b: Any) -> bool:
        if not is_floating(a.dtype):
            return bool(np.array_equal(a, b))
        limits = ml_dtypes.finfo(a.dtype)  # type: ignore[no-untyped-call]
        a, b = (np.asarray(x, np.float64) for x in (a, b))
        return bool(np.allclose(a, b, 8 * float(limits.eps), 8 * float(limits.smallest_normal), equal_nan=True))
    return len(found) == len(kept) and all(np.shape(a) == b.shape and near(np.asarray(a), b) for a, b in zip(found, kept))


def shape_rule(op: Op, arrays: Example, cut: bool = False) -> str:
    """``infer`` promises what ``compute`` gives, for known and unknown sizes.

    ``cut``: where no rule was written, slices of unknown sizes may be shorter than promised.
    """
    made = results(op, arrays)
    specs = specs_of(arrays)
    derived = isinstance(op, UserOp) and not op.has_infer()
    tried = not derived or all(s is None or 1 not in (s.shape or ()) for s in specs)        # rules are derived from other sizes than 1
    for label, given in _openings(specs, isinstance(op, FOREIGN) and tried):
        promised = as_tuple(op.infer(*given))  # type: ignore[arg-type]
        if len(promised) != len(made):
            raise CheckFailure(f"infer gives {len(promised)} outputs, compute {len(made)}")
        for i, (p, r) in enumerate(zip(promised, made)):
            if not p.accepts(np.shape(r)) and not (cut and derived and label != "known" and _is_part(np.shape(r), p.shape)):
                raise CheckFailure(f"output {i}: infer says {p.shape} for inputs of {label} sizes, compute gives {np.shape(r)}")
            kind = np.asarray(r).dtype
            if label == "known" and not derived and p.dtype.is_floating != DataType.of(r).is_floating and not p.dtype.numpy == kind:
                raise CheckFailure(f"output {i}: infer says {p.dtype.name}, compute gives {kind}")
    return ", ".join(str(np.shape(r)) for r in made)


def _is_part(shape: Sequence[int], promised: Sequence[int] | None) -> bool:
    return promised is not None and len(shape) == len(promised) and all(m == -1 or n <= m for n, m in zip(shape, promised))


def _openings(specs: Sequence[TensorSpec | None], one_by_one: bool) -> Iterator[tuple[str, list[TensorSpec | None]]]:
    """The specs with all sizes known, with none, and with one unknown at a time."""
    yield "known", list(specs)
    yield "unknown", [s if s is None else s.with_shape((-1,) * len(s.shape or ())) for s in specs]
    none = any(s is not None and 0 in (s.shape or ()) for s in specs)      # no size that is tried goes with 0 everywhere
    for i, s in enumerate(specs if one_by_one and not none else ()):
        for axis in range(len(s.shape or ()) if s is not None else 0):
            shape = list(s.shape or ())  # type: ignore[union-attr]
            shape[axis] = -1
            yield f"some unknown ({tuple(shape)})", [*specs[:i], s.with_shape(tuple(shape)), *specs[i + 1:]]  # type: ignore[union-attr]


def plan_rewrite(op: Op, arrays: Example, strided: bool = False, shared: bool = False, training: bool = True) -> str:
    """A graph of the op against ``compute``; ``strided``: on views, ``shared``: inputs that are equal are one variable."""
    sd, feeds, variables = SameDiff(), dict[str, Any](), list[Any]()
    for i, a in enumerate(arrays):
        same = next((v for v, b in zip(variables, arrays) if shared and v is not None and b is a), None)
        if a is None or same is not None:
            variables.append(same)
            continue
        feeds[f"input{i}"] = _spread(a) if strided else a
        v = sd.placeholder(f"input{i}", DataType.of(a), *(n or -1 for n in feeds[f"input{i}"].shape))
        variables.append(v[..., ::2].permute(*reversed(range(a.ndim))) if strided and a.ndim else v)
    made = sd.add_op(op, variables)
    outputs = made if isinstance(made, list) else [made]
    context = RunContext(training=training, seed=1, iteration=0)
    found = run(sd, feeds, [o.name() for o in outputs], context)
    wanted = results(op if training else op.at_inference(), arrays, context, sd.nodes()[-1].name)
    return f"largest difference {agree(list(found.values()), wanted, 'the compiled plan and compute', arrays):.2g}"


def _spread(a: Any) -> Any:
    """The array of which ``view[..., ::2]``, transposed, is ``a``."""
    return np.repeat(a.T, 2, axis=-1) if a.ndim else a


def strided(op: Op, arrays: Example) -> str:
    """Inputs that do not lie in memory one value after the other, for ``compute`` and in a graph."""
    views = [a if a is None else _spread(a)[..., ::2].T if a.ndim else a for a in arrays]
    wanted = results(op, arrays)
    agree([np.asarray(r) for r in results(op, views)], wanted, "compute on strided and on contiguous inputs")
    for what, given in (("whose columns come first in memory", [a if a is None or not a.ndim else np.asfortranarray(a) for a in arrays]),
                        ("that run backwards in memory", [a if a is None or not a.ndim else a[::-1].copy()[::-1] for a in arrays])):
        try:
            agree([np.asarray(r) for r in results(op, given)], wanted, f"compute on inputs {what} and on others")
        except CheckFailure as error:
            raise CheckFailure(f"{error}: read arrays by their indices, np.ascontiguousarray(x) or x.reshape(-1), not by bytes") from None
    return plan_rewrite(op, arrays, strided=True)


def shared(op: Op, arrays: Example) -> str | None:
    """Inputs that are one array."""
    numeric = [a for a in arrays if a is not None]
    twins = [next((b for b in numeric if b.shape == a.shape and b.dtype == a.dtype), a) if a is not None else None for a in arrays]
    if len({id(a) for a in twins if a is not None}) == len(numeric):
        return "no two inputs of one shape and type"
    apart = [None if a is None else a.copy() for a in twins]
    agree([np.asarray(r) for r in results(op, twins)], results(op, apart), "compute on one array twice and on copies")
    return plan_rewrite(op, twins, shared=True)


def of_types(op: Op, arrays: Example, types: Sequence[DataType]) -> str:
    """Floating types that an op may refuse, but not get wrong."""
    found = []
    for dtype in types:
        cast = [a if a is None or not is_floating(a.dtype) else a.astype(dtype.numpy) for a in arrays]
        taken = _right_or_refused(op, cast)
        if taken and not op.stateful:
            _near(op, cast, dtype)
        found.append(f"{dtype.name} {'ok' if taken else 'refused'}")
    return ", ".join(found)


def _near(op: Op, cast: Example, dtype: DataType) -> None:
    """Values in 16 bits are those of float64 for the same inputs, as near as rounded inputs and results let them be."""
    info = ml_dtypes.finfo(dtype.numpy)  # type: ignore[no-untyped-call]
    eps, wide = float(info.eps), [a if a is None or not is_floating(a.dtype) else a.astype(np.float64) for a in cast]
    moved = [a if a is None or not is_floating(a.dtype) else a * (1 + eps * np.where(np.arange(a.size).reshape(a.shape) % 2, -1, 1))
             for a in wide]
    if not (takes(op, wide) and takes(op, moved)):
        return
    for i, several in enumerate(zip(results(op, cast), results(op, wide), results(op, moved))):
        a, b, c = (np.asarray(x).astype(np.float64) for x in several)
        if not a.shape == b.shape == c.shape:          # sizes that depend on values
            continue
        with np.errstate(all="ignore"):
            scale, worst, by_rounding = (float(np.abs(x).max(initial=0.0)) for x in (b, a - b, c - b))
        if worst > _ROUNDINGS * (eps * scale + by_rounding) and scale > float(info.smallest_normal) and np.isfinite(worst):
            k = np.abs(a - b).argmax()
            raise CheckFailure(f"output {i} of {dtype.name} inputs is up to {a.reshape(-1)[k]:.3g} where float64 gives "
                               f"{b.reshape(-1)[k]:.3g} for the same inputs")


def of_sizes(op: Op, examples: Sequence[Example]) -> str:
    """Sizes that an op may refuse, but not get wrong."""
    taken = sum(_right_or_refused(op, arrays) for arrays in examples)
    return f"{len(examples)}, {len(examples) - taken} of them refused"


def follow_sizes(op: Op, arrays: Example, others: Sequence[Example]) -> str:
    """As :func:`of_sizes`; and a shape rule that gives the shape of an input for the example does not give it for all others too.

    Where it does, the code fails when it writes its results, which is no refusal that an author has meant.
    """
    shape = _shapes(op, arrays)
    of_input = shape is not None and any(s and any(a is not None and a.shape == s for a in arrays) for s in shape)
    larger = [other for other in others if _count(other) > _count(arrays)]       # smaller ones may fit in by broadcasting
    if of_input and larger and not any(takes(op, other) for other in larger) and all(_shapes(op, other) == shape for other in others):
        raise CheckFailure(f"the shape rule gives {shape} whatever the inputs are, and the code takes no larger ones: ask the inputs for "
                           "their sizes, or raise an error in the rule for those that are refused")
    return of_sizes(op, others)


def _count(arrays: Example) -> int:
    return sum(a.size for a in arrays if a is not None)


def _shapes(op: Op, arrays: Example) -> list[Any] | None:
    """Shapes by the rule; None where it refuses the inputs."""
    try:
        return [s.shape for s in as_tuple(op.infer(*specs_of(arrays)))]  # type: ignore[arg-type]
    except Exception:       # whatever a rule says of inputs that it does not take
        return None


def of_ranks(op: Op, examples: Iterable[tuple[str, Example]]) -> str:
    """Numbers of axes that code or shape rule may refuse; what both take, they agree on."""
    taken = 0
    for what, arrays in examples:
        if not takes(op, arrays):
            continue
        taken += 1
        try:
            shape_rule(op, arrays)
        except (CheckFailure, DL4PyError) as error:
            raise CheckFailure(f"for inputs with {what}, which the code takes: {error}. Count axes from the end, or refuse such inputs in "
                               "the shape rule") from error
    return f"{taken} others"


def takes(op: Op, arrays: Example) -> bool:
    """Whether code and shape rule, where one was written, do not refuse inputs; what the rule says of the result is another question."""
    code = getattr(op, "raw_compute", op.compute)
    more = {"context": CONTEXT.at("check")} if op.stateful else {}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)         # of empty arrays and overflow
            code(xp, *(None if a is None else a.copy() for a in arrays), **more)
        if not isinstance(op, UserOp) or op.has_infer():
            op.infer(*specs_of(arrays))  # type: ignore[arg-type]
    except Exception:       # whatever they say of inputs that they do not take
        return False
    return True


def _right_or_refused(op: Op, arrays: Example) -> bool:
    if not takes(op, arrays):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            shape_rule(op, arrays, cut=True)
            plan_rewrite(op, arrays)
    except (CheckFailure, DL4PyError) as error:
        raise CheckFailure(f"for inputs {', '.join('-' if s is None else str(s) for s in specs_of(arrays))}: {error}") from error
    return True
