"""Layers and vertices replayed: initial values, activations, scores, gradients and five steps of training, as recorded."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dl4py.networks import ComputationGraph
from tests.helpers.replay import Recorded, close, data_of, gradient_of, outputs_of

ROOT = Path(__file__).parents[2] / "golden" / "layers"
CASES = sorted(p.name for p in ROOT.iterdir() if (p / "case.json").exists())


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", CASES)
def test_layers(name):
    case = Recorded(ROOT / name)
    a, info, failed = case.arrays, case.info, {e["stage"] for e in case.info.get("error") or []}
    net = case.network()
    if "params_seed" in a:
        close(net.params(), a["params_seed"], 1e-5)
    table = net.param_table()
    wanted = [(r["name"], r["shape"]) for r in info.get("param_table") or []]
    assert [(k, list(v.shape)) for k, v in table.items()] == wanted or "param_table" not in info
    net.set_params(a["params"])
    for key, value in a.items():
        if key.startswith("param/"):
            assert np.array_equal(table[key[6:]], value), key
    x, y = case.several("in"), case.several("label")
    fm, lm = case.several("fmask", len(x)), case.several("lmask", len(y or x))
    activations(case, net, x, fm, lm)
    if "out/0" in a:
        for i, found in enumerate(outputs_of(net, x, fm, lm)):
            close(found, a[f"out/{i}"], 2e-5)
    if y is None:
        return
    data = data_of(net, x, y, fm, lm)
    if "score" in a:
        close(net.score(data), a["score"], 2e-5)
    if "score_examples" in a:
        close(net.score_examples(data, True), a["score_examples"], 3e-5)
    if "grad" in a and "computeGradientAndScore" not in failed:
        close(gradient_of(case.network(a["params"]), x, y, fm, lm), a["grad"], 1e-4)
    if "in_grad/0" in a and not isinstance(net, ComputationGraph):
        _, found = net.calculate_gradients(x[0], y[0], fm and fm[0], lm and lm[0])
        close(found, a["in_grad/0"], 1e-4)
    if "fit_scores" in a:
        for k, score in enumerate(a["fit_scores"], 1):
            net.fit(data)
            close(net.score(), score, 1e-3)
            if f"params_{k}" in a:
                compare_steps(net.params(), a[f"params_{k}"], a.get("grad"), "Adam" in str(info.get("updater")))
        assert net.get_iteration_count() == info.get("iterations_after", len(a["fit_scores"]))


def activations(case, net, x, fm, lm):
    wanted = {k[4:]: v for k, v in case.arrays.items() if k.startswith("act/")}
    if not wanted:
        return
    if isinstance(net, ComputationGraph):
        found = net.feed_forward(*x, features_masks=fm, labels_masks=lm)
    else:
        made = net.feed_forward(x[0], features_mask=fm and fm[0], labels_mask=lm and lm[0])
        found = {str(i): v for i, v in enumerate(made[1:])}
    for key, value in wanted.items():
        if key in found:
            close(found[key], value, 2e-5)


def compare_steps(found, wanted, gradient, adam):
    """Adam makes whole steps of the rounding noise where a gradient is 0: there only the size of the steps is compared."""
    found, wanted = np.ravel(found), np.ravel(wanted)
    close(found, wanted, 6e-2 if adam else 2e-4)
    if adam and gradient is not None:
        g = np.abs(np.ravel(gradient))
        sure = (g > 1e-3 * g.max(initial=0)) | (g == 0)
        close(found[sure], wanted[sure], 5e-3)
