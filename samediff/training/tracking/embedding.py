"""Rows of numbers as points of a plane."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import MissingPackageError

MOST = 1000


def plane_of(rows: Any, method: str = "pca") -> Any:
    """Points (rows, 2): the first two principal components, or t-SNE.

    Examples
    --------
    >>> abs(plane_of([[0.0, 0.0, 5.0], [1.0, 0.0, 5.0], [2.0, 0.0, 5.0]])).round(3).tolist()
    [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    given = np.nan_to_num(np.asarray(rows, np.float64)[:MOST])
    if method == "tsne":
        try:
            from sklearn.manifold import TSNE
        except ImportError:
            raise MissingPackageError("t-SNE needs scikit-learn: pip install scikit-learn (or dl4py[sklearn])") from None
        perplexity = min(30.0, max(1.0, (len(given) - 1) / 3))
        return np.round(TSNE(2, perplexity=perplexity, init="pca", random_state=0).fit_transform(given), 4)
    centered = given - given.mean(0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    axes = axes[:2]
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(1)]
    axes = axes * np.where(largest < 0, -1.0, 1.0)[:, None]         # one of two signs
    points = centered @ axes.T
    return np.round(np.pad(points, ((0, 0), (0, 2 - points.shape[1]))), 4)
