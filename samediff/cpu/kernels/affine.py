# mypy: ignore-errors
"""``x * scale + shift`` along the second axis in one pass, in float64 and rounded once; and statistics of columns."""
from __future__ import annotations


def affine_rows(x, scale, shift, y):
    """Shapes: x and y (rows, columns), scale and shift (columns,)."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * scale[j] + shift[j]


def affine_planes(x, scale, shift, y):
    """Shapes: x and y (examples, channels, cells), scale and shift (channels,)."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            a, b = scale[j], shift[j]
            for k in range(x.shape[2]):
                y[i, j, k] = x[i, j, k] * a + b


def moments(x, rows, mean, squares, own):
    """Means and sums of squared deviations of columns, of ``rows`` rows at a time, joined by Chan's update.

    Shapes: x (rows, columns), the others (columns,); mean and squares are results, own is workspace.
    """
    columns = x.shape[1]
    mean[:] = 0.0
    squares[:] = 0.0
    for start in range(0, x.shape[0], rows):
        stop = min(start + rows, x.shape[0])
        own[:] = 0.0
        for i in range(start, stop):
            for j in range(columns):
                own[j] += x[i, j]
        share = (stop - start) / stop
        for j in range(columns):
            own[j] /= stop - start
            difference = own[j] - mean[j]
            squares[j] += difference * difference * start * share
            mean[j] += difference * share
        for i in range(start, stop):
            for j in range(columns):
                deviation = x[i, j] - own[j]
                squares[j] += deviation * deviation


def plane_moments(x, mean, squares):
    """The same of channels. Shapes: x (examples, channels, cells), mean and squares (channels,)."""
    cells = x.shape[2]
    mean[:] = 0.0
    squares[:] = 0.0
    for i in range(x.shape[0]):
        share = 1 / (i + 1)
        for j in range(x.shape[1]):
            total = 0.0
            for k in range(cells):
                total += x[i, j, k]
            own, apart = total / cells, 0.0
            for k in range(cells):
                deviation = x[i, j, k] - own
                apart += deviation * deviation
            difference = own - mean[j]
            squares[j] += apart + difference * difference * cells * i * share
            mean[j] += difference * share
