"""Checks of an op in other circumstances: other values and shapes for its gradient, other types, another order of calls."""
from __future__ import annotations

import dis
import types
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.errors import DL4PyError
from ...samediff.executor.session import run, run_uncompiled
from ...samediff.graph.child_process import in_copy
from ...samediff.graph.gradient_check import check_gradient
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.op import Op
from ...samediff.ir.run_context import RunContext
from ...samediff.ir.signature import input_names
from ..ops.base import UserOp
from . import runs
from .attributes import other_attributes
from .examples import Example, larger, more_rows, other_counts, spaced, with_left_out

#: Contexts that differ in all that a stateful op may look at.
_RUNS = (RunContext(training=True, seed=1, iteration=0), RunContext(training=True, seed=2, iteration=0),
         RunContext(training=True, seed=1, iteration=1000, epoch=100), RunContext(training=False, seed=1, iteration=0))
#: Between two places, as a share of the inputs.
_STEP = 1e-6
#: Axes of so many sizes are made 1.
_SIZES = 3
#: So many pairs of attributes are changed together.
_PAIRS = 3
#: Far from the examples, where functions may swing within a step of the differences, a gradient is wrong by more than this.
_FAR, _FAR_AWAY = 1e-2, "for much larger inputs"
#: Of longer arrays, whose gradients are less exact.
_AT_ENDS = "Look at the loops and blocks of grad, and at their ends"
#: Of which gradients are taken.
_MULTIPLES = (1e6, 1e-9, -1.0)


def gradients_elsewhere(op: Op, arrays: Example, tolerance: float, seed: int) -> str:
    """The gradient at other values and for shapes that are broadcast, as far as the op takes them.

    A place that has no derivative by chance does not count: the gradient is wrong where it is so at two places.
    """
    if _failure(op, arrays, tolerance, seed):
        return "not compared: it is wrong for the examples already"
    _of_this_run(op, arrays)
    compared = 0
    for what, advice, places in _elsewhere(arrays, seed):
        taken = [p for p in places if finite(op, p)]
        least = _FAR if what is _FAR_AWAY or advice is _AT_ENDS else 1e-5
        failures = [f for p in taken if (f := _failure(op, p, tolerance, seed, least))]
        compared += bool(taken)
        if len(failures) == len(places) and taken:
            raise CheckFailure(f"{what}: {failures[0]}. {advice}")
    for given in other_counts(op, arrays):
        if runs.takes(op, given) and (failure := _failure(op, given, tolerance, seed)):
            raise CheckFailure(f"with {sum(a is not None for a in given)} inputs: {failure}. grad returns one for each input")
    _of_inputs_left_out(op, arrays, tolerance, seed)
    _of_other_axes(op, arrays, tolerance, seed)
    _numbers_at_zero(op, arrays)
    _numbers_far_away(op, arrays)
    _is_linear(op, arrays)
    _of_one_array(op, arrays)
    return f"at {compared} other places"


def _of_this_run(op: Op, arrays: Example) -> None:
    """CheckFailure where a gradient that was built when the inputs had other values is not that of their values now."""
    other = runs.scaled(arrays, 2)
    if not finite(op, other):
        return
    wanted, found = _gradients(op, arrays, DataType.DOUBLE), _gradients(op, arrays, DataType.DOUBLE, before=other)
    for i, a in wanted.items():
        if a is not None and not np.allclose(a, found[i], 1e-9, 1e-12, equal_nan=True):
            raise CheckFailure(f"the gradient of input {i} holds values of an earlier run: grad makes it of the inputs and outputs that it "
                               "is given, and takes nothing that compute has left in the class or module")


def _of_inputs_left_out(op: Op, arrays: Example, tolerance: float, seed: int) -> None:
    """CheckFailure where the gradient is wrong with an input that the example leaves out, in a shape with which the op takes it."""
    without = runs.results(op, arrays)
    for name, given in with_left_out(op, arrays):
        if not finite(op, given) or runs.equal([np.asarray(r) for r in runs.results(op, given)], [np.asarray(r) for r in without]):
            continue
        try:
            failures = [_failure(op, place, tolerance, seed) for place in (given, runs.scaled(given, 1.1))]
        except Exception as error:
            if _is_refusal(error):
                continue
            raise CheckFailure(f"with the input {name!r}, which the example leaves out, the gradient fails: {error}. grad is given None or "
                               "an array for it, and returns a gradient of it too") from error
        if all(failures):
            raise CheckFailure(f"with the input {name!r}, which the example leaves out: {failures[0]}. grad is given None or an array for "
                               "it, and returns a gradient of it too")


def _of_other_axes(op: Op, arrays: Example, tolerance: float, seed: int) -> None:
    """CheckFailure where the gradient is wrong for inputs with a further axis in front or none, as far as op and gradient take them."""
    def failure(change: Callable[[Any], Any]) -> str:
        found = []
        for by in (1.0, 1.1):
            place = [a if a is None or not is_floating(a.dtype) or not a.size else change(by * a) for a in arrays]
            if not finite(op, place):
                return ""
            try:
                found.append(_failure(op, place, tolerance, seed))
            except Exception:           # a gradient that refuses them
                return ""
        return found[0] if all(found) else ""
    if wrong := failure(lambda a: np.stack([a, 0.9 * a])):
        raise CheckFailure(f"for inputs with one more axis in front, which the code takes: {wrong}. Count axes from the end (axis=-1) in "
                           "both, or refuse such inputs")
    if wrong := failure(lambda a: a.reshape(-1)[a.size // 2]):
        raise CheckFailure(f"for single numbers, which the code takes: {wrong}. Look at what grad does with inputs of shape (), or refuse "
                           "them")


def _numbers_at_zero(op: Op, arrays: Example) -> None:
    """CheckFailure where the gradient is not a number at 0, and the op is one there and on both sides."""
    def moved(i: int, by: float) -> list[Any]:
        return [a if j != i or a is None else np.where(np.arange(a.size).reshape(a.shape) % 2, a, by).astype(a.dtype)
                for j, a in enumerate(arrays)]
    for i, a in enumerate(arrays):
        if a is not None and is_floating(a.dtype) and a.size and all(finite(op, moved(i, by)) for by in (0.0, 1e-3, -1e-3)):
            with np.errstate(all="ignore"):
                found = _gradients(op, moved(i, 0.0), DataType.of(a))
            if any(g is not None and np.isnan(g).any() for g in found.values()):
                raise CheckFailure(f"where input {i} is 0, the gradient is not a number, and the op is one there and beside it: divide by "
                                   "what is never 0, as in xp.where(x == 0, 0, g / xp.where(x == 0, 1, x))")


def _numbers_far_away(op: Op, arrays: Example) -> None:
    """CheckFailure where the gradient is not a number for inputs so large that exp leaves the range, and the op is one."""
    for by in (1e3, -1e3):
        there = runs.scaled(arrays, by)
        if not finite(op, there):
            continue
        with np.errstate(all="ignore"):
            found = _gradients(op, there, DataType.DOUBLE)
        if any(g is not None and np.isnan(g).any() for g in found.values()):
            raise CheckFailure(f"for inputs times {by:g} the gradient is not a number, and the op is one: exp of large numbers is "
                               "infinite; use outputs[0] where it holds what is needed, or exp(-abs(x))")


def _is_linear(op: Op, arrays: Example) -> None:
    """CheckFailure where a multiple of the gradient of outputs does not give that multiple of the gradient of inputs."""
    once = _gradients(op, arrays, DataType.DOUBLE)
    for by in _MULTIPLES:
        found = _gradients(op, arrays, DataType.DOUBLE, times=by)
        for i, a in once.items():
            if a is not None and np.isfinite(a).all() and not np.allclose(found[i] / by, a, 1e-6, 1e-9 * np.abs(a).max(initial=0.0)):
                raise CheckFailure(f"gradients of outputs times {by:g} do not give the gradient of input {i} times {by:g}: grad multiplies "
                                   "output_grads by the derivative, and clips or rounds nothing of them; "
                                   'gradient="surrogate" where that is meant')
    with np.errstate(all="ignore"):
        found = _gradients(op, arrays, DataType.DOUBLE, times=np.nan)
    for i, a in once.items():
        if a is not None and np.isfinite(a).all() and not np.isnan(found[i][a != 0]).all():
            raise CheckFailure(f"where the gradients of outputs are not numbers, that of input {i} is one: what went wrong behind the op "
                               "would train on unseen. grad multiplies output_grads by the derivative, without nan_to_num, fmax or "
                               "comparisons of them")


def _of_one_array(op: Op, arrays: Example) -> None:
    """CheckFailure where two inputs that are one variable get a gradient that is not the one of both."""
    floating = [i for i, a in enumerate(arrays) if a is not None and is_floating(a.dtype)]
    pairs = [(i, j) for i in floating for j in floating if i < j and arrays[i].shape == arrays[j].shape]
    for i, j in pairs[:1]:
        def built(sd: SameDiff, v: list[Any], i: int = i, j: int = j) -> Any:
            return sd.place_op(op, [*v[:j], v[i], *v[j + 1:]])
        given = [arrays[i] if k == j else a for k, a in enumerate(arrays)]
        if not finite(op, given):
            continue
        try:
            with np.errstate(all="ignore"):
                check_gradient(built, given, 1, 1e-5, 0, 1, fixed=(j,), compiled=False)
        except AssertionError as error:
            if "nan" not in str(error) and "inf" not in str(error):
                raise CheckFailure(f"where inputs {i} and {j} are one variable: {error}. Where they are equal, their gradients add up to "
                                   "that of both: with >= for one, > for the other") from error


def gradients_of_other_attributes(op: Op, arrays: Example, tolerance: float, seed: int) -> str:
    """The gradient with other numbers and truth values as attributes; wrong where it is so at two places."""
    compared = 0
    for names, other in _singly_and_in_pairs(op, arrays):
        places = [[a if a is None or not is_floating(a.dtype) else a * np.asarray(1 + 0.02 * k, a.dtype) for a in arrays] for k in (0, 1)]
        try:
            failures = [f for p in places if finite(other, p) and _floats(other, p) and (f := _failure(other, p, tolerance, seed))]
        except Exception as error:
            if _is_refusal(error):
                continue
            raise CheckFailure(f"with another {names}, with which compute takes the inputs, the gradient fails: {error}. grad is given "
                               "the attributes and has to heed them, or to refuse them") from error
        compared += 1
        if len(failures) == len(places):
            raise CheckFailure(f"with another {names}: {failures[0]}. grad is given the attributes and has to heed them")
    return f"{compared} others"


def _singly_and_in_pairs(op: Op, arrays: Example) -> Iterator[tuple[str, Op]]:
    """The op with another attribute, and with two others at once, as far as it takes the arrays."""
    changed = other_attributes(op, arrays)
    yield from ((repr(name), other) for name, other in changed)
    for (a, first), (b, second) in [*combinations(changed, 2)][:_PAIRS] if isinstance(op, UserOp) else ():
        if a != b:
            try:
                both = first.replace(**{b: getattr(second, b)})
            except Exception:       # values that it refuses beside each other
                continue
            if runs.takes(both, arrays):
                yield f"{a!r} and another {b!r}", both


def beside_masks(check: Callable[[Example], str], arrays: Example) -> str:
    """Run a check of a gradient; where it fails, once more with other numbers for masks: code that compares them steps at 0 and 1."""
    masks = [a is not None and is_floating(a.dtype) and bool(np.isin(a, (0, 1)).all()) for a in arrays]
    try:
        return check(arrays)
    except AssertionError:
        if not any(masks) or all(m or a is None or not is_floating(a.dtype) for m, a in zip(masks, arrays)):
            raise
    return check([_moved(a) if mask else a for mask, a in zip(masks, arrays)]) + ", masks moved from 0 and 1"


def _moved(mask: Any) -> Any:
    """Numbers between 0 and 1, all different, as are their sums."""
    return np.asarray(0.27 + 0.41 * mask + 0.013 * np.arange(mask.size).reshape(mask.shape) / mask.size, mask.dtype)


def _failure(op: Op, arrays: Example, tolerance: float, seed: int, least: float = 1e-5) -> str:
    """Text on an error of the gradient at a place; empty where it is right."""
    try:
        with np.errstate(all="ignore"):
            beside_masks(lambda given: check_gradient(lambda sd, v: sd.place_op(op, v), given, 1, max(tolerance, least), seed, 1,
                                                      compiled=False), arrays)
    except AssertionError as error:
        return str(error)
    return ""


def _floats(op: Op, arrays: Example) -> bool:
    """Whether there is a floating result; its gradient is built."""
    sd = SameDiff()
    points = [None if a is None else (sd.var if is_floating(a.dtype) else sd.constant)(a) for a in arrays]
    try:
        made = sd.place_op(op, points)
        outputs = [o for o in (made if isinstance(made, list) else [made]) if o.dtype.is_floating]
    except DL4PyError:
        return False
    for o in outputs:
        sd.gradients(o.sum(), [p for p in points if p is not None and p.is_trainable()])
    return bool(outputs)


def _is_refusal(error: BaseException) -> bool:
    """Whether the code of a user raised an error itself: not one of NumPy or dl4py."""
    while error.__cause__ is not None:
        error = error.__cause__
    own = [tb for tb in _traceback(error) if str(tb.tb_frame.f_globals.get("__name__")).split(".")[0] not in ("dl4py", "numpy")]
    return bool(own) and dis.opname[own[-1].tb_frame.f_code.co_code[own[-1].tb_lasti]] == "RAISE_VARARGS"


def _traceback(error: BaseException) -> Iterator[types.TracebackType]:
    tb = error.__traceback__
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _elsewhere(arrays: Example, seed: int) -> Iterator[tuple[str, str, list[list[Any]]]]:
    """Cases to try, each with advice for a failure and two examples."""
    def near(change: Callable[[Any], Any], arrays: Example = arrays) -> list[list[Any]]:
        found = []
        for k in (1, 2):
            rng = np.random.default_rng(seed + k)
            found.append([a if a is None or not is_floating(a.dtype) else
                          change(a.astype(np.float64)) * (1 + 0.02 * rng.uniform(-1, 1, a.shape)) for a in arrays])
        return found
    yield ("for inputs of the other sign", "Look at the branches of grad", near(lambda a: -a))
    yield ("for larger inputs", "Look at the branches of grad", near(lambda a: 3.7 * a))
    yield (_FAR_AWAY, "Look at the branches of grad", near(lambda a: 30 * a))
    if twice := more_rows(arrays):
        yield ("for twice as many rows", "Look at what grad does with the first axis", near(lambda a: a, twice))
    for many in larger(arrays):
        shapes = ", ".join(str(a.shape) for a in many if a is not None)
        yield (f"for shapes {shapes}", _AT_ENDS, [spaced(many, seed + k) for k in (1, 2)])
    rows = {a.shape[0] for a in arrays if a is not None and a.ndim}
    if len(rows) == 1 and rows != {1}:
        yield ("for one row alone", "Look at what grad does with the first axis", [
            [a if a is None or not a.ndim else a[:1] for a in p] for p in near(lambda a: a)])
    for n in list(dict.fromkeys(n for a in arrays if a is not None for n in a.shape if n > 1))[:_SIZES]:
        def of_one(p: list[Any], n: int = n) -> list[Any]:
            return [a if a is None else a[tuple(slice(1) if m == n else slice(None) for m in a.shape)] for a in p]
        yield (f"with size 1 along the axes of size {n}, which the code takes", "Look at what grad does with axes of size 1, or refuse "
               "such shapes in infer", [of_one(p) for p in near(lambda a: a)])
    floating = [i for i, a in enumerate(arrays) if a is not None and is_floating(a.dtype)]
    for i in floating:
        for axis, n in enumerate(arrays[i].shape):
            if n > 1 and len(floating) > 1:
                def shrunk(p: list[Any], i: int = i, axis: int = axis) -> list[Any]:
                    return [np.take(a, [0], axis) if j == i else a for j, a in enumerate(p)]
                yield (f"with size 1 along axis {axis} of input {i}, which the code takes",
                       "Sum the gradient over the axes along which an input is broadcast, or refuse such shapes in infer",
                       [shrunk(p) for p in near(lambda a: a)])
                break


def finite(op: Op, arrays: Example) -> bool:
    """Whether an op takes the arrays and gives finite numbers."""
    if not runs.takes(op, arrays):
        return False
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            runs.shape_rule(op, arrays)
            found = runs.results(op, arrays)
    except Exception:       # what it refuses, or gives in another shape, is looked at by other checks
        return False
    return all(np.isfinite(np.asarray(r, np.float64)).all() for r in found if is_floating(np.asarray(r).dtype))


def steps_piece_by_piece(op: Op, arrays: Example) -> str:
    """CheckFailure where an op that declares its gradient to be 0 is not constant around two places."""
    def moves(by: float) -> bool:
        place = [a if a is None or not is_floating(a.dtype) else a.astype(np.float64) * by for a in arrays]
        beside = [a if a is None or not is_floating(a.dtype) else a + _STEP * np.maximum(np.abs(a), _STEP) for a in place]
        if not (finite(op, place) and finite(op, beside)):
            return False
        return any(a.shape == b.shape and a.dtype.kind == "f" and not np.array_equal(a, b)
                   for a, b in zip(*([np.asarray(r) for r in runs.results(op, p)] for p in (place, beside))))
    if all(moves(by) for by in (1.0, 1.0137, 0.9731)):
        raise CheckFailure('it declares gradient="zero", and its values change with the inputs: "zero" is for what is constant piece by '
                           'piece, as rounding; gradient="none" for what shall have no gradient')
    return "constant piece by piece"


def gradient_outside_training(op: Op, arrays: Example, tolerance: float, seed: int) -> str:
    """The gradient that was written is that of what the op does outside of training too."""
    try:
        return check_gradient(lambda sd, v: sd.place_op(op, v), arrays, 1, tolerance, seed, training=False)
    except AssertionError as error:
        raise CheckFailure(f"outside of training: {error}. Array code, grad(xp, inputs, outputs, output_grads, *, training), is told "
                           "whether the run trains") from error


def gradient_in_float32(op: Op, arrays: Example) -> str:
    """The gradient of float32 inputs is about that of float64 inputs."""
    worst = 0.0
    wide, narrow = (_gradients(op, arrays, kind) for kind in (DataType.DOUBLE, DataType.FLOAT))
    for i, a in wide.items():
        b = narrow[i]
        if (a is None) != (b is None):
            raise CheckFailure(f"input {i} has a gradient for float32 or for float64 only")
        if a is None:
            continue
        error = float(np.abs(a - b).max(initial=0.0)) / max(1.0, float(np.abs(a).max(initial=0.0)))
        worst = max(worst, error)
        if not error <= 1e-2 and np.isfinite(a).all():
            raise CheckFailure(f"the gradient of input {i} is {b.reshape(-1)[np.abs(a - b).argmax()]:.4g} for float32 inputs, "
                               f"{a.reshape(-1)[np.abs(a - b).argmax()]:.4g} for float64: look at what grad does by types")
    return f"largest difference {worst:.1g}"


def gradient_of_open_sizes(op: Op, arrays: Example) -> str:
    """The gradient is the same where a graph leaves sizes open."""
    known, opened = _gradients(op, arrays, DataType.DOUBLE), _gradients(op, arrays, DataType.DOUBLE, opened=True)
    for i, a in known.items():
        b = opened[i]
        if (a is None) != (b is None) or (a is not None and not np.allclose(a, b, 1e-9, 1e-12, equal_nan=True)):
            raise CheckFailure(f"the gradient of input {i} is another one where the graph leaves its sizes open: grad asks for sizes, "
                               "which are -1 there; write it with nodes or array code that need none")
    return f"{len(known)} inputs"


def _gradients(op: Op, arrays: Example, dtype: DataType, opened: bool = False, before: Example | None = None,
               times: float = 1.0) -> dict[int, Any]:
    """Gradients of the sum of the floating outputs, times fixed weights, by input; ``before``: values while they are built.

    Where sizes are open, a compiled plan computes them.
    """
    by = run if opened else run_uncompiled
    sd, points = SameDiff(), dict[int, Any]()
    variables: list[Any] = []
    feeds: dict[str, Any] = {}
    for i, a in enumerate(arrays):
        floating = a is not None and is_floating(a.dtype)
        if floating and opened:
            points[i], feeds[f"input{i}"] = sd.placeholder(f"input{i}", dtype, *[-1] * a.ndim), a.astype(dtype.numpy)
        elif floating:
            points[i] = sd.var(f"input{i}", (a if before is None else before[i]).astype(dtype.numpy))
        variables.append(points[i] if floating else None if a is None else sd.constant(f"input{i}", a))
    made = sd.place_op(op, variables)
    outputs = [o for o in (made if isinstance(made, list) else [made]) if o.dtype.is_floating]
    context, total = RunContext(training=True, seed=1, iteration=0), None
    for o in outputs:
        shape = run_uncompiled(sd, feeds, [o.name()], context)[o.name()].shape
        weights = times * np.linspace(-1, 2, int(np.prod(shape))).reshape(shape)
        part = (o.cast_to(DataType.DOUBLE) * sd.constant(weights)).sum()
        total = part if total is None else total + part
    found = sd.gradients(total, list(points.values()))
    names = [g.name() for g in found if g is not None]
    for i in points if before is not None else ():
        sd.set_array(f"input{i}", arrays[i].astype(dtype.numpy))
    values = by(sd, feeds, names, context) if names else {}
    return {i: None if g is None else values[g.name()].astype(np.float64) for i, g in zip(points, found)}


def in_either_order(op: Op, arrays: Example) -> str:
    """Two calls give the same whichever is the first of a process; each order in a process of its own."""
    other = [None if a is None else np.asarray(a * 2, a.dtype) if is_floating(a.dtype) else a.copy() for a in arrays]

    def calls(*both: tuple[Op, Example]) -> Any:
        try:
            with np.errstate(all="ignore"):
                return [[np.array(r) for r in runs.results(one, given)] for one, given in both]
        except Exception:       # values that it refuses tell nothing here
            return None
    compared = 0
    more = ((f"op with another {n!r}", o, arrays) for n, o in other_attributes(op)[:2])
    typed = [a if a is None or not is_floating(a.dtype) else a.astype(np.float32 if a.dtype == np.float64 else np.float64) for a in arrays]
    for what, second, given in (("call", op, other), ("call", op, _stirred(arrays)), ("call with another floating type", op, typed), *more):
        one = in_copy(lambda second=second, given=given: calls((op, arrays), (second, given)))  # type: ignore[misc]
        two = in_copy(lambda second=second, given=given: calls((second, given), (op, arrays)))  # type: ignore[misc]
        if one is None or two is None:
            continue
        compared += 1
        if not all(runs.equal(a, b) for a, b in zip(one, reversed(two))):
            raise CheckFailure(f"a call gives something else when another {what} came before it: an op keeps nothing from call to call, "
                               "neither in globals, closures and default arguments nor in its class; what it needs is an input or an "
                               "attribute")
    return f"{compared} orders"


def _stirred(arrays: Example) -> list[Any]:
    """The same numbers in another order, but for the first and the last one: sums, ends and extremes tell no arrays apart."""
    def stirred(a: Any) -> Any:
        flat = a.reshape(-1).copy()
        flat[1:-1] = flat[1:-1][::-1]
        return flat.reshape(a.shape)
    return [None if a is None else stirred(a) if is_floating(a.dtype) else a.copy() for a in arrays]


def heeds_runs(op: Op, arrays: Example) -> str:
    """A stateful op gives something else for another seed, iteration or kind of run; its random numbers are those of a node and step."""
    def found(context: RunContext, node: str = "check") -> list[Any]:
        return [np.asarray(r) for r in runs.results(op, arrays, context, node)]
    first, seeds, steps, rest = map(found, _RUNS)
    for i, (a, b) in enumerate(zip(first, rest)):
        if a.dtype != b.dtype:
            raise CheckFailure(f"output {i} is {a.dtype} in training and {b.dtype} outside: both are of one type, x.dtype for instance")
    if all(runs.equal(first, f) for f in (seeds, steps, rest)):
        raise CheckFailure("it is stateful, and gives the same for every seed and iteration, in training and outside: draw from "
                           "context.random(), not from a generator of its own, or leave stateful out")
    if runs.equal(first, seeds):
        return "by training or iteration"
    for what, other in (("iteration", steps), ("node of the same graph", found(_RUNS[0], "another"))):
        if runs.equal(first, other):
            raise CheckFailure(f"it gives other numbers for another seed, and the same for another {what}: draw from context.random(), "
                               "which heeds seed, iteration and node. If that is meant: allow={'random numbers'}")
    return "by seed, iteration and node"


def uses_inputs(op: Op, arrays: Example) -> str:
    """Something of each input goes into the results, in training or outside: its values, or its sizes."""
    given = [(i, a) for i, a in enumerate(arrays) if a is not None and a.size]
    for i, a in given:
        if not any(_heeds(op, arrays, i, other) for other in _in_place_of(a)):
            names = input_names(type(op))
            name = names[i] if "*" not in type(op).inputs else f"number {i}"
            raise CheckFailure(f"input {name} has no effect: with other values and sizes of it the results are the same. Use it, or take "
                               "it out of the parameters. If that is meant: allow={'inputs are used'}")
    return f"{len(given)}"


def _in_place_of(a: Any) -> Iterator[Any]:
    if a.dtype.kind == "b":
        yield ~a
    elif a.dtype.kind != "V" and np.issubdtype(a.dtype, np.number):
        yield from (np.asarray(b, a.dtype) for b in (-a, 2 * a + 1, 0 * a))
    yield np.concatenate([a, a]) if a.ndim else a[None]


def _heeds(op: Op, arrays: Example, i: int, other: Any) -> bool:
    for context in (runs.CONTEXT, _RUNS[-1]):
        wanted = [np.asarray(r) for r in runs.results(op, arrays, context)]
        try:
            with np.errstate(all="ignore"):
                found = [np.asarray(r) for r in runs.results(op, [*arrays[:i], other, *arrays[i + 1:]], context)]
        except Exception:           # a value that is refused is heeded
            return True
        if not runs.equal(found, wanted):
            return True
    return False
