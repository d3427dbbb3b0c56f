"""The builder of the training configuration."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ..base.datatype import DataType
from ..base.java_names import TrainingConfigBuilderNames
from ..configuration.method_builder import MethodBuilder
from ..errors import ConfigurationError
from .config import TrainingConfig
from .history import name_of
from .updaters.regularization import L1Regularization, L2Regularization, Regularization, WeightDecay, with_regularization
from .updaters.schedules import Schedule
from .updaters.updater import IUpdater

__all__ = ["TrainingConfigBuilder"]


class TrainingConfigBuilder(MethodBuilder, TrainingConfigBuilderNames):
    """Builder of :class:`TrainingConfig`; every option returns the builder."""

    _old_names = "training"

    def __init__(self) -> None:
        super().__init__()
        self._regularization: list[Regularization] = []
        self._labels_unused = self._skip = False

    def updater(self, updater: IUpdater) -> Self:
        """Set the updater (required)."""
        return self._set(updater=updater)

    def l1(self, l1: float | Schedule) -> Self:
        """Set L1 regularization; 0 removes it."""
        return self._regularize(L1Regularization(l1))

    def l2(self, l2: float | Schedule) -> Self:
        """Set L2 regularization in place of any L2 or weight decay; 0 removes it."""
        return self._regularize(L2Regularization(l2))

    def weight_decay(self, coefficient: float | Schedule, apply_lr: bool = True) -> Self:
        """Set weight decay in place of any weight decay or L2; 0 removes it."""
        return self._regularize(WeightDecay(coefficient, apply_lr))

    def add_regularization(self, *terms: Regularization) -> Self:
        """Append regularization terms."""
        self._regularization += terms
        return self

    def regularization(self, *terms: Any) -> Self:
        """Replace all regularization terms."""
        self._regularization = list(terms[0] if len(terms) == 1 and isinstance(terms[0], (list, tuple)) else terms)
        return self

    def minimize(self, *what: Any) -> Self:
        """``minimize(False)`` for gradient ascent; ``minimize("loss", …)`` names the loss variables."""
        if len(what) == 1 and isinstance(what[0], bool):
            return self._set(minimize=what[0])
        return self._set(loss_variables=_flat(what))

    def loss_variables(self, *names: Any) -> Self:
        """Name the loss variables; see :class:`TrainingConfig`."""
        return self._set(loss_variables=_flat(names))

    def listeners(self, *listeners: Any) -> Self:
        """Set the listeners of every training under this configuration, besides those of the graph; files do not keep them."""
        return self._set(listeners=_flat(listeners))

    def data_set_feature_mapping(self, *names: Any) -> Self:
        """Set the placeholders for feature array 0, 1, …"""
        return self._set(data_set_feature_mapping=_flat(names))

    def data_set_label_mapping(self, *names: Any) -> Self:
        """Set the placeholders for label array 0, 1, …"""
        return self._set(data_set_label_mapping=_flat(names))

    data_set_labels_mapping = data_set_label_mapping

    def data_set_feature_mask_mapping(self, *names: Any) -> Self:
        """Set the placeholders for the feature masks."""
        return self._set(data_set_feature_mask_mapping=_flat(names))

    def data_set_label_mask_mapping(self, *names: Any) -> Self:
        """Set the placeholders for the label masks."""
        return self._set(data_set_label_mask_mapping=_flat(names))

    def mark_labels_unused(self) -> Self:
        """Train without labels: ``build`` asks for no label mapping."""
        self._labels_unused = True
        return self

    def skip_builder_validation(self, skip: bool = True) -> Self:
        """Have ``build`` skip all checks."""
        self._skip = skip
        return self

    def initial_loss_data_type(self, data_type: DataType | str) -> Self:
        """Set the data type of the first gradient."""
        return self._set(initial_loss_data_type=data_type)

    def train_evaluation(self, variable: Any, label_index: int, *evaluations: Any) -> Self:
        """Evaluate a variable on the training batches against a label array."""
        return self.add_evaluations(False, variable, label_index, *evaluations)

    def validation_evaluation(self, variable: Any, label_index: int, *evaluations: Any) -> Self:
        """Evaluate a variable on the validation data against a label array."""
        return self.add_evaluations(True, variable, label_index, *evaluations)

    def add_evaluations(self, validation: bool, variable: Any, label_index: int, *evaluations: Any) -> Self:
        """Add evaluations of a variable for training or validation."""
        kind, name = ("validation" if validation else "train"), name_of(variable)
        labels = self._values.setdefault(f"{kind}_evaluation_labels", {})
        if labels.setdefault(name, label_index) != label_index:
            raise ConfigurationError(f"{kind} evaluations of {name!r} use label array {labels[name]} already, "
                                     f"not {label_index}")
        self._values.setdefault(f"{kind}_evaluations", {}).setdefault(name, []).extend(_flat(evaluations))
        return self

    def build(self) -> TrainingConfig:
        """Return the configuration; needs an updater, a feature mapping and a label mapping."""
        config = TrainingConfig(regularization=self._regularization, **self._values)
        if not self._skip:
            config.validate(self._labels_unused)
        return config

    def _regularize(self, term: Regularization) -> Self:
        self._regularization = with_regularization(self._regularization, term)
        return self


TrainingConfig.Builder = TrainingConfigBuilder


def _flat(values: Sequence[Any]) -> list[Any]:
    """``(a, b)`` and ``([a, b],)`` are the same."""
    return list(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else list(values)
