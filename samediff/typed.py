"""The classes behind ``sd.math``, ``sd.nn`` …; their methods come from the registry, ``typed.pyi`` lists them for editors."""
from __future__ import annotations

from .namespaces import Namespace


class MathOps(Namespace):
    """Mathematics."""


class NNOps(Namespace):
    """Neural networks: activations, normalization, attention, dropout."""


class CNNOps(Namespace):
    """Convolution and pooling."""


class RNNOps(Namespace):
    """Recurrent cells and layers."""


class LossOps(Namespace):
    """Losses; their results join the loss variables of the graph."""


class ImageOps(Namespace):
    """Images: resizing, colours, boxes."""


class LinalgOps(Namespace):
    """Decompositions, solvers, products."""


class BitwiseOps(Namespace):
    """Bits of integers."""


class RandomOps(Namespace):
    """Random arrays."""


class BaseOps:
    """Ops called on the graph itself; found through the registry."""


class VariableOps:
    """Ops called on variables; found through the registry."""

    __slots__ = ()


#: The class of each namespace.
CLASSES: dict[str, type[Namespace]] = {
    "math": MathOps, "nn": NNOps, "cnn": CNNOps, "rnn": RNNOps, "loss": LossOps, "image": ImageOps, "linalg": LinalgOps,
    "bitwise": BitwiseOps, "random": RandomOps,
}
