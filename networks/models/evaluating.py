"""Measuring networks on data."""
from __future__ import annotations

from typing import Any

from ...samediff.data import DataSet
from ...samediff.errors import ConfigurationError
from ...samediff.evaluation import ROC, Evaluation, EvaluationBinary, EvaluationCalibration, RegressionEvaluation, ROCMultiClass
from ..engine.given_data import gives_batches, is_array, is_whole
from .network import Network


class Evaluating(Network):
    """The part of a network that evaluates it."""

    def do_evaluation(self, iterator: Any, *evaluations: Any, output_index: int = 0) -> list[Any]:
        """Fill evaluations with the outputs for all batches of an iterator (or data set)."""
        found = list(evaluations[0]) if len(evaluations) == 1 and isinstance(evaluations[0], (list, tuple)) else list(evaluations)
        if not (is_whole(iterator) or gives_batches(iterator) or isinstance(iterator, list)):
            raise ConfigurationError(f"an evaluation needs a data set, an iterator over data sets or a list of them, such as "
                                     f"DataSet(x, y); got {type(iterator).__name__}")
        wrong = next((e for e in found if not hasattr(e, "eval")), None)
        if wrong is not None:
            raise ConfigurationError(f"expected evaluations, such as Evaluation() or ROC(); got {wrong!r:.60}")
        outputs = [self.engine.structure.outputs[output_index]]
        for batch in self._batches_in(iterator, "evaluate", ConfigurationError):
            if output_index >= len(batch.labels) or batch.labels[output_index] is None:
                raise ConfigurationError(f"the data to evaluate has no labels of output {outputs[0]!r} to compare with")
            (predictions,), _ = self.engine.forward(batch, outputs)
            mask = batch.labels_masks[output_index] if output_index < len(batch.labels_masks) else None
            for evaluation in found:
                evaluation.eval(batch.labels[output_index], predictions, mask) if mask is not None \
                    else evaluation.eval(batch.labels[output_index], predictions)
        return found

    do_evaluation_helper = do_evaluation

    def evaluate(self, iterator: Any, labels: list[str] | None = None, top_n: int = 1) -> Evaluation:
        """Classification metrics over all batches of an iterator, a data set, or a list of them."""
        if labels is not None and is_array(labels):
            raise ConfigurationError("evaluate takes the labels inside of a data set: evaluate(DataSet(x, y)); further arguments are the "
                                     "names of the classes and top_n")
        evaluation = Evaluation(labels, top_n=top_n) if labels is not None else Evaluation(top_n=top_n)
        return self.do_evaluation(iterator, evaluation)[0]  # type: ignore[no-any-return]

    def evaluate_regression(self, iterator: Any, column_names: list[str] | None = None) -> RegressionEvaluation:
        """Regression metrics."""
        return self.do_evaluation(iterator, RegressionEvaluation(column_names) if column_names else RegressionEvaluation())[0]  # type: ignore[no-any-return]

    def evaluate_roc(self, iterator: Any, steps: int = 0) -> ROC:
        """ROC of a binary classifier; 0 steps: exact."""
        return self.do_evaluation(iterator, ROC(steps))[0]  # type: ignore[no-any-return]

    def evaluate_roc_multi_class(self, iterator: Any, steps: int = 0) -> ROCMultiClass:
        """One ROC for each class."""
        return self.do_evaluation(iterator, ROCMultiClass(steps))[0]  # type: ignore[no-any-return]

    def evaluate_binary(self, iterator: Any) -> EvaluationBinary:
        """Metrics of several independent binary outputs."""
        return self.do_evaluation(iterator, EvaluationBinary())[0]  # type: ignore[no-any-return]

    def evaluate_calibration(self, iterator: Any) -> EvaluationCalibration:
        """How well probabilities match frequencies."""
        return self.do_evaluation(iterator, EvaluationCalibration())[0]  # type: ignore[no-any-return]

    def f1_score(self, data: Any, labels: Any = None) -> float:
        """F1 of a data set, or of inputs and labels."""
        return float(self.evaluate(data if labels is None else DataSet(data, labels)).f1())
