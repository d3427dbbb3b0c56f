"""Gradients against central differences along random directions."""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..base.datatype import DataType, is_floating
from ..errors import GradientError
from ..executor.session import run, run_uncompiled
from ..ir.run_context import RunContext
from .graph import SameDiff

#: Differences f(x + n h v) - f(x - n h v), and their share in the slope: the error falls with the fourth power of h.
_STENCIL = ((1, 2 / 3), (2, -1 / 12))
_STEP = 2e-5
#: Steps and tolerances where a result has fewer digits than float64.
_NARROW = {DataType.FLOAT: (1e-2, 1e-3), DataType.HALF: (0.1, 0.1), DataType.BFLOAT16: (0.2, 0.3)}


def check_gradient(build: Callable[[SameDiff, list[Any]], Any], arrays: Sequence[Any], order: int, tolerance: float, seed: int = 0,
                   directions: int = 3, fixed: Collection[int] = (), names: Sequence[str] = (), training: bool = True,
                   compiled: bool = True) -> str:
    """Compare derivatives of ``order`` 1 or 2 in float64; AssertionError names the input that is wrong.

    The outputs are projected on random arrays: f = sum(r * build(x)). Order 1 compares <f'(x), v> with differences of f along v,
    order 2 does the same with <f'(x), u> in the place of f.  Everything runs with the same random numbers each time.

    Parameters
    ----------
    build : callable
        ``build(sd, variables)`` adds what is differentiated: a variable or a list of them.
    arrays : sequence of array or None
        Floating ones become variables, others constants.
    fixed : collection of int
        Places of floating inputs that are constants.
    names : sequence of str
        What messages call the inputs.
    training : bool
        Whether everything runs as in training.
    compiled : bool
        Whether the derivatives are those of a compiled plan; differences are computed node by node.
    """
    rng = np.random.default_rng(seed)
    graph = _Graph(build, arrays, rng, fixed, training)
    if graph.surrogates:
        graph.gradients()
        return f"not compared: that of {', '.join(graph.surrogates)} is declared a surrogate"
    if order == 2:
        graph.project(rng)
    grads = graph.gradients()
    worst, step = 0.0, _STEP
    for wide, least in (_NARROW[t] for t in graph.types if t in _NARROW):
        step, tolerance = max(step, wide), max(tolerance, least)
    for i, x in graph.points.items():
        slope = np.zeros(x.shape) if grads[i] is None else graph.run(grads[i], compiled)
        for _ in range(directions):
            v = rng.standard_normal(x.shape)
            h = step * max(1.0, float(np.abs(x).max(initial=0.0)))
            expected = sum(share * (graph.value(i, x + n * h * v) - graph.value(i, x - n * h * v)) for n, share in _STENCIL) / h
            found = float(np.vdot(slope, v))
            error = abs(found - expected) / max(1.0, abs(expected), abs(found))
            worst = max(worst, error)
            if not error <= tolerance:
                which = "gradient" if order == 1 else "second gradient"
                place = names[i] if names else f"input {i}"
                raise AssertionError(f"{which} for {place}: {found:.8g} along a random direction, central differences give "
                                     f"{expected:.8g} (relative error {error:.2g}){_at_a_kink(graph, i, x, h * v, h)}")
    return f"relative error below {tolerance:g}"


def _at_a_kink(graph: _Graph, i: int, x: Any, step: Any, h: float) -> str:
    """What to do where slopes to both sides differ."""
    here = graph.value(i, x)
    ahead, behind = (graph.value(i, x + step) - here) / h, (here - graph.value(i, x - step)) / h
    if not abs(ahead - behind) > 1e-2 * max(1.0, abs(ahead), abs(behind)):
        return ""
    return f"; slopes to both sides are {ahead:.4g} and {behind:.4g}: take examples away from points without a derivative"


class _Graph:
    """f = sum of random weights times the outputs, on float64 variables."""

    def __init__(self, build: Callable[[SameDiff, list[Any]], Any], arrays: Sequence[Any], rng: np.random.Generator,
                 fixed: Collection[int], training: bool) -> None:
        self.sd, self.training = SameDiff(), training
        self.points: dict[int, Any] = {}
        variables: list[Any] = []
        for i, a in enumerate(arrays):
            if a is not None and is_floating(a.dtype) and i not in fixed:
                self.points[i] = a.astype(np.float64)
                variables.append(self.sd.var(f"input{i}", self.points[i]))
            else:
                variables.append(None if a is None else self.sd.constant(f"input{i}", a))
        made = build(self.sd, variables)
        self.surrogates = sorted({n.op.id for n in self.sd.nodes() if n.op.gradient == "surrogate"})
        outputs = [o for o in (made if isinstance(made, list) else [made]) if o.dtype.is_floating]
        self.types = {o.dtype for o in outputs}
        if not outputs:
            raise GradientError("there is no floating output to differentiate")
        self.f = self._projected(outputs, rng)

    def _projected(self, outputs: Sequence[Any], rng: np.random.Generator) -> Any:
        total = None
        for o in outputs:
            weights = rng.standard_normal(self.run(o).shape).astype(o.dtype.numpy)
            part = self.sd.call("base", "cast_to", self.sd.call("base", "sum", o * self.sd.constant(weights)), DataType.DOUBLE)
            total = part if total is None else total + part
        return total

    def gradients(self) -> dict[int, Any]:
        """Gradient variables of the function by the number of the input."""
        names = [self.sd.variable(f"input{i}") for i in self.points]
        return dict(zip(self.points, self.sd.gradients(self.f, names)))

    def project(self, rng: np.random.Generator) -> None:
        """Put <f', u> in the place of f."""
        found = [g for g in self.gradients().values() if g is not None]
        self.f = self._projected(found, rng) if found else self.sd.call("math", "mul", self.f, 0.0)

    def run(self, variable: Any, compiled: bool = False) -> Any:
        """Value of a variable at the point."""
        by = run if compiled else run_uncompiled
        return by(self.sd, {}, [variable.name()], RunContext(training=self.training, seed=1, iteration=0))[variable.name()]

    def value(self, i: int, x: Any) -> float:
        """f with another value of input i."""
        self.sd.set_array(f"input{i}", x)
        found = float(self.run(self.f))
        self.sd.set_array(f"input{i}", self.points[i])
        return found
