"""``NeuralNetConfiguration.Builder()``, which goes on to lists of layers and to graphs."""
from __future__ import annotations

from typing import Any, Self

from ...samediff.configuration.builder import Builder
from .configuration import NeuralNetConfiguration
from .global_configuration import GlobalConfiguration
from .graph_builder import GraphBuilder
from .java_names import NeuralNetConfigurationBuilderNames
from .list_builder import ListBuilder
from .network_builder import finished


class NeuralNetConfigurationBuilder(Builder[NeuralNetConfiguration], NeuralNetConfigurationBuilderNames):
    """Options of a whole network, one method each.

    ``list()`` and ``graph_builder()`` go on to the layers, ``build()`` makes one layer's configuration. The options are those of
    `LayerDefaults`, which layers take where they set none themselves (``activation``, ``weight_init``, ``updater``, ``l2`` …), and of
    `NeuralNetConfiguration` (``seed``, ``data_type``, ``mini_batch`` …), in DL4J's spelling too.
    """

    target = GlobalConfiguration

    def list(self, *layers: Any) -> ListBuilder:
        """Start a list of layers."""
        builder = ListBuilder(self)
        for layer in layers:
            builder.layer(layer)
        return builder

    def graph_builder(self) -> GraphBuilder:
        """Start a graph."""
        return GraphBuilder(self)

    graphBuilder = graph_builder

    def settings(self) -> GlobalConfiguration:
        """Return the options so far."""
        return GlobalConfiguration(**self._values)

    def layer(self, layer: Any) -> Self:
        """Set the single layer of :meth:`build`."""
        return self.set_option("layer", finished(layer))

    def build(self) -> NeuralNetConfiguration:
        given = self.settings()
        return given.of_layer(given.layer.apply_global_config(given) if given.layer is not None else None)


NeuralNetConfiguration.Builder = NeuralNetConfigurationBuilder
