"""Blocks, state layout, regularization, normalization: first recorded steps of small networks, from their gradients."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.errors import ShapeError
from dl4py.samediff.training import (
    Adam,
    ApplyStep,
    GradientNormalization,
    IUpdater,
    Regularization,
    Sgd,
    initial_state,
    normalize_gradients,
    state_by_parameter,
    state_length,
    updater_blocks,
)

GOLDEN = Path(__file__).parents[3] / "golden" / "training"
GROUPS = ("gradient_normalization", "updater_blocks", "regularization")
CASES = sorted(p for group in GROUPS for p in (GOLDEN / group).iterdir() if "gradient_0" in np.load(p / "arrays.npz"))


def layers_of(folder: Path, info: dict[str, Any]) -> list[tuple[dict[str, Any], list[tuple[str, int]]]]:
    confs = json.loads((folder / "configuration.json").read_text())["confs"]
    found: dict[int, list[tuple[str, int]]] = {}
    for entry in info["param_table"]:
        layer, _, key = entry["key"].partition("_")
        found.setdefault(int(layer), []).append((key, int(np.prod(entry["shape"]))))
    return [(confs[i]["layer"], params) for i, params in found.items()]


@pytest.mark.parametrize("folder", CASES, ids=[f"{p.parent.name}-{p.name}" for p in CASES])
def test_first_recorded_step(folder: Path) -> None:
    info, arrays = json.loads((folder / "case.json").read_text()), np.load(folder / "arrays.npz")
    params = arrays["params_0"].astype(np.float64)
    gradient = arrays["gradient_0"].reshape(-1).astype(np.float64) / len(arrays["features_0"])
    slots: list[tuple[str, int, IUpdater]] = []
    terms: list[tuple[slice, Regularization, float]] = []
    at = 0
    for layer, entries in layers_of(folder, info):
        views = []
        for key, size in entries:
            where, bias = slice(at, at + size), key == "b"
            own = layer.get("biasUpdater") if bias else None
            updater = IUpdater.from_document(own or layer["iupdater"])
            rate = updater.get_learning_rate(0, 0) if updater.has_learning_rate() else 1.0
            slots.append((key, size, updater))
            documents = layer["regularizationBias" if bias else "regularization"]
            terms += [(where, Regularization.from_document(d), rate) for d in documents]
            views.append(gradient[where])
            at += size
        new = normalize_gradients(np, layer["gradientNormalization"], layer["gradientNormalizationThreshold"], views)
        for view, value in zip(views, new):
            view[...] = value
    blocks = updater_blocks(slots)
    if "updater_blocks" in info:
        assert [[b.start, b.stop] for b in blocks] == [b["params"] for b in info["updater_blocks"]]
        assert [[b.state_start, b.state_stop] for b in blocks] == [b["state"] for b in info["updater_blocks"]]
    state = initial_state(np, blocks, np.float64)

    def regularize(step: ApplyStep) -> None:
        for where, term, rate in terms:
            if term.apply_step is step:
                gradient[where] = term.apply(np, params[where], gradient[where], term.coefficient(0, 0), rate)

    regularize(ApplyStep.BEFORE_UPDATER)
    for block in blocks:
        block.instantiate(state).apply_updater(gradient[block.start:block.stop], 0, 0)
    regularize(ApplyStep.POST_UPDATER)
    np.testing.assert_allclose(params - gradient, arrays["params_1"], rtol=0, atol=2e-6)
    if state.size:
        np.testing.assert_allclose(state, arrays["state_1"].reshape(-1), rtol=1e-4, atol=1e-7)


def test_blocks_merge_only_equal_neighbours() -> None:
    blocks = updater_blocks([("a", 2, Adam()), ("b", 3, Adam()), ("c", 1, Adam(), "own rate"), ("d", 1, Sgd())])
    assert [(b.start, b.stop, b.names) for b in blocks] == [(0, 5, ("a", "b")), (5, 6, ("c",)), (6, 7, ("d",))]
    assert blocks[0].state_slices() == {"M": slice(0, 5), "V": slice(5, 10)}
    assert state_length(blocks) == 12
    assert updater_blocks([]) == []
    assert state_length([]) == 0


def test_state_by_parameter_gives_views() -> None:
    (block,) = updater_blocks([("a", 2, Adam()), ("b", 3, Adam())])
    state = np.arange(10.0)
    first, second = state_by_parameter(block, [2, 3], state)
    np.testing.assert_array_equal(second["V"], [7, 8, 9])
    first["M"][...] = -1
    assert state[0] == -1
    with pytest.raises(ShapeError):
        state_by_parameter(block, [2, 2], state)


@pytest.mark.parametrize("mode", list(GradientNormalization))
def test_normalization_of_zero_gradients_is_zero(mode: GradientNormalization) -> None:
    for gradient in normalize_gradients(np, mode, 0.0, [np.zeros(3), np.zeros(2)]):
        np.testing.assert_array_equal(gradient, 0)


def test_normalization_keeps_the_type() -> None:
    for mode in GradientNormalization:
        (got,) = normalize_gradients(np, mode, 0.5, [np.array([3.0, 4.0], np.float32)])
        assert got.dtype == np.float32
    (clipped,) = normalize_gradients(np, "ClipL2PerParamType", 2.5, [np.array([3.0, 4.0])])
    np.testing.assert_allclose(clipped, [1.5, 2.0])
