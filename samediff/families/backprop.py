"""``<op>_bp``: the gradient of every differentiable op as an op of its own, found by name."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar

from ..base.spec import TensorSpec, may_equal
from ..codecs.file_args import FileArgs
from ..codecs.file_forms import as_custom
from ..errors import DL4PyError, GraphError, ShapeError
from ..ir.op import OPS, Op, Specs, as_tuple, declare
from ..ir.signature import attribute_types
from ..ir.variable import SDVariable
from .composite import composite_grad
from .decomposed import Decomposed

#: Kernels of DL4J whose ops have another id here.
KERNELS = {"reduce_norm_max": "reduce_normmax", "reduce_stdev": "std", "reduce_variance": "var", "reduce_dot": "dot", "lrelu": "leakyrelu",
           "hardsigmoid": "hard_sigmoid", "rationaltanh": "rational_tanh", "rectifiedtanh": "rectified_tanh", "tensormmul": "tensordot"}

#: Short names of ops: their gradients have the names of the ops.
SHORT = {"mul": "multiply", "sub": "subtract", "div": "divide", "rsub": "reversesubtract", "rdiv": "reversedivide",
         "sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min", "prod": "reduce_prod"}


class Backprop(Decomposed):
    """Gradients for the inputs of an op, from its inputs and, behind them, the gradients of its outputs; in DL4J's order.

    An input that is no floating array has no gradient; where DL4J has an output for it (segments, partitions) that is zeros.
    The attributes are those of the op.
    """

    gradient_of: ClassVar[type[Op]]
    inputs = "*xs?"

    def forward(self) -> Op:
        """The op whose gradient this is."""
        return self.gradient_of(*self.values())

    #: 0 for losses: their gradients start from ones.
    least_gradients: ClassVar[int] = 1

    def parted(self, values: Sequence[Any], specs: Sequence[TensorSpec | None]) -> tuple[list[Any], list[Any]]:
        """Inputs of the op, and the gradients of its outputs: as many as it has outputs for the inputs before them."""
        problem: DL4PyError | None = None
        for order, splits in self._readings(len(specs)):
            told = [specs[i] for i in order]
            for split in splits:
                try:
                    fits = self._fits(told[:split], told[split:])
                except DL4PyError as error:
                    problem = problem or error
                    continue
                except (TypeError, ValueError, AttributeError, IndexError):      # shape rules raise these for a wrong number of inputs
                    continue
                if fits:
                    given = [values[i] for i in order]
                    return given[:split], given[split:]
        raise problem or GraphError(f"op {self.id!r} takes the inputs of op {self.gradient_of.id!r} ({self.gradient_of.inputs}), then the "
                                    f"gradient of each of its outputs; got {', '.join(map(str, specs))}")

    def _readings(self, count: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """Inputs in the order of the op, and how many of them may be before the gradients."""
        names, order = self.gradient_of.inputs.split(), range(count)
        if names[-1] in ("axes?", "mask?") and count == len(names) + 1:     # DL4J puts these behind the gradient
            yield [*order[:-2], order[-1], order[-2]], (count - 1,)
        yield order, range(count - self.least_gradients, 0, -1)

    def _fits(self, inputs: Sequence[Any], upstream: Sequence[TensorSpec | None]) -> bool:
        """Whether the op has as many outputs for these inputs as there are upstream gradients; ShapeError for gradients of other shapes."""
        made = as_tuple(self.forward().infer(*inputs))
        if len(made) != len(upstream) and self.least_gradients:
            return False
        for output, g in zip(made, upstream):
            if g is None or not g.dtype.is_floating or not may_equal(output.shape, g.shape):
                raise ShapeError(f"op {self.id!r}: the gradient of an output must be floating and of its shape, {output}; got {g}")
        return True

    def infer(self, *specs: TensorSpec) -> Specs:
        """The gradients have shapes and types of the inputs they belong to."""
        inputs, _ = self.parted(specs, specs)
        found = tuple(TensorSpec(s.shape, s.dtype) for s in inputs if self._has_gradient(s))
        return found[0] if len(found) == 1 else found

    def _has_gradient(self, x: Any) -> bool:
        return x is not None and (x.dtype.is_floating or _has_zeros(self.gradient_of.id))

    def expand(self, *values: Any) -> Any:
        """The nodes that compute the gradient."""
        inputs, upstream = self.parted(values, [None if v is None else v.spec for v in values])
        sd = next(v.sd for v in values if v is not None)

        def build(*xs: SDVariable) -> Any:
            return as_tuple(sd.add_op(self.forward(), xs))

        if not upstream:
            upstream = [sd.call("base", "ones_like", v) for v in build(*inputs)]
        found = composite_grad(build, inputs, upstream)
        return tuple(sd.call("base", "zeros_like", x) if g is None else g for x, g in zip(inputs, found) if self._has_gradient(x))

    def __reduce__(self) -> Any:
        return _restored, (self.id, self.values())


def _restored(name: str, values: tuple[Any, ...]) -> Op:
    return OPS[name](*values)


def _has_zeros(op_id: str) -> bool:
    return "segment_" in op_id or op_id == "dynamic_partition"


@cache
def _made(name: str, of: type[Op], least: int) -> type[Op]:
    """The class of the gradient of ``of``."""
    hints, body = attribute_types(of), dict[str, Any]()
    for f in dataclasses.fields(of):  # type: ignore[arg-type]  # every registered op is a dataclass
        if f.default_factory is not dataclasses.MISSING:
            body[f.name] = dataclasses.field(default_factory=f.default_factory)
        elif f.default is not dataclasses.MISSING:
            body[f.name] = f.default
    body["__annotations__"] = {f.name: hints[f.name] for f in dataclasses.fields(of)}  # type: ignore[arg-type]
    cls = type("".join(p.title() for p in name.split("_")), (Backprop,), {
        **body, "__module__": of.__module__, "gradient_of": of, "least_gradients": least,
        "__doc__": f"Gradients for the inputs of {of.id}: its inputs, then the gradient of each output."})
    return declare(cls, name, signatures=_signatures(of), file=_file(of), flops_per_element=of.flops_per_element)


def _signatures(of: type[Op]) -> tuple[str, ...]:
    """Any inputs, then the attributes in the orders that the op knows; or attributes by name."""
    inputs = {t.strip("*?") for t in of.inputs.split()}
    texts = of.signatures or (", ".join(f.name for f in dataclasses.fields(of)),)  # type: ignore[arg-type]
    tails = ([t.strip() for t in text.split(",") if t.strip().strip("*?&") not in inputs] for text in texts)
    found = ["*xs", *(", ".join(["*xs", *(t.lstrip("*") for t in tail)]) for tail in tails if any(tail))]
    return tuple(dict.fromkeys(found))


def _file(of: type[Op]) -> FileArgs | None:
    """The file form of the op's gradient: that of the op, as a custom op; None where it has no plain one."""
    form = of.file
    if type(form) is not FileArgs or any("given_" in slot for slot in form.ints):
        return None
    return as_custom(form, of.attribute_names())


def gradient_op(name: str) -> type[Op] | None:
    """The class of the op ``<op>_bp``, or ``<loss>_grad`` as DL4J calls those of losses; None where there is none of that name."""
    stem, _, kind = name.rpartition("_")
    if kind not in ("bp", "grad") or not stem:
        return None
    if stem in SHORT:
        return OPS.get(f"{SHORT[stem]}_{kind}")
    of = OPS.get(KERNELS.get(stem, stem))
    if of is None or issubclass(of, Backprop) or of.compute is Op.compute or of.gradient == "none" or of.stateful \
            or of.not_differentiable_by:
        return None
    if kind == "grad" and "_loss" not in of.id:
        return None
    return _made(name, of, 0 if kind == "grad" else 1)  # type: ignore[arg-type]  # classes are hashable


OPS.derive = gradient_op
