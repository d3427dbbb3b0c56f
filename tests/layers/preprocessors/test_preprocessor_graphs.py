from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    CNN2DFormat,
    Cnn3DToFeedForwardPreProcessor,
    CnnToFeedForwardPreProcessor,
    CnnToRnnPreProcessor,
    ComposableInputPreProcessor,
    FeedForwardToCnn3DPreProcessor,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    KerasFlattenRnnPreprocessor,
    PermutePreprocessor,
    ReshapePreprocessor,
    RNNFormat,
    RnnToCnnPreProcessor,
    RnnToFeedForwardPreProcessor,
    TensorFlowCnnToFeedForwardPreProcessor,
)
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError
from dl4py.samediff.families.gradient import gradients

N, T = 3, 4
CASES = [
    (CnnToFeedForwardPreProcessor(3, 2, 4), (N, 4, 3, 2)),
    (CnnToFeedForwardPreProcessor(3, 2, 4, CNN2DFormat.NHWC), (N, 3, 2, 4)), (CnnToFeedForwardPreProcessor(3, 2, 4), (N, 24)),
    (TensorFlowCnnToFeedForwardPreProcessor(3, 2, 4), (N, 4, 3, 2)), (Cnn3DToFeedForwardPreProcessor(2, 3, 2, 4), (N, 4, 2, 3, 2)),
    (FeedForwardToCnnPreProcessor(3, 2, 4), (N, 24)), (FeedForwardToCnnPreProcessor(3, 2, 4), (N, 4, 3, 2)),
    (FeedForwardToCnn3DPreProcessor(2, 3, 2, 4), (N, 48)), (RnnToFeedForwardPreProcessor(), (N, 5, T)),
    (RnnToFeedForwardPreProcessor(RNNFormat.NWC), (N, T, 5)), (RnnToFeedForwardPreProcessor(), (N, 5)),
    (FeedForwardToRnnPreProcessor(), (T * N, 5)), (FeedForwardToRnnPreProcessor(RNNFormat.NWC), (T * N, 5)),
    (CnnToRnnPreProcessor(3, 2, 4), (T * N, 4, 3, 2)), (RnnToCnnPreProcessor(3, 2, 4), (N, 24, T)),
    (KerasFlattenRnnPreprocessor(5, T), (N, 5, T)), (PermutePreprocessor(2, 1), (N, 5, T)),
    (ReshapePreprocessor((5, T), (2, 10)), (N, 5, T)),
    (ComposableInputPreProcessor(FeedForwardToCnnPreProcessor(3, 2, 4), CnnToFeedForwardPreProcessor(3, 2, 4)), (N, 24)),
]
IDS = [f"{type(p).__name__}-{len(s)}" for p, s in CASES]


def graph(shape, known=False):
    sd = SameDiff.create()
    batch = sd.placeholder("batch", DataType.DOUBLE, -1)
    return sd, batch, sd.placeholder("x", DataType.DOUBLE, *(shape if known else [-1] * len(shape)))


@pytest.mark.parametrize(("preprocessor", "shape"), CASES, ids=IDS)
def test_graph_and_arrays_agree(preprocessor, shape):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    sd, batch, variable = graph(shape)
    y = preprocessor.define(sd, variable, batch)
    feeds = {"x": x, "batch": np.zeros(N)}
    got = sd.output(feeds, y.name())[y.name()]
    assert got.tolist() == preprocessor.pre_process(x, N).tolist()
    assert preprocessor.define(sd, variable).name()            # the first placeholder tells the minibatch
    epsilon = rng.normal(size=got.shape)
    found = gradients(sd, [], [variable], {y.name(): sd.constant(epsilon)})["x"].name()
    assert sd.output(feeds, found)[found].reshape(-1).tolist() == preprocessor.backprop(epsilon, N).reshape(-1).tolist()


@pytest.mark.parametrize(("preprocessor", "shape", "mask"), [
    (RnnToFeedForwardPreProcessor(), (N, 5, T), (N, T)), (FeedForwardToRnnPreProcessor(), (T * N, 5), (T * N, 1)),
    (RnnToCnnPreProcessor(3, 2, 4), (N, 24, T), (N, T)), (CnnToRnnPreProcessor(3, 2, 4), (T * N, 4, 3, 2), (T * N, 1, 1, 1)),
    (CnnToFeedForwardPreProcessor(3, 2, 4), (N, 4, 3, 2), (N, 1, 1, 1)), (FeedForwardToCnnPreProcessor(3, 2, 4), (N, 24), (N, 1)),
], ids=lambda v: type(v).__name__)
def test_masks_agree(preprocessor, shape, mask):
    values = np.random.default_rng(0).normal(size=mask)
    sd, batch, x = graph(shape)
    given = sd.placeholder("mask", DataType.DOUBLE, *[-1] * len(mask))
    found = preprocessor.define_mask(sd, given, x, batch)
    got = sd.output({"x": np.zeros(shape), "mask": values, "batch": np.zeros(N)}, found.name())[found.name()]
    assert got.tolist() == preprocessor.mask(values, N).tolist()
    assert preprocessor.define_mask(sd, None, x, batch) is None


def test_sizes_may_be_left_to_the_data():
    sd, batch, x = graph((N, 4, 3, 2))
    y = CnnToFeedForwardPreProcessor().define(sd, x, batch).name()
    assert sd.output({"x": np.zeros((N, 4, 3, 2))}, y)[y].shape == (N, 24)


def test_wrong_sizes_name_the_preprocessor():
    sd, batch, x = graph((N, 25), known=True)
    with pytest.raises(ShapeError, match=r"FeedForwardToCnnPreProcessor.*24.*25"):
        FeedForwardToCnnPreProcessor(3, 2, 4).define(sd, x, batch)
    with pytest.raises(ShapeError, match=r"time series"):
        RnnToFeedForwardPreProcessor().define(sd, sd.placeholder("y", DataType.DOUBLE, 1, 1, 1, 1), batch)
