"""Registration of converters of PyTorch's ops, and how they see arguments."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ...families.array_code.graph_array import GraphArray
from ...families.array_code.symbolic_size import SymbolicSize
from ...onnx.held_array import HeldArray
from ...onnx.node import OnnxNode
from ...onnx.registry import converter_of, known_converters, onnx_converter
from ...onnx.values import Held
from ..torch_graph import DOMAIN, Reference

F = TypeVar("F", bound=Callable[..., Any])

#: What makes sizes of sizes, which are numbers while the graph is built.
SIZES = frozenset(("aten.sym_size", *(f"operator.{n}" for n in ("add", "sub", "mul", "floordiv", "mod", "neg", "pow", "truediv"))))


#: Arguments about memory and devices.
_IGNORED = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "copy", "generator")


@dataclass(eq=False)
class TorchArguments:
    """The arguments of a call, with numbers of the node's inputs in place of arrays.

    Parameters
    ----------
    args, options : list, dict
        The arguments.
    dtype : dtype, optional
        Type of the result.
    """

    args: list[Any]
    options: dict[str, Any] = field(default_factory=dict)
    dtype: Any = None

    @property
    def has_sizes(self) -> bool:
        """Whether open sizes are among them."""
        def within(value: Any) -> bool:
            if isinstance(value, (list, dict)):
                return any(map(within, value.values() if isinstance(value, dict) else value))
            return isinstance(value, SymbolicSize)
        return within(self.args) or within(self.options)

    def filled(self, arrays: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with these arrays."""
        def one(value: Any) -> Any:
            if isinstance(value, Reference):
                return arrays[int(value.name)]
            return [one(v) for v in value] if isinstance(value, list) else value
        return one(self.args), {k: one(v) for k, v in self.options.items()}


def torch_converter(*names: str, replace: bool = False) -> Callable[[F], F]:
    """Register a function that adds the nodes of ops of PyTorch.

    It is called with an :class:`~dl4py.samediff.onnx.OnnxNode` and the arguments of the op, arrays among them as arrays of the graph,
    which answer like NumPy's; it gives one array or a tuple.

    Parameters
    ----------
    *names : str
        Names of the ops with their library, without that of an overload: ``"aten.relu"``.
    replace : bool
        Whether it takes the place of one that is registered already; otherwise that is an error.

    Examples
    --------
    >>> from dl4py.samediff.pytorch import torch_converter
    >>> @torch_converter("acme.twice", replace=True)
    ... def twice(node, x):
    ...     return x * 2
    """
    def register(function: F) -> F:
        def convert(node: OnnxNode, *arrays: Any) -> Any:
            args, options = node.get("arguments").filled(arrays)
            for ignored in _IGNORED:
                options.pop(ignored, None)
            return typed(function(node, *args, **options), node.get("arguments").dtype)
        convert.__module__ = function.__module__            # whose it is
        for name in names:
            onnx_converter(name, domain=DOMAIN, replace=replace)(convert)
        return function
    return register


def aten(*names: str) -> Callable[[F], F]:
    """Register a function for ops of PyTorch's own library."""
    return torch_converter(*(f"aten.{name}" for name in names))


def typed(made: Any, dtype: Any) -> Any:
    """A result in the type that PyTorch gives it."""
    if isinstance(made, tuple) or dtype is None:
        return made
    return made if made.dtype == dtype else made.astype(dtype)


def known_ops() -> frozenset[str]:
    """Names of the ops that have converters, those of users too."""
    return frozenset(c.operator for c in known_converters() if c.domain == DOMAIN) | SIZES | {"getitem"}


def result_type(node: OnnxNode) -> Any:
    """The type of the result."""
    return node.get("arguments").dtype


def as_result(node: OnnxNode, *values: Any) -> list[Any]:
    """Arrays and numbers in the type of the result, as PyTorch converts them before it computes."""
    return [cast(node, v, result_type(node)) for v in values]


def cast(node: OnnxNode, value: Any, dtype: Any) -> Any:
    """An array or a number in a type."""
    if isinstance(value, SymbolicSize):
        value = value.number()
    return value.astype(dtype) if isinstance(value, GraphArray) and value.dtype != dtype else (
        value if isinstance(value, GraphArray) else np.asarray(value, dtype))


def common(node: OnnxNode, *values: Any) -> list[Any]:
    """Arrays and numbers in the type in which PyTorch compares them: a number counts only where its kind is a higher one."""
    ranks = "biuf"

    def kind(dtype: Any) -> int:
        return max(ranks.index(dtype.kind if dtype.kind in ranks else "f"), 0) if dtype.kind != "u" else 1
    arrays = [np.dtype(v.dtype) for v in values if isinstance(v, GraphArray)]
    top = max(map(kind, arrays))
    found = np.result_type(*[d for d in arrays if kind(d) == top])
    for v in values:
        if not isinstance(v, GraphArray) and kind(np.asarray(v).dtype) > kind(found):
            found = np.dtype(np.float32 if isinstance(v, float) else np.int64)
    return [cast(node, v, found) for v in values]


def standard(node: OnnxNode, operator: str, *inputs: Any, **attributes: Any) -> Any:
    """The nodes of an operator of ONNX."""
    given = [v.held if isinstance(v, HeldArray) else v.variable if isinstance(v, GraphArray) else Held(v) if isinstance(v, np.ndarray)
             else v for v in inputs]
    proto = SimpleNamespace(op_type=operator, domain="", name=node.name, input=["x"] * len(given), output=[node.name])
    found = converter_of(operator, "", 20)
    assert found is not None, operator
    inner = OnnxNode(node.walk, proto, 20, given, {k: v for k, v in attributes.items() if v is not None})
    return found.convert(inner, *(node.walk.array(node.xp, v) for v in given))


def each(value: Any, count: int) -> list[int]:
    """One number for each axis."""
    numbers = [int(v) for v in value] if isinstance(value, (list, tuple)) else [int(value)]
    return numbers * count if len(numbers) == 1 else numbers


def axes_of(x: Any, dim: Any) -> tuple[int, ...]:
    """The axes that an argument names; all of them where it is None or empty."""
    if dim is None or dim == []:
        return tuple(range(x.ndim))
    return tuple(d % max(x.ndim, 1) for d in (dim if isinstance(dim, (list, tuple)) else [dim]))
