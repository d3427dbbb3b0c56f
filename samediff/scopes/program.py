"""A function that was traced for arguments of one form, and its replay."""
from __future__ import annotations

import pickle
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays.indarray import INDArray
from ..arrays.orders import in_columns
from ..base.spec import TensorSpec
from ..errors import GraphError
from ..executor.session import known_plan
from ..families.array_code.symbolic_size import NotInGraphError
from ..ir.run_context import RunContext
from .lazy import LazyINDArray
from .trace import GraphTrace, at, recording
from .tree import build, builder, flatten

_NOTHING_DRAWN = RunContext(training=True)


class FunctionTrace(GraphTrace):
    """Records a function that is to be replayed: it cannot read values, nor change arrays from outside."""

    of_function = True

    def __init__(self, plain: bool) -> None:
        super().__init__()
        self.plain = plain
        self.refused: NotInGraphError | None = None

    def refuse(self, why: str) -> Any:
        """Raise that the function cannot be replayed."""
        error = NotInGraphError(f"{why}{at()}")
        self.note(error)
        raise error

    def note(self, error: NotInGraphError) -> None:
        """Remember the first error: the function may go on after it."""
        self.refused = self.refused or error

    def refuse_from_outside(self, array: LazyINDArray) -> Any:
        """Raise that an array of the function is used after it."""
        raise GraphError(f"{array!r} is used{at()}, but it stood for a value only while a function was compiled: give it back as a result")

    def as_read(self, array: Any) -> Any:
        """The very array: each call reads the values that it has then."""
        return array

    def changing(self, array: Any) -> None:
        """Refuse any change of an array from outside: a replay would leave it out."""
        self.refuse("an array is changed in place that is no result of the function")

    def drawing(self) -> None:
        """Refuse numbers that each replay would find again."""
        self.refuse("numbers of Nd4j.getRandom() are drawn once, and each call would find the same: ops of Nd4j.random "
                    "(Nd4j.random.uniform, normal ...) draw anew")


class TracedProgram:
    """The graph of a function for arguments of one form.

    Attributes
    ----------
    sd : the graph
    names : of the placeholders for the arrays among the arguments, then of those for arrays from outside
    outside : these arrays
    results : the form of what the function returns
    """

    def __init__(self, function: Callable[..., Any], form: Any, specs: Sequence[TensorSpec], names: Sequence[str], plain: bool) -> None:
        trace = FunctionTrace(plain)
        inputs = [trace.sd.tables.new_input(n, s) for n, s in zip(names, specs)]
        with recording(trace):
            args, kwargs = build(form, iter([trace.lazy(v) for v in inputs]))
            before = _generators()
            made = function(*args, **kwargs)
            if _generators() != before:
                trace.refuse("it draws numbers of np.random or random, and each call would find the same: ops of Nd4j.random draw anew")
            if isinstance(made, (Iterator, Awaitable, AsyncIterator)):
                if isinstance(made, Coroutine):
                    made.close()                    # nobody awaits it
                trace.refuse(f"it gives a {type(made).__name__}, whose code runs after it")
            if trace.refused is not None:           # the function went on after an error
                raise trace.refused
            arrays: list[Any] = []
            self.results = flatten(made, arrays)
            outputs = [trace.result(a).name() for a in arrays]
        self.sd, self.names = trace.sd, (*(v.name() for v in inputs), *trace.captured)
        self.outside, self._baked = list(trace.captured.values()), trace.baked
        self._in_rows = [i for i, v in enumerate(inputs) if v.name() in trace.orders.assumed]
        self._outputs = tuple(dict.fromkeys(outputs))
        self._picks = tuple(self._outputs.index(n) for n in outputs)
        trace.sd.set_outputs(*self._outputs)

    def is_current(self) -> bool:
        """Whether the small arrays that became constants have the values that they had."""
        return all(np.array_equal(a, b) for a, b in self._baked)

    def fits(self, arrays: Sequence[Any]) -> bool:
        """Whether arguments stand in memory as the function took them to."""
        return not any(in_columns(arrays[i]) for i in self._in_rows)

    def run(self, arrays: Sequence[Any], context: RunContext) -> Any:
        """What the function returns."""
        if not self._outputs:
            return build(self.results, iter(()))
        found = self.sd.compute_in(context, dict(zip(self.names, (*arrays, *self.outside))), self._outputs)
        return self._built(list(found.values()))

    def _built(self, found: Sequence[Any]) -> Any:
        return build(self.results, iter([_wrapped(found[i]) for i in self._picks]))

    def replay(self, arrays: Sequence[Any], draw: Callable[[], RunContext]) -> Callable[[Sequence[Any]], Any] | None:
        """The shortest way to the same for arrays like these, once they were run; None where there is none."""
        plan = known_plan(self.sd, dict(zip(self.names, (*arrays, *self.outside))), self._outputs, True)
        if plan is None or self._in_rows or self._baked:
            return None
        outside, run, draws = tuple(self.outside), plan.run, plan.needs_rng
        takes = [self.names.index(n) for n in plan.feeds]
        straight = not outside and takes == list(range(len(arrays)))
        built = builder(self.results, iter(self._picks))
        if straight and not draws:
            return lambda given: built(run(given, _NOTHING_DRAWN))

        def call(given: Sequence[Any]) -> Any:
            everything = (*given, *outside) if outside else given
            feeds = given if straight else [everything[i] for i in takes]
            return built(run(feeds, draw() if draws else _NOTHING_DRAWN))
        return call

    def graph(self) -> Any:
        """The graph, with arrays from outside as stored values."""
        sd = self.sd.fork()
        for name, array in zip(self.names[len(self.names) - len(self.outside):], self.outside):
            sd.set_array(name, array)
            (sd.convert_to_variable if sd.variable(name).dtype.is_floating else sd.convert_to_constant)(name)
        sd.set_outputs(*self._outputs)
        return sd


def _generators() -> tuple[Any, ...]:
    """The states of the generators that NumPy and Python share among all code."""
    return pickle.dumps(np.random.get_state(legacy=False)), random.getstate()


def _wrapped(array: Any) -> Any:
    return array.view(INDArray) if isinstance(array, np.ndarray) else array
