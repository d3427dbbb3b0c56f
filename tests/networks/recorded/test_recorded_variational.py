"""Autoencoders replayed with DL4J's own random numbers: pretraining, reconstruction, generated data."""
from __future__ import annotations

from pathlib import Path

import pytest

from dl4py.layers.standard import variational
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom, get_random
from tests.helpers.replay import Recorded, close

ROOT = Path(__file__).parents[2] / "golden" / "layers"
NAMES = ("gaussian", "bernoulli", "exponential", "composite", "lossmse")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_pretraining(name, monkeypatch):
    case = Recorded(ROOT / f"vae_{name}")
    rngs = []

    class RecordedNoise(variational.LatentNoise):
        def draw(self, rng, shape, dtype, iteration, epoch):
            return None, rngs[int(iteration)].normal(shape, dtype=dtype)
    monkeypatch.setattr(variational, "LatentNoise", RecordedNoise)
    net = case.network(case.arrays["params"])
    for k, score in enumerate(case.arrays["pretrain/scores"]):
        rngs.append(Nd4jRandom(1000 + k))
        net.pretrain_layer(0, case.arrays["in/0"])
        close(net.get_layer(0).score(), score, 1e-6)
        if k != 1:
            close(net.params(), case.arrays[f"pretrain/params_{k + 1}"], 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_reconstruction(name):
    case = Recorded(ROOT / f"vae_{name}")
    x, a = case.arrays["in/0"], case.arrays
    layer = case.network(a["params"]).get_layer(0)
    close(layer.activate(x), a["act/0"], 1e-6)
    close(layer.generate_at_mean_given_z(a["vae/z"]), a["vae/generate_at_mean"], 1e-6)
    if name == "lossmse":
        close(layer.reconstruction_error(x), a["vae/reconstruction_error"], 1e-6)
    else:
        get_random().set_seed(4242)
        close(layer.reconstruction_log_probability(x, 2), a["vae/log_probability_2_samples_seed4242"], 1e-6)
