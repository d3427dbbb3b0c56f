"""Many machines: digits are learned by the executors of Apache Spark, which average what they have learned; then a DataFrame is
classified by the saved network.

Here Spark runs on this machine alone and is started by the program; with another master the same lines train on a cluster.

Run: python examples/spark.py [MASTER]      (needs pip install 'dl4py[spark]' and Java 17)
"""
from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import NeuralNetConfiguration
from dl4py.networks.spark import ParameterAveragingTrainingMaster, SparkDl4jMultiLayer, predict_udf
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Adam

DATA = Path(__file__).parent / "data" / "mnist_digits.npz"


def spark(master: str):
    """A Spark of our own, or the one that runs already."""
    from pyspark.sql import SparkSession
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return (SparkSession.builder.master(master).appName("digits").config("spark.ui.enabled", False)
            .config("spark.ui.showConsoleProgress", False).getOrCreate())


def digits(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images as rows of numbers from 0 to 1, and classes."""
    with np.load(DATA) as z:
        return z[f"{part}_images"].reshape(-1, 784).astype(np.float32) / 255, z[f"{part}_labels"]


def build():
    return (NeuralNetConfiguration.Builder().seed(42).updater(Adam(3e-3)).weight_init("relu").list()
            .layer(DenseLayer(n_in=784, n_out=64, activation="relu"))
            .layer(OutputLayer(n_in=64, n_out=10, activation="softmax", loss_function="mcxent")).build())


def main(epochs: int = 8, master: str = "local[2]") -> float:
    """Train with two workers, evaluate, classify a DataFrame; returns the accuracy on the test digits."""
    from pyspark import SparkContext
    ours = SparkContext._active_spark_context is None
    session = spark(master)
    try:
        return train_and_classify(session, epochs)
    finally:
        if ours:
            session.stop()


def train_and_classify(session, epochs: int) -> float:
    images, classes = digits("train")
    data = DataSet(images, np.eye(10, dtype=np.float32)[classes])
    data.shuffle(1)
    train = session.sparkContext.parallelize(data.batch_by(32), 4).cache()

    averaging = ParameterAveragingTrainingMaster(workers=2, averaging_frequency=5, batch_size_per_worker=32, collect_training_stats=True)
    with SparkDl4jMultiLayer(session, build(), averaging) as trainer:
        for epoch in range(1, epochs + 1):
            trainer.fit(train)
            print(f"epoch {epoch:2}  mean score of the workers {trainer.get_score():.4f}")
        net, times = trainer.get_network(), trainer.get_spark_training_stats()
    print(f"{net.get_iteration_count()} steps of each worker\n{times}")

    images, classes = digits("test")
    table = session.createDataFrame([(x.tolist(), int(y)) for x, y in zip(images, classes)], "image array<float>, digit int")
    with tempfile.TemporaryDirectory() as folder:
        net.save(Path(folder) / "digits.zip")
        classify = predict_udf(Path(folder) / "digits.zip")
    found = table.select("digit", classify("image").alias("scores")).collect()
    accuracy = float(np.mean([np.argmax(row.scores) == row.digit for row in found]))
    print(f"{len(found)} rows of a DataFrame were classified, {accuracy:.1%} of them right")
    return accuracy


if __name__ == "__main__":
    main(master=sys.argv[1] if len(sys.argv) > 1 else "local[2]")
