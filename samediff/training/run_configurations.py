"""Evaluations and outputs that are described first and run with ``exec()``."""
from __future__ import annotations

from typing import Any, Protocol, Self

from ..base.java_names import EvaluationConfigNames, FitConfigNames, OutputConfigNames
from ..base.javanames import JavaSpelling
from ..errors import ConfigurationError, GraphError
from .history import EvaluationRecord, History, name_of
from .listeners.has_listeners import flat

__all__ = ["EvaluationConfig", "FitConfig", "OutputConfig"]


class SupportsEvaluate(Protocol):
    """Protocol of a graph that evaluates."""

    def evaluate(self, data: Any, outputs: Any, /, *args: Any) -> Any:
        """Compare outputs with labels."""

    def output(self, placeholders: Any, /, *outputs: Any) -> Any:
        """Compute variables."""

    def output_batches(self, data: Any, /, *outputs: Any) -> list[dict[str, Any]]:
        """Compute variables for each batch."""


class SupportsFit(Protocol):
    """Protocol of a graph that is trained."""

    def fit(self, *args: Any, **options: Any) -> Any:
        """Train the graph."""


class _Request(JavaSpelling):
    def __init__(self, sd: SupportsEvaluate) -> None:
        self._sd = sd
        self._listeners: list[Any] = []
        self._data: Any = None

    def data(self, data: Any) -> Self:
        """Use this data set, iterator or list of batches."""
        self._data = data
        return self

    def listeners(self, *listeners: Any) -> Self:
        """Use these listeners besides those of the graph."""
        self._listeners += flat(listeners)
        return self

    def _given(self) -> Any:
        if self._data is None:
            raise ConfigurationError("there is no data: call data(iterator) before exec()")
        return self._data


class EvaluationConfig(_Request, EvaluationConfigNames):
    """``sd.evaluate().evaluate("softmax", 0, Evaluation()).data(iterator).exec()``.

    Parameters
    ----------
    sd : SameDiff
        The graph that it is about.
    """

    def __init__(self, sd: SupportsEvaluate) -> None:
        super().__init__(sd)
        self._evaluations: dict[str, list[Any]] = {}
        self._labels: dict[str, int] = {}

    def evaluate(self, variable: Any, *evaluations: Any) -> Self:
        """Evaluate a variable: ``(variable, [label_index,] evaluations…)``."""
        if evaluations and isinstance(evaluations[0], int):
            self.label_index(variable, evaluations[0])
            evaluations = evaluations[1:]
        self._evaluations.setdefault(name_of(variable), []).extend(flat(evaluations))
        return self

    def label_index(self, variable: Any, label_index: int) -> Self:
        """Compare a variable with that label array; 0 where nothing is said."""
        old = self._labels.setdefault(name_of(variable), label_index)
        if old != label_index:
            raise ConfigurationError(f"{name_of(variable)!r} is compared with label array {old} already; it cannot be {label_index} too")
        return self

    def exec(self) -> EvaluationRecord:
        """Run the evaluations."""
        if not self._evaluations:
            raise ConfigurationError("nothing to evaluate: call evaluate(variable, evaluations) before exec()")
        record: EvaluationRecord = self._sd.evaluate(self._given(), self._evaluations, self._labels, *self._listeners)
        return record


class OutputConfig(_Request, OutputConfigNames):
    """``sd.output().output("softmax").data(iterator).exec()``.

    Parameters
    ----------
    sd : SameDiff
        The graph that it is about.
    """

    def __init__(self, sd: SupportsEvaluate) -> None:
        super().__init__(sd)
        self._outputs: list[str] = []

    def output(self, *outputs: Any) -> Self:
        """Add variables to compute."""
        self._outputs += [name_of(v) for v in flat(outputs)]
        return self

    def exec(self) -> dict[str, Any]:
        """Compute: name -> array, batches joined along the first axis."""
        values: dict[str, Any] = self._sd.output(self._given(), *self._outputs, *self._listeners)
        return values

    def exec_batches(self) -> list[dict[str, Any]]:
        """Compute the variables; a dictionary for each batch."""
        return self._sd.output_batches(self._given(), *self._outputs, *self._listeners)

    def exec_single(self) -> Any:
        """Compute the only variable."""
        return self.exec()[self._only()]

    def exec_single_batches(self) -> list[Any]:
        """Compute the only output: an array for each batch."""
        name = self._only()
        return [batch[name] for batch in self.exec_batches()]

    def _only(self) -> str:
        if len(self._outputs) != 1:
            raise GraphError(f"exactly one output is needed, {len(self._outputs)} were asked for: {', '.join(self._outputs) or 'none'}")
        return self._outputs[0]


class FitConfig(FitConfigNames):
    """A training to be described and run: ``sd.fit().train(iterator, 2).validate(other).listeners(...).exec()``.

    Parameters
    ----------
    sd : SameDiff
        The graph that it is about.
    """

    def __init__(self, sd: SupportsFit) -> None:
        self._sd = sd
        self._values: dict[str, Any] = {}

    def _set(self, **values: Any) -> FitConfig:
        self._values |= values
        return self

    def train(self, data: Any, epochs: int = 1) -> FitConfig:
        """Set data and number of epochs."""
        return self._set(data=data, epochs=epochs)

    def epochs(self, epochs: int) -> FitConfig:
        """Set the number of epochs."""
        return self._set(epochs=epochs)

    def validate(self, data: Any, frequency: int = 1) -> FitConfig:
        """Validate on that data every so many epochs."""
        return self._set(validation_data=data, validation_frequency=frequency)

    def validation_frequency(self, frequency: int) -> FitConfig:
        """Validate every so many epochs."""
        return self._set(validation_frequency=frequency)

    def listeners(self, *listeners: Any) -> FitConfig:
        """Use these listeners besides those of the graph."""
        return self._set(listeners=flat(listeners))

    def exec(self) -> History:
        """Train the graph."""
        if "data" not in self._values:
            raise ConfigurationError("nothing to train on: call train(data, epochs) before exec()")
        history: History = self._sd.fit(**self._values)
        return history
