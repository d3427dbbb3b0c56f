"""The decorator that makes an op of a function or a class."""
from __future__ import annotations

import dataclasses
import functools
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from ...samediff.base.home import scope_of, written_in
from ...samediff.base.user_code.abstract_methods import check_class_methods
from ...samediff.codecs.file_args import FileArgs
from ...samediff.errors import RegistrationError
from ...samediff.ir.namespaces import NAMESPACES
from ...samediff.ir.op import OPS, GradientKind, Op, op
from ..code.failure import noted
from ..code.gpu_text import check_text
from ..code.kernels import check_kernel
from .base import UserOp, guard
from .batching import batching_rule
from .calling import call
from .declaration import (
    TRAINING,
    attributes_of,
    call_note,
    check_gradient_kind,
    check_stateful,
    check_takes,
    class_attributes,
    inputs_of,
    is_array_gradient,
    takes_run,
    told_run,
)

_ID = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_FILE = FileArgs(op_type="UDF", op_num=-1, all_properties=True)

OpClass = TypeVar("OpClass", bound=type[UserOp])


class UserFunction:
    """A function that :func:`user_op` registered: call it on variables or on arrays.

    Parameters
    ----------
    function : callable
        The code.
    op_class : type
        The op that was registered for it.

    Attributes
    ----------
    op_class : type
        The registered op.
    id, version
        Of the op.
    """

    def __init__(self, function: Callable[..., Any], op_class: type[UserOp]) -> None:
        functools.update_wrapper(self, function)
        self.op_class = op_class

    @property
    def id(self) -> str:
        """The registry id."""
        return self.op_class.id

    @property
    def version(self) -> int:
        """The version that files store."""
        return self.op_class.version

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call(self.op_class, args, kwargs)

    def __reduce__(self) -> Any:
        return (_function, (self.id,)) if OPS.get(self.id) is self.op_class else super().__reduce__()

    def __repr__(self) -> str:
        return f"<user op {self.id!r} version {self.version}>"


def _function(op_id: str) -> Any:
    """The function of a registered op; of a class that took its place, the class."""
    cls = OPS[op_id]
    return getattr(cls, "user_function", None) or cls


@dataclasses.dataclass(frozen=True)
class _Decorator:
    """The arguments of :func:`user_op`."""

    op_id: str
    version: int | None
    scope: dict[str, Any]
    grad: Any
    infer: Any
    numba: Any
    cuda: Any
    numba_grad: Any
    cuda_grad: Any
    saved: int
    gradient: GradientKind | None
    stateful: bool
    batching: Any

    @overload
    def __call__(self, target: OpClass) -> OpClass: ...
    @overload
    def __call__(self, target: Callable[..., Any]) -> UserFunction: ...

    def __call__(self, target: Any) -> Any:
        if isinstance(target, type):
            if not issubclass(target, UserOp):
                raise RegistrationError(f"op {self.op_id!r}: class {target.__name__} must derive from UserOp")
            if target.compute is UserOp.compute:
                raise RegistrationError(f"op {self.op_id!r}: class {target.__name__} must define compute(self, xp, *inputs)")
            own = [n for n in ("__init__", "__new__", "__setattr__", "replace") if getattr(target, n) is not getattr(UserOp, n)]
            if own:
                raise RegistrationError(f"op {self.op_id!r}: class {target.__name__} must not define {', '.join(own)}: graphs and files "
                                        "make its objects from the annotated fields alone. Declare what it holds as fields "
                                        "(scale: float = 1.0) and check or complete them in validate(self)")
            code = getattr(target.compute, "__wrapped__", target.compute)
            takes = takes_run(code)
            target.stateful = self.stateful or target.stateful or TRAINING in takes
            check_stateful(code, self.op_id, target.stateful)
            if "compute" in target.__dict__:
                target.compute = told_run(target.compute, takes)  # type: ignore[method-assign]
            target.__annotations__ = class_attributes(target, self.op_id, self.scope)
            return self._register(target, inputs_of(target.compute, self.op_id, skip=2))
        if not callable(target):
            raise RegistrationError(f"op {self.op_id!r}: user_op decorates a function or a class derived from UserOp")
        cls = self._class_of(target)
        made = UserFunction(target, self._register(cls, cls.inputs))
        made.op_class.user_function = made
        return made

    def _class_of(self, function: Callable[..., Any]) -> type[UserOp]:
        takes = takes_run(function)
        stateful = self.stateful or TRAINING in takes
        check_stateful(function, self.op_id, stateful)
        told = told_run(function, takes)
        attributes = attributes_of(function, self.op_id, self.scope)
        names = tuple(attributes)
        for what, given in (("grad", self.grad), ("infer", self.infer)):
            check_takes(given, what, self.op_id, names)

        def compute(self: Any, xp: Any, *inputs: Any, **run: Any) -> Any:
            return told(xp, *inputs, **{n: getattr(self, n) for n in names}, **run)

        compute.user_code = function  # type: ignore[attr-defined]
        body: dict[str, Any] = {"compute": compute, "__annotations__": {n: a.type for n, a in attributes.items()},
                                "__module__": written_in(function), "__qualname__": function.__qualname__,
                                "__doc__": function.__doc__ or f"User op {self.op_id}.", "__wrapped__": staticmethod(function),
                                "inputs": inputs_of(function, self.op_id, skip=1), "stateful": stateful, "call_note": call_note(function)}
        body |= {n: a.class_value for n, a in attributes.items() if a.has_default}
        if self.grad is not None:
            given = self.grad

            body["grad"] = _gradient(given, names)
        if self.infer is not None:
            rule = self.infer

            def infer(self: Any, *specs: Any) -> Any:
                return rule(*specs, **{n: getattr(self, n) for n in names})

            infer.user_code = rule  # type: ignore[attr-defined]
            body["infer"] = infer
        return types.new_class(function.__name__, (UserOp,), {}, lambda scope: scope.update(body))

    def _register(self, cls: Any, inputs: str) -> Any:
        for name, argument, text in (("cuda_kernel", "cuda", self.cuda), ("cuda_gradient", "cuda_grad", self.cuda_grad)):
            if text is not None:
                check_text(self.op_id, argument, text)
                setattr(cls, name, text)
        for name, given in (("numba_kernel", self.numba), ("numba_gradient", self.numba_grad)):
            kernel = check_kernel(self.op_id, given if given is not None else getattr(cls, name))
            if kernel is not None:
                setattr(cls, name, staticmethod(kernel))
        if "inputs" not in cls.__dict__:
            cls.inputs = inputs
        if "signatures" not in cls.__dict__ and "*" in cls.inputs:
            cls.signatures = (", ".join(cls.inputs.split()),)
        cls.version = self._version(cls)
        cls.saved = self.saved or cls.saved
        cls.batching = batching_rule(self.op_id, self.batching, cls.batching)
        if self.gradient is not None or "gradient" in cls.__dict__:
            cls.gradient = check_gradient_kind(self.op_id, self.gradient or cls.gradient)
        check_class_methods(cls, "upgrade")
        _take_array_gradient(cls)
        guard(cls)
        _take_node_gradient(cls)
        op(self.op_id, api=self.op_id if self.op_id.count(".") == 1 else "", file=_FILE)(cls)
        return cls

    def _version(self, cls: Any) -> int:
        """The version given to the decorator or written in the class; a sub-class of an op does not inherit that of its base."""
        written = cls.__dict__.get("version")
        if self.version is not None and written not in (None, self.version):
            raise RegistrationError(f"op {self.op_id!r}: user_op says version {self.version}, the class says {written}; write it once")
        version = self.version if written is None else written
        if version is None:
            return 1
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise RegistrationError(f"op {self.op_id!r}: version must be a positive int, got {version!r}")
        return version


def _gradient(given: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """The method of a class for a function that is given the attributes by name."""
    grad: Any
    if is_array_gradient(given):
        def grad(self: Any, xp: Any, inputs: Any, outputs: Any, output_grads: Any, **run: Any) -> Any:
            return given(xp, inputs, outputs, output_grads, **{n: getattr(self, n) for n in names}, **run)
    else:
        def grad(self: Any, inputs: Any, outputs: Any, output_grads: Any) -> Any:
            return given(inputs, outputs, output_grads, **{n: getattr(self, n) for n in names})
    grad.user_code = given
    return grad  # type: ignore[no-any-return]


def _take_array_gradient(cls: Any) -> None:
    """Array code is kept apart from ``grad``, which builds nodes."""
    written = cls.__dict__.get("grad")
    if written is None:
        return
    cls.array_gradient, cls.node_gradient, cls.gradient_takes_training = None, None, False      # drop what a base class has
    if is_array_gradient(getattr(written, "__wrapped__", written), 1):
        cls.array_gradient, cls.grad = noted(written), UserOp.grad
        cls.gradient_takes_training = TRAINING in takes_run(getattr(written, "user_code", written))


def _take_node_gradient(cls: Any) -> None:
    """Nodes beside kernels are what gradients of the gradient, and checks, use."""
    if "grad" in cls.__dict__ and cls.grad is not UserOp.grad and cls.has_coded_gradient():
        cls.node_gradient, cls.grad = cls.grad, UserOp.grad


def _check_mutates(op_id: str, mutates: Any) -> None:
    """RegistrationError for code that changes its inputs, and why."""
    if mutates:
        names = mutates if isinstance(mutates, str) else ", ".join(map(str, mutates))
        raise RegistrationError(
            f"op {op_id!r}: it says that it changes {names}. Ops of a graph change nothing: an input may be a constant, a parameter or an "
            "array that another node reads later, plans order nodes by what they read, and gradients read inputs after the op. Return the "
            "new value as an output; plans give it the memory of an input that nobody needs any more. What lives from run to run is a "
            "variable of the graph, or a statistic of a layer")


def check_id(op_id: Any) -> None:
    """RegistrationError unless the id is dotted and its first part is free."""
    if not isinstance(op_id, str) or not _ID.fullmatch(op_id):
        raise RegistrationError(f"op id {op_id!r}: expected names joined by dots, the first one your own, such as "
                                f"'acme.{op_id if isinstance(op_id, str) and op_id.isidentifier() else 'swish'}'")
    if op_id.split(".")[0] in (*NAMESPACES, "base", "var"):
        raise RegistrationError(f"op id {op_id!r}: {op_id.split('.')[0]!r} is a namespace of dl4py; put a name of your own first, "
                                f"such as 'acme.{op_id.split('.', 1)[1]}'")


def user_op(op_id: str, version: int | None = None, *, grad: Callable[..., Sequence[Any]] | None = None,
            infer: Callable[..., Any] | None = None, numba: Callable[..., Any] | str | None = None, cuda: str | None = None,
            numba_grad: Callable[..., Any] | str | None = None, cuda_grad: str | None = None, saved: int = 0,
            gradient: GradientKind | None = None, stateful: bool = False, batching: Callable[..., Any] | str | None = None,
            mutates: Sequence[str] = ()) -> _Decorator:
    """Register a function or a sub-class of :class:`UserOp` as an op.

    Of a function ``f(xp, x, y, mask=None, *, beta: float = 1.0)`` the positional parameters after ``xp`` are the inputs
    (default None: optional; ``*xs``: any number), the keyword-only ones the attributes: typed (float, int, bool, str,
    complex, bytes, DataType, an Enum, np.ndarray, tuples, lists and dicts of them, X | None), checked and saved; an op holds lists
    as tuples, and none of its values can be changed. ``xp`` is NumPy (or CuPy) with erf, erfc, gammaln,
    digamma and the like. The function must not change its inputs.

    Elementwise code is differentiable to any order and fused with its neighbours; other array code is differentiable where
    its functions have graph nodes (reductions, products, reshaping, indexing, joining); for the rest write ``grad``.

    Parameters
    ----------
    op_id : str
        Name in the registry and in files, with dots: ``"acme.swish"`` is also ``sd.acme.swish(...)``.
    version : int
        Stored in files; raise it when the meaning of the attributes changes. By default the class attribute ``version``, else 1.
    grad : callable, optional
        ``grad(inputs, outputs, output_grads, **attributes)``: a variable for each input (None: zero), built from nodes.
        ``grad(xp, inputs, outputs, output_grads, **attributes)``: arrays, by array code, which may take the keyword ``training`` too.
    infer : callable, optional
        ``infer(*specs, **attributes)``: TensorSpec of the output, or a tuple of them.
    numba : callable or str, optional
        Kernel ``f(*inputs, *outputs, *attributes)`` that fills the outputs, as a function or source text; compiled by Numba
        on first use.
    cuda : str, optional
        CUDA C source of a kernel for GPUs: its first ``extern "C" __global__ void f(inputs..., outputs..., attributes..., long long n)``
        gets pointers to contiguous arrays, attributes as ``double``, ``long long`` or ``bool``, and the number of elements of the
        first output, for each of which there is a thread. ``T0``, ``T1`` … are the element types of inputs and outputs, ``T`` is T0.
        Elementwise code needs none: it is fused with its neighbours on GPUs as on the CPU.
    numba_grad, cuda_grad : optional
        Kernels of the gradient: they get inputs, outputs, gradients of the outputs, then one array to fill for each floating input,
        then the attributes; ``cuda_grad`` has a thread for each element of the first of these.
    saved : int
        So many outputs, the last ones, are kept for the gradient alone: ``outputs`` of gradients has them, callers do not see them.
    gradient : str, optional
        ``"surrogate"``: ``grad`` is on purpose not the derivative (a straight-through estimator), and checks do not compare it with
        differences. ``"zero"``: constant piece by piece. ``"none"``: asking for a gradient is an error.
    stateful : bool
        The code draws random numbers: ``f(xp, x, *, context)`` is given the run
        (:class:`~dl4py.samediff.ir.run_context.RunContext`), draws from ``context.random()`` and reads ``context.training``.
        Runs never share its results; a kernel gets ``context.words()`` before its inputs. Code that differs in training and draws
        nothing takes the keyword ``training`` and need not say this.
    batching : str or callable, optional
        How :func:`vectorized` calls the op: ``"leading"`` where all inputs and results may have one more axis in front, ``"none"`` where it
        refuses, or ``batching(mapped, *inputs, **attributes)``, which returns the results for all elements, along axis 0 of the results and
        of those inputs for which ``mapped`` holds True. By default elementwise code takes all at once, other code one after the other.
    mutates : sequence of str
        Must be empty: ops do not change their inputs.

    Raises
    ------
    RegistrationError
        The id is taken (names both owners) or not dotted, or the declaration cannot be understood.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import SameDiff
    >>> from dl4py.udf import user_op
    >>> @user_op("docs.swish", version=1)
    ... def swish(xp, x, *, beta: float = 1.0):
    ...     return x * (1 + xp.tanh(0.5 * beta * x)) / 2
    >>> swish(np.zeros(2, np.float32))
    array([0., 0.], dtype=float32)
    >>> sd = SameDiff.create()
    >>> x = sd.var("x", np.ones(2))
    >>> y = sd.docs.swish("y", x, beta=2.0)
    >>> y
    SDVariable('y', ARRAY, DOUBLE, (2,))
    """
    check_id(op_id)
    if version is not None and (not isinstance(version, int) or isinstance(version, bool) or version < 1):
        raise RegistrationError(f"op {op_id!r}: version must be a positive int, got {version!r}")
    if not isinstance(saved, int) or isinstance(saved, bool) or saved < 0:
        raise RegistrationError(f"op {op_id!r}: saved is the number of outputs that are kept for the gradient alone, got {saved!r}")
    _check_mutates(op_id, mutates)
    return _Decorator(op_id, version, scope_of(sys._getframe(1)), grad, infer, numba, cuda, numba_grad, cuda_grad, saved,
                      gradient, stateful, batching)


def owner_class(thing: UserFunction | UserOp | type[Op]) -> type[Op]:
    """The op class of a decorated function, an op or a class."""
    if isinstance(thing, UserFunction):
        return thing.op_class
    return thing if isinstance(thing, type) else type(thing)
