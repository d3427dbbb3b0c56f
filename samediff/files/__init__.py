"""Files: ND4J arrays, SameDiff graphs, normalizers."""
from .nd4j import Nd4j
from .nd4j_array import read_array, write_array

__all__ = ["Nd4j", "read_array", "write_array"]
