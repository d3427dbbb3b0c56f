"""Training and inference on Apache Spark, through PySpark (DL4J's ``spark`` packages).

::

    master = ParameterAveragingTrainingMaster(workers=4, averaging_frequency=5, batch_size_per_worker=32)
    trainer = SparkDl4jMultiLayer(spark, network, master)
    trainer.fit(rdd)                # of data sets; a DataFrame or files as well
    trainer.evaluate(rdd).stats()
"""
from __future__ import annotations

from ...samediff.errors import MissingPackageError

try:
    import pyarrow as _pyarrow  # noqa: F401
    import pyspark.ml as _ml  # noqa: F401
except ImportError as error:
    raise MissingPackageError("Spark needs PySpark 4.1 or later and a Java virtual machine: pip install 'dl4py[spark]'") from error

from .early_stopping import (
    SparkDataSetLossCalculator,
    SparkEarlyStoppingGraphTrainer,
    SparkEarlyStoppingTrainer,
    SparkLossCalculatorComputationGraph,
)
from .file_batches import FileBatch, SparkDataUtils
from .master import ParameterAveragingTrainingMaster, SharedTrainingMaster, TrainingMaster
from .ml import SparkDl4jModel, SparkDl4jNetwork
from .networks import SparkComputationGraph, SparkDl4jMultiLayer, SparkSameDiff
from .normalizers import fit_normalizer, normalized
from .prediction import predict_in_pandas, predict_udf
from .settings import RDDTrainingApproach, Repartition, RepartitionStrategy
from .statistics import SparkTrainingStats
from .train_round import TrainingHook

__all__ = [
    "FileBatch",
    "ParameterAveragingTrainingMaster",
    "RDDTrainingApproach",
    "Repartition",
    "RepartitionStrategy",
    "SharedTrainingMaster",
    "SparkComputationGraph",
    "SparkDataSetLossCalculator",
    "SparkDataUtils",
    "SparkDl4jModel",
    "SparkDl4jMultiLayer",
    "SparkDl4jNetwork",
    "SparkEarlyStoppingGraphTrainer",
    "SparkEarlyStoppingTrainer",
    "SparkLossCalculatorComputationGraph",
    "SparkSameDiff",
    "SparkTrainingStats",
    "TrainingHook",
    "TrainingMaster",
    "fit_normalizer",
    "normalized",
    "predict_in_pandas",
    "predict_udf",
]
