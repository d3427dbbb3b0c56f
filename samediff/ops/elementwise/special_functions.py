"""Functions of several numbers that SciPy has: polygamma, zeta, incomplete gamma and beta functions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...base.spec import TensorSpec, broadcast
from ...codecs.file_args import FileArgs
from ...families.broadcasting import sum_to
from ...ir.op import Op, Specs, op, require_floating, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class SpecialFunction(Op):
    """A function of numbers at the same places, with broadcasting.  Shapes: all of one floating type -> the same.

    The gradient is that by the last input alone: there is no closed form of the others.
    """

    function: ClassVar[str] = ""
    not_differentiable_by: ClassVar[tuple[int, ...]] = (0,)

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        return TensorSpec(broadcast(*(s.shape for s in specs)), specs[0].dtype)

    def compute(self, xp: Any, *xs: Any) -> Any:
        """The function of SciPy, in the type of the inputs."""
        return xp.asarray(getattr(xp, self.function)(*xs)).astype(xs[0].dtype)

    def slope(self, *xs: SDVariable) -> SDVariable:
        """The derivative by the last input."""
        raise NotImplementedError

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [*[None] * (len(inputs) - 1), sum_to(output_grads[0] * self.slope(*inputs), inputs[-1])]


@op("polygamma", inputs="n x", api="math.polygamma", file=FileArgs())
class Polygamma(SpecialFunction):
    """The derivative of order ``n + 1`` of ln Gamma(x); n consists of whole numbers."""

    function = "polygamma"

    def slope(self, *xs: SDVariable) -> SDVariable:
        n, x = xs
        return n.sd.add_op(Polygamma(), [n + 1, x])  # type: ignore[no-any-return]


@op("zeta", inputs="x q", api="math.zeta", file=FileArgs())
class Zeta(SpecialFunction):
    """Hurwitz' zeta function: the sum of ``(q + k) ** -x`` over k = 0, 1, 2 …"""

    function = "zeta"

    def slope(self, *xs: SDVariable) -> SDVariable:
        x, q = xs
        return -(x * x.sd.add_op(Zeta(), [x + 1, q]))  # type: ignore[no-any-return]


def _gamma_density(a: SDVariable, x: SDVariable) -> SDVariable:
    """``x ** (a - 1) * exp(-x) / Gamma(a)``."""
    math = a.sd.math
    return math.exp((a - 1) * math.log(x) - x - math.lgamma(a))  # type: ignore[no-any-return]


@op("igamma", inputs="a x", api="math.igamma", file=FileArgs())
class LowerGamma(SpecialFunction):
    """The regularized incomplete gamma function: the share of Gamma(a) that lies below x."""

    function = "gammainc"

    def slope(self, *xs: SDVariable) -> SDVariable:
        return _gamma_density(*xs)


@op("igammac", inputs="a x", api="math.igammac", file=FileArgs())
class UpperGamma(SpecialFunction):
    """The complement of the regularized incomplete gamma function: the share of Gamma(a) that lies above x."""

    function = "gammaincc"

    def slope(self, *xs: SDVariable) -> SDVariable:
        return -_gamma_density(*xs)


@op("betainc", inputs="a b x", api="math.betainc", file=FileArgs())
class BetaShare(SpecialFunction):
    """The regularized incomplete beta function: the share of Beta(a, b) that lies below x, which is within 0 and 1."""

    function = "betainc"
    not_differentiable_by = (0, 1)

    def slope(self, *xs: SDVariable) -> SDVariable:
        a, b, x = xs
        math = a.sd.math
        log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        return math.exp((a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta)  # type: ignore[no-any-return]
