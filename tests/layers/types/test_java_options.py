"""Builder options under DL4J's names reach the field that they mean."""
from __future__ import annotations

import pytest

import dl4py.layers as layers
from dl4py.layers import (
    LSTM,
    Activation,
    ActivationReLU,
    ActivationTanH,
    BatchNormalization,
    CapsuleLayer,
    DefaultParamInitializer,
    DenseLayer,
    MaskZeroLayer,
    MaxNormConstraint,
    NonNegativeConstraint,
    PrimaryCapsules,
    SameDiffLayerUtils,
    SeparableConvolution2D,
    VariationalAutoencoderParamInitializer,
    layer,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import ConfigurationError

LSTM4 = LSTM(n_in=3, n_out=4)
OPTIONS = [
    ("BatchNormalization", "helperAllowFallback", (False,), "cudnn_allow_fallback", False),
    ("LocalResponseNormalization", "helperAllowFallback", (False,), "cudnn_allow_fallback", False),
    ("EmbeddingSequenceLayer", "outputDataFormat", ("NWC",), "output_format", layers.RNNFormat.NWC),
    ("GravesBidirectionalLSTM", "gateActivationFunction", (Activation.TANH,), "gate_activation", ActivationTanH()),
    ("LocallyConnected1D", "kernelSize", (3,), "kernel", 3),
    ("LocallyConnected1D", "convolutionMode", ("Same",), "cm", layers.ConvolutionMode.Same),
    ("LocallyConnected1D", "setInputSize", (7,), "input_size", 7),
    ("LocallyConnected2D", "kernelSize", (3, 2), "kernel", (3, 2)),
    ("LocallyConnected2D", "convolutionMode", ("Same",), "cm", layers.ConvolutionMode.Same),
    ("LocallyConnected2D", "dataFormat", ("NHWC",), "format", layers.CNN2DFormat.NHWC),
    ("LocallyConnected2D", "setInputSize", (7, 5), "input_size", (7, 5)),
    ("RnnLossLayer", "dataFormat", ("NWC",), "rnn_data_format", layers.RNNFormat.NWC),
    ("RnnOutputLayer", "dataFormat", ("NWC",), "rnn_data_format", layers.RNNFormat.NWC),
    ("SpaceToBatchLayer", "dataFormat", ("NHWC",), "format", layers.CNN2DFormat.NHWC),
    ("SpaceToBatchLayer", "name", ("s",), "layer_name", "s"),
    ("SpaceToDepthLayer", "blocks", (3,), "block_size", 3),
    ("SpaceToDepthLayer", "name", ("s",), "layer_name", "s"),
    ("Upsampling2D", "dataFormat", ("NHWC",), "format", layers.CNN2DFormat.NHWC),
    ("FrozenLayer", "layer", (LSTM4,), "underlying", LSTM4),
    ("RepeatVector", "repetitionFactor", (3,), "n", 3),
    ("Bidirectional", "rnnLayer", (LSTM4,), "fwd", LSTM4),
    ("VariationalAutoencoder", "pzxActivationFn", (Activation.TANH,), "pzx_activation", ActivationTanH()),
    ("VariationalAutoencoder", "pzxActivationFunction", (Activation.TANH,), "pzx_activation", ActivationTanH()),
    ("VariationalAutoencoder", "reconstructionDistribution", (layers.BernoulliReconstructionDistribution(),), "output_distribution",
     layers.BernoulliReconstructionDistribution()),
    ("OCNNOutputLayer", "hiddenLayerSize", (9,), "hidden_size", 9),
    ("DenseLayer", "setNIn", (9,), "n_in", 9),
    ("DenseLayer", "hasBias", (), "has_bias", True),
]


@pytest.mark.parametrize("kind, option, given, field, wanted", OPTIONS, ids=[f"{k}.{o}" for k, o, *_ in OPTIONS])
def test_builder(kind, option, given, field, wanted):
    cls = getattr(layers, kind)
    builder = cls.Builder()
    if kind.startswith("SpaceTo"):
        builder.blocks(2)
    if kind == "Upsampling2D":
        builder.size(2)
    built = getattr(builder, option)(*given).build()
    assert getattr(built, field) == wanted and built.get_layer_name() in (None, "s")


def test_names_of_a_field_stand_on_the_class_and_on_its_objects():
    conf = layers.Upsampling2D(size=(2, 2), format="NHWC")
    assert conf.data_format is conf.format and "data_format" in dir(layers.Upsampling2D)
    with pytest.raises(ConfigurationError, match="none_such"):
        layers.Upsampling2D.Builder().none_such(1)


def test_a_field_of_ones_own_may_have_the_other_name_of_a_base_field():
    @layer("example.NameAsField")
    class NameAsField(layers.NoParamLayer):
        name: str

    assert NameAsField(name="x").name == "x" and NameAsField(name="x").layer_name is None
    with pytest.raises(ConfigurationError, match="needs name"):
        NameAsField()


def test_switches_of_capsules():
    built = PrimaryCapsules.Builder(4, 8).nOut(6).useLeakyReLU(0.1).build()
    assert (built.channels, built.capsule_dimensions, built.use_relu, built.leak) == (6, 4, True, 0.1)
    assert PrimaryCapsules.Builder(4, 8).useReLU().build().use_relu
    assert not PrimaryCapsules.Builder(4, 8).useReLU(False).build().use_relu
    sizes = CapsuleLayer.Builder(3, 4, 2).inputShape(12, 5).build()
    assert (sizes.input_capsules, sizes.input_capsule_dimensions) == (12, 5)
    with pytest.raises(ConfigurationError, match="input_shape"):
        CapsuleLayer.Builder(3, 4, 2).inputShape(12)


def test_constraints_of_single_parameters():
    norm = (BatchNormalization.Builder().constrainBeta(NonNegativeConstraint()).constrainGamma(MaxNormConstraint(0.5, 0)).build())
    assert [(type(c).__name__, c.params) for c in norm.constraints] == [
        ("NonNegativeConstraint", ("beta",)), ("MaxNormConstraint", ("gamma",))]
    separable = SeparableConvolution2D.Builder(2, 2).constrainPointWise(NonNegativeConstraint()).build()
    assert separable.constraints[0].params == ("pW",)


def test_constraint_of_beta_holds_after_training(rng):
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater("sgd").list()
                            .layer(BatchNormalization(n_in=3, n_out=3, constrain_beta=NonNegativeConstraint()))
                            .layer(layers.OutputLayer(n_in=3, n_out=2)).build())
    net.init()
    net.set_param("0_beta", [-1.0, 2.0, -3.0])
    net.fit(rng.normal(size=(8, 3)), [[1, 0]] * 8)
    beta = net.get_param("0_beta")
    assert (beta >= 0).all() and beta.ravel()[1] > 1


def test_mask_zero_has_setters():
    built = MaskZeroLayer.Builder().setUnderlying(LSTM4).setMaskValue(-1.0).build()
    assert built.underlying == LSTM4 and built.masking_value == -1.0
    assert built.set_mask_value(2.0).masking_value == 2.0 and built.setUnderlying(DenseLayer(n_in=1, n_out=1)).n_in == 1


def test_names_of_parameters():
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list().layer(
        layers.VariationalAutoencoder(n_in=3, n_out=2, encoder_layer_sizes=(4,), decoder_layer_sizes=(4,))).build())
    net.init()
    keys = VariationalAutoencoderParamInitializer
    first = keys.ENCODER_PREFIX + "0" + keys.WEIGHT_KEY_SUFFIX
    assert {"0_" + key for key in (keys.PZX_MEAN_W, keys.PZX_LOGSTD2_B, keys.PXZ_W, first)} <= set(net.param_table())
    assert DefaultParamInitializer.WEIGHT_KEY == "W"


def test_activation_by_function():
    assert SameDiffLayerUtils.fromIActivation(ActivationReLU()) is Activation.RELU
    assert SameDiffLayerUtils.from_i_activation(layers.ActivationPReLU()) is None
