"""Processes and joins on all records at once."""
from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java.varargs import flat
from ...base.java_names import JoinBuilderNames, JoinNames, LocalTransformExecutorNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ..records.writables import Writable, as_writables
from .frames import frame_of, listed, records_of
from .process import TransformProcess
from .schema import Schema, SequenceSchema

__all__ = ["Join", "LocalTransformExecutor"]


class JoinType(JavaEnum):
    """The side whose records remain without a partner."""

    Inner = "inner"
    LeftOuter = "left"
    RightOuter = "right"
    FullOuter = "outer"


class Join(JoinNames):
    """Records of two sides with equal keys side by side; made by its builder.

    Parameters
    ----------
    join_type : JoinType
        Which records without a partner remain.
    left, right : Schema
        The columns of both sides.
    left_columns, right_columns : sequence of str
        The keys.
    """

    JoinType: ClassVar[type[JoinType]] = JoinType
    Builder: ClassVar[type[JoinBuilder]]

    def __init__(self, join_type: Any, left: Schema, right: Schema, left_columns: Any, right_columns: Any) -> None:
        self.join_type, self.left, self.right = join_type, left, right
        self.left_columns, self.right_columns = list(left_columns), list(right_columns)
        if not self.left_columns or len(self.left_columns) != len(self.right_columns):
            raise ConfigurationError(f"Join needs as many key columns on both sides; got {self.left_columns} and {self.right_columns}")
        left.get_index_of_columns(*self.left_columns)
        right.get_index_of_columns(*self.right_columns)

    def get_output_schema(self) -> Schema:
        """The columns of the left side, then those of the right one without its key."""
        return self.left.new_schema([*self.left.columns, *(c for c in self.right.columns if c.name not in self.right_columns)])

    def run(self, left: Any, right: Any) -> Any:
        """The frame of two frames; None where a side has no partner."""
        keys = list(range(len(self.left_columns)))
        sides = ((left, self.left_columns, "left"), (right, self.right_columns, "right"))
        places = [frame[names].set_axis(keys, axis=1).astype(object).assign(**{side: np.arange(len(frame))})
                  for frame, names, side in sides]
        pairs = places[0].merge(places[1], how=self.join_type.value, on=keys)
        rows = [_picked(frame, pairs[side]) for frame, _, side in sides]
        others = [name for name in right.columns if name not in self.right_columns]
        for mine, theirs in zip(self.left_columns, self.right_columns):
            rows[0][mine] = [b if a is None else a for a, b in zip(rows[0][mine], rows[1][theirs])]
        return frame_of(zip(*rows[0].values(), *(rows[1][name] for name in others)), self.get_output_schema())


def _picked(frame: Any, places: Any) -> dict[str, list[Any]]:
    """The values of these rows by columns, None where there is no row."""
    rows = [None if missing else int(place) for place, missing in zip(places, places.isna())]
    columns = {name: listed(frame, name) for name in frame.columns}
    return {name: [None if row is None else values[row] for row in rows] for name, values in columns.items()}


class JoinBuilder(MethodBuilder, JoinBuilderNames):
    """``Join.Builder(join_type)``.

    Parameters
    ----------
    join_type : JoinType
        Which records without a partner remain.
    """

    def __init__(self, join_type: Any) -> None:
        super().__init__()
        self._type = join_type if isinstance(join_type, JoinType) else JoinType.value_of(str(join_type))
        self._keys: tuple[list[str], list[str]] = ([], [])
        self._left: Any = None
        self._right: Any = None

    def set_schemas(self, left: Schema, right: Schema) -> Self:
        """Say which columns both sides have."""
        self._left, self._right = left, right
        return self

    def set_join_columns(self, *columns: str) -> Self:
        """Join by columns that have one name on both sides."""
        return self.set_join_columns_left(*columns).set_join_columns_right(*columns)

    set_key_columns = set_join_columns

    def set_join_columns_left(self, *columns: str) -> Self:
        """Say the key of the left side."""
        self._keys = (flat(columns), self._keys[1])
        return self

    def set_join_columns_right(self, *columns: str) -> Self:
        """Say the key of the right side."""
        self._keys = (self._keys[0], flat(columns))
        return self

    set_key_columns_left, set_key_columns_right = set_join_columns_left, set_join_columns_right

    def build(self) -> Join:
        """Return the join."""
        if self._left is None:
            raise ConfigurationError("Join: call set_schemas(left, right) first")
        return Join(self._type, self._left, self._right, *self._keys)


Join.Builder = JoinBuilder


class LocalTransformExecutor(LocalTransformExecutorNames):
    """Runs processes in this process (DataVec's class of that name).

    Records in give lists of records, with :class:`Writable` values where they have such, frames give frames.
    """

    @staticmethod
    def execute(records: Any, process: TransformProcess) -> Any:
        """Records of records."""
        given = _listed(records)
        return _as_given(given, process.run(frame_of(given, process.initial_schema)))

    @staticmethod
    def execute_to_sequence(records: Any, process: TransformProcess) -> Any:
        """Sequences of records."""
        found = LocalTransformExecutor.execute(records, process)
        if not isinstance(process.get_final_schema(), SequenceSchema):
            raise ConfigurationError("the process makes no sequences: call execute")
        return found

    @staticmethod
    def execute_sequence_to_sequence(sequences: Any, process: TransformProcess) -> Any:
        """Sequences of sequences."""
        given = _listed(sequences)
        return _as_given(given, process.run([frame_of(one, process.initial_schema) for one in given]))

    @staticmethod
    def execute_sequence_to_separate(sequences: Any, process: TransformProcess) -> Any:
        """Records of sequences."""
        return LocalTransformExecutor.execute_sequence_to_sequence(sequences, process)

    @staticmethod
    def execute_join(join: Join, left: Any, right: Any) -> Any:
        """The records of a join."""
        given = _listed(left)
        return _as_given(given, join.run(frame_of(given, join.left), frame_of(_listed(right), join.right)))


def _listed(records: Any) -> Any:
    return records if hasattr(records, "columns") else list(records)


def _as_given(records: Any, made: Any) -> Any:
    if hasattr(records, "columns"):
        return made
    found = [records_of(frame) for frame in made] if isinstance(made, list) else records_of(made)
    return [as_writables(record) for record in found] if _are_writables(records) else found


def _are_writables(records: Any) -> bool:
    while isinstance(records, (list, tuple)) and records:
        records = records[0]
    return isinstance(records, Writable)
