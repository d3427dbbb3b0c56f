"""Counts of actual against predicted classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.java_names import ConfusionMatrixNames
from ..errors import ShapeError


class ConfusionMatrix(ConfusionMatrixNames):
    """Counts of actual against predicted classes.

    Parameters
    ----------
    classes : list of int
        The classes 0 … n-1.
    counts : array (n, n), optional
        ``counts[actual, predicted]``; zeros by default.

    Examples
    --------
    >>> m = ConfusionMatrix([0, 1])
    >>> m.add(0, 1, 3)
    >>> m.get_count(0, 1), m.get_actual_total(0), m.get_predicted_total(0)
    (3, 3, 0)

    Source: DL4J ConfusionMatrix.
    """

    def __init__(self, classes: Sequence[int], counts: Any = None) -> None:
        n = len(classes)
        self.classes = list(classes)
        self.counts: NDArray[np.int64] = np.zeros((n, n), np.int64) if counts is None else np.array(counts, np.int64)
        if self.counts.shape != (n, n):
            raise ShapeError(f"{n} classes need counts of shape {(n, n)}, got {self.counts.shape}")

    def add(self, actual: int | ConfusionMatrix, predicted: int = 0, count: int = 1) -> None:
        """Add ``count`` examples of class ``actual`` predicted as ``predicted``, or all counts of another matrix."""
        if isinstance(actual, ConfusionMatrix):
            if actual.counts.shape != self.counts.shape:
                raise ShapeError(f"cannot add a matrix of {len(actual.classes)} classes to one of {len(self.classes)}")
            self.counts += actual.counts
        else:
            self.counts[self.index(actual), self.index(predicted)] += count

    def index(self, label: int) -> int:
        """Return the row of a class, or raise for one that is not there."""
        if not 0 <= label < len(self.classes):
            raise ShapeError(
                f"class {label} is not one of the {len(self.classes)} classes 0 to {len(self.classes) - 1}"
            )
        return int(label)

    def get_count(self, actual: int, predicted: int) -> int:
        """Return how many examples of ``actual`` were predicted as ``predicted``."""
        return int(self.counts[self.index(actual), self.index(predicted)])

    def get_actual_total(self, actual: int) -> int:
        """Return the number of examples of a class."""
        return int(self.counts[self.index(actual)].sum())

    def get_predicted_total(self, predicted: int) -> int:
        """Return how often a class was predicted."""
        return int(self.counts[:, self.index(predicted)].sum())

    def to_csv(self) -> str:
        """Return the matrix with totals as comma separated values."""
        lines = [",,Predicted Class,", ",," + "".join(f"{c}," for c in self.classes) + "Total"]
        for c in self.classes:
            counts = "".join(f"{v}," for v in self.counts[c])
            lines.append(f"{'Actual Class' if c == 0 else ''},{c},{counts}{self.get_actual_total(c)}")
        lines.append(",Total," + "".join(f"{self.get_predicted_total(c)}," for c in self.classes))
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """Return the matrix with totals as an HTML table."""
        span, head = len(self.classes) + 1, '<th class="predicted-class-header"'
        names = "".join(f"{head}>{c}</th>" for c in self.classes)
        rows = [
            f'<tr><th class="empty-space" colspan="2" rowspan="2">{head} colspan="{span}">Predicted Class</th></tr>',
            f"<tr>{names}{head}>Total</th></tr>",
        ]
        for c in self.classes:
            side = f'<th class="actual-class-header" rowspan="{span}">Actual Class</th>' if c == 0 else ""
            rows.append(
                f'<tr>{side}<th class="actual-class-header" >{c}</th>'
                f"{cells([*self.counts[c], self.get_actual_total(c)])}</tr>"
            )
        totals = cells([self.get_predicted_total(c) for c in self.classes])
        rows.append(f'<tr><th class="actual-class-header">Total</th>{totals}<td class="empty-space"></td>\n</tr>')
        return "<table>\n" + "\n".join(rows) + "\n</table>\n"

    def document(self, with_zeros: bool = False) -> dict[str, Any]:
        """Return DL4J's JSON: per actual class the predicted classes and their counts, padded with zeros.

        Parameters
        ----------
        with_zeros : bool
            Also name classes without examples.
        """
        matrix = {}
        for c, row in enumerate(self.counts):
            found, total = np.flatnonzero(row), int(row.sum())
            if total or with_zeros:
                pad = [0] * (total - len(found))
                matrix[str(c)] = [[int(k) for k in found] + pad, [int(row[k]) for k in found] + pad]
        return {"classes": self.classes, "matrix": matrix}

    @staticmethod
    def restore(doc: dict[str, Any]) -> ConfusionMatrix:
        """Read :meth:`document`."""
        made = ConfusionMatrix(doc["classes"])
        for actual, (predicted, counts) in doc["matrix"].items():
            for k, count in zip(predicted, counts):
                made.add(int(actual), int(k), int(count))
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConfusionMatrix) and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.to_csv()

    def __repr__(self) -> str:
        return f"ConfusionMatrix({self.classes}, {self.counts.tolist()})"


def cells(values: Sequence[Any]) -> str:
    """The counts of a row as HTML table cells."""
    return "".join(f'<td class="count-element">{v}</td>' for v in values)
