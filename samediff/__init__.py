"""SameDiff: define-and-run graphs with automatic gradients, and all that trains and saves them."""
from __future__ import annotations

if __name__ == "samediff":
    raise ImportError("samediff/ is the source folder of dl4py.samediff: run `pip install -e .` once, then import dl4py.samediff")

from . import ops
from .choices import ImageResizeMethod, LossReduce, Mode, PadMode
from .cnn_configuration import (
    Conv1DConfig,
    Conv2DConfig,
    Conv3DConfig,
    DataFormat,
    DeConv2DConfig,
    DeConv3DConfig,
    Divisor,
    LocalResponseNormalizationConfig,
    PaddingMode,
    Pooling2DConfig,
    Pooling2DType,
    Pooling3DConfig,
    Pooling3DType,
    WeightsFormat,
)
from .conditions import Condition, Conditions
from .datatype import DataType
from .graph import SameDiff
from .indexing import SDIndex
from .ops.gather import PartitionMode
from .rnn_configuration import (GRUWeights, LSTMActivations, LSTMConfiguration, LSTMDataFormat, LSTMDirectionMode,
                                LSTMLayerConfig, LSTMLayerWeights, LSTMWeights, RnnDataFormat, SRUWeights)
from .variable import SDVariable, VariableType

__all__ = ["Condition", "Conditions", "Conv1DConfig", "Conv2DConfig", "Conv3DConfig", "DataFormat", "DataType",
           "DeConv2DConfig", "DeConv3DConfig", "Divisor", "GRUWeights", "LSTMActivations",
           "LSTMConfiguration", "LSTMDataFormat", "LSTMDirectionMode", "LSTMLayerConfig",
           "LSTMLayerWeights", "LSTMWeights", "LocalResponseNormalizationConfig", "ImageResizeMethod", "LossReduce", "Mode",
           "PadMode", "PaddingMode", "PartitionMode", "Pooling2DConfig", "Pooling2DType", "Pooling3DConfig",
           "Pooling3DType", "RnnDataFormat", "SDIndex", "SDVariable", "SRUWeights", "SameDiff",
           "VariableType", "WeightsFormat", "ops"]
