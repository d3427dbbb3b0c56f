"""What tests of Spark train: models, data, hooks that fail, averaging in one process."""
from __future__ import annotations

import os
import signal

import numpy as np
from pyspark import TaskContext

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType, SameDiff
from dl4py.samediff.training import Adam, TrainingConfig
from dl4py.spark import ParameterAveragingTrainingMaster, TrainingHook

LAYERS = {"n_in": 4, "n_out": 5, "activation": "tanh", "drop_out": 0.8}


def configuration():
    builder = NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.01))
    return builder.list(DenseLayer(**LAYERS), OutputLayer(n_in=5, n_out=3)).build()


def network():
    return MultiLayerNetwork(configuration()).init()


def graph():
    builder = NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.01)).graph_builder().add_inputs("x")
    builder.add_layer("h", DenseLayer(**LAYERS), "x").add_layer("y", OutputLayer(n_in=5, n_out=3), "h")
    return ComputationGraph(builder.set_outputs("y").build()).init()


def same_diff():
    sd = SameDiff.create()
    sd.seed = 5
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 3)
    w = sd.var("w", np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))
    p = sd.nn.softmax("p", x.mmul(w))
    ((p - y) ** 2).mean("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Adam(0.01), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


def master(**options):
    return ParameterAveragingTrainingMaster(**{"workers": 2, "averaging_frequency": 2, "batch_size_per_worker": 8, **options})


def arrays(rows=64, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((rows, 4)).astype(np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, rows)]


def batches(rows=64, size=8):
    x, y = arrays(rows)
    return [DataSet(x[i:i + size], y[i:i + size]) for i in range(0, rows, size)]


def frame(session, count=32):
    """Four columns of numbers and one of classes, in one partition, whose order is known."""
    x, y = arrays(count)
    rows = [(*map(float, a), int(b.argmax())) for a, b in zip(x, y)]
    return session.createDataFrame(rows, "a float, b float, c float, d float, label int").coalesce(1)


def averaged(model, data, workers, frequency, updater=True):
    """The training in one process, as a program of a few lines."""
    each = workers * frequency
    for start in range(0, len(data), each):
        some = np.array_split(np.arange(start, min(start + each, len(data))), workers)
        replicas = []
        for rank, mine in enumerate(some):
            if len(mine):
                replica = model.clone()
                replica.engine.progress.seed += rank
                for number in mine:
                    replica.fit(data[number])
                replicas.append(replica)
        flat = model.engine.flat
        for name in ("params", "state") if updater else ("params",):
            total = getattr(replicas[0].engine.flat, name).copy()
            for other in replicas[1:]:
                total += getattr(other.engine.flat, name)
            getattr(flat, name)[...] = total / np.float32(len(replicas))
        model.engine.progress.iteration += max(map(len, some))
        model.engine.progress.score = float(np.mean([r.score() for r in replicas]))
    return model


def same(a, b):
    """Whether two networks stand at the same place, bit by bit."""
    return (np.array_equal(a.params(), b.params()) and np.array_equal(a.engine.flat.state, b.engine.flat.state)
            and a.get_iteration_count() == b.get_iteration_count() and a.score() == b.score())


class FailsFirst(TrainingHook):
    """The first attempt of every task fails after its first step."""

    def post_update(self, data, model):
        if TaskContext.get().attemptNumber() == 0:
            raise OSError("a disk is full")


class FailsAlways(TrainingHook):
    def post_update(self, data, model):
        raise OSError("the disk is full for good")


class KillsExecutor(TrainingHook):
    """Kills the executor of rank 1, once."""

    def __init__(self, marker):
        self.marker = marker

    def pre_update(self, data, model):
        if TaskContext.get().partitionId() == 1 and not os.path.exists(self.marker):
            open(self.marker, "x").close()
            with open(f"/proc/{os.getppid()}/stat") as file:        # of the daemon that forks Python's processes
                executor = int(file.read().rsplit(")", 1)[1].split()[1])
            os.kill(executor, signal.SIGKILL)
            signal.pause()


def loaded(path):
    """The data set of a file, by a function of the user."""
    data = DataSet()
    data.load(path)
    return data
