"""The computation of a module of PyTorch as a list of calls of ops; no PyTorch is needed to read it."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DOMAIN = "torch"


@dataclass(frozen=True)
class Reference:
    """The result of a call, an input or an array, among the arguments of a call.

    Parameters
    ----------
    name : str
        Its name.
    """

    name: str


@dataclass(frozen=True)
class TorchInput:
    """An input of a program.

    Parameters
    ----------
    name : str
        Its name.
    dtype : dtype
        Type of the elements.
    shape : tuple of int
        Sizes, -1 where one is open.
    """

    name: str
    dtype: Any
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TorchArray:
    """An array that a program reads.

    Parameters
    ----------
    name : str
        Its name in the program.
    key : str
        Its name in the state of the module.
    array : ndarray
        The values.
    trainable : bool
        Whether it is a parameter.
    """

    name: str
    key: str
    array: Any
    trainable: bool


@dataclass(frozen=True, eq=False)
class TorchCall:
    """A call of an op.

    Parameters
    ----------
    name : str
        Of the result.
    op_type : str
        Such as ``aten.linear``; an overload has no name of its own.
    args, options : list, dict
        Arguments: numbers, texts, types of NumPy, references, lists of these.
    dtype : dtype, optional
        Type of the (first) result.
    several : bool
        Whether the result is a tuple.
    """

    name: str
    op_type: str
    args: list[Any]
    options: dict[str, Any]
    dtype: Any = None
    several: bool = False


@dataclass(eq=False)
class TorchGraph:
    """A program.

    Parameters
    ----------
    inputs, arrays, calls : lists
        What it is given, what it holds, and what it does with them.
    outputs : list of (str, str)
        Names of the results, and of the calls that give them.
    """

    inputs: list[TorchInput] = field(default_factory=list)
    arrays: list[TorchArray] = field(default_factory=list)
    calls: list[TorchCall] = field(default_factory=list)
    outputs: list[tuple[str, str]] = field(default_factory=list)


def needed_calls(graph: TorchGraph) -> list[TorchCall]:
    """The calls that results come of: others only serve checks, or compute what nobody reads."""
    wanted, kept = {source for _, source in graph.outputs}, list[TorchCall]()

    def read(value: Any) -> None:
        if isinstance(value, Reference):
            wanted.add(value.name)
        elif isinstance(value, (list, tuple)):
            for v in value:
                read(v)
    for call in reversed(graph.calls):
        if call.name in wanted:
            kept.append(call)
            read([*call.args, *call.options.values()])
    return kept[::-1]
