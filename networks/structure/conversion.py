"""A list network as a graph."""
from __future__ import annotations

from ...layers.vertices import GraphVertex
from .configuration import ComputationGraphConfiguration, LayerVertex, MultiLayerConfiguration, NetworkConfiguration


def as_graph(conf: MultiLayerConfiguration) -> ComputationGraphConfiguration:
    """The graph of the same layers: input "in", layers named "0", "1" …"""
    shared = {name: getattr(conf, name) for name in NetworkConfiguration._fields}
    names = [str(i) for i in range(len(conf.confs))]
    sources = [("in",), *[(name,) for name in names]]
    vertices: dict[str, GraphVertex] = {
        name: LayerVertex(c.replace(layer=layer.renamed(name)), conf.input_pre_processors.get(i))
        for i, (name, c, layer) in enumerate(zip(names, conf.confs, conf.layers))}
    return ComputationGraphConfiguration(
        **shared, default_configuration=conf.confs[0].replace(layer=None, variables=()), network_inputs=("in",),
        network_outputs=(names[-1],), vertices=vertices, vertex_inputs=dict(zip(names, sources)))
