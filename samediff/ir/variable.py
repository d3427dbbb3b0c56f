"""Variables of a graph: names with operators."""
from __future__ import annotations

import decimal
import math
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.datatype import DataType
from ..base.java.function_variables import FunctionVariables
from ..base.java.java_enum import JavaEnum
from ..base.read_only import constant_view
from ..base.spec import Shape, SymbolicCount, SymbolicShape, TensorSpec
from ..base.user_code.users_arrays import users_array
from ..errors import GraphError
from ..expressions.arrays import as_array, require_held
from .indexing import SDIndex, index_spec, needs_arrays
from .protocols import Graph
from .variable_ops import VariableOps


class VariableType(JavaEnum):
    """Kinds of variables."""

    VARIABLE = "VARIABLE"        #: trained parameter, value kept in the graph
    CONSTANT = "CONSTANT"        #: stored value, never trained
    PLACEHOLDER = "PLACEHOLDER"  #: value given at each run
    ARRAY = "ARRAY"              #: result of an op
    SEQUENCE = "SEQUENCE"        #: ordered list of arrays


class SDVariable(FunctionVariables, VariableOps):
    """A named value of a :class:`SameDiff` graph; it holds no data itself.

    Every op of the catalogue's variable methods can be called on it (``x.mmul(w)``, ``x.sum("name", 0)``), and Python's
    operators work with variables, arrays and numbers.

    Parameters
    ----------
    sd, name, kind, spec
        The graph, the unique name in it, the kind, and shape and data type as far as known. Methods of the graph make variables.

    Examples
    --------
    >>> from dl4py.samediff import SameDiff, DataType
    >>> sd = SameDiff.create()
    >>> x = sd.placeholder("x", DataType.FLOAT, -1, 4)
    >>> x
    SDVariable('x', PLACEHOLDER, FLOAT, (-1, 4))
    >>> (2 * x + 1).get_shape()
    (-1, 4)
    """

    __slots__ = ("_name", "_scheme", "_spec", "_type")
    __array_priority__ = 1000
    __pandas_priority__ = 5000

    def __init__(self, sd: Graph, name: str, kind: VariableType, spec: TensorSpec) -> None:
        self._sd = sd
        self._name = name
        self._type = kind
        self._spec = spec
        self._scheme: Any = None

    # Name, type and shape

    def name(self) -> str:
        """The unique name in the graph."""
        return self._name

    get_var_name = name

    @property
    def spec(self) -> TensorSpec:
        """Shape and data type, as far as known."""
        return self._spec

    def get_shape(self) -> Shape | None:
        """Sizes, -1 where unknown; None for an unknown rank. (``x.shape()`` is the op that gives it as an array.)"""
        return self._spec.shape

    def get_shape_descriptor(self) -> TensorSpec:
        """Shape and data type, as :attr:`spec`."""
        return self._spec

    def place_holder_shape(self) -> Shape | None:
        """The declared shape of a placeholder."""
        if self._type is not VariableType.PLACEHOLDER:
            raise GraphError(f"{self!r} is no placeholder")
        return self._spec.shape

    placeholder_shape = place_holder_shape

    def set_shape(self, *shape: Any) -> None:
        """Declare another shape for a placeholder (-1: unknown); shapes and types behind it follow, or nothing changes."""
        self._sd.set_placeholder_shape(self, *shape)

    @property
    def dtype(self) -> DataType:
        """Data type."""
        return self._spec.dtype

    def data_type(self) -> DataType:
        """Data type."""
        return self._spec.dtype

    def get_variable_type(self) -> VariableType:
        """VARIABLE, CONSTANT, PLACEHOLDER, ARRAY or SEQUENCE."""
        return self._type

    @property
    def variable_type(self) -> VariableType:
        """As :meth:`get_variable_type`."""
        return self._type

    def is_place_holder(self) -> bool:
        """True for placeholders."""
        return self._type is VariableType.PLACEHOLDER

    def is_constant(self) -> bool:
        """True for constants."""
        return self._type is VariableType.CONSTANT

    def is_trainable(self) -> bool:
        """True for variables that ``fit`` changes."""
        return self._type is VariableType.VARIABLE and self.dtype.is_floating

    def __repr__(self) -> str:
        return f"SDVariable({self._name!r}, {self._type.name}, {self.dtype.name}, {self._spec.shape})"

    # Values

    def get_arr(self, enforce_existence: bool = False) -> Any:
        """The stored array of a variable (writing to it changes the variable) or constant (read-only; ``set_array`` changes it),
        the array set for a placeholder; of other placeholders and of results of ops the value in this thread's last ``exec`` (see
        ``SameDiff.keep_results``), else None."""
        array = self._sd.stored(self._name)
        if array is None and enforce_existence:
            raise GraphError(f"{self!r} holds no array; eval() computes one")
        if array is not None and self.is_constant():    # what follows from constants is computed once: set_array changes them
            return constant_view(array, self._name)
        return users_array(array)

    def set_array(self, array: Any) -> SDVariable:
        """Store a value (variables, constants) or set it for ``eval`` (placeholders)."""
        self._sd.set_array(self._name, array)
        return self

    def eval(self, placeholders: dict[str, Any] | None = None) -> Any:
        """Compute the value; ``placeholders`` maps names to arrays. Without them those are taken that were set, or given to this thread's
        last ``exec``."""
        return self._sd.output_single(placeholders or self._sd.tables.known_feeds(), self._name)

    def get_weight_init_scheme(self) -> Any:
        """The scheme that drew its first values; None where there was none."""
        return self._scheme

    def set_weight_init_scheme(self, scheme: Any) -> SDVariable:
        """Draw new values by a scheme such as ``XavierInitScheme("c", 784, 100)``."""
        if not hasattr(scheme, "create") or self._type is not VariableType.VARIABLE:
            raise GraphError(f"{self!r}: a weight init scheme draws values of variables; got {scheme!r:.60}")
        self._sd.set_array(self._name, scheme.create(self.dtype, self._spec.shape, self._sd.generator))
        self._scheme = scheme
        return self

    # The graph around it

    def described(self) -> str:
        return repr(self)

    def op_name(self) -> str | None:
        """The op whose result it is; None for variables that are given."""
        maker = self._sd.producer(self._name)
        return None if maker is None else maker.op.id

    def args(self) -> list[SDVariable]:
        """The inputs of the op whose result it is; none for variables that are given."""
        maker = self._sd.producer(self._name)
        return [] if maker is None else [self._sd.variable(n) for n in maker.inputs if n is not None]

    def output_variables(self) -> list[SDVariable]:
        """All results of the op whose result it is; itself for variables that are given."""
        maker = self._sd.producer(self._name)
        return [self] if maker is None else [self._sd.variable(n) for n in maker.outputs]

    def rename(self, name: str) -> SDVariable:
        """Give it another name, everywhere in the graph."""
        self._sd.rename_variable(self._name, name)
        return self

    set_var_name = rename

    def clone(self, *args: Any) -> SDVariable:
        """A copy in another graph: ``clone(sd)`` or ``clone(name, sd)``. Results of ops become placeholders there."""
        sd, name = args[-1], args[0] if len(args) == 2 else self._name
        if self._type in (VariableType.VARIABLE, VariableType.CONSTANT):
            copied: SDVariable = (sd.constant if self.is_constant() else sd.var)(name, self.get_arr())
            return copied
        return sd.placeholder(name, self.dtype, self._spec.shape)  # type: ignore[no-any-return]

    def mark_as_loss(self) -> SDVariable:
        """Add this variable to the losses of the graph."""
        self._sd.add_loss_variable(self)
        return self

    def gradient(self) -> SDVariable | None:
        """The gradient of this variable in the gradient graph (see ``SameDiff.grad``)."""
        return self._sd.grad(self._name)  # type: ignore[no-any-return]

    get_gradient = gradient

    def has_gradient(self) -> bool:
        """True when the gradient graph exists and holds a gradient for it."""
        return self._sd.has_gradient(self._name)

    def convert_to_constant(self) -> SDVariable:
        """Make it a constant with its present value."""
        return self._sd.convert_to_constant(self)  # type: ignore[no-any-return]

    def convert_to_variable(self) -> SDVariable:
        """Make this constant or placeholder a trainable variable."""
        return self._sd.convert_to_variable(self)  # type: ignore[no-any-return]

    def add_control_dependency(self, other: SDVariable) -> None:
        """Have ``other`` computed before this variable."""
        self._sd.add_control_dependency(self, other)

    def get(self, *indices: SDIndex) -> SDVariable:
        """Part of the array: one :class:`SDIndex` per leading axis."""
        return self[indices]

    get_view = get

    def __getitem__(self, indices: Any) -> SDVariable:
        given = indices if isinstance(indices, tuple) else (indices,)
        if needs_arrays(given):
            return self._sd.numpy_item(self, indices)  # type: ignore[no-any-return]
        return index_spec(self, given)

    # As an array of NumPy and of the array API standard

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self._sd.numpy_call(ufunc if method == "__call__" else getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self._sd.numpy_call(function, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The functions of the array API standard on the variables of this graph."""
        return self._sd.array_namespace()

    @property
    def ndim(self) -> int:
        """Number of axes; GraphError where it is not known."""
        if self._spec.shape is None:
            raise GraphError(f"the rank of {self!r} is not known while the graph is built; its op rank() gives it")
        return len(self._spec.shape)

    @property
    def T(self) -> SDVariable:
        """The axes reversed."""
        return self._sd.numpy_call(np.transpose, (self,), {})  # type: ignore[no-any-return]

    @property
    def mT(self) -> SDVariable:
        """The last two axes exchanged."""
        return self._sd.numpy_call(np.swapaxes, (self, -1, -2), {})  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """The device in the sense of the array API standard: "graph", since values are where the graph runs."""
        return "graph"

    def to_device(self, device: Any, /, *, stream: Any = None) -> SDVariable:
        """Itself: the graph runs where ``with device(...)`` says. ``stream`` has no effect."""
        if device != "graph":
            raise GraphError(f"a variable has no memory to move to {device!r}: run the graph there, as in with device({device!r})")
        return self

    @property
    def shape(self) -> SymbolicShape:
        """Sizes as a tuple, None where they are not known; called, the op that gives them as an array."""
        return SymbolicShape(self._sd.variable_method(self, "shape"), self._spec.shape)

    @property
    def size(self) -> Any:
        """Number of elements, where it is known; called, the op that gives it."""
        made, sizes = self._sd.variable_method(self, "size"), self._spec.shape
        return made if sizes is None or -1 in sizes else SymbolicCount(made, math.prod(sizes))

    # Ops as methods and operators

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__") or name == "_sd":
                raise AttributeError(name)
            return self._sd.variable_method(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._sd.variable_methods()})

    def _op(self, namespace: str, method: str, *args: Any) -> SDVariable:
        made: SDVariable = self._sd.call(namespace, method, *args)
        return made

    @staticmethod
    def _ufunc(function: Any, *args: Any) -> SDVariable:
        """A function of NumPy called on variables, which is a node."""
        return function(*args)  # type: ignore[no-any-return]

    def __add__(self, other: Any) -> SDVariable:
        return self._op("math", "add", self, other)

    def __radd__(self, other: Any) -> SDVariable:
        return self._op("math", "add", self, other)

    def __sub__(self, other: Any) -> SDVariable:
        return self._op("math", "sub", self, other)

    def __rsub__(self, other: Any) -> SDVariable:
        return self._op("math", "rsub", self, other)

    def __mul__(self, other: Any) -> SDVariable:
        return self._op("math", "mul", self, other)

    def __rmul__(self, other: Any) -> SDVariable:
        return self._op("math", "mul", self, other)

    def __truediv__(self, other: Any) -> SDVariable:
        return self._op("math", "div", self, other)

    def __rtruediv__(self, other: Any) -> SDVariable:
        return self._op("math", "rdiv", self, other)

    def _operand(self, other: Any) -> SDVariable:
        """Variables as they are, arrays as constants; so are numbers, of this one's type."""
        if isinstance(other, SDVariable):
            return other
        number = isinstance(other, (bool, int, float))
        if number:
            require_held(other, self.dtype.numpy)
        return self._sd.constant(as_array(other, self.dtype.numpy if number else None))  # type: ignore[no-any-return]

    def _floor_quotient(self, other: SDVariable) -> SDVariable:
        if self.dtype.is_floating or other.dtype.is_floating:
            return self._op("math", "floor_div", self, other)
        down = (self % other).neq(self.mod(other))       # the op floor_div truncates integers toward zero
        return self / other - down.cast_to(self.dtype)

    def __floordiv__(self, other: Any) -> SDVariable:
        return self._floor_quotient(self._operand(other))

    def __rfloordiv__(self, other: Any) -> SDVariable:
        return self._operand(other)._floor_quotient(self)

    def __mod__(self, other: Any) -> SDVariable:
        return self._op("math", "floor_mod", self, self._operand(other))

    def __rmod__(self, other: Any) -> SDVariable:
        return self._operand(other) % self

    def __divmod__(self, other: Any) -> tuple[SDVariable, SDVariable]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[SDVariable, SDVariable]:
        return other // self, other % self

    def __pow__(self, other: Any) -> SDVariable:
        return self._op("math", "pow", self, other)

    def __rpow__(self, other: Any) -> SDVariable:
        return self._operand(other) ** self

    def __matmul__(self, other: Any) -> SDVariable:
        return self._op("base", "mmul", self, other)

    def __rmatmul__(self, other: Any) -> SDVariable:
        return self._op("base", "mmul", other, self)

    def __pos__(self) -> SDVariable:
        return self._op("base", "identity", self)

    def __neg__(self) -> SDVariable:
        return self._op("math", "neg", self)

    def __abs__(self) -> SDVariable:
        return self._op("math", "abs", self)

    def __round__(self, digits: int | None = None) -> SDVariable:
        return self._ufunc(np.round, self, digits or 0)

    def __lt__(self, other: Any) -> SDVariable:
        return self._op("base", "lt", self, other)

    def __le__(self, other: Any) -> SDVariable:
        return self._op("base", "lte", self, other)

    def __gt__(self, other: Any) -> SDVariable:
        return self._op("base", "gt", self, other)

    def __ge__(self, other: Any) -> SDVariable:
        return self._op("base", "gte", self, other)

    def __and__(self, other: Any) -> SDVariable:
        return self._ufunc(np.bitwise_and, self, other)

    def __rand__(self, other: Any) -> SDVariable:
        return self._ufunc(np.bitwise_and, other, self)

    def __or__(self, other: Any) -> SDVariable:
        return self._ufunc(np.bitwise_or, self, other)

    def __ror__(self, other: Any) -> SDVariable:
        return self._ufunc(np.bitwise_or, other, self)

    def __xor__(self, other: Any) -> SDVariable:
        return self._ufunc(np.bitwise_xor, self, other)

    def __rxor__(self, other: Any) -> SDVariable:
        return self._ufunc(np.bitwise_xor, other, self)

    def __lshift__(self, other: Any) -> SDVariable:
        return self._ufunc(np.left_shift, self, other)

    def __rlshift__(self, other: Any) -> SDVariable:
        return self._ufunc(np.left_shift, other, self)

    def __rshift__(self, other: Any) -> SDVariable:
        return self._ufunc(np.right_shift, self, other)

    def __rrshift__(self, other: Any) -> SDVariable:
        return self._ufunc(np.right_shift, other, self)

    def __invert__(self) -> SDVariable:
        return self._ufunc(np.invert, self)

    def __eq__(self, other: object) -> Any:
        return self._op("base", "eq", self, other) if _is_operand(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return self._op("base", "neq", self, other) if _is_operand(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((id(self._sd), self._name))

    def __bool__(self) -> bool:
        raise GraphError(f"the value of {self!r} is not known while the graph is built: use sd.where, sd.if_cond or eval(); whether "
                         "two names stand for one variable, `is` says")

    def __iter__(self) -> Any:
        raise GraphError(f"{self!r} cannot be iterated; use sd.unstack")

    def __float__(self) -> float:
        raise GraphError(f"float() needs the value of {self!r}, which is not known while the graph is built: eval() computes it")

    def __int__(self) -> int:
        raise GraphError(f"int() needs the value of {self!r}, which is not known while the graph is built: eval() computes it")

    __index__ = __int__

    def __setitem__(self, index: Any, value: Any) -> None:
        raise GraphError(f"{self!r} cannot be changed in place: sd.where, sd.scatter_update and np.concatenate make new variables")

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise GraphError(f"an array of NumPy has values, and {self!r} stands for what the graph computes: {self._name}.eval() gives its "
                         f"value, {self._name}.get_arr() what is stored; functions called as np.function({self._name}) become nodes")

    __dlpack__ = __dlpack_device__ = __array__


def _is_operand(value: Any) -> bool:
    """Whether ``==`` compares elements with it, as it holds numbers; a variable is never equal to names, None and the like."""
    if hasattr(type(value), "__array__") or hasattr(type(value), "__dlpack__"):
        return True
    return isinstance(value, (numbers.Number, decimal.Decimal, Sequence)) and not isinstance(value, (str, bytes, bytearray))


def redeclare(variable: SDVariable, name: str | None = None, kind: VariableType | None = None, spec: TensorSpec | None = None,
              scheme: Any = None) -> None:
    """Give a variable another name, kind, spec or scheme; the graph then says so everywhere else."""
    variable._name = variable._name if name is None else name
    variable._type = variable._type if kind is None else kind
    variable._spec = variable._spec if spec is None else spec
    variable._scheme = variable._scheme if scheme is None else scheme
