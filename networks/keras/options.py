"""Activations, initialisers, regularization and constraints of Keras in dl4py's terms."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...layers.functions import constraints as c
from ...layers.functions import weight_init as w
from ...layers.functions.activations import (
    ActivationELU,
    ActivationGELU,
    ActivationHardSigmoid,
    ActivationIdentity,
    ActivationLReLU,
    ActivationMish,
    ActivationReLU,
    ActivationReLU6,
    ActivationSELU,
    ActivationSigmoid,
    ActivationSoftmax,
    ActivationSoftPlus,
    ActivationSoftSign,
    ActivationSwish,
    ActivationTanH,
    IActivation,
)
from ...layers.functions.distributions import NormalDistribution, OrthogonalDistribution, TruncatedNormalDistribution, UniformDistribution
from ...samediff.errors import ConfigurationError, UnsupportedVersionError, did_you_mean
from ...samediff.training.updaters.regularization import L1Regularization, L2Regularization, Regularization
from .own.activations import FORMULAS, KerasActivation

#: Activation functions that DL4J has; all others are those of own/activations.py.
ACTIVATIONS: dict[str, IActivation] = {
    "linear": ActivationIdentity(), "relu": ActivationReLU(), "sigmoid": ActivationSigmoid(), "tanh": ActivationTanH(),
    "softmax": ActivationSoftmax(), "softplus": ActivationSoftPlus(), "softsign": ActivationSoftSign(), "elu": ActivationELU(),
    "selu": ActivationSELU(), "swish": ActivationSwish(), "silu": ActivationSwish(), "mish": ActivationMish(),
    "relu6": ActivationReLU6(), "leaky_relu": ActivationLReLU(alpha=0.2)}


def named(value: Any) -> tuple[str, dict[str, Any]]:
    """Name and options of something that stands in a file by its name or as an object."""
    if isinstance(value, dict):
        config = value.get("config")
        if value.get("class_name") in ("function", "Function") and isinstance(config, str):
            return config, {}
        if "class_name" not in value:           # Keras 1 wrote options beside the name
            return str(value.get("name")), {n: v for n, v in value.items() if n != "name"}
        return str(value["class_name"]), config if isinstance(config, dict) else {}
    return str(value), {}


def activation(value: Any, owner: str, version: int = 3) -> IActivation:
    """An activation function; none is the identity."""
    if value is None:
        return ActivationIdentity()
    name, given = named(value)
    if name in ("Activation",):
        return activation(given.get("activation"), owner, version)
    if name == "hard_sigmoid" and version < 3:
        return ActivationHardSigmoid()
    if name == "gelu" and given.get("approximate"):
        return ActivationGELU(precise=True)
    if name in ("LeakyReLU", "leaky_relu"):
        return ActivationLReLU(alpha=float(given.get("negative_slope", given.get("alpha", 0.3 if name == "LeakyReLU" else 0.2))))
    if name in ("ReLU", "ELU", "Softmax"):
        return {"ReLU": ActivationReLU(), "ELU": ActivationELU(), "Softmax": ActivationSoftmax()}[name]
    if name in ACTIVATIONS:
        return ACTIVATIONS[name]
    if name in FORMULAS:
        return KerasActivation(name)
    raise UnsupportedVersionError(f"{owner}: the activation function {name!r} is none that can be imported"
                                  f"{did_you_mean(name, [*ACTIVATIONS, *FORMULAS])}")


def initialiser(value: Any, owner: str) -> w.IWeightInit | None:
    """First values of weights; those that dl4py has not are Xavier's."""
    if value is None:
        return None
    name, given = named(value)
    name = name.replace("_", "").lower()
    if name == "variancescaling":
        return _scaling(given)
    if name in ("normal", "randomnormal"):
        return w.WeightInitDistribution(NormalDistribution(_number(given, "mean", 0.0), _number(given, "stddev", 0.05)))
    if name == "truncatednormal":
        return w.WeightInitDistribution(TruncatedNormalDistribution(_number(given, "mean", 0.0), _number(given, "stddev", 0.05)))
    if name in ("uniform", "randomuniform"):
        low = -_number(given, "scale", 0.05) if "scale" in given else _number(given, "minval", -0.05)
        return w.WeightInitDistribution(UniformDistribution(low, -low if "scale" in given else _number(given, "maxval", 0.05)))
    if name == "orthogonal":
        return w.WeightInitDistribution(OrthogonalDistribution(_number(given, "gain", 1.0)))
    if name in ("identity", "identityinitializer"):
        return w.WeightInitIdentity(scale=_number(given, "gain", 1.0))
    if name in ("zero", "zeros", "one", "ones", "constant"):
        return w.WeightInitConstant(_number(given, "value", 0.0) if name == "constant" else float(name.startswith("one")))
    return _FROM_FANS.get(name, w.WeightInitXavier())


_FROM_FANS: dict[str, w.IWeightInit] = {
    "glorotuniform": w.WeightInitXavierUniform(), "glorotnormal": w.WeightInitXavier(),
    "heuniform": w.WeightInitReluUniform(), "henormal": w.WeightInitRelu(),
    "lecununiform": w.WeightInitLecunUniform(), "lecunnormal": w.WeightInitVarScalingNormalFanIn(scale=1.0)}


def _scaling(given: dict[str, Any]) -> w.IWeightInit:
    kind = "Uniform" if given.get("distribution", "uniform") == "uniform" else "Normal"
    fan = {"fan_in": "FanIn", "fan_out": "FanOut", "fan_avg": "FanAvg"}.get(given.get("mode", "fan_in"), "FanIn")
    return getattr(w, f"WeightInitVarScaling{kind}{fan}")(scale=_number(given, "scale", 1.0))  # type: ignore[no-any-return]


def _number(given: dict[str, Any], name: str, default: float) -> float:
    found = given.get(name, default)
    return float(found) if isinstance(found, (int, float)) else default


def regularization(value: Any, owner: str) -> tuple[Regularization, ...]:
    """Terms of a regularizer. Keras adds ``l2 * w²`` to the loss, dl4py half of that."""
    if value is None:
        return ()
    name, given = named(value)
    if name == "None":
        return ()
    strengths = {key: _number(given, key, 0.0) for key in ("l1", "l2")}
    if name.upper() in ("L1", "L2") and not any(strengths.values()):
        strengths[name.lower()] = 0.01
    elif name.upper() not in ("L1", "L2", "L1L2", "L1L2REGULARIZER", "WEIGHTREGULARIZER"):
        raise UnsupportedVersionError(f"{owner}: the regularizer {name!r} cannot be imported; L1, L2 and L1L2 can")
    terms: list[Regularization] = []
    if strengths["l1"]:
        terms.append(L1Regularization(strengths["l1"]))
    if strengths["l2"]:
        terms.append(L2Regularization(2 * strengths["l2"]))
    return tuple(terms)


def constraint(value: Any, parameter: str, owner: str) -> c.LayerConstraint | None:
    """A constraint on one parameter, which has the axes of Keras."""
    if value is None:
        return None
    name, given = named(value)
    axis = given.get("axis", given.get("dim", 0))
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    kind = name.replace("_", "").lower()
    common: dict[str, Any] = {"params": (parameter,), "dimensions": axes}
    if kind == "maxnorm":
        return c.MaxNormConstraint(max_norm=_number(given, "max_value", _number(given, "m", 2.0)), **common)
    if kind == "minmaxnorm":
        return c.MinMaxNormConstraint(min=_number(given, "min_value", 0.0), max=_number(given, "max_value", 1.0),
                                      rate=_number(given, "rate", 1.0), **common)
    if kind == "unitnorm":
        return c.UnitNormConstraint(**common)
    if kind == "nonneg":
        return c.NonNegativeConstraint(params=(parameter,))
    raise UnsupportedVersionError(f"{owner}: the constraint {name!r} cannot be imported")


#: Where the axes of kernels lie in dl4py's weights, by how the weights are turned.
ORDERS: dict[str, tuple[int, ...]] = {"Conv2D": (3, 2, 0, 1), "Conv2DTranspose": (3, 2, 0, 1), "Conv3D": (4, 3, 0, 1, 2)}


def trained(get: Callable[[str, Any], Any], class_name: str, label: str, kernel: str, bias: str | None,
            recurrent: str | None) -> dict[str, Any]:
    """Fields of a layer with weights; ``get(name, default)`` gives its options."""
    fields: dict[str, Any] = {}
    first = initialiser(get(f"{kernel}_initializer", None), label)
    if first is not None:
        fields["weight_init"] = first
    fields["regularization"] = regularization(get(f"{kernel}_regularizer", None), label)
    held = [constraint(get(f"{kernel}_constraint", None), "W", label)]
    if held[0] is not None and class_name in ORDERS and held[0].dimensions:
        order, count = ORDERS[class_name], len(ORDERS[class_name])
        held = [held[0].replace(dimensions=tuple(sorted(order.index(a % count) for a in held[0].dimensions)))]
    if bias is not None:
        fields["regularization_bias"] = regularization(get(f"{bias}_regularizer", None), label)
        held.append(constraint(get(f"{bias}_constraint", None), "b", label))
        start = initialiser(get(f"{bias}_initializer", None), label)
        if isinstance(start, w.WeightInitConstant):
            fields["bias_init"] = start.value
    if recurrent is not None:
        start = initialiser(get(f"{recurrent}_initializer", None), label)
        if start is not None:
            fields["weight_init_recurrent"] = start
        held.append(constraint(get(f"{recurrent}_constraint", None), "RW", label))
        if regularization(get(f"{recurrent}_regularizer", None), label) != fields["regularization"]:
            raise ConfigurationError(f"{label}: kernel and recurrent kernel have different regularizers; a layer of dl4py has one "
                                     "for both")
    known = tuple(one for one in held if one is not None)
    if known:
        fields["constraints"] = known
    return fields
