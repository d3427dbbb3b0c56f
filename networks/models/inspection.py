"""Layers, names and sizes of a network."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from ...layers.types.input_type import InputType
from ...samediff.base.user_code.users_arrays import users_array
from ...samediff.codecs.atomic_files import write_file
from ...samediff.drawing.graphs import GraphDrawing
from ...samediff.drawing.images import as_pictures, png
from ...samediff.errors import GraphError, ShapeError
from ...samediff.text.html import html_table
from ..batches.batch import NetworkBatch
from ..reports.drawings import drawing_of
from ..reports.layer_view import LayerView
from ..reports.run_report import WORST, checked, report_of
from ..structure.structure import place_of
from .network import Network


class NetworkInspectionMixin(Network):
    """The part of a network that answers questions about its layers."""

    def is_init_called(self) -> bool:
        """True once the network has parameters."""
        return self._engine is not None

    def get_layers(self) -> list[LayerView]:
        """All layers, without vertices."""
        return [LayerView(self, m.key) for m in self.structure.as_declared if m.is_layer]

    def get_layer_names(self) -> list[str]:
        """The names of all layers; one without a name is called by its place."""
        return [getattr(m.conf, "layer_name", None) or m.key for m in self.structure.as_declared if m.is_layer]

    def get_num_layers(self) -> int:
        """Number of layers, without vertices."""
        return len(self.get_layers())

    @property
    def layers(self) -> list[LayerView]:
        """All layers, without vertices: ``net.layers[0]`` is ``net[0]``."""
        return self.get_layers()

    def _repr_html_(self) -> str:
        """A table of the layers; of the configuration, where the network has no parameters yet."""
        counts = {} if self._engine is None else {key: sum(a.size for a in layer.param_table().values()) for key, layer in
                                                  zip(self.get_layer_names(), self.get_layers())}
        rows = [[name, type(m.conf).__name__, getattr(m.conf, "n_in", None), getattr(m.conf, "n_out", None), counts.get(name)]
                for name, m in zip(self.get_layer_names(), (m for m in self.structure.as_declared if m.is_layer))]
        return html_table(repr(self), ["layer", "type", "n_in", "n_out", "parameters"], rows)

    def __len__(self) -> int:
        return self.get_num_layers()

    def __iter__(self) -> Iterator[LayerView]:
        return iter(self.get_layers())

    @overload
    def __getitem__(self, layer: int | str) -> LayerView: ...

    @overload
    def __getitem__(self, layer: slice) -> list[LayerView]: ...

    def __getitem__(self, layer: int | str | slice) -> Any:
        """A layer by its place or name, or a list of layers.

        Raises
        ------
        OutOfRangeError, UnknownNameError
            There is none; an IndexError and a KeyError.

        Examples
        --------
        >>> from dl4py.layers import DenseLayer, OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> layers = DenseLayer(n_in=4, n_out=8, layer_name="hidden"), OutputLayer(n_in=8, n_out=3)
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(*layers).build())
        >>> len(net), net[-1].n_out, net["hidden"].n_in, "hidden" in net, [layer.n_out for layer in net]
        (2, 3, 4, True, [8, 3])
        """
        if isinstance(layer, str):
            return self.get_layer(layer)
        if isinstance(layer, slice):
            return self.get_layers()[layer]
        layers = self.get_layers()
        return layers[place_of(layer, len(layers))]

    def __contains__(self, layer: object) -> bool:
        return layer in self.get_layer_names() if isinstance(layer, str) else layer in self.get_layers()

    def drawing(self, *input_types: InputType) -> GraphDrawing:
        """The layers and vertices as a drawing; with input types also the shapes between them.

        Parameters
        ----------
        *input_types : InputType
            One for each input; not needed where the first layers take rows of a known size.

        Examples
        --------
        >>> from dl4py.layers import DenseLayer, OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> layers = DenseLayer(n_in=4, n_out=8), OutputLayer(n_in=8, n_out=3)
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(*layers).build())
        >>> [(node.kind, node.shape) for node in net.drawing().nodes]
        [('input', '(?, 4)'), ('DenseLayer', '(?, 8)'), ('OutputLayer', '(?, 3)')]
        """
        return drawing_of(type(self).__name__, self.engine, self._configuration, input_types)

    def to_html(self, path: str | os.PathLike[str] | None = None, *input_types: InputType) -> str:
        """A page that shows the graph, folded by scope and searchable, and needs no network; written to a file where one is named."""
        return self.drawing(*input_types).to_html(path)

    def to_dot(self, *input_types: InputType) -> str:
        """The layers and vertices as DOT text, for Graphviz and everything that reads it."""
        return self.drawing(*input_types).to_dot()

    def report(self, path: str | os.PathLike[str] | None = None, data: Any = None, *, stats: Any = None, names: Sequence[str] | None = None,
               worst: int = WORST) -> str:
        """Write a page about the network, to send by mail: it needs no network and no other file.

        It has the configuration with a drawing of the graph, the curves of the training, the evaluation of data with the examples that
        the network does worst (as pictures, where they are images), the environment, and how to repeat it.

        Parameters
        ----------
        path : path, optional
            The file, such as ``"run.html"``.
        data : DataSet or (features, labels), optional
            What is evaluated; of networks with one input and one output.
        stats : StatsStorage or path, optional
            What a :class:`StatsListener` recorded.
        names : sequence of str, optional
            Names of the classes.
        worst : int, default 24
            How many of the examples with the largest losses are shown.

        Returns
        -------
        str
            The page.

        Raises
        ------
        MissingPackageError
            matplotlib is not installed.
        """
        text = report_of(self, checked(data), stats, names, worst)
        if path is not None:
            write_file(path, text)
        return text

    def draw_filters(self, layer: Any, save_to: str | os.PathLike[str] | None = None) -> Any:
        """The filters of a convolution beside each other: pixels (height, width, 3) of 0 to 255.

        Parameters
        ----------
        layer : int or str
            Place or name of the layer.
        save_to : path, optional
            Write them to this PNG file.
        """
        table = self.get_layer(layer).param_table()
        found = [a for a in table.values() if np.ndim(a) == 4]
        if not found:
            raise ShapeError(f"layer {layer!r} has no filters: its parameters are "
                             f"{', '.join(f'{n} {np.shape(a)}' for n, a in table.items()) or 'none'}")
        return _saved(as_pictures(found[0]), save_to)

    def draw_activations(self, layer: Any, x: Any, save_to: str | os.PathLike[str] | None = None) -> Any:
        """The activations of a layer for the first example: pixels (height, width, 3) of 0 to 255, a picture for each channel.

        Parameters
        ----------
        layer : int or str
            Place or name of the layer or vertex.
        x : array, or a list with an array for each input
            Features.
        save_to : path, optional
            Write them to this PNG file.
        """
        key, given = self.structure.key_of(layer), x if isinstance(x, list) else [x]
        found = self.engine.forward.activations(NetworkBatch([np.asarray(a) for a in given]), [key], False)[0][0]
        pixels = as_pictures(np.asarray(found)[:1] if np.ndim(found) == 4 else np.asarray(found))
        if pixels is None:
            raise ShapeError(f"activations of layer {layer!r} are no pictures: their shape is {np.shape(found)}")
        return _saved(pixels, save_to)

    def get_output_layer(self, index: int = 0) -> Any:
        """The layer at an output (see :meth:`get_layer`)."""
        structure = self.structure
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
        return _size(self.structure.member(self.structure.key_of(layer)).conf, "n_out")

    def layer_input_size(self, layer: Any) -> int:
        """Number of inputs of a layer (index or name), 0 where it has no fixed one."""
        return _size(self.structure.member(self.structure.key_of(layer)).conf, "n_in")

    def num_labels(self) -> int:
        """Number of outputs of the last layer."""
        return _size(self.get_output_layer(), "n_out")

    def get_input(self) -> Any:
        """The input that was set, None without one."""
        return None if self._arrays.batch is None else users_array(self._arrays.batch.inputs[0])

    input = get_input

    def get_labels(self) -> Any:
        """The labels that were set, None without any."""
        return users_array(self._arrays.labels[0]) if self._arrays.labels else None

    def set_score(self, score: float) -> None:
        """Set the score that :meth:`score` returns without data."""
        self.engine.progress.score = float(score)

    def get_gradients_view_array(self) -> Any:
        """The flat gradient of the last step: the memory itself."""
        return users_array(self.engine.flat.gradients)

    def updater_state(self) -> Any:
        """The flat state of the updaters: the memory itself."""
        return self.get_updater().state_view()

    def get_training_listeners(self) -> list[Any]:
        """The listeners."""
        return list(self._listeners)

    def equals(self, other: Any) -> bool:
        """True for a network with an equal configuration and equal parameters."""
        return bool(self == other)


def _saved(pixels: Any, save_to: str | os.PathLike[str] | None) -> Any:
    if save_to is not None:
        write_file(save_to, png(pixels))
    return pixels


def _size(conf: Any, name: str) -> int:
    found = getattr(conf, name, 0)
    return int(found) if isinstance(found, int) else 0
