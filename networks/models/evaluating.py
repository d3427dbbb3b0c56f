"""Scores of examples, gradients and evaluations of networks on data."""
from __future__ import annotations

from typing import Any, Never

import numpy as np

from ...samediff.base.java.pair import Pair
from ...samediff.base.user_code.users_arrays import answers_in_kind
from ...samediff.data.given.forms import gives_batches, is_whole
from ...samediff.data.given.sources import InBatch, source_of
from ...samediff.errors import ConfigurationError, GraphError, ShapeError
from ...samediff.evaluation import ROC, Evaluation, EvaluationBinary, EvaluationCalibration, RegressionEvaluation, ROCMultiClass
from ...samediff.training.fit_options import data_and_labels
from ...samediff.training.progress import with_bar
from ..batches.batch import NetworkBatch
from ..batches.given_data import batch_in, batches_in, with_labels
from ..engine.gradient import Gradient
from .network import Network


class NetworkEvaluationMixin(Network):
    """The part of a network that scores and evaluates it."""

    # Scores and gradients

    @answers_in_kind
    def score_examples(self, data: Any, add_regularization: Any = False) -> Any:
        """Loss of each example, (batch,); of an iterator of all of its examples. Steps of series are added up.

        Parameters
        ----------
        data : DataSet, MultiDataSet, array or iterator
            Arrays are features, and their labels come second, as in :meth:`score`.
        add_regularization : bool, default False
            Whether the penalties are added to each loss.

        Raises
        ------
        ConfigurationError
            An output layer that computes one loss for all examples.
        ShapeError
            Outputs of a graph with other numbers of examples, as behind an UnstackVertex.
        """
        data, add_regularization = with_labels(data, add_regularization, False)
        if gives_batches(data):
            return np.concatenate([self.score_examples(b, add_regularization) for b in batches_in(self.structure, data, "score")])
        engine = self.engine
        scores, _ = engine.forward.scores(batch_in(engine.structure, data, "score"))
        if any(np.ndim(one) == 0 for one in scores):
            raise ConfigurationError("an output layer of this network computes one loss for all examples: "
                                     "it has no scores of single examples")
        if len({len(one) for one in scores}) > 1:
            counts = " and ".join(str(len(one)) for one in scores)
            raise ShapeError(f"score_examples adds up the losses of each example; the outputs of this graph have {counts} examples")
        total = sum(scores[1:], scores[0])
        return total + total.dtype.type(engine.steps.penalty()) if add_regularization else total

    def compute_gradient_and_score(self) -> None:
        """Gradients (sums over examples) and score of the inputs and labels that were set."""
        given, engine = self._arrays, self.engine
        if given.batch is None or not given.labels:
            raise GraphError("set inputs and labels first")
        batch = NetworkBatch(given.batch.inputs, given.labels, *given.masks)
        total, _ = engine.steps.gradient(batch)
        engine.progress.score, engine.progress.rows = total + engine.steps.penalty(), batch.rows

    def gradient(self) -> Gradient:
        """The gradient of the last :meth:`compute_gradient_and_score` or step, as sums over examples."""
        engine = self.engine
        arrays = {n: a for n, a in engine.flat.gradient_arrays.items() if n in engine.steps.computed}
        return Gradient(engine.flat.gradients, arrays)

    def gradient_and_score(self) -> Pair[Gradient, float]:
        """Gradient and score together."""
        return Pair(self.gradient(), self.score())

    def calc_regularization_score(self, backprop_params_only: bool = True) -> float:
        """Sum of all penalties; on request also those of the parameters that only pretraining moves."""
        engine, at = self.engine, self.engine.progress
        return engine.steps.penalty() + (0.0 if backprop_params_only else engine.parameters.pretraining_penalty(at.iteration, at.epoch))

    def calc_l1(self) -> float:
        """DL4J's old name of the summed penalties."""
        return self.calc_regularization_score()

    # Evaluations

    def do_evaluation(self, iterator: Any, *evaluations: Any, output_index: int = 0, batch_size: int | None = None) -> list[Any]:
        """Fill evaluations with the outputs for all batches of an iterator (or data set).

        Parameters
        ----------
        iterator : iterator, data set or list of them
            The data, with labels.
        *evaluations : BaseEvaluation
            They are filled and returned, one by one or as one list.
        output_index : int
            Which output of a graph, counted from 0.
        batch_size : int, optional
            Examples that are computed at once, or put together where they come one by one.
        """
        found = list(evaluations[0]) if len(evaluations) == 1 and isinstance(evaluations[0], (list, tuple)) else list(evaluations)
        if not (is_whole(iterator) or gives_batches(iterator) or isinstance(iterator, list)):
            raise ConfigurationError(f"an evaluation needs a data set, an iterator over data sets or a list of them, such as "
                                     f"DataSet(x, y); got {type(iterator).__name__}")
        wrong = next((e for e in found if not hasattr(e, "eval")), None)
        if wrong is not None:
            raise ConfigurationError(f"expected evaluations, such as Evaluation() or ROC(); got {wrong!r:.60}")
        outputs = [self.engine.structure.outputs[output_index]]
        if self.engine.structure.piece_length is not None:
            self.rnn_clear_previous_state()
        for number, batch in enumerate(batches_in(self.structure, iterator, "evaluate", ConfigurationError, batch_size)):
            with InBatch(number):
                if output_index >= len(batch.labels) or batch.labels[output_index] is None:
                    raise ConfigurationError(f"the data to evaluate has no labels of output {outputs[0]!r} to compare with")
                (predictions,), _ = self.engine.forward.activations(batch, outputs)
                mask = batch.labels_masks[output_index] if output_index < len(batch.labels_masks) else None
                for evaluation in found:
                    evaluation.eval(batch.labels[output_index], predictions, *([] if mask is None else [mask]))
        return found

    do_evaluation_helper = do_evaluation

    def evaluate(self, iterator: Any = None, labels: Any = None, top_n: int = 1, *, batch_size: int | None = None, verbose: Any = 0,
                 **unknown: Never) -> Evaluation:
        """Classification metrics over all batches of an iterator, a data set, or a list of them; or of features and labels.

        Parameters
        ----------
        iterator : iterator, data set, list of them, or array
            The data; an array is features.
        labels : list of str or array, optional
            Names of the classes; or the labels of the features, as ``fit`` takes them.
        top_n : int, default 1
            An example counts as right where its class is among so many most probable ones.
        batch_size : int, optional
            Examples that are computed at once, or put together where they come one by one.
        verbose : bool
            Show a bar while batches are gone through, where tqdm is installed and the output is a terminal.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.layers import OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(OutputLayer(n_in=2, n_out=2)).build())
        >>> x = np.eye(2)
        >>> net.evaluate(x, [0, 1]).accuracy() == net.evaluate(x, x).accuracy()
        True
        """
        if unknown:
            iterator, labels = data_and_labels("evaluate", iterator, labels, unknown, ["top_n", "batch_size", "verbose"])
        iterator, labels = with_labels(iterator, labels)
        if verbose and gives_batches(iterator) and batch_size is None:
            iterator = with_bar(iter(source_of(iterator)), "evaluate", iterator)
        evaluation = Evaluation(labels, top_n=top_n) if labels is not None else Evaluation(top_n=top_n)
        return self.do_evaluation(iterator, evaluation, batch_size=batch_size)[0]  # type: ignore[no-any-return]

    def evaluate_regression(self, iterator: Any, column_names: Any = None) -> RegressionEvaluation:
        """Regression metrics, also of features and labels (see :meth:`evaluate`)."""
        iterator, column_names = with_labels(iterator, column_names)
        return self.do_evaluation(iterator, RegressionEvaluation(column_names) if column_names else RegressionEvaluation())[0]  # type: ignore[no-any-return]

    def evaluate_roc(self, iterator: Any, steps: Any = 0) -> ROC:
        """ROC of a binary classifier; 0 steps: exact. Also of features and labels (see :meth:`evaluate`)."""
        iterator, steps = with_labels(iterator, steps, 0)
        return self.do_evaluation(iterator, ROC(steps))[0]  # type: ignore[no-any-return]

    def evaluate_roc_multi_class(self, iterator: Any, steps: Any = 0) -> ROCMultiClass:
        """One ROC for each class; 0 steps: exact. Also of features and labels (see :meth:`evaluate`)."""
        iterator, steps = with_labels(iterator, steps, 0)
        return self.do_evaluation(iterator, ROCMultiClass(steps))[0]  # type: ignore[no-any-return]

    def evaluate_binary(self, iterator: Any, labels: Any = None) -> EvaluationBinary:
        """Metrics of several independent binary outputs, also of features and labels (see :meth:`evaluate`)."""
        return self.do_evaluation(iterator if labels is None else (iterator, labels), EvaluationBinary())[0]  # type: ignore[no-any-return]

    def evaluate_calibration(self, iterator: Any, labels: Any = None) -> EvaluationCalibration:
        """Evaluate the calibration of probabilities on an iterator, or on features and labels (see :meth:`evaluate`)."""
        return self.do_evaluation(iterator if labels is None else (iterator, labels), EvaluationCalibration())[0]  # type: ignore[no-any-return]

    def f1_score(self, data: Any, labels: Any = None) -> float:
        """F1 of a data set, or of inputs and labels."""
        return float(self.evaluate(data, labels).f1())
