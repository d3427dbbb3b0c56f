"""The inputs, labels and masks that a graph is told to work on."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...samediff.errors import GraphError
from ..engine.batch import Batch
from ..structure.graph_arguments import arrays_of
from .network import Network


class GraphInputs(Network):
    """The part of a graph that keeps what :meth:`compute_gradient_and_score` and :meth:`backprop_gradient` work on."""

    def __init__(self, configuration: Any) -> None:
        super().__init__(configuration)
        self._single_inputs: dict[int, Any] = {}

    def set_inputs(self, *inputs: Any) -> None:
        """Set all inputs."""
        self._single_inputs = {}
        self._batch = Batch(arrays_of(inputs), None if self._batch is None else self._batch.labels or None)

    def set_input(self, index: int, x: Any) -> None:
        """Set one input; they are there when each has been set."""
        count = len(self._structure().inputs)
        _check("input", index, count)
        given = {**(dict(enumerate(self._batch.inputs)) if self._batch is not None else self._single_inputs), index: x}
        if len(given) == count:
            self.set_inputs(*[given[i] for i in range(count)])
        else:
            self._single_inputs = given

    def get_inputs(self) -> list[Any]:
        """The inputs that were set.

        Raises
        ------
        GraphError
            Not all are set.
        """
        if self._batch is None:
            missing = [n for i, n in enumerate(self._structure().inputs) if i not in self._single_inputs]
            raise GraphError(f"inputs are not set: {', '.join(missing)}")
        return list(self._batch.inputs)

    def get_input(self, index: int = 0) -> Any:
        """One input that was set, None without it."""
        _check("input", index, len(self._structure().inputs))
        return self._single_inputs.get(index) if self._batch is None else self._batch.inputs[index]

    def set_labels(self, *labels: Any) -> None:
        """Set the labels of all outputs."""
        if self._batch is None:
            raise GraphError("set_inputs first")
        self._batch = Batch(self._batch.inputs, arrays_of(labels))

    def set_label(self, index: int, labels: Any) -> None:
        """Set the labels of one output."""
        if self._batch is None:
            raise GraphError("set_inputs first")
        count = len(self._structure().outputs)
        _check("output", index, count)
        given = list(self._batch.labels) or [None] * count
        given[index] = labels
        self._batch = Batch(self._batch.inputs, given)

    def set_layer_mask_arrays(self, features_masks: Sequence[Any] | None = None, labels_masks: Sequence[Any] | None = None) -> None:
        """Set the masks."""
        self._masks = (features_masks, labels_masks)

    def get_input_mask_arrays(self) -> list[Any] | None:
        """The masks of the inputs that were set, None without any."""
        return None if self._masks[0] is None else list(self._masks[0])

    def get_label_mask_arrays(self) -> list[Any] | None:
        """The masks of the labels that were set, None without any."""
        return None if self._masks[1] is None else list(self._masks[1])

    def clear(self) -> None:
        """Forget inputs, labels and masks that were set."""
        super().clear()
        self._single_inputs = {}


def _check(what: str, index: int, count: int) -> None:
    if not 0 <= index < count:
        raise GraphError(f"{what} {index} does not exist; the graph has {count}")
