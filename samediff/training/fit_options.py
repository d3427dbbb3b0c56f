"""Options of ``fit``, the same for networks and graphs."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..data.given.parts import by_role
from ..errors import ConfigurationError, DL4PyError, GraphError, did_you_mean

#: Options that other libraries have, and what takes their place.
_ELSEWHERE = {
    "steps_per_epoch": "EarlyTerminationDataSetIterator(iterator, steps) ends an epoch after so many batches",
    "initial_epoch": "epochs counts those that are still to come; set_epoch_count says where counting begins",
    "validation_steps": "EarlyTerminationDataSetIterator(iterator, steps) ends after so many batches",
    "validation_batch_size": "validation_data may be an iterator, which decides on its batches",
    "validation_freq": "validation_frequency is its name here",
    "workers": "AsyncDataSetIterator(iterator) prepares batches in a thread of its own",
    "eval_set": "validation_data is its name here",
    "early_stopping": "EarlyStoppingTrainer stops early, and so do estimators (DL4PyClassifier)",
    "return_dict": "the evaluation that comes back has accuracy(), f1() and stats(); score(x, y) is the loss",
}


@dataclass(slots=True)
class FitOptions:
    """The options of ``fit`` besides data; see :meth:`MultiLayerNetwork.fit`."""

    epochs: int | None = None
    batch_size: int | None = None
    check_finite: bool = False
    shuffle: bool = False
    sample_weight: Any = None
    class_weight: Any = None
    listeners: Any = ()
    callbacks: Any = ()
    validation_data: Any = None
    validation_split: float = 0.0
    validation_frequency: int = 1
    verbose: Any = 0

    @property
    def is_plain(self) -> bool:
        """Whether no option was given."""
        return (self.epochs is self.batch_size is self.sample_weight is self.class_weight is self.validation_data is None
                and not (self.check_finite or self.shuffle or self.listeners or self.callbacks or self.validation_split or self.verbose))

    def of_rows(self) -> str:
        """The first option that was given and speaks of rows, which batches do not have."""
        given = {"sample_weight": self.sample_weight is not None, "validation_split": bool(self.validation_split),
                 "batch_size": self.batch_size is not None, "shuffle": self.shuffle}
        return next((name for name, is_given in given.items() if is_given), "")

    def weighs(self) -> bool:
        """Whether there are weights of samples or classes."""
        return self.sample_weight is not None or self.class_weight is not None


OPTIONS = tuple(field.name for field in fields(FitOptions))


def wrong_option(call: str, name: str, data: Sequence[str], options: Iterable[str], error: type[DL4PyError] = GraphError) -> DL4PyError:
    """The error for an option that a call does not have."""
    known = [*data, *options]
    hint = _ELSEWHERE.get(name)
    said = f": {hint}." if hint else did_you_mean(name, known) or "."
    others = f", and the options {', '.join(options)}" if options else ""
    return error(f"{call} has no option {name!r}{said} It takes {', '.join(data)}{others}")


def data_and_labels(call: str, data: Any, labels: Any, unknown: Mapping[str, Any], options: Sequence[str],
                    error: type[DL4PyError] = GraphError) -> tuple[Any, Any]:
    """Features and labels of a call, also where they were given by other names that they have."""
    parts, wrong = by_role(unknown)
    wrong += [name for name in unknown if by_role({name: 0})[0].keys() - {0, 1}]
    if wrong or (data is not None and 0 in parts) or (labels is not None and 1 in parts):
        raise wrong_option(call, next(iter(wrong or unknown)), ["data", "labels"], options, error)
    return parts.get(0, data), parts.get(1, labels)


def positive(what: str, number: Any) -> int:
    """The number; ConfigurationError unless it is a whole one above 0."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise ConfigurationError(f"{what} must be a whole number above 0; got {number!r}")
    return int(number)


def split_at(rows: int, share: Any) -> int:
    """The first of the rows that are kept for validation, the last ones: ``share`` of all.

    Raises
    ------
    ConfigurationError
        The share is none, or leaves nothing to train on or to validate with.
    """
    if isinstance(share, bool) or not isinstance(share, (float, int, np.floating, np.integer)) or not 0 < share < 1:
        raise ConfigurationError(f"validation_split is the share of the rows that are kept for validation, between 0 and 1; got {share!r}")
    first = int(rows * (1 - share))
    if not 0 < first < rows:
        raise ConfigurationError(f"validation_split={share} of {rows} rows leaves {first} to train on and {rows - first} to validate with")
    return first
