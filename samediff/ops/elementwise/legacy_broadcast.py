"""Pairwise ops along given dimensions: the broadcasts that DL4J's graph files hold by number."""
from __future__ import annotations

import sys
from typing import Any, ClassVar

from ...base.spec import TensorSpec, normalize_axes
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.alignment import align, aligned
from ...families.composite import Composite
from ...ir.op import OPS, Specs, attributes, op
from . import arithmetic as _arithmetic  # noqa: F401 - registers the pairwise ops
from . import comparison as _comparison  # noqa: F401
from . import legacy_elementwise as _pairwise  # noqa: F401


@attributes
class Along(Composite):
    """A pairwise op of x with y, whose axes stand at ``dimensions`` of x; without dimensions shapes broadcast as everywhere."""

    of: ClassVar[str] = ""
    inputs = "x y"
    file = FileArgs(dimensions="dimensions")
    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the pairwise op."""
        x, y = specs
        if self.dimensions and x.shape is not None and y.shape is not None:
            axes = normalize_axes(self.dimensions, len(x.shape))
            if len(y.shape) not in (len(axes), len(x.shape)):
                raise ShapeError(f"{self.id} along dimensions {list(self.dimensions)} needs y with {len(axes)} axes, or as many as x; "
                                 f"got {y.shape}")
            if len(y.shape) == len(axes):
                sizes = dict(zip(axes, y.shape))
                y = TensorSpec(tuple(sizes.get(i, 1) for i in range(len(x.shape))), y.dtype)
        elif self.dimensions:
            y = TensorSpec(None, y.dtype)
        return OPS[self.of]().infer(x, y)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        """The pairwise op, with the axes of y aligned to ``dimensions``."""
        return OPS[self.of]().compute(xp, x, aligned(xp, y, self.dimensions, x.ndim) if self.dimensions else y)

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        x, y = inputs
        return x.sd.add_op(OPS[self.of](), [x, align(y, x, self.dimensions) if self.dimensions else y])


def along(name: str, of: str) -> None:
    """Register the form of a pairwise op with ``dimensions``: a line per op."""

    @op(name, gradient=OPS[of].gradient)
    class Declared(Along):
        pass

    Declared.of = of
    Declared.__doc__ = f"{of} of x with y, whose axes stand at ``dimensions`` of x."
    Declared.__module__ = sys._getframe(1).f_globals["__name__"]
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))


for _name, _of in {
    "broadcastadd": "add", "broadcastsub": "subtract", "broadcastmul": "multiply", "broadcastdiv": "divide",
    "broadcastrdiv": "reversedivide", "broadcastrsub": "reversesubtract", "broadcastcopy": "copy",
    "broadcast_min": "minimum", "broadcast_max": "maximum", "broadcast_amin": "amin_pairwise", "broadcast_amax": "amax_pairwise",
    "broadcast_equalto": "equals", "broadcast_notequal": "not_equals",
    "broadcast_greaterthan": "greater", "broadcast_greaterthanorequal": "greater_equal",
    "broadcast_lessthan": "less", "broadcast_lessthanorequal": "less_equal",
}.items():
    along(_name, _of)
