"""Named choices that ops take as attributes."""
from __future__ import annotations

from enum import Enum


class LossReduce(Enum):
    """How the weighted losses of the elements become the result of a loss op."""

    NONE = 0                          #: not at all: one value per element or example
    SUM = 1                           #: sum
    MEAN_BY_WEIGHT = 2                #: sum over the sum of the weights
    MEAN_BY_NONZERO_WEIGHT_COUNT = 3  #: sum over the number of elements whose weight is not 0


class PadMode(Enum):
    """What padding is filled with."""

    CONSTANT = 0   #: one value
    REFLECT = 1    #: mirrored without the border element
    SYMMETRIC = 2  #: mirrored with the border element


Mode = PadMode
