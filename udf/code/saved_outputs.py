"""Second derivatives through outputs that are kept for the gradient: the gradient reads them, so they depend on the inputs too."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...samediff.expressions.expression import TraceError
from .code_op import CodeOp
from .derived import NotFollowedError, derived_grad
from .gradient_op import NoSecondGradientError

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable

Gradients = Sequence["SDVariable | None"]


def with_saved(op: CodeOp, inputs: Sequence[SDVariable | None], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable],
               found: Gradients) -> Gradients:
    """Gradients of a node and what its saved outputs add, by the code of the op.

    Parameters
    ----------
    op, inputs, outputs, output_grads : of the node, saved outputs among them
    found : the gradients for the other outputs

    Raises
    ------
    NoSecondGradientError
        Something reaches saved outputs, and the code has no nodes.
    """
    seen = len(output_grads) - op.saved
    if all(_is_zero(g) for g in output_grads[seen:]):
        return found
    sd = output_grads[0].sd
    try:
        if op.stateful:
            raise TraceError("it depends on the run")
        more = derived_grad(op, inputs, [*(sd.call("base", "zeros_like", o) for o in outputs[:seen]), *output_grads[seen:]])
    except (TraceError, NotFollowedError) as error:
        raise NoSecondGradientError(f"op {op.id!r} has no second gradient: its gradient reads outputs that it saves, and its code does not "
                                    f"tell how these depend on the inputs ({error}). Let grad compute them anew") from error
    return [b if a is None else a if b is None else a + b for a, b in zip(found, more)]


def _is_zero(gradient: SDVariable) -> bool:
    """Whether nothing reached an output: its gradient was filled in."""
    node = gradient.sd.producer(gradient.name())
    return node is not None and node.op.id == "zeros_as"
