"""Files whose kind is not known."""
from __future__ import annotations

import pytest

from dl4py.networks import ModelGuesser, ModelSerializer
from dl4py.samediff.data import DataSet, NormalizerStandardize
from tests.helpers.habits import MODELS, X, Y


@pytest.mark.parametrize("kind", ["list", "graph"])
def test_models_and_configurations_of_either_kind(kind, tmp_path):
    net = MODELS[kind]()
    normalizer = NormalizerStandardize()
    normalizer.fit(DataSet(X, Y))
    ModelSerializer.write_model(net, tmp_path / "model", True, normalizer)
    assert ModelGuesser.loadModelGuess(tmp_path / "model") == net
    assert ModelGuesser.load_normalizer(tmp_path / "model").get_mean().equals(normalizer.get_mean())
    for name, text in (("c.json", net.configuration.to_json()), ("c.yaml", net.configuration.to_yaml())):
        (tmp_path / name).write_text(text)
        assert ModelGuesser.loadConfigGuess(tmp_path / name) == net.configuration
