"""The classes behind ``sd.math``, ``sd.nn`` …; their methods come from the registry, ``typed.pyi`` lists them for editors."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .namespaces import Namespace, bound, description, documentation
from .op import METHODS
from .variable_ops import VariableOps


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

    def _op_method(self, namespace: str, method: str) -> Callable[..., Any]:
        """An op as a method of a namespace, or of the graph itself."""
        return bound(self, namespace, method)  # type: ignore[arg-type]  # sub-classes are graphs


#: The class of each namespace.
CLASSES: dict[str, type[Namespace]] = {
    "math": MathOps, "nn": NNOps, "cnn": CNNOps, "rnn": RNNOps, "loss": LossOps, "image": ImageOps, "linalg": LinalgOps,
    "bitwise": BitwiseOps, "random": RandomOps,
}


class OpMethod:
    """An op as a class attribute: its documentation on the class, the bound op on an instance."""

    def __init__(self, place: str, method: str) -> None:
        self.place, self.method = place, method

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # worked out when somebody asks
        return documentation(self.place, self.method)

    @property
    def __signature__(self) -> inspect.Signature:
        return description(self.place, self.method)[1]

    def __get__(self, holder: Any, owner: type | None = None) -> Any:
        if holder is None:
            return self
        if self.place == "var":
            return bound(holder.sd, "var", self.method, holder)
        return holder.op_method(self.method) if isinstance(holder, Namespace) else holder._op_method(self.place, self.method)

    def __call__(self, holder: Any, *args: Any, **kwargs: Any) -> Any:
        """``SDVariable.add(x, y)``: the first argument takes the place of the instance."""
        return self.__get__(holder)(*args, **kwargs)


def install() -> None:
    """Put the registered ops on the classes, so that ``help`` and completion show them without an instance."""
    holders: dict[str, type] = {**CLASSES, "base": BaseOps, "var": VariableOps}
    for (place, method) in METHODS:
        if place in holders:
            setattr(holders[place], method, OpMethod(place, method))
