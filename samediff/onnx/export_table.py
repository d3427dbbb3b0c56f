"""The table of exporters: which function writes an op of a graph as nodes of ONNX."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import GraphError, RegistrationError
from ..ir.op import Op

Export = Callable[..., Any]
F = TypeVar("F", bound=Export)

#: The version of the standard's operator set that files are written in, and that of their encoding.
OPSET, IR_VERSION = 20, 9


class NotSayableError(GraphError):
    """ONNX has no nodes for an op as it stands; the text is the reason."""


@dataclass(frozen=True)
class Exporter:
    """A writer of an op.

    Parameters
    ----------
    op_id : str
        The op.
    export : function of the writer, the op and its inputs
        Gives the results, one or a tuple.
    notes : str
        What users should know.
    """

    op_id: str
    export: Export
    notes: str = ""


_TABLE: dict[str, Exporter] = {}
#: Methods that say what an op means: an op that has its own is not written as the one that it is derived from.
_MEANINGS = ("compute", "reduce", "choose", "expand")


def onnx_exporter(*op_ids: str, notes: str = "", replace: bool = False) -> Callable[[F], F]:
    """Register a function that writes ops as nodes of ONNX.

    The function is called with an :class:`~.export_graph.OnnxGraph`, the op and its inputs (None: input left out); it gives one value
    or a tuple, made by ``graph.node(...)``.

    Parameters
    ----------
    *op_ids : str
        The ops; for sub-classes that compute nothing else it holds too.
    notes : str
        What users should know, for the table in the documentation.
    replace : bool
        Whether it takes the place of one that is registered already; otherwise that is an error.

    Raises
    ------
    RegistrationError
        An op has an exporter already.

    Examples
    --------
    >>> from dl4py.samediff.onnx import onnx_exporter
    >>> @onnx_exporter("acme.twice", replace=True)
    ... def twice(graph, op, x):
    ...     return graph.node("Add", x, x)
    """
    def register(export: F) -> F:
        for name in op_ids:
            if name in _TABLE and not replace:
                raise RegistrationError(f"op {name!r} has an exporter to ONNX already, {_TABLE[name].export.__name__}; replace=True puts "
                                        "another in its place")
            _TABLE[name] = Exporter(name, export, notes)
        return export
    return register


def exporter_of(op: Op) -> Exporter | None:
    """The exporter of an op, or that of a class whose meaning it shares."""
    for cls in type(op).__mro__:
        found = _TABLE.get(vars(cls).get("id", ""))
        if found is not None or any(m in vars(cls) for m in _MEANINGS):
            return found
    return None


def known_exporters() -> Iterator[Exporter]:
    """All of them, by name."""
    return iter(sorted(_TABLE.values(), key=lambda e: e.op_id))
