"""The op behind a :class:`~.java_style.UserDefinedCustomOp`: immutable, saved, run on fresh instances."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from ...samediff.arrays import INDArray
from ...samediff.base.bounded_cache import BoundedCache
from ...samediff.base.datatype import DataType
from ...samediff.base.lazy_property import lazy_property
from ...samediff.base.spec import TensorSpec
from ...samediff.codecs.file_args import FileArgs
from ...samediff.codecs.flatbuffers.graph import FlatNode
from ...samediff.codecs.flatbuffers.properties import make_property, property_value
from ...samediff.errors import GradientError, GraphError, RegistrationError, ShapeError
from ...samediff.expressions.arrays import ArrayNamespace
from ...samediff.families.array_code.symbolic_size import NotInGraphError
from ...samediff.families.followed import followed
from ...samediff.files.node_args import INTERNAL
from ...samediff.ir.argument_lists import LISTS, JavaList, argument
from ...samediff.ir.held_values import hashable
from ...samediff.ir.op import Expandable, Specs, as_tuple, op
from ..code.failure import building, checked_results, collected_gradients, note_failure
from ..code.shape_probing import Shapes, vary_sizes
from .java_style import UserDefinedCustomOp, execute, frozen, shapes_of
from .op_context import Argument, OpContext
from .recorded import recorded
from .restoring import check_restored, check_storable

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable

_UNKNOWN: Any = object()
_KEPT = 64          # forms of inputs whose shapes an op remembers
_REQUIRED = ("op_name", "calculate_output_shape", "exec")
_LISTS = {"i_arguments": "extra_integer", "t_arguments": "extra_params", "b_arguments": "extra_bools", "s_arguments": "extra_strings"}


@dataclass(frozen=True)
class JavaArgs(FileArgs):
    """Argument lists in DL4J's argument vectors, fields as properties."""

    def encode(self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT) -> dict[str, Any]:
        """The fields of the file's node."""
        parts = super().encode({}, op_name, input_dtype)
        lists = dict(op_fields["lists"])
        return parts | {slot: tuple(lists.get(name, ())) for name, slot in _LISTS.items()} | {
            "extra_types": tuple(DataType.of(t).code for t in lists.get("d_arguments", ())),
            "properties": tuple(make_property(name, value) for name, value in op_fields["fields"])}

    def decode(self, node: FlatNode) -> dict[str, Any]:
        """The attributes of :class:`JavaOp` from the file's node."""
        lists = [(name, tuple(getattr(node, slot))) for name, slot in _LISTS.items()]
        lists.append(("d_arguments", tuple(DataType.from_code(t) for t in node.extra_types)))
        fields = [(p.name, property_value(p)) for p in node.properties if p.name not in INTERNAL]
        return {"fields": frozen(fields), "lists": tuple((n, v) for n, v in lists if v)}


class JavaOp(Expandable):
    """Calls the methods of a user's class; ``fields`` and ``lists`` are what the class saves."""

    fields: tuple[Any, ...] = ()
    lists: tuple[Any, ...] = ()
    user_class: ClassVar[type[UserDefinedCustomOp]]
    inputs = "*xs"
    gradient_is_checked = True

    @classmethod
    def of(cls, user: UserDefinedCustomOp) -> JavaOp:
        """The op for a configured instance of a user's class."""
        lists = [(name, tuple(argument(user, name, v) for v in getattr(user, name))) for name in LISTS if getattr(user, name)]
        with building(f"properties_for_function of op {cls.id!r}", user.properties_for_function, GraphError):
            properties = user.properties_for_function()
        if not isinstance(properties, dict):
            raise GraphError(f"op {cls.id!r} ({type(user).__name__}): properties_for_function must return a dict; got {properties!r:.60}")
        check_storable(f"op {cls.id!r} ({type(user).__name__})", properties)
        fields = frozen((k, property_value(make_property(k, v))) for k, v in properties.items())      # as a file gives them back
        made = cls(fields, tuple(lists))  # type: ignore[call-arg]  # sub-classes are dataclasses
        check_restored(user, made.instance())
        return made

    def instance(self) -> UserDefinedCustomOp:
        """A fresh instance with the saved fields."""
        try:
            user = self.user_class()
            for name, values in self.lists:
                setattr(user, name, list(values))
            if self.fields:
                user.set_properties_for_function(dict(self.fields))
            user.configure_from_arguments()
        except Exception as error:
            what = f"restoring op {self.id!r} ({self.user_class.__name__}) from its properties"
            with building(what, self.user_class.set_properties_for_function, GraphError):
                raise error
        return user

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and hashable(self.values()) == hashable(other.values())  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), hashable(self.values())))

    def infer(self, *specs: TensorSpec) -> Any:
        """Shapes and types by ``calculate_output_shape`` and ``calculate_output_data_types``; unknown sizes by trying numbers."""
        return self.ruled(specs, [])

    def ruled(self, specs: Sequence[TensorSpec], read: list[Argument]) -> Specs:
        """Shapes and types by the user's rules; the inputs whose values these read are added to ``read``."""
        user = self.instance()
        told: list[DataType | None] = []

        def shapes_for(tried: Sequence[TensorSpec | None]) -> Shapes:
            found = shapes_of(user, OpContext([Argument(s, read) for s in tried if s is not None]))
            told[:] = [t for _, t in found]
            return tuple(s for s, _ in found)

        with building(f"calculate_output_shape of op {self.id!r}", user.calculate_output_shape, ShapeError):
            shapes = (vary_sizes(specs, shapes_for)[1] if all(s.shape is not None for s in specs) else shapes_for(specs))
        with building(f"calculate_output_data_types of op {self.id!r}", user.calculate_output_data_types, ShapeError):
            types = [DataType.of(t) for t in user.calculate_output_data_types(JavaList(s.dtype for s in specs))]
        with building(f"get_num_outputs of op {self.id!r}", user.get_num_outputs, ShapeError):
            count = user.get_num_outputs()
        if len(shapes) != count or len(types) < len(shapes):
            raise ShapeError(f"get_num_outputs says {count}, calculate_output_shape gives {len(shapes)} shapes and "
                             f"calculate_output_data_types {len(types)} types")
        found = tuple(TensorSpec(s, t if own is None else own) for s, t, own in zip(shapes, types, told))
        return found if len(found) > 1 else found[0]

    def compute(self, xp: Any, *inputs: Any) -> Any:
        """Results of ``exec``, which gets read-only inputs and outputs filled with zeros."""
        user = self.instance()
        try:
            outs = as_tuple(self._promised(inputs))
            zeros = [_with_methods(xp.zeros(s.shape, s.dtype.numpy)) for s in outs]
            results = execute(user, OpContext([_guarded(xp, a) for a in inputs], zeros))
            results = [np.asarray(r) if isinstance(r, INDArray) else r for r in results]
        except Exception as error:
            note_failure(error, self.id, user.exec)
            raise
        checked_results(f"exec of op {self.id!r}", results, outs)
        return tuple(results) if len(results) > 1 else results[0]

    @lazy_property
    def _known(self) -> BoundedCache[Any, Specs | None]:
        """Cache of the results of the rules, by shapes and types."""
        return BoundedCache(_KEPT)

    def _promised(self, inputs: Sequence[Any]) -> Specs:
        """Specs of the outputs for these arrays; the rules run once for each combination of shapes and types."""
        key = tuple([(a.shape, a.dtype) for a in inputs])
        found = self._known.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._known[key] = self._without_values(inputs)
        if found is not None:
            return found  # type: ignore[no-any-return]
        specs: Specs = self.infer(*[TensorSpec(tuple(a.shape), DataType.of(a.dtype), a if isinstance(a, np.ndarray) else None)
                                    for a in inputs])
        return specs

    def _without_values(self, inputs: Sequence[Any]) -> Specs | None:
        """Specs of the outputs from shapes and types alone; None where the rules read values."""
        read: list[Argument] = []
        try:
            found = self.ruled([TensorSpec(tuple(a.shape), DataType.of(a.dtype)) for a in inputs], read)
        except ShapeError:          # said again, with the values
            return None
        return None if read else found

    def plan_rewrite(self, name: str) -> JavaOp:
        """The nodes of ``exec``, where it is array code."""
        return self

    def expand(self, *inputs: SDVariable) -> tuple[SDVariable, ...]:
        """The nodes that ``exec`` adds to the graph of the inputs; a TraceError where it needs Python."""
        if not inputs:
            raise NotInGraphError(f"op {self.id!r} has no inputs")
        try:
            promised = as_tuple(self.infer(*[TensorSpec(v.spec.shape, v.spec.dtype) for v in inputs]))
        except ShapeError as error:
            raise NotInGraphError(f"shapes of op {self.id!r} follow from values: {error}") from error
        return followed(f"exec of op {self.id!r}", recorded(self.instance, promised), inputs[0].sd, inputs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        user = self.instance()
        user.same_diff = output_grads[0].sd
        user.stand_for(inputs, outputs)
        what = f"do_diff of op {self.id!r}"
        with building(what, user.do_diff, GradientError):
            user.configure_with_same_diff(user.same_diff)
            found = user.do_diff(JavaList(output_grads))
        return collected_gradients(what, found, len(inputs))


def _with_methods(array: Any) -> Any:
    """The array with DL4J's methods, where it is NumPy's."""
    return array.view(INDArray) if isinstance(array, np.ndarray) else array


def _guarded(xp: ArrayNamespace, array: Any) -> Any:
    """A read-only view with DL4J's methods, so that an op that writes to its input fails at once."""
    if not isinstance(array, np.ndarray):
        return array.view()
    view = array.view(INDArray)
    view.flags.writeable = False
    return view


def adapter_of(user: type[UserDefinedCustomOp], name: str) -> type[JavaOp]:
    """Register the op of a user's class."""
    body = {"user_class": user, "__module__": user.__module__, "__qualname__": user.__qualname__,
            "__doc__": user.__doc__ or f"User op {name}.", "__wrapped__": user,
            "__annotations__": {"fields": tuple[Any, ...], "lists": tuple[Any, ...]}, "fields": (), "lists": (),
            "signatures": ("*xs",)}
    cls = cast("type[JavaOp]", type(user.__name__, (JavaOp,), body))
    return op(name, api=name if name.count(".") == 1 else "", file=JavaArgs(op_type="UDF", op_num=-1))(cls)


UserClass = TypeVar("UserClass", bound=type[UserDefinedCustomOp])


def user_defined_op(cls: UserClass) -> UserClass:
    """Register a sub-class of :class:`UserDefinedCustomOp` under its ``op_name``.

    Parameters
    ----------
    cls : type
        The class.

    Raises
    ------
    RegistrationError
        A method or the constructor without arguments is missing, or the name is taken.
    """
    if not (isinstance(cls, type) and issubclass(cls, UserDefinedCustomOp)):
        raise RegistrationError(f"{cls!r} must derive from UserDefinedCustomOp")
    lacking = [n for n in _REQUIRED if getattr(cls, n) is getattr(UserDefinedCustomOp, n)]
    if lacking:
        raise RegistrationError(f"{cls.__name__} does not define {', '.join(lacking)}")
    try:
        made = cls()
    except Exception as error:
        raise RegistrationError(f"{cls.__name__} needs a constructor without arguments, by which files are loaded: {error}") from error
    with building(f"op_name of {cls.__name__}", cls.op_name, RegistrationError):
        name = made.op_name()
    if not isinstance(name, str) or not name or name != name.strip():
        raise RegistrationError(f"op_name of {cls.__name__} returned {name!r:.60}; it must return the name of the op, such as 'acme_plus'")
    cls._adapter = adapter_of(cls, name)
    return cls
