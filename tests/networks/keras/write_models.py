"""Writes the models of ``models/`` with Keras 3, with inputs, results, and parameters behind a step of training.

Run ``KERAS_BACKEND=jax python -m tests.networks.keras.write_models [NAME ...]`` where Keras is installed.
"""
from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "models"
RATE = 0.1
WITH_HDF5 = ("words", "graph", "translating")


def models():
    """Small models by name: what makes one, and the number of words where inputs are indices."""
    import keras
    from keras import layers as L
    made = {}

    def sequential(name, shape, *parts, words=0):
        made[name] = keras.Sequential([keras.Input(shape), *parts], name=name), words
    sequential("images", (6, 5, 2), L.Conv2D(3, (3, 2), padding="same", activation="relu"), L.BatchNormalization(), L.MaxPooling2D(2),
               L.SeparableConv2D(2, 2), L.Flatten(), L.Dense(4, activation="gelu"),
               L.LayerNormalization(), L.Dense(2, activation="softmax"))
    sequential("words", (6,), L.Embedding(9, 3, mask_zero=True), L.Bidirectional(L.LSTM(2, return_sequences=True)),
               L.GRU(3, return_sequences=True), L.TimeDistributed(L.Dense(2, activation="tanh")), words=9)
    sequential("series", (7, 2), L.Conv1D(3, 2, padding="causal", activation="silu"), L.BatchNormalization(scale=False),
               L.LSTM(3, return_sequences=True, recurrent_activation="hard_sigmoid"), L.GlobalAveragePooling1D(), L.Dense(1))
    a, b = keras.Input((4, 3), name="a"), keras.Input((4, 3), name="b")
    inner = keras.Sequential([keras.Input((4, 3)), L.Dense(3, activation="elu"), L.Dense(3)], name="inner")
    found = L.MultiHeadAttention(2, 2, name="attention")(L.Add()([inner(a), b]), b)
    joined = L.Concatenate()([found * 2.0, a])
    made["graph"] = keras.Model([a, b], [L.Flatten(name="flat")(joined), L.Dense(2, name="dense")(joined)], name="graph"), 0
    def encoded(x):
        found = shared(x)
        return keras.ops.mean(found, axis=1) - found[:, -1]
    shared = L.Bidirectional(L.GRU(2, return_sequences=True), name="shared")
    a, b = keras.Input((4, 3), name="a"), keras.Input((5, 3), name="b")
    _, h, c = L.LSTM(3, return_state=True, name="reading")(a)
    written, *_ = L.LSTM(3, return_sequences=True, return_state=True, name="writing")(b, initial_state=[h, c])
    grouped = L.Conv1DTranspose(2, 3, strides=2, padding="same", output_padding=1)(L.Conv1D(4, 2, groups=2)(L.Dense(4)(written)))
    made["translating"] = keras.Model([a, b], [encoded(a) * encoded(b), grouped], name="translating"), 0
    return made


def arrays_of(model, words):
    """Inputs, results, labels."""
    rng = np.random.default_rng(7)
    shapes = [(3, *i.shape[1:]) for i in model.inputs]
    inputs = [(rng.integers(0, words, s) if words else rng.normal(size=s)).astype("float32") for s in shapes]
    results = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
    results = [np.asarray(r) for r in (results if isinstance(results, list) else [results])]
    labels = [rng.uniform(0.1, 0.9, r.shape).astype("float32") for r in results]
    return inputs, results, labels


def deflate(path):
    """Store the archive packed; Keras does not pack."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def main():
    import keras
    FOLDER.mkdir(exist_ok=True)
    for name, (model, words) in models().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        keras.utils.set_random_seed(5)
        rng = np.random.default_rng(3)
        for weight in model.weights:
            value = rng.normal(size=weight.shape) * 0.5
            weight.assign(np.abs(value) + 0.1 if "variance" in weight.name else value)
        model.compile(keras.optimizers.SGD(RATE), "mse")
        inputs, results, labels = arrays_of(model, words)
        model.save(FOLDER / f"{name}.keras")
        deflate(FOLDER / f"{name}.keras")
        if name in WITH_HDF5:
            model.save(FOLDER / f"{name}.h5")
        (FOLDER / f"{name}.json").write_text(model.to_json())
        model.train_on_batch(inputs if len(inputs) > 1 else inputs[0], labels if len(labels) > 1 else labels[0])
        after = io.BytesIO()
        model.save(FOLDER / "after.keras")
        with zipfile.ZipFile(FOLDER / "after.keras") as archive:
            after.write(archive.read("model.weights.h5"))
        (FOLDER / "after.keras").unlink()
        groups = {"x": inputs, "y": results, "labels": labels}
        stored = {f"{kind}{i}": array for kind, group in groups.items() for i, array in enumerate(group)}
        np.savez_compressed(FOLDER / f"{name}.npz", after=np.frombuffer(after.getvalue(), np.uint8), **stored)


if __name__ == "__main__":
    sys.exit(main())
