"""The reductions and normalizations that run as sweeps."""
from __future__ import annotations

from typing import Literal

from .sweep_spec import Fold, Sweep


def _fold(term: str = "x0", combine: Literal["sum", "prod", "max", "min"] = "sum", result: str = "t", counting: bool = False) -> Sweep:
    return Sweep((Fold(term, combine, result, counting),), ("r0",))


# A mean of differences from the first element makes the deviation of equal elements exactly 0.
_SQUARES = "(x0 - r0) * (x0 - r0)"
_MEAN = Fold("x0 - first", "sum", "t / n + first")

#: By the name of the op: one result for each slice.
REDUCTIONS: dict[str, Sweep] = {
    "reduce_sum": _fold(),
    "reduce_mean": _fold("x0", "sum", "t / n"),
    "reduce_prod": _fold("x0", "prod"),
    "reduce_max": _fold("x0", "max"),
    "reduce_min": _fold("x0", "min"),
    "reduce_norm1": _fold("magnitude(x0)"),
    "reduce_norm2": _fold("x0 * x0", "sum", "sqrt(t)"),
    "reduce_sqnorm": _fold("x0 * x0"),
    "reduce_normmax": _fold("magnitude(x0)", "max"),
    "asum": _fold("magnitude(x0)"),
    "amean": _fold("magnitude(x0)", "sum", "t / n"),
    "amax": _fold("magnitude(x0)", "max"),
    "amin": _fold("magnitude(x0)", "min"),
    "entropy": _fold("x0 * log(x0)", "sum", "-t"),
    "shannonentropy": _fold("x0 * log(x0)", "sum", "t * T(-1.4426950408889634)"),
    "logentropy": _fold("x0 * log(x0)", "sum", "log(-t)"),
    "all": _fold("x0 != T(0)", "min", counting=True),
    "any": _fold("x0 != T(0)", "max", counting=True),
    "countNonZero": _fold("x0 != T(0)", counting=True),
    "countZero": _fold("x0 == T(0)", counting=True),
    "zero_fraction": _fold("x0 == T(0)", "sum", "t / n", counting=True),
    "reduce_logsumexp": Sweep((Fold("x0", "max", "T(0) if t == -inf else t"), Fold("exp(x0 - r0)", "sum", "log(t) + r0")), ("r1",)),
    "var": Sweep((_MEAN, Fold(_SQUARES, "sum", "t / n")), ("r1",)),
    "sample_var": Sweep((_MEAN, Fold(_SQUARES, "sum", "t / (n - T(1))")), ("r1",)),
    "std": Sweep((_MEAN, Fold(_SQUARES, "sum", "sqrt(t / n)")), ("r1",)),
    "sample_std": Sweep((_MEAN, Fold(_SQUARES, "sum", "sqrt(t / (n - T(1)))")), ("r1",)),
    "moments": Sweep((_MEAN, Fold(_SQUARES, "sum", "t / n")), ("r0", "r1")),
}

_TOP = Fold("x0", "max")
_WEIGHTS = Fold("exp(x0 - r0)", "sum", "T(1) / t", keep=True)
_CENTRED = "((x0 - first) - r0)"
_STATISTICS = (Fold("x0 - first", "sum", "t / n"),
               Fold(f"{_CENTRED} * {_CENTRED}", "sum", "T(0) if t == T(0) else T(1) / sqrt(t / n)"))

#: One result for each element; x1 is the upstream gradient (of softmaxes: x0 their result).
NORMALIZATIONS: dict[str, Sweep] = {
    "softmax": Sweep((_TOP, _WEIGHTS), each="kept * r1"),
    "softmax_bp": Sweep((_TOP, _WEIGHTS, Fold("kept * x1", "sum", "t * r1")), each="kept * r1 * (x1 - r2)", inputs=2),
    "softmax_backward": Sweep((Fold("x0 * x1"),), each="x0 * (x1 - r0)", inputs=2),
    "log_softmax": Sweep((_TOP, Fold("exp(x0 - r0)", "sum", "log(t)")), each="(x0 - r0) - r1"),
    "log_softmax_backward": Sweep((Fold("x1"),), each="x1 - exp(x0) * r0", inputs=2),
    "standardize": Sweep(_STATISTICS, each=f"{_CENTRED} * r1"),
    "standardize_backward": Sweep((*_STATISTICS, Fold("x1", "sum", "t / n"), Fold(f"x1 * {_CENTRED}", "sum", "t * r1 * r1 / n")),
                                  each=f"(x1 - r2 - {_CENTRED} * r3) * r1", inputs=2),
    "layer_norm": Sweep(_STATISTICS, each=f"{_CENTRED} * r1"),
    "layer_norm_gain": Sweep(_STATISTICS, each=f"{_CENTRED} * r1 * x1", inputs=2),
    "layer_norm_bias": Sweep(_STATISTICS, each=f"{_CENTRED} * r1 + x1", inputs=2),
    "layer_norm_gain_bias": Sweep(_STATISTICS, each=f"{_CENTRED} * r1 * x1 + x2", inputs=3),
}
