"""Layers, vertices, preprocessors, activations, losses and everything else that a network is configured with.

All of them are configuration objects: a keyword constructor or DL4J's builder, ``==``, ``repr``, ``replace``, JSON and YAML::

    DenseLayer(n_in=784, n_out=100, activation="relu")
    DenseLayer.Builder().nIn(784).nOut(100).activation(Activation.RELU).build()        # the same

Layers, vertices and losses of one's own: ``@layer``, ``@vertex``, ``@loss``, or DL4J's ``SameDiffLayer``, ``SameDiffLambdaLayer``,
``SameDiffOutputLayer``, ``SameDiffVertex``, ``SameDiffLambdaVertex`` and ``SameDiffLoss``.
"""
if __name__ == "layers":
    text = "layers/ is the source folder of dl4py.layers: run `pip install -e .` once, then import dl4py.layers"
    raise ImportError(text)

from . import kernels as kernels      # so that back ends know where those of the ops of layers are

# The rest is written by `python -m dl4py.samediff.tools.exports`: do not edit.
from .base.base import BaseLayer, FeedForwardLayer, Layer, NoParamLayer, layer
from .base.layer_methods import at_work
from .checks.check import check_layer, check_vertex
from .checks.check_functions import check_activation, check_loss, check_preprocessor
from .checks.check_parameter_parts import check_constraint, check_dropout, check_initialiser
from .checks.check_training_parts import check_evaluation, check_schedule, check_updater
from .custom.container import ContainerLayer
from .custom.lambda_layer import lambda_layer
from .custom.parameter_declarations import SDLayerParams, SDVertexParams
from .custom.samediff_layer import AbstractSameDiffLayer, SameDiffLambdaLayer, SameDiffLayer, SameDiffLayerUtils
from .custom.samediff_loss import SameDiffLoss, loss
from .custom.samediff_output import SameDiffOutputLayer
from .functions.activations import (
    Activation, ActivationCube, ActivationELU, ActivationGELU, ActivationHardSigmoid, ActivationHardTanH, ActivationIdentity,
    ActivationLReLU, ActivationMish, ActivationPReLU, ActivationRReLU, ActivationRationalTanh, ActivationReLU, ActivationReLU6,
    ActivationRectifiedTanh, ActivationSELU, ActivationSigmoid, ActivationSoftPlus, ActivationSoftSign, ActivationSoftmax, ActivationSwish,
    ActivationTanH, ActivationThresholdedReLU, BaseActivationFunction, IActivation, activation,
)
from .functions.composite_reconstruction import CompositeReconstructionDistribution
from .functions.constraints import LayerConstraint, MaxNormConstraint, MinMaxNormConstraint, NonNegativeConstraint, UnitNormConstraint
from .functions.distributions import (
    BinomialDistribution, ConstantDistribution, Distribution, GaussianDistribution, LogNormalDistribution, NormalDistribution,
    OrthogonalDistribution, TruncatedNormalDistribution, UniformDistribution,
)
from .functions.dropout import AlphaDropout, Dropout, GaussianDropout, GaussianNoise, IDropout, RetainDropout, SpatialDropout
from .functions.embedding_init import ArrayEmbeddingInitializer, WeightInitEmbedding
from .functions.loss_base import ILossFunction, LossFunction, WeightedLoss
from .functions.losses import (
    LossBinaryXENT, LossCosineProximity, LossFMeasure, LossFunctions, LossHinge, LossKLD, LossL1, LossL2, LossMAE, LossMAPE, LossMCXENT,
    LossMSE, LossMSLE, LossMixtureDensity, LossMultiLabel, LossNegativeLogLikelihood, LossPoisson, LossSparseMCXENT, LossSquaredHinge,
    LossWasserstein,
)
from .functions.reconstruction import (
    BernoulliReconstructionDistribution, ExponentialReconstructionDistribution, GaussianReconstructionDistribution, LossFunctionWrapper,
    ReconstructionDistribution,
)
from .functions.weight_init import (
    IWeightInit, WeightInit, WeightInitConstant, WeightInitDistribution, WeightInitIdentity, WeightInitLecunUniform, WeightInitNormal,
    WeightInitRelu, WeightInitReluUniform, WeightInitSigmoidUniform, WeightInitUniform, WeightInitVarScalingNormalFanAvg,
    WeightInitVarScalingNormalFanIn, WeightInitVarScalingNormalFanOut, WeightInitVarScalingUniformFanAvg, WeightInitVarScalingUniformFanIn,
    WeightInitVarScalingUniformFanOut, WeightInitXavier, WeightInitXavierLegacy, WeightInitXavierUniform,
)
from .functions.weight_noise import DropConnect, IWeightNoise, WeightNoise
from .preprocessors.base import InputPreProcessor
from .preprocessors.flatten import Cnn3DToFeedForwardPreProcessor, CnnToFeedForwardPreProcessor, TensorFlowCnnToFeedForwardPreProcessor
from .preprocessors.general import ComposableInputPreProcessor, KerasFlattenRnnPreprocessor, PermutePreprocessor, ReshapePreprocessor
from .preprocessors.time_series import (
    CnnToRnnPreProcessor, FeedForwardToRnnPreProcessor, RnnToCnnPreProcessor, RnnToFeedForwardPreProcessor,
)
from .preprocessors.unflatten import FeedForwardToCnn3DPreProcessor, FeedForwardToCnnPreProcessor
from .standard.attention import AttentionLayer, LearnedSelfAttentionLayer, RecurrentAttentionLayer, SelfAttentionLayer
from .standard.capsules import CapsuleLayer, CapsuleStrengthLayer, PrimaryCapsules
from .standard.convolution import (
    BaseConvolution, Convolution1D, Convolution1DLayer, Convolution2D, Convolution3D, ConvolutionLayer, Deconvolution2D, Deconvolution3D,
    DepthwiseConvolution2D, SeparableConvolution2D,
)
from .standard.embedding import EmbeddingLayer, EmbeddingSequenceLayer
from .standard.feed_forward import (
    ActivationLayer, AutoEncoder, BasePretrainNetwork, DenseLayer, DropoutLayer, ElementWiseMultiplicationLayer, PReLULayer, RepeatVector,
)
from .standard.frozen import FrozenLayer, FrozenLayerWithBackprop
from .standard.locally_connected import LocallyConnected1D, LocallyConnected2D
from .standard.normalization import BatchNormalization, LocalResponseNormalization
from .standard.output import (
    BaseOutputLayer, CenterLossOutputLayer, Cnn3DLossLayer, CnnLossLayer, LossBearing, LossLayer, OCNNOutputLayer, OutputLayer,
    RnnLossLayer, Yolo2OutputLayer,
)
from .standard.pooling import (
    BasePooling, BaseSubsampling, GlobalPoolingLayer, Pooling1D, Pooling2D, Subsampling1DLayer, Subsampling3DLayer, SubsamplingLayer,
)
from .standard.recurrent import AbstractLSTM, BaseRecurrentLayer, GravesBidirectionalLSTM, GravesLSTM, LSTM, RnnOutputLayer, SimpleRnn
from .standard.spatial import (
    Cropping1D, Cropping2D, Cropping3D, ImageResizing, ResizingLayer, SpaceToBatchLayer, SpaceToDepthLayer, TimeResizing, Upsampling1D,
    Upsampling2D, Upsampling3D, VolumeResizing, ZeroPadding1DLayer, ZeroPadding3DLayer, ZeroPaddingLayer,
)
from .standard.variational import VariationalAutoencoder
from .standard.wrappers import BaseWrapperLayer, Bidirectional, LastTimeStep, MaskLayer, MaskZeroLayer, TimeDistributed
from .types.detection import DetectedObject, YoloUtils
from .types.formats import AlgoMode, BidirectionalMode, CNN2DFormat, CNN3DFormat, ConvolutionMode, MaskState, PoolingType, RNNFormat
from .types.input_type import (
    InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeConvolutionalFlat, InputTypeFeedForward, InputTypeRecurrent,
    set_default_cnn2d_format,
)
from .types.parameter_keys import (
    BatchNormalizationParamInitializer, BidirectionalParamInitializer, CenterLossParamInitializer, Convolution3DParamInitializer,
    ConvolutionParamInitializer, Deconvolution3DParamInitializer, DeconvolutionParamInitializer, DefaultParamInitializer,
    DepthwiseConvolutionParamInitializer, ElementWiseParamInitializer, EmbeddingLayerParamInitializer,
    GravesBidirectionalLSTMParamInitializer, GravesLSTMParamInitializer, LSTMParamInitializer, OCNNParamInitializer, PReLUParamInitializer,
    PretrainParamInitializer, SeparableConvolutionParamInitializer, SimpleRnnParamInitializer, VariationalAutoencoderParamInitializer,
)
from .vertices.attention import AttentionVertex
from .vertices.base import GraphVertex, vertex
from .vertices.combine import ElementWiseOp, ElementWiseVertex, L2Vertex, MergeVertex, StackVertex, UnstackVertex
from .vertices.lambda_vertex import lambda_vertex
from .vertices.samediff_vertex import SameDiffLambdaVertex, SameDiffVertex, VertexInputs
from .vertices.shape import L2NormalizeVertex, PoolHelperVertex, ReshapeVertex, ScaleVertex, ShiftVertex, SubsetVertex
from .vertices.time_series import DuplicateToTimeSeriesVertex, LastTimeStepVertex, ReverseTimeSeriesVertex
from .vertices.wrapping import FrozenVertex, PreprocessorVertex

__all__ = [
    "AbstractLSTM", "AbstractSameDiffLayer", "Activation", "ActivationCube", "ActivationELU", "ActivationGELU", "ActivationHardSigmoid",
    "ActivationHardTanH", "ActivationIdentity", "ActivationLReLU", "ActivationLayer", "ActivationMish", "ActivationPReLU",
    "ActivationRReLU", "ActivationRationalTanh", "ActivationReLU", "ActivationReLU6", "ActivationRectifiedTanh", "ActivationSELU",
    "ActivationSigmoid", "ActivationSoftPlus", "ActivationSoftSign", "ActivationSoftmax", "ActivationSwish", "ActivationTanH",
    "ActivationThresholdedReLU", "AlgoMode", "AlphaDropout", "ArrayEmbeddingInitializer", "AttentionLayer", "AttentionVertex",
    "AutoEncoder", "BaseActivationFunction", "BaseConvolution", "BaseLayer", "BaseOutputLayer", "BasePooling", "BasePretrainNetwork",
    "BaseRecurrentLayer", "BaseSubsampling", "BaseWrapperLayer", "BatchNormalization", "BatchNormalizationParamInitializer",
    "BernoulliReconstructionDistribution", "Bidirectional", "BidirectionalMode", "BidirectionalParamInitializer", "BinomialDistribution",
    "CNN2DFormat", "CNN3DFormat", "CapsuleLayer", "CapsuleStrengthLayer", "CenterLossOutputLayer", "CenterLossParamInitializer",
    "Cnn3DLossLayer", "Cnn3DToFeedForwardPreProcessor", "CnnLossLayer", "CnnToFeedForwardPreProcessor", "CnnToRnnPreProcessor",
    "ComposableInputPreProcessor", "CompositeReconstructionDistribution", "ConstantDistribution", "ContainerLayer", "Convolution1D",
    "Convolution1DLayer", "Convolution2D", "Convolution3D", "Convolution3DParamInitializer", "ConvolutionLayer", "ConvolutionMode",
    "ConvolutionParamInitializer", "Cropping1D", "Cropping2D", "Cropping3D", "Deconvolution2D", "Deconvolution3D",
    "Deconvolution3DParamInitializer", "DeconvolutionParamInitializer", "DefaultParamInitializer", "DenseLayer", "DepthwiseConvolution2D",
    "DepthwiseConvolutionParamInitializer", "DetectedObject", "Distribution", "DropConnect", "Dropout", "DropoutLayer",
    "DuplicateToTimeSeriesVertex", "ElementWiseMultiplicationLayer", "ElementWiseOp", "ElementWiseParamInitializer", "ElementWiseVertex",
    "EmbeddingLayer", "EmbeddingLayerParamInitializer", "EmbeddingSequenceLayer", "ExponentialReconstructionDistribution",
    "FeedForwardLayer", "FeedForwardToCnn3DPreProcessor", "FeedForwardToCnnPreProcessor", "FeedForwardToRnnPreProcessor", "FrozenLayer",
    "FrozenLayerWithBackprop", "FrozenVertex", "GaussianDistribution", "GaussianDropout", "GaussianNoise",
    "GaussianReconstructionDistribution", "GlobalPoolingLayer", "GraphVertex", "GravesBidirectionalLSTM",
    "GravesBidirectionalLSTMParamInitializer", "GravesLSTM", "GravesLSTMParamInitializer", "IActivation", "IDropout", "ILossFunction",
    "IWeightInit", "IWeightNoise", "ImageResizing", "InputPreProcessor", "InputType", "InputTypeConvolutional", "InputTypeConvolutional3D",
    "InputTypeConvolutionalFlat", "InputTypeFeedForward", "InputTypeRecurrent", "KerasFlattenRnnPreprocessor", "L2NormalizeVertex",
    "L2Vertex", "LSTM", "LSTMParamInitializer", "LastTimeStep", "LastTimeStepVertex", "Layer", "LayerConstraint",
    "LearnedSelfAttentionLayer", "LocalResponseNormalization", "LocallyConnected1D", "LocallyConnected2D", "LogNormalDistribution",
    "LossBearing", "LossBinaryXENT", "LossCosineProximity", "LossFMeasure", "LossFunction", "LossFunctionWrapper", "LossFunctions",
    "LossHinge", "LossKLD", "LossL1", "LossL2", "LossLayer", "LossMAE", "LossMAPE", "LossMCXENT", "LossMSE", "LossMSLE",
    "LossMixtureDensity", "LossMultiLabel", "LossNegativeLogLikelihood", "LossPoisson", "LossSparseMCXENT", "LossSquaredHinge",
    "LossWasserstein", "MaskLayer", "MaskState", "MaskZeroLayer", "MaxNormConstraint", "MergeVertex", "MinMaxNormConstraint",
    "NoParamLayer", "NonNegativeConstraint", "NormalDistribution", "OCNNOutputLayer", "OCNNParamInitializer", "OrthogonalDistribution",
    "OutputLayer", "PReLULayer", "PReLUParamInitializer", "PermutePreprocessor", "PoolHelperVertex", "Pooling1D", "Pooling2D",
    "PoolingType", "PreprocessorVertex", "PretrainParamInitializer", "PrimaryCapsules", "RNNFormat", "ReconstructionDistribution",
    "RecurrentAttentionLayer", "RepeatVector", "ReshapePreprocessor", "ReshapeVertex", "ResizingLayer", "RetainDropout",
    "ReverseTimeSeriesVertex", "RnnLossLayer", "RnnOutputLayer", "RnnToCnnPreProcessor", "RnnToFeedForwardPreProcessor", "SDLayerParams",
    "SDVertexParams", "SameDiffLambdaLayer", "SameDiffLambdaVertex", "SameDiffLayer", "SameDiffLayerUtils", "SameDiffLoss",
    "SameDiffOutputLayer", "SameDiffVertex", "ScaleVertex", "SelfAttentionLayer", "SeparableConvolution2D",
    "SeparableConvolutionParamInitializer", "ShiftVertex", "SimpleRnn", "SimpleRnnParamInitializer", "SpaceToBatchLayer",
    "SpaceToDepthLayer", "SpatialDropout", "StackVertex", "Subsampling1DLayer", "Subsampling3DLayer", "SubsamplingLayer", "SubsetVertex",
    "TensorFlowCnnToFeedForwardPreProcessor", "TimeDistributed", "TimeResizing", "TruncatedNormalDistribution", "UniformDistribution",
    "UnitNormConstraint", "UnstackVertex", "Upsampling1D", "Upsampling2D", "Upsampling3D", "VariationalAutoencoder",
    "VariationalAutoencoderParamInitializer", "VertexInputs", "VolumeResizing", "WeightInit", "WeightInitConstant",
    "WeightInitDistribution", "WeightInitEmbedding", "WeightInitIdentity", "WeightInitLecunUniform", "WeightInitNormal", "WeightInitRelu",
    "WeightInitReluUniform", "WeightInitSigmoidUniform", "WeightInitUniform", "WeightInitVarScalingNormalFanAvg",
    "WeightInitVarScalingNormalFanIn", "WeightInitVarScalingNormalFanOut", "WeightInitVarScalingUniformFanAvg",
    "WeightInitVarScalingUniformFanIn", "WeightInitVarScalingUniformFanOut", "WeightInitXavier", "WeightInitXavierLegacy",
    "WeightInitXavierUniform", "WeightNoise", "WeightedLoss", "Yolo2OutputLayer", "YoloUtils", "ZeroPadding1DLayer", "ZeroPadding3DLayer",
    "ZeroPaddingLayer", "activation", "at_work", "check_activation", "check_constraint", "check_dropout", "check_evaluation",
    "check_initialiser", "check_layer", "check_loss", "check_preprocessor", "check_schedule", "check_updater", "check_vertex",
    "lambda_layer", "lambda_vertex", "layer", "loss", "set_default_cnn2d_format", "vertex",
]
