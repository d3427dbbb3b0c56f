"""Branches and loops from the methods of a graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..base.spec import TensorSpec
from ..errors import GraphError
from ..families.subgraph import GraphRecorder, called, relaxed
from ..ir.core import GraphCore
from ..ir.variable import SDVariable
from ..ops.control.control import If, Scan, While

if TYPE_CHECKING:
    from ..families.subgraph import SubGraph
    from ..ops.control.control import While

Build = Callable[..., Any]


class ControlFlowMixin(GraphCore):
    """The part of :class:`SameDiff` that builds branches and loops.

    The functions given work on this very graph and may use any of its variables; what they add is taken out of it and
    becomes a graph of its own inside one op. Variables that they use from outside become inputs of that op, so that
    gradients reach them. Everything nests.
    """

    def if_cond(self, *args: Any) -> Any:
        """Either of two results, by a condition; only the chosen one is computed.

        Parameters
        ----------
        output_name, if_name : str, optional
            Name of the result, and of the name scope of the branches: none, the second, or both in front.
        cond : function of the graph or of nothing, or SDVariable
            Gives a BOOL of one element.
        true_body, false_body : function of the graph or of nothing
            Give the results: one variable, or equally many in a list.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.var("x", np.float32(-3))
        >>> y = sd.if_cond(lambda sd: x > 0, lambda sd: x * 2, lambda sd: -x)
        >>> float(y.eval())
        3.0
        """
        (output, scope), (cond, yes, no) = _names(args, 3, "if_cond([output_name,] [if_name,] cond, true_body, false_body)")
        with self._maybe_scope(scope):
            condition = cond if isinstance(cond, SDVariable) else called(cond, self)
            if not isinstance(condition, SDVariable):
                raise GraphError(f"the condition must be a variable of the graph; got {type(condition).__name__}")
            graphs: list[SubGraph] = []
            outside: dict[str, None] = {}
            for build in (yes, no):
                with GraphRecorder(self) as recording:
                    results = recording.results(build, self)
                    captured = recording.captured(results)
                    graphs.append(recording.take(captured, results))
                outside.update(dict.fromkeys(captured))
            given = [self.variable(n) for n in outside]
            if len(graphs[0].outputs) != len(graphs[1].outputs):
                raise GraphError(f"both branches must give equally many results; got {len(graphs[0].outputs)} and {len(graphs[1].outputs)}")
        found = self.add_op(If(*(g.taking(given) for g in graphs)), [condition, *given], None if output is None else [output])
        return found if recording.several else found[0]

    def while_loop(self, *args: Any) -> list[SDVariable]:
        """Repeat a body as long as a condition holds; the last values of the loop variables.

        Parameters
        ----------
        output_names : list of str, loop_name : str, optional
            Names of the results, and of the name scope of the body: none, the second, or both in front.
        loop_vars : list of SDVariable
            Values before the first iteration.
        cond : function of the graph and the list of loop variables
            Gives a BOOL of one element.
        body : function of the graph and the list of loop variables
            Gives the new values, equally many of the same types.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> i, total = sd.constant(np.int32(0)), sd.constant(np.float32(1))
        >>> i, total = sd.while_loop([i, total], lambda sd, v: v[0] < 5, lambda sd, v: [v[0] + 1, v[1] * 2])
        >>> float(total.eval())
        32.0
        """
        (outputs, scope), (loop_vars, cond, body) = _names(args, 3, "while_loop([output_names,] [loop_name,] loop_vars, cond, body)")
        variables = self._listed(loop_vars)
        with self._maybe_scope(scope):
            specs = [v.spec for v in variables]
            for _ in range(8):
                op, outside, after = self._trace_loop(variables, specs, cond, body)
                merged = [relaxed(a, b) for a, b in zip(specs, after)]
                if merged == specs:
                    break
                specs = merged
        names = outputs if outputs is None or isinstance(outputs, list) else [outputs]
        return self.add_op(op, [*variables, *map(self.variable, outside)], names)  # type: ignore[no-any-return]

    def _trace_loop(self, variables: list[SDVariable], specs: list[TensorSpec], cond: Build,
                    body: Build) -> tuple[While, list[str], list[TensorSpec]]:
        """The op, the values from outside, and specs after one iteration."""
        with GraphRecorder(self) as recording:
            state = [recording.dummy_input(v.name().rpartition("/")[2] + "_loop", s) for v, s in zip(variables, specs)]
            again = recording.results(cond, self, state)
            if len(again) != 1:
                raise GraphError(f"the condition must give one variable; got {len(again)}")
            after = recording.results(body, self, state)
            if len(after) != len(state):
                raise GraphError(f"the body must give as many values as there are loop variables: {len(state)}; got {len(after)}")
            outside = recording.captured([*again, *after])
            names = [*(v.name() for v in state), *outside]
            return While(recording.take(names, again), recording.take(names, after)), outside, [v.spec for v in after]

    def scan(self, body: Build, carry: Any, sequences: Any) -> tuple[list[SDVariable], list[SDVariable]]:
        """Run a body once per element along the first axis of sequences, passing a carry from step to step.

        Parameters
        ----------
        body : function of the graph, the list of carries and the list of elements
            Gives the new carries and the results of the step, as two lists (either may be empty).
        carry : list of SDVariable
            Carries before the first step.
        sequences : list of SDVariable
            Arrays with equal first axes.

        Returns
        -------
        The last carries, and the results stacked along the first axis. Differentiable to any order.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.var("x", np.arange(1, 5, dtype=np.float32))
        >>> (last,), (sums,) = sd.scan(lambda sd, c, e: ([c[0] + e[0]], [c[0] + e[0]]), [sd.constant(np.float32(0))], [x])
        >>> sums.eval()
        array([ 1.,  3.,  6., 10.], dtype=float32)
        """
        carries, rows = self._listed(carry), self._listed(sequences)
        if not rows:
            raise GraphError("a scan needs at least one sequence")
        with GraphRecorder(self) as recording:
            state = [recording.dummy_input("carry", v.spec) for v in carries]
            specs = [TensorSpec(None if v.spec.shape is None else v.spec.shape[1:], v.dtype) for v in rows]
            elements = [recording.dummy_input("element", s) for s in specs]
            made = called(body, self, state, elements)
            if not (isinstance(made, tuple) and len(made) == 2):
                raise GraphError("the body of a scan must give two lists: new carries and results")
            after, results = (list(v) if isinstance(v, (list, tuple)) else [v] for v in made)
            if len(after) != len(carries):
                raise GraphError(f"the body must give {len(carries)} carries; got {len(after)}")
            outputs = recording.results(lambda: [*after, *results])
            outside = recording.captured(outputs)
            turn = recording.take([*(v.name() for v in (*state, *elements)), *outside], outputs)
        found = self.add_op(Scan(turn, len(carries), len(rows)), [*carries, *rows, *map(self.variable, outside)])
        return found[:len(carries)], found[len(carries):len(outputs)]

    def _listed(self, given: Any) -> list[SDVariable]:
        return [self.variable(v) for v in (given if isinstance(given, (list, tuple)) else [given])]

    def _maybe_scope(self, name: str | None) -> Any:
        from contextlib import nullcontext
        return nullcontext() if name is None else self.with_name_scope(name)


def _names(args: tuple[Any, ...], count: int, usage: str) -> tuple[tuple[Any, str | None], tuple[Any, ...]]:
    """The names in front of the arguments proper: (output names, scope)."""
    if not count <= len(args) <= count + 2:
        raise GraphError(f"{usage}: got {len(args)} arguments")
    names = args[:len(args) - count]
    return ((names[0] if len(names) == 2 else None), (names[-1] if names else None)), args[len(args) - count:]
