"""SameDiff: define-and-run graphs with automatic gradients, and all that trains, evaluates and saves them.

Start with :class:`SameDiff`: ``sd = SameDiff.create()``, then placeholders, variables and ops. The ops are in
``dl4py.samediff.ops``, one file per family; training, data sets, evaluation and files in the sub-packages ``training``,
``data``, ``evaluation`` and ``files``. Their public names can be imported from here too; they load on first use.
"""
# ruff: noqa: I001, RUF022 - names are packed
from __future__ import annotations

if __name__ == "samediff":
    raise ImportError("samediff/ is the source folder of dl4py.samediff: run `pip install -e .` once, then import dl4py.samediff")

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import ops
from .base.enums import ImageResizeMethod, LossReduce, Mode, PadMode
from .ops.conv.cnn_configuration import (
    Conv1DConfig, Conv2DConfig, Conv3DConfig, DataFormat, DeConv2DConfig, DeConv3DConfig, Divisor, LocalResponseNormalizationConfig,
    PaddingMode, Pooling2DConfig, Pooling2DType, Pooling3DConfig, Pooling3DType, WeightsFormat)
from .expressions.conditions import Condition, Conditions
from .base.datatype import DataType
from .device.devices import Device, current_device, device, set_device
from .errors import DeviceError
from .graph.running.external_errors import SameDiffUtils
from .graph.functions import InvokeParams, LoopParams
from .graph.graph import SameDiff
from .graph.importing import OnnxFrameworkImporter
from .ir.indexing import SDIndex
from .graph.inference_session import InferenceSession
from .initializers.schemes import (
    ConstantInitScheme, DistributionInitScheme, IdentityInitScheme, LecunUniformInitScheme, NDArraySupplierInitScheme, OneInitScheme,
    ReluInitScheme, ReluUniformInitScheme, SigmoidUniformInitScheme, UniformInitScheme, VarScalingNormalFanAvgInitScheme,
    VarScalingNormalFanInInitScheme, VarScalingNormalFanOutInitScheme, VarScalingNormalUniformFanInInitScheme,
    VarScalingNormalUniformFanOutInitScheme, VarScalingUniformFanAvgInitScheme, WeightInitScheme, XavierFanInInitScheme,
    XavierInitScheme, XavierUniformInitScheme, ZeroInitScheme)
from .ops.index.gather import PartitionMode
from .ops.linalg.mmul_transpose import MMulTranspose
from .ops.recurrent.rnn_configuration import (
    GRUWeights, LSTMActivations, LSTMConfiguration, LSTMDataFormat, LSTMDirectionMode, LSTMLayerConfig, LSTMLayerWeights, LSTMWeights,
    RnnDataFormat, SRUWeights)
from .ir.variable import SDVariable, VariableType
from .graph.differential_function import DifferentialFunction
from .graph.running.differentiation import OutAndGrad
from .graph.running.execution import BatchOutput as BatchOutputConfig
from .graph.loop_lambdas import ControlFlow, LoopArgs, LoopLambdaArgs
from .base.names import NameScope
from .base.java.pair import Pair
from .ir.sd_value import SDValue, SDValueType
from .graph.running.whole_runs import ExecResult
from .graph.validation import EqualityFn, GradCheckUtil, OpValidation, RelErrorFn, TestCase
from .graph.tensor_array import TensorArray
from .ir.typed import install

if TYPE_CHECKING:
    from .arrays import *
    from .nd4j import *
    from .data import *
    from .evaluation import *
    from .scopes import *
    from .training import *

__all__ = [
    "BatchOutputConfig", "ControlFlow", "EqualityFn", "GradCheckUtil", "LoopArgs", "LoopLambdaArgs", "NameScope", "OpValidation",
    "current_device", "Device", "DifferentialFunction", "ExecResult",
    "device", "DeviceError", "OutAndGrad", "RelErrorFn", "set_device", "SDValue", "SDValueType", "TestCase",
    "compiled", "CompiledGraphFunction",
    "Condition", "Conditions", "ConstantInitScheme", "Conv1DConfig", "Conv2DConfig", "Conv3DConfig", "DataFormat",
    "DataSet", "DataType", "DeConv2DConfig", "DeConv3DConfig", "DistributionInitScheme", "Divisor", "Evaluation",
    "EagerOps", "GraphScope", "GRUWeights", "History", "IdentityInitScheme", "ImageResizeMethod", "INDArray", "InferenceSession",
    "InvokeParams",
    "LazyINDArray", "LecunUniformInitScheme", "LocalResponseNormalizationConfig",
    "LoopParams", "LossReduce", "LSTMActivations", "LSTMConfiguration", "LSTMDataFormat",
    "MMulTranspose", "LSTMDirectionMode", "LSTMLayerConfig", "LSTMLayerWeights", "LSTMWeights", "Mode", "MultiDataSet",
    "NDArraySupplierInitScheme", "OneInitScheme", "OnnxFrameworkImporter", "ops", "PaddingMode", "PadMode", "Pair", "PartitionMode",
    "Pooling2DConfig", "Pooling2DType", "Pooling3DConfig", "Pooling3DType", "ReluInitScheme", "ReluUniformInitScheme", "RnnDataFormat",
    "SameDiff", "SameDiffUtils", "SDIndex", "SDVariable", "SigmoidUniformInitScheme", "SRUWeights", "TensorArray", "TrainingConfig",
    "UniformInitScheme", "VariableType", "VarScalingNormalFanAvgInitScheme", "VarScalingNormalFanInInitScheme",
    "VarScalingNormalFanOutInitScheme", "VarScalingNormalUniformFanInInitScheme",
    "VarScalingNormalUniformFanOutInitScheme", "VarScalingUniformFanAvgInitScheme", "WeightInitScheme",
    "WeightsFormat", "XavierFanInInitScheme", "XavierInitScheme", "XavierUniformInitScheme", "ZeroInitScheme"]

install()              # ops as attributes of the classes

_ON_FIRST_USE = ("training", "data", "evaluation", "arrays", "scopes", "nd4j")       # importing the package stays light


if not TYPE_CHECKING:       # else no misspelt name would be noticed
    def __getattr__(name: str) -> Any:
        if not name.startswith("_"):
            for package in _ON_FIRST_USE:
                found = import_module(f".{package}", __name__)
                if name in found.__all__:
                    globals()[name] = getattr(found, name)
                    return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
