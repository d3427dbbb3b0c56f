"""Functions over arrays that are traced once for each form of arguments and replayed from then on."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from ..arrays.computing import Draws, draws
from ..arrays.recording import state
from ..base.call_cache import CallCache
from ..base.datatype import DataType
from ..base.java_names import CompiledGraphFunctionNames
from ..base.source_line import warn_user
from ..base.spec import TensorSpec
from ..base.user_code.users_arrays import users_arrays
from ..device import devices
from ..errors import DataTypeError, GradientError, GraphError, ShapeError
from ..expressions.arrays import to_numpy
from ..families.array_code.symbolic_size import NotInGraphError
from .bound import BoundGraphFunction
from .derivative import derivative
from .lazy import is_plain
from .program import TracedProgram
from .reasons import raise_as_traced, reason
from .tree import build, form_of, form_of_call, leaf_names

#: Stands for the programs of a form in which each size has its own.
_BY_SIZE = object()


class CompiledGraphFunction(CompiledGraphFunctionNames):
    """A function over arrays, compiled: traced at the first call with arguments of a form, replayed by those after it.

    Arguments and results are arrays, or tuples, lists, dictionaries and dataclasses of them. Everything else among the arguments is
    static: another value is another form. Arrays that the function uses from outside are read anew in each call; other
    names, attributes and effects (``print``) are those of the tracing. What cannot be replayed runs step by step after one warning, which
    names the line.
    Called while another function is compiled or a scope records, it is recorded there. Any number of threads may call it.

    Parameters
    ----------
    function : callable
        Of arrays, or tuples, lists, dictionaries and dataclasses of them.
    open_batch : bool
        Whether one trace serves all sizes of the first axes of the arguments; False by default. Code that needs such a size as a number
        (``np.zeros(len(x))``) is traced for each size after all, after one warning.
    seed : int, optional
        Where random ops draw from; each call draws anew. By default they go on with the numbers of ``Nd4j.random``.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py import compiled
    >>> @compiled
    ... def energy(p, x):
    ...     return ((x * p["scale"] - p["shift"]) ** 2).sum()
    >>> p, x = {"scale": np.float32(2), "shift": np.float32(1)}, np.array([1, 2], np.float32)
    >>> float(energy(p, x))
    10.0
    >>> float(energy.gradient(0)(p, x)["shift"])
    -8.0
    """

    def __init__(self, function: Callable[..., Any], *, open_batch: bool = False, seed: int | None = None) -> None:
        if not callable(function):
            raise GraphError(f"a function is compiled; got {type(function).__name__} {function!r:.60}")
        functools.update_wrapper(self, function)
        self._function, self.open_batch = function, open_batch
        self._draws = draws if seed is None else Draws(seed)
        self._must = False
        self._closed = False
        self._said: set[str] = set()
        forms = CallCache()
        self._programs, self._replays = forms.table(), forms.table()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result."""
        if state.recorder is None and not devices.active:
            arrays: list[Any] = []
            key = form_of(args, kwargs, arrays)
            replay = None if key is None else self._replays.get(key)
            if replay is not None:
                return replay(arrays)
        return self._called(args, kwargs)

    def execute(self, *arrays: Any) -> Any:
        """The function's result, by DL4J's name."""
        return self(*arrays)

    def close(self) -> None:
        """Forget traces and plans; calls are errors from now on."""
        self._closed = True
        self._programs.clear()
        self._replays.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundGraphFunction(self, instance)

    def graph(self, *args: Any, **kwargs: Any) -> Any:
        """The graph for arguments of that form; without arguments that of the last form traced.

        Arrays from outside are stored in it, those among the arguments are placeholders of the parameters' names.
        """
        if args or kwargs or not self._programs:
            arrays: list[Any] = []
            form = form_of_call(args, kwargs, arrays)
            program = self._program(form, [_given(a) for a in arrays], is_plain(arrays))
        else:
            program = next(p for p in reversed(list(self._programs.values())) if p is not _BY_SIZE)
        if isinstance(program, Exception):
            raise GraphError(f"{self._name()} cannot be compiled: {reason(program)}") from program
        return program.graph()

    def gradient(self, wrt: Any = 0) -> CompiledGraphFunction:
        """The derivative of the result, compiled; a function of the same arguments that can be differentiated again.

        Parameters
        ----------
        wrt : int, str, or sequence of them
            Positions or names of arguments. Gradients have the form of the argument; a tuple of them for a sequence.

        Raises
        ------
        GradientError
            When it is called: the result is not one floating array (its elements are summed), an argument holds no floating arrays, or
            the function cannot be compiled.
        """
        return self._derived(wrt, False)

    def value_and_gradient(self, wrt: Any = 0) -> CompiledGraphFunction:
        """The same with the result in front: ``(value, gradient)``."""
        return self._derived(wrt, True)

    def _derived(self, wrt: Any, with_value: bool) -> CompiledGraphFunction:
        made = CompiledGraphFunction(derivative(self._function, wrt, with_value), open_batch=self.open_batch)
        made._draws, made._must = self._draws, True
        return made

    # How

    def _called(self, args: Any, kwargs: Any) -> Any:
        if self._closed:
            raise GraphError(f"{self._name()} was closed: compile it again")
        if state.recorder is not None:
            return self._function(*args, **kwargs)
        found: list[Any] = []
        form = form_of_call(args, kwargs, found)
        arrays = [_given(a) for a in found]
        key = form_of(args, kwargs, [])
        replay = None
        if key is None:                 # else __call__ looked for it
            key = form, is_plain(found), *[(a.shape, a.dtype) for a in arrays]
            replay = None if devices.active else self._replays.get(key)
        if replay is not None:
            return replay(arrays)
        program = self._program(form, arrays, is_plain(found))
        if isinstance(program, Exception):
            return self._stepwise(form, found, program)
        try:
            result = program.run(arrays, self._draws.context())
        except ShapeError:
            sized: Any = self._traced(form, arrays, is_plain(found), False) if self.open_batch else program
            if sized is program:
                raise
            if isinstance(sized, Exception):
                return self._stepwise(form, found, sized)
            program, result = sized, sized.run(arrays, self._draws.context())       # which may look out for sizes that do not fit
        replay = None if devices.active else program.replay(arrays, self._draws.context)
        if replay is not None:
            self._replays[key] = replay
        return result

    def _program(self, form: Any, arrays: Sequence[Any], plain: bool) -> TracedProgram | Exception:
        """That for arrays of all sizes of first axes where it is open, else for those of their sizes; or why there is none."""
        found = self._traced(form, arrays, plain, self.open_batch)
        return self._traced(form, arrays, plain, False) if found is _BY_SIZE else found  # type: ignore[return-value]

    def _traced(self, form: Any, arrays: Sequence[Any], plain: bool, is_open: bool) -> TracedProgram | Exception | object:
        shapes = [_open(a.shape) if is_open else a.shape for a in arrays]
        key = form, plain, tuple([(s, a.dtype) for s, a in zip(shapes, arrays)])
        known = self._programs.used(key)
        if known is None or (isinstance(known, TracedProgram) and not known.is_current()):
            names = [n if n.isidentifier() else f"arg_{i}" for i, n in enumerate(_names(self._function, form))]
            specs = [TensorSpec(s, DataType.of(a.dtype)) for s, a in zip(shapes, arrays)]
            try:
                known = TracedProgram(self._function, form, specs, names, plain)
            except Exception as error:  # as code that needs values may raise anything: the steps tell
                known = self._traced_by_size(form, arrays, plain, error) if is_open else error
            self._programs[key] = known
        if isinstance(known, TracedProgram) and not known.fits(arrays):
            return NotInGraphError("it asks in which order an argument stands in memory, and is compiled for row order")
        return known

    def _traced_by_size(self, form: Any, arrays: Sequence[Any], plain: bool, why: Exception) -> Exception | object:
        """After an error where sizes are open: whether there is a program for known ones."""
        found = self._traced(form, arrays, plain, False)
        if isinstance(found, Exception):
            return found
        self._say("by size", f"is traced anew for each size of first axes, as one trace cannot serve all: {reason(why)}")
        return _BY_SIZE

    def _stepwise(self, form: Any, arrays: Sequence[Any], why: Exception) -> Any:
        """Run the function on the arrays; what it raises then is its own."""
        if self._must:
            raise GradientError(f"{self._name()} has no compiled gradient: {reason(why)}") from why
        args, kwargs = build(form, iter([_given(a) if is_plain(a) else a for a in arrays]))
        try:
            result = users_arrays(self._function(*args, **kwargs))
        except Exception as error:
            raise_as_traced(error, why)
            raise
        self._say("step by step", f"runs step by step, as it cannot be compiled: {reason(why)}")
        return result

    def _say(self, kind: str, what: str) -> None:
        """Warn once of each kind."""
        if kind not in self._said:
            self._said.add(kind)
            warn_user(f"{self._name()} {what}")

    def _name(self) -> str:
        return getattr(self, "__name__", type(self._function).__name__)

    def __repr__(self) -> str:
        return f"CompiledGraphFunction({self._name()}, {len(self._programs)} forms)"


def compiled(function: Callable[..., Any] | None = None, *, open_batch: bool = False, seed: int | None = None) -> Any:
    """Compile a function over arrays: ``@compiled``, ``@compiled(open_batch=True)`` or ``compiled(function)``.

    See :class:`CompiledGraphFunction`.

    Parameters
    ----------
    function, open_batch, seed
        As of :class:`CompiledGraphFunction`; without a function the decorator is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py import compiled
    >>> cube = compiled(lambda x: x ** 3)
    >>> float(cube.gradient().gradient()(np.float32(2)))
    12.0
    """
    if function is None:
        return functools.partial(CompiledGraphFunction, open_batch=open_batch, seed=seed)
    return CompiledGraphFunction(function, open_batch=open_batch, seed=seed)


def compile_function(inputs: int, function: Callable[[list[Any]], Any]) -> CompiledGraphFunction:
    """Compile a function of a list of ``inputs`` arrays, or of so many arguments, that returns an array or several: ``Nd4j.compile``.

    ``execute(a, b, ...)``, or ``execute([a, b, ...])``, gives a list of results.

    Examples
    --------
    >>> import numpy as np
    >>> fn = compile_function(2, lambda inputs: inputs[0] @ inputs[1])
    >>> [r.tolist() for r in fn.execute(np.ones((1, 2)), np.ones((2, 1)))]
    [[[2.0]]]
    """
    if not isinstance(inputs, int) or isinstance(inputs, bool) or inputs < 0:
        raise GraphError(f"Nd4j.compile takes the number of arrays first, then the function; got {inputs!r:.60}")

    one_by_one = inputs > 1 and _required(function) == inputs

    @functools.wraps(function)
    def call(*arrays: Any) -> Any:
        if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)):       # Java's INDArray[]
            arrays = tuple(arrays[0])
        if len(arrays) != inputs:
            raise GraphError(f"{made!r} was compiled for {inputs} arrays; got {len(arrays)}")
        result = function(*arrays) if one_by_one else function(list(arrays))
        return list(result) if isinstance(result, (tuple, list)) else [result]
    made = CompiledGraphFunction(call)
    return made


def _required(function: Callable[..., Any]) -> int:
    """How many arguments a function takes at least."""
    try:
        kinds = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):     # of a built-in
        return 1
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in kinds)


def _given(value: Any) -> Any:
    if isinstance(value, np.matrix):
        raise DataTypeError("np.matrix has operators of its own, which a graph has not: give np.asarray(matrix)")
    on_gpu = devices.as_gpu_array(value) if devices.active else None
    return to_numpy(value) if on_gpu is None else on_gpu


def _open(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (-1, *shape[1:]) if shape else shape


def _names(function: Callable[..., Any], form: Any) -> Sequence[str]:
    """A name for each array of the arguments, after the function's parameters."""
    args, kwargs = form.parts
    try:
        kinds = inspect.signature(function).parameters.values()
        own = [p.name for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except ValueError:                  # of a built-in
        own = []
    given = [*zip([*own, *(f"input_{i}" for i in range(len(own), len(args.parts)))], args.parts), *zip(kwargs.names, kwargs.parts)]
    return [n for name, part in given for n in leaf_names(part, name)]
