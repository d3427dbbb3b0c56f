"""DL4J's kinds of layers."""
from __future__ import annotations

from enum import IntEnum
from typing import Any

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.base.javanames import JavaSpelling


class LayerType(JavaSpelling, JavaEnum):
    """Types of layers, as ``net.get_layer(0).type()`` returns them."""

    FEED_FORWARD = "FEED_FORWARD"
    RECURRENT = "RECURRENT"
    CONVOLUTIONAL = "CONVOLUTIONAL"
    CONVOLUTIONAL3D = "CONVOLUTIONAL3D"
    SUBSAMPLING = "SUBSAMPLING"
    UPSAMPLING = "UPSAMPLING"
    RECURSIVE = "RECURSIVE"
    MULTILAYER = "MULTILAYER"
    NORMALIZATION = "NORMALIZATION"


class LayerMode(IntEnum):
    """``Layer.TrainingMode``, of which TRAIN stands for True where a method asks whether layers work as in training."""

    TRAIN = 1
    TEST = 0


def type_of(conf: Any) -> LayerType:
    """The type of a layer by its class (``Layer.dl4j_type``), else the type of the layer inside."""
    said: LayerType | None = getattr(type(conf), "dl4j_type", None)
    if said is not None:
        return said
    inside = getattr(conf, "underlying", None) or getattr(conf, "layer", None)
    return LayerType.FEED_FORWARD if inside is None else type_of(inside)
