"""Executors that are processes: killed ones, modules that they lack."""
from __future__ import annotations

import sys

import pytest

pytest.importorskip("pyspark")

from dl4py.layers import OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import MissingPackageError
from dl4py.spark import SparkDl4jMultiLayer
from tests.networks.spark.spark_cases import KillsExecutor, averaged, batches, master, network, same

pytestmark = pytest.mark.slow

PLUG_IN = '''
from dl4py.layers import DenseLayer, layer

@layer("acme.OnlyOnTheDriver")
class OnlyOnTheDriver(DenseLayer):
    pass
'''


def test_executors_train(cluster):
    data = batches(64)
    trainer = SparkDl4jMultiLayer(cluster, network(), master())
    assert same(trainer.fit(cluster.parallelize(data, 3)), averaged(network(), data, 2, 2))
    assert trainer.evaluate(cluster.parallelize(data, 2)).stats() == trainer.get_network().evaluate(data).stats()


def test_an_executor_that_is_killed(cluster, tmp_path):
    """Its task is done by another one, from where the round began."""
    data = batches(32)
    kills = master(training_hooks=[KillsExecutor(str(tmp_path / "killed"))])
    found = SparkDl4jMultiLayer(cluster, network(), kills).fit(cluster.parallelize(data, 2))
    assert (tmp_path / "killed").exists() and same(found, averaged(network(), data, 2, 2))


def test_a_plug_in_that_executors_lack(cluster, tmp_path, monkeypatch):
    (tmp_path / "acme_driver.py").write_text(PLUG_IN)
    monkeypatch.syspath_prepend(str(tmp_path))
    import acme_driver
    conf = NeuralNetConfiguration.Builder().seed(1).list(acme_driver.OnlyOnTheDriver(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3)).build()
    trainer = SparkDl4jMultiLayer(cluster, MultiLayerNetwork(conf).init(), master())
    with pytest.raises(MissingPackageError, match=r"acme.*Install the plug-in .*Missing on [\w.-]+$") as caught:
        trainer.fit(cluster.parallelize(batches(32), 2))
    assert str(caught.value).count("Missing on") == 1
    sys.modules.pop("acme_driver")
