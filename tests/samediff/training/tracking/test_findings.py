"""What the doctor finds in data, activations and gradients, each with what helps; and what is in order."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.training.tracking.findings import of_activations, of_features, of_gradients, of_labels

R = np.random.default_rng(0)
GOOD = R.normal(size=(40, 3))
DEAD = np.maximum(R.normal(size=(40, 6)), 0) * [0, 0, 1, 1, 1, 1]
NAN = np.where(GOOD > 2, np.nan, GOOD) + np.where(np.arange(3) == 0, np.inf, 0)
HOT = np.eye(3)[np.arange(30) % 3]
RARE = np.eye(2)[(np.arange(40) == 7).astype(int)]


@pytest.mark.parametrize(("found", "kinds"), [
    (of_features(GOOD), []), (of_features(GOOD * [1, 1, 50]), ["data not normalized"]), (of_features(GOOD + 100), ["data not normalized"]),
    (of_features(GOOD * [1, 1, 1e-3]), ["data not normalized"]), (of_features(GOOD * [1, 1, 0]), ["constant columns"]),
    (of_features(NAN), ["not finite"]), (of_features(R.integers(0, 255, (4, 3, 8, 8))), ["data not normalized"]),
    (of_features(R.random((4, 3, 8, 8))), []), (of_features(np.zeros((2, 0))), []), (of_features(np.array([["a"]])), []),
    (of_labels(HOT, "lossmcxent", "softmax"), []), (of_labels(2 * HOT, "lossmcxent", "softmax"), ["labels out of range"]),
    (of_labels(np.ones((9, 2)), "lossmcxent", "softmax"), ["labels out of range"]),
    (of_labels(RARE, "lossnegativeloglikelihood", "softmax"), ["classes imbalanced"]),
    (of_labels(RARE[:, 1:], "lossbinaryxent", "sigmoid"), ["classes imbalanced"]), (of_labels(GOOD * 9, "lossmse", "identity"), []),
    (of_labels(GOOD * 9, "lossmse", "tanh"), ["labels out of range"]), (of_labels(HOT * np.nan, "lossmse", "identity"), ["not finite"]),
    (of_labels(np.full((5, 1), 7.0), "losssparsemcxent", "softmax"), []), (of_labels(2 * HOT - 1, "losshinge", "identity"), []),
    (of_labels(np.moveaxis(np.eye(2)[R.integers(0, 2, (6, 5))], -1, 1), "lossmcxent", "softmax"), []),
    (of_activations("a", DEAD, "relu"), ["dead units"]), (of_activations("a", DEAD, "tanh"), []),
    (of_activations("a", DEAD[:, 2:], "relu"), []),
    (of_activations("a", DEAD.T.reshape(6, 8, 5).transpose(1, 0, 2), "leakyrelu"), ["dead units"]),
    (of_activations("a", np.tanh(9 * GOOD), "tanh"), ["saturated activations"]), (of_activations("a", np.tanh(GOOD), "tanh"), []),
    (of_activations("a", 1 / (1 + np.exp(-20 * GOOD)), "sigmoid"), ["saturated activations"]),
    (of_activations("a", NAN, "relu"), ["not finite"]),
    (of_gradients({"w": GOOD, "v": GOOD}, {"w": GOOD, "v": GOOD}), []),
    (of_gradients({"w": 1e4 * GOOD}, {"w": GOOD}), ["exploding gradient"]),
    (of_gradients({"w": GOOD, "v": 1e-9 * GOOD}, {"w": GOOD, "v": GOOD}), ["vanishing gradient"]),
    (of_gradients({"b": 1e-9 * GOOD[0], "w": GOOD}, {"b": GOOD[0], "w": GOOD}), []),
    (of_gradients({"w": NAN}, {"w": GOOD}), ["not finite"]),
    (of_gradients({}, {}), [])])
def test_what_is_found(found, kinds):
    assert [f.kind for f in found] == kinds
    assert all(f.remedy and f.what and f.where and f.kind in str(f) for f in found)
