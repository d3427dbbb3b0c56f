"""Scores of a network on data, by which early stopping chooses."""
from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.evaluation import ROC, Evaluation, RegressionEvaluation, ROCBinary, ROCMultiClass
from ..batches.given_data import batches_in
from ..structure.java_names import ScoreCalculatorNames


class ScoreCalculator(ScoreCalculatorNames):
    """Base of scores. Derive from it for a score of your own."""

    @unwritten(when_called=True)
    def calculate_score(self, network: Any) -> float:
        """The score of a network."""
        raise NotImplementedError

    def minimize_score(self) -> bool:
        """Whether small scores are good."""
        return True


class DataSetLossCalculator(ScoreCalculator):
    """The network's loss on a data set, regularization included.

    Parameters
    ----------
    iterator : DataSetIterator or MultiDataSetIterator
        The data, gone through anew for every score.
    average : bool
        Mean over all examples (default); else the sum.
    """

    def __init__(self, iterator: Any, average: bool = True) -> None:
        self.iterator, self.average = iterator, bool(average)

    def calculate_score(self, network: Any) -> float:
        """Sum of score times examples over all batches, divided by the number of examples for the mean."""
        total, count = 0.0, 0
        for batch in batches_in(network.structure, self.iterator, "score"):
            total += network.score(batch) * batch.size
            count += batch.size
        return total / count if self.average else total


class DataSetLossCalculatorCG(DataSetLossCalculator):
    """The same; DL4J's old name for graphs."""


class ClassificationScoreCalculator(ScoreCalculator):
    """A metric of :class:`~dl4py.samediff.evaluation.Evaluation`, such as ``Evaluation.Metric.ACCURACY``; large is good.

    Parameters
    ----------
    metric : Evaluation.Metric or str
        The metric, such as ``"ACCURACY"`` or ``"F1"``.
    iterator : DataSetIterator or MultiDataSetIterator
        The data, gone through anew for every score.
    """

    def __init__(self, metric: Any, iterator: Any) -> None:
        self.metric, self.iterator = metric, iterator

    def calculate_score(self, network: Any) -> float:
        """The metric over all batches."""
        return float(network.do_evaluation(self.iterator, Evaluation())[0].score_for_metric(self.metric))

    def minimize_score(self) -> bool:
        return False


class RegressionScoreCalculator(ScoreCalculator):
    """A metric of :class:`~dl4py.samediff.evaluation.RegressionEvaluation`, mean over columns; small is good but for PC and R2.

    Parameters
    ----------
    metric : RegressionEvaluation.Metric
        The metric, such as ``RegressionEvaluation.Metric.MSE``.
    iterator : DataSetIterator or MultiDataSetIterator
        The data, gone through anew for every score.
    """

    def __init__(self, metric: Any, iterator: Any) -> None:
        self.metric, self.iterator = metric, iterator

    def calculate_score(self, network: Any) -> float:
        """The metric over all batches."""
        return float(network.do_evaluation(self.iterator, RegressionEvaluation())[0].score_for_metric(self.metric))

    def minimize_score(self) -> bool:
        """All but correlation and R squared are errors."""
        return bool(self.metric.minimize())


class ROCScoreCalculator(ScoreCalculator):
    """Area under the ROC or precision-recall curve; large is good.

    Parameters
    ----------
    type : ROCType or str
        ROC: one binary output; BINARY: several, their mean; MULTICLASS: one against all, mean over classes.
    *given : Metric or str, iterator
        The metric, AUC where it is left out or AUPRC, and the data, gone through anew for every score.
    """

    class ROCType(JavaEnum):
        """Kind of labels."""

        ROC = "ROC"
        BINARY = "BINARY"
        MULTICLASS = "MULTICLASS"

    class Metric(JavaEnum):
        """Kind of curve."""

        AUC = "AUC"
        AUPRC = "AUPRC"

    _evaluations: ClassVar[dict[str, Any]] = {"ROC": ROC, "BINARY": ROCBinary, "MULTICLASS": ROCMultiClass}

    def __init__(self, type: Any, *given: Any) -> None:
        metric, iterator = given if len(given) == 2 else (ROCScoreCalculator.Metric.AUC, *given)
        self.type, self.metric, self.iterator = ROCScoreCalculator.ROCType(type), ROCScoreCalculator.Metric(metric), iterator

    def calculate_score(self, network: Any) -> float:
        """The area over all batches."""
        found = network.do_evaluation(self.iterator, self._evaluations[self.type.name]())[0]
        return float(found.score_for_metric("AUROC" if self.metric is self.Metric.AUC else "AUPRC"))

    def minimize_score(self) -> bool:
        return False


class _ReconstructionCalculator(ScoreCalculator):
    """Measures how well the first layer of a network gives its input back.

    Parameters
    ----------
    metric : RegressionEvaluation.Metric
        The metric, such as ``RegressionEvaluation.Metric.MSE``, of reconstructions against inputs.
    iterator : DataSetIterator or MultiDataSetIterator
        The data, gone through anew for every score; labels are not looked at.
    """

    def __init__(self, metric: Any, iterator: Any) -> None:
        self.metric, self.iterator = metric, iterator

    def _reconstruct(self, layer: Any, x: Any) -> Any:
        raise NotImplementedError

    def calculate_score(self, network: Any) -> float:
        """The regression metric of the reconstructed inputs."""
        layer, evaluation = network.get_layer(0), RegressionEvaluation()
        for batch in batches_in(network.structure, self.iterator, "score"):
            x = batch.inputs[0]
            evaluation.eval(x, self._reconstruct(layer, x))
        return float(evaluation.score_for_metric(self.metric))

    def minimize_score(self) -> bool:
        """All but correlation and R squared are errors."""
        return bool(self.metric.minimize())


class AutoencoderScoreCalculator(_ReconstructionCalculator):
    """A regression metric of what an :class:`~dl4py.layers.AutoEncoder` in the first layer reconstructs."""

    def _reconstruct(self, layer: Any, x: Any) -> Any:
        return layer.decode(layer.encode(x))


class VAEReconErrorScoreCalculator(_ReconstructionCalculator):
    """A regression metric of what a :class:`~dl4py.layers.VariationalAutoencoder` in the first layer reconstructs."""

    def _reconstruct(self, layer: Any, x: Any) -> Any:
        return layer.generate_at_mean_given_z(layer.activate(x))


class VAEReconProbScoreCalculator(ScoreCalculator):
    """Reconstruction probability of a variational autoencoder in the first layer; large is good.

    Parameters
    ----------
    iterator : DataSetIterator or MultiDataSetIterator
        The data, gone through anew for every score; labels are not looked at.
    reconstruction_prob_num_samples : int
        Samples of the latent variables for each example, at least 1.
    log_prob : bool
        Logarithms of probabilities, rather than probabilities, are added up.
    average : bool
        Mean over examples (default); else the sum.
    """

    def __init__(self, iterator: Any, reconstruction_prob_num_samples: int, log_prob: bool, average: bool = True) -> None:
        self.iterator, self.samples, self.log_prob, self.average = iterator, int(reconstruction_prob_num_samples), log_prob, average

    def calculate_score(self, network: Any) -> float:
        layer, total, count = network.get_layer(0), 0.0, 0
        for batch in batches_in(network.structure, self.iterator, "score"):
            x = batch.inputs[0]
            measure = layer.reconstruction_log_probability if self.log_prob else layer.reconstruction_probability
            total += float(np.sum(measure(x, self.samples)))
            count += len(x)
        return total / count if self.average else total

    def minimize_score(self) -> bool:
        return False
