"""Rows of the grid for layers, activations, losses, updaters and what else a network is configured with."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from grid_rows import GIVEN, Network, Row, class_numbers, network, normal, one_hot, positive, signs

from dl4py import layers as L
from dl4py.samediff import training as T

Made = Callable[[], list[Any]]


def _end(given: str) -> list[Any]:
    """A short way from the activations of any layer to a loss."""
    if given == "series":
        return [L.RnnOutputLayer(n_out=4)]
    return [L.OutputLayer(n_out=4)] if given == "rows" else [L.GlobalPoolingLayer("avg"), L.OutputLayer(n_out=4)]


ACTIVATIONS = ("relu", "sigmoid", "tanh", "elu", "selu", "gelu", "swish", "softplus", "mish", "leakyrelu", "hardsigmoid", "hardtanh",
               "softsign", "cube", "rationaltanh", "rectifiedtanh", "thresholdedrelu", "relu6", "softmax")

#: Layers by what they are given; "!" in front: in training only, as they do nothing elsewhere.
LAYERS: dict[str, dict[str, Callable[[], Any]]] = {
    "rows": {
        **{f"dense {a}": (lambda a=a: L.DenseLayer(n_out=32, activation=a)) for a in ACTIVATIONS},
        "dense wide": lambda: L.DenseLayer(n_out=512, activation="relu"),
        "dense layer norm": lambda: L.DenseLayer(n_out=32, activation="relu", has_layer_norm=True),
        "dense no bias": lambda: L.DenseLayer(n_out=32, activation="relu", has_bias=False),
        "batch norm": lambda: L.BatchNormalization(),
        "batch norm locked": lambda: L.BatchNormalization(lock_gamma_beta=True),
        "prelu": lambda: L.PReLULayer(),
        "!dropout": lambda: L.DenseLayer(n_out=32, activation="relu", dropout=0.5),
        "!gaussian dropout": lambda: L.DenseLayer(n_out=32, activation="relu", dropout=L.GaussianDropout(0.5)),
        "!gaussian noise": lambda: L.DenseLayer(n_out=32, activation="relu", dropout=L.GaussianNoise(0.1)),
        "!alpha dropout": lambda: L.DenseLayer(n_out=32, activation="selu", dropout=L.AlphaDropout(0.9)),
        "!drop connect": lambda: L.DenseLayer(n_out=32, activation="relu", weight_noise=L.DropConnect(0.8)),
    },
    "images": {
        **{f"conv {n}": (lambda o=o: L.ConvolutionLayer(n_out=16, activation="relu", **o)) for n, o in {
            "1x1": {"kernel_size": 1}, "3x3": {"kernel_size": 3}, "5x5": {"kernel_size": 5},
            "3x3 same": {"kernel_size": 3, "convolution_mode": "Same"},
            "3x3 stride 2": {"kernel_size": 3, "stride": 2}, "3x3 dilation 2": {"kernel_size": 3, "dilation": 2},
            "7x7 stride 2 same": {"kernel_size": 7, "stride": 2, "convolution_mode": "Same"}, "1x5": {"kernel_size": (1, 5)},
            "3x3 no bias": {"kernel_size": 3, "has_bias": False}, "3x3 padding 1": {"kernel_size": 3, "padding": 1},
        }.items()},
        "depthwise": lambda: L.DepthwiseConvolution2D(kernel_size=3, depth_multiplier=1, activation="relu"),
        "depthwise same, 2 each": lambda: L.DepthwiseConvolution2D(kernel_size=3, depth_multiplier=2, convolution_mode="Same",
                                                                   activation="relu"),
        "depthwise stride 2": lambda: L.DepthwiseConvolution2D(kernel_size=3, stride=2, depth_multiplier=1, activation="relu"),
        "separable": lambda: L.SeparableConvolution2D(kernel_size=3, n_out=16, activation="relu"),
        "deconv 2x2 stride 2": lambda: L.Deconvolution2D(kernel_size=2, stride=2, n_out=8, activation="relu"),
        "deconv 3x3 same": lambda: L.Deconvolution2D(kernel_size=3, stride=2, convolution_mode="Same", n_out=8, activation="relu"),
        **{f"pool {n}": (lambda o=o: L.SubsamplingLayer(**o)) for n, o in {
            "max 2x2": {"pooling_type": "max", "kernel_size": 2, "stride": 2},
            "max 3x3 stride 2": {"pooling_type": "max", "kernel_size": 3, "stride": 2},
            "max 3x3 same": {"pooling_type": "max", "kernel_size": 3, "stride": 1, "convolution_mode": "Same"},
            "avg 2x2": {"pooling_type": "avg", "kernel_size": 2, "stride": 2},
            "avg 3x3 same": {"pooling_type": "avg", "kernel_size": 3, "stride": 1, "convolution_mode": "Same"},
            "pnorm 2x2": {"pooling_type": "pnorm", "kernel_size": 2, "stride": 2, "pnorm": 2},
        }.items()},
        "batch norm": lambda: L.BatchNormalization(),
        "local response": lambda: L.LocalResponseNormalization(n=5),
        "prelu shared": lambda: L.PReLULayer(shared_axes=(2, 3)),
        "upsampling": lambda: L.Upsampling2D(2),
        "zero padding": lambda: L.ZeroPaddingLayer(2),
        "cropping": lambda: L.Cropping2D(2),
        "space to depth": lambda: L.SpaceToDepthLayer(2, "NCHW"),
        "global max": lambda: L.GlobalPoolingLayer("max"),
        "global pnorm": lambda: L.GlobalPoolingLayer("pnorm"),
        "locally connected": lambda: L.LocallyConnected2D(kernel_size=3, n_out=4, activation="relu"),
        "!spatial dropout": lambda: L.ConvolutionLayer(kernel_size=3, n_out=16, activation="relu", dropout=L.SpatialDropout(0.5)),
    },
    "images_last": {
        "conv 3x3 same": lambda: L.ConvolutionLayer(kernel_size=3, n_out=16, activation="relu", convolution_mode="Same"),
        "conv 1x1": lambda: L.ConvolutionLayer(kernel_size=1, n_out=16, activation="relu"),
        "conv 3x3 stride 2": lambda: L.ConvolutionLayer(kernel_size=3, stride=2, n_out=16, activation="relu"),
        "depthwise same": lambda: L.DepthwiseConvolution2D(kernel_size=3, depth_multiplier=1, convolution_mode="Same", activation="relu"),
        "pool max 2x2": lambda: L.SubsamplingLayer(pooling_type="max", kernel_size=2, stride=2),
        "pool avg 2x2": lambda: L.SubsamplingLayer(pooling_type="avg", kernel_size=2, stride=2),
        "batch norm": lambda: L.BatchNormalization(),
    },
    "series": {
        **{f"lstm {a}": (lambda a=a: L.LSTM(n_out=16, activation=a)) for a in ("tanh", "sigmoid", "relu", "softsign")},
        "lstm wide": lambda: L.LSTM(n_out=128, activation="tanh"),
        "lstm hard gates": lambda: L.LSTM(n_out=16, activation="tanh", gate_activation_function="hardsigmoid"),
        "graves lstm": lambda: L.GravesLSTM(n_out=16, activation="tanh"),
        "graves bidirectional": lambda: L.GravesBidirectionalLSTM(n_out=16, activation="tanh"),
        **{f"simple rnn {a}": (lambda a=a: L.SimpleRnn(n_out=16, activation=a)) for a in ("tanh", "relu", "sigmoid")},
        "simple rnn layer norm": lambda: L.SimpleRnn(n_out=16, activation="tanh", has_layer_norm=True),
        **{f"bidirectional {m}": (lambda m=m: L.Bidirectional(m, L.LSTM(n_out=16, activation="tanh")))
           for m in ("concat", "add", "mul", "average")},
        "bidirectional rnn": lambda: L.Bidirectional("concat", L.SimpleRnn(n_out=16, activation="tanh")),
        "time distributed": lambda: L.TimeDistributed(L.DenseLayer(n_out=16, activation="relu")),
        "self attention": lambda: L.SelfAttentionLayer(n_out=16, n_heads=4, project_input=True),
        "self attention plain": lambda: L.SelfAttentionLayer(n_out=0, n_heads=1, project_input=False),
        "learned self attention": lambda: L.LearnedSelfAttentionLayer(n_out=16, n_heads=2, n_queries=4, project_input=True),
        "recurrent attention": lambda: L.RecurrentAttentionLayer(n_out=16, n_heads=1, project_input=True, activation="tanh"),
        **{f"conv1d {n}": (lambda o=o: L.Convolution1DLayer(n_out=16, activation="relu", **o)) for n, o in {
            "k3": {"kernel_size": 3}, "k5 same": {"kernel_size": 5, "convolution_mode": "Same"},
            "k3 causal dilation 2": {"kernel_size": 3, "dilation": 2, "convolution_mode": "Causal"},
            "k3 stride 2": {"kernel_size": 3, "stride": 2}}.items()},
        "pool1d max": lambda: L.Subsampling1DLayer(pooling_type="max", kernel_size=2, stride=2),
        "pool1d avg": lambda: L.Subsampling1DLayer(pooling_type="avg", kernel_size=2, stride=2),
        "upsampling1d": lambda: L.Upsampling1D(2),
        "zero padding1d": lambda: L.ZeroPadding1DLayer(2),
        "cropping1d": lambda: L.Cropping1D(1),
        "locally connected1d": lambda: L.LocallyConnected1D(kernel_size=3, n_out=4, activation="relu"),
    },
    "volumes": {
        "conv3d": lambda: L.Convolution3D(kernel_size=3, n_out=8, activation="relu"),
        "conv3d same stride 2": lambda: L.Convolution3D(kernel_size=3, stride=2, convolution_mode="Same", n_out=8, activation="relu"),
        "deconv3d": lambda: L.Deconvolution3D(kernel_size=2, stride=2, n_out=4, activation="relu"),
        "pool3d max": lambda: L.Subsampling3DLayer(pooling_type="max", kernel_size=2, stride=2),
        "pool3d avg": lambda: L.Subsampling3DLayer(pooling_type="avg", kernel_size=2, stride=2),
        "upsampling3d": lambda: L.Upsampling3D(2),
        "zero padding3d": lambda: L.ZeroPadding3DLayer(1),
        "cropping3d": lambda: L.Cropping3D(1),
    },
}

LOSSES: dict[str, tuple[str, Callable[..., Any]]] = {
    **dict.fromkeys(("mse", "l1", "l2", "mean_absolute_error", "mean_absolute_percentage_error", "cosine_proximity"), ("identity", normal)),
    **dict.fromkeys(("hinge", "squared_hinge", "wasserstein"), ("identity", signs)),
    **dict.fromkeys(("mean_squared_logarithmic_error", "xent"), ("sigmoid", positive)),
    "mcxent": ("softmax", one_hot), "sparse_mcxent": ("softmax", class_numbers), "kl_divergence": ("softmax", positive),
    "poisson": ("softplus", positive),
}
UPDATERS: dict[str, Callable[[], Any]] = {
    one.__name__: one for one in (T.Sgd, T.Nesterovs, T.Adam, T.AdaMax, T.Nadam, T.AMSGrad, T.AdaDelta, T.AdaGrad, T.RmsProp, T.AdaBelief,
                                  T.NoOp)}
NORMALIZATIONS = ("ClipElementWiseAbsoluteValue", "ClipL2PerLayer", "ClipL2PerParamType", "RenormalizeL2PerLayer",
                  "RenormalizeL2PerParamType")
RULES: dict[str, Callable[[Any], Any]] = {
    "l1": lambda b: b.l1(1e-3), "l2": lambda b: b.l2(1e-3), "weight decay": lambda b: b.weight_decay(1e-3),
    **{n: (lambda b, n=n: b.gradient_normalization(n).gradient_normalization_threshold(1.0)) for n in NORMALIZATIONS},
    "max norm": lambda b: b.constrain_weights(L.MaxNormConstraint(1.0, 0)),
    "min max norm": lambda b: b.constrain_weights(L.MinMaxNormConstraint(0.1, 1.0, 1.0, 0)),
    "unit norm": lambda b: b.constrain_weights(L.UnitNormConstraint(0)),
    "non negative": lambda b: b.constrain_weights(L.NonNegativeConstraint()),
}
SIZES = ("small", "large")


def _row(name: str, kind: str, given: str, size: str, layers: Made, **options: Any) -> Row:
    form = GIVEN[given]
    shape, batch = getattr(form, size)
    tolerance = 2.0 if options.get("random") else 5e-3

    def build() -> Network:
        return network(layers(), form.kind(shape), batch, **options)
    return Row(f"{given}/{name}/{size}/{kind}", kind, build, tolerance)


def layer_rows() -> Iterator[Row]:
    """Layers in both sizes, then what a network is configured with."""
    for given, rows in LAYERS.items():
        for name in rows:
            for size in SIZES:
                yield _row(name.strip("!"), "train", given, size, _with_end(given, name), random=name[0] == "!")
                if name[0] != "!":
                    yield _row(name, "infer", given, size, _with_end(given, name))
    for size in SIZES:
        yield from _types_and_masks(size)
        yield from _configured(size)


def _with_end(given: str, name: str) -> Made:
    def made() -> list[Any]:
        end = _end(given)
        return [LAYERS[given][name](), *(end[1:] if "global" in name else end)]
    return made


def _types_and_masks(size: str) -> Iterator[Row]:
    for dtype in ("DOUBLE", "HALF"):
        for given, name in (("rows", "dense relu"), ("images", "conv 3x3 same"), ("series", "lstm tanh"), ("rows", "batch norm")):
            yield _row(f"{name} {dtype.lower()}", "train", given, size, _with_end(given, name), dtype=dtype)
    for name in ("lstm tanh", "simple rnn tanh", "self attention", "bidirectional concat"):
        yield _row(f"{name} masked", "train", "series", size, _with_end("series", name), mask=True)
    words = {"mean": [lambda: L.GlobalPoolingLayer("avg")], "lstm": [lambda: L.LastTimeStep(L.LSTM(n_out=16, activation="tanh"))]}
    for name, behind in words.items():
        def made(behind: list[Callable[[], Any]] = behind) -> list[Any]:
            return [L.EmbeddingSequenceLayer(n_out=16), *[one() for one in behind], L.OutputLayer(n_out=4)]
        yield _row(f"embedding {name}", "train", "rows", size, made, whole=16)


def _configured(size: str) -> Iterator[Row]:
    def layers() -> list[Any]:
        return [L.DenseLayer(n_out=64, activation="relu"), L.OutputLayer(n_out=4)]
    for name, (activation, labels) in LOSSES.items():
        def output(name: str = name, activation: str = activation) -> list[Any]:
            return [L.OutputLayer(name, n_out=8, activation=activation)]
        yield _row(f"loss {name}", "train", "rows", size, output, labels=labels)
    for name, updater in UPDATERS.items():
        made = updater()
        made = made.with_learning_rate(1e-3) if made.has_learning_rate() else made
        yield _row(f"updater {name}", "train", "rows", size, layers, updater=made)
    for name, rule in RULES.items():
        yield _row(f"rule {name}", "train", "rows", size, layers, set_up=rule, plain=False)
