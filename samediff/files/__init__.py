"""Files: ND4J arrays, SameDiff graphs, normalizers."""
from .nd4j import Nd4j
from .nd4j_array import read_array, write_array
from .normalizers import NormalizerSerializer, read_normalizer, write_normalizer

__all__ = ["Nd4j", "NormalizerSerializer", "read_array", "read_normalizer", "write_array", "write_normalizer"]
