"""The inputs, labels and masks that are set on a network, to work on later."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .batch import NetworkBatch

Masks = Sequence[Any] | None


class SetArrays:
    """The arrays of ``compute_gradient_and_score`` and ``backprop_gradient``.

    Attributes
    ----------
    batch : inputs and labels; None as long as not all inputs are set
    masks : of features and of labels
    single : inputs by number, as long as not all are set
    layer_inputs, layer_labels : of single layers, by their keys
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove all arrays."""
        self.batch: NetworkBatch | None = None
        self.masks: tuple[Masks, Masks] = (None, None)
        self.single: dict[int, Any] = {}
        self.layer_inputs: dict[str, Any] = {}
        self.layer_labels: dict[str, Any] = {}

    @property
    def labels(self) -> list[Any]:
        """The labels; an empty list if none are set."""
        return [] if self.batch is None else self.batch.labels

    def set_inputs(self, inputs: Sequence[Any]) -> None:
        """Replace all inputs and keep the labels."""
        self.batch, self.single, self.layer_inputs = NetworkBatch(inputs, self.labels or None), {}, {}

    def or_set(self, given: Sequence[Masks]) -> list[Masks]:
        """Masks that were given; in place of those that were not, the ones that are set."""
        return [m if m is not None else kept for m, kept in zip(given, self.masks)]
