"""Models of ``ai.onnx.ml``, as exporters of scikit-learn write them."""
from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx")

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import GraphError
from tests.samediff.onnx.models import one_node

X = np.random.default_rng(5).normal(size=(7, 3)).astype("float32")
W, B = np.float32([[1, -2, 0.5], [0, 1, 1], [-1, 0.5, 2]]), np.float32([0.1, -0.2, 0.3])
SCORES = X @ W.T + B
ODDS = 1 / (1 + np.exp(-SCORES[:, :1]))
#: Two trees: x0 <= 0 gives 1, else x1 > 0.5 gives 2, else 3; and x2 < 0 gives 10, else 20.
TREES = {"nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
         "nodes_featureids": [0, 0, 1, 0, 0, 2, 0, 0], "nodes_values": [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
         "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
         "nodes_truenodeids": [1, 0, 3, 0, 0, 1, 0, 0], "nodes_falsenodeids": [2, 0, 4, 0, 0, 2, 0, 0]}
FIRST = np.where(X[:, 0] <= 0, 1, np.where(X[:, 1] > 0.5, 2, 3))
SECOND = np.where(X[:, 2] < 0, 10, 20)


def leaves(kind, weights, targets):
    return {f"{kind}_treeids": [0, 0, 0, 1, 1], f"{kind}_nodeids": [1, 3, 4, 1, 2], f"{kind}_ids": targets,
            f"{kind}_weights": weights}


def softmax(x):
    return np.exp(x) / np.exp(x).sum(1, keepdims=True)


SUPPORT = np.float32([[0, 1, -1], [1, 0.5, 0]])
RBF = np.exp(-0.5 * ((X[:, None] - SUPPORT) ** 2).sum(2)) @ [2, -1] + 0.25
VOTES = np.stack([np.where(FIRST == 1, 0.75, 0) + np.where(SECOND == 10, 0.5, 0),
                  np.where(FIRST != 1, 0.6, 0) + np.where(SECOND == 20, 0.4, 0)], 1)
ROWS = [
    ("LinearRegressor", {"coefficients": W.ravel().tolist(), "intercepts": B.tolist(), "targets": 3}, [SCORES]),
    ("LinearClassifier", {"coefficients": W.ravel().tolist(), "intercepts": B.tolist(), "classlabels_ints": [4, 5, 6],
                          "post_transform": "SOFTMAX"}, [SCORES.argmax(1) + 4, softmax(SCORES)]),
    ("LinearClassifier", {"coefficients": W[0].tolist(), "intercepts": [0.1], "classlabels_ints": [4, 5], "post_transform": "LOGISTIC"},
     [(SCORES[:, 0] > 0) + 4, np.hstack([1 - ODDS, ODDS])]),
    ("SVMRegressor", {"coefficients": [2.0, -1.0], "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 3.0], "n_supports": 2, "rho": [0.25],
                      "support_vectors": SUPPORT.ravel().tolist()}, [RBF[:, None]]),
    ("TreeEnsembleRegressor", {**TREES, **leaves("target", [1.0, 2.0, 3.0, 10.0, 20.0], [0] * 5), "n_targets": 1, "base_values": [0.5]},
     [(FIRST + SECOND + 0.5)[:, None]]),
    ("TreeEnsembleRegressor", {**TREES, **leaves("target", [1.0, 2.0, 3.0, 10.0, 20.0], [0] * 5), "n_targets": 1,
                               "aggregate_function": "MAX"}, [SECOND[:, None]]),
    ("TreeEnsembleClassifier", {**TREES, **leaves("class", [0.75, 0.6, 0.6, 0.5, 0.4], [0, 1, 1, 0, 1]), "classlabels_int64s": [7, 9]},
     [np.where(VOTES.argmax(1), 9, 7), VOTES]),
    ("TreeEnsembleClassifier", {**TREES, **leaves("class", [0.1, 0.4, 0.2, 0.05, 0.45], [1] * 5), "classlabels_int64s": [0, 1]},
     None),
    ("ZipMap", {"classlabels_int64s": [0, 1, 2]}, [X])]
SHARE = np.choose(FIRST - 1, [0.1, 0.4, 0.2]) + np.where(SECOND == 10, 0.05, 0.45)


@pytest.mark.parametrize(("operator", "attributes", "expected"), ROWS, ids=[f"{r[0]}-{i}" for i, r in enumerate(ROWS)])
@pytest.mark.parametrize("open_batch", [False, True])
def test_values(operator, attributes, expected, open_batch):
    expected = [(SHARE > 0.5).astype(int), np.stack([1 - SHARE, SHARE], 1)] if expected is None else expected
    sd = SameDiff.import_onnx(one_node(operator, {"x": X}, outputs=len(expected), domain="ai.onnx.ml", open_batch=open_batch, **attributes))
    names = [f"out{i}" for i in range(len(expected))]
    found = sd.output({"x": X}, names)
    for name, value in zip(names, expected):
        np.testing.assert_allclose(found[name], value, atol=1e-5)


@pytest.mark.parametrize(("changes", "text"), [
    ({"nodes_truenodeids": [1, 0, 9, 0, 0, 1, 0, 0]}, "not there"), ({"nodes_truenodeids": [1, 0, 0, 0, 0, 1, 0, 0]}, "leads back"),
    ({"nodes_modes": ["BRANCH_LEQ"] * 7 + ["BRANCH_ELSE"]}, "BRANCH_ELSE")])
def test_damaged_trees(changes, text):
    made = {**TREES, **leaves("target", [1.0, 2.0, 3.0, 10.0, 20.0], [0] * 5), "n_targets": 1, **changes}
    with pytest.raises(GraphError, match=text):
        SameDiff.import_onnx(one_node("TreeEnsembleRegressor", {"x": X}, domain="ai.onnx.ml", **made))
