"""Networks as an Estimator and a Transformer of Spark ML."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Self

import pyarrow as pa
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasLabelCol, HasPredictionCol, HasProbabilityCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as f

from ...samediff.codecs.atomic_files import write_file
from ...samediff.errors import ConfigurationError
from ..structure.configuration import ComputationGraphConfiguration, NetworkConfiguration, read
from .frames import plain_column
from .master import ParameterAveragingTrainingMaster
from .networks import SparkComputationGraph, SparkDl4jMultiLayer
from .prediction import SavedModel, features_of, open_model, rows_of

_FILE = "model"


class _Columns(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasProbabilityCol):  # type: ignore[misc]
    """The columns that both have."""

    def setFeaturesCol(self, value: str) -> Self:
        """Take the features from that column."""
        return self._set(featuresCol=value)  # type: ignore[no-any-return]

    def setLabelCol(self, value: str) -> Self:
        """Take the labels from that column."""
        return self._set(labelCol=value)  # type: ignore[no-any-return]

    def setPredictionCol(self, value: str) -> Self:
        """Write the most probable class into that column."""
        return self._set(predictionCol=value)  # type: ignore[no-any-return]

    def setProbabilityCol(self, value: str) -> Self:
        """Write all outputs into that column."""
        return self._set(probabilityCol=value)  # type: ignore[no-any-return]


def _json(configuration: Any) -> str:
    """A configuration as a parameter holds it."""
    if isinstance(configuration, NetworkConfiguration):
        return configuration.to_json()
    return TypeConverters.toString(configuration)  # type: ignore[no-any-return]


class SparkDl4jNetwork(Estimator, _Columns, DefaultParamsWritable, DefaultParamsReadable):  # type: ignore[misc]
    """A network as an Estimator of Spark ML: ``fit(df)`` trains it on the executors.

    Parameters
    ----------
    configuration : MultiLayerConfiguration, ComputationGraphConfiguration or its JSON
        Of the network, with one input and one output.
    featuresCol, labelCol : str
        Columns of the features (vectors or arrays) and of the labels (numbers of classes, or targets).
    predictionCol, probabilityCol : str
        Columns of the result: the most probable class (the output itself where there is one alone), and all outputs as a vector.
    epochs, batchSize, numWorkers, averagingFrequency : int
        Passes over the data; examples of a step; workers (0: as many as Spark runs tasks at once); steps from one averaging to the next.

    Examples
    --------
    ::

        network = SparkDl4jNetwork(configuration=conf, epochs=20, numWorkers=4)
        model = Pipeline(stages=[VectorAssembler(inputCols=names, outputCol="features"), network]).fit(df)
        model.transform(df).select("prediction", "probability")
        model.write().overwrite().save("pipeline")
    """

    configuration = Param(Params._dummy(), "configuration", "the network's configuration, or its JSON", _json)
    epochs = Param(Params._dummy(), "epochs", "passes over the data", TypeConverters.toInt)
    batchSize = Param(Params._dummy(), "batchSize", "examples of a step", TypeConverters.toInt)
    numWorkers = Param(Params._dummy(), "numWorkers", "workers; 0 for as many as Spark runs tasks at once", TypeConverters.toInt)
    averagingFrequency = Param(Params._dummy(), "averagingFrequency", "steps from one averaging to the next", TypeConverters.toInt)

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(self, *, configuration: Any = None, featuresCol: str = "features", labelCol: str = "label",
                 predictionCol: str = "prediction", probabilityCol: str = "probability", epochs: int = 1, batchSize: int = 32,
                 numWorkers: int = 0, averagingFrequency: int = 5) -> None:
        super().__init__()
        self._setDefault(epochs=1, batchSize=32, numWorkers=0, averagingFrequency=5)
        self.setParams(**self._input_kwargs)

    @keyword_only  # type: ignore[untyped-decorator]
    def setParams(self, **given: Any) -> Self:
        """Set parameters by name."""
        return self._set(**self._input_kwargs)  # type: ignore[no-any-return]

    def _fit(self, dataset: Any) -> SparkDl4jModel:
        if not self.isDefined(self.configuration):
            raise ConfigurationError("SparkDl4jNetwork needs the configuration of a network: SparkDl4jNetwork(configuration=conf)")
        conf = read(self.getOrDefault(self.configuration))
        master = ParameterAveragingTrainingMaster(workers=self.getOrDefault(self.numWorkers) or None,
                                                  averaging_frequency=self.getOrDefault(self.averagingFrequency),
                                                  batch_size_per_worker=self.getOrDefault(self.batchSize))
        kind: Any = SparkComputationGraph if isinstance(conf, ComputationGraphConfiguration) else SparkDl4jMultiLayer
        frame = dataset.select(self.getFeaturesCol(), self.getLabelCol())
        with kind(dataset.sparkSession, conf, master) as trainer:
            rdd = trainer.rdd_of(frame, self.getFeaturesCol(), self.getLabelCol())[0].persist()
            for _ in range(self.getOrDefault(self.epochs)):
                trainer.fit(rdd)
            rdd.unpersist()
        return self._copyValues(SparkDl4jModel(trainer.get_network()))  # type: ignore[no-any-return]


class SparkDl4jModel(Model, _Columns, MLWritable, MLReadable):  # type: ignore[misc]
    """A trained network as a Transformer of Spark ML.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph, or the path of its file
        The network, of one input and one output.
    """

    def __init__(self, network: Any = None) -> None:
        super().__init__()
        self._network = open_model(os.fspath(network)) if isinstance(network, (str, os.PathLike)) else network
        self._saved: SavedModel | None = None

    def get_network(self) -> Any:
        """The network."""
        return self._network

    def _transform(self, dataset: Any) -> Any:
        self._saved = self._saved or SavedModel.of(self._network, 4096)
        features = plain_column(dataset, self.getFeaturesCol())
        outputs = _outputs_udf(self._saved)(features)
        found = dataset.withColumn(self.getProbabilityCol(), outputs)
        column = f.col(f"`{self.getProbabilityCol()}`")
        best = (f.array_position(column, f.array_max(column)) - 1).cast("double")
        return found.withColumn(self.getPredictionCol(), f.when(f.size(column) == 1, column[0]).otherwise(best)) \
            .withColumn(self.getProbabilityCol(), array_to_vector(column))

    def write(self) -> MLWriter:
        """A writer: ``model.write().overwrite().save(path)``."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """A reader: ``SparkDl4jModel.load(path)``."""
        return _Reader()


def _outputs_udf(saved: SavedModel) -> Any:
    def outputs(column: Any) -> Any:
        return rows_of(saved.outputs(features_of([column]))).cast(pa.list_(pa.float64()))
    outputs.__annotations__ = {"column": pa.Array, "return": pa.Array}
    return f.arrow_udf(outputs, "array<double>")


class _Writer(MLWriter):  # type: ignore[misc]
    """Writes the parameters, and the network's file as the row of a table."""

    def __init__(self, instance: SparkDl4jModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        """Write into a folder of any of Spark's file systems."""
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.zip")
            self.instance.get_network().save(file)
            with open(file, "rb") as stream:
                row = [(bytearray(stream.read()),)]
        self.sparkSession.createDataFrame(row, "model binary").write.parquet(f"{path}/{_FILE}")


class _Reader(MLReader):  # type: ignore[misc, type-arg]
    """Reads what the writer wrote."""

    def load(self, path: str) -> SparkDl4jModel:
        """The model of a folder."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        text = self.sparkSession.read.parquet(f"{path}/{_FILE}").first()[0]
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.zip")
            write_file(file, bytes(text))
            model = SparkDl4jModel(file)
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
