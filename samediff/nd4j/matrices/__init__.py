"""DL4J's classes of methods on matrices: inverses and principal components."""
from __future__ import annotations

from .invert_matrix import InvertMatrix as InvertMatrix
from .pca import PCA as PCA

__all__ = ["PCA", "InvertMatrix"]
