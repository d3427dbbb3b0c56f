"""The tables of graph files from the methods of a graph: as objects, as text, and single ops by their arguments in files."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base.datatype import DataType
from ..codecs.flatbuffers.graph import FlatNode
from ..codecs.legacy_table import op_identity
from ..errors import FileFormatError, GraphError, UnknownNameError, did_you_mean
from ..files.node_args import OpNames, check_inputs, read_op, spread_inputs
from ..ir.op import OPS
from .saving import SavingMixin

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


class FlatAccessMixin(SavingMixin):
    """The part of :class:`SameDiff` that shows what a graph file holds."""

    def as_flat_print(self) -> str:
        """The variables and nodes of the graph file with all arguments, as text."""
        flat = self.as_flat_graph()
        lines = [f"{len(flat.variables)} variables"]
        for v in flat.variables:
            lines.append(f"  {_pair(v.id)} {v.name}: {self.variable(v.name)!r}")
        lines.append(f"{len(flat.nodes)} nodes")
        for n in flat.nodes:
            given = {"i": n.extra_integer, "t": n.extra_params, "b": n.extra_bools, "d": n.extra_types, "s": n.extra_strings,
                     "axes": n.dimensions}
            shown = " ".join(f"{k}={list(v)}" for k, v in given.items() if v)
            wired = f"{[_pair(p) for p in n.input_paired]} -> {list(n.output_names)}"
            lines.append(f"  {n.id} {n.name}: {n.op_name} {wired} {shown}".rstrip())
        lines.append(f"losses: {', '.join(flat.loss_variables) or 'none'}")
        return "\n".join(lines) + "\n"

    def dynamic(self, name: str, inputs: Sequence[SDVariable], i_args: Sequence[int] = (), t_args: Sequence[float] = (),
                d_args: Sequence[Any] = (), b_args: Sequence[bool] = (), s_args: Sequence[str] = ()) -> list[SDVariable]:
        """Add an op by the name and the argument vectors that DL4J's files have; returns its outputs.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> sd.dynamic("permute", [x], i_args=[1, 0])[0].eval()
        array([[1., 3.],
               [2., 4.]], dtype=float32)
        """
        kind, number = op_identity(name)
        node = FlatNode(name=name, op_name=name, op_type=int(kind), op_num=number, extra_integer=tuple(i_args),
                        extra_params=tuple(t_args), extra_bools=tuple(b_args), extra_strings=tuple(s_args),
                        extra_types=tuple(DataType.of(d).code for d in d_args))
        cls = OpNames()[node]
        if cls is None:
            raise UnknownNameError(f"no op named {name!r}{did_you_mean(name, list(OPS))}")
        try:
            op = read_op(cls, node)
            check_inputs(op, node, len(inputs))
            given = spread_inputs(op, node, [self.tables.own(v).name() for v in inputs])
        except FileFormatError as error:
            raise GraphError(f"op {name!r} cannot be made of these arguments: {error}") from error
        made = self.add_op(op, [None if n is None else self.variable(n) for n in given])
        return made if isinstance(made, list) else [made]


def _pair(pair: Any) -> str:
    return "-" if pair is None else f"{pair.first}:{pair.second}"
