"""The training configuration of a SameDiff graph: updater, regularization, data mappings, evaluations, counters."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Never, Self

import numpy as np

from ..base.copying import CopiedWhole
from ..base.datatype import DataType
from ..base.java_names import TrainingConfigBuilder, TrainingConfigNames
from ..base.javanames import squash, to_camel, to_snake
from ..configuration.values import is_whole_float, write_json
from ..errors import ConfigurationError, did_you_mean
from ..evaluation.base import BaseEvaluation
from ..text.document_text import read_text
from .history import name_of
from .listeners.has_listeners import checked
from .listeners.listener import Listener
from .updaters.regularization import Regularization
from .updaters.updater import IUpdater

__all__ = ["TrainingConfig"]

Evaluations = dict[str, list[Any]]
#: Options that name placeholders for the arrays of a data set.
MAPPINGS = ("data_set_feature_mapping", "data_set_label_mapping", "data_set_feature_mask_mapping",
             "data_set_label_mask_mapping")


class TrainingConfig(CopiedWhole, TrainingConfigNames):
    """Options of training a graph, and its progress: the iteration and epoch counters live here.

    Parameters
    ----------
    updater
        The updater of all trainable variables.
    regularization
        Terms for all trainable floating variables, biases too.
    minimize
        False adds the update: gradient ascent. Regularization keeps its sign.
    data_set_feature_mapping, data_set_label_mapping
        Placeholder names for feature and label array 0, 1, …
    data_set_feature_mask_mapping, data_set_label_mask_mapping
        Placeholder names for the masks; None for none.
    loss_variables
        Names of the loss variables: what is minimized, unless the graph was given loss variables itself (``set_loss_variables``,
        ``mark_as_loss``, or in its file).
    initial_loss_data_type
        Data type of the first gradient, that of the loss with respect to itself.
    listeners
        Who hears of trainings under this configuration, besides the listeners of the graph; no part of JSON or ``==``.
    train_evaluations, validation_evaluations
        Evaluations by variable, filled while training and validating.
    train_evaluation_labels, validation_evaluation_labels
        The label array that each of these variables is compared with.
    iteration_count, epoch_count
        Where the counters begin, 0 by default.

    Examples
    --------
    >>> from dl4py.samediff.training import Adam
    >>> config = (TrainingConfig.builder().updater(Adam(1e-2)).l2(1e-4)
    ...           .data_set_feature_mapping("x").data_set_label_mapping("y").build())
    >>> TrainingConfig.from_json(config.to_json()) == config
    True
    """

    Builder: ClassVar[type[TrainingConfigBuilder]]

    def __init__(self, updater: IUpdater | None = None, regularization: Sequence[Regularization] = (),
                 minimize: bool = True,
                 data_set_feature_mapping: str | Sequence[str] | None = None,
                 data_set_label_mapping: str | Sequence[str] | None = None,
                 data_set_feature_mask_mapping: str | Sequence[str] | None = None,
                 data_set_label_mask_mapping: str | Sequence[str] | None = None,
                 loss_variables: str | Sequence[str] | None = None,
                 iteration_count: int = 0, epoch_count: int = 0,
                 initial_loss_data_type: DataType | str = DataType.FLOAT,
                 train_evaluations: Mapping[str, Sequence[Any]] | None = None,
                 train_evaluation_labels: Mapping[str, int] | None = None,
                 validation_evaluations: Mapping[str, Sequence[Any]] | None = None,
                 validation_evaluation_labels: Mapping[str, int] | None = None,
                 listeners: Listener | Sequence[Listener] = (), **unknown: Never) -> None:
        refuse_unknown("TrainingConfig", unknown, [*_FIELDS.values(), "listeners"])
        if updater is not None and not isinstance(updater, IUpdater):
            raise ConfigurationError(f"TrainingConfig: expected an updater such as Adam(1e-3); got {updater!r:.60}")
        for term in _listed(regularization, "regularization"):
            if not isinstance(term, Regularization):
                raise ConfigurationError(f"TrainingConfig: expected a regularization such as L2Regularization(1e-4); "
                                         f"got {term!r:.60}")
        self._extra: dict[str, Any] = {}
        self.updater, self.regularization, self.minimize = updater, list(regularization), bool(minimize)
        self.data_set_feature_mapping = _names(data_set_feature_mapping)
        self.data_set_label_mapping = _names(data_set_label_mapping)
        self.data_set_feature_mask_mapping = _names(data_set_feature_mask_mapping)
        self.data_set_label_mask_mapping = _names(data_set_label_mask_mapping)
        self.loss_variables = _names(loss_variables)
        self.listeners = checked([listeners])
        self.counter = np.zeros(1, np.int64)      # the native call that takes a step counts it
        self.iteration_count, self.epoch_count = iteration_count, epoch_count
        self.initial_loss_data_type = DataType.of(initial_loss_data_type)
        self.train_evaluations = _evaluations(train_evaluations)
        self.train_evaluation_labels = _label_arrays(train_evaluation_labels, "train_evaluation_labels")
        self.validation_evaluations = _evaluations(validation_evaluations)
        self.validation_evaluation_labels = _label_arrays(validation_evaluation_labels, "validation_evaluation_labels")
        for found, labels in ((self.train_evaluations, self.train_evaluation_labels),
                              (self.validation_evaluations, self.validation_evaluation_labels)):
            missing = [name for name in found if name not in labels]
            if missing:
                raise ConfigurationError(f"TrainingConfig: evaluations of {missing} need the index of a label array")

    @property
    def iteration_count(self) -> int:
        """Number of iterations done."""
        return self.counter.item()

    @iteration_count.setter
    def iteration_count(self, count: int) -> None:
        self.counter[0] = _count("iteration_count", count)

    @property
    def epoch_count(self) -> int:
        """Number of epochs done."""
        return self._epoch_count

    @epoch_count.setter
    def epoch_count(self, count: int) -> None:
        self._epoch_count = _count("epoch_count", count)

    @staticmethod
    def builder() -> TrainingConfigBuilder:
        """Return a new :class:`~dl4py.samediff.training.config_builder.TrainingConfigBuilder`."""
        return TrainingConfig.Builder()

    def increment_iteration_count(self) -> None:
        """Add 1 to the iteration counter."""
        self.iteration_count += 1

    def increment_epoch_count(self) -> None:
        """Add 1 to the epoch counter."""
        self.epoch_count += 1

    def get_iteration_count(self) -> int:
        """Return the number of iterations done."""
        return self.iteration_count

    def get_epoch_count(self) -> int:
        """Return the number of epochs done."""
        return self.epoch_count

    def get_updater(self) -> IUpdater | None:
        """Return the updater."""
        return self.updater

    def get_regularization(self) -> list[Regularization]:
        """Return the regularization terms."""
        return self.regularization

    def rename(self, old: str, new: str) -> None:
        """Write the new name of a variable wherever the old one stood."""
        for key in (*MAPPINGS, "loss_variables"):
            names = getattr(self, key)
            setattr(self, key, names and [new if n == old else n for n in names])
        for kind in ("train", "validation"):
            for key in (f"{kind}_evaluations", f"{kind}_evaluation_labels"):
                setattr(self, key, {(new if n == old else n): v for n, v in getattr(self, key).items()})

    def label_idx(self, name: Any) -> int:
        """Return the position of a name in the label mapping, -1 if it is not there."""
        labels = self.data_set_label_mapping or []
        name = name_of(name)
        return labels.index(name) if name in labels else -1

    def placeholders(self, features: Sequence[Any], labels: Sequence[Any] = (),
                     feature_masks: Sequence[Any] | None = None,
                     label_masks: Sequence[Any] | None = None) -> dict[str, Any]:
        """Return placeholder values for the arrays of a batch.

        Raises
        ------
        ConfigurationError
            The number of features or labels differs from the mapping; a mask is given without a mapping.
        """
        feed: dict[str, Any] = {}
        for what, mapping, arrays, needed in (
                ("feature", self.data_set_feature_mapping, features, True),
                ("label", self.data_set_label_mapping, labels, True),
                ("feature mask", self.data_set_feature_mask_mapping, feature_masks or (), False),
                ("label mask", self.data_set_label_mask_mapping, label_masks or (), False)):
            given = list(arrays)
            names = mapping or []
            if len(names) != len(given) and (needed or any(a is not None for a in given)):
                raise ConfigurationError(f"the training configuration maps {len(names)} {what} array(s) "
                                         f"({', '.join(names) or 'none'}), the data has {len(given)}")
            feed.update((name, array) for name, array in zip(names, given) if array is not None)
        return feed

    def validate(self, labels_unused: bool = False) -> None:
        """Raise :class:`ConfigurationError` if updater or mappings are missing."""
        if self.updater is None:
            raise ConfigurationError("TrainingConfig needs an updater: updater(Adam(1e-3))")
        if not self.data_set_feature_mapping:
            raise ConfigurationError("TrainingConfig needs the placeholders of the feature arrays: "
                                     "data_set_feature_mapping('x')")
        if not self.data_set_label_mapping and not labels_unused:
            raise ConfigurationError("TrainingConfig needs the placeholders of the label arrays: "
                                     "data_set_label_mapping('y'), or mark_labels_unused()")

    def to_document(self) -> dict[str, Any]:
        """Return DL4J's JSON as a dictionary."""
        document: dict[str, Any] = {
            "updater": None if self.updater is None else self.updater.to_document(),
            "regularization": [term.to_document() for term in self.regularization],
            "minimize": self.minimize,
        }
        for name in (*MAPPINGS, "loss_variables"):
            value = getattr(self, name)
            document[to_camel(name)] = None if value is None else list(value)
        document |= {"iterationCount": self.iteration_count, "epochCount": self.epoch_count,
                     "initialLossDataType": self.initial_loss_data_type.name}
        for kind in ("train", "validation"):
            found, labels = getattr(self, f"{kind}_evaluations"), getattr(self, f"{kind}_evaluation_labels")
            document[f"{kind}Evaluations"] = {name: [json.loads(e.to_json()) for e in es] for name, es in found.items()}
            document[f"{kind}EvaluationLabels"] = dict(labels)
        return document | self._extra

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Return the configuration of a JSON document; keys that are not known here survive a round trip."""
        if not isinstance(document, Mapping):
            raise ConfigurationError(f"expected a JSON object for TrainingConfig; got {document!r:.60}")
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for key, value in document.items():
            name = _FIELDS.get(squash(key))
            if name is None:
                extra[key] = value
            else:
                values[name] = value
        if values.get("updater") is not None:
            values["updater"] = IUpdater.from_document(values["updater"])
        values["regularization"] = [Regularization.from_document(t) for t in _listed(values.get("regularization") or (), "regularization")]
        for name in ("train_evaluations", "validation_evaluations"):
            values[name] = {v: [_read_evaluation(e) for e in _listed(es, name)] for v, es in _mapped(values.get(name), name).items()}
        self = cls(**{name: value for name, value in values.items() if value is not None})
        self._extra = extra
        return self

    def to_json(self) -> str:
        """Return DL4J's JSON text."""
        return write_json(self.to_document())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the configuration of a JSON text.

        Raises
        ------
        FileFormatError
            The text is not JSON.
        ConfigurationError
            A field has a wrong value.
        """
        return cls.from_document(read_text(text, "JSON"))

    def clone(self) -> TrainingConfig:
        """Return an independent copy with the same counters, and with the same listeners."""
        made = type(self).from_document(self.to_document())
        made.listeners = list(self.listeners)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrainingConfig) and self.to_document() == other.to_document()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (f"TrainingConfig(updater={self.updater!r}, regularization={self.regularization!r}, "
                f"features={self.data_set_feature_mapping}, labels={self.data_set_label_mapping}, "
                f"iteration={self.iteration_count}, epoch={self.epoch_count})")


def refuse_unknown(where: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """ConfigurationError for options that do not exist."""
    names = sorted(known)
    for name in unknown:
        hint = did_you_mean(to_snake(name), names) or f"; its options: {', '.join(names)}"
        raise ConfigurationError(f"{where} has no option {name!r}{hint}")


def _names(given: Any) -> list[str] | None:
    if given is None:
        return None
    return [name_of(given)] if isinstance(given, str) else [name_of(v) for v in _listed(given, "placeholders and variables")]


def _listed(given: Any, what: str) -> Sequence[Any]:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ConfigurationError(f"TrainingConfig: {what} are a list; got {given!r:.60}")
    return list(given)


def _mapped(given: Any, what: str) -> dict[Any, Any]:
    if given and not isinstance(given, Mapping):
        raise ConfigurationError(f"TrainingConfig: {what} are a dictionary by the names of variables; got {given!r:.60}")
    return dict(given or {})


def _count(what: str, given: Any) -> int:
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if not (whole or is_whole_float(given)) or not 0 <= given < 2**63:
        raise ConfigurationError(f"TrainingConfig: {what} must be an int from 0 to 2**63 - 1; got {given!r:.60}")
    return int(given)


def _label_arrays(given: Any, what: str) -> dict[str, int]:
    return {name_of(name): label_array(index, name_of(name)) for name, index in _mapped(given, what).items()}


def _evaluations(given: Mapping[str, Sequence[Any]] | None) -> Evaluations:
    found = _mapped(given, "evaluations").items()
    return {name_of(k): evaluations_of(name_of(k), v) for k, v in found}


def label_array(index: Any, name: str) -> int:
    """The position of the label array that a variable is compared with.

    Raises
    ------
    ConfigurationError
        It is no whole number from 0.
    """
    whole = (isinstance(index, (int, np.integer)) and not isinstance(index, bool)) or is_whole_float(index)
    if not whole or index < 0:
        raise ConfigurationError(f"{name!r} is compared with a label array, whose position is a whole number from 0; got {index!r:.60}")
    return int(index)


def evaluations_of(name: str, given: Any) -> list[Any]:
    """The evaluations of a variable, one or several.

    Raises
    ------
    ConfigurationError
        One of them is none.
    """
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    for evaluation in found:
        if not hasattr(evaluation, "eval") or isinstance(evaluation, type):
            raise ConfigurationError(f"{name!r} is evaluated by objects such as Evaluation() or RegressionEvaluation(); got "
                                     f"{evaluation!r:.60}")
    return found


def _read_evaluation(document: Any) -> Any:
    return BaseEvaluation.from_document(document)


_FIELDS: dict[str, str] = {squash(name): name for name in TrainingConfig.__init__.__annotations__
                           if name not in ("return", "unknown", "listeners")}
