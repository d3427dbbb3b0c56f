"""Sweeps that only the GPU backend has; the others are those of :mod:`..cpu.sweeps`."""
from __future__ import annotations

from ...cpu.sweeps.sweep_spec import Fold, Sweep
from ...cpu.sweeps.sweeps import REDUCTIONS as SHARED

_TOP = Fold("x0", "max")
_WEIGHTS = Fold("exp(x0 - r0)", "sum", "T(1) / t", keep=True)
_LOG_SUM = Fold("exp(x0 - r0)", "sum", "log(t)")

#: By the name of the op: one result for each slice.
REDUCTIONS: dict[str, Sweep] = {
    **SHARED,
    "hasnan": Sweep((Fold("x0 != x0", "max", counting=True),), ("r0",)),
    "hasinf": Sweep((Fold("x0 == x0 and x0 - x0 != T(0)", "max", counting=True),), ("r0",)),
}

#: Of logits x0, labels x1 and upstream gradients x2 (one for each row); ``indices`` are labels that are class numbers.
CROSS_ENTROPY: dict[str, Sweep] = {
    "labels": Sweep((_TOP, _LOG_SUM, Fold("x1"), Fold("x1 * (x0 - r0) if x1 != T(0) else T(0)")), ("r2 * r1 - r3",), inputs=2),
    "labels_gradient": Sweep((_TOP, _WEIGHTS, Fold("x1")), each="(kept * (r1 * r2) - x1) * x2", inputs=3),
    # Nothing can be raised on the way: a number that is no class gives NaN.
    "indices": Sweep((_TOP, _LOG_SUM, Fold("x0 - r0 if j == x1 else T(0)"), Fold("j == x1", counting=True)),
                     ("r1 - r2 if r3 != 0 else inf - inf",), inputs=2),
    "indices_gradient": Sweep((_TOP, _WEIGHTS), each="(kept * r1 - (T(1) if j == x1 else T(0))) * x2 if x1 >= 0 and x1 < count "
                                                     "else inf - inf", inputs=3),
}


def _found(combine: str, value: str) -> tuple[Fold, ...]:
    """The first place of an extreme or of a NaN."""
    largest = Fold(value, "max" if combine == "max" else "min")
    return largest, Fold(f"j if {value} == r0 or x0 != x0 else count", "min", counting=True)


#: The place of an extreme in its slice.
POSITIONS: dict[tuple[str, bool], Sweep] = {
    (which, absolute): Sweep(_found(which, "magnitude(x0)" if absolute else "x0"), ("r1",)) for which in ("max", "min")
    for absolute in (False, True)}
#: Whether an element is the first of the largest ones.
IS_MAX = Sweep(_found("max", "x0"), each="j == r1")

#: The first and the last place where a mask holds, -1 where it does nowhere.
PLACES: dict[str, Sweep] = {
    "first": Sweep((Fold("j if x0 else count", "min", counting=True),), ("r0 if r0 != count else -1",)),
    "last": Sweep((Fold("j if x0 else -1", "max", counting=True),), ("r0",)),
}

#: Of x0 and x1.
DISTANCES: dict[str, Sweep] = {
    "manhattan": Sweep((Fold("magnitude(x0 - x1)"),), ("r0",), inputs=2),
    "euclidean": Sweep((Fold("(x0 - x1) * (x0 - x1)", "sum", "sqrt(t)"),), ("r0",), inputs=2),
    "cosinesimilarity": Sweep((Fold("x0 * x1"), Fold("x0 * x0"), Fold("x1 * x1")), ("r0 / (sqrt(r1) * sqrt(r2))",), inputs=2),
    "cosinedistance": Sweep((Fold("x0 * x1"), Fold("x0 * x0"), Fold("x1 * x1")), ("T(1) - r0 / (sqrt(r1) * sqrt(r2))",), inputs=2),
    "jaccarddistance": Sweep((Fold("vmin(x0, x1)"), Fold("vmax(x0, x1)")), ("T(1) - r0 / r1",), inputs=2),
    "hammingdistance": Sweep((Fold("x0 != x1", "sum", "t / n", counting=True),), ("r0",), inputs=2),
}


def mean_less(divisor: int | None) -> Sweep:
    """The sum, or the sum over the length of a slice less ``divisor``."""
    if divisor in (None, 0):
        return SHARED["reduce_sum" if divisor is None else "reduce_mean"]
    return Sweep((Fold("x0", "sum", f"t / (n - T({divisor}))"),), ("r0",))


def clipped(limit: float, average: bool) -> Sweep:
    """Slices scaled down to a norm."""
    bound = f"T({limit!r})"
    return Sweep((Fold("x0 * x0", "sum", "sqrt(t) / n" if average else "sqrt(t)"),), each=f"x0 * ({bound} / r0) if r0 > {bound} else x0")


#: The sum of a slice instead of each element, and half the sum of squares.
SUM_SPREAD = Sweep((Fold(),), each="r0")
HALF_SQUARES = Sweep((Fold("x0 * x0", "sum", "t * T(0.5)"),), ("r0",))
#: Of labels and output: minus the cosine of the angle, and its slope by the output; norms below 1e-5 count as 1e-5.
_NORM = "T(1e-5) if sqrt(t) < T(1e-5) else sqrt(t)"
_PROXIMITY = (Fold("x0 * x0", "sum", _NORM), Fold("x1 * x1", "sum", _NORM), Fold("x0 * x1"))
PROXIMITY = Sweep(_PROXIMITY, ("-r2 / (r0 * r1)",), inputs=2)
PROXIMITY_SLOPE = Sweep(_PROXIMITY, each="-(x0 * r1 * r1 - x1 * r2) / (r0 * r1 * r1 * r1) * x2", inputs=3)

#: Mean, population variance and sample variance.
STATISTICS = Sweep(SHARED["moments"].folds, ("r0", "r1", "r1 * (n / (n - T(1) if n > T(1) else T(1)))"))
