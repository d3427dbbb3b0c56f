"""Checking dropouts, initialisers and constraints, one's own or built in."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.user_code.check_report import CheckFailure, CheckReport, require_instance
from ...samediff.base.user_code.user_methods import refuses
from ...samediff.errors import DL4PyError
from ...samediff.executor.session import run, run_uncompiled
from ...samediff.graph.child_process import in_child
from ...samediff.graph.gradient_check import check_gradient
from ...samediff.graph.graph import SameDiff
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ...samediff.ir.run_context import RunContext
from ...samediff.plans.reference import compute as compute_op
from ..functions.constraints import LayerConstraint
from ..functions.dropout import IDropout
from ..functions.weight_init import IWeightInit
from .check_options import CONTEXTS, is_foreign, options_check
from .check_parts import close, configuration_checks
from .check_subject import distinct

__all__ = ["check_constraint", "check_dropout", "check_initialiser"]


#: Initial weights above this are a mistake: the largest of dl4py's own stay below 10.
_LARGE = 1e3
#: So many further calls may not differ.
_CALLS = 100
#: Inputs of layers for rows, series and images.
_RANKS = (4, 6), (4, 6, 3), (4, 6, 3, 2)
#: So many changes of others are no accident.
_OFTEN = 50
#: An iteration at which what begins slowly has begun.
_LATE = 1000


@in_child
def check_dropout(dropout: IDropout, shape: Sequence[int] = (6, 8), *, tolerance: float = 1e-4, seed: int = 0,
                  allow: Collection[str] = ()) -> CheckReport:
    """Check a dropout: configuration, random numbers by seed and iteration, rest outside of training, types, gradient.

    Parameters
    ----------
    dropout : IDropout
        What to check; it has to do something in training.
    shape : sequence of int
        Shape of the drawn input; (6, 8) by default.
    tolerance : float
        Largest relative error of the gradient.
    seed : int
        Of the drawn input.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import Dropout, check_dropout
    >>> check_dropout(Dropout(0.5)).passed
    True
    """
    require_instance("check_dropout", dropout, IDropout, "Dropout(0.5)")
    report = CheckReport(f"dropout {type(dropout).__name__}")
    configuration_checks(report, dropout)
    x = distinct(shape, np.random.default_rng(seed))
    taken: list[tuple[int, ...]] = []

    def value(training: bool = True, seed: int = 1, iteration: int = 0, dtype: Any = np.float64) -> Any:
        sd = SameDiff()
        out = dropout.define(sd, sd.placeholder("x", DataType.of(dtype), *[-1] * x.ndim))
        context = RunContext(training=training, seed=seed, iteration=iteration)
        found = run_uncompiled(sd, {"x": x.astype(dtype)}, [out.name()], context)[out.name()]
        if found.shape != x.shape or found.dtype != dtype:
            raise CheckFailure(f"{np.dtype(dtype).name} {x.shape} gives {found.dtype} {found.shape}")
        return found

    def drawn() -> None:
        first = value()
        if not np.array_equal(first, value()) or not np.array_equal(value(), first):
            raise CheckFailure("equal seeds give different results: draw from the rng that draw is given, nothing else")
        if np.array_equal(first, x) and np.allclose(value(iteration=_LATE), x):
            raise CheckFailure("it does nothing in training")
        for what, seed, later in (("seed", 2, 0), ("iteration", 1, 1)):
            if all(np.array_equal(value(iteration=i), value(seed=seed, iteration=i + later)) for i in (0, _LATE)):
                raise CheckFailure(f"another {what} gives the same result: draw from the rng that draw is given")

    def factors() -> str:
        """Check the factors of a draw for many examples."""
        if type(dropout).draw is IDropout.draw or type(dropout).define is not IDropout.define:
            return "it does more than multiply"
        size = (64, *x.shape[1:])
        begun = int(np.array_equal(value(), value(seed=2))) * _LATE
        made = [dropout.draw(np.random.default_rng(k), size, np.dtype(np.float64), begun, 0) for k in range(8)]
        if all(factor is None for factor, _ in made):
            return shifts([np.broadcast_to(np.asarray(shift, np.float64), size) for _, shift in made if shift is not None])
        if any(factor is None or shift is not None for factor, shift in made):
            return "it does more than multiply"
        drawn = [np.broadcast_to(np.asarray(factor, np.float64), size) for factor, _ in made]
        if len({d.tobytes() for d in drawn}) < len(drawn) - 1:
            raise CheckFailure("many seeds give the same factors: draw from the rng that draw is given, not from one that it seeds anew")
        never_changed(drawn)
        if all((d == d[:1]).all() for d in drawn):
            raise CheckFailure("all examples of a batch get the same factors: draw along the first axis too")
        means, rows = np.array([d.mean() for d in drawn]), np.concatenate([d.reshape(len(d), -1).mean(1) for d in drawn])
        if abs(means.mean() - 1) > 0.02 + 5 * rows.std() / np.sqrt(len(rows)):
            raise CheckFailure(f"factors are {means.mean():.3g} on average: activations are smaller or larger in training than outside, "
                               "where they stay as they are. Divide by the probability of keeping one")
        return f"{means.mean():.2f} on average"

    def never_changed(drawn: list[Any]) -> None:
        """Check that the first and the last half of examples and channels take part, where others often do."""
        changed = np.array(drawn) != np.median(drawn)
        for axis, what in ((1, "examples"), (2, "channels")):
            halves = np.array_split(np.moveaxis(changed, axis, 0), changed.shape[axis] if what == "channels" else 2)
            counts = [half.sum() for half in halves]
            if min(counts) == 0 and max(counts) >= _OFTEN:
                raise CheckFailure(f"some {what} always get the same factor, while others change: draw for all of them. If that is meant: "
                                   "allow={'factors'}")

    def shifts(drawn: list[Any]) -> str:
        """Check what is added in many draws."""
        middle, spread = (float(f(drawn)) for f in (np.mean, np.std)) if drawn else (0.0, 0.0)
        if abs(middle) > 0.1 * spread + 1e-9:
            raise CheckFailure(f"{middle:.3g} is added on average: activations are larger or smaller in training than outside, where they "
                               "stay as they are. Take the mean off what is drawn")
        return f"{middle:.2g} is added on average"

    def ranks() -> str:
        """Inputs of layers for series and images, as far as it takes them."""
        for size in _RANKS:
            sd = SameDiff()
            a = distinct(size, np.random.default_rng(seed))
            try:
                name = dropout.define(sd, sd.constant("x", a)).name()
                found = run_uncompiled(sd, {}, [name], context)[name]
            except Exception as error:
                cause = error.__cause__ or error
                if refuses(cause):
                    continue
                raise CheckFailure(f"inputs of shape {size} fail: {type(cause).__name__}: {cause}. Dropouts stand in front of layers for "
                                   "rows, series and images: draw for any shape. If some are refused on purpose, raise ConfigurationError"
                                   ) from error
            if found.shape != size:
                raise CheckFailure(f"inputs of shape {size} give {found.shape}")
            taken.append(size)
        return ", ".join(map(str, taken))

    def at_rest() -> None:
        close(value(training=False), x, "it acts outside of training")

    def types() -> str:
        for dtype in (np.float32, np.float16):
            if not np.isfinite(value(dtype=dtype)).all():
                raise CheckFailure(f"values of {np.dtype(dtype).name} are not finite")
        return "FLOAT, HALF"

    context = RunContext(training=True, seed=1, iteration=0)

    def by_nodes(which: IDropout) -> tuple[SameDiff, str, Any]:
        """A graph, its output and what its nodes give by themselves: equal objects may share compiled code."""
        sd = SameDiff()
        out = which.define(sd, sd.constant("x", x))
        known = {"x": x}
        for node in sd.nodes():
            made = compute_op(node.op, [None if n is None else known.get(n, sd.stored(n) if n not in known else None) for n in node.inputs],
                              context, node.name)
            known |= dict(zip(node.outputs, made))
        return sd, out.name(), known[out.name()]

    def marks(which: IDropout) -> list[Any]:
        found = []
        for size in (x.shape, *taken):          # what images lose, for instance, rows may not
            sd = SameDiff()
            out = which.define(sd, sd.constant("x", distinct(size, np.random.default_rng(seed))))
            found += [run_uncompiled(sd, {}, [out.name()], c)[out.name()] for c in CONTEXTS]
        return found

    def executors() -> str:
        sd, name, found = by_nodes(dropout)
        return f"largest difference {close(found, run(sd, {}, [name], context)[name], 'plan and node by node'):.1g}"

    def loaded() -> None:
        close(by_nodes(type(dropout).from_json(dropout.to_json()))[2], by_nodes(dropout)[2], "after JSON")

    if report.run("random numbers", drawn):
        report.run("factors", factors)
        report.run("at rest outside of training", at_rest)
        report.run("other shapes", ranks)
        report.run("types", types)
        report.run("gradient", lambda: check_gradient(lambda sd, v: dropout.define(sd, v[0]), [x], 1, tolerance, seed, names=["the input"]))
        report.run("compiled plan", executors)
        report.run("the same after JSON", loaded)
        options_check(report, dropout, marks)
    return report.permit(allow)


@in_child
def check_initialiser(initialiser: IWeightInit, shape: Sequence[int] = (12, 9), *, allow: Collection[str] = ()) -> CheckReport:
    """Check an initialiser of weights: configuration, shapes, types, and random numbers that follow the seed.

    Parameters
    ----------
    initialiser : IWeightInit
        What to check.
    shape : sequence of int
        A shape that it has to take; (12, 9) by default. Others it may refuse.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import WeightInitXavier, check_initialiser
    >>> check_initialiser(WeightInitXavier()).passed
    True
    """
    require_instance("check_initialiser", initialiser, IWeightInit, "WeightInitXavier()")
    report = CheckReport(f"initialiser {type(initialiser).__name__}")
    configuration_checks(report, initialiser)
    wanted = tuple(shape)

    def drawn(seed: int, size: tuple[int, ...] = wanted, dtype: Any = DataType.DOUBLE, which: IWeightInit = initialiser, order: Any = "f",
              skip: int = 0) -> Any:
        rng = Nd4jRandom(seed)
        for _ in range(skip):
            which.init(rng, size[0], size[-1], size, order, dtype)
        found = np.asarray(which.init(rng, size[0], size[-1], size, order, dtype))
        if found.shape != size:
            raise CheckFailure(f"shape {size} was asked for, it gives {found.shape}")
        if not np.isfinite(found).all():
            raise CheckFailure(f"values for shape {size} are not finite")
        return found

    taken: list[tuple[int, ...]] = []

    def heeds_fans() -> None:
        """Check that what shrinks with the number of rows shrinks with fan_in, of which a convolution has more than rows."""
        def spread(rows: int, fan_in: int) -> float:
            a = np.asarray(initialiser.init(Nd4jRandom(1), fan_in, 8, (rows, 8), "f", DataType.DOUBLE))
            gram = a.T @ a
            return 0.0 if np.allclose(gram, gram[0, 0] * np.eye(8), 0, 1e-6 * gram[0, 0]) else float(np.std(a))
        try:
            few, fans, rows = spread(16, 16), spread(16, 1024), spread(1024, 16)
        except Exception:       # shapes that it refuses
            return
        if few and rows < few / 2 and fans > few / 2:       # columns at right angles have one length, whatever fan_in is
            raise CheckFailure("weights become smaller with the first size of their shape and not with fan_in: those of a convolution of "
                               "shape (3, 3, n, m) join 9 n inputs. Scale by the fan_in that init is given")

    def spread_of_more_inputs() -> float:
        try:
            few, many = (float(np.std(drawn(1, (n, 8)))) for n in (8, 2048))
        except Exception:       # shapes that it refuses
            return 1.0
        return many / few if few else 1.0

    def shapes() -> str:
        for size in dict.fromkeys([wanted, wanted[::-1], (1, *wanted), (5,)]):
            try:
                for order in ("c", "f"):
                    drawn(1, size, order=order)
            except DL4PyError as error:
                if size == wanted or not refuses(error):
                    raise
            else:
                taken.append(size)
        return ", ".join(map(str, taken))

    def types() -> str:
        single = drawn(1, dtype=DataType.FLOAT)
        if single.dtype not in (np.float32, np.float64):
            raise CheckFailure(f"FLOAT was asked for, it gives {single.dtype}")
        return f"{single.dtype}"

    def seeds() -> str:
        first = drawn(1)
        if not np.array_equal(first, drawn(1)):
            raise CheckFailure("equal seeds give different values: draw from the rng that init is given, nothing else")
        random = len(np.unique(first)) > first.size // 2
        if random and np.array_equal(first, drawn(2)):
            raise CheckFailure("every seed gives the same values: draw from the rng that init is given")
        if random and np.array_equal(first, drawn(1, skip=1)):
            raise CheckFailure("two parameters in a row get the same values: draw from the rng that init is given")
        rows = first.reshape(-1, first.shape[-1])
        if len(rows) > 1 and rows.shape[1] > 1 and len(np.unique(first)) > 1 and (rows == rows[:, :1]).all():
            raise CheckFailure("all units (the last axis) start with equal weights, and learn the same: draw a value for each weight")
        if len(rows) > 1 and rows.shape[1] > 1 and len(np.unique(first)) > 1 and (rows == rows[:1]).all():
            raise CheckFailure("all inputs (the first axis) start with equal weights: draw a value for each weight")
        if (growth := spread_of_more_inputs()) > 4:
            raise CheckFailure(f"weights of 2048 inputs are {growth:.3g} times as large as those of 8: activations grow with the size of a "
                               "layer. Divide by the square root of fan_in")
        if np.abs(first).max() > _LARGE:
            raise CheckFailure(f"weights start at up to {np.abs(first).max():.3g}: activations overflow or saturate. Divide by the square "
                               "root of fan_in; if this is meant: allow={'seeds'}")
        if is_foreign(initialiser):
            heeds_fans()
        return "random" if random else "the same for every seed"

    def loaded() -> None:
        close(drawn(1, which=type(initialiser).from_json(initialiser.to_json())), drawn(1), "after JSON")

    if report.run("shapes", shapes):
        report.run("types", types)
        report.run("seeds", seeds)
        report.run("the same after JSON", loaded)
        options_check(report, initialiser, lambda made: [drawn(1, size, which=made) for size in taken])
    return report.permit(allow)


@in_child
def check_constraint(constraint: LayerConstraint, shape: Sequence[int] = (4, 3), *, seed: int = 0,
                     allow: Collection[str] = ()) -> CheckReport:
    """Check a constraint: configuration, shape and type, that it holds once applied, and that it does not write to its input.

    Parameters
    ----------
    constraint : LayerConstraint
        What to check.
    shape : sequence of int
        Shape of the drawn parameter; (4, 3) by default.
    seed : int
        Of the drawn parameter.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import MaxNormConstraint, check_constraint
    >>> check_constraint(MaxNormConstraint(1.0, 0)).passed
    True
    """
    require_instance("check_constraint", constraint, LayerConstraint, "MaxNormConstraint(1.0, 0)")
    report = CheckReport(f"constraint {type(constraint).__name__}")
    configuration_checks(report, constraint)
    w = 3 * np.random.default_rng(seed).normal(size=tuple(shape))

    def shapes() -> str:
        for dtype in (np.float64, np.float32):
            given = np.array(w, dtype)
            given.flags.writeable = False
            try:
                found = np.asarray(constraint.apply(given))
            except ValueError as error:
                if "read-only" in str(error):
                    raise CheckFailure(f"it writes to its input ({error}); return a new array") from error
                raise
            if found.shape != given.shape or found.dtype != dtype:
                raise CheckFailure(f"{np.dtype(dtype).name} {given.shape} gives {found.dtype} {found.shape}")
        return str(w.shape)

    def special() -> None:
        for what, a in (("zeros", np.zeros_like(w)), ("large values", 1e20 * w), ("one value", np.full_like(w, 0.5))):
            with np.errstate(all="ignore"):
                found = constraint.apply(a)
            if not np.isfinite(found).all():
                raise CheckFailure(f"{what} give values that are not finite")

    def grows() -> None:
        first = found = constraint.apply(100 * w)
        for _ in range(50):
            found = constraint.apply(found)
        if np.abs(found).max(initial=0.0) > 2 * np.abs(first).max(initial=0.0):
            raise CheckFailure("applied again and again it goes on to make large values larger")

    def holds() -> str:
        once = first = constraint.apply(w)
        grows()
        for _ in range(_CALLS):
            close(constraint.apply(w), once, "the same array gives another result")
        for _ in range(50):
            twice = constraint.apply(once)
            if np.abs(twice - once).max(initial=0.0) < 1e-3:
                if not np.abs(twice).max(initial=0.0) > 1e-2 * np.abs(first).max(initial=0.0) > 0:
                    raise CheckFailure("applied again and again it takes the array to 0: what is allowed stays as it is. To make values "
                                       "smaller at each step is weight decay, an option of layers")
                return f"moves by {np.abs(once - w).max(initial=0.0):.2g}"
            once = twice
        raise CheckFailure("applied again and again it goes on to change the array")

    def loaded() -> None:
        close(type(constraint).from_json(constraint.to_json()).apply(w), constraint.apply(w), "after JSON")

    if report.run("shape and type", shapes):
        report.run("special values", special)
        report.run("holds when applied again", holds)
        report.run("the same after JSON", loaded)
        other = tuple(a for a in range(w.ndim) if a not in constraint.dimensions) if constraint.dimensions else ()
        options_check(report, constraint, lambda made: [np.asarray(made.apply(by * w)) for by in (1, 0.1, 10)],
                      {"dimensions": [other]} if other and is_foreign(constraint) else None)
    return report.permit(allow)
