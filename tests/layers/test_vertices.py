"""Vertices: their formulas on arrays, masks, and gradients."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    AttentionVertex,
    CnnToFeedForwardPreProcessor,
    DenseLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    FrozenVertex,
    GlobalPoolingLayer,
    InputType,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
    MergeVertex,
    OutputLayer,
    PoolHelperVertex,
    PreprocessorVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
    ScaleVertex,
    ShiftVertex,
    StackVertex,
    SubsetVertex,
    UnstackVertex,
)
from dl4py.layers.types.parameters import LayerScope
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ConfigurationError, ShapeError
from tests.helpers.gradcheck import check_gradients

rng = np.random.default_rng(5)
A, B, ONE = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 1))
SERIES, LONGER = rng.normal(size=(4, 3, 5)), rng.normal(size=(2, 3, 7))
IMAGES = rng.normal(size=(2, 3, 4, 5))
PREFIX = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], float)


def norm(x):
    return np.sqrt((x.reshape(len(x), -1) ** 2).sum(1))


def flipped():
    out = np.zeros_like(SERIES)
    for i, n in enumerate(PREFIX.sum(1).astype(int)):
        out[i, :, :n] = SERIES[i, :, :n][:, ::-1]
    return out


def padded():
    out = np.zeros((6, 3, 7))
    out[:4, :, :5], out[4:] = SERIES, LONGER
    return out


CASES = [
    (MergeVertex(), [A, ONE], None, np.concatenate([A, ONE], 1)),
    (MergeVertex(merge_axis=2), [SERIES, SERIES], None, np.concatenate([SERIES, SERIES], 2)),
    (ElementWiseVertex("Add"), [A, B, ONE], None, A + B + ONE),
    (ElementWiseVertex("Subtract"), [A, B], None, A - B),
    (ElementWiseVertex("Product"), [A, B, ONE], None, A * B * ONE),
    (ElementWiseVertex("Average"), [A, B, ONE], None, (A + B + ONE) / 3),
    (ElementWiseVertex("Max"), [A, B, ONE], None, np.maximum(np.maximum(A, B), ONE)),
    (ScaleVertex(2.5), [A], None, 2.5 * A),
    (ShiftVertex(-1.0), [A], None, A - 1),
    (L2Vertex(), [IMAGES, IMAGES[::-1].copy()], None, norm(IMAGES - IMAGES[::-1])[:, None]),
    (L2NormalizeVertex(), [SERIES], None, SERIES / norm(SERIES)[:, None, None]),
    (L2NormalizeVertex(dimension=(1,)), [SERIES], None, SERIES / np.sqrt((SERIES ** 2).sum(1, keepdims=True))),
    (SubsetVertex(1, 2), [SERIES], None, SERIES[:, 1:3]),
    (ReshapeVertex(-1, 5, 3), [SERIES], None, SERIES.reshape(-1, 5, 3)),
    (ReshapeVertex("f", (4, 5, 3)), [SERIES], None, SERIES.reshape((4, 5, 3), order="F")),
    (StackVertex(), [A, B], None, np.concatenate([A, B])),
    (StackVertex(), [SERIES, LONGER], None, padded()),
    (UnstackVertex(1, 2), [A], None, A[2:]),
    (PoolHelperVertex(), [IMAGES], None, IMAGES[:, :, 1:, 1:]),
    (PreprocessorVertex(CnnToFeedForwardPreProcessor(4, 5, 3)), [IMAGES], None, IMAGES.reshape(2, -1)),
    (FrozenVertex(ScaleVertex(2.0)), [A], None, 2 * A),
    (LastTimeStepVertex(), [SERIES], None, SERIES[:, :, -1]),
    (LastTimeStepVertex("x"), [SERIES, SERIES], [None, PREFIX], SERIES[np.arange(4), :, [4, 1, 2, 0]]),
    (DuplicateToTimeSeriesVertex("x"), [A, SERIES], None, np.repeat(A[:, :, None], 5, 2)),
    (ReverseTimeSeriesVertex(), [SERIES], None, SERIES[:, :, ::-1]),
    (ReverseTimeSeriesVertex("x"), [SERIES, SERIES], [None, PREFIX], flipped()),
]


def built(vertex, sd, inputs, masks):
    masks = [None if m is None else sd.constant(np.asarray(m)) for m in masks or [None] * len(inputs)]
    return vertex.define_vertex(sd, list(inputs), LayerScope("v", {}), masks), masks


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("vertex", "inputs", "masks", "expected"), CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_values_and_gradients(vertex, inputs, masks, expected):
    sd = SameDiff.create()
    unknown = [sd.placeholder(f"x{i}", DataType.DOUBLE, *[-1] * x.ndim) for i, x in enumerate(inputs)]   # as in networks
    out = built(vertex, sd, unknown, masks)[0].eval({f"x{i}": x for i, x in enumerate(inputs)})
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    check_gradients(lambda sd, **given: built(vertex, sd, given.values(), masks)[0], {f"x{i}": x for i, x in enumerate(inputs)}, order=1)


def forwarded(vertex, inputs, masks):
    sd = SameDiff.create()
    given = [sd.constant(np.asarray(x)) for x in inputs]
    found = vertex.feed_forward_masks(sd, built(vertex, sd, given, masks)[1], given)
    return None if found is None else found.eval()


@pytest.mark.parametrize("vertex", [MergeVertex(), ElementWiseVertex("Add")])
def test_masks_are_joined_by_or(vertex):
    other = PREFIX[::-1].copy()
    np.testing.assert_array_equal(forwarded(vertex, [SERIES, SERIES], [PREFIX, other]), np.maximum(PREFIX, other))
    assert forwarded(vertex, [SERIES, SERIES], [PREFIX, None]) is None


def test_masks_of_stacked_series():
    assert forwarded(StackVertex(), [SERIES, LONGER], None) is None
    found = forwarded(StackVertex(), [SERIES, LONGER], [PREFIX, None])
    np.testing.assert_array_equal(found[:4], np.pad(PREFIX, ((0, 0), (0, 2))))
    np.testing.assert_array_equal(found[4:], 1)
    np.testing.assert_array_equal(forwarded(UnstackVertex(1, 2), [SERIES], [PREFIX]), PREFIX[2:])


def test_the_last_step_ends_the_mask():
    assert forwarded(LastTimeStepVertex("x"), [SERIES, SERIES], [PREFIX, PREFIX]) is None
    np.testing.assert_array_equal(forwarded(DuplicateToTimeSeriesVertex("x"), [A, SERIES], [None, PREFIX]), PREFIX)


def test_equal_points_have_a_finite_gradient():
    sd = SameDiff.create()
    x, y = sd.var("x", A), sd.var("y", A.copy())
    sd.set_loss_variables(L2Vertex().define_vertex(sd, [x, y], LayerScope("v", {}), [None, None]).sum())
    np.testing.assert_array_equal(sd.calculate_gradients({}, "x")["x"], 0)


def graph(vertex, *sources, inputs=("a",), n=3):
    builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs(*inputs).add_layer("d", DenseLayer(n_in=3, n_out=3), "a")
    builder.add_vertex("v", vertex, *sources).add_layer("o", OutputLayer(n_in=n, n_out=2), "v").set_outputs("o")
    return ComputationGraph(builder.build()).init()


def test_errors():
    with pytest.raises(ConfigurationError, match="names the network input 'b'; inputs: a"):
        graph(LastTimeStepVertex("b"), "d")
    with pytest.raises(ConfigurationError, match="Subtract takes 2 inputs; got 3"):
        graph(ElementWiseVertex("Subtract"), "d", "d", "a").output(A)
    with pytest.raises(ConfigurationError, match="0 <= from < stack_size"):
        UnstackVertex(2, 2)
    with pytest.raises(ShapeError, match="two arrays of one shape"):
        graph(L2Vertex(), "d", "b", inputs=("a", "b"), n=1).output(A, SERIES)


@pytest.mark.parametrize("given", [InputType.feed_forward(3), InputType.recurrent(3, 4), InputType.convolutional(2, 2, 3)])
def test_a_subset_lies_within_its_input(given):
    assert SubsetVertex(1, 2).output_type(given).array_shape()[1] == 2
    with pytest.raises(ConfigurationError, match="features 1 to 3, counted from 0; its input has 3"):
        SubsetVertex(1, 3).output_type(given)


def test_attention_without_projection():
    queries, keys, values = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 2, 5))
    scores = np.einsum("nfk,nfq->nkq", keys, queries) / np.sqrt(3)
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    sd = SameDiff.create()
    out, _ = built(AttentionVertex(n_in_queries=3, n_in_keys=3, n_in_values=2), sd, [sd.constant(x) for x in (queries, keys, values)], None)
    np.testing.assert_allclose(out.eval(), np.einsum("nsk,nkq->nsq", values, weights), rtol=1e-12)


@pytest.mark.parametrize("order", ["NCW", "NWC"])
def test_pooled_series_merge_with_rows_made_of_them(order):
    builder = NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").graph_builder().add_inputs("x")
    builder.add_layer("pooled", GlobalPoolingLayer("AVG"), "x").add_layer("deep", DenseLayer(n_out=2, activation="tanh"), "pooled")
    builder.add_vertex("both", MergeVertex(), "pooled", "deep").add_layer("out", OutputLayer(n_out=2), "both").set_outputs("out")
    net = ComputationGraph(builder.set_input_types(InputType.recurrent(3, 5, order)).build()).init()
    assert net.get_layer("out").get_config().n_in == 5
    found = net.feed_forward(SERIES if order == "NCW" else SERIES.transpose(0, 2, 1))
    np.testing.assert_allclose(found["both"], np.hstack([SERIES.mean(2), found["deep"]]))


@pytest.mark.parametrize("formats", [("NWC", "NWC"), ("NWC", None), (None, "NWC"), ("NCW", "NWC")])
def test_merged_rows_do_not_say_how_the_steps_they_were_stood(formats):
    """As in DL4J: behind them series are NCW unless a layer says otherwise."""
    merged = MergeVertex().output_type(*[InputType.feed_forward(2, form) for form in formats])
    assert merged.time_distributed_format is None
    assert MergeVertex().output_type(InputType.feed_forward(2, "NWC")).time_distributed_format.name == "NWC"
