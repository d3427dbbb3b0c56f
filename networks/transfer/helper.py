"""Training the head of a network on features that are computed once."""
from __future__ import annotations

from typing import Any

from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import ConfigurationError
from ...samediff.training.steps.transaction import Transaction
from ..batches.given_data import batch_of
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from ..structure.configuration import LayerVertex
from ..structure.java_names import TransferLearningHelperNames
from .graph_builder import TransferGraphBuilder
from .list_builder import TransferListBuilder


class TransferLearningHelper(TransferLearningHelperNames):
    """Splits a network into its frozen part and the rest.

    ``featurize`` runs data through the frozen part, ``fit_featurized`` trains the rest on the result; the network that was
    given gets the new parameters after every call, as in DL4J.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
        The whole network.
    *frozen_till : int or str, optional
        The last layer to freeze, or for graphs the vertices, with all that lies before them. Without it the network's own frozen
        layers count.

    Raises
    ------
    ConfigurationError
        Nothing is frozen, or everything.
    """

    def __init__(self, network: Any, *frozen_till: Any) -> None:
        self._given, self._whole = network, _frozen(network, frozen_till)
        keys = [m.key for m in self._whole.engine.structure.members if m.is_frozen]
        self._head: Any
        if isinstance(network, MultiLayerNetwork):
            self._head, self._boundary = _list_head(self._whole, keys), [str(len(keys) - 1)]
        else:
            self._head = head = _graph_head(self._whole, keys)
            self._boundary = list(head.get_configuration().network_inputs)

    def _share(self) -> None:
        """The head's parameters in the whole network and in the one that was given."""
        for network in (self._whole, self._given):
            flat = network.engine.flat
            with flat.gate, Transaction([flat.params]):
                for name, array in self._head.engine.flat.arrays.items():
                    flat.arrays[self._outer(name)][...] = array

    def _outer(self, name: str) -> str:
        if isinstance(self._whole, MultiLayerNetwork):
            index, _, rest = name.partition("_")
            return f"{int(index) + int(self._boundary[0]) + 1}_{rest}"
        return name

    def featurize(self, data: DataSet | MultiDataSet) -> Any:
        """The activations of the frozen part for the features, with the same labels and masks."""
        batch = batch_of(data)
        inputs = self._whole.engine.structure.inputs
        members = [b for b in self._boundary if b not in inputs]
        made = dict(zip(members, self._whole.engine.forward.activations(batch, members)[0]))
        features = [made[b] if b in made else batch.inputs[inputs.index(b)] for b in self._boundary]
        if isinstance(data, DataSet) and len(features) == 1:
            return DataSet(features[0], data.labels, None, data.labels_mask)
        return MultiDataSet(features, list(batch.labels), None, list(batch.labels_masks) or None)

    def fit_featurized(self, data: Any, epochs: int = 1) -> None:
        """Train the rest on what :meth:`featurize` gave: a data set, or an iterator of them."""
        try:
            self._head.fit(data, epochs=epochs)
        finally:                # after an error the steps before it count
            self._share()

    def output_from_featurized(self, features: Any) -> Any:
        """The network's outputs for what :meth:`featurize` gave: an array, or a list of them for a graph."""
        if isinstance(features, (list, tuple)):
            return self._head.output(*features)
        found = self._head.output(features)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    def unfrozen_mln(self) -> MultiLayerNetwork:
        """The rest of a list of layers."""
        return self._head  # type: ignore[no-any-return]

    def unfrozen_graph(self) -> ComputationGraph:
        """The rest of a graph."""
        return self._head  # type: ignore[no-any-return]


def _frozen(network: Any, till: tuple[Any, ...]) -> Any:
    if isinstance(network, MultiLayerNetwork):
        return TransferListBuilder(network).set_feature_extractor(*till).build() if till else network.clone()
    if isinstance(network, ComputationGraph):
        return TransferGraphBuilder(network).set_feature_extractor(*till).build() if till else network.clone()
    raise ConfigurationError(f"TransferLearningHelper takes a network; got a {type(network).__name__}")


def _list_head(whole: MultiLayerNetwork, keys: list[str]) -> MultiLayerNetwork:
    conf, count = whole.get_configuration(), len(keys)
    if not 0 < count < len(conf.confs) or keys != [str(i) for i in range(count)]:
        raise ConfigurationError(f"the helper needs frozen layers 0 … n and others behind them; frozen: {', '.join(keys) or 'none'}")
    processors = {i - count: p for i, p in conf.input_pre_processors.items() if i >= count}
    head = MultiLayerNetwork(conf.replace(confs=conf.confs[count:], input_pre_processors=processors)).init()
    for name, array in head.engine.flat.arrays.items():
        index, _, rest = name.partition("_")
        array[...] = whole.engine.flat.arrays[f"{int(index) + count}_{rest}"]
    return head


def _graph_head(whole: ComputationGraph, keys: list[str]) -> ComputationGraph:
    conf = whole.get_configuration()
    kept = {name: v for name, v in conf.vertices.items() if name not in keys}
    if not keys or not kept:
        raise ConfigurationError("the helper needs frozen vertices and others behind them; "
                                 f"frozen: {', '.join(keys) or 'none'} of {len(conf.vertices)}")
    sources = {name: conf.vertex_inputs[name] for name in kept}
    needed = {s for given in sources.values() for s in given if s not in kept}
    inputs = [name for name in conf.order() if name in needed]
    confs = {name: v.layer_conf for name, v in kept.items() if isinstance(v, LayerVertex)}
    default = conf.default_configuration.replace(seed=next(iter(confs.values())).seed if confs else conf.default_configuration.seed)
    head = ComputationGraph(conf.replace(network_inputs=tuple(inputs), vertices=kept, vertex_inputs=sources, default_configuration=default,
                                         topological_order=None, topological_order_str=None)).init()
    for name, array in head.engine.flat.arrays.items():
        array[...] = whole.engine.flat.arrays[name]
    return head
