"""The cost of a round of parameter averaging on a local Spark, and its scaling.

    python benchmarks/spark_rounds.py rounds [PARAMETERS ...]       # seconds of each part of a round, by number of parameters
    python benchmarks/spark_rounds.py scaling                       # strong and weak scaling on 1 and 2 executors
"""
from __future__ import annotations

import math
import os
import sys
import time

import numpy as np

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.spark import ParameterAveragingTrainingMaster, SparkDl4jMultiLayer
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Sgd


def session(master: str):
    from pyspark.sql import SparkSession
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")        # the name of this machine may lead elsewhere
    found = (SparkSession.builder.master(master).config("spark.ui.enabled", False).config("spark.ui.showConsoleProgress", False)
             .config("spark.driver.memory", "6g").config("spark.driver.maxResultSize", "0").config("spark.log.level", "ERROR")
             .config("spark.sql.execution.arrow.maxRecordsPerBatch", 20000).getOrCreate())
    return found


def square(parameters: int) -> MultiLayerNetwork:
    """A network of one layer with about so many parameters, and no updater state."""
    width = round(math.sqrt(parameters))
    layer = OutputLayer(n_in=width, n_out=width, activation="identity", loss_function="mse")
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Sgd(1e-6)).list(layer).build()).init()


def data_for(net: MultiLayerNetwork, count: int) -> list[DataSet]:
    width = round((math.sqrt(4 * net.num_params() + 1) - 1) / 2)            # width * width + width parameters
    return [DataSet(np.ones((1, width), np.float32), np.ones((1, width), np.float32)) for _ in range(count)]


def rounds(spark, parameters: int, workers: int = 2, count: int = 4) -> dict[str, float]:
    """The shortest seconds of each part of a round."""
    net = square(parameters)
    master = ParameterAveragingTrainingMaster(workers=workers, averaging_frequency=1, batch_size_per_worker=1, collect_training_stats=True)
    with SparkDl4jMultiLayer(spark, net, master) as trainer:
        rdd = spark.sparkContext.parallelize(data_for(net, count * workers), workers)
        for _ in range(2):
            trainer.fit(rdd)
        stats = trainer.get_spark_training_stats()
        return {key: min(stats.get_value(key)) for key in stats.get_key_set()}


def scaling(spark, workers: int, examples: int, frequency: int = 8) -> float:
    """Seconds of a pass over so many examples."""
    layers = DenseLayer(n_in=512, n_out=512, activation="relu"), OutputLayer(n_in=512, n_out=10)
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Sgd(1e-3)).list(*layers).build()).init()
    rng = np.random.default_rng(0)
    data = [DataSet(rng.random((64, 512), np.float32), np.eye(10, dtype=np.float32)[rng.integers(0, 10, 64)])
            for _ in range(examples // 64)]
    master = ParameterAveragingTrainingMaster(workers=workers, averaging_frequency=frequency, batch_size_per_worker=64)
    best = math.inf
    with SparkDl4jMultiLayer(spark, net, master) as trainer:
        rdd = spark.sparkContext.parallelize(data, 4).cache()
        for _ in range(4):
            began = time.perf_counter()
            trainer.fit(rdd)
            best = min(best, time.perf_counter() - began)
    return best


def main(arguments: list[str]) -> None:
    what = arguments[0] if arguments else "rounds"
    if what == "rounds":
        spark = session("local[2]")
        for parameters in map(float, arguments[1:] or ["1e2", "1e6", "5e7"]):
            print(f"{parameters:.0e}", {key: round(value, 4) for key, value in rounds(spark, int(parameters)).items()}, flush=True)
    else:
        spark = session("local-cluster[2,1,1024]")
        for workers, examples in ((1, 8192), (2, 8192), (2, 16384)):
            print(f"{workers} workers, {examples} examples: {scaling(spark, workers, examples):.3f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
