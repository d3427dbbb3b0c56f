"""Checks that what a training configuration names is there: placeholders, losses, evaluated variables, label arrays."""
from __future__ import annotations

from collections.abc import Iterable

from ..base.source_line import warn_user
from ..errors import ConfigurationError, did_you_mean
from ..ir.core import GraphCore
from .config import MAPPINGS, TrainingConfig


def check_names(sd: GraphCore, config: TrainingConfig) -> None:
    """Refuse a configuration that names what its graph does not have.

    Raises
    ------
    ConfigurationError
        A mapping names no placeholder, a loss or an evaluation no variable, or an evaluation a label array that is not mapped.
    """
    variables = sd.tables.variables
    for option in MAPPINGS:
        for name in getattr(config, option) or ():
            if name not in variables or not variables[name].is_place_holder():
                known = [n for n, v in variables.items() if v.is_place_holder()]
                raise _missing(option, name, "placeholder", known)
    for name in config.loss_variables or ():
        if name not in variables:
            raise _missing("loss_variables", name, "variable", [n for n in variables if sd.producer(n) is not None])
    for kind in ("train", "validation"):
        for name, index in getattr(config, f"{kind}_evaluation_labels").items():
            if name not in variables:
                raise _missing(f"{kind}_evaluations", name, "variable", variables)
            labels = config.data_set_label_mapping
            if labels and index >= len(labels):
                raise ConfigurationError(f"TrainingConfig: {kind}_evaluations compare {name!r} with label array {index}, and "
                                         f"data_set_label_mapping names {len(labels)}, counted from 0: {', '.join(labels)}")


def warn_of_other_losses(sd: GraphCore, config: TrainingConfig) -> None:
    """Warn of losses in a configuration that those given to the graph outdo."""
    if config.loss_variables and sd.tables.losses_given and set(config.loss_variables) != set(sd.tables.losses):
        own, named = ", ".join(sd.tables.losses), ", ".join(config.loss_variables)
        warn_user(f"TrainingConfig: loss_variables names {named}, and the graph's own loss variables count, as in DL4J: {own}. "
                  f"To minimize others: sd.set_loss_variables({', '.join(map(repr, config.loss_variables))})")


def _missing(option: str, name: str, kind: str, known: Iterable[str]) -> ConfigurationError:
    names = list(known)
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return ConfigurationError(f"TrainingConfig: {option} names {name!r}, and the graph has no {kind} of that name"
                              f"{did_you_mean(name, names)}; it has {shown or 'none'}")
