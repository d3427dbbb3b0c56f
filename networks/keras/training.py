"""Losses and optimizers of compiled models."""
from __future__ import annotations

import warnings
from typing import Any

from ...layers.base.base import Layer
from ...layers.functions import losses
from ...layers.functions.loss_base import ILossFunction
from ...layers.standard.output import LossLayer
from ...samediff.errors import ConfigurationError, UnsupportedVersionError
from ...samediff.training.updaters import schedules, updaters
from ...samediff.training.updaters.gradient_normalization import GradientNormalization
from ...samediff.training.updaters.updater import IUpdater
from .layer_reading import Tensor
from .options import named
from .own.losses import FORMULAS, KerasLoss, MeanLossLayer
from .own.updaters import Momentum

#: Losses that DL4J computes as Keras does, by the names that Keras has for them.
LOSSES: dict[str, ILossFunction] = {
    "mean_squared_error": losses.LossMSE(), "mean_absolute_error": losses.LossMAE(),
    "mean_absolute_percentage_error": losses.LossMAPE(), "mean_squared_logarithmic_error": losses.LossMSLE(),
    "categorical_crossentropy": losses.LossMCXENT(), "sparse_categorical_crossentropy": losses.LossSparseMCXENT(),
    "kl_divergence": losses.LossKLD(), "cosine_similarity": losses.LossCosineProximity()}
SHORT = {"mse": "mean_squared_error", "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error",
         "msle": "mean_squared_logarithmic_error", "kullback_leibler_divergence": "kl_divergence", "kld": "kl_divergence",
         "cosine_proximity": "cosine_similarity", "cosine": "cosine_similarity", "logcosh": "log_cosh", "bce": "binary_crossentropy"}


class LossyImportWarning(UserWarning):
    """Something of a model of Keras has no counterpart and was left out."""


def snake(name: str) -> str:
    """The name of the function of a class of losses."""
    known = {"MeanSquaredError": "mean_squared_error", "MeanAbsoluteError": "mean_absolute_error", "KLDivergence": "kl_divergence",
             "LogCosh": "log_cosh", "MeanAbsolutePercentageError": "mean_absolute_percentage_error",
             "MeanSquaredLogarithmicError": "mean_squared_logarithmic_error"}
    if name in known:
        return known[name]
    found = "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))
    found = SHORT.get(found, found)
    return found


def loss_function(value: Any, size: int) -> ILossFunction:
    """The loss of a name or an object."""
    name, given = named(value)
    name = snake(name)
    if name == "loss_function_wrapper" and "fn" in given:
        return loss_function(given["fn"], size)
    plain = not given.get("from_logits") and not given.get("label_smoothing")
    if plain and name in LOSSES:
        return LOSSES[name]
    if plain and name == "binary_crossentropy" and size == 1:
        return losses.LossBinaryXENT(clip_eps=1e-7)
    if name in FORMULAS:
        return KerasLoss(name, from_logits=bool(given.get("from_logits", False)),
                         label_smoothing=float(given.get("label_smoothing") or 0.0), delta=float(given.get("delta", 1.0)), classes=size)
    raise UnsupportedVersionError(f"the loss {name!r} of Keras cannot be imported; {', '.join(sorted({*LOSSES, *FORMULAS}))} can")


def loss_layer(value: Any, output: Tensor) -> Layer:
    """The layer that compares an output with labels."""
    size = output.shape[-1] if output.shape else 1
    found = loss_function(value, size or 1)
    if len(output.shape) <= 1:
        return LossLayer(loss_function=found, activation="identity")
    return MeanLossLayer(loss_function=found, activation="identity")


def losses_of(training: dict[str, Any] | None, outputs: list[str]) -> list[Any]:
    """The loss of each output, None where it has none."""
    given = None if training is None else training.get("loss")
    if given is None:
        return [None] * len(outputs)
    if isinstance(given, dict) and "class_name" not in given:
        return [given.get(name) for name in outputs]
    if isinstance(given, list):
        if len(given) != len(outputs):
            raise ConfigurationError(f"the model has {len(outputs)} outputs and {len(given)} losses")
        return list(given)
    return [given] * len(outputs)


def updater_of(training: dict[str, Any] | None) -> tuple[IUpdater | None, dict[str, Any], list[str]]:
    """The updater, settings of the network, and what was left out."""
    document = None if training is None else training.get("optimizer_config", training.get("optimizer"))
    if not document:
        return None, {}, []
    name, given = named(document)
    name = name.rsplit(">", 1)[-1].replace("Legacy", "")
    left: list[str] = []
    rate = learning_rate(given, left)
    found = _updater(name.lower(), given, rate, left)
    settings: dict[str, Any] = {}
    if given.get("clipnorm"):
        settings = {"gradient_normalization": GradientNormalization.ClipL2PerParamType,
                    "gradient_normalization_threshold": float(given["clipnorm"])}
    elif given.get("clipvalue"):
        settings = {"gradient_normalization": GradientNormalization.ClipElementWiseAbsoluteValue,
                    "gradient_normalization_threshold": float(given["clipvalue"])}
    left += [f"{name}: {option}" for option in ("global_clipnorm", "use_ema", "gradient_accumulation_steps") if given.get(option)]
    if given.get("weight_decay"):
        left.append(f"{name}: weight_decay")
    return found, settings, left


def _updater(name: str, given: dict[str, Any], rate: Any, left: list[str]) -> IUpdater:
    def number(option: str, default: float) -> float:
        found = given.get(option, default)
        return float(default if found is None else found)
    epsilon = number("epsilon", 1e-7)
    moments = {"learning_rate": rate, "beta1": number("beta_1", 0.9), "beta2": number("beta_2", 0.999), "epsilon": epsilon}
    if name == "sgd":
        momentum = number("momentum", 0.0)
        if not momentum:
            return updaters.Sgd(rate)
        return updaters.Nesterovs(rate, momentum) if given.get("nesterov") else Momentum(rate, momentum)
    if name in ("adam", "adamw"):
        return (updaters.AMSGrad if given.get("amsgrad") else updaters.Adam)(**moments)
    if name == "adamax":
        return updaters.AdaMax(**moments)
    if name == "nadam":
        return updaters.Nadam(**moments)
    if name == "rmsprop":
        if given.get("centered") or given.get("momentum"):
            left.append("RMSprop: centered and momentum")
        return updaters.RmsProp(learning_rate=rate, rms_decay=number("rho", 0.9), epsilon=epsilon)
    if name == "adagrad":
        if given.get("initial_accumulator_value"):
            left.append("Adagrad: initial_accumulator_value")
        return updaters.AdaGrad(learning_rate=rate, epsilon=epsilon)
    if name == "adadelta":
        if rate != 1:
            left.append("Adadelta: learning_rate")
        return updaters.AdaDelta(rho=number("rho", 0.95), epsilon=epsilon)
    raise UnsupportedVersionError(f"the optimizer {name!r} of Keras cannot be imported; SGD, Adam, AdamW, Adamax, Nadam, RMSprop, "
                                  "Adagrad and Adadelta can")


def learning_rate(given: dict[str, Any], left: list[str]) -> Any:
    """A number or a schedule by iterations."""
    value = given.get("learning_rate", given.get("lr", 0.01))
    each = schedules.ScheduleType.ITERATION
    if isinstance(value, dict):
        name, c = named(value)
        start = float(c.get("initial_learning_rate", 0.01))
        if name == "ExponentialDecay" and not c.get("staircase"):
            return schedules.ExponentialSchedule(each, start, float(c["decay_rate"]) ** (1 / float(c["decay_steps"])))
        if name == "ExponentialDecay":
            return schedules.StepSchedule(each, start, float(c["decay_rate"]), float(c["decay_steps"]))
        if name == "InverseTimeDecay" and not c.get("staircase"):
            return schedules.InverseSchedule(each, start, float(c["decay_rate"]) / float(c["decay_steps"]), 1.0)
        if name == "PolynomialDecay" and not c.get("cycle") and not c.get("end_learning_rate"):
            return schedules.PolySchedule(each, start, float(c.get("power", 1.0)), int(c["decay_steps"]))
        if name == "PiecewiseConstantDecay":
            places, values = c["boundaries"], c["values"]
            return schedules.MapSchedule(each, {0: float(values[0]), **{int(b) + 1: float(v) for b, v in zip(places, values[1:])}})
        left.append(f"the learning rate schedule {name}")
        return start
    decay = given.get("decay")
    return schedules.InverseSchedule(each, float(value), float(decay), 1.0) if decay else float(value)


def tell(where: str, left: list[str], enforce: bool) -> None:
    """Warn of what was left out; an error where all of the training is asked for."""
    if left and enforce:
        raise UnsupportedVersionError(f"{where}: cannot be imported, and matters while training: {'; '.join(left)}; "
                                      "enforce_training_config=False imports the rest")
    if left:
        warnings.warn(f"{where}: left out, which matters while training: {'; '.join(left)}", LossyImportWarning, stacklevel=4)
