"""Branches and loops: ops that run graphs of their own."""
from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec, may_equal, spec_of
from ...errors import DataTypeError, GraphError, ShapeError
from ...families.composite import composite_grad
from ...families.subgraph import SubGraph, relaxed
from ...families.subgraph_args import SubGraphArgs
from ...ir.op import Expandable, Op, as_tuple, op
from ...ir.run_context import RunContext
from .hoisting import StepProducts
from .scan_gradient import scan_gradient

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

#: Distance of the seeds of two iterations, so that their random numbers differ.
STRIDE = 0x9E3779B97F4A7C15


def at_step(context: RunContext, step: int) -> RunContext:
    """The context of one iteration."""
    return RunContext(context.training, (context.seed + (step + 1) * STRIDE) & 0xFFFFFFFFFFFFFFFF, context.iteration, draw=context.draw)


def _grads_of(inputs: Sequence[Any], skip: int, floating: Sequence[int], found: Sequence[Any]) -> list[Any]:
    """One gradient for each input: None for the first ``skip`` and for inputs that are not floating."""
    by_place = {skip + i: g for i, g in zip(floating, found)}
    return [by_place.get(i) for i in range(len(inputs))]


@op("if", inputs="condition *values", stateful=True, heeds="runs a graph of its own", file=SubGraphArgs())
class If(Op):
    """Runs one of two graphs, on the same inputs, by a condition of one element."""

    yes: SubGraph
    no: SubGraph

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """For each result, the most specific shape that covers both branches."""
        condition, *values = specs
        if condition.dtype is not DataType.BOOL:
            raise DataTypeError(f"the condition must be BOOL; got {condition.dtype.name}. Compare something")
        merged = []
        for i, (a, b) in enumerate(zip(self.yes.infer(*values), self.no.infer(*values), strict=True)):
            if a.dtype is not b.dtype:
                raise DataTypeError(f"both branches need results of one type; result {i} is {a.dtype.name} if true, "
                                    f"{b.dtype.name} if false. Use cast_to in one of them")
            merged.append(relaxed(a, b))
        return tuple(merged)

    def compute(self, xp: Any, condition: Any, *values: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful
        """Results of the chosen branch; the other one is not run."""
        if condition.size != 1:
            raise ShapeError(f"a condition needs one element; got shape {condition.shape}")
        return tuple((self.yes if bool(condition.reshape(-1)[0]) else self.no).run(values, context))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """An ``If`` of the same condition between the gradients of both branches."""
        if not self.yes.floating:
            return [None] * len(inputs)
        upstream = [output_grads[i] for i in self.yes.floating_outputs]
        found = inputs[0].sd.add_op(If(self.yes.gradient, self.no.gradient), [*inputs, *upstream])
        return _grads_of(inputs, 1, self.yes.floating, found)


class Looping(Op):
    """A condition and a body on loop variables, followed by values from outside."""

    condition: SubGraph
    body: SubGraph

    @property
    def count(self) -> int:
        """Number of loop variables."""
        return len(self.body.outputs)

    def goes_on(self, state: Sequence[Any], outside: Sequence[Any], context: RunContext) -> bool:
        """Value of the condition for the current state."""
        (again,) = self.condition.run([*state, *outside], context)
        if again.size != 1:
            raise ShapeError(f"a condition needs one element; got shape {again.shape}")
        return bool(again.reshape(-1)[0])


@op("while", inputs="*values", stateful=True, heeds="runs a graph of its own", file=SubGraphArgs())
class While(Looping):
    """Runs the body on its own results as long as the condition holds."""

    condition: SubGraph
    body: SubGraph

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """For each loop variable, a shape that covers its value before the first and after every iteration."""
        state, outside = list(specs[:self.count]), specs[self.count:]
        for _ in range(8):
            after = self.body.infer(*state, *outside)
            for i, (a, b) in enumerate(zip(state, after)):
                if a.dtype is not b.dtype:
                    raise DataTypeError(f"loop variable {i} is {a.dtype.name} before an iteration and {b.dtype.name} after it; "
                                        "use cast_to in the body")
            merged = [relaxed(a, b) for a, b in zip(state, after)]
            if merged == state:
                break
            state = merged
        (again,) = self.condition.infer(*state, *outside)
        if again.dtype is not DataType.BOOL:
            raise DataTypeError(f"the condition must be BOOL; got {again.dtype.name}. Compare something")
        return tuple(TensorSpec(s.shape, s.dtype) for s in state)

    def compute(self, xp: Any, *values: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful
        """Run the body until the condition is false."""
        state, outside, step = list(values[:self.count]), values[self.count:], 0
        while self.goes_on(state, outside, at_step(context, step)):
            state = self.body.run([*state, *outside], at_step(context, step))
            step += 1
        return tuple(state)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        if not self.body.floating:
            return [None] * len(inputs)
        upstream = [output_grads[i] for i in self.body.floating_outputs]
        found = inputs[0].sd.add_op(WhileGrad(self.condition, self.body), [*inputs, *upstream])
        return _grads_of(inputs, 0, self.body.floating, found)


@op("while_grad", inputs="*values", stateful=True, heeds="runs a graph of its own")
class WhileGrad(Looping):
    """Gradients of a loop: runs it again and keeps the state of every iteration, then the body's gradient backwards."""

    condition: SubGraph
    body: SubGraph

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Shapes and types of the floating inputs."""
        return tuple(TensorSpec(specs[i].shape, specs[i].dtype) for i in self.body.floating)

    def compute(self, xp: Any, *values: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful
        """Run forward, keeping the state of every iteration, then backward."""
        total = len(self.body.inputs)
        given, upstream = values[:total], list(values[total:])
        state, outside = list(given[:self.count]), given[self.count:]
        kept: list[list[Any]] = []
        while self.goes_on(state, outside, at_step(context, len(kept))):
            kept.append(state)
            state = self.body.run([*state, *outside], at_step(context, len(kept) - 1))
        carried = sum(1 for i in self.body.floating if i < self.count)
        sums = [xp.zeros(given[i].shape, given[i].dtype) for i in self.body.floating[carried:]]
        for step in reversed(range(len(kept))):
            found = self.body.gradient.run([*kept[step], *outside, *upstream], at_step(context, step))
            upstream = found[:carried]
            sums = [s + f for s, f in zip(sums, found[carried:])]
        return (*upstream, *sums)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Second derivatives, by a scan over the iterations, which is differentiable to any order."""
        return composite_grad(self._by_scan, inputs, output_grads)

    def _by_scan(self, *values: SDVariable) -> tuple[SDVariable, ...]:
        sd, total, n = values[0].sd, len(self.body.inputs), self.count
        counting = While(_with_element(self.condition, n), _with_element(self.body, n, counts=True))
        times = sd.add_op(counting, [*values[:n], np.int32(0), *values[n:total]])[n]
        steps = sd.call("base", "range", sd.constant(np.int32(0)), times, sd.constant(np.int32(1)), DataType.INT)
        op = Scan(_with_element(self.body, n), n, 1)
        given = [*values[:n], steps, *values[n:total]]
        made = sd.add_op(op, given)
        upstream = dict(zip(self.body.floating_outputs, values[total:]))
        found = op.grad(given, made, [upstream[i] if i in upstream else sd.call("base", "zeros_like", v) for i, v in enumerate(made)])
        return tuple(g for i in self.body.floating if (g := found[i if i < n else i + 1]) is not None)


@op("scan", inputs="*values", file=SubGraphArgs())
class Scan(Op):
    """Runs the body once per element along the first axis of sequences; stateful where the body is.

    Inputs: ``carries`` values that pass from step to step, ``sequences`` arrays that are taken apart along axis 0, values
    from outside.  The body maps (carry, elements, outside) to (carry, results).  Outputs: the last carry, the results
    stacked along axis 0, and the carry before every step, stacked (for the gradient).
    """

    body: SubGraph
    carries: int
    sequences: int
    reverse: bool = False

    @property
    def stateful(self) -> bool:  # type: ignore[override]  # of the class
        return self.body.draws

    def at_inference(self) -> Op:
        """The scan of the body's inference form."""
        body = self.body.at_inference
        return self if body is self.body else self.replace(body=body)

    def step_specs(self, specs: Sequence[TensorSpec]) -> list[TensorSpec]:
        """Specs of what the body is given, for inputs of these specs."""
        split = self.carries + self.sequences
        elements = [TensorSpec((s.shape or ())[1:], s.dtype) for s in specs[self.carries:split]]
        return [*specs[:self.carries], *elements, *specs[split:]]

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Carries keep their shape; the rest has the steps as first axis."""
        split = self.carries + self.sequences
        carry, rows, outside = specs[:self.carries], specs[self.carries:split], specs[split:]
        if any(r.shape == () for r in rows):
            raise ShapeError("sequences need at least one axis")
        lengths = {r.shape[0] for r in rows if r.shape is not None} - {-1}
        if len(lengths) > 1:
            raise ShapeError(f"all sequences need equally many steps; got {sorted(lengths)}")
        steps = lengths.pop() if lengths else -1
        after = self.body.infer(*carry, *(TensorSpec(None if r.shape is None else r.shape[1:], r.dtype) for r in rows), *outside)
        for i, (a, b) in enumerate(zip(carry, after)):
            if a.dtype is not b.dtype or not may_equal(a.shape, b.shape):
                raise ShapeError(f"carry {i} is {a} before a step and {b} after it; both must be equal")
        stacked = [TensorSpec(None if s.shape is None else (steps, *s.shape), s.dtype) for s in (*after[self.carries:], *carry)]
        return (*(TensorSpec(c.shape, c.dtype) for c in carry), *stacked)

    def compute(self, xp: Any, *values: Any, context: RunContext | None = None) -> Any:
        context = RunContext() if context is None else context
        state = list(values[:self.carries])
        rows, outside = values[self.carries:self.carries + self.sequences], values[self.carries + self.sequences:]
        steps = len(rows[0])
        if any(len(r) != steps for r in rows):
            raise ShapeError(f"all sequences need equally many steps; got {[len(r) for r in rows]}")
        if not steps:
            return self._without_steps(xp, values)
        results: list[list[Any]] = [[]] * steps
        before: list[list[Any]] = [[]] * steps
        for t in reversed(range(steps)) if self.reverse else range(steps):
            before[t] = state
            found = self.body.run([*state, *(r[t] for r in rows), *outside], at_step(context, t))
            state, results[t] = found[:self.carries], found[self.carries:]
        return (*state, *(xp.stack(list(r)) for r in zip(*results)), *(xp.stack(list(b)) for b in zip(*before)))

    def plan_rewrite(self, name: str) -> Expandable:
        """The scan with matrix products of all steps moved out of its body."""
        return StepProducts(self)

    def _without_steps(self, xp: Any, values: Sequence[Any]) -> tuple[Any, ...]:
        """The carries as given; the rest empty."""
        specs = as_tuple(self.infer(*map(spec_of, values)))[self.carries:]
        if any(s.shape is None or -1 in s.shape for s in specs):
            raise GraphError("a scan of empty sequences needs a body whose results have known shapes")
        return (*values[:self.carries], *(xp.zeros(s.shape, s.dtype.numpy) for s in specs))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """A scan the other way, over the carries before each step."""
        carries, split, floating = self.carries, self.carries + self.sequences, self.body.floating
        if not floating:
            return [None] * len(inputs)
        sd, produced = inputs[0].sd, len(self.body.outputs)
        back = scan_gradient(self.body, carries, self.sequences)
        upstream_carry = [output_grads[i] for i in self.body.floating_outputs if i < carries]
        upstream_rows = [output_grads[i] for i in self.body.floating_outputs if i >= carries]
        kept = [output_grads[produced + i] for i in floating if i < carries]
        rows = [*outputs[produced:], *inputs[carries:split], *upstream_rows, *kept]
        made = Scan(back.body, len(upstream_carry), len(rows), not self.reverse)
        found = sd.add_op(made, [*upstream_carry, *rows, *inputs[split:]])
        stepwise = [i for i in floating if i < split]           # carries, then elements
        stacked = {**dict(zip(self.body.inputs, (*outputs[produced:], *inputs[carries:split]))),
                   **dict(zip(back.stacked, found[len(stepwise):]))}
        by_place = dict(zip(stepwise, found))
        for i, terms in back.sums.items():
            by_place[i] = functools.reduce(operator.add, [t.total(stacked.__getitem__, inputs[i]) for t in terms])
        return [by_place.get(i) for i in range(len(inputs))]


def _with_element(graph: SubGraph, place: int, counts: bool = False) -> SubGraph:
    """A graph with one more input, an INT at ``place``: ignored, or increased by 1 as its last output."""
    known, key = graph.derived, ("with element", place, counts)
    if key not in known:
        fork = graph.sd.fork()
        element = fork.tables.new_input("element", TensorSpec((), DataType.INT))
        more = [(element + 1).name()] if counts else []
        known[key] = SubGraph(fork, [*graph.inputs[:place], element.name(), *graph.inputs[place:]], [*graph.outputs, *more])
    return known[key]  # type: ignore[no-any-return]  # of this key
