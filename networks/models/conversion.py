"""A list network as a graph."""
from __future__ import annotations

from ...layers.vertices import GraphVertex
from ..structure.configuration import ComputationGraphConfiguration, LayerVertex, NetworkConfiguration
from .computation_graph import ComputationGraph
from .multilayer import MultiLayerNetwork


def to_computation_graph(net: MultiLayerNetwork) -> ComputationGraph:
    """The graph of the same layers, with a copy of all that the network has learned."""
    conf = net.get_layer_wise_configurations()
    shared = {name: getattr(conf, name) for name in NetworkConfiguration._fields}
    names = [str(i) for i in range(len(conf.confs))]
    sources = [("in",), *[(name,) for name in names]]
    vertices: dict[str, GraphVertex] = {
        name: LayerVertex(c.replace(layer=layer.replace(layer_name=name)), conf.input_pre_processors.get(i))
        for i, (name, c, layer) in enumerate(zip(names, conf.confs, conf.layers))}
    graph = ComputationGraph(ComputationGraphConfiguration(
        **shared, default_configuration=conf.confs[0].replace(layer=None, variables=()), network_inputs=("in",),
        network_outputs=(names[-1],), vertices=vertices, vertex_inputs=dict(zip(names, sources))))
    graph.init(net.engine.flat.params).engine.take_over(net.engine)
    return graph
