"""Ensembles of trees as scikit-learn's exporters write them: all trees walk down together, a level at a time."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter
from .classical import DOMAIN, class_of, post
from .indexing import taken

#: What branches ask, by the names of the standard.
TESTS = {"BRANCH_LEQ": "less_equal", "BRANCH_LT": "less", "BRANCH_GTE": "greater_equal", "BRANCH_GT": "greater", "BRANCH_EQ": "equal",
         "BRANCH_NEQ": "not_equal"}


@dataclass(frozen=True)
class Trees:
    """Branches and leaves of all trees in one table, in which leaves lead to themselves.

    Parameters
    ----------
    roots, features, splits, yes, no : arrays
        Places of the first branches; of each branch or leaf the column that is looked at, the number that it is compared with, and the
        places where it goes on.
    modes : list of str
        What each one asks; "LEAF" for leaves.
    missing : array
        Whether NaN goes the way of yes.
    weights : array
        What each leaf gives to each target, (places, targets).
    depth : int
        The most branches on a way.
    """

    roots: Any
    features: Any
    splits: Any
    yes: Any
    no: Any
    modes: list[str]
    missing: Any
    weights: Any
    depth: int


def trees_of(node: OnnxNode, kind: str, targets: int, dtype: Any) -> Trees:
    """The trees of a node; ``kind`` is "target" or "class"."""
    def numbers(name: str) -> Any:
        held = f"{name}_as_tensor"
        return (node.tensor(node.get(held)) if held in node.attributes else np.asarray(node.get(name))).astype(dtype)

    ids = list(zip(node.get("nodes_treeids"), node.get("nodes_nodeids")))
    places = {pair: i for i, pair in enumerate(ids)}
    modes = list(map(str, node.get("nodes_modes")))
    if unknown := sorted({*modes} - {*TESTS, "LEAF"}):
        raise node.refuse(f"branches of the kind {unknown[0]!r}")
    try:
        sides = [[i if mode == "LEAF" else places[tree, to] for i, ((tree, _), mode, to) in enumerate(zip(ids, modes, node.get(name)))]
                 for name in ("nodes_truenodeids", "nodes_falsenodeids")]
        weights = np.zeros((len(ids), targets), dtype)
        for tree, inner, target, weight in zip(node.get(f"{kind}_treeids"), node.get(f"{kind}_nodeids"), node.get(f"{kind}_ids"),
                                               numbers(f"{kind}_weights")):
            weights[places[tree, inner], target] += weight
    except (KeyError, IndexError) as error:
        raise node.refuse(f"a tree that leads to what is not there ({error})") from None
    yes, no = (np.asarray(side, np.int64) for side in sides)
    roots = np.asarray([places[tree, inner] for tree, inner in dict(reversed(ids)).items()][::-1], np.int64)
    missing = np.asarray(node.get("nodes_missing_value_tracks_true", None) or [0] * len(ids), bool)
    features = np.asarray(node.get("nodes_featureids"), np.int64)
    return Trees(roots, features, numbers("nodes_values"), yes, no, modes, missing, weights, _depth(node, roots, yes, no))


def _depth(node: OnnxNode, roots: Any, yes: Any, no: Any) -> int:
    """The most branches on a way; trees in circles have none."""
    here, depth = {int(r) for r in roots}, 0
    while here := {int(side[i]) for i in here for side in (yes, no) if side[i] != i}:
        depth += 1
        if depth > len(yes):
            raise node.refuse("a tree that leads back to itself")
    return depth


def leaves(node: OnnxNode, x: Any, trees: Trees) -> Any:
    """What the leaves of all trees give, (batch, trees, targets)."""
    xp = node.xp
    place = xp.zeros_like(x[:, :1]).astype(np.int64) + trees.roots
    for _ in range(trees.depth):
        value = taken(node, x, xp.take(trees.features, place, axis=0), 1)
        split, asked = xp.take(trees.splits, place, axis=0), None
        for mode in dict.fromkeys(m for m in trees.modes if m != "LEAF"):
            test = getattr(xp, TESTS[mode])(value, split)
            own = np.asarray([m == mode for m in trees.modes])
            asked = test if asked is None else xp.where(xp.take(own, place, axis=0), test, asked)
        if trees.missing.any():
            asked = asked | (xp.isnan(value) & xp.take(trees.missing, place, axis=0))
        place = xp.where(asked, xp.take(trees.yes, place, axis=0), xp.take(trees.no, place, axis=0))
    return xp.take(trees.weights, place, axis=0)


def _based(node: OnnxNode, scores: Any, dtype: Any) -> Any:
    held = "base_values_as_tensor"
    base = node.tensor(node.get(held)) if held in node.attributes else np.asarray(node.get("base_values", None) or [])
    return scores + base.astype(dtype) if base.size else scores


@onnx_converter("TreeEnsembleRegressor", domain=DOMAIN, notes="trees of comparisons, which have no gradient")
def tree_regressor(node: OnnxNode, x: Any) -> Any:
    """What the leaves give to each target, put together over the trees."""
    dtype = np.float64 if x.dtype == np.float64 else np.float32
    x, how = x.astype(dtype), node.get("aggregate_function", "SUM")
    found = leaves(node, x, trees_of(node, "target", node.get("n_targets", 1), dtype))
    joined = {"SUM": node.xp.sum, "AVERAGE": node.xp.mean, "MIN": node.xp.min, "MAX": node.xp.max}[how](found, axis=1)
    return post(node, _based(node, joined, dtype), node.get("post_transform", "NONE")).astype(np.float32)


@onnx_converter("TreeEnsembleClassifier", domain=DOMAIN, notes="labels that are numbers; trees of comparisons, which have no gradient")
def tree_classifier(node: OnnxNode, x: Any) -> Any:
    """The class to which the leaves give most, and what they give."""
    names = node.get("classlabels_int64s", None)
    if not names:
        raise node.refuse("labels that are texts are not supported")
    dtype = np.float64 if x.dtype == np.float64 else np.float32
    given = set(node.get("class_ids"))
    trees = trees_of(node, "class", max(len(names), *(i + 1 for i in given)), dtype)
    scores = node.xp.sum(leaves(node, x.astype(dtype), trees), axis=1)
    one = len(names) == 2 and len(given) == 1
    scores = _based(node, scores[:, min(given):min(given) + 1] if one else scores, dtype)
    return class_of(node, scores, names, bool(one and (trees.weights >= 0).all()))
