"""Models of ``ai.onnx.ml``: linear ones, scalers, codes, trees."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter

DOMAIN = "ai.onnx.ml"


def post(node: OnnxNode, scores: Any, transform: str) -> Any:
    """Scores behind a transformation of the standard."""
    if transform == "LOGISTIC":
        return node.op("nn.sigmoid", scores)
    if transform in ("SOFTMAX", "SOFTMAX_ZERO"):
        return node.op("nn.softmax", scores, -1)
    if transform == "PROBIT":
        raise node.refuse("PROBIT has no counterpart here")
    return scores


@onnx_converter("Scaler", domain=DOMAIN)
def scaler(node: OnnxNode, x: Any) -> Any:
    """(x - offset) times a scale."""
    x = x.astype(np.float32)
    return (x - np.asarray(node.get("offset"), np.float32)) * np.asarray(node.get("scale"), np.float32)


@onnx_converter("Binarizer", domain=DOMAIN)
def binarizer(node: OnnxNode, x: Any) -> Any:
    """1 above a threshold, else 0."""
    return (x > x.dtype.type(node.get("threshold", 0.0))).astype(x.dtype)


@onnx_converter("Normalizer", domain=DOMAIN)
def normalizer(node: OnnxNode, x: Any) -> Any:
    """Rows with a norm of 1."""
    x, kind = x.astype(np.float32), node.get("norm", "MAX")
    if kind == "MAX":
        norm = node.xp.max(x, axis=-1, keepdims=True)
    elif kind == "L1":
        norm = node.xp.sum(node.op("math.abs", x), axis=-1, keepdims=True)
    else:
        norm = node.xp.sqrt(node.xp.sum(x * x, axis=-1, keepdims=True))
    return x / node.xp.where(norm == 0, np.float32(1), norm)


@onnx_converter("Imputer", domain=DOMAIN)
def imputer(node: OnnxNode, x: Any) -> Any:
    """Other values for one that stands for none."""
    whole = x.dtype.kind in "iu"
    values = np.asarray(node.get("imputed_value_int64s" if whole else "imputed_value_floats"), x.dtype)
    gone = node.get("replaced_value_int64" if whole else "replaced_value_float", 0)
    missing = node.xp.isnan(x) if isinstance(gone, float) and np.isnan(gone) else x == x.dtype.type(gone)
    return node.xp.where(missing, values, x)


@onnx_converter("FeatureVectorizer", domain=DOMAIN)
def features(node: OnnxNode, *xs: Any) -> Any:
    """Columns of several arrays side by side."""
    return node.xp.concatenate([(x if x.ndim > 1 else node.xp.expand_dims(x, 1)).astype(np.float32) for x in xs], 1)


@onnx_converter("ArrayFeatureExtractor", domain=DOMAIN)
def extractor(node: OnnxNode, x: Any, places: Any) -> Any:
    """Elements along the last axis."""
    found = node.xp.take(x, node.xp.reshape(places, (-1,)), axis=x.ndim - 1)
    return node.xp.expand_dims(found, 0) if x.ndim == 1 else found


@onnx_converter("OneHotEncoder", domain=DOMAIN, notes="numbers")
def one_hot(node: OnnxNode, x: Any) -> Any:
    """A new axis with 1 at the place of a category."""
    if "cats_int64s" not in node.attributes:
        raise node.refuse("categories that are texts are not supported")
    return (node.xp.expand_dims(x.astype(np.int64), -1) == np.asarray(node.get("cats_int64s"), np.int64)).astype(np.float32)


@onnx_converter("LabelEncoder", domain=DOMAIN, notes="numbers")
def labels(node: OnnxNode, x: Any) -> Any:
    """Other numbers for numbers, by a table."""
    def table(side: str) -> Any:
        for kind, dtype in (("int64s", np.int64), ("floats", np.float32)):
            if f"{side}_{kind}" in node.attributes:
                return np.asarray(node.get(f"{side}_{kind}"), dtype)
        if f"{side}_tensor" in node.attributes:
            return node.tensor(node.get(f"{side}_tensor"))
        raise node.refuse("tables of texts are not supported")
    keys, values = table("keys"), table("values")
    if keys.dtype.kind == "O" or values.dtype.kind == "O":
        raise node.refuse("tables of texts are not supported")
    default: Any = node.get("default_int64", -1) if values.dtype.kind == "i" else node.get("default_float", -0.0)
    if "default_tensor" in node.attributes:
        default = node.tensor(node.get("default_tensor")).reshape(-1)[0]
    flat = node.xp.expand_dims(x, -1)
    held = node.xp.isnan(flat) & np.isnan(keys) | (flat == keys) if keys.dtype.kind == "f" else flat == keys
    found = node.xp.take(values, node.xp.argmax(held.astype(np.int32), axis=-1), axis=0)
    return node.xp.where(node.xp.any(held, axis=-1), found, values.dtype.type(default))


@onnx_converter("LinearRegressor", domain=DOMAIN)
def linear_regressor(node: OnnxNode, x: Any) -> Any:
    """x times coefficients, plus intercepts."""
    scores = _linear(node, x, node.get("targets", 1))
    return post(node, scores, node.get("post_transform", "NONE"))


def _linear(node: OnnxNode, x: Any, count: int) -> Any:
    weights = np.asarray(node.get("coefficients"), np.float32).reshape(count, -1).T
    made = node.xp.matmul(x.astype(np.float32), node.xp.wrap(node.walk.variable_of(weights)))
    bias = node.get("intercepts", None)
    return made if bias is None or not len(bias) else made + node.xp.wrap(node.walk.variable_of(np.asarray(bias, np.float32)))


@onnx_converter("LinearClassifier", domain=DOMAIN, notes="labels that are numbers")
def linear_classifier(node: OnnxNode, x: Any) -> Any:
    """The class of the largest score, and the scores."""
    names = node.get("classlabels_ints", None)
    if names is None:
        raise node.refuse("labels that are texts are not supported")
    return class_of(node, _linear(node, x, max(len(node.get("intercepts", [])), 1)), names, False)


def class_of(node: OnnxNode, scores: Any, names: Any, shares: bool) -> Any:
    """The class of the largest score, and the scores; a single one is that of the second of two classes, with ``shares`` its part of 1."""
    transform = node.get("post_transform", "NONE")
    if scores.shape[1] == 1 and len(names) == 2:
        chosen = (scores[:, 0] > scores.dtype.type(0.5 if shares else 0)).astype(np.int64)
        scores = post(node, scores, transform) if transform == "LOGISTIC" and not shares else scores
        other = 1 - scores if shares or transform == "LOGISTIC" else -scores
        scores = node.xp.concatenate([other, scores], 1)
    else:
        chosen, scores = node.xp.argmax(scores, axis=1), post(node, scores, transform)
    return node.xp.take(np.asarray(names, np.int64), chosen, axis=0), scores.astype(np.float32)


@onnx_converter("ZipMap", domain=DOMAIN, notes="a column for each class in the place of maps")
def zipped(node: OnnxNode, x: Any) -> Any:
    """The scores of the classes, in their order."""
    return x


@onnx_converter("SVMRegressor", domain=DOMAIN)
def support_vectors(node: OnnxNode, x: Any) -> Any:
    """Sums of kernels of support vectors, or a linear function; with ``one_class`` 1 above 0, else -1."""
    x, coefficients = x.astype(np.float32), np.asarray(node.get("coefficients"), np.float32)
    count = node.get("n_supports", 0)
    if count:
        kernels = _kernels(node, x, np.asarray(node.get("support_vectors"), np.float32).reshape(count, -1))
        scores = node.xp.matmul(kernels, coefficients.reshape(count, 1))
    else:
        scores = node.xp.matmul(x, coefficients.reshape(-1, 1))
    scores = scores + np.float32(node.get("rho")[0])
    if node.flag("one_class"):
        return node.xp.where(scores > 0, np.float32(1), np.float32(-1))
    return post(node, scores, node.get("post_transform", "NONE"))


def _kernels(node: OnnxNode, x: Any, vectors: Any) -> Any:
    """The kernel of each row and each vector."""
    kind = node.get("kernel_type", "LINEAR")
    gamma, offset, degree = (np.float32(v) for v in (node.get("kernel_params", None) or (0, 0, 3)))
    products = node.xp.matmul(x, vectors.T)
    if kind == "RBF":
        squares = node.xp.sum(x * x, axis=1, keepdims=True) + (vectors * vectors).sum(1)
        return node.xp.exp(-gamma * (squares - products * np.float32(2)))
    if kind == "POLY":
        return (products * gamma + offset) ** degree
    return node.xp.tanh(products * gamma + offset) if kind == "SIGMOID" else products


@onnx_converter("TreeEnsemble", domain=DOMAIN, notes="trees of comparisons, which have no gradient")
def tree_ensemble(node: OnnxNode, x: Any) -> Any:
    """Values of the leaves that the trees lead to, added up for each target."""
    get = node.get
    splits, leaf_weights = node.tensor(get("nodes_splits")), node.tensor(get("leaf_weights"))
    modes, ids = node.tensor(get("nodes_modes")), get("nodes_featureids")
    yes, no, yes_leaf, no_leaf = get("nodes_truenodeids"), get("nodes_falsenodeids"), get("nodes_trueleafs"), get("nodes_falseleafs")
    targets, tracks = get("leaf_targetids"), get("nodes_missing_value_tracks_true", [0] * len(ids))
    members = _members(node.tensor(get("membership_values"))) if "membership_values" in node.attributes else []
    sets = iter(members)
    member_of = {i: next(sets) for i, m in enumerate(modes) if m == 6}
    sums: list[Any] = [None] * get("n_targets", 1)
    kinds = {0: "less_equal", 1: "less", 2: "greater_equal", 3: "greater", 4: "equal", 5: "not_equal"}

    def add(target: int, value: Any) -> None:
        how, old = get("aggregate_function", 1), sums[target]
        sums[target] = value if old is None else node.xp.minimum(old, value) if how == 2 else node.xp.maximum(
            old, value) if how == 3 else old + value

    def leaf(i: int) -> tuple[int, Any]:
        return targets[i], leaf_weights[i]

    def walk(i: int, path: Any) -> list[tuple[Any, int, Any]]:
        column = x[:, ids[i]]
        if modes[i] == 6:
            test = node.xp.any(node.xp.expand_dims(column, 1) == np.asarray(member_of[i], x.dtype), axis=1)
        else:
            test = getattr(node.xp, kinds[int(modes[i])])(column, x.dtype.type(splits[i]))
        if tracks[i]:
            test = test | node.xp.isnan(column)
        found = []
        for side, next_, is_leaf in ((test, yes[i], yes_leaf[i]), (node.xp.logical_not(test), no[i], no_leaf[i])):
            here = side if path is None else path & side
            found += [(here, *leaf(next_))] if is_leaf else walk(next_, here)
        return found

    for root in get("tree_roots"):
        for path, target, weight in walk(root, None):
            add(target, node.xp.where(path, x.dtype.type(weight), x.dtype.type(0)))
    zero = x[:, 0] * 0
    total = node.xp.stack([zero if s is None else s for s in sums], 1)
    if get("aggregate_function", 1) == 0:
        total = total / len(get("tree_roots"))
    return post(node, total, {1: "SOFTMAX", 2: "LOGISTIC", 3: "SOFTMAX_ZERO", 4: "PROBIT"}.get(get("post_transform", 0), "NONE"))


def _members(values: Any) -> list[list[float]]:
    found: list[list[float]] = [[]]
    for v in values:
        if np.isnan(v):
            found.append([])
        else:
            found[-1].append(float(v))
    return found
