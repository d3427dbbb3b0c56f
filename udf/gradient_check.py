"""Gradients against central differences along random directions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..samediff.datatype import DataType
from ..samediff.errors import GradientError
from ..samediff.graph import SameDiff
from ..samediff.op import Op


def check_gradient(op: Op, arrays: Sequence[Any], order: int, tolerance: float, seed: int = 0, directions: int = 3) -> str:
    """Compare derivatives of ``order`` 1 or 2 in float64; AssertionError names the input that is wrong.

    The outputs are projected on random arrays: f = sum(r * op(x)). Order 1 compares <f'(x), v> with (f(x + hv) - f(x - hv)) / 2h,
    order 2 does the same with <f'(x), u> in the place of f.
    """
    rng = np.random.default_rng(seed)
    graph = _Graph(op, arrays, rng)
    if order == 2:
        graph.project(rng)
    grads = graph.gradients()
    worst = 0.0
    for i, x in graph.points.items():
        for _ in range(directions):
            v = rng.standard_normal(x.shape)
            h = 1e-5 * max(1.0, float(np.abs(x).max(initial=0.0))) if order == 1 else 1e-4
            expected = (graph.value({i: x + h * v}) - graph.value({i: x - h * v})) / (2 * h)
            found = 0.0 if grads[i] is None else float(np.vdot(graph.run(grads[i]), v))
            error = abs(found - expected) / max(1.0, abs(expected), abs(found))
            worst = max(worst, error)
            if not error <= tolerance:
                which = "gradient" if order == 1 else "second gradient"
                raise AssertionError(f"{which} for input {i}: {found:.8g} along a random direction, central differences give "
                                     f"{expected:.8g} (relative error {error:.2g})")
    return f"relative error below {tolerance:g}"


class _Graph:
    """f = sum of random weights times the outputs, on float64 variables."""

    def __init__(self, op: Op, arrays: Sequence[Any], rng: np.random.Generator) -> None:
        self.sd = SameDiff()
        self.points: dict[int, Any] = {}
        variables: list[Any] = []
        for i, a in enumerate(arrays):
            if a is not None and a.dtype.kind == "f":
                self.points[i] = a.astype(np.float64)
                variables.append(self.sd.var(f"input{i}", self.points[i]))
            else:
                variables.append(None if a is None else self.sd.constant(f"input{i}", a))
        made = self.sd.add_op(op, variables)
        outputs = [o for o in (made if isinstance(made, list) else [made]) if o.dtype.is_floating]
        if not outputs:
            raise GradientError(f"op {op.id!r} has no floating output")
        self.f = self._projected(outputs, rng)


    def _projected(self, outputs: Sequence[Any], rng: np.random.Generator) -> Any:
        total = None
        for o in outputs:
            weights = rng.standard_normal(self.run(o).shape).astype(o.dtype.numpy)
            part = self.sd.call("base", "cast_to", self.sd.call("base", "sum", o * self.sd.constant(weights)), DataType.DOUBLE)
            total = part if total is None else total + part
        return total

    def gradients(self) -> dict[int, Any]:
        """Gradient variables of f by input."""
        names = [self.sd.variable(f"input{i}") for i in self.points]
        return dict(zip(self.points, self.sd.gradients(self.f, names)))

    def project(self, rng: np.random.Generator) -> None:
        """Put <f', u> in the place of f."""
        found = [g for g in self.gradients().values() if g is not None]
        self.f = self._projected(found, rng) if found else self.sd.call("math", "mul", self.f, 0.0)

    def run(self, variable: Any) -> Any:
        """Value of a variable at the point."""
        return self.sd.output(None, variable)[variable.name()]

    def value(self, changed: dict[int, Any]) -> float:
        """f with other values of some inputs."""
        for i, x in changed.items():
            self.sd.set_array(f"input{i}", x)
        found = float(self.run(self.f))
        for i in changed:
            self.sd.set_array(f"input{i}", self.points[i])
        return found
