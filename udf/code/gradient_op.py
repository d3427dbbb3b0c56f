"""Gradients of user ops that are array code or kernels: one op in a graph, beside the nodes of other gradients."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.spec import TensorSpec, spec_of
from ...samediff.errors import DL4PyError, GradientError
from ...samediff.expressions.expression import TraceError
from ...samediff.families.array_code.symbolic_size import NotInGraphError
from ...samediff.families.broadcasting import sum_to
from ...samediff.ir.op import Kernel, op
from ...samediff.ir.run_context import RunContext
from ...samediff.numpy_functions.array_code import code_on_graph
from .code_op import CodeOp
from .derived import NotFollowedError, derived_grad
from .failure import collected_gradients
from .gpu_text import cuda_kernel
from .kernels import compiled
from .later_gradient import CodeGradient, later

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable
    from ...samediff.plans.actions import CudaKernel

class NoSecondGradientError(GradientError):
    """The gradient of an op is known, that of its gradient is not."""


_SIXTEEN_BITS = (DataType.HALF, DataType.BFLOAT16)


@op("user_gradient", inputs="*xs")
class UserGradient(CodeGradient):
    """Gradients for the inputs at ``places``, from inputs, outputs and output gradients of an op of a user (made by gradients).

    Its meaning is the array code of the gradient, else the nodes of the op's own code, else the Numba kernel.
    """

    code: Any
    count: int
    places: tuple[int, ...]
    training: bool = True

    def plan_rewrite(self, name: str) -> UserGradient | None:
        """Itself as nodes, where nobody wrote a kernel."""
        return self if self.code.numba_gradient is None and self.code.cuda_gradient is None else None

    def at_inference(self) -> UserGradient:
        return self.replace(training=False) if self.code.gradient_takes_training else self  # type: ignore[return-value]

    def compute(self, xp: Any, *xs: Any) -> Any:
        """The gradient by array code, by nodes in a separate graph, or by the kernel."""
        inputs, outputs, grads = self._parts(xs)
        if self.code.array_gradient is not None:
            found = self._coded(xp, inputs, outputs, grads)
            return tuple(_fitted(xp, found[i], inputs[i]) for i in self.places)
        try:
            return self.by_nodes(xs, RunContext(training=True, seed=0, iteration=0))
        except (TraceError, GradientError):
            if self.code.numba_gradient is None:
                raise
            return self._by_kernel(xs)

    def expand(self, *xs: Any) -> tuple[SDVariable, ...]:
        """The gradient as graph nodes, to be differentiated again."""
        inputs, outputs, grads = self._parts(xs)
        sd = grads[0].sd
        found = nodes_of_gradient(self.code, sd, inputs, outputs, grads, self.training)
        return tuple(sd.call("base", "zeros_like", inputs[i]) if found[i] is None else sum_to(found[i], inputs[i]) for i in self.places)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of the nodes."""
        try:
            return super().grad(inputs, outputs, output_grads)
        except (TraceError, NotFollowedError) as error:
            if not all(v is None or v.spec.is_static for v in inputs):
                return later(self, inputs, output_grads)
            raise NoSecondGradientError(f"op {self.code.id!r} has no second gradient: its gradient has none ({error})") from error

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """The Numba kernel, when there is one; Numba knows no floats of 16 bits."""
        if self.code.numba_gradient is None or not _takes(specs):
            return None
        function, attributes = compiled(self.code.numba_gradient), self.code.values()
        return Kernel(lambda *arrays: function(*arrays, *attributes))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """The launch of the CUDA text, when there is one."""
        if self.code.cuda_gradient is None:
            return None
        return cuda_kernel(self.code, self.code.cuda_gradient, specs, self.infer(*specs))  # type: ignore[arg-type]  # always a tuple

    def _parts(self, xs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Inputs, outputs, and the gradients of those outputs that others see."""
        seen = (len(xs) - self.count - self.code.saved) // 2
        return xs[:self.count], xs[self.count:len(xs) - seen], xs[len(xs) - seen:]

    def _coded(self, xp: Any, inputs: Sequence[Any], outputs: Sequence[Any], grads: Sequence[Any]) -> Sequence[Any]:
        return _run_gradient(self.code, xp, inputs, outputs, grads, self.training)

    def _by_kernel(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        specs = [None if a is None else spec_of(a) for a in xs]
        if not _takes(specs):
            raise GradientError(f"op {self.code.id!r} has no gradient for these types: its kernel does not take "
                                f"{', '.join('-' if s is None else s.dtype.name for s in specs)}. Write grad(xp, inputs, outputs, "
                                "output_grads) besides")
        made = tuple(np.zeros(xs[i].shape, xs[i].dtype) for i in self.places)
        compiled(self.code.numba_gradient)(*(None if a is None else np.ascontiguousarray(a).reshape(a.shape) for a in xs), *made,
                                           *self.code.values())
        return made


def _run_gradient(code: CodeOp, xp: Any, inputs: Sequence[Any], outputs: Sequence[Any], grads: Sequence[Any],
                  training: bool) -> Sequence[Any]:
    """What the array code gives, None where a gradient is zero; it is told of the run where it asks."""
    run = {"training": training} if code.gradient_takes_training else {}
    return collected_gradients(f"grad of op {code.id!r}", code.array_gradient(xp, inputs, outputs, grads, **run), len(inputs))


def nodes_of_gradient(code: CodeOp, sd: Any, inputs: Sequence[Any], outputs: Sequence[Any], grads: Sequence[Any],
                      training: bool = True) -> Sequence[Any]:
    """The gradients as nodes, by the array code that was written, nodes that were, or the code of the op.

    Raises
    ------
    TraceError, GradientError
        There are none.
    """
    written = code.array_gradient
    if written is not None:
        return _array_nodes(code, sd, inputs, outputs, grads, training)
    if code.node_gradient is not None:
        return code.node_gradient(inputs, outputs, grads)  # type: ignore[no-any-return]
    if code.stateful:
        raise NotInGraphError(f"op {code.id!r} draws random numbers")
    return derived_grad(code, inputs, grads)


def _array_nodes(code: CodeOp, sd: Any, inputs: Sequence[Any], outputs: Sequence[Any], grads: Sequence[Any],
                 training: bool = True) -> list[Any]:
    """Array code on variables; None where a gradient is zero."""
    flat, zero = [*inputs, *outputs, *grads], list[bool]()

    def run(xp: Any, *xs: Any) -> Any:
        parts = xs[:len(inputs)], xs[len(inputs):len(flat) - len(grads)], xs[len(flat) - len(grads):]
        found = _run_gradient(code, xp, *parts, training)  # type: ignore[arg-type, misc]
        zero[:] = [g is None for g in found]
        return tuple(g for g in found if g is not None)
    try:
        made = iter(code_on_graph(sd, run, flat))
    except (TraceError, DL4PyError):
        raise
    except Exception as error:          # errors of array code on graph arrays
        raise NotInGraphError(f"its gradient cannot be followed: {error}") from error
    return [None if z else next(made) for z in zero]


def coded_grad(code: CodeOp, inputs: Sequence[SDVariable | None], outputs: Sequence[SDVariable],
               output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
    """Gradients of a node: nodes where array code can be followed and no kernel was written, else one op."""
    sd, grads = output_grads[0].sd, output_grads[:len(outputs) - code.saved]
    if code.numba_gradient is None and code.cuda_gradient is None and not code.gradient_takes_training:
        try:
            return _array_nodes(code, sd, inputs, outputs, grads)
        except TraceError:
            pass
    places = tuple(i for i, v in enumerate(inputs) if v is not None and v.dtype.is_floating)
    found = sd.add_op(UserGradient(code, len(inputs), places), [*inputs, *outputs, *grads])
    by_place = dict(zip(places, found))
    return [by_place.get(i) for i in range(len(inputs))]


def gradient_example(code: CodeOp, inputs: Sequence[Any], outputs: Sequence[Any], seed: int = 0) -> tuple[UserGradient, list[Any]]:
    """The op of a gradient, and arrays for it: gradients of the outputs are drawn."""
    rng = np.random.default_rng(seed)
    places = tuple(i for i, a in enumerate(inputs) if a is not None and DataType.of(a).is_floating)
    grads = [rng.normal(size=np.shape(o)).astype(o.dtype) for o in outputs[:len(outputs) - code.saved]]
    return UserGradient(code, len(inputs), places), [*inputs, *outputs, *grads]


def _takes(specs: Sequence[TensorSpec | None]) -> bool:
    return all(s is None or (s.is_static and s.dtype.is_numeric and s.dtype not in _SIXTEEN_BITS) for s in specs)


def _fitted(xp: Any, found: Any, x: Any) -> Any:
    """A gradient in shape and type of its input: zeros for None, sums over the axes along which the input was stretched."""
    if found is None:
        return xp.zeros(x.shape, x.dtype)
    found = xp.asarray(found)
    extra = found.ndim - x.ndim
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(x.shape) if extra >= 0 and n == 1 and found.shape[i + extra] != 1)
    summed = found.sum(axis=axes, keepdims=True) if axes else found
    summed = summed.reshape(summed.shape[max(extra, 0):])
    if summed.shape != x.shape:
        raise GradientError(f"the gradient has shape {found.shape}; expected {x.shape}, the shape of the input")
    return summed.astype(x.dtype, copy=False)

