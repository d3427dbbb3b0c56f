"""Early stopping on Spark."""
from __future__ import annotations

from typing import Any

from ...samediff.base.javanames import JavaSpelling
from ..early_stopping.configuration import EarlyStoppingConfiguration
from ..early_stopping.result import EarlyStoppingListener
from ..early_stopping.scores import ScoreCalculator
from ..early_stopping.trainer import EarlyStoppingRun, EarlyStoppingTrainerBase
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from .base import SparkModel
from .master import TrainingMaster
from .networks import SparkComputationGraph, SparkDl4jMultiLayer


class SparkDataSetLossCalculator(ScoreCalculator):
    """The network's loss on an RDD, regularization included, computed on the executors.

    Parameters
    ----------
    data : RDD or DataFrame
        The data.
    average : bool
        Mean over all examples; else the sum.
    spark : SparkContext or SparkSession
        The Spark that has the data.
    """

    def __init__(self, data: Any, average: bool, spark: Any) -> None:
        self.data, self.average, self.spark = data, bool(average), spark

    def calculate_score(self, network: Any) -> float:
        """The mean or the sum of the scores of all examples."""
        return _on_spark(self.spark, network, None).calculate_score(self.data, self.average)


class SparkLossCalculatorComputationGraph(SparkDataSetLossCalculator):
    """The same; DL4J's name for graphs."""


class _SparkTrainer(EarlyStoppingTrainerBase, JavaSpelling):
    """Base of the trainers of both kinds of network: each epoch is a pass of the training master over the data.

    Iteration conditions are asked after each averaging, about the mean score.

    Parameters
    ----------
    spark : SparkContext or SparkSession
        The Spark whose executors train.
    configuration : EarlyStoppingConfiguration
        When to stop, what counts as good, where to keep models.
    network : network, or its configuration
        It goes on from where it is.
    training_master : TrainingMaster
        How executors train together.
    train : RDD, DataFrame, path or batches
        Gone through once for every epoch.
    listener : EarlyStoppingListener, optional
        Hears of start, epochs with a score, and end.
    """

    def __init__(self, spark: Any, configuration: EarlyStoppingConfiguration, network: Any, training_master: TrainingMaster, train: Any,
                 listener: EarlyStoppingListener | None = None) -> None:
        self._spark = _on_spark(spark, network, training_master, self.kind)
        super().__init__(configuration, self._spark.get_network(), train, listener)

    def _run(self, calculator: ScoreCalculator) -> EarlyStoppingRun:
        return _SparkRun(self._spark, self._conf, self._network, self._spark.rdd_of(self._train), calculator, self._tell)


class _SparkRun(EarlyStoppingRun):
    """One training on Spark."""

    def __init__(self, spark: SparkModel, *given: Any) -> None:
        super().__init__(*given)
        self.spark = spark

    def epoch(self) -> Any:
        met: list[Any] = []

        def told() -> bool:
            met[:] = [condition for condition in [self.met(self.network.score())] if condition is not None]
            return bool(met)
        data, load = self.train
        self.spark.fit_batches(data, load, 0, told)
        return met[0] if met else None


class SparkEarlyStoppingTrainer(_SparkTrainer):
    """Trains a :class:`~dl4py.networks.MultiLayerNetwork` on Spark with early stopping."""

    kind = MultiLayerNetwork


class SparkEarlyStoppingGraphTrainer(_SparkTrainer):
    """Trains a :class:`~dl4py.networks.ComputationGraph` on Spark with early stopping."""

    kind = ComputationGraph


def _on_spark(spark: Any, network: Any, master: TrainingMaster | None, kind: Any = None) -> SparkModel:
    is_graph = issubclass(kind, ComputationGraph) if kind else isinstance(network, ComputationGraph)
    return (SparkComputationGraph if is_graph else SparkDl4jMultiLayer)(spark, network, master)
