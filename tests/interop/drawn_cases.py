"""Networks of several layers, options and masks, of the kinds in which random networks were found to differ from DL4J's."""
from __future__ import annotations

from typing import Any

import numpy as np

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.networks import ComputationGraph, FineTuneConfiguration, MultiLayerNetwork, TransferLearning
from dl4py.samediff.training import Adam, MapSchedule, Nesterovs, PolySchedule, RmsProp, Sgd
from tests.interop.network_cases import NetworkCase, general

RNG = np.random.default_rng(11)
ROWS, SERIES = InputType.feed_forward(4), InputType.recurrent(3, 5)
PADDED = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]])
GAPS = np.array([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [1, 0, 0, 1, 0], [1, 1, 0, 1, 1]])


def classes(*shape: int) -> Any:
    """One of shape[1] classes at each place."""
    return np.moveaxis(np.eye(shape[1])[RNG.integers(0, shape[1], (shape[0], *shape[2:]))], -1, 1)


def listed(name: str, kind: Any, labels: Any, *stack: Any, updater: Any = None, mask: Any = None, label_mask: Any = None,
           x: Any = None, state: float | None = None, **options: Any) -> NetworkCase:
    """A list over inputs of that type; ``state`` is what the updaters' state is filled with."""
    builder = general(updater)
    for option, value in options.items():
        builder = getattr(builder, option)(value)
    net = MultiLayerNetwork(builder.list(*stack).set_input_type(kind).build()).init()
    if state is not None:
        net.engine.flat.state[...] = state
    inputs = RNG.normal(size=[len(labels), *kind.array_shape()[1:]]) if x is None else x
    return NetworkCase(f"drawn/{name}", net=net, inputs=(inputs,), labels=labels, label_mask=label_mask,
                       feature_masks=None if mask is None else [mask])


def _graph() -> NetworkCase:
    """Two series with masks of their own, one of them turned round; the last steps of both beside the whole series."""
    builder = general(Nesterovs(MapSchedule("ITERATION", {0: 0.1, 1: 0.05}), 0.7)).graph_builder().add_inputs("a", "b")
    builder.add_layer("left", L.SimpleRnn(n_out=3, activation="softsign", weight_init_recurrent="XAVIER"), "a")
    builder.add_vertex("turned", L.ReverseTimeSeriesVertex("b"), "b").add_layer("right", L.GravesLSTM(n_out=3, activation="tanh"), "turned")
    builder.add_vertex("last", L.LastTimeStepVertex("a"), "left").add_vertex("other", L.LastTimeStepVertex("b"), "right")
    builder.add_vertex("both", L.MergeVertex(), "last", "other").add_vertex("scaled", L.ScaleVertex(1.5), "both")
    builder.add_layer("value", L.OutputLayer(n_out=2, loss_function=L.LossMAE(), activation="identity", l2=0.05), "scaled")
    builder.add_layer("steps", L.RnnOutputLayer(n_out=2), "left")
    net = ComputationGraph(builder.set_outputs("value", "steps").set_input_types(SERIES, SERIES).build()).init()
    return NetworkCase("drawn/graph of masked series", net=net, inputs=tuple(RNG.normal(size=(2, 4, 3, 5))),
                       labels=[RNG.normal(size=(4, 2)), classes(4, 2, 5)], feature_masks=[PADDED, PADDED[::-1]])


def _reshaped() -> NetworkCase:
    """Rows, series and images that become each other, and a layer that reads two of them."""
    builder = general(Adam(0.05)).graph_builder().add_inputs("rows", "series")
    builder.add_vertex("image", L.PreprocessorVertex(L.FeedForwardToCnnPreProcessor(2, 1, 2)), "rows")
    builder.add_layer("filtered", L.ConvolutionLayer(n_out=2, kernel_size=(1, 1), activation="softplus"), "image")
    builder.add_vertex("turned", L.PreprocessorVertex(L.ReshapePreprocessor((2, 2, 1), (2, 1, 2))), "filtered")
    builder.add_vertex("flat", L.ReshapeVertex(-1, 15), "series").add_vertex("part", L.SubsetVertex(2, 6), "flat")
    builder.add_layer("dense", L.DenseLayer(n_out=3, activation="elu"), "part", "rows")
    builder.add_layer("first", L.OutputLayer(n_out=3), "turned")
    builder.add_layer("second", L.OutputLayer(n_out=2, loss_function=L.LossMSE(), activation="tanh"), "dense")
    net = ComputationGraph(builder.set_outputs("first", "second").set_input_types(ROWS, SERIES).build()).init()
    return NetworkCase("drawn/rows, series and images", net=net, inputs=(RNG.normal(size=(4, 4)), RNG.normal(size=(4, 3, 5))),
                       labels=[classes(4, 3), RNG.normal(size=(4, 2))])


def _transferred(as_graph: bool) -> NetworkCase:
    """A frozen part below a layer with other outputs, new settings, and losses that are no means."""
    net: Any = MultiLayerNetwork(general(Sgd(0.1)).mini_batch(False).activation("tanh").list(
        L.DenseLayer(n_out=5), L.DenseLayer(n_out=4, gradient_normalization="ClipL2PerLayer", gradient_normalization_threshold=0.5),
        L.DenseLayer(n_out=3), L.OutputLayer(n_out=3)).set_input_type(ROWS).build()).init()
    name = str if as_graph else int
    builder: Any = TransferLearning.GraphBuilder(net.to_computation_graph()) if as_graph else TransferLearning.Builder(net)
    builder.fine_tune_configuration(FineTuneConfiguration.Builder().updater(Nesterovs(0.05, 0.7)).l2(0.1).seed(7).build())
    made = builder.set_feature_extractor(name(1)).n_out_replace(name(2), 6, "RELU").build()
    return NetworkCase(f"drawn/transferred {'graph' if as_graph else 'list'}", net=made, inputs=(RNG.normal(size=(4, 4)),),
                       labels=classes(4, 3))


def drawn_cases() -> dict[str, Any]:
    """Functions that make the cases, by name."""
    rows, steps, images = classes(4, 3), classes(4, 2, 5), InputType.convolutional(5, 5, 2)
    zero = RNG.normal(size=(4, 4))
    zero[1] = 0
    made = [
        listed("what only pretraining moves, autoencoder", ROWS, rows, L.AutoEncoder(n_out=3, l2=0.1), L.OutputLayer(n_out=3),
               updater=RmsProp(0.05), state=0.5),
        listed("what only pretraining moves, variational", ROWS, rows,
               L.VariationalAutoencoder(n_out=2, encoder_layer_sizes=(5,), decoder_layer_sizes=(4,), bias_updater=Adam(0.01)),
               L.OutputLayer(n_out=3), updater=RmsProp(0.05), weight_decay=0.02, state=0.5),
        listed("center loss with an updater of biases", ROWS, rows, L.DenseLayer(n_out=3, activation="tanh"),
               L.CenterLossOutputLayer(n_out=3, alpha=0.1, lambda_=0.3, bias_updater=Sgd(0.3)), updater=Adam(0.05)),
        listed("cosine of a row of zeros", ROWS, RNG.normal(size=(4, 3)),
               L.OutputLayer(n_out=3, has_bias=False, activation="identity", loss_function="cosine_proximity"), updater=Sgd(0.1), x=zero),
        listed("both directions of LSTM, padded", SERIES, steps, L.Bidirectional("ADD", L.LSTM(n_out=3)), L.RnnOutputLayer(n_out=2),
               mask=PADDED, label_mask=PADDED),
        listed("both directions of SimpleRnn, with gaps", SERIES, steps, L.Bidirectional("MUL", L.SimpleRnn(n_out=3)),
               L.RnnOutputLayer(n_out=2), mask=GAPS, label_mask=GAPS),
        listed("last of SimpleRnn, with gaps", SERIES, rows, L.LastTimeStep(L.SimpleRnn(n_out=3)), L.OutputLayer(n_out=3), mask=GAPS),
        listed("a rate beyond its length", ROWS, rows, L.DenseLayer(n_out=4, activation="gelu"), L.OutputLayer(n_out=3),
               updater=Adam(PolySchedule("ITERATION", 0.1, 1.5, 1)), bias_updater=Sgd(PolySchedule("ITERATION", 0.1, 0.5, 4))),
        listed("equal maxima of a pool", SERIES, rows, L.ActivationLayer("relu"),
               L.Convolution1DLayer(n_out=3, kernel_size=2, activation="relu6"), L.GlobalPoolingLayer("MAX"), L.OutputLayer(n_out=3)),
        listed("locked gamma and beta", images, classes(4, 2, 5, 5),
               L.ConvolutionLayer(n_out=2, kernel_size=(2, 3), convolution_mode="Same"),
               L.BatchNormalization(lock_gamma_beta=True, gamma=1.5, beta=0.3), L.CnnLossLayer(activation="softmax"),
               gradient_normalization="ClipL2PerLayer", gradient_normalization_threshold=0.5),
        listed("mixtures, clipped and constrained", ROWS, RNG.normal(size=(4, 1)), L.DenseLayer(
            n_out=5, activation="softplus", constrain_weights=L.MaxNormConstraint(0.5, 1)),
               L.OutputLayer(n_out=6, loss_function=L.LossMixtureDensity(2, 1), activation="identity"),
               gradient_normalization="RenormalizeL2PerParamType"),
        _graph(), _reshaped(), _transferred(False), _transferred(True),
    ]
    return {c.name: (lambda c=c: c) for c in made}
