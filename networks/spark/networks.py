"""Lists of layers, graphs of layers and SameDiff graphs on Spark."""
from __future__ import annotations

from typing import Any

from ...samediff.data import DataSet
from ...samediff.graph.graph import SameDiff
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from ..structure.java_names import SparkComputationGraphNames, SparkDl4jMultiLayerNames, SparkSameDiffNames
from .base import SparkModel


class SparkDl4jMultiLayer(SparkModel, SparkDl4jMultiLayerNames):
    """A :class:`~dl4py.networks.MultiLayerNetwork` on Spark.

    Examples
    --------
    ::

        trainer = SparkDl4jMultiLayer(spark, conf, ParameterAveragingTrainingMaster(workers=4, averaging_frequency=5))
        for epoch in range(10):
            trainer.fit(rdd)
        trainer.evaluate(test).stats()
        trainer.get_network().save("model.zip")
    """

    kind = MultiLayerNetwork

    def fit_labeled_point(self, points: Any) -> Any:
        """Train once through an RDD of labelled points, whose labels are the numbers of classes."""
        return self.fit(points.map(_point))

    def fit_continuous_labeled_point(self, points: Any) -> Any:
        """Train once through an RDD of labelled points, whose labels are targets."""
        return self.fit(points.map(_target))


class SparkComputationGraph(SparkModel, SparkComputationGraphNames):
    """A :class:`~dl4py.networks.ComputationGraph` on Spark."""

    kind = ComputationGraph


class SparkSameDiff(SparkModel, SparkSameDiffNames):
    """A SameDiff graph with a training configuration on Spark."""

    kind = SameDiff


def _point(point: Any) -> DataSet:
    return DataSet(point.features.toArray()[None], [int(point.label)])


def _target(point: Any) -> DataSet:
    return DataSet(point.features.toArray()[None], [[point.label]])
