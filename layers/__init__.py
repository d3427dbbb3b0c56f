"""Layers, vertices, preprocessors, activations, losses and everything else that a network is configured with.

All of them are configuration objects: a keyword constructor or DL4J's builder, ``==``, ``repr``, ``replace``, JSON and YAML::

    DenseLayer(n_in=784, n_out=100, activation="relu")
    DenseLayer.Builder().nIn(784).nOut(100).activation(Activation.RELU).build()        # the same

Layers, vertices and losses of one's own: ``@layer``, ``@vertex``, ``@loss``, or DL4J's ``SameDiffLayer``, ``SameDiffLambdaLayer``,
``SameDiffOutputLayer``, ``SameDiffVertex``, ``SameDiffLambdaVertex`` and ``SameDiffLoss``.
"""
# ruff: noqa: I001, RUF022 - names are packed
if __name__ == "layers":
    text = "layers/ is the source folder of dl4py.layers: run `pip install -e .` once, then import dl4py.layers"
    raise ImportError(text)

from . import kernels as kernels      # so that back ends know where those of the ops of layers are
from .functions.activations import (
    Activation, ActivationCube, ActivationELU, ActivationGELU, ActivationHardSigmoid, ActivationHardTanH, ActivationIdentity,
    ActivationLReLU, ActivationMish, ActivationPReLU, ActivationRReLU, ActivationRationalTanh, ActivationReLU, ActivationReLU6,
    ActivationRectifiedTanh, ActivationSELU, ActivationSigmoid, ActivationSoftPlus, ActivationSoftSign, ActivationSoftmax,
    ActivationSwish, ActivationTanH, ActivationThresholdedReLU, IActivation, activation)
from .standard.attention import AttentionLayer, LearnedSelfAttentionLayer, RecurrentAttentionLayer, SelfAttentionLayer
from .base.base import BaseLayer, FeedForwardLayer, Layer, NoParamLayer, layer
from .standard.capsules import CapsuleLayer, CapsuleStrengthLayer, PrimaryCapsules
from .checks.check import check_layer, check_vertex
from .checks.check_functions import check_activation, check_loss, check_preprocessor
from .functions.composite_reconstruction import CompositeReconstructionDistribution
from .functions.constraints import LayerConstraint, MaxNormConstraint, MinMaxNormConstraint, NonNegativeConstraint, UnitNormConstraint
from .standard.convolution import (
    BaseConvolution, Convolution1D, Convolution1DLayer, Convolution2D, Convolution3D, ConvolutionLayer, Deconvolution2D, Deconvolution3D,
    DepthwiseConvolution2D, SeparableConvolution2D)
from .functions.distributions import (
    BinomialDistribution, ConstantDistribution, Distribution, GaussianDistribution, LogNormalDistribution, NormalDistribution,
    OrthogonalDistribution, TruncatedNormalDistribution, UniformDistribution)
from .functions.dropout import AlphaDropout, Dropout, GaussianDropout, GaussianNoise, IDropout, RetainDropout, SpatialDropout
from .standard.embedding import EmbeddingLayer, EmbeddingSequenceLayer
from .functions.embedding_init import ArrayEmbeddingInitializer, WeightInitEmbedding
from .standard.feed_forward import (
    ActivationLayer, AutoEncoder, BasePretrainNetwork, DenseLayer, DropoutLayer, ElementWiseMultiplicationLayer, PReLULayer,
    RepeatVector)
from .types.formats import AlgoMode, BidirectionalMode, CNN2DFormat, CNN3DFormat, ConvolutionMode, MaskState, PoolingType, RNNFormat
from .types.input_type import (
    InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeConvolutionalFlat, InputTypeFeedForward, InputTypeRecurrent,
    set_default_cnn2d_format)
from .base.layer_methods import at_work
from .standard.locally_connected import LocallyConnected1D, LocallyConnected2D
from .functions.losses import (
    ILossFunction, LossBinaryXENT, LossCosineProximity, LossFMeasure, LossFunction, LossFunctions, LossHinge, LossKLD, LossL1, LossL2,
    LossMAE, LossMAPE, LossMCXENT, LossMSE, LossMSLE, LossMixtureDensity, LossMultiLabel, LossNegativeLogLikelihood, LossPoisson,
    LossSparseMCXENT, LossSquaredHinge, LossWasserstein, WeightedLoss)
from .standard.normalization import BatchNormalization, LocalResponseNormalization
from .standard.output import (
    BaseOutputLayer, CenterLossOutputLayer, Cnn3DLossLayer, CnnLossLayer, LossBearing, LossLayer, OCNNOutputLayer, OutputLayer,
    RnnLossLayer, Yolo2OutputLayer)
from .types.parameter_keys import (
    BatchNormalizationParamInitializer, BidirectionalParamInitializer, CenterLossParamInitializer, Convolution3DParamInitializer,
    ConvolutionParamInitializer, Deconvolution3DParamInitializer, DeconvolutionParamInitializer, DefaultParamInitializer,
    DepthwiseConvolutionParamInitializer, ElementWiseParamInitializer, EmbeddingLayerParamInitializer,
    GravesBidirectionalLSTMParamInitializer, GravesLSTMParamInitializer, LSTMParamInitializer, OCNNParamInitializer,
    PReLUParamInitializer, PretrainParamInitializer, SeparableConvolutionParamInitializer, SimpleRnnParamInitializer,
    VariationalAutoencoderParamInitializer)
from .standard.pooling import (
    BasePooling, BaseSubsampling, GlobalPoolingLayer, Pooling1D, Pooling2D, Subsampling1DLayer, Subsampling3DLayer, SubsamplingLayer)
from .preprocessors import (
    Cnn3DToFeedForwardPreProcessor, CnnToFeedForwardPreProcessor, CnnToRnnPreProcessor, ComposableInputPreProcessor,
    FeedForwardToCnn3DPreProcessor, FeedForwardToCnnPreProcessor, FeedForwardToRnnPreProcessor, InputPreProcessor,
    KerasFlattenRnnPreprocessor, PermutePreprocessor, ReshapePreprocessor, RnnToCnnPreProcessor,
    RnnToFeedForwardPreProcessor, TensorFlowCnnToFeedForwardPreProcessor)
from .standard.recurrent import AbstractLSTM, BaseRecurrentLayer, GravesBidirectionalLSTM, GravesLSTM, LSTM, RnnOutputLayer, SimpleRnn
from .functions.reconstruction import (
    BernoulliReconstructionDistribution, ExponentialReconstructionDistribution, GaussianReconstructionDistribution, LossFunctionWrapper,
    ReconstructionDistribution)
from .custom.samediff_layer import AbstractSameDiffLayer, SameDiffLambdaLayer, SameDiffLayer, SameDiffLayerUtils
from .custom.samediff_loss import SameDiffLoss, loss
from .custom.samediff_output import SameDiffOutputLayer
from .custom.declared import SDLayerParams, SDVertexParams
from .standard.spatial import (
    Cropping1D, Cropping2D, Cropping3D, ImageResizing, ResizingLayer, SpaceToBatchLayer, SpaceToDepthLayer, TimeResizing, Upsampling1D,
    Upsampling2D, Upsampling3D, VolumeResizing, ZeroPadding1DLayer, ZeroPadding3DLayer, ZeroPaddingLayer)
from .standard.variational import VariationalAutoencoder
from .vertices import (
    AttentionVertex, DuplicateToTimeSeriesVertex, ElementWiseOp, ElementWiseVertex, FrozenVertex, GraphVertex,
    L2NormalizeVertex, L2Vertex, LastTimeStepVertex, MergeVertex, PoolHelperVertex, PreprocessorVertex,
    ReshapeVertex, ReverseTimeSeriesVertex, SameDiffLambdaVertex, SameDiffVertex, ScaleVertex, ShiftVertex,
    StackVertex, SubsetVertex, UnstackVertex, vertex)
from .functions.weight_init import (
    IWeightInit, WeightInit, WeightInitConstant, WeightInitDistribution, WeightInitIdentity, WeightInitLecunUniform, WeightInitNormal,
    WeightInitRelu, WeightInitReluUniform, WeightInitSigmoidUniform, WeightInitUniform, WeightInitVarScalingNormalFanAvg,
    WeightInitVarScalingNormalFanIn, WeightInitVarScalingNormalFanOut, WeightInitVarScalingUniformFanAvg,
    WeightInitVarScalingUniformFanIn, WeightInitVarScalingUniformFanOut, WeightInitXavier, WeightInitXavierLegacy,
    WeightInitXavierUniform)
from .functions.weight_noise import DropConnect, IWeightNoise, WeightNoise
from .standard.wrappers import (
    BaseWrapperLayer, Bidirectional, FrozenLayer, FrozenLayerWithBackprop, LastTimeStep, MaskLayer, MaskZeroLayer, TimeDistributed)

__all__ = [
    "BatchNormalizationParamInitializer", "BidirectionalParamInitializer", "CenterLossParamInitializer",
    "Convolution3DParamInitializer", "ConvolutionParamInitializer", "Deconvolution3DParamInitializer",
    "DeconvolutionParamInitializer", "DefaultParamInitializer", "DepthwiseConvolutionParamInitializer",
    "ElementWiseParamInitializer", "EmbeddingLayerParamInitializer", "GravesBidirectionalLSTMParamInitializer",
    "GravesLSTMParamInitializer", "LSTMParamInitializer", "OCNNParamInitializer", "PReLUParamInitializer",
    "PretrainParamInitializer", "SeparableConvolutionParamInitializer", "SimpleRnnParamInitializer",
    "VariationalAutoencoderParamInitializer", "SameDiffLayerUtils",
    "ArrayEmbeddingInitializer", "WeightInitEmbedding",
    "AbstractLSTM", "AbstractSameDiffLayer", "Activation", "ActivationCube", "ActivationELU", "ActivationGELU",
    "ActivationHardSigmoid", "ActivationHardTanH", "ActivationIdentity", "ActivationLReLU", "ActivationLayer",
    "ActivationMish", "ActivationPReLU", "ActivationRReLU", "ActivationRationalTanh", "ActivationReLU",
    "ActivationReLU6", "ActivationRectifiedTanh", "ActivationSELU", "ActivationSigmoid", "ActivationSoftPlus",
    "ActivationSoftSign", "ActivationSoftmax", "ActivationSwish", "ActivationTanH", "ActivationThresholdedReLU",
    "AlgoMode", "AlphaDropout", "AttentionLayer", "AttentionVertex", "AutoEncoder", "BaseConvolution",
    "BaseLayer", "BaseOutputLayer", "BasePooling", "BasePretrainNetwork", "BaseRecurrentLayer",
    "BaseSubsampling", "BaseWrapperLayer", "BatchNormalization", "BernoulliReconstructionDistribution",
    "Bidirectional", "BidirectionalMode", "BinomialDistribution", "CNN2DFormat", "CNN3DFormat", "CapsuleLayer",
    "CapsuleStrengthLayer", "CenterLossOutputLayer", "Cnn3DLossLayer", "Cnn3DToFeedForwardPreProcessor",
    "CnnLossLayer", "CnnToFeedForwardPreProcessor", "CnnToRnnPreProcessor", "ComposableInputPreProcessor",
    "CompositeReconstructionDistribution", "ConstantDistribution", "Convolution1D", "Convolution1DLayer",
    "Convolution2D", "Convolution3D", "ConvolutionLayer", "ConvolutionMode", "Cropping1D", "Cropping2D",
    "Cropping3D", "Deconvolution2D", "Deconvolution3D", "DenseLayer", "DepthwiseConvolution2D", "Distribution",
    "DropConnect", "Dropout", "DropoutLayer", "DuplicateToTimeSeriesVertex", "ElementWiseMultiplicationLayer",
    "ElementWiseOp", "ElementWiseVertex", "EmbeddingLayer", "EmbeddingSequenceLayer",
    "ExponentialReconstructionDistribution", "FeedForwardLayer", "FeedForwardToCnn3DPreProcessor",
    "FeedForwardToCnnPreProcessor", "FeedForwardToRnnPreProcessor", "FrozenLayer", "FrozenLayerWithBackprop",
    "FrozenVertex", "GaussianDistribution", "GaussianDropout", "GaussianNoise",
    "GaussianReconstructionDistribution", "GlobalPoolingLayer", "GraphVertex", "GravesBidirectionalLSTM",
    "GravesLSTM", "IActivation", "IDropout", "ILossFunction", "IWeightInit", "IWeightNoise", "ImageResizing",
    "InputPreProcessor", "InputType", "InputTypeConvolutional", "InputTypeConvolutional3D",
    "InputTypeConvolutionalFlat", "InputTypeFeedForward", "InputTypeRecurrent", "KerasFlattenRnnPreprocessor",
    "L2NormalizeVertex", "L2Vertex", "LSTM", "LastTimeStep", "LastTimeStepVertex", "Layer", "LayerConstraint",
    "LearnedSelfAttentionLayer", "LocalResponseNormalization", "LocallyConnected1D", "LocallyConnected2D",
    "LogNormalDistribution", "LossBearing", "LossBinaryXENT", "LossCosineProximity", "LossFMeasure",
    "LossFunction", "LossFunctionWrapper", "LossFunctions", "LossHinge", "LossKLD", "LossL1", "LossL2", "LossLayer", "LossMAE",
    "LossMAPE", "LossMCXENT", "LossMSE", "LossMSLE", "LossMixtureDensity", "LossMultiLabel",
    "LossNegativeLogLikelihood", "LossPoisson", "LossSparseMCXENT", "LossSquaredHinge", "LossWasserstein",
    "MaskLayer", "MaskState", "MaskZeroLayer", "MaxNormConstraint", "MergeVertex", "MinMaxNormConstraint",
    "NoParamLayer", "NonNegativeConstraint", "NormalDistribution", "OCNNOutputLayer", "OrthogonalDistribution",
    "OutputLayer", "PReLULayer", "PermutePreprocessor", "PoolHelperVertex", "Pooling1D", "Pooling2D",
    "PoolingType", "PreprocessorVertex", "PrimaryCapsules", "RNNFormat", "ReconstructionDistribution",
    "RecurrentAttentionLayer", "RepeatVector", "ReshapePreprocessor", "ReshapeVertex", "ResizingLayer",
    "RetainDropout", "ReverseTimeSeriesVertex", "RnnLossLayer", "RnnOutputLayer", "RnnToCnnPreProcessor",
    "RnnToFeedForwardPreProcessor", "SDLayerParams", "SDVertexParams", "SameDiffLambdaLayer",
    "SameDiffLambdaVertex", "SameDiffLayer", "SameDiffLoss", "SameDiffOutputLayer", "SameDiffVertex",
    "ScaleVertex", "SelfAttentionLayer", "SeparableConvolution2D", "ShiftVertex", "SimpleRnn",
    "SpaceToBatchLayer", "SpaceToDepthLayer", "SpatialDropout", "StackVertex", "Subsampling1DLayer",
    "Subsampling3DLayer", "SubsamplingLayer", "SubsetVertex", "TensorFlowCnnToFeedForwardPreProcessor",
    "TimeDistributed", "TimeResizing", "TruncatedNormalDistribution", "UniformDistribution",
    "UnitNormConstraint", "UnstackVertex", "Upsampling1D", "Upsampling2D", "Upsampling3D",
    "VariationalAutoencoder", "VolumeResizing", "WeightInit", "WeightInitConstant", "WeightInitDistribution",
    "WeightInitIdentity", "WeightInitLecunUniform", "WeightInitNormal", "WeightInitRelu",
    "WeightInitReluUniform", "WeightInitSigmoidUniform", "WeightInitUniform",
    "WeightInitVarScalingNormalFanAvg", "WeightInitVarScalingNormalFanIn", "WeightInitVarScalingNormalFanOut",
    "WeightInitVarScalingUniformFanAvg", "WeightInitVarScalingUniformFanIn",
    "WeightInitVarScalingUniformFanOut", "WeightInitXavier", "WeightInitXavierLegacy",
    "WeightInitXavierUniform", "WeightNoise", "WeightedLoss", "Yolo2OutputLayer", "ZeroPadding1DLayer",
    "ZeroPadding3DLayer", "ZeroPaddingLayer", "activation", "at_work", "check_activation", "check_layer",
    "check_loss", "check_preprocessor", "check_vertex", "layer", "loss", "set_default_cnn2d_format", "vertex"]
