"""DL4J's classes of methods on matrices: inverses, principal components and random projections."""
from __future__ import annotations

from .invert_matrix import InvertMatrix as InvertMatrix
from .pca import PCA as PCA
from .random_projection import RandomProjection as RandomProjection

__all__ = ["PCA", "InvertMatrix", "RandomProjection"]
