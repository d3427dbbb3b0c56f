"""Findings of the doctor: what looks wrong with data, activations and gradients, and what helps."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.javanames import JavaSpelling

__all__ = ["Finding"]

#: From where on something is a finding: shares of units, ratios of sizes.
DEAD, SATURATED, SPREAD, VANISHED, EXPLODED, IMBALANCED, MANY_SIZES = 0.2, 0.5, 20.0, 1e-7, 1e3, 10.0, 100.0
SATURATING = {"tanh": (-1.0, 1.0), "hardtanh": (-1.0, 1.0), "rationaltanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0), "hardsigmoid": (0.0, 1.0)}


@dataclass(frozen=True)
class Finding(JavaSpelling):
    """Something that looks wrong.

    Parameters
    ----------
    kind : str
        Such as "dead units".
    where : str
        The layer, parameter or part of the data.
    what : str
        What was seen.
    remedy : str
        What usually helps.

    Examples
    --------
    >>> print(Finding("dead units", "layer 0", "30 of 64 units give 0 for every example", "a lower learning rate, or leakyrelu"))
    dead units in layer 0: 30 of 64 units give 0 for every example; what helps: a lower learning rate, or leakyrelu
    """

    kind: str
    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.where}: {self.what}; what helps: {self.remedy}"


def of_activations(where: str, array: Any, activation: str) -> list[Finding]:
    """Dead units (0 for every example), and units that stay at the end of their activation function's range.

    Parameters
    ----------
    where : the layer
    array : activations (batch, units, …)
    activation : lower-case name of the activation function
    """
    a = np.asarray(array)
    if a.ndim < 2 or not a.size or a.dtype.kind != "f":
        return []
    if not np.isfinite(a).all():
        return [Finding("not finite", where, f"{int((~np.isfinite(a)).sum())} of {a.size} activations are NaN or infinite",
                        "a lower learning rate, clipped gradients, normalized data; fit(check_finite=True) names the first of them")]
    rows = np.moveaxis(a, 1, -1).reshape(-1, a.shape[1])
    found = []
    if "relu" in activation:
        dead = int((rows == 0).all(0).sum())
        if dead > DEAD * rows.shape[1]:
            found.append(Finding("dead units", where, f"{dead} of {rows.shape[1]} units give 0 for every one of {a.shape[0]} examples",
                                 "a lower learning rate, weight_init=\"relu\", or leakyrelu or elu in place of relu"))
    if activation in SATURATING:
        low, high = SATURATING[activation]
        share = float(((rows < low + 0.01 * (high - low)) | (rows > high - 0.01 * (high - low))).mean())
        if share > SATURATED:
            found.append(Finding("saturated activations", where, f"{share:.0%} of its activations are at an end of {activation}, where "
                                 "gradients vanish", "smaller initial weights (weight_init=\"xavier\"), normalized data, a "
                                 "BatchNormalization in front, or relu"))
    return found


def of_gradients(gradients: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[Finding]:
    """Gradients that explode or vanish, by parameter.

    Parameters
    ----------
    gradients, parameters : arrays by name
        Gradients as means over examples.
    """
    found, sizes = [], {}
    for name, gradient in gradients.items():
        g, p = np.asarray(gradient, np.float64), np.asarray(parameters[name], np.float64)
        size = float(np.sqrt(np.mean(g * g))) if g.size else 0.0
        if not np.isfinite(g).all():
            what = f"{int((~np.isfinite(g)).sum())} of {g.size} numbers are NaN or infinite"
            found.append(Finding("not finite", f"gradient of {name}", what, "a lower learning rate, clipped gradients, normalized data"))
        elif g.ndim > 1:        # those of weights
            sizes[name] = size
            scale = float(np.sqrt(np.mean(p * p))) or 1.0
            if size / scale > EXPLODED:
                what = f"its gradient is {size / scale:.3g} times as large as itself"
                found.append(Finding("exploding gradient", f"parameter {name}", what,
                                     "gradient_normalization=\"ClipL2PerLayer\", a lower learning rate, normalized data"))
    largest = max(sizes.values(), default=0.0)
    for name, size in sizes.items():
        if largest > 0 and size < VANISHED * largest:
            found.append(Finding("vanishing gradient", f"parameter {name}", f"its gradient is {size / largest:.1g} of the largest one",
                                 "relu in place of tanh and sigmoid, a BatchNormalization between layers, shortcuts (ElementWiseVertex)"))
    return found


def of_features(features: Any, where: str = "features") -> list[Finding]:
    """Features that are not finite, not normalized, or always the same.

    Parameters
    ----------
    features : array (batch, …)
    where : what they are called
    """
    x = np.asarray(features)
    if x.dtype.kind not in "fiu" or x.ndim < 2 or not x.size:
        return []
    x = x.astype(np.float64)
    if not np.isfinite(x).all():
        return [Finding("not finite", where, f"{int((~np.isfinite(x)).sum())} of {x.size} numbers are NaN or infinite",
                        "leave out or fill in missing values")]
    rows = np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
    found, spread = [], rows.std(0)
    same = np.flatnonzero(spread == 0)
    if len(rows) > 1 and len(same) and x.ndim == 2:
        found.append(Finding("constant columns", where, f"{len(same)} of {rows.shape[1]} are always the same ({_first(same)})",
                             "leave them out: they tell nothing"))
    center = np.abs(rows.mean(0))
    far = np.flatnonzero((spread > SPREAD) | (center > SPREAD) | ((spread > 0) & (center > SPREAD * spread) & (center > 1)))
    moving = spread[spread > 0]
    if len(far):
        what = (f"{len(far)} of {rows.shape[1]} columns or channels have a mean or deviation above {SPREAD:g}, or a mean far from 0 "
                f"({_first(far)}); the largest value is {np.abs(rows).max():.4g}")
        found.append(Finding("data not normalized", where, what,
                             "NormalizerStandardize, or ImagePreProcessingScaler for pixels: normalizer.fit(data), then "
                             "set_pre_processor(normalizer)"))
    elif x.ndim == 2 and len(moving) and moving.max() > MANY_SIZES * moving.min():
        found.append(Finding("data not normalized", where, f"deviations of columns go from {moving.min():.3g} to {moving.max():.3g}",
                             "NormalizerStandardize: normalizer.fit(data), then set_pre_processor(normalizer)"))
    return found


def of_labels(labels: Any, loss: str, activation: str, where: str = "labels") -> list[Finding]:
    """Labels that the loss or activation of the output cannot reach, and classes of which there are few.

    Parameters
    ----------
    labels : array (batch, outputs, …)
    loss, activation : lower-case names of those of the output layer
    where : what they are called
    """
    y = np.asarray(labels, np.float64)
    if not y.size:
        return []
    if not np.isfinite(y).all():
        return [Finding("not finite", where, f"{int((~np.isfinite(y)).sum())} of {y.size} labels are NaN or infinite", "leave these out")]
    rows = np.moveaxis(y, 1, -1).reshape(-1, y.shape[1]) if y.ndim > 1 else y[:, None]
    found = []
    low, high = float(rows.min()), float(rows.max())
    if "sparse" in loss:            # numbers of classes
        return []
    likelihood = "xent" in loss or "likelihood" in loss or activation in ("softmax", "sigmoid")
    limits = (0.0, 1.0) if likelihood else (-1.0, 1.0) if activation == "tanh" or "hinge" in loss else None
    if limits is not None and (low < limits[0] - 1e-6 or high > limits[1] + 1e-6):
        found.append(Finding("labels out of range", where, f"they go from {low:g} to {high:g}; {loss} with {activation} reaches "
                             f"{limits[0]:g} to {limits[1]:g}", "one-hot labels for classes, another output activation (identity), or "
                             "NormalizerMinMaxScaler with fit_label(True)"))
    elif activation == "softmax" and rows.shape[1] > 1 and not np.allclose(rows.sum(1), 1.0, atol=1e-3):
        wrong = int((np.abs(rows.sum(1) - 1) > 1e-3).sum())
        found.append(Finding("labels out of range", where, f"{wrong} of {len(rows)} rows do not add up to 1, as softmax does",
                             "one class in each row; for several at once sigmoid with XENT"))
    elif limits == (0.0, 1.0) and activation in ("softmax", "sigmoid"):
        counts = rows.sum(0) if rows.shape[1] > 1 else np.array([len(rows) - rows.sum(), rows.sum()])
        if counts.max() > IMBALANCED * max(counts.min(), 1e-9):
            few, many = int(counts.argmin()), int(counts.argmax())
            what = f"class {few} has {counts[few]:g} examples, class {many} has {counts[many]:g}"
            found.append(Finding("classes imbalanced", where, what,
                                 "fit(class_weight=\"balanced\"), more examples of it, and F1 or ROC in place of accuracy"))
    return found


def _first(numbers: Any) -> str:
    return ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")
