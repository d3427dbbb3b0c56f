"""Making variables, constants and placeholders; converting and renaming them."""
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from .arrays import as_array
from .core import GraphCore, check_name, owned_copy
from .datatype import DataType
from .errors import DataTypeError, DL4PyError, GraphError, ShapeError
from .spec import TensorSpec
from .variable import SDVariable, VariableType


class Creation(GraphCore):
    """The part of :class:`SameDiff` that makes and converts variables."""

    def placeholder(self, name: str, dtype: Any = DataType.FLOAT, *sizes: Any, shape: Any = ()) -> SDVariable:
        """A value that is given at each run; -1 marks unknown sizes, a shape of None an unknown rank.

        Sizes stand one by one, in one list, or as ``shape=``.
        """
        if sizes and shape != ():
            raise GraphError(f"placeholder {name!r}: the shape is given twice, as {sizes} and as shape={shape}")
        dims = _dims(sizes or (shape,))
        if name in self._variables:
            raise GraphError(f"placeholder name {name!r} is taken already by {self._variables[name]!r}")
        spec = TensorSpec(None if dims is None else _sizes(dims, unknown=True), DataType.of(dtype))
        return self._add_variable(name, VariableType.PLACEHOLDER, spec)

    place_holder = placeholder

    def var(self, *args: Any) -> SDVariable:
        """A trainable variable.

        ``var(name, array)``, ``var(array)``, ``var(name, dtype, *shape)`` (zeros; with a -1 size: a placeholder),
        ``var(name, scheme, dtype, *shape)`` (drawn by a weight init scheme), ``var(variable_of_another_graph)``.
        """
        args = args if args and isinstance(args[0], (str, type(None))) else (None, *args)
        if len(args) < 2:
            raise GraphError("var needs an array, a data type with sizes, or a weight init scheme; got a name alone")
        name, first, rest = args[0], args[1], args[2:]
        if isinstance(first, SDVariable):
            return self._copied(name, first)
        if hasattr(first, "create") and not isinstance(first, np.ndarray):
            dtype = DataType.of(rest[0]) if rest else DataType.FLOAT
            shape = _sizes(_unpacked(rest[1:]) or getattr(first, "shape", ()))
            return self._stored_variable(name, first.create(dtype, shape, self._generator()), scoped=True)
        if isinstance(first, (DataType, type, np.dtype)) or (isinstance(first, str) and rest):
            shape = _sizes(_unpacked(rest), unknown=True)
            if -1 in shape:
                return self.placeholder(name or self._names.unique("sd_var"), first, *shape)
            return self._stored_variable(name, np.zeros(shape, DataType.of(first).numpy), scoped=True)
        return self._stored_variable(name, owned_copy(as_array(first)), scoped=name is None)

    def attach(self, name: str, array: Any) -> SDVariable:
        """A trainable variable over this very array: changes to it are seen by the next run, training writes into it."""
        return self._add_variable(name, VariableType.VARIABLE, TensorSpec(tuple(array.shape), DataType.of(array.dtype)), array)

    def _stored_variable(self, name: str | None, array: Any, scoped: bool) -> SDVariable:
        if array.size == 0:
            raise ShapeError(f"variable {name!r}: an array of shape {array.shape} has no elements; only constants may be empty")
        full = self._names.unique("sd_var") if name is None else self._names.scoped(name) if scoped else name
        spec = TensorSpec(tuple(array.shape), DataType.of(array.dtype))
        return self._add_variable(full, VariableType.VARIABLE, spec, array)

    def _copied(self, name: str | None, other: SDVariable) -> SDVariable:
        if other.sd is self:
            return other
        array = other.get_arr()
        if array is None:
            raise GraphError(f"{other!r} of another graph holds no array to copy")
        if other.is_constant():
            return self.constant(name or other.name(), array)
        return self._stored_variable(name or other.name(), owned_copy(array), scoped=False)

    def constant(self, *args: Any) -> SDVariable:
        """A stored value that is never trained: ``constant(value)`` or ``constant(name, value)``."""
        name, value = args if len(args) == 2 else (None, args[0])
        if isinstance(value, SDVariable):
            value = value.get_arr(True)
        array = owned_copy(as_array(value))
        full = self._names.unique("sd_var") if name is None else name
        return self._add_variable(full, VariableType.CONSTANT, TensorSpec(array.shape, DataType.of(array.dtype)), array)

    def scalar(self, name: str | None, *args: Any) -> SDVariable:
        """A trainable scalar: ``scalar(name, value)`` or ``scalar(name, dtype, value)``."""
        dtype, value = args if len(args) == 2 else (None, args[0])
        array = as_array(value, None if dtype is None else DataType.of(dtype).numpy)
        return self._stored_variable(name, owned_copy(array), scoped=False)

    def zero(self, name: str, *args: Any) -> SDVariable:
        """A constant of zeros: ``zero(name, *shape)`` or ``zero(name, dtype, *shape)``."""
        return self._filled(name, 0, args)

    def one(self, name: str, *args: Any) -> SDVariable:
        """A constant of ones: ``one(name, *shape)`` or ``one(name, dtype, *shape)``."""
        return self._filled(name, 1, args)

    def _filled(self, name: str, value: int, args: tuple[Any, ...]) -> SDVariable:
        dtype = DataType.FLOAT
        if args and isinstance(args[0], (DataType, str, type)):
            dtype, args = DataType.of(args[0]), args[1:]
        return self.constant(name, np.full(_sizes(_unpacked(args)), value, dtype.numpy))

    def _generator(self) -> Any:
        """The generator that weight init schemes draw from, seeded with ``seed``."""
        from .nd4j_random import Nd4jRandom
        if not hasattr(self, "_random"):
            self._random = Nd4jRandom(self.seed or 119)
        return self._random

    # Conversions

    def convert_to_constant(self, *variables: Any) -> SDVariable:
        """Make variables or placeholders (whose value is set) constants; their updater state goes."""
        chosen = [self.variable(v) for v in _unpacked(variables)]
        for v in chosen:
            if v.get_variable_type() is VariableType.ARRAY:
                raise GraphError(f"{v!r} is the result of an op and cannot become a constant")
            if self.stored(v.name()) is None:
                raise GraphError(f"{v!r} has no value yet: set_array first")
        return self._retyped(chosen, VariableType.CONSTANT)

    convert_to_constants = convert_to_constant

    def convert_to_variable(self, *variables: Any) -> SDVariable:
        """Make constants or placeholders (whose value is set) trainable variables; floating types only."""
        chosen = [self.variable(v) for v in _unpacked(variables)]
        for v in chosen:
            if v.get_variable_type() is VariableType.ARRAY:
                raise GraphError(f"{v!r} is the result of an op and cannot become a variable")
            if not v.dtype.is_floating:
                raise DataTypeError(f"{v!r} cannot be trained: only floating types can")
            if self.stored(v.name()) is None:
                raise GraphError(f"{v!r} has no value yet: set_array first")
        return self._retyped(chosen, VariableType.VARIABLE)

    convert_to_variables = convert_to_variable

    def _retyped(self, chosen: list[SDVariable], kind: VariableType) -> SDVariable:
        for v in chosen:
            array = owned_copy(self.stored(v.name()))
            self._placeholder_values().pop(v.name(), None)
            self._store[v.name()] = array
            v._type, v._spec = kind, TensorSpec(array.shape, v.dtype)
        self._changed()
        return chosen[0]

    def convert_data_types(self, types: Mapping[str, Any]) -> None:
        """Change the data types of stored variables and placeholders; the types of all results follow."""
        chosen = {self.variable(n): DataType.of(t) for n, t in types.items()}
        for v, dtype in chosen.items():
            if v.get_variable_type() is VariableType.ARRAY:
                raise GraphError(f"{v!r} is the result of an op; convert its inputs or use cast_to")
            if v.dtype.is_numeric != dtype.is_numeric:
                raise DataTypeError(f"{v!r} cannot become {dtype.name}: numbers stay numbers and text stays text")
        before = {v: (v._spec, self._store.get(v.name())) for v in chosen}
        for v, dtype in chosen.items():
            v._spec = v.spec.with_dtype(dtype)
            if v.name() in self._store:
                self._store[v.name()] = self._store[v.name()].astype(dtype.numpy)
        try:
            self.infer_again()
        except DL4PyError:
            for v, (spec, array) in before.items():
                v._spec = spec
                if array is not None:
                    self._store[v.name()] = array
            raise

    def set_placeholder_shape(self, placeholder: str | SDVariable, *shape: Any) -> None:
        """Declare another shape for a placeholder; shapes and types of all results follow, or nothing changes."""
        v, dims = self.variable(placeholder), _dims(shape)
        if not v.is_place_holder():
            raise GraphError(f"{v!r} is no placeholder: its shape follows from its value")
        before, v._spec = v._spec, v.spec.with_shape(None if dims is None else _sizes(dims, unknown=True))
        try:
            self.infer_again()
        except DL4PyError:
            v._spec = before
            raise

    def infer_again(self) -> None:
        """Compute shapes and types of all results anew, after types or shapes of their inputs changed; all or none."""
        from .node import needed
        found: dict[str, TensorSpec] = {}
        for node in needed(self._nodes.values(), list(self._producers)):
            specs = [None if n is None else found.get(n) or self._visible(self._variables[n]) for n in node.inputs]
            try:
                inferred = node.op.infer(*specs)  # type: ignore[arg-type]
            except DL4PyError as error:
                error.add_note(f"in {node.where()}")
                raise
            found.update(zip(node.outputs, inferred if isinstance(inferred, tuple) else (inferred,)))
        for name, spec in found.items():
            self._variables[name]._spec = spec
        self._changed()

    def rename_variable(self, old: str | SDVariable, new: str) -> None:
        """Give a variable another name everywhere in the graph."""
        variable = self.variable(old)
        before = variable.name()
        if before == new:
            return
        check_name(new)
        if new in self._variables:
            raise GraphError(f"cannot rename {before!r}: {new!r} is the name of {self._variables[new]!r} already")
        self._variables = {(new if n == before else n): v for n, v in self._variables.items()}
        variable._name = new
        self._nodes = {n: node.renamed(before, new) for n, node in self._nodes.items()}
        self._producers = {(new if n == before else n): p for n, p in self._producers.items()}
        for table in (self._store, self._placeholder_values()):
            if before in table:
                table[new] = table.pop(before)
        self._losses = [new if n == before else n for n in self._losses]
        self._renamed(before, new)
        self._names.released()
        self._changed()

    def _renamed(self, old: str, new: str) -> None:
        """Further tables of sub-classes that hold names."""


def _unpacked(values: Any) -> tuple[Any, ...]:
    return tuple(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else tuple(values)


def _dims(shape: tuple[Any, ...]) -> Any:
    """Sizes given one by one, as a list, or None."""
    return shape[0] if len(shape) == 1 and (shape[0] is None or isinstance(shape[0], (list, tuple))) else shape


def _sizes(values: Any, unknown: bool = False) -> tuple[int, ...]:
    try:
        sizes = tuple(operator.index(v) for v in values)
    except TypeError:
        raise ShapeError(f"shape {tuple(values)}: sizes are whole numbers") from None
    for n in sizes:
        if n < (-1 if unknown else 0):
            raise ShapeError(f"shape {sizes}: sizes are positive{' or -1 (unknown)' if unknown else ''}, got {n}")
        if n == 0 and unknown:
            raise ShapeError(f"shape {sizes}: a size of 0 would make an empty array")
    return sizes
