"""Labels in the forms in which people have them, as the columns of an output."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DataTypeError, GraphError
from ...expressions.arrays import as_array


def as_columns(labels: Any, width: int, classes: bool = True, series: bool = False) -> Any:
    """Labels (batch,) or (batch, 1) as those of an output of that width; others stay.

    Parameters
    ----------
    labels : array
        Targets of the only output, which become a column; numbers of classes, which become rows with a 1 in their place.
    width : int
        Columns of the output.
    classes : bool
        Whether a column, fractional types included, can be nothing but numbers of classes.
    series : bool
        Whether labels are series, (batch, columns, time), which those of one column or class numbers (batch, time) become.

    Raises
    ------
    DataTypeError, GraphError
        Text; numbers that are no classes. The row is named.

    Examples
    --------
    >>> as_columns([0, 2], 3)
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if labels is None or width < 1:
        return labels
    if type(labels) is np.ndarray and labels.ndim > 1 and labels.dtype.kind == "f" and (labels.shape[1] != 1 or width == 1):
        return labels                                           # nearly always
    found = as_array(labels)
    column = found.ndim == 2 and found.shape[1] == 1 and not series
    if width == 1 and found.ndim == (2 if series else 1):
        return np.expand_dims(_numbers(found), 1)
    if width == 1 or (found.ndim != (2 if series else 1) and not (column and classes)):
        return found
    if found.dtype.kind == "O":
        raise DataTypeError(f"labels are text, such as {found.ravel()[0]!r:.40}; numbers of classes are needed: "
                            "names, numbers = np.unique(labels, return_inverse=True)")
    if found.dtype.kind == "f" and not classes:
        return found
    numbers = found.ravel() if column else found
    wrong = ~((numbers >= 0) & (numbers < width) & (numbers == np.floor(numbers)))
    if wrong.any() and column and found.dtype.kind == "f":       # targets, of another width
        return found
    if wrong.any():
        row = tuple(np.argwhere(wrong)[0].tolist())
        raise GraphError(f"class labels must be whole numbers in 0 … {width - 1}; got {numbers[row]} in row {row[0]}"
                         + (f", step {row[1]}" if series else ""))
    rows = np.eye(width, dtype=np.float32)[numbers.astype(np.int64)]
    return np.moveaxis(rows, -1, 1) if series else rows


def _numbers(array: Any) -> Any:
    """Targets; truth values as 0 and 1."""
    if array.dtype.kind == "O":
        raise DataTypeError(f"labels are text, such as {array.ravel()[0]!r:.40}; numbers are needed")
    return array.astype(np.float32) if array.dtype.kind == "b" else array


def classes_of(outputs: Any, probability: bool) -> Any:
    """The class of each example: that of its largest output, or 1 for a single output of at least a half.

    Parameters
    ----------
    outputs : array (batch, classes, …)
        Of a model.
    probability : bool
        Whether a single output is one.

    Raises
    ------
    GraphError
        It is none.

    Examples
    --------
    >>> classes_of(np.array([[0.2], [0.5]]), True)
    array([0, 1])
    """
    if outputs.ndim < 2 or outputs.shape[1] != 1:
        return np.argmax(outputs, axis=1)
    if not probability:
        raise GraphError("predict gives classes, but the only output is a number, not a probability: use output")
    return (outputs[:, 0] >= 0.5).astype(np.int64)
