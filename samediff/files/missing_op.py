"""The place of an op that a file names and nobody registers."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ..base.datatype import DataType
from ..base.registry import why_missing
from ..base.spec import TensorSpec
from ..codecs.flatbuffers.graph import FlatNode
from ..codecs.flatbuffers.properties import property_value
from ..errors import DataTypeError, MissingOpError
from ..ir.op import OPS, Op
from .node_args import DISTRIBUTION, VERSION


@dataclass(frozen=True)
class MissingOp(Op):
    """Keeps the node as it was read, so that saving writes it again; running it raises :class:`MissingOpError`.

    ``back`` lists inputs that are computed later (loops), by position; ``missing_classes`` the classes of configurations and ops inside
    a registered op that are not registered.
    """

    raw: FlatNode
    back: tuple[tuple[int, str], ...] = ()
    missing_classes: tuple[str, ...] = ()

    id = "missing"

    @property
    def missing_id(self) -> str:
        """Name of the op in the file, or kind and number where it has no name."""
        return self.raw.op_name or f"op type {self.raw.op_type}, number {self.raw.op_num}"

    @property
    def missing_version(self) -> int | None:
        """The version of a user op, None of others."""
        return next((property_value(p) for p in self.raw.properties if p.name == VERSION), None)

    @property
    def missing_distribution(self) -> str | None:
        """Name and version of the distribution of a user op, None where the file does not tell."""
        return next((str(property_value(p)) for p in self.raw.properties if p.name == DISTRIBUTION), None)

    @property
    def missing(self) -> dict[str, int | None]:
        """Names of the classes that are not registered, with versions where the file has them."""
        return dict.fromkeys(self.missing_classes) if self.missing_classes else {self.missing_id: self.missing_version}

    def _fail(self) -> NoReturn:
        if self.missing_classes:
            raise MissingOpError(f"op {self.missing_id!r} (node {self.raw.name!r}) needs {' and '.join(self.missing_classes)}, which "
                                 "nobody registers: import the packages that define these classes, then load the graph again"
                                 + why_missing(*self.missing_classes))
        version = "" if self.missing_version is None else f" version {self.missing_version}"
        version += "" if self.missing_distribution is None else f" of {self.missing_distribution}"
        mine = getattr(OPS.get(self.missing_id), "version", None)
        if mine is not None:
            what = f"was saved by version {self.missing_version} of its class; registered is version {mine} by now: "
            remedy = "load the graph again" if self.missing_version is None or self.missing_version <= mine else (
                "update the package that defines it, then load the graph again")
            raise MissingOpError(f"op {self.missing_id!r} (node {self.raw.name!r}) {what}{remedy}")
        raise MissingOpError(f"op {self.missing_id!r}{version} (node {self.raw.name!r}) is not registered: import the package that "
                             "defines it, then load the graph again" + why_missing(self.missing_id))

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        codes = self.raw.output_types or (0,) * max(1, len(self.raw.output_names))      # without names, the node's is that of its output
        return tuple(TensorSpec(None, _dtype(code)) for code in codes)

    def compute(self, xp: Any, *inputs: Any) -> Any:
        self._fail()

    def grad(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> Sequence[Any]:
        self._fail()

    def at_inference(self) -> Op:
        self._fail()


def _dtype(code: int) -> DataType:
    try:
        return DataType.from_code(code)
    except DataTypeError:
        return DataType.UNKNOWN
