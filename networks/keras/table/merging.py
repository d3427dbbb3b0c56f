"""Layers of several inputs, and arithmetic of models."""
from __future__ import annotations

from typing import Any

from ....layers.vertices.combine import ElementWiseOp, ElementWiseVertex, MergeVertex
from .. import shapes
from ..layer_reading import KerasLayer, Made
from ..own.merging import AffineVertex, ArithmeticVertex, DotProduct
from ..registry import keras_layer

VERTICES = {"add": ElementWiseOp.Add, "multiply": ElementWiseOp.Product, "average": ElementWiseOp.Average, "maximum": ElementWiseOp.Max,
            "subtract": ElementWiseOp.Subtract}


def elementwise(k: KerasLayer, function: str) -> Made:
    """A vertex of that function."""
    same = len({t.shape for t in k.inputs}) == 1 and function in VERTICES
    conf: Any = ElementWiseVertex(VERTICES[function]) if same else ArithmeticVertex(function)
    return k.made(conf, shape=shapes.broadcast([t.shape for t in k.inputs]), masked=all(t.masked for t in k.inputs))


@keras_layer("Add", "Multiply", "Average", "Maximum", "Minimum", "Subtract",
             becomes="`ElementWiseVertex`; for shapes that are not equal, and minima, a vertex that spreads them")
def merge_elementwise(k: KerasLayer) -> Made:
    if len(k.inputs) == 1:
        return arithmetic(k)
    return elementwise(k, k.class_name.lower())


@keras_layer("Divide", "TrueDivide", becomes="a vertex of two inputs, or of one and a number")
def arithmetic(k: KerasLayer) -> Made:
    """One input and a number, before or behind it."""
    if len(k.inputs) == 2:
        return elementwise(k, "divide")
    number, first = k.arguments.get("number"), bool(k.arguments.get("number_first"))
    if not isinstance(number, (int, float)):
        raise k.unsupported("one input without a number")
    kind = k.class_name.lower()
    if kind == "add":
        return k.made(AffineVertex(1.0, float(number)))
    if kind == "subtract":
        return k.made(AffineVertex(-1.0, float(number)) if first else AffineVertex(1.0, -float(number)))
    if kind == "multiply":
        return k.made(AffineVertex(float(number)))
    if kind in ("divide", "truedivide"):
        return k.made(AffineVertex(float(number), 0.0, True) if first else AffineVertex(1 / float(number)))
    raise k.unsupported("a number")


@keras_layer("Concatenate", becomes="`MergeVertex`")
def concatenate(k: KerasLayer) -> Made:
    axis = k.axis(k.get("axis", -1))
    sizes = [t.shape[axis - 1] for t in k.inputs]
    shape = list(k.inputs[0].shape)
    shape[axis - 1] = None if None in sizes else sum(n for n in sizes if n is not None)
    return k.made(MergeVertex(merge_axis=axis, modified=True), shape=tuple(shape), masked=all(t.masked for t in k.inputs))


@keras_layer("Dot", becomes="a vertex of products", lossy="inputs with more than two axes and a batch are refused")
def dot(k: KerasLayer) -> Made:
    if len(k.inputs) != 2 or max(len(t.shape) for t in k.inputs) > 2:
        raise k.unsupported("these inputs")
    given = k.get("axes", k.get("dot_axes", -1))
    pair = given if isinstance(given, (list, tuple)) else (given, given)
    axes = tuple(a if a >= 0 else a + len(t.shape) + 1 for a, t in zip(pair, k.inputs))
    rest = [tuple(n for i, n in enumerate(t.shape, 1) if i != a) for a, t in zip(axes, k.inputs)]
    shape = (*rest[0], *rest[1])
    return k.made(DotProduct(axes=axes, normalize=bool(k.get("normalize", False))), shape=shape or (1,), masked=False)
