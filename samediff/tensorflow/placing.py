"""Single nodes, and what they become in a graph."""
from __future__ import annotations

import numpy as np

from ..base.datatype import DataType
from ..errors import FileFormatError
from ..onnx.values import DEAD, Held
from ..onnx.walk import Walk
from .loops import TensorFlowLoop, run
from .wire import TensorFlowNode

#: Operators that give what they are given.
PASSING = frozenset(("Identity", "Enter", "RefEnter", "Exit", "RefExit", "Snapshot", "DeepCopy", "ReadVariableOp", "GuaranteeConst"))

#: Operators without a converter that graphs have all the same.
WITHOUT_CONVERTER = frozenset(("Placeholder", "PlaceholderWithDefault", "NoOp", "Assert", "TensorArrayCloseV3", "LoopCond", "NextIteration",
                               "RefNextIteration", "RefEnter", "RefExit"))


def place(walk: Walk, node: TensorFlowNode) -> None:
    """Add what a node becomes."""
    if node.op_type.startswith("Placeholder") and node.name in walk.given:
        walk.scopes[-1][node.name] = Held(np.asarray(walk.given[node.name]), node.name)
    elif node.op_type == "Placeholder" or (node.op_type == "PlaceholderWithDefault" and node.attributes.get("shape") != ()):
        dtype = DataType.of(node.attributes.get("dtype", "float32"))
        walk.scopes[-1][node.name] = walk.sd.placeholder(node.name, dtype, shape=_sizes(node))
    elif node.op_type in ("NoOp", "Assert", "TensorArrayCloseV3"):
        return
    elif node.op_type != "Merge" and any(s.get(n) is DEAD for s in walk.scopes for n in (*node.input, *node.control)):
        walk.scopes[-1].update((name, DEAD) for name in node.output)
    elif node.op_type in PASSING and node.input and isinstance(walk.look_up(node.input[0]), Held):
        walk.scopes[-1][node.name] = walk.look_up(node.input[0])    # the constant itself, which may be trained later
    elif isinstance(node, TensorFlowLoop):
        run(walk, node, place)
    else:
        walk.node(node)


def _sizes(node: TensorFlowNode) -> tuple[int, ...] | None:
    """The sizes of a placeholder, -1 for unknown ones; None for an unknown rank."""
    shape = node.attributes.get("shape")
    if shape is None:
        return None
    if not isinstance(shape, (list, tuple)) or not all(isinstance(n, int) for n in shape):
        raise FileFormatError(f"node {node.name!r} of the frozen TensorFlow graph: attribute 'shape' is no shape, but {shape!r:.60}")
    return tuple(n if n > 0 else -1 for n in shape)
