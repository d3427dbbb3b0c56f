"""Evaluating a graph on data, and its outputs over an iterator."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Never

import numpy as np

from ...data.given.forms import Form, form_of, is_array
from ...data.given.parts import by_role
from ...errors import ConfigurationError, GraphError
from ...evaluation import Evaluation
from ...executor.session import known_plan
from ...expressions.arrays import as_array
from ...ir.node import needed
from ...training.batches import Source, fitting_labels, in_batches
from ...training.config import evaluations_of, label_array
from ...training.fit_loop import evaluate
from ...training.fit_options import positive
from ...training.history import EvaluationRecord, name_of
from ...training.listeners.calls import Listeners
from ...training.listeners.has_listeners import flat
from ...training.listeners.hooks import notify_ops, wanted_variables
from ...training.listeners.listener import Listener
from ...training.listeners.operation import At, Operation
from ...training.progress import with_bar
from ...training.run_configurations import EvaluationConfig, OutputConfig
from ..inspection import InspectionMixin
from .differentiation import as_list
from .execution import NOTHING_DRAWN
from .fitting import FittingMixin, split_by_kind


class EvaluationMixin(FittingMixin, InspectionMixin):
    """The part of :class:`SameDiff` that evaluates."""

    def evaluate(self, data: Any = None, outputs: Any = None, *args: Any, label_index: Any = 0, batch_size: int | None = None,
                 verbose: Any = 0, **unknown: Never) -> Any:
        """Compare outputs with labels; the evaluations are filled in place.

        ``evaluate(data, "softmax", Evaluation())``, ``evaluate(data, "softmax", label_index, Evaluation(), ROC())`` or
        ``evaluate(data, {"softmax": [Evaluation()], "z": RegressionEvaluation()}, {"softmax": 0, "z": 1})``.

        Parameters
        ----------
        data : DataSet, MultiDataSet, (x, y), or anything that gives these
            Arrays go to the placeholders that the mappings of the training configuration name. ``evaluate(x, y, …)`` works too.
        outputs : str, SDVariable or mapping
            The variable that is compared with labels, the only output of the graph where it is left out; or the evaluations of each
            variable. An `Evaluation` where none is given.
        label_index : int or mapping
            Position of the label array, from 0; or that of each variable.
        batch_size : int, optional
            Examples that are computed at once, or put together where they come one by one.
        verbose : bool
            Show a bar while batches are gone through, where tqdm is installed and the output is a terminal.

        Returns
        -------
        EvaluationRecord
            Without arguments an :class:`EvaluationConfig`, to be filled in and run with ``exec()``.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import Evaluation, SameDiff, DataType
        >>> from dl4py.samediff.training import TrainingConfig
        >>> sd = SameDiff.create()
        >>> x, y = (sd.placeholder(name, DataType.FLOAT, -1, 2) for name in "xy")
        >>> p = sd.nn.softmax("p", x)
        >>> sd.set_training_config(TrainingConfig(data_set_feature_mapping="x", data_set_label_mapping="y"))
        >>> evaluation = Evaluation()
        >>> _ = sd.evaluate((np.eye(2), np.eye(2)), "p", evaluation)
        >>> evaluation.accuracy()
        1.0
        """
        data, named = self._by_role("evaluate", data, None, unknown, ["outputs", "label_index", "batch_size", "verbose"])
        if data is None and outputs is None:
            return EvaluationConfig(self)
        if named is not None:
            data = (data, named)
        if form_of(data) is Form.ARRAY and (is_array(outputs) or isinstance(outputs, list)):
            data, outputs, args = (data, outputs), args[0] if args else None, args[1:]
        args, heard = split_by_kind(args, Listener)
        if outputs is None:
            outputs = self._only_output()
        if args and isinstance(args[0], (int, np.integer, Mapping)):
            label_index, args = args[0], args[1:]
        given = outputs if isinstance(outputs, Mapping) else {name_of(outputs): flat(args) or _default()}
        named = {self.variable(name_of(v)).name(): es for v, es in given.items()}
        evaluations = {name: evaluations_of(name, es) for name, es in named.items()}
        indices = _label_arrays(label_index, evaluations)
        if batch_size is not None:
            data = in_batches(self, data, batch_size, None, self.checked_config(training=False, outputs=tuple(evaluations)))
        source = shown(data, "evaluate", verbose)
        for batch, values in evaluate(self, source, [*self._listeners, *heard], Operation.EVALUATION, *evaluations):
            for name, found in evaluations.items():
                index, labels = indices[name], batch.labels
                if index >= len(labels):
                    raise ConfigurationError(f"label array {index} of {name!r} is asked for, the data has {len(labels)}")
                for evaluation in found:
                    evaluation.eval(labels[index], values[name], batch.array("labels_masks", index))
        return EvaluationRecord(evaluations)

    def evaluate_multiple(self, data: Any, variable_evals: Mapping[Any, Any], *listeners: Any) -> EvaluationRecord:
        """Several evaluations for several outputs: ``{"softmax": [Evaluation(), ROC()]}``; otherwise as :meth:`evaluate`."""
        return self.evaluate(data, variable_evals, *listeners)  # type: ignore[no-any-return]

    def do_evaluation(self, data: Any, *evaluations: Any) -> EvaluationRecord:
        """Evaluate the only output of the graph."""
        return self.evaluate(data, self._only_output(), *evaluations)  # type: ignore[no-any-return]

    def _only_output(self) -> str:
        names = [n for n in self.outputs() if n not in {*self.tables.losses, *self.get_loss_variables()}] or self._compared()
        if len(names) != 1:
            raise GraphError("name the variable that is compared with the labels, such as evaluate(data, 'softmax', evaluations): the "
                             f"graph has {'the outputs ' + ', '.join(names) if names else 'no output besides its losses'}")
        return names[0]

    def _compared(self) -> list[str]:
        """The variables that the losses compare with labels: they depend on features alone, and meet values from labels in an op."""
        config = self._config
        if config is None or not config.data_set_label_mapping or not config.data_set_feature_mapping:
            return []
        of_labels, of_features = set(config.data_set_label_mapping), set(config.data_set_feature_mapping)
        found: dict[str, None] = {}
        for node in needed(self.tables.nodes.values(), self.infer_loss_variables()):
            meets = not of_labels.isdisjoint(node.inputs)
            found |= dict.fromkeys(n for n in node.inputs if meets and n in of_features and n not in of_labels)
            for side, met in ((of_labels, meets), (of_features, not of_features.isdisjoint(node.inputs))):
                side.update(node.outputs if met else ())
        return list(found)

    def output(self, placeholders: Any = ..., *outputs: Any, batch_size: int | None = None, **unknown: Never) -> Any:
        """Compute variables: ``{name: array}``.

        ``placeholders`` maps names to arrays. Data sets and iterators of them work too (by the mappings of the training
        configuration): results of the batches are joined along the first axis, scalars become one value per batch.
        Without arguments an :class:`OutputConfig`, to be filled in and run with ``exec()``.

        Parameters
        ----------
        placeholders : mapping of name to array, array, data set, or batches
            The data.
        *outputs : str or SDVariable
            What to compute, also as ``outputs=[...]``; where nothing is named, the only output of the graph, or what its losses compare
            with labels.
        batch_size : int, optional
            Examples that are computed at once, or put together where they come one by one.
        """
        if unknown:
            outputs += tuple(as_list(unknown.pop("outputs", [])))
            placeholders, _ = self._by_role("output", None if placeholders is ... else placeholders, None, unknown, ["batch_size"])
        if placeholders is ...:
            return OutputConfig(self)
        if batch_size is not None:
            return self.tables.in_kind(self._in_pieces(placeholders, outputs, batch_size), placeholders)
        if type(placeholders) is dict and not self._listeners and not self._keeps:
            plan = known_plan(self, placeholders, outputs, False)
            if plan is not None:                            # nearly always: nothing else to look at
                context = self._context(False) if plan.needs_rng else NOTHING_DRAWN
                results = plan.run([placeholders[n] for n in plan.feeds], context)
                return self.tables.in_kind({outputs[0]: results[0]} if len(outputs) == 1 else dict(zip(outputs, results)), placeholders)
        outputs, heard = split_by_kind(outputs, Listener)
        outputs = outputs or (self._only_output(),)
        if placeholders is None or self._holds_values(placeholders):
            placeholders = fitting_labels(self, placeholders, self._config)
            if not self._listeners and not heard:
                return super().output(placeholders, *outputs)
            listeners = Listeners([*self._listeners, *heard], Operation.INFERENCE)
            return self.tables.in_kind(self.heard_output(listeners, placeholders, self.tables.names_in(outputs)), placeholders)
        batches = self.output_batches(placeholders, *outputs, *heard)
        found = {n: np.concatenate([np.atleast_1d(b[n]) for b in batches]) for n in self.tables.names_in(outputs)}
        return self.tables.in_kind(found, placeholders)

    def _in_pieces(self, data: Any, outputs: Sequence[Any], size: int) -> dict[str, Any]:
        """Outputs for the rows of data, so many at once."""
        if self._holds_values(data):
            feeds = {k if isinstance(k, str) else k.name(): as_array(v) for k, v in data.items()}
            rows = {len(v) for k, v in feeds.items() if self._is_open(k)}
            if len(rows) != 1:
                raise ConfigurationError("batch_size needs placeholders that leave the number of rows open, and equally many rows; got "
                                         f"{', '.join(map(str, sorted(rows))) or 'none'}")
            pieces = [{k: v[start:start + size] if self._is_open(k) else v for k, v in feeds.items()}
                      for start in range(0, rows.pop(), positive("batch_size", size))]
            found = [self.output(piece, *(outputs or (self._only_output(),))) for piece in pieces]
            return {n: np.concatenate([np.atleast_1d(one[n]) for one in found]) for n in found[0]}
        config = self.checked_config(training=False, outputs=self.tables.names_in(outputs))
        return self.output(in_batches(self, data, size, None, config, labels_needed=False), *outputs)  # type: ignore[no-any-return]

    def _holds_values(self, data: Any) -> bool:
        """Whether a mapping gives values of placeholders by name, rather than arrays by role (``features``)."""
        if not isinstance(data, Mapping):
            return False
        names = {k if isinstance(k, str) else k.name() for k in data}
        return not names or self._config is None or not names.isdisjoint(self.tables.variables) or by_role(dict.fromkeys(names))[1] != []

    def _is_open(self, name: str) -> bool:
        shape = self.variable(name).get_shape()
        return shape is None or (len(shape) > 0 and shape[0] == -1)

    def output_batches(self, data: Any, *outputs: Any) -> list[dict[str, Any]]:
        """Outputs for each batch of data."""
        outputs, heard = split_by_kind(outputs, Listener)
        names = self.tables.names_in(outputs)
        if not names:
            raise GraphError("name at least one output to compute")
        for name in names:
            self.variable(name)
        found = evaluate(self, Source(data), [*self._listeners, *heard], Operation.INFERENCE, *names)
        return [values for _, values in found]

    def heard_output(self, listeners: Listeners, placeholders: Mapping[str, Any] | None, names: list[str],
                     at: At | None = None, training: bool = False) -> dict[str, Any]:
        """Variables by name; the listeners hear of the run."""
        at = at if at is not None else At.default_at()
        listeners.call("operation_start", self, at.operation())
        wanted = list(dict.fromkeys([*names, *wanted_variables(self, listeners, at.operation(), names)]))
        feeds = {k if isinstance(k, str) else k.name(): v for k, v in (placeholders or {}).items()}
        values = self.compute(placeholders, wanted, training)
        notify_ops(self, listeners, at, None, feeds, values)
        listeners.call("operation_end", self, at.operation())
        return {n: values[n] for n in names}


def shown(data: Any, title: str, verbose: Any) -> Source:
    """The batches of data, with a bar where that is asked for."""
    source = Source(data)
    return Source(with_bar(iter(source), title, source.data)) if verbose else source


def _default() -> list[Any]:
    return [Evaluation()]


def _label_arrays(given: Any, evaluated: Iterable[str]) -> dict[str, int]:
    """The position of the label array of each variable."""
    names = list(evaluated)
    if not isinstance(given, Mapping):
        return {name: label_array(given, name) for name in names}
    indices = {name_of(v): label_array(i, name_of(v)) for v, i in given.items()}
    for name in indices:
        if name not in names:
            raise ConfigurationError(f"a label array is named for {name!r}, which is not evaluated; {', '.join(names)} is")
    return dict.fromkeys(names, 0) | indices
