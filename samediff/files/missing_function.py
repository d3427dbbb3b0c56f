"""Calls of functions by name: nodes ``invoke`` of graph files, whose functions are in the file or come later."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ..codecs.flatbuffers.graph import FlatNode
from ..codecs.flatbuffers.properties import property_value
from ..codecs.op_hash import op_hash
from ..errors import FileFormatError, MissingOpError
from .missing_op import MissingOp


@dataclass(frozen=True)
class MissingFunction(MissingOp):
    """The place of a call until :meth:`~dl4py.samediff.SameDiff.put_sub_function` brings its function; saving keeps it as it was."""

    @property
    def function(self) -> str:
        """Name of the function; the name of the node where the file (of DL4J 1.0.0-M2.1) does not tell."""
        found = self._told("functionName")
        return found if isinstance(found, str) and found else next(iter(self.raw.extra_strings), self.raw.name)

    def names(self, which: str) -> Sequence[str]:
        """Variables of the function that the call lists: ``inputs`` or ``outputs``; empty where it does not."""
        found = self._told({"inputs": "subGraphInputVarNames", "outputs": "subGraphOutputVarNames"}[which])
        if found is None:
            return ()
        names = [found] if isinstance(found, str) else list(found)
        if any(not isinstance(n, str) for n in names):
            raise FileFormatError(f"node {self.raw.name!r}: the {which} of its function are no names: {names}")
        return names

    def _told(self, name: str) -> Any:
        return next((property_value(p) for p in self.raw.properties if p.name == name), None)

    def _fail(self) -> NoReturn:
        raise MissingOpError(f"node {self.raw.name!r} calls the function {self.function!r}, which is neither in the file nor in the graph "
                             f"(files of DL4J 1.0.0-M2.1 leave functions out): give it with sd.put_sub_function({self.function!r}, graph)")


def is_call(node: FlatNode) -> bool:
    """Whether a node calls a function by name."""
    return node.op_name == "invoke" or node.op_num == op_hash("invoke")
