"""The doctor: what looks wrong with a network and its data before it trains."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...samediff.errors import GraphError
from ...samediff.training import Finding
from ...samediff.training.tracking.doctor_listener import activation_of, of_hidden_layers
from ...samediff.training.tracking.findings import of_features, of_gradients, of_labels
from ..batches.given_data import batch_in
from .rate_range import LearningRateRange, rate_range

#: Examples that are looked at.
MOST = 1024


def examine(network: Any, data: Any, rates: bool = True) -> tuple[list[Finding], LearningRateRange | None]:
    """Findings in data, activations, gradients and learning rate; see :meth:`MultiLayerNetwork.doctor`."""
    structure = network.structure
    if len(structure.inputs) != 1 or len(structure.outputs) != 1:
        raise GraphError(f"the doctor examines networks with one input and one output; this one has {len(structure.inputs)} and "
                         f"{len(structure.outputs)}")
    output = structure.member(structure.outputs[0])
    loss = type(getattr(output.conf, "loss", None)).__name__.lower()
    x, y = np.asarray(data.features), np.asarray(data.labels)
    reader = next(m for m in structure.members if structure.inputs[0] in m.inputs)
    found = [] if getattr(reader.conf, "takes_indices", False) else of_features(x)
    found += of_labels(y, loss, activation_of(output.conf))
    part = type(data)(x[:MOST], y[:MOST])
    twin = network.clone()
    twin.engine.steps.gradient(batch_in(structure, part, "examine"))
    gradients = {n: np.asarray(g) / len(part.features) for n, g in twin.gradient().gradient_for_variable().items()}
    found += of_gradients(gradients, twin.param_table())
    found += of_hidden_layers(twin, twin.feed_forward(x[:MOST]))
    if not rates or any(f.kind == "not finite" for f in found):
        return found, None
    tried = rate_range(network, part, 1e-6, 10.0, 30)
    if tried.present > tried.limit():
        what = f"it is {tried.present:.3g}; from {tried.limit():.3g} on the score runs away"
        found.append(Finding("learning rate too high", "updater", what, f"about {tried.suggestion():.2g}, where the score falls most"))
    return found, tried
