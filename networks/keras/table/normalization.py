"""Normalization."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....layers.standard.normalization import BatchNormalization
from ....layers.types.formats import CNN2DFormat
from ..layer_reading import KerasLayer, Made
from ..own.normalization import FixedNormalization, GroupNormalization, LayerNormalization, Rescaling, UnitNormalization
from ..own.positions import PositionNormalization
from ..registry import keras_layer

UNUSED = dict.fromkeys(("gamma_regularizer", "beta_regularizer", "gamma_constraint", "beta_constraint"))


@keras_layer("BatchNormalization", "BatchNormalizationV1", "SyncBatchNormalization",
             becomes="`BatchNormalization`; of series and volumes, and with a scale or a shift alone, one that takes positions as rows",
             lossy="regularization and constraints of gamma and beta; `renorm` while training")
def batch_normalization(k: KerasLayer) -> Made:
    axis, rank = k.axis(k.get("axis", -1)), k.rank()
    if axis not in (1, rank):
        raise k.unsupported(f"axis={axis} of inputs with {rank + 1} axes (expected the first or last axis behind the batch)")
    size = k.size(axis - 1)
    scale, center = bool(k.get("scale", True)), bool(k.get("center", True))
    k.leave(**UNUSED)
    fields: dict[str, Any] = {"n_in": size, "n_out": size, "decay": float(k.get("momentum", 0.99)), "eps": float(k.get("epsilon", 1e-3)),
                              "use_log_std": False, "lock_gamma_beta": not scale and not center}
    if rank in (1, 3) and scale == center:
        form = CNN2DFormat.NHWC if rank == 3 and axis == 3 else CNN2DFormat.NCHW
        conf: Any = BatchNormalization(data_format=form, **fields)
    else:
        conf = PositionNormalization(axis=axis, scale=scale, center=center, **fields)
    names = (*(["gamma"] if scale else []), *(["beta"] if center else []), "mean", "variance")
    if k.get("renorm", False):
        names += ("moving_stddev", "renorm_mean", "renorm_stddev")
    k.leave(renorm=False)
    weights: dict[str, Any] = {"mean": lambda w: w["mean"], "var": lambda w: w["variance"]}
    if scale or center:
        weights |= {"gamma": lambda w: w.get("gamma", np.ones(size)), "beta": lambda w: w.get("beta", np.zeros(size))}
    return k.made(conf, weights, names)


def _learned(k: KerasLayer, shape: tuple[int, ...], mean_too: bool = True) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]:
    """Fields, weights and names of a learned scale and shift of that shape."""
    k.leave(**UNUSED)
    scale, center = bool(k.get("scale", True)), bool(k.get("center", True)) and mean_too
    names = (*(["gamma"] if scale else []), *(["beta"] if center else []))
    weights: dict[str, Any] = {n: (lambda w, n=n: w[n].reshape(shape)) for n in names}
    return {"shape": shape, "scale": scale, "center": center, "eps": float(k.get("epsilon", 1e-3))}, weights, names


@keras_layer("LayerNormalization", "RMSNormalization", becomes="a layer that normalizes each example",
             lossy="regularization and constraints of gamma and beta")
def layer_normalization(k: KerasLayer) -> Made:
    given = k.get("axis", -1)
    axes = tuple(sorted(k.axis(a) for a in (given if isinstance(given, (list, tuple)) else [given])))
    centered = k.class_name == "LayerNormalization" and not k.get("rms_scaling", False)
    shape = tuple(k.size(i - 1) if i in axes else 1 for i in range(1, k.rank() + 1))
    shape = shape[min(axes) - 1:]
    fields, weights, names = _learned(k, shape, k.class_name == "LayerNormalization")
    if k.class_name == "RMSNormalization":
        fields |= {"scale": True, "eps": float(k.get("epsilon", 1e-6))}
        weights, names = {"gamma": lambda w: w["gamma"].reshape(shape)}, ("gamma",)
    return k.made(LayerNormalization(axes=axes, centered=centered, **fields), weights, names)


@keras_layer("GroupNormalization", becomes="a layer that normalizes groups of channels",
             lossy="regularization and constraints of gamma and beta")
def group_normalization(k: KerasLayer) -> Made:
    axis, sizes = k.axis(k.get("axis", -1)), k.sizes()
    channels = sizes[axis - 1]
    groups = int(k.get("groups", 32))
    groups = channels if groups == -1 else groups
    if channels % groups:
        raise k.unsupported(f"groups={groups} of {channels} channels")
    fields, weights, names = _learned(k, tuple(channels if i == axis else 1 for i in range(1, k.rank() + 1)))
    return k.made(GroupNormalization(groups=groups, axis=axis, sizes=sizes, **fields), weights, names)


@keras_layer("UnitNormalization", becomes="a layer that gives vectors the length 1")
def unit_normalization(k: KerasLayer) -> Made:
    given = k.get("axis", -1)
    axes = tuple(k.axis(a) for a in (given if isinstance(given, (list, tuple)) else [given]))
    return k.made(UnitNormalization(axes=axes))


@keras_layer("Rescaling", becomes="a layer that multiplies and adds")
def rescaling(k: KerasLayer) -> Made:
    def numbers(name: str, default: float) -> tuple[float, ...]:
        value = k.get(name, default)
        if isinstance(value, dict):
            value = value.get("config", {}).get("value")
        return tuple(float(v) for v in np.ravel(value))
    return k.made(Rescaling(scale=numbers("scale", 1.0), offset=numbers("offset", 0.0)))


@keras_layer("Normalization", becomes="a layer with mean and deviation that do not train")
def normalization(k: KerasLayer) -> Made:
    given = k.get("axis", -1)
    axes = [] if given is None else [k.axis(a) for a in (given if isinstance(given, (list, tuple)) else [given])]
    shape = tuple(k.size(i - 1) if i in axes else 1 for i in range(1, k.rank() + 1))
    conf = FixedNormalization(shape=shape, invert=bool(k.get("invert", False)))

    def row(value: Any) -> Any:
        found = np.asarray(value.get("config", {}).get("value") if isinstance(value, dict) else value, np.float64)
        return np.broadcast_to(found if found.size == 1 else found.reshape(shape), shape)
    if k.get("mean", None) is not None:
        mean, variance = row(k.get("mean")), row(k.get("variance"))
        return k.made(conf, {"mean": lambda w: mean, "deviation": lambda w: FixedNormalization.deviation(variance)})
    return k.made(conf, {"mean": lambda w: row(w["mean"]), "deviation": lambda w: FixedNormalization.deviation(row(w["variance"]))},
                  ("mean", "variance", "count"))
