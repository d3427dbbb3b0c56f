"""Taking down what a thread calls on arrays: ops and functions of NumPy become nodes of a graph."""
from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ..arrays.orders import counts_in_memory
from ..arrays.recording import Recorder, switch
from ..base.datatype import DataType
from ..base.source_line import SourceLine, user_line
from ..base.spec import TensorSpec
from ..errors import DL4PyError, GraphError, GraphScopeError
from ..expressions.arrays import as_array, to_numpy
from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import NotInGraphError, SymbolicSize
from ..graph.graph import SameDiff
from ..ir.op import Op
from ..ir.tables import VISIBLE_VALUE
from ..ir.translate_errors import call_text, error_class, is_of_users, locate, name_of_function, translated
from ..ir.variable import SDVariable
from ..numpy_functions.fourier import ComplexArray
from ..numpy_functions.functions import NumpyFunctions
from . import in_place
from .asked_of_numpy import STRICTER, refusal, strict_refusal
from .beginning_call import BeginningCall
from .lazy import LazyINDArray, array_of, is_pending, is_plain, keep_values, trace_of, value_of
from .memory_order import MemoryOrders
from .shared_memory import Look


class GraphTrace:
    """A recorder that adds nodes to a graph of its own; what it returns is lazy.

    Class attributes
    ----------------
    of_function : whether a function is taken down, in whose code lazy arrays are of the classes of those in whose place they are, and loops
        go over their rows
    plain : whether lazy arrays stand for NumPy's own, whose methods are NumPy's, not DL4J's, where the names are the same

    Attributes
    ----------
    sd : the graph
    xp : NumPy's functions on it
    captured : arrays from outside that the nodes read, by the names of their placeholders
    baked : small arrays of whole numbers and truth values that became constants (axes, shapes, indices), with the values they had
    seen : variables that stand for what looks at the memory of another one in NumPy, though nodes copy it, with where that is
    orders : which variables stand for arrays in column order
    own : variables that ops gave, which have memory of their own also where nodes only look at it
    depth : in how many bodies of branches and loops it is
    begun : the user's line that began it
    call : the call that began it
    """

    of_function = False
    plain = False

    def __init__(self) -> None:
        self.sd = SameDiff()
        self.xp = NumpyFunctions(self)
        self.captured: dict[str, Any] = {}
        self.baked: list[tuple[Any, Any]] = []
        self.depth = 0
        self.begun: SourceLine | None = None
        self.call: BeginningCall | None = None
        self.seen: dict[str, Look] = {}
        self.own: set[str] = set()
        self.orders = MemoryOrders(self.sd)
        self._known: dict[int, tuple[Any, SDVariable]] = {}
        self._lazy: list[weakref.ref[LazyINDArray]] = []

    # As a recorder

    def is_left(self) -> bool:
        return self.call is not None and self.call.is_left()

    def record(self, op: Op, inputs: Sequence[Any]) -> Any:
        """One op, as nodes."""
        try:
            with self._all_or_nothing():
                given = [self.operand(v) for v in inputs]
                turned = counts_in_memory(op) and self.orders.in_columns(given[0])
                made = self.sd.place_op(op, [self.sd.call("base", "transpose", given[0])] if turned else given)
                made = self.sd.call("base", "transpose", made) if turned else made
        except Exception as error:
            known = translated(op, error)
            if known is None:
                raise
            raise type(known)(call_text(str(known), op.id, inputs, {})) from error
        before = {v.name() for v in given if isinstance(v, SDVariable)}
        self.own.update({v.name() for v in (made if isinstance(made, (list, tuple)) else [made])} - before)
        return tuple(self.lazy(v, False) for v in made) if isinstance(made, (list, tuple)) else self.lazy(made, False)

    def record_function(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A function of NumPy, as nodes; ``NotImplemented`` where there are none for it and no argument is lazy."""
        with self._explaining(name_of_function(function), function, args, kwargs):
            return self._function(function, args, kwargs)

    def _function(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        out = kwargs.get("out")
        if function is operator.getitem and not is_pending(args):
            return NotImplemented                   # a view, as without the recorder
        if function in in_place.CHANGES:
            return in_place.change(self, function, args, kwargs)
        if out is not None and not isinstance(out, LazyINDArray):
            return in_place.change(self, function, (out, *args), kwargs)
        if (theirs := strict_refusal(function, args, kwargs)) is not None:
            raise (error_class(theirs) or GraphError)(str(theirs)) from theirs
        try:
            with self._all_or_nothing():
                given = {k: self.inner(v) for k, v in kwargs.items() if k != "out"}
                chosen = given.pop("where", True) if isinstance(function, np.ufunc) and out is not None else True
                taken = (args[0], self.places(args[1])) if function is operator.getitem else tuple(args)
                made = self.xp.call(function, self.inner(taken), given)
                if chosen is not True:
                    made = self.xp.where(chosen, made, self.inner(out))
        except NotInGraphError as error:
            if not is_pending((*args, *kwargs.values())):
                return NotImplemented
            self._refuse_call(error, name_of_function(function), function, args, kwargs)
        if function is np.copy and kwargs.get("order", "K") in ("C", "F"):
            self.orders.note(made.variable, kwargs["order"] == "F")
        made = self.outer(made, is_plain((*args, *kwargs.values())))
        return made if out is None else in_place.assign(self, out, made)

    def record_method(self, name: str, array: LazyINDArray, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A method of NumPy's arrays."""
        if kwargs.get("out") is not None:
            self.refuse(f"the method {name!r} with out= is not recorded")

        if getattr(np, name, None) in STRICTER:
            return self.record_function(getattr(np, name), (array, *args), kwargs)

        def method(x: Any, *rest: Any, **options: Any) -> Any:
            return getattr(x, name)(*rest, **options)
        with self._explaining(f"array.{name}", method, (array, *args), kwargs):
            try:
                with self._all_or_nothing():
                    given = {k: self.inner(v) for k, v in kwargs.items() if v is not None}
                    made = self.xp.method(name, array_of(array), self.inner(tuple(args)), given)
            except (NotInGraphError, TypeError) as error:
                self._refuse_call(error, f"array.{name}", method, (array, *args), kwargs)
            return self.outer(made, is_plain((array, *args)))

    def item(self, array: LazyINDArray, index: Any) -> Any:
        """``array[index]``."""
        with self._explaining("array[index]", operator.getitem, (array, index), {}):
            try:
                with self._all_or_nothing():
                    made = self.xp.getitem(array_of(array), self.inner(self.places(index)))
            except NotInGraphError as error:
                self._refuse_call(error, "array[index]", operator.getitem, (array, index), {})
            return self.outer(made, is_plain(array))

    def set_item(self, array: LazyINDArray, index: Any, value: Any) -> None:
        """``array[index] = value``."""
        with self._explaining("array[index] = value", operator.setitem, (array, index, value), {}):
            in_place.set_item(self, array, index, value)

    def record_assign(self, target: Any, value: Any) -> Any:
        """Give an array another value."""
        if is_pending(target):
            return in_place.assign(self, target, value)
        if is_pending(value):
            self.refuse("an array that was not recorded is changed in place by values that only are: x = x.add(...) makes a new one")
        self.changing(target)
        np.copyto(np.asarray(target), np.asarray(value), casting="unsafe")
        return target

    def record_turn(self, target: Any, order: Sequence[int]) -> Any:
        """Turn the axes of an array."""
        if not is_pending(target):
            self.refuse("an array from outside turns its own axes: permute and transpose make a new one")
        return in_place.turn(self, target, order)

    def record_new(self, array: Any) -> Any:
        """An array in memory of its own."""
        held = self.sd.constant(array) if array.size <= VISIBLE_VALUE else self.capture(array)
        made = self.lazy(self.sd.call("base", "identity", held), False)
        keep_values(made, array)
        return made

    def changing(self, array: Any) -> None:
        """Refuse that an array from outside is changed in place, where this would not come out as without the recorder."""
        in_place.refuse_change(self, array)

    def drawing(self) -> None:
        """Numbers may be drawn at once: what is recorded runs once."""

    def refuse(self, why: str) -> NoReturn:
        """Raise that something cannot be recorded, with the line of the user."""
        raise GraphScopeError(f"{why}{at()}. A graph scope, begun{self.since()}, only records: end it first (scope.end()), or use what can "
                              "be recorded (Nd4j.where, Nd4j.if_cond, Nd4j.while_loop, Nd4j.scan)")

    def refuse_from_outside(self, array: LazyINDArray) -> NoReturn:
        """Raise that an array is used where this recorder does not record."""
        raise GraphScopeError(f"{array!r} is used{at()}, but the graph scope that recorded it, begun{self.since()}, was left by an error "
                              "or close(), or belongs to another thread: its arrays have values only after scope.end()")

    def note(self, error: NotInGraphError) -> None:
        """Note an error that code of users may catch."""

    def since(self) -> str:
        """Where it was begun, behind a verb."""
        return f" at {self.begun}" if self.begun else ""

    @contextmanager
    def _explaining(self, what: str, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Iterator[None]:
        """Errors of a call are those that it has without the recorder, typed, with its arguments and the user's line."""
        try:
            yield
        except (NotInGraphError, GraphScopeError):
            raise
        except DL4PyError as error:
            locate(error)
            theirs = refusal(function, args, options)
            kind = None if theirs is None else error_class(theirs)
            if kind is None or isinstance(error, kind):
                raise
            raise kind(str(error)) from error
        except Exception as error:
            if is_of_users(error):
                raise
            theirs = refusal(function, args, options) or error
            raise (error_class(theirs) or GraphError)(call_text(str(theirs), what, args, options)) from error

    def _refuse_call(self, why: Exception, what: str, function: Callable[..., Any], args: Sequence[Any],
                     options: Mapping[str, Any]) -> NoReturn:
        """Raise that a call cannot be recorded, or what is wrong with it where NumPy does not take it either."""
        theirs = refusal(function, args, options)
        kind = None if theirs is None or isinstance(theirs, np.linalg.LinAlgError) else error_class(theirs)
        if kind is None:            # NumPy would take it; of ones, matrices may have no inverse
            self.refuse(str(why))
        raise kind(call_text(str(theirs), what, args, options)) from theirs

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Take back what a call added that cannot be recorded."""
        before = [(kept, len(kept)) for kept in (self._known, self.captured)]
        baked = len(self.baked)
        try:
            with self.sd.tables.all_or_nothing():
                yield
        except BaseException:
            del self.baked[baked:]
            for kept, count in before:
                while len(kept) > count:
                    kept.popitem()
            raise

    # Between arrays and variables

    def lazy(self, variable: SDVariable, plain: bool = True) -> LazyINDArray:
        """An array that stands for a variable; one of NumPy's own where the trace has such and it is not told otherwise."""
        made = LazyINDArray(self, self.xp.wrap(variable), self.depth, plain and self.plain)
        self._lazy.append(weakref.ref(made))
        return made

    def operand(self, value: Any) -> Any:
        """The variable of an array; numbers, lists and None as they are."""
        if isinstance(value, LazyINDArray):
            real = value_of(value)
            if real is not None:
                return self.capture(real)
            if trace_of(value) is not self:
                trace_of(value).refuse_from_outside(value)
            return array_of(value).variable
        if isinstance(value, SymbolicSize):
            value = value.number()
        if isinstance(value, GraphArray):           # made from sizes that are not known
            return value.variable
        return self.capture(value) if isinstance(value, np.ndarray) or hasattr(value, "__cuda_array_interface__") else value

    def result(self, value: Any) -> SDVariable:
        """The variable of what code gives: numbers become arrays, sizes that are not known whole numbers."""
        value = value.whole() if isinstance(value, SymbolicSize) else value
        known = hasattr(value, "dtype") and not isinstance(value, np.generic)
        made: SDVariable = self.operand(value if known else as_array(value))
        return made

    def inner(self, value: Any) -> Any:
        """A value with graph arrays in place of lazy ones and of NumPy's; sizes, which may belong to a shape, as they are."""
        if isinstance(value, SymbolicSize):
            return value
        if type(value) in (tuple, list):
            return type(value)(map(self.inner, value))
        if type(value) is range:
            return tuple(value)
        made = self.operand(value)
        return self.xp.wrap(made) if isinstance(made, SDVariable) else made

    def places(self, index: Any) -> Any:
        """An index with positions in place of small masks whose values are known."""
        entries = [list(e) if type(e) is range else e for e in (index if isinstance(index, tuple) else [index])]
        masks = [isinstance(e, np.ndarray) and e.dtype == np.bool_ and e.size <= VISIBLE_VALUE and e.ndim > 0 for e in entries]
        if not any(masks):
            return tuple(entries) if isinstance(index, tuple) else entries[0]
        for e, known in zip(entries, masks):
            if known:
                self.capture(e)                 # so that other values are another trace
        return tuple(p for e, known in zip(entries, masks) for p in (_positions(np.asarray(e)) if known else [e]))

    def outer(self, value: Any, plain: bool = True) -> Any:
        """A result with lazy arrays in place of graph arrays."""
        if type(value) in (tuple, list):
            return type(value)(self.outer(v, plain) for v in value)
        if hasattr(type(value), "_fields"):
            return type(value)(*[self.outer(v, plain) for v in value])
        if isinstance(value, ComplexArray):
            self.refuse("complex numbers, as np.fft gives them, are no arrays of a graph")
        return self.lazy(value.variable, plain) if isinstance(value, GraphArray) else value

    def capture(self, array: Any) -> SDVariable:
        """The variable for an array from outside."""
        known = self._known.get(id(array))
        if known is not None:
            return known[1]
        given = self.as_read(array)
        spec = TensorSpec(tuple(given.shape), DataType.of(given.dtype))
        if not spec.dtype.is_floating and given.size <= VISIBLE_VALUE:
            made = self.sd.constant(given)
            self.orders.note_array(made, array)
            self.baked.append((array, np.array(given)))
            if self.depth:                          # a constant that is made in a body belongs to that
                return made
        else:
            made = self.sd.tables.new_input("captured", spec)
            self.captured[made.name()] = given
            self.orders.note_array(made, array)
        self._known[id(array)] = array, made
        return made

    def looks_at(self, part: Any, source: Any, places: Any) -> None:
        """Note that an array looks at the memory of another one: at those places of it."""
        self.seen[part.variable.name()] = Look(source.variable.name(), places)

    def as_read(self, array: Any) -> Any:
        """An array from outside as runs are to read it: NumPy's own may change unnoticed, so a copy."""
        return np.array(array) if type(array) is np.ndarray else to_numpy(array)

    def read(self) -> list[Any]:
        """The arrays from outside that nodes read."""
        return [a for a, _ in self._known.values() if isinstance(a, np.ndarray)]

    def alive(self) -> list[LazyINDArray]:
        """The lazy arrays that somebody still holds and that have no value yet."""
        found = [a for r in self._lazy if (a := r()) is not None and value_of(a) is None]
        self._lazy = [weakref.ref(a) for a in found]
        return found

    @contextmanager
    def body(self) -> Iterator[None]:
        """What is recorded in this block becomes the body of a branch or loop."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def _positions(mask: Any) -> list[Any]:
    """Where a mask is true, for each axis: lists, which are no arrays from outside, or empty arrays."""
    return [p.tolist() if p.size else p for p in mask.nonzero()]


@contextmanager
def recording(trace: Recorder) -> Iterator[None]:
    """Have this thread's calls taken down by ``trace`` in this block."""
    before = switch(trace)
    try:
        yield
    finally:
        switch(before)


def at() -> str:
    """The user's line, for the end of a sentence."""
    line = user_line()
    return f" (at {line})" if line else ""
