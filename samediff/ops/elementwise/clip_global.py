"""Several arrays scaled down together."""
from __future__ import annotations

from typing import Any

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError
from ...expressions.arrays import norm_over
from ...families.composite import Composite
from ...ir.op import op, require_floating, require_same_type


@op("clip_by_global_norm", inputs="*xs", file=FileArgs(floats=("clip_norm",)))
class ClipByGlobalNorm(Composite):
    """Each array times clip_norm / n where the Euclidean norm n of all of them together exceeds ``clip_norm``, and n.

    Shapes: any number of arrays -> as many, and a scalar.
    """

    clip_norm: float

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The inputs' shapes, and a scalar for the norm."""
        if not specs or not self.clip_norm > 0:
            raise GraphError(f"{self.id} needs at least one array and a positive norm; got {len(specs)} and {self.clip_norm}")
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        return *(TensorSpec(s.shape, s.dtype) for s in specs), TensorSpec((), specs[0].dtype)

    def compute(self, xp: Any, *xs: Any) -> Any:
        """All arrays times the same factor."""
        kind = xs[0].dtype.type
        norm = norm_over(xp.stack([norm_over(x) for x in xs]))
        factor = kind(self.clip_norm) / norm if norm > self.clip_norm else kind(1)
        return *(x * factor for x in xs), norm

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops; the norm of the norms has a gradient at 0."""
        sd = inputs[0].sd
        norm = sd.call("base", "stack", 0, *(sd.call("base", "norm2", x) for x in inputs))
        norm = sd.call("base", "norm2", norm)
        factor = self.clip_norm / sd.call("math", "max", norm, self.clip_norm)
        return *(x * factor for x in inputs), norm
