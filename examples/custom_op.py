"""A custom op: written as a function, checked, trained inside a graph, saved and loaded.

Run: python examples/custom_op.py
"""
from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Adam, TrainingConfig
from dl4py.udf import check_op, user_op


@user_op("example.swish", version=1)
def swish(xp, x, *, beta: float = 1.0):
    """x / (1 + exp(-beta x)), which never overflows as a tanh: differentiable, fused, saved by its id and attributes."""
    return x * (1 + xp.tanh(0.5 * beta * x)) / 2


@user_op("example.rms_norm")
def rms_norm(xp, x, gain, *, eps: float = 1e-6):
    """Rows divided by their root mean square; not elementwise, so its gradient is found through graph nodes."""
    return x / xp.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain


def build() -> SameDiff:
    """A network of two layers for two numbers in, one out."""
    rng = np.random.default_rng(7)
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 2)
    labels = sd.placeholder("labels", DataType.FLOAT, -1, 1)
    w0 = sd.var("w0", rng.normal(0, 0.7, (2, 16)).astype(np.float32))
    b0 = sd.var("b0", np.zeros(16, np.float32))
    w1 = sd.var("w1", rng.normal(0, 0.3, (16, 1)).astype(np.float32))
    gain = sd.var("gain", np.ones(16, np.float32))
    hidden = swish("hidden", x.mmul(w0) + b0, beta=1.5)          # the same as sd.example.swish(...)
    normed = rms_norm("normed", hidden, gain)
    prediction = normed.mmul("prediction", w1)
    sd.loss.mean_squared_error("loss", labels, prediction, None)
    return sd


def data(n: int = 256) -> DataSet:
    """Points of a saddle."""
    x = np.random.default_rng(1).uniform(-1, 1, (n, 2)).astype(np.float32)
    return DataSet(x, x[:, :1] * x[:, 1:])


def main(epochs: int = 300) -> tuple[float, float]:
    """Check, train, save, load; returns the loss before and after."""
    print(check_op(swish, [np.linspace(-2, 2, 6)], {"beta": 1.5}))
    print(check_op(rms_norm, [np.random.default_rng(0).normal(size=(3, 4)), np.ones(4)]))

    sd, points = build(), data()
    feeds = {"x": points.features, "labels": points.labels}
    before = float(sd.output_single(feeds, "loss"))
    sd.set_training_config(TrainingConfig(updater=Adam(0.02), data_set_feature_mapping="x", data_set_label_mapping="labels"))
    sd.fit(points, epochs)
    after = float(sd.output_single(feeds, "loss"))
    print(f"loss before training {before:.4f}, after {after:.5f}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "custom.fb"
        sd.save(path)
        loaded = SameDiff.load(path)
    same = np.array_equal(loaded.output_single(feeds, "prediction"), sd.output_single(feeds, "prediction"))
    print(f"saved and loaded: {[n.op.id for n in loaded.nodes() if n.op.id.startswith('example.')]}, same predictions: {same}")
    return before, after


if __name__ == "__main__":
    main()
