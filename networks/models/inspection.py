"""What a network is made of."""
from __future__ import annotations

from typing import Any

from ...samediff.errors import GraphError
from ..reports.layer_view import LayerView
from .network import Network


class Inspecting(Network):
    """The part of a network that answers questions about its layers."""

    def is_init_called(self) -> bool:
        """True once the network has parameters."""
        return self._engine is not None

    def get_layers(self) -> list[LayerView]:
        """All layers, without vertices."""
        return [LayerView(self, m.key) for m in self._structure().as_declared if m.is_layer]

    def get_layer_names(self) -> list[str]:
        """The names of all layers; one without a name is called by its place."""
        return [getattr(m.conf, "layer_name", None) or m.key for m in self._structure().as_declared if m.is_layer]

    def get_num_layers(self) -> int:
        """Number of layers, without vertices."""
        return len(self.get_layers())

    def get_output_layer(self, index: int = 0) -> Any:
        """The layer at an output (see :meth:`get_layer`)."""
        structure = self._structure()
        if not 0 <= index < len(structure.outputs):
            raise GraphError(f"output {index} does not exist; the network has {len(structure.outputs)} outputs")
        return self.get_layer(structure.outputs[index])

    def get_default_configuration(self) -> Any:
        """The configuration that layers without own settings take."""
        confs = getattr(self._configuration, "confs", None)
        return confs[-1] if confs else self._configuration.default_configuration

    conf = get_default_configuration

    def layer_size(self, layer: Any) -> int:
        """Number of outputs of a layer (index or name), 0 where it has no fixed one."""
        return _size(self._structure().member(self._layer_key(layer)).conf, "n_out")

    def layer_input_size(self, layer: Any) -> int:
        """Number of inputs of a layer (index or name), 0 where it has no fixed one."""
        return _size(self._structure().member(self._layer_key(layer)).conf, "n_in")

    def num_labels(self) -> int:
        """Number of outputs of the last layer."""
        return _size(self.get_output_layer(), "n_out")

    def get_input(self) -> Any:
        """The input that was set, None without one."""
        return None if self._batch is None else self._batch.inputs[0]

    input = get_input

    def get_labels(self) -> Any:
        """The labels that were set, None without any."""
        return None if self._batch is None or not self._batch.labels else self._batch.labels[0]

    def set_score(self, score: float) -> None:
        """Replace what :meth:`score` answers without data."""
        self._score = float(score)

    def get_gradients_view_array(self) -> Any:
        """The flat gradient of the last step: the memory itself."""
        return self.engine.flat.gradients

    def updater_state(self) -> Any:
        """The flat state of the updaters: the memory itself."""
        return self.get_updater().state_view()

    def get_training_listeners(self) -> list[Any]:
        """The listeners."""
        return list(self._listeners)

    def equals(self, other: Any) -> bool:
        """True for a network with an equal configuration and equal parameters."""
        return bool(self == other)


def _size(conf: Any, name: str) -> int:
    found = getattr(conf, name, 0)
    return int(found) if isinstance(found, int) else 0
