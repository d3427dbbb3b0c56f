"""What reads and writes files says which of its arguments is wrong, whatever it is given."""
from __future__ import annotations

import io

import pytest

from dl4py.networks import ComputationGraph, ModelSerializer, MultiLayerNetwork
from dl4py.samediff import DataSet, SameDiff
from dl4py.samediff.codecs.array_files import read_arrays
from dl4py.samediff.data import MultiDataSet
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.files import NormalizerSerializer
from tests.test_savers import data, graph, graph_network, network, normalizer

WRONG = {"a number": 3, "nothing": None, "a fraction": 3.5, "a list": ["a"], "an object": object(), "a class": io.BytesIO, "bytes": b"PK",
         "text": io.StringIO("PK")}

LOADERS = {
    "SameDiff.load": SameDiff.load, "SameDiff.from_flat_file": SameDiff.from_flat_file, "MultiLayerNetwork.load": MultiLayerNetwork.load,
    "ComputationGraph.load": ComputationGraph.load, "restore_multi_layer_network": ModelSerializer.restore_multi_layer_network,
    "restore_computation_graph": ModelSerializer.restore_computation_graph,
    "restore_normalizer_from_file": ModelSerializer.restore_normalizer_from_file,
    "restore_normalizer_from_input_stream": ModelSerializer.restore_normalizer_from_input_stream,
    "DataSet.load": lambda source: DataSet().load(source),
    "MultiDataSet.load": lambda source: MultiDataSet().load(source), "NormalizerSerializer": NormalizerSerializer.get_default().restore,
    "read_arrays": read_arrays,
}
SAVERS = {
    "SameDiff.save": lambda target: graph().save(target), "MultiLayerNetwork.save": lambda target: network().save(target),
    "ComputationGraph.save": lambda target: graph_network().save(target), "DataSet.save": lambda target: data().save(target),
    "NormalizerSerializer": lambda target: NormalizerSerializer.get_default().write(normalizer(), target),
    "write_model": lambda target: ModelSerializer.write_model(network(), target, True),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", LOADERS)
def test_loaders(name, wrong):
    with pytest.raises(DL4PyError):
        LOADERS[name](WRONG[wrong])


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", SAVERS)
def test_savers(name, wrong):
    with pytest.raises(DL4PyError):
        SAVERS[name](WRONG[wrong])


@pytest.mark.parametrize("wrong", [3, None, "a", object()])
def test_bytes_of_a_graph(wrong):
    with pytest.raises(DL4PyError, match="bytes of a graph file"):
        SameDiff.from_flat_buffers(wrong)
