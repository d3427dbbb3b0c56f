"""An evaluation by a function of one's own."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.java.java_enum import JavaEnum
from ..base.java_names import CustomEvaluationNames
from ..errors import ConfigurationError
from .base import BaseEvaluation
from .rows import Rows


class CustomMetric(JavaEnum):
    """The one metric of a `CustomEvaluation`."""

    VALUE = "VALUE"


class CustomEvaluation(BaseEvaluation, CustomEvaluationNames):
    """Numbers that a function gives for batches, joined by another one.

    Parameters
    ----------
    evaluation_lambda : callable
        ``evaluation_lambda(labels, predictions, mask)`` returns the value of a batch, from arrays of shape (rows, outputs).
    merge_lambda : callable, optional
        ``merge_lambda(values)`` makes one number of those of all batches; by default their mean.

    Notes
    -----
    Source: ND4J's ``CustomEvaluation``. Functions are not saved: there is no JSON.

    Examples
    --------
    >>> largest = CustomEvaluation(lambda y, p, mask: abs(y - p).max(), max)
    >>> largest.eval([[0.0]], [[0.25]])
    >>> largest.eval([[1.0]], [[0.5]])
    >>> largest.value()
    0.5
    """

    Metric = CustomMetric

    def __init__(self, evaluation_lambda: Callable[[Any, Any, Any], float],
                 merge_lambda: Callable[[list[float]], float] | None = None) -> None:
        if not callable(evaluation_lambda) or not (merge_lambda is None or callable(merge_lambda)):
            raise ConfigurationError("CustomEvaluation needs a function of labels, predictions and mask, "
                                     "and perhaps one that merges values")
        self._evaluate, self._merge = evaluation_lambda, merge_lambda or (lambda values: sum(values) / len(values))
        self._values: list[float] = []

    def count(self, rows: Rows) -> None:
        self._values.append(float(self._evaluate(rows.labels, rows.predictions, rows.mask)))

    def join(self, other: CustomEvaluation) -> None:
        self._values += other._values

    def reset(self) -> None:
        self._values = []

    def new_instance(self) -> CustomEvaluation:
        """Return an empty evaluation by the same functions."""
        return CustomEvaluation(self._evaluate, self._merge)

    def value(self) -> float:
        """Return the number of all batches; NaN before the first one."""
        return float(self._merge(self._values)) if self._values else float("nan")

    def get_value(self, metric: Any = CustomMetric.VALUE) -> float:
        """Return the number; there is one, so ``metric`` has no effect."""
        return self.value()

    def stats(self) -> str:
        return f"CustomEvaluation: {self.value():.6g} of {len(self._values)} batches"

    def to_json(self) -> str:
        raise ConfigurationError("CustomEvaluation holds functions, which cannot be written as JSON")

    def to_yaml(self) -> str:
        raise ConfigurationError("CustomEvaluation holds functions, which cannot be written as YAML")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CustomEvaluation) and (self._evaluate, self._values) == (other._evaluate, other._values)

    __hash__ = None  # type: ignore[assignment]
