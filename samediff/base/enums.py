"""Named choices that ops take as attributes."""
from __future__ import annotations

from enum import IntEnum

from .java.java_enum import JavaEnum


class LossReduce(JavaEnum):
    """Reductions of the weighted losses of the elements to the result of a loss op."""

    NONE = 0                          #: not at all: one value per element or example
    SUM = 1                           #: sum
    MEAN_BY_WEIGHT = 2                #: sum over the sum of the weights
    MEAN_BY_NONZERO_WEIGHT_COUNT = 3  #: sum over the number of elements whose weight is not 0


class PadMode(JavaEnum):
    """Modes of padding."""

    CONSTANT = 0   #: one value
    REFLECT = 1    #: mirrored without the border element
    SYMMETRIC = 2  #: mirrored with the border element


Mode = PadMode


class CropMethod(IntEnum):
    """Ways in which ``crop_and_resize`` finds the pixels of a part."""

    BILINEAR = 0  #: linear interpolation
    NEAREST = 1   #: the nearest pixel


class UpdateOp(JavaEnum):
    """Ways in which ``Nd4j.scatterUpdate`` changes slices."""

    ADD = 0               #: slice + update
    SUBTRACT = 1          #: slice - update
    MULTIPLY = 2          #: slice * update
    DIVIDE = 3            #: slice / update
    REVERSE_SUBTRACT = 4  #: update - slice
    REVERSE_DIVIDE = 5    #: update / slice
    ASSIGN = 6            #: the update


class ImageResizeMethod(JavaEnum):
    """Methods of resizing images."""

    ResizeBilinear = 0       #: linear interpolation
    ResizeBicubic = 1        #: cubic interpolation (Keys 1981, a = -0.5)
    ResizeNearest = 2        #: the pixel under the centre
    ResizeGaussian = 3       #: Gaussian of deviation 0.5 within a radius of 1.5
    ResizeLanczos5 = 4       #: windowed sinc of radius 5
    ResizeMitchellcubic = 5  #: cubic of Mitchell and Netravali (1988), b = c = 1/3
    ResizeArea = 6           #: mean of the covered area
    ResizeLanczos3 = 7       #: windowed sinc of radius 3
