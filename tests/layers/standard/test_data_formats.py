"""Every layer in both data formats: the same parameters give the same activations, masks, scores and gradients, with axes exchanged."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import layers as L
from dl4py.layers.checks.check_subject import Subject, distinct
from dl4py.layers.types.input_type import InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeRecurrent
from dl4py.networks import NeuralNetConfiguration
from dl4py.samediff import SameDiff
from dl4py.samediff.errors import ConfigurationError
from tests.layers.layer_table import CNN, CNN3D, LAYERS, RNN

FORMATS = {InputTypeRecurrent: ("format", "NCW", "NWC"), InputTypeConvolutional: ("format", "NCHW", "NHWC"),
           InputTypeConvolutional3D: ("data_format", "NCDHW", "NDHWC")}

MORE = [
    (L.MaskZeroLayer(L.SimpleRnn(n_out=2, activation="tanh"), 0.0), RNN(3, 7)),
    (L.MaskZeroLayer(L.GravesLSTM(n_out=3, activation="tanh"), -1.0), RNN(3, 4)),
    (L.MaskZeroLayer(L.Bidirectional("ADD", L.LSTM(n_out=2, activation="tanh")), 0.0), RNN(3, 5)),
    (L.LastTimeStep(L.MaskZeroLayer(L.LSTM(n_out=2, activation="tanh"), 0.0)), RNN(2, 6)),
    (L.LastTimeStep(L.Bidirectional("CONCAT", L.SimpleRnn(n_out=2, activation="tanh"))), RNN(2, 6)),
    (L.SimpleRnn(n_out=3, activation="tanh", has_layer_norm=True), RNN(3, 5)),
    (L.Bidirectional("AVERAGE", L.GravesLSTM(n_out=2, activation="tanh")), RNN(3, 5)),
    (L.Convolution1DLayer(kernel_size=3, stride=2, padding=1, n_out=2, activation="tanh"), RNN(3, 7)),
    (L.Subsampling1DLayer("PNORM", kernel_size=3, stride=2, pnorm=2, convolution_mode="Causal"), RNN(3, 7)),
    (L.Subsampling1DLayer("AVG", kernel_size=3, stride=1, padding=1), RNN(3, 6)),
    (L.GlobalPoolingLayer("SUM"), RNN(3, 6)), (L.GlobalPoolingLayer("PNORM", collapse_dimensions=False), RNN(3, 6)),
    (L.GlobalPoolingLayer("MAX"), CNN(4, 3, 2)), (L.GlobalPoolingLayer("PNORM", pnorm=3), CNN(4, 3, 2)),
    (L.Convolution3D(kernel_size=(2, 1, 2), stride=(1, 2, 1), padding=(1, 0, 0), n_out=3, activation="tanh"), CNN3D("NCDHW", 3, 4, 3, 2)),
    (L.Subsampling3DLayer("AVG", kernel_size=(2, 1, 2), stride=(2, 2, 1), convolution_mode="Truncate"), CNN3D("NCDHW", 4, 3, 4, 2)),
    (L.SubsamplingLayer("AVG", kernel_size=(2, 3), stride=(2, 1), padding=(1, 0), avg_pool_include_pad_in_divisor=True), CNN(5, 6, 2)),
    (L.Deconvolution2D(kernel_size=(2, 3), stride=(1, 2), n_out=3, convolution_mode="Same", activation="tanh"), CNN(3, 4, 2)),
    (L.DepthwiseConvolution2D(kernel_size=2, depth_multiplier=2, dilation=(2, 1), activation="tanh"), CNN(5, 4, 2)),
    (L.SeparableConvolution2D(kernel_size=(3, 2), n_out=3, stride=(2, 1), convolution_mode="Same", activation="tanh"), CNN(5, 4, 2)),
    (L.ZeroPaddingLayer(0, 1, 2, 3), CNN(3, 4, 2)), (L.Cropping2D(0, 1, 2, 0), CNN(5, 6, 2)),
]


#: Layers that take channels first only, as in DL4J; rows of features; slopes for each place, which lie as the input does.
OTHERS = (L.LocallyConnected1D, L.Upsampling1D, L.ZeroPadding1DLayer, L.ZeroPadding3DLayer, L.Cropping1D, L.Cropping3D, L.PrimaryCapsules,
          L.CapsuleLayer, L.CapsuleStrengthLayer, L.MaskLayer, L.SelfAttentionLayer, L.LearnedSelfAttentionLayer, L.RecurrentAttentionLayer,
          L.DenseLayer, L.PReLULayer)


def served(made, kind):
    pools_volumes = isinstance(made, L.GlobalPoolingLayer) and isinstance(kind, InputTypeConvolutional3D)
    return isinstance(kind, tuple(FORMATS)) and not isinstance(made, OTHERS) and not pools_volumes


ROWS = [(made, kind) for made, kind in (*((r.made, r.inputs[0]) for r in LAYERS), *MORE) if served(made, kind)]


def moved(array):
    """Channels behind all other axes."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


def back(array):
    """Channels in front again."""
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


def subject_of(made, kind, last):
    """The layer with its input in one of the two formats."""
    field, *forms = FORMATS[type(kind)]
    first = kind.replace(**{field: forms[0]})
    x = distinct((3, *[7 if n < 0 else n for n in first.array_shape()[1:]]), np.random.default_rng(1))
    if isinstance(kind, InputTypeRecurrent):
        x[1, :, 2] = x[2, 1:, 0] = x[2, :, -1] = 0       # steps of zeros, and one that is not
    told = {InputTypeConvolutional3D: "data_format"}.get(type(kind)) or (isinstance(made, L.RnnLossLayer) and "rnn_data_format")
    if told in vars(made):               # types do not tell these layers
        made = made.replace(**{told: forms[last]})
    subject = Subject.of_layer(made, kind.replace(**{field: forms[last]}), moved(x) if last else x, None)
    subject.draw(0)
    return subject


def outcome(subject, mask, labels):
    """Activations, mask, scores, and gradients by input and parameters of a sum that knows no order."""
    sd = SameDiff()
    inputs = {"x": sd.var("x", subject.arrays[0])} | {name: sd.var(name, value) for name, value in subject.values.items()}
    x, given = inputs.pop("x"), None if mask is None else sd.constant(mask)
    of_data, of_labels = (None, given) if subject.has_loss else (given, None)
    built = subject.build(sd, [x], inputs, [of_data], None if labels is None else sd.constant(labels), of_labels)
    total = sd.math.sin(built.activations * 3.0).sum() if built.scores is None else built.scores.sum()
    grads = sd.gradients(total, [x, *inputs.values()])
    found = {"activations": built.activations, "mask": built.mask, "scores": built.scores}
    found |= {f"gradient by {name}": g for name, g in zip(["x", *inputs], grads)}
    names = {what: v.name() for what, v in found.items() if v is not None}
    values = sd.output({}, *dict.fromkeys(names.values()))
    return {what: values[name] for what, name in names.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("masked", [False, True], ids=["", "masked"])
@pytest.mark.parametrize(("made", "kind"), ROWS, ids=[f"{type(made).__name__}-{i}" for i, (made, _) in enumerate(ROWS)])
def test_both_formats(made, kind, masked, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    subjects = [subject_of(made, kind, last) for last in (False, True)]
    x = subjects[0].arrays[0]
    mask = None
    if masked and isinstance(kind, InputTypeRecurrent):
        mask = np.array([[float(t < n) for t in range(x.shape[2])] for n in (x.shape[2], 3, 2)])
    classes = getattr(subjects[0].conf, "n_out", 0) or x.shape[1]
    labels = np.eye(classes)[np.arange(x[:, 0].size) % classes].reshape(*x[:, 0].shape, classes) if subjects[0].needs_labels else None
    first, last = (outcome(s, mask, None if labels is None else turn(labels)) for s, turn in zip(subjects, (back, np.asarray)))
    assert first.keys() == last.keys()
    for what, wanted in first.items():
        turned = moved(wanted) if wanted.ndim > 2 and (what == "activations" or what == "gradient by x") else wanted
        np.testing.assert_allclose(last[what], turned, rtol=1e-9, atol=1e-12, err_msg=what)


def built(*members, types):
    """A graph of members one behind the other."""
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in")
    for i, made in enumerate(members):
        add = builder.add_vertex if isinstance(made, L.GraphVertex) else builder.add_layer
        add(f"m{i}", made, *([f"m{i - 1}"] if i else ["in"]) * (3 if isinstance(made, L.AttentionVertex) else 1))
    return builder.set_outputs(f"m{len(members) - 1}").set_input_types(types).build()


FIRST_ONLY = [r.made for r in LAYERS if isinstance(r.made, OTHERS) and r.made.reads_channels_first]
VERTICES_FIRST_ONLY = [L.LastTimeStepVertex(), L.ReverseTimeSeriesVertex(),
                       L.AttentionVertex(n_out=2, n_in_keys=3, n_in_values=3, n_in_queries=3)]


@pytest.mark.parametrize("made", [*FIRST_ONLY, *VERTICES_FIRST_ONLY], ids=lambda made: type(made).__name__)
def test_what_reads_channels_first_refuses_types_with_the_channels_last(made):
    """Alone, and behind a layer that gives what it got."""
    images = isinstance(made, L.PrimaryCapsules)
    types = InputType.convolutional(9, 9, 3, "NHWC") if images else InputType.recurrent(3, 6, "NWC")
    front = L.BatchNormalization() if images else L.LSTM(n_out=3)
    for members in ((made,), (front, made)):
        with pytest.raises(ConfigurationError, match=rf"{type(made).__name__}.* reads its input as NC\w+; got"):
            built(*members, types=types)
    if not isinstance(made, L.GraphVertex):
        with pytest.raises(ConfigurationError, match="reads its input as"):
            NeuralNetConfiguration.Builder().list(made).set_input_type(types).build()
