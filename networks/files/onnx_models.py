"""Networks as ONNX models."""
from __future__ import annotations

from os import PathLike
from typing import Any, BinaryIO

from ...layers.types.input_type import InputType
from ...samediff.errors import ConfigurationError
from ..engine.build import input_name
from ..engine.protocols import HasEngine
from .exchange import forward_graph


def export_network(net: HasEngine, target: str | PathLike[str] | BinaryIO | None, input_types: tuple[InputType, ...]) -> Any:
    """Write the forward pass of a network, as it computes outside of training; see ``export_onnx`` of networks."""
    from ...samediff.onnx.exporting import export
    from ...samediff.onnx.importing import rename
    structure = net.engine.structure
    if input_types and (len(input_types) != len(structure.inputs) or not all(isinstance(t, InputType) for t in input_types)):
        raise ConfigurationError(f"export_onnx takes an InputType for each input of the network ({', '.join(structure.inputs)}); "
                                 f"got {list(input_types)}")
    shapes = [t.array_shape() for t in input_types]
    made = forward_graph(net, [len(s) for s in shapes] or None, [s[1:] for s in shapes])
    sd = made.sd
    names = {input_name(i): name for i, name in enumerate(structure.inputs)}
    outputs = []
    for key in structure.outputs:
        found = made.activations[key]
        if found in names or found in outputs:
            found = sd.call("base", "identity", sd.variable(found)).name()
        names[found] = key
        outputs.append(found)
    rename(sd, names)
    return export(sd, target, [names[n] for n in outputs], one_batch=True)
