"""Networks for tests of layers: built in one line, checked against central differences and against recorded ones."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dl4py.networks import MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, Sgd


def network(*layers: Any, input_type: Any = None, dtype: str = "DOUBLE", seed: int = 7) -> MultiLayerNetwork:
    """A list network of these layers, ready to run."""
    builder = NeuralNetConfiguration.Builder().seed(seed).data_type(dtype).updater(Sgd(0.1)).activation("tanh").list()
    for layer in layers:
        builder = builder.layer(layer)
    if input_type is not None:
        builder = builder.set_input_type(input_type)
    net = MultiLayerNetwork(builder.build())
    net.init()
    return net


def gradient_of(net: MultiLayerNetwork, x: Any, y: Any) -> Any:
    """The flat gradient, summed over examples, as a copy."""
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    return np.array(net.gradient().gradient()).ravel()


def check_network(net: MultiLayerNetwork, x: Any, y: Any, without: tuple[str, ...] = (), step: float = 1e-6, rtol: float = 1e-6) -> None:
    """Compare the gradients of all parameters, but those whose names end with ``without``, with central differences."""
    rng = np.random.default_rng(0)
    net.set_params(net.params() + rng.normal(scale=0.05, size=net.num_params()))
    found, at, data = gradient_of(net, x, y), 0, DataSet(x, y)
    start = np.array(net.params())
    wanted = np.zeros_like(found)
    for name in [s.name for s in net.engine.parameters.slots]:
        size = net.param_table()[name].size
        for i in range(at, at + size):
            if name.endswith(without or ("\0",)):
                wanted[i] = found[i]
                continue
            sides = []
            for sign in (1, -1):
                moved = start.copy()
                moved[i] += sign * step
                net.set_params(moved)
                sides.append(net.score(data, True))
            wanted[i] = (sides[0] - sides[1]) / (2 * step) * len(x)
        at += size
    net.set_params(start)
    scale = max(1.0, float(np.abs(wanted).max()))
    assert np.abs(found - wanted).max() / scale < rtol, f"found\n{found}\ninstead of\n{wanted}"


def check_recorded(folder: Path) -> None:
    """Outputs, gradient and parameters after training as they were recorded."""
    with np.load(folder / "arrays.npz") as file:
        a = {k: file[k] for k in file.files}
    net = MultiLayerNetwork(MultiLayerConfiguration.from_json((folder / "configuration.json").read_text()))
    net.init()
    if "params_seed" in a:
        np.testing.assert_allclose(net.params(), a["params_seed"].ravel(), atol=1e-5)
    net.set_params(a["params"])
    x, y, fm, lm = a["in/0"], a["label/0"], a.get("fmask/0"), a.get("lmask/0")
    np.testing.assert_allclose(net.output(x, features_mask=fm, labels_mask=lm), a["out/0"], rtol=2e-5, atol=2e-5)
    net.set_layer_mask_arrays(fm, lm)
    wanted = a["grad"].ravel()
    np.testing.assert_allclose(gradient_of(net, x, y), wanted, atol=1e-4 * max(1.0, np.abs(wanted).max()))
    net.set_params(a["params"])
    for k in range(1, 6):
        net.fit(DataSet(x, y, fm, lm))
        if f"params_{k}" in a:
            np.testing.assert_allclose(net.params(), a[f"params_{k}"].ravel(), atol=2e-3)
