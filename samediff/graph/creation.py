"""Making variables, constants and placeholders; converting and renaming them."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.lazy_property import lazy_property
from ..base.spec import TensorSpec
from ..base.user_code.users_arrays import is_given
from ..errors import DataTypeError, DL4PyError, GraphError, ShapeError
from ..expressions.arrays import as_array
from ..initializers.nd4j_random import Nd4jRandom
from ..ir.core import GraphCore, between_steps
from ..ir.declarations import Declaration, are_values, checked_sizes, declaration, is_data_type, unpacked
from ..ir.node import needed
from ..ir.tables import check_name, owned_copy
from ..ir.variable import SDVariable, VariableType, redeclare


class CreationMixin(GraphCore):
    """The part of :class:`SameDiff` that makes and converts variables."""

    def placeholder(self, name: str, *args: Any, dtype: Any = None, shape: Any = ()) -> SDVariable:
        """A value that is given at each run; -1 marks unknown sizes, a shape of None an unknown rank.

        ``placeholder(name, dtype, *sizes)``; sizes stand one by one, in one list, or as ``shape=``. Without a data type it is FLOAT.

        Parameters
        ----------
        name : str
            Its name in :meth:`SameDiff.output` and in the mappings of data sets; it must be free.
        *args, dtype, shape
            Data type and sizes: FLOAT and a scalar where neither is given.
        """
        what = f"placeholder {name!r}"
        told = declaration(what, args)
        if told.sizes is not None and shape != ():
            raise GraphError(f"{what}: the shape is given twice, as {told.sizes} and as shape={shape}")
        if told.dtype is not None and dtype is not None:
            raise DataTypeError(f"{what}: the data type is given twice, as {told.dtype.name} and as dtype={dtype!r}")
        if name in self.tables.variables:
            raise GraphError(f"placeholder name {name!r} is taken already by {self.tables.variables[name]!r}")
        spec = TensorSpec(_open_shape(what, told.sizes if told.sizes is not None else (shape,)),
                          told.dtype or DataType.storable(DataType.FLOAT if dtype is None else dtype))
        return self.tables.add_variable(name, VariableType.PLACEHOLDER, spec)

    place_holder = placeholder

    def var(self, *args: Any) -> SDVariable:
        """A trainable variable.

        ===================================  =====================================================================
        ``var(name, *sizes)``                zeros of type FLOAT; without sizes a single number
        ``var(name, dtype, *sizes)``         zeros of a type; ``var(dtype, *sizes)`` finds a name
        ``var(name, scheme, dtype, *sizes)`` drawn by a weight init scheme; without a type FLOAT
        ``var(name, array)``, ``var(array)`` these values
        ``var(variable)``                    a copy of a variable of another graph
        ===================================  =====================================================================

        Whole numbers are sizes, one by one or in one list or tuple, as Java's ``long...`` and ``int[]``; a size of -1 makes a
        placeholder. Values are arrays, or lists of numbers with fractions.

        Raises
        ------
        GraphError, ShapeError, DataTypeError
            What is given is neither of these; the graph stays as it was.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> sd.var("v", 3, 4), sd.var("w", np.ones(2))
        (SDVariable('v', VARIABLE, FLOAT, (3, 4)), SDVariable('w', VARIABLE, DOUBLE, (2,)))
        """
        args = args if args and isinstance(args[0], (str, type(None))) else (None, *args)
        name, rest, what = args[0], list(args[1:]), f"variable {args[0]!r}" if args[0] else "var"
        if rest and isinstance(rest[0], VariableType) and rest.pop(0) is not VariableType.VARIABLE:
            raise GraphError(f"{what}: var makes variables; use constant or placeholder for others")
        if not rest and not name:
            raise GraphError("var needs a name, sizes, an array, a data type with sizes, or a weight init scheme; got nothing")
        if any(isinstance(a, SDVariable) or (are_values(a) and not _is_scheme(a)) for a in rest):
            if len(rest) > 1:
                raise GraphError(f"{what}: values are one array, whose type and shape it takes; got {len(rest)} arguments")
            if isinstance(rest[0], SDVariable):
                return self._copied(name, rest[0])
            self.tables.users_arrays |= is_given(rest[0])
            return self._stored_variable(name, owned_copy(as_array(rest[0])), scoped=name is None)
        schemes = [a for a in rest if _is_scheme(a)]
        told = declaration(what, [a for a in rest if not _is_scheme(a)])
        if len(schemes) > 1:
            raise GraphError(f"{what}: one weight init scheme draws the values; got {len(schemes)}")
        if schemes:
            return self._drawn(name, what, schemes[0], told)
        if name is None and told.dtype is None:
            raise GraphError(f"var makes a variable of a shape when a name or a data type comes first, var('v', 3, 4), and one of values "
                             f"from an array, var(np.array(...)); got {', '.join(map(repr, rest))}")
        shape = told.shape(what, unknown=True)
        if -1 in shape:
            return self.placeholder(name or self.tables.names.unique("sd_var"), told.dtype or DataType.FLOAT, *shape)
        return self._stored_variable(name, np.zeros(shape, (told.dtype or DataType.FLOAT).numpy), scoped=True)

    def _drawn(self, name: str | None, what: str, scheme: Any, told: Declaration) -> SDVariable:
        sizes = getattr(scheme, "shape", None) if told.sizes is None else told.sizes
        if sizes is None:
            raise ShapeError(f"{what}: sizes are missing; write sd.var({name!r}, {type(scheme).__name__}(...), DataType.FLOAT, *sizes), "
                             "as a scheme knows fans and no shape")
        shape = checked_sizes(what, sizes)
        made = self._stored_variable(name, scheme.create(told.dtype or DataType.FLOAT, shape, self.generator), scoped=True)
        redeclare(made, scheme=scheme)
        return made

    def attach(self, name: str, array: Any) -> SDVariable:
        """A trainable variable over this very array: changes to it are seen by the next run, training writes into it."""
        return self.tables.add_variable(name, VariableType.VARIABLE, TensorSpec(tuple(array.shape), DataType.of(array.dtype)), array)

    def _stored_variable(self, name: str | None, array: Any, scoped: bool) -> SDVariable:
        if array.size == 0:
            raise ShapeError(f"variable {name!r}: an array of shape {array.shape} has no elements; only constants may be empty")
        full = self.tables.names.unique("sd_var") if name is None else self.tables.names.scoped(name) if scoped else name
        spec = TensorSpec(tuple(array.shape), DataType.of(array.dtype))
        return self.tables.add_variable(full, VariableType.VARIABLE, spec, array)

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
        """A stored value that is never trained: ``constant(value)``, ``constant(name, value)`` or ``constant(name, dtype, value)``."""
        name, rest = (None, args) if len(args) == 1 and not isinstance(args[0], str) else (args[0] if args else None, args[1:])
        if len(rest) == 2 and is_data_type(rest[0]) and not isinstance(rest[1], SDVariable):
            rest = (as_array(rest[1], DataType.of(rest[0]).numpy),)
        if len(rest) != 1:
            got = f"{len(rest)}: {', '.join(map(repr, rest))}" if rest else "none"
            raise GraphError(f"constant {name!r} needs one value, got {got}. Several numbers are an array, constant(name, np.array(...)); "
                             "a constant of a shape is sd.zero(name, 3, 4) or sd.one(name, 3, 4)")
        value = rest[0].get_arr(True) if isinstance(rest[0], SDVariable) else rest[0]
        self.tables.users_arrays |= is_given(value)
        array = owned_copy(as_array(value))
        full = self.tables.names.unique("sd_var") if name is None else name
        return self.tables.add_variable(full, VariableType.CONSTANT, TensorSpec(array.shape, DataType.of(array.dtype)), array)

    def scalar(self, name: Any, *args: Any) -> SDVariable:
        """A constant number: ``scalar(name, value)`` or ``scalar(name, dtype, value)``, also without a name; ``convert_to_variable`` has
        it trained.
        """
        if name is not None and not isinstance(name, str):
            name, args = None, (name, *args)
        types, values = [a for a in args if is_data_type(a)], [a for a in args if not is_data_type(a)]
        if len(values) != 1 or len(types) > 1 or np.ndim(values[0]):
            raise GraphError(f"scalar {name!r} needs one number, scalar(name, 2.0) or scalar(name, DataType.FLOAT, 2.0); "
                             f"got {', '.join(map(repr, args)) or 'none'}")
        array = as_array(values[0], DataType.of(types[0]).numpy if types else None)
        return self.constant(name, array)

    def zero(self, name: str, *args: Any) -> SDVariable:
        """A constant of zeros: ``zero(name, *shape)`` or ``zero(name, dtype, *shape)``."""
        return self._filled(name, 0, args)

    def one(self, name: str, *args: Any) -> SDVariable:
        """A constant of ones: ``one(name, *shape)`` or ``one(name, dtype, *shape)``."""
        return self._filled(name, 1, args)

    def _filled(self, name: str, value: int, args: tuple[Any, ...]) -> SDVariable:
        what = f"constant {name!r}"
        told = declaration(what, args)
        return self.constant(name, np.full(told.shape(what), value, (told.dtype or DataType.FLOAT).numpy))

    @lazy_property
    def generator(self) -> Nd4jRandom:
        """The generator that weight init schemes draw from, seeded with ``seed``."""
        return Nd4jRandom(self.seed or 119)

    # Conversions

    def convert_to_constant(self, *variables: Any) -> SDVariable:
        """Make variables or placeholders (whose value is set) constants; their updater state goes."""
        chosen = [self.variable(v) for v in unpacked(variables)]
        for v in chosen:
            if v.get_variable_type() is VariableType.ARRAY:
                raise GraphError(f"{v!r} is the result of an op and cannot become a constant")
            if self.stored(v.name()) is None:
                raise GraphError(f"{v!r} has no value yet: set_array first")
        return self._retyped(chosen, VariableType.CONSTANT)

    convert_to_constants = convert_to_constant

    def convert_to_variable(self, *variables: Any) -> SDVariable:
        """Make constants or placeholders (whose value is set) trainable variables; floating types only."""
        chosen = [self.variable(v) for v in unpacked(variables)]
        for v in chosen:
            if v.get_variable_type() is VariableType.ARRAY:
                raise GraphError(f"{v!r} is the result of an op and cannot become a variable")
            if not v.dtype.is_floating:
                raise DataTypeError(f"{v!r} cannot be trained: only floating types can")
            if self.stored(v.name()) is None:
                raise GraphError(f"{v!r} has no value yet: set_array first")
        return self._retyped(chosen, VariableType.VARIABLE)

    convert_to_variables = convert_to_variable

    @between_steps
    def _retyped(self, chosen: list[SDVariable], kind: VariableType) -> SDVariable:
        before = {v: (v.get_variable_type(), v.spec) for v in chosen}
        for v in chosen:
            array = owned_copy(self.stored(v.name()))
            self.tables.store[v.name()] = array
            redeclare(v, kind=kind, spec=TensorSpec(array.shape, v.dtype))
        if any(v.spec != spec for v, (_, spec) in before.items()):         # placeholders with open sizes: what is behind them closes too
            try:
                self.infer_again()
            except DL4PyError:
                for v, (old, spec) in before.items():
                    redeclare(v, kind=old, spec=spec)
                    if old is VariableType.PLACEHOLDER:
                        del self.tables.store[v.name()]
                raise
        for v in chosen:
            self.tables.given().pop(v.name(), None)
        self.tables.changed()
        return chosen[0]

    @between_steps
    def convert_data_types(self, types: Mapping[str, Any]) -> None:
        """Change the data types of stored variables and placeholders; the types of all results follow."""
        chosen = {self.variable(n): DataType.of(t) for n, t in types.items()}
        for v, dtype in chosen.items():
            if v.get_variable_type() is VariableType.ARRAY:
                raise GraphError(f"{v!r} is the result of an op; convert its inputs or use cast_to")
            if v.dtype.is_numeric != dtype.is_numeric:
                raise DataTypeError(f"{v!r} cannot become {dtype.name}: numbers stay numbers and text stays text")
        before = {v: (v.spec, self.tables.store.get(v.name())) for v in chosen}
        for v, dtype in chosen.items():
            redeclare(v, spec=v.spec.with_dtype(dtype))
            if v.name() in self.tables.store:
                self.tables.store[v.name()] = self.tables.store[v.name()].astype(dtype.numpy)
        try:
            self.infer_again()
        except DL4PyError:
            for v, (spec, array) in before.items():
                redeclare(v, spec=spec)
                if array is not None:
                    self.tables.store[v.name()] = array
            raise

    @between_steps
    def set_placeholder_shape(self, placeholder: str | SDVariable, *shape: Any) -> None:
        """Declare another shape for a placeholder; shapes and types of all results follow, or nothing changes."""
        v = self.variable(placeholder)
        if not v.is_place_holder():
            raise GraphError(f"{v!r} is no placeholder: its shape follows from its value")
        before = v.spec
        redeclare(v, spec=before.with_shape(_open_shape(f"placeholder {v.name()!r}", shape)))
        try:
            self.infer_again()
        except DL4PyError:
            redeclare(v, spec=before)
            raise

    def infer_again(self) -> None:
        """Compute shapes and types of all results anew, after types or shapes of their inputs changed; all or none."""
        found: dict[str, TensorSpec] = {}
        for node in needed(self.tables.nodes.values(), list(self.tables.producers)):
            specs = [None if n is None else found.get(n) or self.tables.visible(self.tables.variables[n]) for n in node.inputs]
            try:
                inferred = node.op.infer(*specs)  # type: ignore[arg-type]
            except DL4PyError as error:
                error.add_note(f"in {node.where()}")
                raise
            found.update(zip(node.outputs, inferred if isinstance(inferred, tuple) else (inferred,)))
        for name, spec in found.items():
            redeclare(self.tables.variables[name], spec=spec)
        self.tables.changed()

    @between_steps
    def rename_variable(self, old: str | SDVariable, new: str) -> None:
        """Give a variable another name everywhere in the graph."""
        variable = self.variable(old)
        before = variable.name()
        if before == new:
            return
        check_name(new)
        if new in self.tables.variables:
            raise GraphError(f"cannot rename {before!r}: {new!r} is the name of {self.tables.variables[new]!r} already")
        self.tables.variables = {(new if n == before else n): v for n, v in self.tables.variables.items()}
        redeclare(variable, name=new)
        self.tables.nodes = {n: node.renamed(before, new) for n, node in self.tables.nodes.items()}
        self.tables.producers = {(new if n == before else n): p for n, p in self.tables.producers.items()}
        for table in (self.tables.store, self.tables.given()):
            if before in table:
                table[new] = table.pop(before)
        self.tables.losses, self.tables.outputs = ([new if n == before else n for n in names]
                                                   for names in (self.tables.losses, self.tables.outputs))
        self._renamed(before, new)
        self.tables.names.released()
        self.tables.changed()

    def _renamed(self, old: str, new: str) -> None:
        """Further tables of sub-classes that hold names."""


def _is_scheme(value: Any) -> bool:
    return hasattr(value, "create") and not isinstance(value, (type, np.ndarray))


def _open_shape(what: str, sizes: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Sizes given one by one or as one list, where -1 or None is unknown; None alone stands for an unknown rank."""
    if len(sizes) == 1 and sizes[0] is None:
        return None
    return checked_sizes(what, [-1 if n is None else n for n in unpacked(sizes)], unknown=True)
