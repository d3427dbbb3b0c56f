"""A dense network for real digits, written op by op in SameDiff: TrainingConfig, fit, History, evaluation, files.

Run: python examples/samediff_mnist.py
"""
from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from dl4py.samediff import DataType, SameDiff, TrainingConfig
from dl4py.samediff.data import DataSet, ListDataSetIterator
from dl4py.samediff.evaluation import Evaluation
from dl4py.samediff.training import Adam, History

DATA = Path(__file__).parent / "data" / "mnist_digits.npz"


def build(hidden: int = 128) -> SameDiff:
    """relu(images W0 + b0) W1 + b1, and the softmax cross entropy with the labels."""
    rng = np.random.default_rng(5)
    sd = SameDiff.create()
    images = sd.placeholder("images", DataType.FLOAT, -1, 784)
    labels = sd.placeholder("labels", DataType.FLOAT, -1, 10)
    w0 = sd.var("w0", rng.normal(0, np.sqrt(2 / 784), (784, hidden)).astype(np.float32))
    b0 = sd.var("b0", np.zeros(hidden, np.float32))
    w1 = sd.var("w1", rng.normal(0, np.sqrt(2 / hidden), (hidden, 10)).astype(np.float32))
    b1 = sd.var("b1", np.zeros(10, np.float32))

    activations = sd.nn.relu("activations", images.mmul(w0) + b0, 0)
    logits = activations.mmul(w1).add("logits", b1)
    sd.nn.softmax("digits", logits)
    sd.loss.softmax_cross_entropy("loss", labels, logits, None)
    sd.set_loss_variables("loss")
    return sd


def digits() -> tuple[DataSet, DataSet]:
    """Training and test digits: images (batch, 784) in [0, 1], one-hot labels."""
    with np.load(DATA) as z:
        train, test = (DataSet(z[f"{part}_images"].reshape(-1, 784).astype(np.float32) / 255,
                               np.eye(10, dtype=np.float32)[z[f"{part}_labels"]]) for part in ("train", "test"))
    return train, test


def main(epochs: int = 15) -> float:
    """Train with a validation after each epoch, evaluate, save and load; returns the accuracy on the test digits."""
    train, test = digits()
    sd = build()
    print(sd.summary())

    sd.set_training_config(TrainingConfig.builder()
                           .updater(Adam(2e-3))
                           .l2(1e-4)
                           .data_set_feature_mapping("images")
                           .data_set_label_mapping("labels")
                           .validation_evaluation("digits", 0, Evaluation())
                           .build())
    train.shuffle(1)
    history: History = sd.fit(ListDataSetIterator(train.as_list(), 32), epochs, ListDataSetIterator(test.as_list(), 128))

    losses = history.loss_curve().mean_loss("loss")
    accuracies = history.validation_eval("digits", 0, Evaluation.Metric.ACCURACY)
    for epoch, (loss, accuracy) in enumerate(zip(losses, accuracies), 1):
        print(f"epoch {epoch:2}  loss {loss:.4f}  test accuracy {accuracy:6.1%}")

    evaluation = Evaluation()
    sd.evaluate(ListDataSetIterator(test.as_list(), 128), "digits", evaluation)
    print(evaluation.stats())

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.fb"
        sd.save(path, save_updater_state=True)
        again = SameDiff.load(path)
    feeds = {"images": test.features}
    same = np.array_equal(sd.output_single(feeds, "digits"), again.output_single(feeds, "digits"))
    print(f"saved and loaded: {'the same outputs' if same else 'OTHER OUTPUTS'}, {again.get_iteration_count()} iterations done")
    return evaluation.accuracy()


if __name__ == "__main__":
    main()
