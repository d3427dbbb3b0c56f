"""The ops of graphs on arrays: called in the same ways, computed at once."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.javanames import to_snake
from ..errors import did_you_mean
from ..ir import namespaces
from ..ir.namespaces import MissingMethodError, Namespace
from ..ir.op import Op
from ..ir.typed import CLASSES, BaseOps, BitwiseOps, CNNOps, ImageOps, LinalgOps, LossOps, MathOps, NNOps, RandomOps, RNNOps
from .computing import apply, draws
from .recording import state
from .repeated import remember, repeated


class _Binding:
    """Stands for a graph while arguments are matched with the ways to call an op."""

    def is_input(self, value: Any) -> bool:
        """Whether a value is an array, rather than a number or an option."""
        return hasattr(value, "__array__") and not isinstance(value, np.generic)

    def place_op(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        """The op and its inputs."""
        return op, inputs

    def add_op(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        """The same."""
        return self.place_op(op, inputs, names)

    def call(self, namespace: str, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """The same for a method."""
        return namespaces.call(self, namespace, method, args, kwargs)


_BINDING = _Binding()


class EagerOps(_Binding, BaseOps):
    """Every op as a method that computes: on namespaces (``math``, ``nn`` …) and, those of graphs themselves, on this object.

    Signatures and errors are those of graphs; a leading name is allowed and not used. Inputs are arrays, numbers and lists; results are
    INDArrays, in a tuple where an op has several.

    Examples
    --------
    >>> from dl4py.samediff.arrays import EagerOps, INDArray
    >>> ops = EagerOps()
    >>> ops.math.add(INDArray.of([1.0, 2.0]), 1.0).tolist()
    [2.0, 3.0]
    """

    math: MathOps
    nn: NNOps
    cnn: CNNOps
    rnn: RNNOps
    loss: LossOps
    image: ImageOps
    linalg: LinalgOps
    bitwise: BitwiseOps
    random: RandomOps

    def __init__(self) -> None:
        for name, kind in CLASSES.items():
            setattr(self, name, kind(self, name))

    @property
    def seed(self) -> int:
        """The seed of the random numbers of ops, in all objects of this class; setting it starts their numbers again."""
        return draws.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        draws.seed = seed

    def place_op(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        return apply(op, *inputs)

    def call(self, namespace: str, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """Compute the op behind ``<namespace>.<method>(...)``."""
        return self._op_method(namespace, method)(*args, **kwargs)

    def _op_method(self, namespace: str, method: str) -> Callable[..., Any]:
        def computed(*args: Any, **kwargs: Any) -> Any:
            if kwargs or state.recorder is not None:
                return self._computed(namespace, method, args, kwargs)
            form, found = repeated(namespace, method, args)
            return self._computed(namespace, method, args, kwargs, form) if found is None else found
        made = namespaces.described(computed, namespace, method)
        if namespace == "base":
            setattr(self, method, made)
        return made

    def _computed(self, namespace: str, method: str, args: Any, kwargs: Any, form: Any = None) -> Any:
        op, inputs = namespaces.call(_BINDING, namespace, method, args, kwargs)
        found = apply(op, *inputs)
        if form is not None:
            remember(form, op, inputs, args)
        return found

    def op(self, op_id: str, *args: Any, **kwargs: Any) -> Any:
        """Compute any registered op by its id: ``op("acme.swish", x, beta=2.0)``."""
        op, inputs = namespaces.call_by_id(_BINDING, op_id, args, kwargs)
        return apply(op, *inputs)

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            method = namespaces.find("base", name)
            if method is not None:
                made = self._op_method("base", method)
                setattr(self, name, made)
                return made
            if namespaces.is_namespace(name):
                return Namespace(self, name)
            known = [*namespaces.NAMESPACES, *namespaces.method_names("base")]
            raise MissingMethodError(f"there is no op or namespace {name!r}{did_you_mean(to_snake(name), known)}")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *namespaces.method_names("base")})
