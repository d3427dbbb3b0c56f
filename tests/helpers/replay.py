"""Recorded networks: reading a case, and comparing with tolerances for single precision."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dl4py.networks import ComputationGraph, ComputationGraphConfiguration, MultiLayerConfiguration, MultiLayerNetwork
from dl4py.samediff import DataSet, MultiDataSet


class Recorded:
    """One case: what was recorded about it, its arrays, and networks as its configuration says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.info: dict[str, Any] = json.loads((folder / "case.json").read_text())
        with np.load(folder / "arrays.npz") as file:
            self.arrays = {k: file[k] for k in file.files}

    @property
    def text(self) -> str:
        """The network configuration."""
        return (self.folder / "configuration.json").read_text()

    def network(self, params: Any = None) -> Any:
        """A fresh network with given parameters."""
        graph = "vertices" in json.loads(self.text)
        conf = (ComputationGraphConfiguration if graph else MultiLayerConfiguration).from_json(self.text)
        return (ComputationGraph if graph else MultiLayerNetwork)(conf).init(params)

    def several(self, key: str, count: int | None = None) -> list[Any] | None:
        """Arrays ``key/0``, ``key/1`` …, None where one is missing; no list at all when all are."""
        found = {int(k.split("/")[1]): v for k, v in self.arrays.items() if k.startswith(f"{key}/")}
        if not found:
            return None
        return [found.get(i) for i in range(count or 1 + max(found))]


def close(found: Any, wanted: Any, limit: float) -> None:
    """Equal up to ``limit`` times the largest entry."""
    found, wanted = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    if found.shape != wanted.shape:
        found, wanted = found.ravel(), wanted.ravel()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=limit * max(1.0, float(np.abs(wanted).max(initial=0))))


def data_of(net: Any, x: Any, y: Any, fm: Any = None, lm: Any = None) -> Any:
    """A data set for either kind of network, from lists of arrays."""
    if isinstance(net, ComputationGraph):
        return MultiDataSet(x, y, fm, lm)
    return DataSet(x[0], y[0], fm and fm[0], lm and lm[0])


def gradient_of(net: Any, x: Any, y: Any, fm: Any = None, lm: Any = None) -> Any:
    """The flat gradient, summed over examples."""
    if isinstance(net, ComputationGraph):
        net.set_inputs(*x)
        net.set_labels(*y)
        net.set_layer_mask_arrays(fm, lm)
    else:
        net.set_input(x[0])
        net.set_labels(y[0])
        net.set_layer_mask_arrays(fm and fm[0], lm and lm[0])
    net.compute_gradient_and_score()
    return net.gradient().gradient().copy()


def outputs_of(net: Any, x: Any, fm: Any = None, lm: Any = None) -> list[Any]:
    """Outputs of either kind of network, in test mode."""
    if isinstance(net, ComputationGraph):
        return net.output(*x, features_masks=fm, labels_masks=lm)
    return [net.output(x[0], features_mask=fm and fm[0], labels_mask=lm and lm[0])]
