"""Saving and loading from the methods of a graph."""
from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any, BinaryIO, Self, TypeVar

from ..base.source_line import warn_user
from ..codecs.atomic_files import atomic_write
from ..codecs.flatbuffers.array import decode_array, encode_array
from ..codecs.flatbuffers.graph import FlatGraph, UpdaterState
from ..codecs.flatbuffers.reader import FlatLimits, read_flat_graph
from ..codecs.flatbuffers.sdnb import THRESHOLD, write_sdnb
from ..codecs.flatbuffers.writer import write_flat_graph
from ..codecs.regular_files import as_stream
from ..errors import FileFormatError
from ..families.subgraph import SubGraph
from ..files.any_graph import read_any, write_sdz
from ..files.graph_writer import flat_graph_of
from ..files.missing import Missing, check_missing, tell_missing
from ..files.missing_op import MissingOp
from ..ir.core import GraphCore
from ..training.config import TrainingConfig
from .graph_reader import GraphReader
from .running.fitting import FittingMixin

_LIMITS = FlatLimits()
Target = str | PathLike[str] | BinaryIO
Saved = TypeVar("Saved", bound="SavingMixin")


class SavingMixin(FittingMixin):
    """The part of :class:`SameDiff` that reads and writes files (DL4J's graph files)."""

    def as_flat_buffers(self, save_updater_state: bool = False) -> bytes:
        """The graph file as bytes: variables, ops, losses, training configuration and, on request, updater state."""
        return write_flat_graph(self.as_flat_graph(save_updater_state))

    def as_flat_graph(self, include_updater_state: bool = False) -> FlatGraph:
        """The graph as the tables of its file format."""
        return self._tables(include_updater_state)

    def _tables(self, include_updater_state: bool, own_form: bool = False) -> FlatGraph:
        with self.gate:            # a whole number of steps
            return self._tables_now(include_updater_state, own_form)

    def _tables_now(self, include_updater_state: bool, own_form: bool) -> FlatGraph:
        config = self.get_training_config()
        states = self._updater_state() if include_updater_state else {}
        own = [node.where() for node in self.tables.nodes.values() if node.differentiate]
        if own:
            warn_user(f"{', '.join(own)}: the class that made it has a gradient of its own, which files and copies do not keep; a class "
                      "under @user_defined_op is kept with its gradient")
        losses = self.tables.losses if own_form else [n for n in self.get_loss_variables() if self.has_variable(n)]
        return replace(flat_graph_of(self, own_form), loss_variables=tuple(losses),
                       training_config=None if config is None else config.to_json(), updater_state=tuple(
            UpdaterState(name, tuple(state), tuple(encode_array(a) for a in state.values()))
            for name, state in states.items() if self.has_variable(name) and self.variable(name).is_trainable()))

    def _fill(self, flat: FlatGraph, load_updater_state: bool) -> None:
        """Take over what the tables of a file hold."""
        GraphReader(self, flat).read()  # type: ignore[arg-type]  # every part is of a SameDiff
        if not flat.training_config:
            return
        self.set_training_config(TrainingConfig.from_json(flat.training_config))
        if load_updater_state and flat.updater_state:
            self.set_updater_state({
                s.param_name: {k: decode_array(a, f"updater state {k!r} of {s.param_name!r}")
                               for k, a in zip(s.updater_state_keys, s.updater_state_values)}
                for s in flat.updater_state})

    @classmethod
    def from_flat_buffers(cls, data: bytes | bytearray | memoryview, load_updater_state: bool = True,
                          limits: FlatLimits = _LIMITS) -> Self:
        """The graph of the bytes of a graph file; errors as in :meth:`load`."""
        sd = cls()
        sd._fill(read_flat_graph(data, limits), load_updater_state)
        return sd

    def save(self, target: Target, save_updater_state: bool = False, *, threshold: int = THRESHOLD) -> None:
        """Write the graph to a file or binary stream; a file is replaced as a whole or not at all.

        Values of placeholders are not saved, nor is the gradient graph. The ending tells the form: ``.sdnb`` and ``.sdz`` (the same
        in a zip archive) are those of DL4J from 2025 on, with arrays of ``threshold`` bytes and more behind the graph and without
        a limit on the size; anything else is a plain graph file of at most 2 GiB, which all versions read.

        Parameters
        ----------
        target : str, path or binary stream
            Where to write to.
        save_updater_state : bool
            Whether the updater's state is saved too, so that training can go on where it was; False by default.
        threshold : int
            Bytes from which on an array of ``.sdnb`` and ``.sdz`` stands behind the graph; 1 MiB by default.
        """
        name = os.fspath(target) if isinstance(target, (str, os.PathLike)) else str(getattr(target, "name", ""))
        write = {".sdnb": write_sdnb, ".sdz": write_sdz}.get(os.path.splitext(name)[1].lower())
        graph = self.as_flat_graph(save_updater_state)
        data = write_flat_graph(graph) if write is None else b""

        def put(stream: BinaryIO) -> None:
            stream.write(data) if write is None else write(stream, graph, threshold)

        if isinstance(target, (str, os.PathLike)):
            with atomic_write(target) as stream:
                put(stream)
        else:
            put(as_stream(target, "write"))

    @classmethod
    def load(cls, source: Target, load_updater_state: bool = True, limits: FlatLimits = _LIMITS, *, missing: Missing = "keep") -> Self:
        """Read a graph file, of this library or of DL4J (1.0.0-beta4 and later): plain, ``.sdnb`` or ``.sdz``, by its content.

        A file whose name ends in ``.onnx`` is imported, see :meth:`SameDiff.import_onnx`.
        Of a graph in shards any of their names is enough, or the name that they have in common.
        Ops that nobody registers stay in the graph as they are; see :meth:`missing_ops`.

        Parameters
        ----------
        source : str, path or binary stream
            A file that :meth:`save` or DL4J wrote.
        load_updater_state : bool
            Whether the updater's state is read too, where there is one.
        limits : FlatLimits
            Longest file and most tables that are taken; larger ones are a LimitError.
        missing : "keep", "warn" or "error"
            What happens where ops are not registered here: the graph opens and runs what does not need them, silently or with a warning;
            or it is an error that names all of them.

        Raises
        ------
        FileFormatError, TruncatedFileError, LimitError
            The file is no graph file, is cut off, or exceeds the limits.
        MissingOpError
            With ``missing="error"``, ops are not registered here.
        """
        check_missing(missing)
        where = f"{os.fspath(source)}: " if isinstance(source, (str, os.PathLike)) else ""
        sd = cls()
        if where.lower().endswith(".onnx: "):
            from ..onnx.importing import fill
            fill(sd, source, None, None)
            return sd
        try:
            sd._fill(read_any(source, limits), load_updater_state)
        except FileFormatError as error:
            raise type(error)(f"{where}{error}") from error
        sd._tell_missing(missing, where)
        return sd

    def _tell_missing(self, missing: Missing, where: str) -> None:
        versions, whose = self.missing_op_versions(), self.missing_op_distributions()
        if versions:
            told = ["".join((name, "" if version is None else f" (version {version})", f" of {whose[name]}" if whose[name] else ""))
                    for name, version in versions.items()]
            tell_missing(missing, f"{where}{len(told)} of the ops are not registered: {', '.join(told)}", stacklevel=3)

    def as_flat_file(self, target: Target, include_updater_state: bool = True) -> None:
        """As :meth:`save`, by default with updater state."""
        self.save(target, include_updater_state)

    @classmethod
    def from_flat_file(cls, source: Target, load_updater_state: bool = True, *, missing: Missing = "keep") -> Self:
        """As :meth:`load`."""
        return cls.load(source, load_updater_state, missing=missing)

    def missing_ops(self) -> list[str]:
        """Ids of the ops, and names of the classes inside ops, that the file named and nobody registers.

        Outputs that do not need them can be computed.
        """
        return list(self.missing_op_versions())

    def missing_op_versions(self) -> dict[str, int | None]:
        """As :meth:`missing_ops`, with the version of each that the file was saved by; None for ops without versions."""
        return dict(sorted((name, version) for op in _missing(self) for name, version in op.missing.items()))

    def missing_op_distributions(self) -> dict[str, str | None]:
        """As :meth:`missing_ops`, with name and version of the distribution that each comes from; None where the file does not tell."""
        return dict(sorted((name, None if op.missing_classes else op.missing_distribution) for op in _missing(self) for name in op.missing))

    def dup(self) -> Self:
        """An independent copy: structure, values, training configuration with counters, updater state."""
        made, parts = self.__reduce__()
        return made(*parts)  # type: ignore[no-any-return]

    def __copy__(self) -> Self:
        return self.dup()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.dup()

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), write_flat_graph(self._tables(True, own_form=True)), self.seed, self.tables.losses_given)


def _made(kind: type[Saved], data: bytes, seed: Any, losses_given: bool = True) -> Saved:
    sd = kind.from_flat_buffers(data)
    sd.seed, sd.tables.losses_given = seed, losses_given
    return sd


def _missing(sd: GraphCore) -> Iterator[MissingOp]:
    """The ops that are missing, in branches and loops too."""
    for op in (n.op for n in sd.tables.nodes.values()):
        if isinstance(op, MissingOp):
            yield op
        for part in vars(op).values():
            for one in part if isinstance(part, tuple) else (part,):
                if isinstance(one, SubGraph):
                    yield from _missing(one.sd)
