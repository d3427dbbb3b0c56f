"""One layer of a network: its configuration, its parameters, and what it can be asked alone."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...layers.standard.recurrent import BaseRecurrentLayer
from ...layers.types.layer_type import LayerType, type_of
from ...layers.types.parameters import LayerScope
from ...samediff.base.java.old_names import instead
from ...samediff.base.java.pair import Pair
from ...samediff.base.javanames import JavaSpelling, in_both_spellings, to_snake
from ...samediff.base.user_code.users_arrays import answers_in_kind, in_kind, users_array
from ...samediff.errors import ConfigurationError, GraphError, ShapeError, UnknownNameError, did_you_mean
from ...samediff.executor.session import run
from ...samediff.expressions.arrays import as_array, to_numbers
from ...samediff.graph.graph import SameDiff
from ..batches.batch import NetworkBatch
from ..batches.set_arrays import SetArrays
from ..engine.forward import Forward
from ..engine.gradient import Gradient
from ..engine.protocols import HasEngine
from ..engine.read_only_params import read_only_params
from ..structure.configuration import conf_of
from ..structure.graph_arguments import is_switch
from ..structure.structure import Member, Structure


class HasLayers(HasEngine, Protocol):
    """A network, as the views of its layers see it."""

    @property
    def structure(self) -> Structure: ...

    @property
    def configuration(self) -> Any: ...

    @property
    def given_arrays(self) -> SetArrays: ...

    def param_table(self) -> dict[str, Any]: ...

    def set_param(self, name: str, value: Any) -> None: ...

    def get_epoch_count(self) -> int: ...


class LayerView(JavaSpelling):
    """A layer of a network, as ``network.get_layer(...)`` gives it (DL4J's ``Layer``).

    Fields of the layer's configuration are attributes, and so are the methods that its class declares with
    :func:`~dl4py.layers.at_work`, such as ``encode`` of an :class:`~dl4py.layers.AutoEncoder`.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
        The network, which ``get_layer`` gives.
    key : str
        What the layer is called inside: its place in a list, its name in a graph.

    Examples
    --------
    >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> conf = NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_in=4, n_out=8)).layer(OutputLayer(n_in=8, n_out=3)).build()
    >>> layer = MultiLayerNetwork(conf).get_layer(0)
    >>> layer.n_out, layer.num_params(), layer.get_param("W").shape
    (8, 40, (4, 8))
    """

    def __init__(self, network: HasLayers, key: str) -> None:
        self._network, self._key = network, key

    @property  # type: ignore[misc]  # nobody sets it
    def __class__(self) -> Any:      # a view is an instance of the class of its layer, too, as in DL4J
        return type(self.get_config())

    def _member(self) -> Member:
        return self._network.structure.member(self._key)

    # Configuration

    def conf(self) -> Any:
        """The :class:`NeuralNetConfiguration` of the layer; its ``layer`` is :meth:`get_config`."""
        return conf_of(self._network.configuration, self._key)

    def get_config(self) -> Any:
        """The configuration of the layer."""
        return self.conf().layer

    def get_index(self) -> int:
        """Its place among the layers of the network."""
        return [m.key for m in self._network.structure.as_declared if m.is_layer].index(self._key)

    def type(self) -> LayerType:
        """DL4J's kind of layer."""
        return type_of(self.get_config())

    def is_pretrain_layer(self) -> bool:
        """Whether the layer can be trained without labels."""
        return self._member().can_pretrain

    # Parameters

    def param_table(self, backprop_params_only: bool = False) -> dict[str, Any]:
        """Parameters by name ("W"): views, so that writing to them changes the network."""
        prefix, member = f"{self._key}_", self._member()
        only = {s.name for s, p in member.slots() if not (backprop_params_only and member.only_pretrained(p))}
        return {n.removeprefix(prefix): a for n, a in self._network.param_table().items() if n in only}

    def get_param(self, name: str) -> Any:
        """One parameter, as a view."""
        table = self.param_table()
        if name not in table:
            raise UnknownNameError(f"{self._member().label} has no parameter {name!r}{did_you_mean(name, table)}; "
                                   f"parameters: {', '.join(table) or 'none'}")
        return table[name]

    def set_param(self, name: str, value: Any) -> None:
        """Replace one parameter."""
        self.get_param(name)
        self._network.set_param(f"{self._key}_{name}", value)

    def set_param_table(self, table: Mapping[str, Any]) -> None:
        """Replace parameters by name."""
        for name, value in table.items():
            self.set_param(name, value)

    def params(self) -> Any:
        """Its part of the flat vector of the network's parameters: a read-only copy, as that of the network."""
        arrays = self._network.engine.flat.arrays
        parts = [arrays[s.name].reshape(-1, order=s.order) for s, _ in self._member().slots()]
        return read_only_params(np.concatenate(parts) if parts else np.zeros(0, self._network.engine.flat.dtype))

    def set_params(self, params: Any) -> None:
        """Replace its part of the flat vector."""
        given, at = to_numbers(params, "a layer").reshape(-1), 0
        if given.size != self.num_params():
            raise ShapeError(f"{self._member().label} has {self.num_params()} parameters, the vector given has {given.size}")
        flat = self._network.engine.flat
        with flat.gate:
            for slot, _ in self._member().slots():
                piece: Any = given[at:at + slot.size]
                flat.arrays[slot.name][...] = piece.reshape(slot.shape, order=slot.order)
                at += slot.size

    def num_params(self, backwards: bool = False) -> int:
        """Number of parameters; ``backwards`` leaves out those that only pretraining moves."""
        member = self._member()
        return sum(s.size for s, p in member.slots() if not (backwards and member.only_pretrained(p)))

    # At work

    def set_input(self, x: Any, workspace_mgr: None = None) -> None:
        """Set the input of :meth:`activate`, :meth:`pre_output` and :meth:`backprop_gradient`; ``workspace_mgr`` has no effect."""
        self._network.given_arrays.layer_inputs[self._key] = x

    def input(self) -> Any:
        """The input that was set; else what the layer gets, in training, of the inputs that the network was given; None without any."""
        arrays, member = self._network.given_arrays, self._member()
        if self._key in arrays.layer_inputs or arrays.batch is None:
            return arrays.layer_inputs.get(self._key)
        batch = NetworkBatch(arrays.batch.inputs, None, arrays.masks[0])
        (below,), _ = self._network.engine.forward.activations(batch, member.inputs[:1], True, as_in_step=True)
        return users_array(below if member.preprocessor is None else member.preprocessor.pre_process(below, batch.size))

    def set_labels(self, labels: Any) -> None:
        """Set the labels of an output layer."""
        self._network.given_arrays.layer_labels[self._key] = labels

    def get_labels(self) -> Any:
        """The labels that were set, here or on the network; None without any."""
        arrays, outputs = self._network.given_arrays, self._network.structure.outputs
        of_network = dict(zip(outputs, arrays.labels)).get(self._key)
        return arrays.layer_labels.get(self._key, of_network)

    def clear(self) -> None:
        """Forget input and labels that were set."""
        self._network.given_arrays.layer_inputs.pop(self._key, None)
        self._network.given_arrays.layer_labels.pop(self._key, None)

    def activate(self, x: Any = None, training: Any = False, mask: Any = None) -> Any:
        """Activations of this layer alone for an input, without the layer's preprocessor.

        Without ``x`` (``activate(training)``) for the input that was set. Shapes: x (batch, …) as the layer takes it; mask (batch, 1) or
        (batch, time).
        """
        if is_switch(x):
            x, training = None, x
        return self._run(self._network.engine.alone(self._key), x, bool(training), mask)

    def pre_output(self, training: bool = False, workspace_mgr: None = None) -> Any:
        """Activations for the input that was set, without the activation function; ``workspace_mgr`` has no effect.

        Raises
        ------
        GraphError
            No input, or a layer that applies no activation function behind all else.
        """
        conf = self.get_config()
        field = next((f for f in ("pzx_activation", "activation") if f in type(conf)._fields), None)
        if field is None or isinstance(conf, BaseRecurrentLayer):
            raise GraphError(f"{self._member().label} applies no activation function behind all else: activate(x) gives its activations")
        return self._run(self._network.engine.alone(self._key, conf.replace(**{field: "identity"})), None, training, None)

    def _run(self, alone: Forward, x: Any, training: bool, mask: Any) -> Any:
        given = self._given() if x is None else x
        batch = NetworkBatch([given], None, None if mask is None else [mask])
        found = alone.activations(batch, [self._key], training, as_in_step=x is None)[0][0]
        return in_kind(found, given)

    def _given(self) -> Any:
        found = self.input()
        if found is None:
            raise GraphError(f"{self._member().label} needs an input: give x, or call set_input of the layer or the network first")
        return found

    @answers_in_kind
    def backprop_gradient(self, epsilon: Any = None, workspace_mgr: None = None) -> Pair[Gradient, Any]:
        """Gradients of this layer alone for the input that was set, given the gradient of some loss for its activations.

        Activations and gradients are those of the present iteration in training mode, as ``activate(True)`` gives them. Layer by layer
        from the last one to the first, this is :meth:`MultiLayerNetwork.backprop_gradient`, without the layers' preprocessors; the
        gradient of the network then has those of all these layers.

        Parameters
        ----------
        epsilon : array, optional
            As the activations of the layer; without it an output layer takes its loss for the labels that were set.
        workspace_mgr : None
            Without effect.

        Returns
        -------
        pair of Gradient and array
            Of the parameters, by the names of this layer, as sums over examples; and of the input.

        Raises
        ------
        GraphError
            No input; no ``epsilon``, and no output layer with labels.

        Examples
        --------
        >>> from dl4py.layers import DenseLayer, OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(DenseLayer(n_in=4, n_out=8), OutputLayer(n_out=3)).build())
        >>> net.set_input(np.ones((2, 4)))
        >>> net.set_labels(np.eye(3)[:2])
        >>> gradient, epsilon = net.get_layer(1).backprop_gradient()
        >>> gradient, epsilon = net.get_layer(0).backprop_gradient(epsilon)
        >>> gradient.get_gradient_for("W").shape, epsilon.shape
        ((4, 8), (2, 4))
        """
        engine = self._network.engine
        labels = None if epsilon is not None else self.get_labels()
        if epsilon is None and (labels is None or self._member() not in self._network.structure.losses):
            raise GraphError(f"{self._member().label}: backprop_gradient needs the gradient of its activations, or an output layer labels "
                             "that were set")
        given = None if epsilon is None else as_array(epsilon).astype(engine.structure.dtype.numpy, copy=False)
        batch = NetworkBatch([self._given()], [labels])
        (below,) = engine.steps.backward_alone(engine.alone(self._key).graphs, batch, [given])
        slots = [s for s, _ in self._member().slots() if s.name in engine.steps.computed]
        own = {s.name.removeprefix(f"{self._key}_"): engine.flat.gradient_arrays[s.name].copy() for s in slots}
        flat = [a.reshape(-1, order=s.order) for s, a in zip(slots, own.values())]
        return Pair(Gradient(np.concatenate([np.zeros(0, engine.flat.dtype), *flat]), own), below)

    def compute_score(self, regularization: float = 0.0, training: bool = False, workspace_mgr: None = None) -> float:
        """The mean loss of an output layer for the input and the labels that were set, and ``regularization`` added to it.

        ``workspace_mgr`` has no effect.
        """
        return self._scored(training)[1] + float(regularization)

    def compute_score_for_examples(self, regularization: float = 0.0, workspace_mgr: None = None) -> Any:
        """The loss of each example, (batch, 1), as :meth:`compute_score`; ``workspace_mgr`` has no effect."""
        return users_array(np.reshape(self._scored(False)[0][0], (-1, 1)) + regularization)

    def _scored(self, training: bool) -> tuple[list[Any], float]:
        return self._network.engine.alone(self._key).scores(NetworkBatch([self._given()], [self.get_labels()]), training)

    def score(self) -> float:
        """The mean loss of the last step of pretraining, with regularization; 0 before the first one."""
        trainer = self._network.engine.pretrainers.get(self._key)
        return 0.0 if trainer is None else trainer.score

    def gradient(self) -> Gradient:
        """The gradient of the last step of pretraining, by the names of this layer."""
        trainer = self._network.engine.pretrainers.get(self._key)
        if trainer is None:
            raise GraphError(f"{self._member().label} was not pretrained, so it has no gradient of its own: gradient() of the network "
                             "gives those of a step with labels")
        return trainer.gradient()

    def get_iteration_count(self) -> int:
        """Number of steps of pretraining."""
        trainer = self._network.engine.pretrainers.get(self._key)
        return 0 if trainer is None else trainer.iteration

    def get_epoch_count(self) -> int:
        """Number of epochs that the network was trained."""
        return self._network.get_epoch_count()

    def _work(self) -> LayerRunner:
        return LayerRunner(self._network.engine.alone(self._key), self._member())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        conf = self.get_config()
        for spelling in (name, to_snake(name)):
            method: Any = getattr(type(conf), spelling, None)
            if getattr(method, "at_work", False):
                return answers_in_kind(partial(method, conf, self._work()))
        try:
            return super().__getattr__(name)  # type: ignore[misc]  # not shown to type checkers
        except AttributeError:
            if not hasattr(conf, name) and (advice := instead("layer", name)):
                raise AttributeError(f"a layer has no {name!r}{advice}", name=name, obj=self) from None
            return getattr(conf, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise ConfigurationError(f"layers of a network do not change: {name!r} cannot be set"
                                     + (instead("layer", name) or "; TransferLearning makes a network with other layers, set_param and "
                                        "set_param_table of the network give it other weights"))
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return in_both_spellings([*super().__dir__(), *type(self.get_config())._fields, *self._methods()])

    def _methods(self) -> list[str]:
        cls = type(self.get_config())
        return [n for n in dir(cls) if not n.startswith("_") and getattr(getattr(cls, n, None), "at_work", False)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LayerView) and self._network is other._network and self._key == other._key

    def __hash__(self) -> int:
        return hash((self._network, self._key))

    def __repr__(self) -> str:
        return f"<layer {self._key!r} of {type(self._network).__name__}: {self.get_config()!r}>"


class LayerRunner:
    """Runs the graphs of a layer's own methods; see :class:`~dl4py.layers.base.layer_methods.BoundLayer`."""

    def __init__(self, alone: Forward, member: Member) -> None:
        self._alone, self._member = alone, member

    @property
    def dtype(self) -> Any:
        """NumPy's type of the network's numbers."""
        return self._alone.structure.dtype.numpy

    def run(self, define: Callable[..., Any], *arrays: Any) -> Any:
        """See :meth:`.BoundLayer.run`."""
        given = [as_array(a).astype(self.dtype, copy=False) for a in arrays]
        shapes = tuple((-1, *a.shape[1:])[:a.ndim] for a in given)
        graphs = self._alone.graphs
        sd, names, single = graphs.cached(graphs.of_methods, (define.__name__, *shapes), lambda: self._graph(define, shapes))
        values = run(sd, {f"x{i}": a for i, a in enumerate(given)}, names, self._alone.progress.context(False))
        return values[names[0]] if single else [values[n] for n in names]

    def _graph(self, define: Callable[..., Any], shapes: tuple[tuple[int, ...], ...]) -> tuple[SameDiff, list[str], bool]:
        structure, arrays = self._alone.structure, self._alone.graphs.parameters.flat.arrays
        sd = SameDiff.create()
        sd.seed = structure.seed
        xs = [sd.placeholder(f"x{i}", structure.dtype, *shape) for i, shape in enumerate(shapes)]
        own = {p.name: sd.attach(s.name, arrays[s.name]) for s, p in self._member.slots()}
        found = define(sd, *xs, LayerScope(self._member.label, own))
        several = isinstance(found, (tuple, list))
        return sd, [v.name() for v in (found if several else [found])], not several
