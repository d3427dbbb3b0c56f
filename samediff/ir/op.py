"""The contract of an operation, and the decorator that registers one.

An op is one class: its dataclass fields are the attributes, and next to them stand shape rule, meaning, gradient and
file mapping::

    @op("elu", api="nn.elu")
    class Elu(Elementwise):
        '''x where x > 0, else alpha * (exp(x) - 1).  Shapes: x (*S) float -> (*S), same type.'''
        alpha: float = 1.0

        def compute(self, xp, x):
            return xp.where(x > 0, x, self.alpha * xp.expm1(x))

``api`` lists where the op can be called: ``sd.nn.elu(...)`` here; ``base`` is the graph itself, ``var`` a variable.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, dataclass_transform

from ..base.datatype import DataType
from ..base.registry import Registry
from ..base.spec import Shape, TensorSpec, size
from ..errors import DataTypeError, GradientError, GraphError, did_you_mean

if TYPE_CHECKING:
    from .variable import SDVariable

Specs = TensorSpec | tuple[TensorSpec, ...]
GradientKind = Literal["full", "surrogate", "zero", "none"]


@dataclasses.dataclass(frozen=True)
class Kernel:
    """Code that writes into given outputs: ``call(*inputs, *outputs, *workspace)``.

    ``workspace`` lists arrays that the kernel needs besides; the executor provides them for each run. ``one_thread`` says that
    its matrix products are too small to share among the threads of the BLAS library. ``native`` is given the same arrays in their
    final layout and makes the instruction of a native program that does the work (or a list of some); None where it cannot take them.
    ``orders`` says of an order of the axes whether outputs may lie in memory like that, at no cost.
    """

    call: Callable[..., Any]
    workspace: tuple[TensorSpec, ...] = ()
    one_thread: bool = False
    native: Callable[..., Any] | None = None
    orders: Callable[[Sequence[int]], bool] | None = None


Pairs = Sequence[tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class Copies:
    """The copies that make up an op which only moves elements; every back end has one kernel for all of these ops.

    ``pairs(*inputs, *outputs)`` gives (source, target) for arrays of the final layout, which it does not read: views of inputs that are
    copied to views of outputs. A source that ``numpy.broadcast_to`` stretched is repeated. ``clears``: outputs are 0 elsewhere.
    """

    pairs: Callable[..., Pairs]
    clears: bool = False


def rearranged(view: Callable[[Any], Any]) -> Copies:
    """A view of the first input, copied to the output, which is seen in its shape."""
    def pairs(x: Any, *rest: Any) -> Pairs:
        seen = view(x)
        return [(seen, rest[-1].reshape(seen.shape))]
    return Copies(pairs)


@dataclasses.dataclass(frozen=True)
class SweepOf:
    """A reduction or normalization of slices; every back end has kernels for those of :mod:`~dl4py.samediff.plans.sweeps.table`.

    ``name`` is the one there, ``axes`` are those of a slice. ``shapes`` are those of the inputs aligned with the first one, where they are
    not all of its shape. ``result`` is the type of results for each slice; None: there is one for each element, of the type of the first
    input.
    """

    name: str
    axes: tuple[int, ...]
    result: DataType | None = None
    shapes: tuple[Shape, ...] = ()


class Op:
    """Base class of all operations; instances are immutable and know nothing of the graph.

    Class attributes
    ----------------
    id : str
        Name in the registry and in files (set by :func:`op`).
    inputs : str
        Names of the inputs: ``"x y"``, ``"x mask?"`` (optional), ``"*xs"`` (any number).
    signatures : tuple of str
        The ways to call it: names of inputs and attributes in order, ``*name`` for a varargs one, ``&config`` for a
        configuration object whose fields are the attributes. Empty: the inputs, then the attributes.
    gradient : "full", "surrogate", "zero" or "none"
        Whether the op is differentiable, has a gradient that is not its derivative, is piecewise constant, or has no gradient at all.
    not_differentiable_by : tuple of int
        Inputs by which there is no derivative, while there is one by others: GradientError where it is asked for.
    stateful : bool
        True when equal calls may give different results (random numbers): never folded or shared. The kernel of such an op gets
        :meth:`RunContext.words` before its inputs.
    heeds : str
        What a stateful op does that makes its calls differ.
    is_shared : bool
        True for a stateful op that says itself which random numbers it takes: equal ones are one.
    node_name : str
        What automatic names of nodes start with, where that is not the id.
    is_loss : bool
        True when the result joins the loss variables of its graph by itself.
    shape_inputs : tuple of int
        Inputs of which only shape and type matter: their values need not be computed when the shape is known.
    is_view : bool
        True when ``compute`` returns another view of its first input. A plan works it out once where the other inputs are constant
        or in :attr:`shape_inputs`, else in every run.
    flops_per_element : int, optional
        Additions, products, comparisons and function values for an element of the first input, about; 0 for what only moves numbers
        or makes them from nothing, None where nobody knows (see :meth:`flops`).
    element_values : str
        Names of the attributes that are numbers of the array's type: that of ``data_type``, or else of the first input. An integer type
        must hold them.
    by_blas : bool
        True when NumPy leaves ``compute`` to BLAS, just as a plan does.
    gradient_is_checked : bool
        True when ``grad`` is the code of others: sizes of its results are looked at again when a plan knows them.
    call_note : str
        What is said besides the ways to call the op, where a call fits none.
    """

    id: ClassVar[str] = ""
    inputs: ClassVar[str] = "x"
    signatures: ClassVar[tuple[str, ...]] = ()
    gradient: ClassVar[GradientKind] = "full"
    not_differentiable_by: ClassVar[tuple[int, ...]] = ()
    stateful: ClassVar[bool] = False
    heeds: ClassVar[str] = "draws random numbers"
    is_shared: ClassVar[bool] = False
    is_loss: ClassVar[bool] = False
    node_name: ClassVar[str] = ""
    shape_inputs: ClassVar[tuple[int, ...]] = ()
    is_view: ClassVar[bool] = False
    flops_per_element: ClassVar[int | None] = None
    element_values: ClassVar[str] = ""
    by_blas: ClassVar[bool] = False
    gradient_is_checked: ClassVar[bool] = False
    call_note: ClassVar[str] = ""
    file: ClassVar[Any] = None

    _attributes: ClassVar[tuple[dataclasses.Field[Any], ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields = self._attributes
        if len(args) > len(fields):
            raise GraphError(f"op {self.id!r} has {len(fields)} attributes, {len(args)} values were given")
        values = {f.name: v for f, v in zip(fields, args)} | kwargs
        for f in fields:
            if f.name in values:
                value = values.pop(f.name)
            elif f.default is not dataclasses.MISSING:
                value = f.default
            elif f.default_factory is not dataclasses.MISSING:
                value = f.default_factory()
            else:
                raise GraphError(f"op {self.id!r} needs a value for its attribute {f.name!r}")
            object.__setattr__(self, f.name, value)
        if values:
            name = next(iter(values))
            raise GraphError(f"op {self.id!r} has no attribute {name!r}{did_you_mean(name, self.attribute_names())}")
        post_init = getattr(self, "__post_init__", None)
        if post_init is not None:
            post_init()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"op {self.id!r} cannot be changed; use replace({name}=...)")

    def values(self) -> tuple[Any, ...]:
        """The values of the attributes in their order."""
        return tuple(getattr(self, f.name) for f in self._attributes)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in self._attributes)})"

    def infer(self, *specs: TensorSpec) -> Specs:
        """Shape and type of the output, or a tuple of them, from those of the inputs (None: input left out)."""
        raise NotImplementedError(f"{type(self).__name__} has no shape rule: implement infer(self, *specs)")

    def compute(self, xp: Any, *inputs: Any) -> Any:
        """The meaning, in array code that runs on NumPy and CuPy (``xp``)."""
        raise NotImplementedError(f"{type(self).__name__} has no meaning: implement compute(self, xp, *inputs)")

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Gradient for each input (None: zero), built from graph nodes."""
        raise GradientError(f"op {self.id!r} has no gradient")

    def plan_rewrite(self, name: str) -> Expandable | None:
        """The op whose composition runs in place of this one in a plan, for the node of that name; None: it runs itself."""
        return None

    def same_as(self, *specs: TensorSpec) -> int | None:
        """Number of the input that equals the only output for inputs of these static specs; None when there is work to do."""
        return None

    def copies(self, *specs: TensorSpec) -> Copies | None:
        """The copies that make up the op for inputs of these static specs; None where there is more to do."""
        return None

    def as_sweep(self, *specs: TensorSpec) -> SweepOf | None:
        """The sweep that the op is for inputs of these static specs; None where it is none."""
        return None

    def kernel_op(self, *specs: TensorSpec) -> Op | None:
        """The op whose kernels are those of this one, for inputs of these static specs; None: it has its own, if any."""
        return None

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        """Additions, products, comparisons and function values for inputs and outputs of these static specs, about; None: unknown.

        A product of (n, k) and (k, m) counts 2 n k m, an elementwise op one for each scalar function in it.
        """
        first = next((s for s in inputs if s is not None), None)
        return None if first is None or self.flops_per_element is None else self.flops_per_element * size(first.shape)

    def at_inference(self) -> Op:
        """The op that takes this one's place outside training."""
        return self

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """Add the op to a graph, as calls do; an op that stands for several nodes adds those instead."""
        return sd.add_op(self, inputs, names)

    def replace(self, **changes: Any) -> Op:
        """A copy with other attributes."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]  # every registered op is a dataclass

    @classmethod
    def attribute_names(cls) -> tuple[str, ...]:
        """The attributes in declaration order."""
        return tuple(f.name for f in cls._attributes)


class Expandable(Op):
    """An op that is defined by a composition of other ops."""

    def expand(self, *inputs: Any) -> Any:
        """The output, or a tuple of them, built from nodes (None: input left out)."""
        raise NotImplementedError(f"{type(self).__name__} must implement expand(self, *inputs)")


#: Where ops can be called: (namespace, method) -> classes, tried in order.
METHODS: dict[tuple[str, str], list[type[Op]]] = {}


class Ops(Registry[type["Op"]]):
    """The registered op classes; names that no class has may be derived from those of others."""

    #: Makes the class of a name that is not registered; None where it cannot.
    derive: Callable[[str], type[Op] | None] | None = None

    def get(self, name: str) -> type[Op] | None:
        """The class of that name, or the one derived from it; None where there is none."""
        found = super().get(name)
        return self.derive(name) if found is None and self.derive is not None else found

    def remove(self, name: str) -> None:
        for place, classes in list(METHODS.items()):
            classes[:] = [c for c in classes if c.id != name]
            if not classes:
                del METHODS[place]
        super().remove(name)


#: Registered op classes by id.
OPS = Ops("op", "dl4py.ops")

OpClass = TypeVar("OpClass", bound=type[Any])


@dataclass_transform(frozen_default=True)
def attributes(cls: OpClass) -> OpClass:
    """Make the annotated fields of an abstract family attributes, which its ops inherit."""
    cls.__doc__ = cls.__doc__ or cls.__name__             # dataclass() would work out a signature for the text
    dataclasses.dataclass(init=False, repr=False, eq=False)(cls)      # collects the fields; Op has the methods
    return cls


def declare(cls: OpClass, name: str, **class_attributes: Any) -> OpClass:
    """Make the annotated fields of an op class its attributes, and give it its name; :func:`op` registers it besides."""
    cls.id = name
    for key, value in class_attributes.items():
        setattr(cls, key, value)
    attributes(cls)
    cls._attributes = dataclasses.fields(cls)
    return cls


@dataclass_transform(frozen_default=True)
def op(name: str, api: str = "", **class_attributes: Any) -> Callable[[OpClass], OpClass]:
    """Register an op class under ``name`` and make its annotated fields the attributes.

    Parameters
    ----------
    name : str
        Registry id, also the name in files.
    api : str
        Places to call it from, such as ``"math.sum base.sum var.sum"``.
    **class_attributes
        Set on the class: ``inputs``, ``signatures``, ``gradient``, ``file`` …

    Raises
    ------
    RegistrationError
        When the id is taken; names both owners.
    """

    def register(cls: OpClass) -> OpClass:
        OPS.add(name, declare(cls, name, **class_attributes))
        if not OPS.holds(name, cls):            # an op of a plug-in whose name is taken
            return cls
        for place in api.split():
            namespace, method = place.split(".")
            methods = METHODS.setdefault((namespace, method), [])
            methods[:] = [c for c in methods if c.id != name] + [cls]
        return cls

    return register


def as_tuple(result: Any) -> tuple[Any, ...]:
    """One result or several, as a tuple."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def require_floating(what: str, *specs: TensorSpec | None) -> None:
    """DataTypeError unless every given input is of a floating type."""
    for spec in specs:
        if spec is not None and not spec.dtype.is_floating:
            raise DataTypeError(f"{what} needs floating inputs (HALF, BFLOAT16, FLOAT or DOUBLE); got {spec.dtype.name}. "
                                "Use cast_to(DataType.FLOAT) first")


def require_same_type(what: str, *specs: TensorSpec | None) -> None:
    """DataTypeError unless all given inputs have one type."""
    types = {s.dtype for s in specs if s is not None}
    if len(types) > 1:
        names = ", ".join(s.dtype.name for s in specs if s is not None)
        raise DataTypeError(f"{what} needs inputs of one type; got {names}. Use cast_to on one of them")
