"""Convolution and recurrent ops keep their meaning in files; control flow stays."""
from __future__ import annotations

import numpy as np

from dl4py.samediff import Conv2DConfig, DataType, LSTMLayerConfig, LSTMLayerWeights, Pooling2DConfig, SameDiff


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_round_trip(tmp_path):
    sd = SameDiff.create()
    x, mask = sd.placeholder("x", DataType.FLOAT, -1, 2, -1), sd.placeholder("mask", DataType.FLOAT, -1, -1)
    lstm = [sd.var(n, numbers(*s)) for n, s in (("w", (2, 12)), ("rw", (3, 12)), ("b", (12,)))]
    h = sd.rnn.dl4j_lstm(["h"], x, *lstm, None, None, mask, "tanh", "hard_sigmoid")[0]
    g = sd.rnn.dl4j_simple_rnn(["g"], h, sd.var("w2", numbers(3, 2)), sd.var("r2", numbers(2, 2)), None, "relu")[0]
    weights = LSTMLayerWeights(weights=sd.var("w3", numbers(2, 4)), r_weights=sd.var("r3", numbers(1, 4)))
    sd.rnn.lstm_layer(["f"], g.permute(2, 0, 1), weights, LSTMLayerConfig(direction_mode="BWD"))
    image = sd.var("image", numbers(1, 4, 4, 2))
    blocks = sd.cnn.space_to_batch("blocks", image, [2, 2], [0, 0], [0, 2])
    sd.cnn.max_pooling2d("pooled", blocks, Pooling2DConfig(k_h=2, k_w=2, is_nhwc=True))
    sd.cnn.conv2d("convolved", image, sd.var("cw", numbers(3, 2, 2, 2)),
                  Conv2DConfig(is_nhwc=True, padding_mode="SAME", weights_format="OIYX"))
    sd.save(tmp_path / "graph.fb", False)
    loaded = SameDiff.load(tmp_path / "graph.fb", False)
    feeds = {"x": numbers(2, 2, 4), "mask": np.array([[1, 0, 1, 1], [1, 1, 0, 0]], np.float32)}
    for name in ("h", "g", "f", "blocks", "pooled", "convolved"):
        assert np.array_equal(sd.output(feeds, name)[name], loaded.output(feeds, name)[name]), name


def test_control_flow_is_kept(tmp_path):
    sd = SameDiff.create()
    x, i = sd.var("x", numbers(2)), sd.constant(np.int32(0))

    def body(sd, v):
        return [v[0] + 1, v[1] + sd.if_cond(lambda sd: v[1].sum() > 1, lambda sd: x, lambda sd: -x)]
    sd.while_loop(["n", "y"], None, [i, x], lambda sd, v: v[0] < 3, body)
    sd.scan(lambda sd, c, e: ([c[0] + e[0]], [c[0] * x]), [x], [sd.var("rows", numbers(3, 2))])[1][0].rename("z")
    sd.save(tmp_path / "graph.fb", False)
    loaded = SameDiff.load(tmp_path / "graph.fb", False)
    for name in ("n", "y", "z"):
        assert np.array_equal(sd.output({}, name)[name], loaded.output({}, name)[name])
