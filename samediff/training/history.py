"""Reports of training: losses of a step, the loss curve, evaluations per epoch, the history of a fit."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..base.copying import CopiedWhole
from ..base.java_names import EvaluationRecordNames, HistoryNames, LossCurveNames, LossNames
from ..drawing.figures import figure_of, lines
from ..errors import ConfigurationError, UnknownNameError, did_you_mean
from ..text.html import html_table, html_text

__all__ = ["EvaluationRecord", "History", "Loss", "LossCurve"]

R = TypeVar("R")

#: Metrics shown for an epoch, and the method of an evaluation that computes each.
_METRICS = {"accuracy": "accuracy", "mean squared error": "average_mean_squared_error"}


def name_of(variable: Any) -> str:
    """Return the name of a graph variable given as such or by name."""
    if isinstance(variable, str):
        return variable
    name = getattr(variable, "name", None)
    if name is None:
        raise ConfigurationError(f"expected the name of a variable, or a variable; got {variable!r:.60}")
    return str(name() if callable(name) else name)


class Loss(LossNames):
    """Named loss values of a step or an epoch: the loss variables, then one entry per kind of regularization.

    Parameters
    ----------
    loss_names : sequence of str
        Names of loss variables, then of kinds of regularization.
    losses : sequence of float
        One for each name.

    Examples
    --------
    >>> Loss(["mse", "L2Regularization"], [1.5, 0.25]).total_loss()
    1.75
    """

    def __init__(self, loss_names: Sequence[str], losses: Sequence[float] | np.ndarray[Any, Any]) -> None:
        self._names = tuple(loss_names)
        self._values = np.array(losses, np.float64).reshape(-1)
        if len(self._names) != len(self._values):
            raise ConfigurationError(f"Loss: {len(self._names)} names ({', '.join(self._names)}) for "
                                     f"{len(self._values)} values")

    def num_losses(self) -> int:
        """Return the number of entries."""
        return len(self._names)

    def loss_names(self) -> list[str]:
        """Return the names of the entries."""
        return list(self._names)

    def loss_values(self) -> np.ndarray[Any, Any]:
        """Return the values, float64 of shape (losses,)."""
        return self._values.copy()

    def get_loss(self, loss_name: Any) -> float:
        """Return the value of one entry."""
        return float(self._values[_index(name_of(loss_name), self._names)])

    def total_loss(self) -> float:
        """Return the sum of all entries."""
        return float(self._values.sum())

    def copy(self) -> Loss:
        """Return a copy."""
        return Loss(self._names, self._values)

    @staticmethod
    def sum(losses: Sequence[Loss]) -> Loss:
        """Return the entry-wise sum."""
        for loss in losses:
            losses[0]._expect_names(loss)
        return Loss(losses[0]._names, np.add.reduce([loss._values for loss in losses]))

    @staticmethod
    def average(losses: Sequence[Loss]) -> Loss:
        """Return the entry-wise mean."""
        return Loss.sum(losses) / len(losses)

    def _expect_names(self, other: Loss) -> None:
        if self._names != other._names:
            raise ConfigurationError(f"losses of different names: {list(self._names)} and {list(other._names)}")

    def _with(self, other: Loss, values: Callable[[Any, Any], Any]) -> Loss:
        self._expect_names(other)
        return Loss(self._names, values(self._values, other._values))

    def __add__(self, other: Loss) -> Loss:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Loss) -> Loss:
        return self._with(other, lambda a, b: a - b)

    def __truediv__(self, number: float) -> Loss:
        return Loss(self._names, self._values / number)

    add = plus = __add__
    minus = __sub__
    div = __truediv__

    def sub(self, other: Loss) -> Loss:
        """Return the entry-wise difference."""
        return self - other

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Loss) and self._names == other._names
                and bool(np.array_equal(self._values, other._values)))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Loss(" + ", ".join(f"{n}={v:.6g}" for n, v in zip(self._names, self._values)) + ")"


class LossCurve(LossCurveNames):
    """Mean losses per epoch, kept in float32 as DL4J does.

    Parameters
    ----------
    losses : iterable of Loss
        Mean losses, one for each epoch, with the same names.
    """

    def __init__(self, losses: Iterable[Loss] = ()) -> None:
        self._losses = tuple(losses)
        if any(loss.loss_names() != self._losses[0].loss_names() for loss in self._losses):
            raise ConfigurationError("the epochs of a loss curve must have the same loss names")

    def losses(self) -> list[Loss]:
        """Return the mean losses, one entry per epoch."""
        return list(self._losses)

    def get_loss_names(self) -> list[str]:
        """Return the names of the losses, in the order of the columns of :meth:`get_loss_values`."""
        return self._losses[0].loss_names() if self._losses else []

    def get_loss_values(self) -> np.ndarray[Any, Any]:
        """Return the mean losses as one array of FLOAT, (epochs, losses)."""
        return np.array([loss.loss_values() for loss in self._losses], np.float32).reshape(len(self._losses), len(self.get_loss_names()))

    def mean_loss(self, which: Any, epoch: int | None = None) -> Any:
        """Return the losses of an epoch (an int, negative from the end), the series of one loss, or one value of it."""
        if isinstance(which, (int, np.integer)):
            return self._epoch(int(which))
        name = name_of(which)
        if epoch is not None:
            return float(np.float32(self._epoch(epoch).get_loss(name)))
        return np.array([loss.get_loss(name) for loss in self._losses], np.float32)

    def last_mean_loss(self, which: Any = None) -> Any:
        """Return the losses of the last epoch, or one of them."""
        return self._epoch(-1) if which is None else self.mean_loss(which, -1)

    def last_mean_delta(self, which: Any = None) -> Any:
        """Return the last epoch minus the one before; needs two epochs."""
        delta = self._epoch(-1) - self._epoch(-2)
        return delta if which is None else delta.get_loss(name_of(which))

    def add_loss_and_copy(self, loss: Loss | Sequence[float], loss_names: Sequence[str] | None = None) -> LossCurve:
        """Return a new curve with one more epoch."""
        new = loss if isinstance(loss, Loss) else Loss(loss_names or (), loss)
        return LossCurve([*self._losses, new])

    def _epoch(self, epoch: int) -> Loss:
        if not -len(self._losses) <= epoch < len(self._losses):
            raise UnknownNameError(f"no losses of epoch {epoch}: the curve has {len(self._losses)} epoch(s)")
        return self._losses[epoch]

    def __len__(self) -> int:
        return len(self._losses)

    def __repr__(self) -> str:
        return f"LossCurve({list(self._losses)})"


def metrics_of(history: History) -> dict[str, float]:
    """The accuracies and errors of the last epoch, of training and of validation: the first evaluation that has one.

    Examples
    --------
    >>> metrics_of(History())
    {}
    """
    found: dict[str, float] = {}
    for kind, records in (("", history.training_eval()), ("validation ", history.validation_eval())):
        for evaluation in [e for es in (records[-1].evaluations().values() if records else ()) for e in es]:
            for name, method in _METRICS.items():
                if hasattr(evaluation, method):
                    found.setdefault(kind + name, float(getattr(evaluation, method)()))
    return found


class EvaluationRecord(EvaluationRecordNames):
    """The evaluations of one epoch (or one call of evaluate), by variable.

    Parameters
    ----------
    evaluations : dict of str to list
        Evaluations by the variable that they are of. A single one's methods are those of the record too.
    """

    def __init__(self, evaluations: Mapping[str, Sequence[Any]]) -> None:
        self._evaluations = {name_of(variable): list(found) for variable, found in evaluations.items()}

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError as error:
                known = [] if name.startswith("_") else [e for es in self._evaluations.values() for e in es]
                if len(known) == 1 and hasattr(known[0], name):     # the only one answers itself
                    return getattr(known[0], name)
                raise error from None

    def _repr_html_(self) -> str:
        return "".join(html_text(name, e.stats()) for name, found in self._evaluations.items() for e in found)

    def is_empty(self) -> bool:
        """Return True without any evaluation."""
        return not any(self._evaluations.values())

    def evaluations(self, param: Any = None) -> Any:
        """Return all evaluations as a dictionary, or the list of one variable."""
        if param is None:
            return {name: list(found) for name, found in self._evaluations.items()}
        name = name_of(param)
        if name not in self._evaluations:
            raise UnknownNameError(f"no evaluation of {name!r}{did_you_mean(name, self._evaluations)}; "
                                   f"evaluated: {', '.join(self._evaluations) or 'nothing'}")
        return list(self._evaluations[name])

    def evaluation(self, param: Any = None, which: int | type | None = None) -> Any:
        """Return one evaluation: by variable (and index or class), or by class alone.

        Raises
        ------
        UnknownNameError
            None fits, or several do.
        """
        if isinstance(param, type):
            param, which = None, param
        found = self.evaluations(param) if param is not None else [e for es in self._evaluations.values() for e in es]
        if isinstance(which, (int, np.integer)):
            if not -len(found) <= which < len(found):
                raise UnknownNameError(f"no evaluation number {which}: there are {len(found)}")
            return found[which]
        if which is not None:
            found = [e for e in found if isinstance(e, which)]
        if len(found) != 1:
            kind = "evaluation" if which is None else which.__name__
            where = "" if param is None else f" of {name_of(param)!r}"
            raise UnknownNameError(f"{len(found)} evaluations fit {kind}{where}; say which: a variable and an index "
                                   "or class")
        return found[0]

    def get_value(self, *selection: Any) -> float:
        """Return a metric: ``(metric)``, ``(variable, metric)`` or ``(variable, index, metric)``."""
        *where, metric = selection
        if len(where) == 2:
            return float(self.evaluation(*where).get_value(metric))
        found = self.evaluations(where[0]) if where else [e for es in self._evaluations.values() for e in es]
        fitting = [e for e in found if isinstance(metric, getattr(e, "Metric", ()))]
        if len(fitting) != 1:
            raise UnknownNameError(f"{len(fitting)} evaluations have the metric {metric}; say which: a variable, "
                                   "or a variable and an index")
        return float(fitting[0].get_value(metric))

    def __repr__(self) -> str:
        return f"EvaluationRecord({ {k: [type(e).__name__ for e in v] for k, v in self._evaluations.items()} })"


class History(CopiedWhole, HistoryNames):
    """The result of ``fit``: evaluations and losses per epoch, and times in milliseconds.

    Parameters
    ----------
    training, validation : sequence of EvaluationRecord
        Evaluations of each epoch on the data of training and of validation.
    loss : LossCurve, optional
        Mean losses of each epoch.
    training_time_millis : int
        Wall time of the whole training.
    validation_times_millis : sequence of int
        Wall time of each validation.

    Examples
    --------
    >>> history = History([], [], LossCurve([Loss(["mse"], [2.0]), Loss(["mse"], [1.0])]), 12, [])
    >>> history.loss_curve().mean_loss("mse").tolist()
    [2.0, 1.0]
    """

    def __init__(self, training: Sequence[EvaluationRecord] = (), validation: Sequence[EvaluationRecord] = (),
                 loss: LossCurve | None = None, training_time_millis: int = 0,
                 validation_times_millis: Sequence[int] = ()) -> None:
        self._training, self._validation = list(training), list(validation)
        self._loss, self._time, self._times = loss, training_time_millis, list(validation_times_millis)

    def _repr_html_(self) -> str:
        curve = self._loss or LossCurve()
        names, losses = curve.get_loss_names(), curve.losses()
        rows = [[k, *map(float, loss.loss_values())] for k, loss in enumerate(losses)]
        return html_table(f"{len(losses)} epochs, {self._time} ms", ["epoch", *names], rows, self._last_metrics())

    def plot(self, save_to: str | os.PathLike[str] | None = None) -> Any:
        """Draw losses and measures by epoch; needs matplotlib.

        Parameters
        ----------
        save_to : path, optional
            Write the picture to this file.

        Returns
        -------
        matplotlib figure
        """
        curve = self._loss or LossCurve()
        epochs = range(len(curve.losses()))
        if not epochs:
            raise ConfigurationError("nothing to draw: no epoch has ended")
        parts = [lines("mean loss", {n: (epochs, curve.mean_loss(n)) for n in curve.get_loss_names()}, "epoch")]
        for name, method in _METRICS.items():
            found = {kind: _course(records, method) for kind, records in (("training", self._training), ("validation", self._validation))}
            if found := {kind: points for kind, points in found.items() if points[0]}:
                parts.append(lines(name, found, "epoch"))
        return figure_of(parts, save_to)

    def _last_metrics(self) -> str:
        return ", ".join(f"{name} {value:.4g}" for name, value in metrics_of(self).items())

    def loss_curve(self) -> LossCurve | Any:         # Any, as checkers need not ask for None after training
        """Return the mean loss per epoch; None before the first epoch has ended."""
        return self._loss

    def training_time_millis(self) -> int:
        """Return the wall time of the whole training."""
        return self._time

    def validation_times_millis(self) -> list[int]:
        """Return the wall time of each validation."""
        return list(self._times)

    def training_epochs(self) -> int:
        """Return the number of recorded training epochs."""
        return len(self._training)

    def validation_epochs(self) -> int:
        """Return the number of recorded validations."""
        return len(self._validation)

    def training_eval(self, *selection: Any) -> list[Any]:
        """Return the records of all epochs, or a selection of each.

        The selection is ``metric``, ``variable``, ``variable, index``, ``variable, metric`` or
        ``variable, index, metric``.
        """
        return [_select(record, selection) for record in self._training]

    def validation_eval(self, *selection: Any) -> list[Any]:
        """Return the records of all validations, or a selection of each as in :meth:`training_eval`."""
        return [_select(record, selection) for record in self._validation]

    def training_evaluations(self, epoch: int) -> EvaluationRecord:
        """Return the record of an epoch; negative counts from the end."""
        return _record(self._training, epoch, "training")

    def validation_evaluations(self, epoch: int) -> EvaluationRecord:
        """Return the record of a validation; negative counts from the end."""
        return _record(self._validation, epoch, "validation")

    def final_training_evaluations(self) -> EvaluationRecord:
        """Return the record of the last epoch."""
        return _record(self._training, -1, "training")

    def final_validation_evaluations(self) -> EvaluationRecord:
        """Return the record of the last validation."""
        return _record(self._validation, -1, "validation")

    def __repr__(self) -> str:
        return f"History({self.training_epochs()} epochs, {self.validation_epochs()} validations, {self._loss})"


def _course(records: Sequence[EvaluationRecord], method: str) -> tuple[list[int], list[float]]:
    """A measure by epoch: that of the first evaluation that has it."""
    points = [(k, float(getattr(e, method)())) for k, record in enumerate(records)
              for e in [e for es in record.evaluations().values() for e in es if hasattr(e, method)][:1]]
    return [k for k, _ in points], [v for _, v in points]


def _index(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise UnknownNameError(f"no loss named {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}")
    return list(names).index(name)


def _record(records: Sequence[R], number: int, what: str) -> R:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise UnknownNameError(f"{what} evaluations have numbers, from 0 to {len(records) - 1}; got {number!r}. A record has those of a "
                               "variable: evaluations(name)")
    if not -len(records) <= number < len(records):
        raise UnknownNameError(f"no {what} evaluations number {number}: {len(records)} recorded")
    return records[number]


def _select(record: EvaluationRecord, selection: tuple[Any, ...]) -> Any:
    if not selection:
        return record
    last = selection[-1]
    if isinstance(last, (int, np.integer)):
        return record.evaluation(*selection)
    if isinstance(last, str) or callable(getattr(last, "name", None)):  # a variable; a metric's name is no method
        return record.evaluations(last)
    return record.get_value(*selection)
