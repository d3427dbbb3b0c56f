"""Files: ND4J arrays, SameDiff graphs, normalizers, data sets, and zip archives that are checked before they are read.

Graphs are read and written by ``SameDiff.load`` and ``sd.save``, networks by :mod:`dl4py.networks`.
"""
from ..codecs.nd4j_array import read_array, write_array
from .nd4j import Nd4j
from .normalizers import NormalizerSerializer, read_normalizer, write_normalizer

__all__ = ["Nd4j", "NormalizerSerializer", "read_array", "read_normalizer", "write_array", "write_normalizer"]
