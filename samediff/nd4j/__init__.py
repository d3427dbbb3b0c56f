"""``Nd4j`` and what belongs to it: factories, functions and ops on arrays, files, ``Transforms``, ops by name and by DL4J's classes."""
from __future__ import annotations

from .binary_serde import BinarySerde as BinarySerde
from .boolean_indexing import BooleanIndexing as BooleanIndexing
from .custom_op import DynamicCustomOp as DynamicCustomOp
from .matrices import PCA as PCA
from .matrices import InvertMatrix as InvertMatrix
from .matrices import RandomProjection as RandomProjection
from .nd4j import Nd4j as Nd4j
from .nd_index_iterator import NdIndexIterator as NdIndexIterator
from .number_functions import Value as Value
from .number_functions import Zero as Zero
from .random_arrays import Random as Random
from .transforms import Transforms as Transforms

__all__ = [
    "PCA", "BinarySerde", "BooleanIndexing", "DynamicCustomOp", "InvertMatrix", "Nd4j", "NdIndexIterator", "Random", "RandomProjection",
    "Transforms", "Value", "Zero",
]
