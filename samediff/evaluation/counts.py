"""The measures of a two-by-two table of counts, and how they are averaged over classes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..base.java.java_enum import JavaEnum


class EvaluationAveraging(JavaEnum):
    """Ways to make one number of a measure of several classes.

    ``Macro`` is the mean of the measures of the classes, ``Micro`` the measure of the summed counts.
    """

    Macro = "Macro"
    Micro = "Micro"


@dataclass(frozen=True)
class Counts:
    """True and false positives and negatives of one class (or sums of them)."""

    tp: float
    fp: float
    fn: float
    tn: float

    @staticmethod
    def total(tables: Iterable[Counts]) -> Counts:
        """Return the sums of all counts."""
        tables = list(tables)
        return Counts(*(sum(getattr(c, n) for c in tables) for n in ("tp", "fp", "fn", "tn")))


def divide(a: float, b: float) -> float:
    """Return a / b by IEEE rules: 0/0 is NaN, a/0 is infinite."""
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
    return a / b


def ratio(a: float, b: float, edge: float) -> float:
    """Return a / (a + b), and ``edge`` when both are 0."""
    return edge if a == 0 and b == 0 else a / (a + b)


def precision(c: Counts, edge: float = 0.0) -> float:
    """tp / (tp + fp)."""
    return ratio(c.tp, c.fp, edge)


def recall(c: Counts, edge: float = 0.0) -> float:
    """tp / (tp + fn)."""
    return ratio(c.tp, c.fn, edge)


def false_positive_rate(c: Counts, edge: float = 0.0) -> float:
    """fp / (fp + tn)."""
    return ratio(c.fp, c.tn, edge)


def false_negative_rate(c: Counts, edge: float = 0.0) -> float:
    """fn / (fn + tp)."""
    return ratio(c.fn, c.tp, edge)


def f_beta(c: Counts, beta: float, edge: float = 0.0, undefined: float = math.nan) -> float:
    """(1 + beta^2) P R / (beta^2 P + R); 0 when P or R is 0, ``undefined`` when one is NaN."""
    p, r = precision(c, edge), recall(c, edge)
    if math.isnan(p) or math.isnan(r):
        return undefined
    return 0.0 if p == 0 or r == 0 else (1 + beta * beta) * p * r / (beta * beta * p + r)


def f_beta_of_output(c: Counts, beta: float) -> float:
    """F-beta of a single yes or no; NaN where nothing was positive, in labels or predictions."""
    return f_beta(c, beta, math.nan, 0.0 if c.fp or c.fn else math.nan)


def g_measure(c: Counts, edge: float = 0.0) -> float:
    """sqrt(P R)."""
    return math.sqrt(precision(c, edge) * recall(c, edge))


def matthews_correlation(c: Counts) -> float:
    """(tp tn - fp fn) / sqrt((tp + fp)(tp + fn)(tn + fp)(tn + fn)); NaN when a factor is 0."""
    product = float(c.tp + c.fp) * float(c.tp + c.fn) * float(c.tn + c.fp) * float(c.tn + c.fn)
    return divide(float(c.tp * c.tn - c.fp * c.fn), math.sqrt(product))


def mean(values: Iterable[float]) -> float:
    """Return the mean, NaN of nothing."""
    values = list(values)
    return divide(sum(values), len(values))
