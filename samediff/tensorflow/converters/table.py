"""Registration of converters of TensorFlow's operators."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...onnx.node import OnnxNode
from ...onnx.registry import same_for


def tensorflow(*operators: str) -> Callable[[Any], Any]:
    """Register a function for operators."""
    return same_for(*operators, domain="tensorflow")


def numbers(node: OnnxNode, i: int, what: str) -> list[int]:
    """The whole numbers of an input, which must be known."""
    return [int(v) for v in np.asarray(node.value(i, what)).reshape(-1)]
