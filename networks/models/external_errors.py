"""Back-propagation of gradients that come from outside of the network."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...samediff.errors import GraphError
from ...samediff.expressions.arrays import as_array
from ..batches.batch import NetworkBatch
from ..engine.gradient import Gradient
from .network import Network


class NetworkExternalErrorsMixin(Network):
    """The part of a network that takes gradients of its outputs instead of labels."""

    def _backprop(self, epsilons: Sequence[Any]) -> tuple[Gradient, list[Any]]:
        """Gradients of the parameters and of the inputs that were set, given those of the outputs (None: by the labels that were set)."""
        engine, outputs = self.engine, self.engine.structure.outputs
        if self._arrays.batch is None:
            raise GraphError("backprop_gradient works on the input that was set; call set_input or set_inputs first")
        if len(epsilons) == len(outputs) + 1 and epsilons[-1] is None:      # DL4J's workspace manager
            epsilons = epsilons[:-1]
        if len(epsilons) != len(outputs):
            raise GraphError(f"backprop_gradient needs a gradient for each output ({', '.join(outputs)}), {len(epsilons)} were given")
        given = [None if e is None else as_array(e).astype(engine.structure.dtype.numpy, copy=False) for e in epsilons]
        labels = self._arrays.labels or [None] * len(outputs)
        batch = NetworkBatch(self._arrays.batch.inputs, [y if e is None else None for e, y in zip(given, labels)], *self._arrays.masks)
        with engine.lock:
            below = engine.steps.backward(batch, given)
            arrays = {n: a for n, a in engine.flat.gradient_arrays.items() if n in engine.steps.computed}
            return Gradient(engine.flat.gradients, arrays, below), below
