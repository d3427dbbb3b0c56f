"""The base class of user-defined ops."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.home import settle
from ...samediff.base.spec import TensorSpec, spec_of
from ...samediff.errors import DL4PyError, GradientError, GraphError, ShapeError
from ...samediff.expressions import expression as ex
from ...samediff.expressions.arrays import ArrayNamespace
from ...samediff.ir.held_values import hashable
from ...samediff.ir.op import OPS, Kernel, Op, Specs, as_tuple
from ...samediff.ir.signature import Mismatch, attribute_types, coerce
from ...samediff.ir.variable import SDVariable
from ..code.code_op import CodeOp
from ..code.derived import derived_grad, derived_infer, elementwise, expanded
from ..code.failure import building, checked_results, checked_specs, collected_gradients, expected, note_failure, user_code
from ..code.gpu_text import cuda_kernel
from ..code.gradient_op import coded_grad
from ..code.kernels import compiled
from ..code.run_code import StatefulCode, stateful_grad
from ..code.saved_outputs import with_saved
from .calling import apply

if TYPE_CHECKING:
    from ...samediff.plans.actions import CudaKernel

_OR_NONE = ", or None where there is none for these inputs"


class UserOp(CodeOp):
    """Base class of user-defined ops; only ``compute`` must be written.

    Annotated fields are the attributes: typed, checked, saved with the graph, part of ``==`` and ``repr``. What is not
    written follows from ``compute``: shape rule, gradient to any order and fused kernels for array code, the shape rule
    alone for code that can only run on arrays.

    Parameters
    ----------
    *args, **kwargs
        Values of the annotated fields, in their order or by name.

    Methods that a sub-class may write
    ----------------------------------
    compute(self, xp, x, y, mask=None) or compute(self, xp, *xs)
        The meaning. Positional parameters are the inputs (default None: optional); returns an array or a tuple.
    infer(self, *specs)
        TensorSpec of the output, or a tuple of them.
    grad(self, inputs, outputs, output_grads)
        A variable for each input (None: zero), built from graph nodes; as ``grad(self, xp, inputs, outputs, output_grads)`` array code.
    cpu(self, *specs), cuda(self, *specs)
        A :class:`~dl4py.samediff.ir.op.Kernel`, a :class:`~dl4py.samediff.plans.actions.CudaKernel` for these static specs, or None.
    validate(self)
        Raises ValueError when the attributes do not fit each other.
    upgrade(cls, attributes, version)
        Class method: attributes saved by an older version, as today's.

    Class attributes
    ----------------
    version : int
        Of the op; stored in files. A file of a newer version is refused.
    stateful : bool
        True for ops with random numbers: ``compute(self, xp, x, *, context)`` draws from ``context.random()``. Code that takes the
        keyword ``training`` is told whether the run trains.
    gradient : str
        "full", or "surrogate" where ``grad`` is on purpose not the derivative, "zero", "none".
    saved : int
        So many outputs, the last ones, are kept for the gradient alone.
    numba_kernel, cuda_kernel, numba_gradient, cuda_gradient
        Kernels, see :func:`user_op`.
    batching : str or method
        What :func:`vectorized` does with it: "leading", "none", or ``batching(self, mapped, *inputs)``, see :func:`user_op`.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.udf import UserOp, user_op
    >>> @user_op("docs.soft_clip")
    ... class SoftClip(UserOp):
    ...     limit: float = 1.0
    ...     def compute(self, xp, x):
    ...         return self.limit * xp.tanh(x / self.limit)
    ...     def validate(self):
    ...         if self.limit <= 0:
    ...             raise ValueError("limit must be positive")
    >>> SoftClip(limit=2.0)(np.zeros(2, np.float32))
    array([0., 0.], dtype=float32)
    """

    version: ClassVar[int] = 1
    numba_kernel: ClassVar[Any] = None
    cuda_kernel: ClassVar[str | None] = None
    batching: ClassVar[Any] = None
    user_function: ClassVar[Any] = None         # that was decorated, where no class was

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        settle(cls)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and hashable(self.values()) == hashable(other.values())  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), hashable(self.values())))

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return (_made, (self.id, self.values())) if OPS.get(self.id) is type(self) else super().__reduce_ex__(protocol)

    def validate(self) -> None:
        """Raise ValueError when the attributes do not fit each other."""

    def __post_init__(self) -> None:
        hints = attribute_types(type(self))
        for name in self.attribute_names():
            try:
                object.__setattr__(self, name, coerce(hints[name], getattr(self, name), name))
            except Mismatch as error:
                raise GraphError(f"op {self.id!r}: {error}") from None
        try:
            self.validate()
        except DL4PyError:
            raise
        except ValueError as error:
            raise GraphError(f"op {self.id!r}: {error}") from error
        except Exception as error:
            raise GraphError(f"validate of op {self.id!r} raised {type(error).__name__}: {error}") from error

    def infer(self, *specs: TensorSpec) -> Specs:
        return derived_infer(self, specs)

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """The trace of elementwise code, NotElementwiseError for other code."""
        found = elementwise(self, tuple(dtypes))
        if isinstance(found, ex.TraceError):
            raise ex.NotElementwiseError(str(found)) from None
        return (found,)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        if self.has_coded_gradient():
            return with_saved(self, inputs, outputs, output_grads, coded_grad(self, inputs, outputs, output_grads))
        output_grads = output_grads[:len(output_grads) - self.saved]
        if all(v is not None for v in inputs) and not isinstance(elementwise(self, tuple(v.dtype.numpy for v in inputs)), ex.TraceError):
            return super().grad(inputs, outputs, output_grads)
        return stateful_grad(self, inputs, outputs, output_grads) if self.stateful else derived_grad(self, inputs, output_grads)

    def expand(self, *inputs: Any) -> tuple[SDVariable, ...]:
        """The code as graph nodes; a TraceError where it has none, or not the same in every call."""
        return expanded(self, inputs)

    def nodes_of(self, inputs: Sequence[Any], training: bool, node: str) -> tuple[SDVariable, ...]:
        """The nodes of stateful code, for a run in training or not."""
        return expanded(self, inputs, training, node)

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """Add the op to a graph; outputs that are kept for the gradient are not among the results."""
        if self.saved and names is not None and len(names) > 1:
            names = [*names, *(f"{names[0]}:{len(names) + i}" for i in range(self.saved))]
        made = super().place(sd, inputs, names)
        return self.seen(made) if self.saved else made

    def plan_rewrite(self, name: str) -> Any:
        """The nodes of the code, which have kernels; an op with a kernel of its own runs that."""
        if self.has_cpu() or self.has_cuda():
            return None
        return StatefulCode(self, name, True) if self.stateful else self

    def at_inference(self) -> Any:
        """Itself; stateful code is told that nothing is trained, so that its nodes are those of inference."""
        return StatefulCode(self) if self.stateful and not (self.has_cpu() or self.has_cuda()) else self

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """The Numba kernel, when there is one; Numba knows no floats of 16 bits, for which ``compute`` runs."""
        if self.numba_kernel is None or not all(s is None or (s.is_static and s.dtype.is_numeric) for s in specs):
            return None
        if any(s is not None and s.dtype in (DataType.HALF, DataType.BFLOAT16) for s in (*specs, *as_tuple(self.infer(*specs)))):
            return None
        function = compiled(type(self).numba_kernel)
        attributes = tuple(getattr(self, n) for n in self.attribute_names())
        return Kernel(lambda *arrays: function(*arrays, *attributes))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """The launch of the CUDA text, when there is one."""
        if self.cuda_kernel is None:
            return None
        return cuda_kernel(self, self.cuda_kernel, specs, as_tuple(self.infer(*specs)))

    @classmethod
    def has_cuda(cls) -> bool:
        """True when a text or launch was written for it."""
        return cls.cuda_kernel is not None or cls.cuda is not UserOp.cuda

    @classmethod
    def has_cpu(cls) -> bool:
        """True when a kernel was written for it."""
        return cls.numba_kernel is not None or cls.cpu is not UserOp.cpu

    @classmethod
    def has_infer(cls) -> bool:
        """True when a shape rule was written for it."""
        return cls.infer is not UserOp.infer

    def __call__(self, *args: Any, name: str | Sequence[str] | None = None, **run: Any) -> Any:
        """On variables: add a node, with an optional name first. On arrays: compute at once.

        Stateful code on arrays takes ``training`` or a whole ``context``.
        """
        if run and not (self.stateful and run.keys() <= {"training", "context"}):
            raise GraphError(f"op {self.id!r} has its attributes already; it is called with inputs, and not with {', '.join(run)}")
        return apply(self, args, name, run)


def _made(op_id: str, values: Sequence[Any]) -> Op:
    """A registered op with these values: what pickle keeps, as the class of a decorated function is in no module."""
    return OPS[op_id](*values)


def guard(cls: type[UserOp]) -> None:
    """Wrap what a class wrote of its methods: failures name the op and its line, results are checked."""
    wraps: dict[str, Callable[..., Any]] = {name: functools.partial(_building, name, *rule) for name, rule in _RULES.items()}
    for name, wrap in {"compute": _computing, "grad": _differentiating, **wraps}.items():
        method, of_base = getattr(cls, name), getattr(UserOp, name)
        raw = getattr(method, "__func__", method)           # the function of a class method
        if raw is getattr(of_base, "__func__", of_base) or getattr(raw, "guarded", False):
            continue
        wrapped = functools.wraps(raw)(wrap(raw))
        wrapped.guarded = True  # type: ignore[attr-defined]
        setattr(cls, name, wrapped if raw is method else classmethod(wrapped))
        if name == "compute":
            cls.raw_compute = raw
    cls.gradient_is_checked = cls.grad is not UserOp.grad or cls.has_coded_gradient()


def _computing(raw: Callable[..., Any]) -> Callable[..., Any]:
    def compute(self: UserOp, xp: Any, *inputs: Any, **context: Any) -> Any:
        if not isinstance(xp, ArrayNamespace):
            return raw(self, xp, *inputs, **context)
        try:
            result = raw(self, xp, *inputs, **context)
        except Exception as error:
            note_failure(error, self.id, user_code(raw))
            raise
        return _checked(self, inputs, result)
    return compute


def _differentiating(raw: Callable[..., Any]) -> Callable[..., Any]:
    def grad(self: UserOp, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        what = f"grad of op {self.id!r}"
        with building(what, user_code(raw), GradientError):
            found = raw(self, inputs, outputs, output_grads[:len(output_grads) - self.saved])
        return with_saved(self, inputs, outputs, output_grads, collected_gradients(what, found, len(inputs)))
    return grad


def _building(name: str, kind: type[DL4PyError], check: Callable[[str, Any, tuple[Any, ...]], Any],
              raw: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: UserOp | type[UserOp], *given: Any) -> Any:
        what = f"{name} of op {self.id!r}"
        with building(what, user_code(raw), kind):
            found = raw(self, *given)
        return check(what, found, given)
    return method


def _are(kind: type, found: Any) -> bool:
    return all(isinstance(v, kind) for v in as_tuple(found))


#: Checks of the methods besides ``compute``: the error for exceptions, and the checks of result and arguments.
_RULES: dict[str, tuple[type[DL4PyError], Callable[[str, Any, tuple[Any, ...]], Any]]] = {
    "infer": (ShapeError, lambda what, found, given: checked_specs(what, found)),
    **{name: (GraphError, expected(test, text)) for name, test, text in (
        ("cpu", lambda found, given: found is None or callable(getattr(found, "call", None)), f"a Kernel{_OR_NONE}"),
        ("cuda", lambda found, given: found is None or callable(getattr(found, "actions", None)), f"a CudaKernel{_OR_NONE}"),
        ("flops", lambda found, given: found is None or (isinstance(found, int) and found >= 0), "a number, or None"),
        ("same_as", lambda found, given: found is None or (type(found) is int and 0 <= found < len(given)), "an input's place, or None"),
        ("at_inference", lambda found, given: isinstance(found, Op), "an op"),
        ("plan_rewrite", lambda found, given: found is None or callable(getattr(found, "expand", None)), "an op with expand, or None"),
        ("expand", lambda found, given: bool(as_tuple(found)) and _are(SDVariable, found), "a variable, or a tuple of them"),
        ("expressions", lambda found, given: isinstance(found, tuple) and _are(ex.Expr, found), "a tuple of expressions"),
        *((n, lambda found, given: isinstance(found, bool), "True or False") for n in ("has_cpu", "has_cuda", "has_infer")))},
}


def _checked(op: UserOp, inputs: Sequence[Any], result: Any) -> Any:
    """ShapeError when the result is not what the shape rule promised."""
    results = as_tuple(result)
    if not results or any(r is None for r in results):
        what = "None" if results else "no result"
        raise GraphError(f"the code of op {op.id!r} returned {what}; it must return an array or a tuple of arrays")
    specs = [None if a is None else spec_of(a) for a in inputs]
    if all(s is not None for s in specs) and not op.has_infer():
        expression = elementwise(op, tuple(s.dtype.numpy for s in specs if s is not None))
        if not isinstance(expression, ex.TraceError):
            return result
    specs = [None if s is None else TensorSpec(s.shape, s.dtype) for s in specs]
    checked_results(f"the code of op {op.id!r}", results, as_tuple(op.infer(*specs)))  # type: ignore[arg-type]
    return result
