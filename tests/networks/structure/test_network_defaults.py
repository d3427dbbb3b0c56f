"""What a network gives its layers, where DL4J has it otherwise than one might expect; constraints inside wrappers."""
import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    Bidirectional,
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    OutputLayer,
    PReLULayer,
    RnnLossLayer,
    RnnOutputLayer,
    SubsetVertex,
    TimeDistributed,
    VariationalAutoencoder,
)
from dl4py.layers.functions.constraints import MaxNormConstraint
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.training import min_max_norm


def first(layer, **options):
    builder = NeuralNetConfiguration.Builder()
    for name, value in options.items():
        getattr(builder, name)(value)
    return builder.list(layer).validate_output_layer_config(False).build()


def strengths(layer):
    return [next(getattr(r, n).value for n in ("l1", "l2", "coeff") if hasattr(r, n)) for r in layer.regularization]


@pytest.mark.parametrize(("own", "wanted"), [({}, [0.1, 0.2, 0.1]), ({"weight_decay": 0.5}, [0.5, 0.1, 0.2]),
                                             ({"l2": 0.5}, [0.5, 0.1, 0.2]), ({"l1": 0.5}, [0.5, 0.1])])
def test_weight_decay_of_the_network_is_added_in_any_case(own, wanted):
    options = {"weight_decay": 0.1, "l1": 0.2}
    dense, lstm = DenseLayer(n_in=2, n_out=2, **own), LSTM(n_in=2, n_out=2, **own)
    assert strengths(first(dense, **options).layers[0]) == wanted
    assert strengths(first(LastTimeStep(lstm), **options).layers[0].underlying) == wanted
    assert strengths(first(FrozenLayer(LastTimeStep(lstm)), **options).layers[0].underlying.underlying) == wanted
    for frozen in (FrozenLayer(dense), FrozenLayerWithBackprop(dense)):     # configured twice
        assert strengths(first(frozen, **options).layers[0].underlying) == [*wanted, 0.1]


def test_names_in_constraints_stand_as_in_a_java_set():
    conf = first(LSTM(n_in=2, n_out=2), constrain_weights=MaxNormConstraint(1.0, 1))
    assert conf.layers[0].constraints[0].params == ("RW", "W")


def test_lists_forget_that_outputs_are_not_checked():
    assert first(OutputLayer(n_in=2, n_out=1)).validate_output_layer_config


def test_what_input_types_leave_alone():
    conf = (NeuralNetConfiguration.Builder().list(PReLULayer(input_shape=(3, 1)), RnnLossLayer(rnn_data_format="NWC", activation="softmax"))
            .set_input_type(InputType.recurrent(3, 4)).build())
    assert conf.layers[0].input_shape == (3, 1) and conf.layers[1].rnn_data_format.name == "NWC"
    subset = SubsetVertex(0, 1)
    assert subset.output_type(InputType.feed_forward(3, "NWC")).time_distributed_format is None
    assert subset.output_type(InputType.recurrent(3, 5, "NWC")) == InputType.recurrent(2)
    assert subset.output_type(InputType.convolutional(4, 5, 3, "NHWC")) == InputType.convolutional(4, 5, 2)
    assert DenseLayer(n_out=1, time_distributed_format="NCW").set_n_in(InputType.feed_forward(3)).time_distributed_format is None


SHORT = (MaxNormConstraint(0.1, dimensions=[1], params=["W", "RW"]),)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("layer", "constrained"), [
    (lambda: MaskZeroLayer(LSTM(n_out=2, constraints=SHORT)), ["0_W", "0_RW"]),
    (lambda: TimeDistributed(DenseLayer(n_out=2, constraints=SHORT)), ["0_W"]),
    (lambda: Bidirectional(LSTM(n_out=2, constraints=SHORT)), ["0_fW", "0_fRW", "0_bW", "0_bRW"]),
    (lambda: FrozenLayerWithBackprop(LSTM(n_out=2, constraints=SHORT)), []),
    (lambda: FrozenLayer(LSTM(n_out=2, constraints=SHORT)), []),
])
def test_constraints_of_wrapped_layers(layer, constrained):
    conf = (NeuralNetConfiguration.Builder().seed(3).list(layer(), RnnOutputLayer(n_out=2))
            .set_input_type(InputType.recurrent(3, 4)).build())
    net = MultiLayerNetwork(conf).init()
    rng = np.random.default_rng(1)
    net.fit(DataSet(rng.normal(size=(2, 3, 4)), np.eye(2)[rng.integers(0, 2, (2, 4))].transpose(0, 2, 1)))
    norms = {name: float(np.linalg.norm(p, axis=1).max()) for name, p in net.param_table().items() if p.ndim == 2}
    assert [n for n, norm in norms.items() if norm < 0.1 + 1e-6] == constrained


def test_constraints_of_parameters_that_a_layer_lacks():
    conf = first(OutputLayer(n_in=3, n_out=2, has_bias=False, constraints=[MaxNormConstraint(1.0, dimensions=[0], params=["b"])]))
    net = MultiLayerNetwork(conf).init()
    net.fit(DataSet(np.ones((2, 3)), np.eye(2)))
    assert np.isfinite(net.params()).all()


def test_a_norm_that_moves_slowly():
    w = np.array([[0.3, 0.4], [3.0, 4.0]])
    norm = np.array([[0.5], [5.0]])
    wanted = w * (0.25 * np.clip(norm, 1.0, 2.0) / (norm + 0.1) + 0.75 * (norm + 0.1))
    np.testing.assert_allclose(min_max_norm(np, w, 1.0, 2.0, 0.25, (1,), 0.1), wanted, rtol=1e-12)


def test_parameters_in_summaries_of_graphs():
    """In their order, but the bias of a convolution last."""
    conf = (NeuralNetConfiguration.Builder().graph_builder().add_inputs("x")
            .add_layer("conv", ConvolutionLayer(n_out=2, kernel_size=(2, 2)), "x")
            .add_layer("norm", DenseLayer(n_out=3, has_layer_norm=True), "conv")
            .add_layer("vae", VariationalAutoencoder(n_out=2, encoder_layer_sizes=[3], decoder_layer_sizes=[2]), "norm")
            .add_layer("out", OutputLayer(n_out=2), "vae").set_outputs("out").set_input_types(InputType.convolutional(3, 3, 1)).build())
    text = ComputationGraph(conf).init().summary()
    assert "W:{2,1,2,2}, b:{2} " in text and "W:{8,3}, b:{3}, g:{3}" in text and "e0W:{3,3}, e0b:{3}, pZXMeanW:" in text
