"""The base class of user-defined ops."""
from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..samediff.base.datatype import DataType
from ..samediff.base.spec import TensorSpec, spec_of
from ..samediff.errors import DL4PyError, GradientError, GraphError, ShapeError
from ..samediff.expressions import expression as ex
from ..samediff.expressions.arrays import ArrayNamespace
from ..samediff.ir.op import Kernel, Specs, as_tuple
from ..samediff.ir.signature import Mismatch, coerce
from .calling import apply
from .code_op import CodeOp
from .cuda import cuda_kernel
from .derived import derived_grad, derived_infer, elementwise, expanded
from .failure import building, collected_gradients, note_failure, user_code
from .kernels import compiled

if TYPE_CHECKING:
    from ..samediff.cuda.actions import CudaKernel
    from ..samediff.ir.variable import SDVariable


class UserOp(CodeOp):
    """Base class of user-defined ops; only ``compute`` must be written.

    Annotated fields are the attributes: typed, checked, saved with the graph, part of ``==`` and ``repr``. What is not
    written follows from ``compute``: shape rule, gradient to any order and fused kernels for array code, the shape rule
    alone for code that can only run on arrays.

    Methods that a sub-class may write
    ----------------------------------
    compute(self, xp, x, y, mask=None) or compute(self, xp, *xs)
        The meaning. Positional parameters are the inputs (default None: optional); returns an array or a tuple.
    infer(self, *specs)
        TensorSpec of the output, or a tuple of them.
    grad(self, inputs, outputs, output_grads)
        A variable for each input (None: zero), built from graph nodes.
    cpu(self, *specs), cuda(self, *specs)
        A :class:`~dl4py.samediff.ir.op.Kernel`, a :class:`~dl4py.samediff.cuda.actions.CudaKernel` for these static specs, or None.
    validate(self)
        Raises ValueError when the attributes do not fit each other.
    upgrade(cls, attributes, version)
        Class method: attributes saved by an older version, as today's.

    Class attributes
    ----------------
    version : int
        Of the op; stored in files. A file of a newer version is refused.
    stateful : bool
        True for ops with random numbers: ``compute(self, xp, x, *, context)`` draws from ``context.random()``.
    numba_kernel, cuda_kernel
        Kernels, see :func:`user_op`.

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

    def validate(self) -> None:
        """Raise ValueError when the attributes do not fit each other."""

    def __post_init__(self) -> None:
        hints = _hints(type(self))  # type: ignore[arg-type]  # classes are hashable
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

    def infer(self, *specs: TensorSpec) -> Specs:
        """Derived from ``compute``."""
        return derived_infer(self, specs)

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """The trace of elementwise code, NotElementwiseError for other code."""
        found = elementwise(self, tuple(dtypes))
        if isinstance(found, ex.TraceError):
            raise ex.NotElementwiseError(str(found)) from None
        return (found,)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Derived from ``compute``."""
        if all(v is not None for v in inputs) and not isinstance(elementwise(self, tuple(v.dtype.numpy for v in inputs)), ex.TraceError):
            return super().grad(inputs, outputs, output_grads)
        return derived_grad(self, inputs, output_grads)

    def expand(self, *inputs: Any) -> tuple[SDVariable, ...]:
        """The code as graph nodes; a TraceError where it has none, or not the same in every call."""
        return expanded(self, inputs)

    def in_plan(self, name: str) -> Any:
        """The nodes of the code, which have kernels; an op with a kernel of its own runs that."""
        return None if self.stateful or self.has_cpu() or self.has_cuda() else self

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

    def __call__(self, *args: Any, name: str | Sequence[str] | None = None) -> Any:
        """On variables: add a node, with an optional name first. On arrays: compute at once."""
        return apply(self, args, name)


@functools.cache
def _hints(cls: type[UserOp]) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def guard(cls: type[UserOp]) -> None:
    """Wrap what a class wrote of ``compute``, ``grad`` and ``infer``: failures name the op and its line, results are checked."""
    for name, wrap in (("compute", _computing), ("grad", _differentiating), ("infer", _inferring)):
        raw = getattr(cls, name)
        if raw is getattr(UserOp, name) or getattr(raw, "guarded", False):
            continue
        wrapped = functools.wraps(raw)(wrap(raw))
        wrapped.guarded = True  # type: ignore[attr-defined]
        setattr(cls, name, wrapped)
        if name == "compute":
            cls.raw_compute = raw
    cls.gradient_is_checked = cls.grad is not UserOp.grad


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
            found = raw(self, inputs, outputs, output_grads)
        return collected_gradients(what, found, len(inputs))
    return grad


def _inferring(raw: Callable[..., Any]) -> Callable[..., Any]:
    def infer(self: UserOp, *specs: Any) -> Any:
        what = f"infer of op {self.id!r}"
        with building(what, user_code(raw), ShapeError):
            found = raw(self, *specs)
        if not as_tuple(found) or not all(isinstance(s, TensorSpec) for s in as_tuple(found)):
            raise ShapeError(f"{what} returned {found!r:.80}; it must return a TensorSpec or a tuple of them")
        return tuple(found) if isinstance(found, list) else found
    return infer


def _checked(op: UserOp, inputs: Sequence[Any], result: Any) -> Any:
    """ShapeError when the result is not what the shape rule promised."""
    results = as_tuple(result)
    if result is None or any(r is None for r in results):
        raise GraphError(f"the code of op {op.id!r} returned None; it must return an array or a tuple of arrays")
    specs = [None if a is None else spec_of(a) for a in inputs]
    if all(s is not None for s in specs) and not op.has_infer():
        expression = elementwise(op, tuple(s.dtype.numpy for s in specs if s is not None))
        if not isinstance(expression, ex.TraceError):
            return result
    specs = [None if s is None else TensorSpec(s.shape, s.dtype) for s in specs]
    promised = as_tuple(op.infer(*specs))  # type: ignore[arg-type]
    if len(promised) != len(results):
        raise ShapeError(f"the code of op {op.id!r} returned {len(results)} outputs, its shape rule says {len(promised)}")
    for i, (r, s) in enumerate(zip(results, promised)):
        if not s.accepts(np.shape(r)):
            raise ShapeError(f"the code of op {op.id!r} returned shape {np.shape(r)} as output {i}, its shape rule (infer) says {s.shape}")
    return result
