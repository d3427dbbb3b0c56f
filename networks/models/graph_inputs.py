"""The inputs, labels and masks that are set on a graph, to work on later."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...samediff.base.user_code.users_arrays import users_array, users_arrays
from ...samediff.errors import GraphError
from ..batches.batch import NetworkBatch
from ..structure.graph_arguments import arrays_of
from .network import Network


class GraphInputsMixin(Network):
    """The part of a graph that keeps the arrays for ``compute_gradient_and_score`` and ``backprop_gradient``."""

    def set_inputs(self, *inputs: Any) -> None:
        """Set the arrays of all inputs."""
        self._arrays.set_inputs(arrays_of(inputs))

    def set_input(self, index: int, x: Any) -> None:
        """Set one input; they are there when each has been set."""
        count = len(self.structure.inputs)
        _check("input", index, count)
        kept = self._arrays
        given = {**(kept.single if kept.batch is None else dict(enumerate(kept.batch.inputs))), index: x}
        if len(given) == count:
            self.set_inputs(*[given[i] for i in range(count)])
        else:
            self._arrays.single = given

    def get_inputs(self) -> list[Any]:
        """The inputs that were set.

        Raises
        ------
        GraphError
            Not all are set.
        """
        if self._arrays.batch is None:
            missing = [n for i, n in enumerate(self.structure.inputs) if i not in self._arrays.single]
            raise GraphError(f"inputs are not set: {', '.join(missing)}")
        return users_arrays(self._arrays.batch.inputs)  # type: ignore[no-any-return]

    def get_input(self, index: int = 0) -> Any:
        """The array that was set for one input, or None."""
        _check("input", index, len(self.structure.inputs))
        return users_array(self._arrays.single.get(index) if self._arrays.batch is None else self._arrays.batch.inputs[index])

    def set_labels(self, *labels: Any) -> None:
        """Set the labels of all outputs."""
        if self._arrays.batch is None:
            raise GraphError("set_inputs first")
        self._arrays.batch = NetworkBatch(self._arrays.batch.inputs, arrays_of(labels))

    def set_label(self, index: int, labels: Any) -> None:
        """Set the labels of one output."""
        if self._arrays.batch is None:
            raise GraphError("set_inputs first")
        count = len(self.structure.outputs)
        _check("output", index, count)
        given = list(self._arrays.batch.labels) or [None] * count
        given[index] = labels
        self._arrays.batch = NetworkBatch(self._arrays.batch.inputs, given)

    def set_layer_mask_arrays(self, features_masks: Sequence[Any] | None = None, labels_masks: Sequence[Any] | None = None) -> None:
        """Set the masks of all inputs and labels."""
        self._arrays.masks = (features_masks, labels_masks)

    def get_input_mask_arrays(self) -> list[Any] | None:
        """The masks of the inputs that were set, None without any."""
        return None if self._arrays.masks[0] is None else users_arrays(list(self._arrays.masks[0]))

    def get_label_mask_arrays(self) -> list[Any] | None:
        """The masks of the labels that were set, None without any."""
        return None if self._arrays.masks[1] is None else users_arrays(list(self._arrays.masks[1]))


def _check(what: str, index: int, count: int) -> None:
    if not 0 <= index < count:
        raise GraphError(f"{what} {index} does not exist; the graph has {count}")
