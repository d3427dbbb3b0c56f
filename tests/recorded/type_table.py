"""The table of automatic preprocessors, nIn and output types for every layer and input type (case types_table of area layers)."""

from __future__ import annotations

import json
import re

from .api import from_java
from .core import Case, Check, find, snake

# name in the table -> class, positional arguments of the Builder, options; a name in angle brackets is another row's layer
LAYERS: dict[str, tuple] = {
    "DenseLayer": ("DenseLayer", [], {"nOut": 3}),
    "OutputLayer": ("OutputLayer", [], {"nOut": 3}),
    "AutoEncoder": ("AutoEncoder", [], {"nOut": 3}),
    "EmbeddingLayer": ("EmbeddingLayer", [], {"nOut": 3}),
    "EmbeddingSequenceLayer": ("EmbeddingSequenceLayer", [], {"nOut": 3}),
    "ElementWiseMultiplicationLayer": ("ElementWiseMultiplicationLayer", [], {"nOut": 6}),
    "VariationalAutoencoder": ("VariationalAutoencoder", [], {"nOut": 3}),
    "CenterLossOutputLayer": ("CenterLossOutputLayer", [], {"nOut": 3}),
    "LSTM": ("LSTM", [], {"nOut": 3}),
    "LSTM NWC": ("LSTM", [], {"nOut": 3, "dataFormat": "RNNFormat.NWC"}),
    "GravesLSTM": ("GravesLSTM", [], {"nOut": 3}),
    "GravesBidirectionalLSTM": ("GravesBidirectionalLSTM", [], {"nOut": 3}),
    "SimpleRnn": ("SimpleRnn", [], {"nOut": 3}),
    "RnnOutputLayer": ("RnnOutputLayer", [], {"nOut": 3}),
    "RnnLossLayer": ("RnnLossLayer", [], {}),
    "SelfAttentionLayer": ("SelfAttentionLayer", [], {"nOut": 4, "nHeads": 2, "projectInput": True}),
    "RecurrentAttentionLayer": ("RecurrentAttentionLayer", [], {"nOut": 4, "nHeads": 2, "projectInput": True}),
    "ConvolutionLayer": ("ConvolutionLayer", [2, 2], {"nOut": 3}),
    "ConvolutionLayer NHWC": ("ConvolutionLayer", [2, 2], {"nOut": 3, "dataFormat": "CNN2DFormat.NHWC"}),
    "ConvolutionLayer Same": ("ConvolutionLayer", [2, 2], {"nOut": 3, "stride": (2, 2), "convolutionMode": "ConvolutionMode.Same"}),
    "Deconvolution2D": ("Deconvolution2D", [2, 2], {"nOut": 3, "stride": (2, 2)}),
    "SeparableConvolution2D": ("SeparableConvolution2D", [2, 2], {"nOut": 3}),
    "DepthwiseConvolution2D": ("DepthwiseConvolution2D", [2, 2], {"depthMultiplier": 2}),
    "SubsamplingLayer": ("SubsamplingLayer", [], {"kernelSize": (2, 2), "stride": (2, 2)}),
    "LocallyConnected2D": ("LocallyConnected2D", [], {"nOut": 3}),
    "CnnLossLayer": ("CnnLossLayer", [], {}),
    "LocalResponseNormalization": ("LocalResponseNormalization", [], {}),
    "Upsampling2D": ("Upsampling2D", [2], {}),
    "ZeroPaddingLayer": ("ZeroPaddingLayer", [1, 1], {}),
    "Cropping2D": ("Cropping2D", [1, 0], {}),
    "Convolution1DLayer": ("Convolution1DLayer", [2], {"nOut": 3}),
    "Convolution1DLayer Causal": ("Convolution1DLayer", [2], {"nOut": 3, "convolutionMode": "ConvolutionMode.Causal"}),
    "Subsampling1DLayer": ("Subsampling1DLayer", [], {}),
    "LocallyConnected1D": ("LocallyConnected1D", [], {"nOut": 3}),
    "Upsampling1D": ("Upsampling1D", [2], {}),
    "ZeroPadding1DLayer": ("ZeroPadding1DLayer", [1, 2], {}),
    "Cropping1D": ("Cropping1D", [1, 1], {}),
    "Convolution3D": ("Convolution3D", [2, 2, 2], {"nOut": 3}),
    "Deconvolution3D": ("Deconvolution3D", [], {"kernelSize": (2, 2, 2), "nOut": 3}),
    "Subsampling3DLayer": ("Subsampling3DLayer", [], {"kernelSize": (2, 2, 2)}),
    "Upsampling3D": ("Upsampling3D", [2], {}),
    "ZeroPadding3DLayer": ("ZeroPadding3DLayer", [1, 1, 1], {}),
    "Cropping3D": ("Cropping3D", [0, 1, 0], {}),
    "BatchNormalization": ("BatchNormalization", [], {}),
    "GlobalPoolingLayer": ("GlobalPoolingLayer", ["PoolingType.MAX"], {}),
}


def resolve(v):
    if isinstance(v, str):
        head, name = v.split(".")
        return getattr(find(head), name)
    return v


def build(cls: str, args: list, options: dict):
    b = find(cls).Builder(*[resolve(a) for a in args])
    for k, v in options.items():
        method = getattr(b, snake(k))
        b = method(*v) if isinstance(v, tuple) else method(resolve(v))
    return b.build()


def input_type(text: str):
    """An InputType from DL4J's text for it (or the table's column head); None where the text says more than a factory can."""
    kind, inner = re.fullmatch(r"(?:InputType)?(\w+)\((.*)\)", text).groups()
    parts = [p.strip() for p in inner.split(",")]
    n = [int(p.split("=")[-1]) for p in parts if re.fullmatch(r"(\w+=)?\d+", p)]
    words = [p.split("=")[-1] for p in parts if not re.fullmatch(r"(\w+=)?\d+", p)]
    if "null" in words:
        return None
    make, kind = find("InputType"), kind[0].lower() + kind[1:]
    if kind == "feedForward":
        return None if words else make.feed_forward(*n)
    if kind == "recurrent":
        return make.recurrent(*n, *([getattr(find("RNNFormat"), words[0])] if words else []))
    if kind == "convolutional":
        return make.convolutional(*n, *([getattr(find("CNN2DFormat"), words[0])] if words else []))
    if kind == "convolutionalFlat":
        return make.convolutional_flat(*n)
    return getattr(make, snake("convolutional3D"))(getattr(find("Convolution3D").DataFormat, words[0]), *n)


def check(case: Case, c: Check):
    for row, (cls, args, options) in LAYERS.items():
        for column, want in case.get("table").get(row, {}).items():
            if "preprocessor_error" not in want:
                cell(c, f"{row} on {column}", build(cls, args, options), input_type(column), want)


def cell(c: Check, what: str, layer, current, want: dict):
    if hasattr(layer, "set_convolution_mode") and getattr(layer, "get_convolution_mode", lambda: 1)() is None:
        layer.set_convolution_mode(find("ConvolutionMode").Truncate)
    p = layer.get_pre_processor_for_input_type(current)
    if want["preprocessor"] is None:
        c.equal(f"{what}: no preprocessor", p is None, True)
    else:
        name, text = want["preprocessor"].split(" ", 1)
        c.equal(f"{what}: {want['preprocessor']}", p == from_java({"@class": name, **json.loads(text)}), True)
        current = p.get_output_type(current)
    if "setNIn_error" in want or "output_type_error" in want:
        return
    layer = layer.set_n_in(current, True) or layer
    if "nIn" in want:
        c.equal(f"{what}: n_in", int(layer.get_n_in() if hasattr(layer, "get_n_in") else layer.n_in), want["nIn"])
    expected = input_type(want["output_type"])
    if "1D" in what and "timeSeriesLength" not in want["output_type"]:  # an unknown length has no canonical value there
        return
    if expected is not None:
        c.equal(f"{what}: output type {want['output_type']}", layer.get_output_type(0, current) == expected, True)
