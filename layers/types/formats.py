"""Enumerations of layer configurations: data formats, convolution and pooling modes, mask states."""
from __future__ import annotations

from ...samediff.base.java.java_enum import JavaEnum

__all__ = ["AlgoMode", "BidirectionalMode", "CNN2DFormat", "CNN3DFormat", "ConvolutionMode", "MaskState", "PoolingType", "RNNFormat"]


class CNN2DFormat(JavaEnum):
    """Axes of image activations: NCHW is (batch, channels, height, width), NHWC is (batch, height, width, channels)."""

    NCHW = "NCHW"
    NHWC = "NHWC"


class CNN3DFormat(JavaEnum):
    """Axes of volume activations; DL4J's ``Convolution3D.DataFormat``."""

    NCDHW = "NCDHW"
    NDHWC = "NDHWC"


class RNNFormat(JavaEnum):
    """Axes of time series: NCW is (batch, size, time), NWC is (batch, time, size)."""

    NCW = "NCW"
    NWC = "NWC"


class ConvolutionMode(JavaEnum):
    """Rules by which the output size of a convolution or pooling follows from its input.

    ``Strict``: (in - k + 2p) / s + 1 has to be whole. ``Truncate``: the same, rounded down.
    ``Same``: ceil(in / s), padding
    as needed. ``Causal``: as Same, padded on the left only (one-dimensional layers).
    """

    Strict = "Strict"
    Truncate = "Truncate"
    Same = "Same"
    Causal = "Causal"


class PoolingType(JavaEnum):
    """Kinds of pooling over a window."""

    MAX = "MAX"
    AVG = "AVG"
    SUM = "SUM"
    PNORM = "PNORM"


class AlgoMode(JavaEnum):
    """cuDNN's choice of algorithm; kept for DL4J's files."""

    NO_WORKSPACE = "NO_WORKSPACE"
    PREFER_FASTEST = "PREFER_FASTEST"
    USER_SPECIFIED = "USER_SPECIFIED"


class MaskState(JavaEnum):
    """Whether a mask that travels with activations is to be applied."""

    Active = "Active"
    Passthrough = "Passthrough"


class BidirectionalMode(JavaEnum):
    """Ways to combine the two directions of a bidirectional layer."""

    ADD = "ADD"
    MUL = "MUL"
    AVERAGE = "AVERAGE"
    CONCAT = "CONCAT"
