"""The settings of training on Spark."""
from __future__ import annotations

from typing import Any

from pyspark import StorageLevel

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field
from ...samediff.errors import ConfigurationError
from ..structure.java_names import ParameterAveragingSettingsNames


class Repartition(JavaEnum):
    """Rules by which batches move to other partitions before they are trained on."""

    Never = "Never"             #: each partition is a worker's data
    Always = "Always"           #: batches are dealt out to the workers
    NumPartitionsWorkersDiffers = "NumPartitionsWorkersDiffers"     #: only where there are not as many partitions as workers


class RepartitionStrategy(JavaEnum):
    """Ways to deal out batches."""

    SparkDefault = "SparkDefault"           #: by ``RDD.repartition``: about the same number for each worker, in an order of Spark's
    Balanced = "Balanced"                   #: in the order of the RDD, the same number for each worker in each round
    ApproximateBalanced = "ApproximateBalanced"     #: as Balanced


class RDDTrainingApproach(JavaEnum):
    """Places where batches wait for their round."""

    Direct = "Direct"       #: in Spark's storage
    Export = "Export"       #: in files below ``export_directory``


#: Names of storage levels, as DL4J's files have them.
LEVELS = ("NONE", "DISK_ONLY", "DISK_ONLY_2", "MEMORY_ONLY", "MEMORY_ONLY_2", "MEMORY_AND_DISK", "MEMORY_AND_DISK_2", "OFF_HEAP")


@configuration(tag="")
class ParameterAveragingSettings(Configuration, ParameterAveragingSettingsNames):
    """Settings of :class:`~dl4py.networks.spark.ParameterAveragingTrainingMaster`.

    Parameters
    ----------
    num_workers, rdd_data_set_num_examples, batch_size_per_worker, averaging_frequency, aggregation_depth, save_updater, ...
        See :class:`~dl4py.networks.spark.ParameterAveragingTrainingMaster`.
    """

    num_workers: int | None = field(default=None, aliases=("workers",))
    rdd_data_set_num_examples: int = 1
    batch_size_per_worker: int = 16
    averaging_frequency: int = 5
    aggregation_depth: int = 2
    save_updater: bool = field(default=True, aliases=("average_updaters",))
    worker_prefetch_num_batches: int = field(default=0, json="prefetchNumBatches", aliases=("prefetch_num_batches",))
    repartition_data: Convertible[Repartition] = field(default=Repartition.Always, json="repartition",
                                                       aliases=("repartion_data", "repartition"))
    repartition_strategy: Convertible[RepartitionStrategy] = RepartitionStrategy.Balanced
    storage_level: str = "MEMORY_AND_DISK"
    storage_level_streams: str = "MEMORY_ONLY"
    rdd_training_approach: Convertible[RDDTrainingApproach] = RDDTrainingApproach.Direct
    export_directory: str | None = None
    rng_seed: int | None = None
    collect_training_stats: bool = False

    def validate(self) -> None:
        for name in ("num_workers", "rdd_data_set_num_examples", "batch_size_per_worker", "averaging_frequency", "aggregation_depth"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError(f"{name} must be at least 1, got {value}")
        if self.worker_prefetch_num_batches < 0:
            raise ConfigurationError(f"worker_prefetch_num_batches must be 0 (none) or more, got {self.worker_prefetch_num_batches}")
        for name in ("storage_level", "storage_level_streams"):
            level(getattr(self, name), name)
        if self.rdd_training_approach is RDDTrainingApproach.Export and not self.export_directory:
            raise ConfigurationError("Export writes the batches into export_directory, a folder that all machines see; give one, or "
                                     "train with RDDTrainingApproach.Direct")


def level(name: str, option: str) -> Any:
    """The storage level of a name; those of objects in Java's form stand for the serialized ones, as Python's data always is."""
    plain = name.replace("_SER", "")
    if plain not in LEVELS:
        raise ConfigurationError(f"{option} must be the name of a storage level, such as MEMORY_AND_DISK; got {name!r}")
    return getattr(StorageLevel, plain)
