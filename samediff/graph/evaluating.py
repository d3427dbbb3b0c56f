"""Evaluating a graph on data, and its outputs over an iterator."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ConfigurationError, GraphError
from ..executor.session import known_plan
from ..training.batches import Source
from ..training.fit_loop import evaluate
from ..training.history import EvaluationRecord, name_of
from ..training.listeners.hooks import tell_ops, wanted_variables
from ..training.listeners.listener import At, Listener, Listeners, Operation, flat
from ..training.requests import EvaluationConfig, OutputConfig
from .execution import NOTHING_DRAWN
from .fitting import Fitting, _split

_NOTHING: Any = object()


class Evaluating(Fitting):
    """The part of :class:`SameDiff` that evaluates."""

    def evaluate(self, data: Any = None, outputs: Any = None, *args: Any, label_index: Any = 0) -> Any:
        """Compare outputs with labels; the evaluations are filled in place.

        ``evaluate(data, "softmax", Evaluation())``, ``evaluate(data, "softmax", label_index, Evaluation(), ROC())`` or
        ``evaluate(data, {"softmax": [Evaluation()], "z": RegressionEvaluation()}, {"softmax": 0, "z": 1})``.

        Parameters
        ----------
        data : DataSet, MultiDataSet, (x, y), or an iterator or list of these
        outputs : name of a variable, or a dictionary from variables to evaluations
        label_index : position of the label array; a dictionary by variable for several

        Returns
        -------
        EvaluationRecord
            Without arguments an :class:`EvaluationConfig`, to be filled in and run with ``exec()``.
        """
        if data is None and outputs is None:
            return EvaluationConfig(self)
        args, heard = _split(args, Listener)
        if args and isinstance(args[0], (int, np.integer, Mapping)):
            label_index, args = args[0], args[1:]
        given = outputs if isinstance(outputs, Mapping) else {name_of(outputs): flat(args) or _default()}
        evaluations = {self.variable(name_of(v)).name(): flat((es,)) for v, es in given.items()}
        several = isinstance(label_index, Mapping)
        indices = {name_of(v): i for v, i in label_index.items()} if several else dict.fromkeys(evaluations, label_index)
        self._checked_config(training=False)
        for batch, values in evaluate(self, Source(data), [*self._listeners, *heard], Operation.EVALUATION, *evaluations):
            for name, found in evaluations.items():
                index = indices.get(name, 0)
                labels = batch.get_labels()
                if not 0 <= index < len(labels):
                    raise ConfigurationError(f"label array {index} of {name!r} is asked for, the data has {len(labels)}")
                for evaluation in found:
                    evaluation.eval(labels[index], values[name], batch.get_labels_mask_array(index))
        return EvaluationRecord(evaluations)

    def evaluate_multiple(self, data: Any, variable_evals: Mapping[Any, Any], *listeners: Any) -> EvaluationRecord:
        """Several evaluations for several outputs: ``{"softmax": [Evaluation(), ROC()]}``; otherwise as :meth:`evaluate`."""
        return self.evaluate(data, variable_evals, *listeners)  # type: ignore[no-any-return]

    def do_evaluation(self, data: Any, *evaluations: Any) -> EvaluationRecord:
        """Evaluate the only output of the graph."""
        names = [n for n in self.outputs() if n not in self._losses]  # type: ignore[attr-defined]  # of the whole graph
        if len(names) != 1:
            raise GraphError(f"the graph has {len(names)} outputs ({', '.join(names)}); use evaluate(data, output, evaluations)")
        return self.evaluate(data, names[0], *evaluations)  # type: ignore[no-any-return]

    def output(self, placeholders: Any = _NOTHING, *outputs: Any) -> Any:
        """Compute variables: ``{name: array}``.

        ``placeholders`` maps names to arrays. Data sets and iterators of them work too (by the mappings of the training
        configuration): results of the batches are joined along the first axis, scalars become one value per batch.
        Without arguments an :class:`OutputConfig`, to be filled in and run with ``exec()``.
        """
        if placeholders is _NOTHING:
            return OutputConfig(self)
        if type(placeholders) is dict and not self._listeners:
            plan = known_plan(self, placeholders, outputs, False)
            if plan is not None:                            # nearly always: nothing else to look at
                context = self._context(False) if plan.draws else NOTHING_DRAWN
                results = plan.run([placeholders[n] for n in plan.feeds], context)
                return {outputs[0]: results[0]} if len(outputs) == 1 else dict(zip(outputs, results))
        outputs, heard = _split(outputs, Listener)
        if placeholders is None or isinstance(placeholders, Mapping):
            listeners = Listeners([*self._listeners, *heard], Operation.INFERENCE) if self._listeners or heard else None
            return self._heard_output(listeners, placeholders, self._names_in(outputs)) if listeners else super().output(placeholders,
                *outputs)
        if self._config is None:
            names = [n for n, v in self._variables.items() if v.is_place_holder()]
            raise ConfigurationError(f"values of placeholders are a dictionary, such as {{{names[0] if names else 'x'!r}: array}}; got "
                                     f"{type(placeholders).__name__}. Arrays, data sets and iterators need a training configuration, whose "
                                     "mappings say which placeholder they are for")
        batches = self.output_batches(placeholders, *outputs, *heard)
        return {n: np.concatenate([np.atleast_1d(b[n]) for b in batches]) for n in self._names_in(outputs)}

    def output_batches(self, data: Any, *outputs: Any) -> list[dict[str, Any]]:
        """Outputs for each batch of data."""
        outputs, heard = _split(outputs, Listener)
        names = self._names_in(outputs)
        if not names:
            raise GraphError("name at least one output to compute")
        for name in names:
            self.variable(name)
        found = evaluate(self, Source(data), [*self._listeners, *heard], Operation.INFERENCE, *names)
        return [values for _, values in found]

    def _heard_output(self, listeners: Listeners, placeholders: Mapping[str, Any] | None, names: list[str],
                      at: At | None = None, training: bool = False) -> dict[str, Any]:
        at = at if at is not None else At.default_at()
        listeners.call("operation_start", self, at.operation())
        wanted = list(dict.fromkeys([*names, *wanted_variables(self, listeners.members, at.operation(), names)]))
        feeds = {k if isinstance(k, str) else k.name(): v for k, v in (placeholders or {}).items()}
        values = self._run(placeholders, wanted, training)
        tell_ops(self, listeners, at, None, feeds, values)
        listeners.call("operation_end", self, at.operation())
        return {n: values[n] for n in names}


def _default() -> list[Any]:
    from ..evaluation import Evaluation
    return [Evaluation()]
