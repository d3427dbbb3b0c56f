"""Values that are stored with a model."""
from __future__ import annotations

import pytest

from dl4py.networks import ModelSerializer, MultiLayerNetwork
from dl4py.samediff.errors import ConfigurationError, UnknownNameError
from tests.helpers.habits import list_network


def test_values_stay_with_the_model(tmp_path):
    file = tmp_path / "model.zip"
    net = list_network()
    ModelSerializer.writeModel(net, file, True)
    assert ModelSerializer.listObjectsInFile(file) == []
    ModelSerializer.addObjectToFile(file, "labels", ["cat", "dog"])
    ModelSerializer.add_object_to_file(file, "run/of", {"epochs": 3})
    assert ModelSerializer.listObjectsInFile(file) == ["labels", "run/of"]
    loaded = MultiLayerNetwork.load(file)
    loaded.save(tmp_path / "again.zip")
    for one in (file, tmp_path / "again.zip"):
        assert ModelSerializer.getObjectFromFile(one, "labels") == ["cat", "dog"]
        assert ModelSerializer.get_object_from_file(one, "run/of") == {"epochs": 3}
    assert loaded == net


def test_what_is_refused(tmp_path):
    file = tmp_path / "model.zip"
    list_network().save(file)
    ModelSerializer.add_object_to_file(file, "labels", ["cat"])
    for key in ("labels", "coefficients.bin", ""):
        with pytest.raises(ConfigurationError, match="key"):
            ModelSerializer.add_object_to_file(file, key, 1)
    with pytest.raises(UnknownNameError, match="labels"):
        ModelSerializer.get_object_from_file(file, "label")
