"""Declarations of the parameters of custom layers and vertices, and their first values."""
from __future__ import annotations

import contextvars
import math
from typing import Any

import numpy as np

from ...samediff.base.user_code.users_arrays import users_arrays
from ...samediff.errors import ConfigurationError
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ..base import user_methods
from ..functions.weight_init import IWeightInit
from ..types.java_names import SDLayerParamsNames, SDVertexParamsNames
from ..types.parameters import Order, Parameter, ParameterTable

__all__ = ["SDLayerParams", "SDVertexParams"]

_generator: contextvars.ContextVar[Any] = contextvars.ContextVar("dl4py_initial_values")


class SDLayerParams(SDLayerParamsNames):
    """The parameters that a custom layer's ``define_parameters`` declares: names and shapes, weights first in the flat vector.

    Parameters
    ----------
    owner : str
        What errors call the layer or vertex that declares.

    Examples
    --------
    >>> params = SDLayerParams()
    >>> params.add_bias_param("b", 1, 3)
    >>> params.add_weight_param("W", 4, 3)
    >>> params.get_param_shapes()
    {'W': (4, 3), 'b': (1, 3)}
    """

    def __init__(self, owner: str = "custom layer") -> None:
        self.owner = owner
        self.weights: dict[str, tuple[int, ...]] = {}
        self.biases: dict[str, tuple[int, ...]] = {}

    def add_weight_param(self, name: str, *shape: Any) -> None:
        """Declare a weight."""
        self.weights[name] = self._shape(name, shape)

    def add_bias_param(self, name: str, *shape: Any) -> None:
        """Declare a bias."""
        self.biases[name] = self._shape(name, shape)

    def _shape(self, name: str, shape: tuple[Any, ...]) -> tuple[int, ...]:
        sizes = tuple(shape[0]) if len(shape) == 1 and not np.isscalar(shape[0]) else shape
        if not sizes:
            raise ConfigurationError(f"{self.owner}: parameter {name!r} needs a shape with at least one size")
        if name in self.weights or name in self.biases:
            raise ConfigurationError(f"{self.owner}: parameter {name!r} is declared twice; call params.clear() first")
        return tuple(int(n) for n in sizes)

    def clear(self) -> None:
        """Forget all declarations."""
        self.weights.clear()
        self.biases.clear()

    def get_parameter_keys(self) -> list[str]:
        """Names, weights first."""
        return [*self.weights, *self.biases]

    def get_weight_parameter_keys(self) -> list[str]:
        """Names of the weights."""
        return list(self.weights)

    def get_bias_parameter_keys(self) -> list[str]:
        """Names of the biases."""
        return list(self.biases)

    def get_param_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes by name, weights first."""
        return {**self.weights, **self.biases}

    def is_weight_param(self, name: str) -> bool:
        """Whether that is a weight."""
        return name in self.weights

    def is_bias_param(self, name: str) -> bool:
        """Whether that is a bias."""
        return name in self.biases

    def to_document(self) -> dict[str, Any]:
        """As DL4J's JSON has it."""
        return {"biasParams": {k: list(v) for k, v in self.biases.items()}, "weightParams": {k: list(v) for k, v in self.weights.items()}}


class SDVertexParams(SDLayerParams, SDVertexParamsNames):
    """The parameters of a custom vertex, and the names by which it knows its inputs."""

    def __init__(self, owner: str = "custom vertex") -> None:
        super().__init__(owner)
        self.inputs: list[str] = []

    def define_inputs(self, *names: Any) -> None:
        """Name the inputs in their order; a number n stands for ``input_0`` … ``input_{n-1}``."""
        if len(names) == 1 and isinstance(names[0], int):
            names = tuple(f"input_{i}" for i in range(names[0]))
        elif len(names) == 1 and not isinstance(names[0], str):
            names = tuple(names[0])
        self.inputs = [str(n) for n in names]

    def get_inputs(self) -> list[str]:
        """The names of the inputs."""
        return list(self.inputs)

    def to_document(self) -> dict[str, Any]:
        document = super().to_document()
        return {"biasParams": document["biasParams"], "inputs": list(self.inputs), "weightParams": document["weightParams"]}


class DeclaresParameters:
    """The part of custom layers and vertices that concerns their parameters; names and order are DL4J's."""

    label: Any

    def declared(self) -> Any:
        """The declared parameters."""
        raise NotImplementedError

    def parameter_table(self) -> list[Parameter]:
        """The declared parameters, weights first, with the order of their piece of the flat vector."""
        params, table = self.declared(), ParameterTable(self.label)
        for name, shape in params.get_param_shapes().items():
            order = user_methods.call(self, self.param_reshape_order, name)
            role = "weight" if params.is_weight_param(name) else "bias"
            table.add(Parameter(name, shape, role, order))  # type: ignore[arg-type]  # one of the two roles
        return list(table)

    def initialize_parameters(self, params: dict[str, Any]) -> None:
        """Fill the arrays in place. By default weights get ``weight_init``, fans from their shapes, and biases 0."""
        declared = self.declared()
        for name, array in params.items():
            if declared.is_weight_param(name):
                fan_in = math.prod(array.shape[:-1]) if array.ndim > 1 else array.size
                self.init_weights(fan_in, array.shape[-1], getattr(self, "weight_init", None) or "xavier", array)
            else:
                array[...] = 0

    def init_weights(self, fan_in: float, fan_out: float, weight_init: Any, array: Any) -> None:
        """Fill ``array`` by an initialiser (a :class:`WeightInit`, its name or an :class:`IWeightInit`)."""
        if weight_init is None:
            raise ConfigurationError(f"{self.label}: no weight initialiser; set weight_init, it is not taken from the network")
        rng = _generator.get(None) or Nd4jRandom(0)
        order = self.param_reshape_order(None)
        array[...] = IWeightInit.of(weight_init).init(rng, fan_in, fan_out, array.shape, order, array.dtype)

    def param_reshape_order(self, param: str | None) -> Order:
        """Order in which the piece of the flat vector is folded: "c" or "f"; None asks for that of :meth:`init_weights`.

        Here ``param`` has no effect; override it for parameters that differ.
        """
        return "c"

    def initial_values(self, rng: Any, dtype: Any) -> dict[str, Any]:
        """What :meth:`initialize_parameters` fills in."""
        arrays = users_arrays({p.name: np.zeros(p.shape, dtype, p.order.upper())  # type: ignore[call-overload]
                               for p in self.parameter_table()})
        if arrays:
            before = _generator.set(rng)
            try:
                user_methods.call(self, self.initialize_parameters, arrays)
            finally:
                _generator.reset(before)
        return {name: np.asarray(array) for name, array in arrays.items()}

    def parameters_document(self) -> dict[str, Any] | None:
        """The declared parameters as DL4J's JSON has them."""
        self.need_name()
        return self.declared().to_document()  # type: ignore[no-any-return]

    def need_name(self) -> None:
        """Refuse classes that files cannot name."""
        if not vars(type(self)).get("java_name"):
            kind = type(self).__name__
            raise ConfigurationError(f"{kind} has no name that a file could keep; put @layer(\"package.{kind}\") or "
                                     f"@vertex(\"package.{kind}\") above the class")
