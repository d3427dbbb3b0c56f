"""A function or user op for each element along axes of its inputs: by the rule that the op declares, else one after the other."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...samediff.arrays import recording
from ...samediff.base.spec import TensorSpec, spec_of
from ...samediff.errors import GraphError, ShapeError
from ...samediff.expressions.arrays import as_array
from ...samediff.families.followed import scratch
from ...samediff.ir.op import as_tuple
from ...samediff.ir.variable import SDVariable
from ...samediff.numpy_functions.array_code import code_on_graph
from ...samediff.scopes.control_flow import scan
from ..code.derived import way
from ..code.failure import building, user_code
from .base import UserOp
from .batching import BatchingError
from .calling import graph_of
from .user_op import UserFunction

Axes = int | None | Sequence[int | None]


class Vectorized:
    """The result of :func:`vectorized`: called as its function is, with one more axis.

    Parameters
    ----------
    function, in_axes, out_axes
        As of :func:`vectorized`.
    """

    def __init__(self, function: Callable[..., Any], in_axes: Axes = 0, out_axes: int | Sequence[int] = 0) -> None:
        if not callable(function):
            raise GraphError(f"vectorized takes a function or an op, got {function!r:.60}")
        functools.update_wrapper(self, function)
        self.function, self.in_axes, self.out_axes = function, in_axes, out_axes

    def __call__(self, *args: Any, name: str | None = None, **options: Any) -> Any:
        """The results for all elements; ``name`` or a name in front is that of the result in a graph."""
        if args and isinstance(args[0], str):
            name, args = args[0], args[1:]
        graph = graph_of(args, options.values())
        recorded = graph is None and recording.state.recorder is not None
        inputs = graph.tables.as_inputs(args) if graph is not None else [a if a is None or recorded else as_array(a) for a in args]
        axes = self._placed(inputs)
        moved = [x if axis is None else _moved(graph, x, axis, 0) for x, axis in zip(inputs, axes)]
        batch = _Batch(graph, self.function, tuple(axis is not None for axis in axes), moved, options)
        found = batch.by_rule()
        if found is None:
            found = batch.recorded() if recorded else batch.in_turn()
        several = as_tuple(found)
        results = [self._stacked(graph, r, axis) for r, axis in zip(several, _each("out_axes", self.out_axes, len(several)))]
        if graph is not None and name is not None:
            for i, result in enumerate(results):
                graph.rename_variable(result.name(), f"{name}:{i}" if i else name)
        return tuple(results) if isinstance(found, (tuple, list)) else results[0]

    def _placed(self, inputs: Sequence[Any]) -> list[int | None]:
        """The mapped axis of each input; GraphError where an input does not have it."""
        axes = [None if x is None else a for x, a in zip(inputs, _each("in_axes", self.in_axes, len(inputs)))]
        shapes = [None if x is None else _spec(x).shape for x in inputs]
        told = f"in_axes={self.in_axes} of shapes {', '.join(map(str, shapes))}"
        for axis, shape in zip(axes, shapes):
            if axis is not None and shape is not None and not -len(shape) <= axis < len(shape):
                raise ShapeError(f"vectorized {_name(self.function)}: {told}: there is no axis {axis} in {shape}")
        known = {shape[axis] for axis, shape in zip(axes, shapes) if axis is not None and shape is not None} - {-1}
        if len(known) > 1:
            raise ShapeError(f"vectorized {_name(self.function)}: {told}: these axes must be equally long, they have {sorted(known)}")
        if all(axis is None for axis in axes):
            raise GraphError(f"vectorized {_name(self.function)}: {told}: one input at least needs an axis")
        return axes

    def _stacked(self, graph: Any, result: Any, axis: int) -> Any:
        """A result whose new axis stands where it was asked for."""
        shape = _spec(result).shape
        if shape is not None and not -len(shape) <= axis < len(shape):
            raise ShapeError(f"vectorized {_name(self.function)}: out_axes={self.out_axes}: there is no axis {axis} in a result of "
                             f"{len(shape)}")
        return _moved(graph, result, 0, axis)

    def __repr__(self) -> str:
        return f"<{_name(self.function)} vectorized over {self.in_axes}>"


def vectorized(function: Callable[..., Any], in_axes: Axes = 0, out_axes: int | Sequence[int] = 0) -> Vectorized:
    """``function`` for each element along an axis of its inputs, with the results stacked.

    An op whose code is elementwise, or which declares ``batching``, takes all elements at once; everything else is run for one
    after the other: by a scan in graphs, which is saved and differentiated, by a loop on arrays.

    Parameters
    ----------
    function : user op or callable
        On arrays, on variables of a graph, or both; a callable may itself be vectorized.
    in_axes : int, None, or one of them for each input
        Along which axis an input holds the elements; None gives all of it to each.
    out_axes : int, or one for each result
        Where the results have the new axis.

    Returns
    -------
    Vectorized
        Keyword arguments of a call are given to each element as they are.

    Examples
    --------
    >>> import numpy as np
    >>> outer = vectorized(vectorized(lambda x, y: x * y, in_axes=(None, 0)), in_axes=(0, None))
    >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0])).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    return Vectorized(function, in_axes, out_axes)


class _Batch:
    """One call over several elements; those inputs that are ``mapped`` have them along axis 0."""

    def __init__(self, graph: Any, function: Callable[..., Any], mapped: tuple[bool, ...], inputs: Sequence[Any],
                 options: dict[str, Any]) -> None:
        self.graph, self.function, self.mapped, self.inputs, self.options = graph, function, mapped, inputs, options
        self.rows = [x for x, m in zip(inputs, mapped) if m]
        self.several = False

    def by_rule(self) -> Any:
        """All at once, as the op declares it; None where it declares nothing."""
        op = self._op()
        if op is None:
            return None
        shapes = ", ".join("-" if x is None else str(_spec(x).shape) for x in self.inputs)
        what = f"batching of op {op.id!r} for inputs of shapes {shapes}"
        if op.batching == "none":
            raise GraphError(f"{what}: the op declares batching='none', it cannot be vectorized. Call it for each element")
        if op.batching is None:
            known = all(x is None or _spec(x).shape is not None for x in self.inputs)
            simple = known and not op.has_infer() and way(op, self._element_specs()) == "elementwise"
            return op(*self._aligned()) if simple else None
        rule: Any = self._stretched if op.batching == "leading" else op.batching
        with building(what, user_code(rule), ShapeError):
            found = op(*rule()) if op.batching == "leading" else rule(self.mapped, *self.inputs)
        length = self._length()
        for result in as_tuple(found):
            if (shape := _spec(result).shape) is not None and -1 not in (length, *shape[:1]) and shape[:1] != (length,):
                raise BatchingError(f"{what}: a result has shape {shape}; its first axis must hold the {length} elements")
        return found

    def in_turn(self) -> Any:
        """The results by calling the function for one element after the other."""
        if self.graph is not None:
            _, found = self.graph.scan(lambda sd, carry, elements: ([], self._one(elements)), [], self.rows)
        elif self._length():
            found = [np.stack(column) for column in zip(*(self._one([x[i] for x in self.rows]) for i in range(self._length())))]
        else:
            return self._empty()
        return tuple(found) if self.several else found[0]

    def recorded(self) -> Any:
        """A scan in a graph scope or compiled function."""
        _, found = scan(lambda carry, elements: (carry, tuple(self._one(elements))), (), tuple(self.rows))
        return found if self.several else found[0]

    def _one(self, elements: Sequence[Any]) -> list[Any]:
        """The results for one element."""
        rest = iter(elements)
        found = self.function(*(next(rest) if m else x for x, m in zip(self.inputs, self.mapped)), **self.options)
        self.several = isinstance(found, (tuple, list))
        return list(as_tuple(found))

    def _empty(self) -> Any:
        """Results without elements: their shapes and types are those of a graph."""
        sd, given = scratch([None if x is None else TensorSpec(x.shape, _spec(x).dtype) for x in self.inputs])
        try:
            made = _Batch(sd, self.function, self.mapped, given, self.options).in_turn()
        except Exception as error:
            raise ShapeError(f"vectorized {_name(self.function)}: there are no elements, and the function says nothing of its results "
                             f"without them: on variables of a graph it raised {type(error).__name__}: {error}") from error
        values = sd.output({v.name(): x for v, x in zip(given, self.inputs) if v is not None}, *(v.name() for v in as_tuple(made)))
        found = tuple(np.asarray(values[v.name()]) for v in as_tuple(made))
        return found if isinstance(made, tuple) else found[0]

    def _op(self) -> UserOp | None:
        """The op with its attributes, where the function is one and is called with nothing else."""
        if isinstance(self.function, UserFunction):
            cls = self.function.op_class
            return cls(**self.options) if self.options.keys() <= set(cls.attribute_names()) else None
        return self.function if isinstance(self.function, UserOp) and not self.options else None

    def _length(self) -> int:
        """The number of elements, -1 where a graph leaves it open."""
        shapes = [_spec(x).shape for x in self.rows]
        return max(-1 if shape is None else shape[0] for shape in shapes)

    def _element_specs(self) -> list[TensorSpec | None]:
        specs = [None if x is None else _spec(x) for x in self.inputs]
        return [None if s is None else TensorSpec(s.shape[m:] if s.shape is not None else None, s.dtype)
                for s, m in zip(specs, self.mapped)]

    def _aligned(self) -> list[Any]:
        """Inputs whose axes broadcast as those of single elements do."""
        rank = max(len(s.shape) for s in self._element_specs() if s is not None and s.shape is not None)

        def widen(xp: Any, x: Any) -> Any:
            return x.reshape(x.shape[0], *(1,) * (rank + 1 - len(x.shape)), *x.shape[1:])
        return [x if x is None or not m or len(_spec(x).shape or ()) > rank else _run(self.graph, widen, x)
                for x, m in zip(self.inputs, self.mapped)]

    def _stretched(self) -> list[Any]:
        """Inputs that all have the elements along axis 0."""
        def stretch(xp: Any, x: Any, row: Any) -> Any:
            return xp.broadcast_to(x, (row.shape[0], *x.shape))
        return [x if x is None or m else _run(self.graph, stretch, x, self.rows[0]) for x, m in zip(self.inputs, self.mapped)]


def _spec(x: Any) -> TensorSpec:
    return x.spec if isinstance(x, SDVariable) else spec_of(x)


def _run(graph: Any, code: Callable[..., Any], *xs: Any) -> Any:
    """Array code on arrays, or as nodes."""
    return code(np, *xs) if graph is None else code_on_graph(graph, code, xs)[0]


def _moved(graph: Any, x: Any, source: int, target: int) -> Any:
    return x if source == target else _run(graph, lambda xp, a: xp.moveaxis(a, source, target), x)


def _each(what: str, axes: Any, count: int) -> list[Any]:
    """One axis for each of ``count`` inputs or results."""
    several = list(axes) if isinstance(axes, (tuple, list)) else [axes] * count
    if len(several) != count or not all(a is None or (isinstance(a, int) and not isinstance(a, bool)) for a in several) or (
            what == "out_axes" and None in several):
        raise GraphError(f"vectorized: {what} must be an axis, or one for each of {count}; got {axes!r}")
    return several


def _name(function: Any) -> str:
    if isinstance(function, (UserFunction, UserOp)):
        return f"op {function.id!r}"
    return getattr(function, "__name__", type(function).__name__)
