"""The tables of a graph: variables, nodes, stored arrays, names."""
from __future__ import annotations

import itertools
import threading
from collections import ChainMap
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from ..base.datatype import DataType
from ..base.javanames import JavaSpelling
from ..base.names import Names, NameScope
from ..base.source import user_line
from ..base.spec import TensorSpec
from ..device.device_memory import to_host
from ..errors import DL4PyError, GraphError, ShapeError, UnknownNameError, did_you_mean
from ..expressions.arrays import as_array, converted, require_in_range
from . import namespaces
from .node import Node
from .op import Op
from .refusal import inferred, refusal
from .variable import SDVariable, VariableType

#: Constants up to this many elements are shown to shape rules.
VISIBLE_VALUE = 4096


class GraphCore(JavaSpelling):
    """Tables of a graph and the one way to add to them; the parts of :class:`SameDiff` build on it.

    Anything that changes the structure raises ``version``; compiled plans and the gradient graph belong to a version.
    """

    def __init__(self) -> None:
        self._variables: dict[str, SDVariable] = {}
        self._nodes: dict[str, Node] = {}
        self._producers: dict[str, str] = {}
        self._store: MutableMapping[str, Any] = {}
        self._names = Names(self._is_taken)
        self._losses: list[str] = []
        self._inference_only = False            # while at_inference() is open
        self._differentiated: str | None = None     # the node whose gradient is being added
        self._fed = threading.local()
        self.version = 0
        self.seed = 0

    @property
    def seed(self) -> int:
        """Where random ops draw from; setting it starts their numbers again."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed, self._draws = int(seed), itertools.count()

    # Names

    def _is_taken(self, name: str) -> bool:
        return name in self._variables or name in self._nodes or f"{name}:1" in self._variables

    def with_name_scope(self, name: str) -> NameScope:
        """Open a name scope: ``with sd.with_name_scope("block"): …``; scopes nest."""
        return NameScope(self._names, name)

    def current_name_scope(self) -> str | None:
        """The active scopes joined by ``/``, None outside scopes."""
        return self._names.prefix.rstrip("/") or None

    # Variables

    def variable(self, name: str | SDVariable) -> SDVariable:
        """The variable of that name; UnknownNameError suggests near ones."""
        if isinstance(name, SDVariable):
            return self._own(name)
        found = self._variables.get(name)
        if found is None:
            behind = getattr(self, "_grad_graph", None)
            if behind is not None and behind[2].has_variable(name):
                raise UnknownNameError(f"variable {name!r} is in the gradient graph that grad() and gradient() build, not in this one; for "
                                       "losses made of gradients add the gradients to this graph: (g,) = sd.gradients(loss, x)")
            raise UnknownNameError(f"no variable named {name!r} in this graph of {len(self._variables)} variables"
                                   f"{did_you_mean(str(name), self._variables)}")
        return found

    get_variable = variable

    def has_variable(self, name: str) -> bool:
        """True when a variable of that name exists."""
        return name in self._variables

    def variables(self) -> list[SDVariable]:
        """All variables, in the order of creation."""
        return list(self._variables.values())

    def variable_map(self) -> dict[str, SDVariable]:
        """All variables by name."""
        return dict(self._variables)

    def variable_names(self) -> list[str]:
        """Names of all variables."""
        return list(self._variables)

    def _own(self, variable: SDVariable) -> SDVariable:
        if variable.sd is not self:
            other = " (of its gradient graph)" if getattr(variable.sd, "_parent", None) is self else ""
            raise GraphError(f"{variable!r} belongs to another graph{other}; all inputs of an op must belong to one graph. "
                             "Copy a variable over with sd.var(variable)")
        if self._variables.get(variable.name()) is not variable:
            raise GraphError(f"{variable!r} is no longer part of its graph")
        return variable

    def _names_in(self, variables: Iterable[Any]) -> list[str]:
        """Names from names or variables, which must be of this graph."""
        flat = list(variables)
        for v in flat[0] if len(flat) == 1 and isinstance(flat[0], (list, tuple, set)) else flat:
            if isinstance(v, SDVariable):
                self._own(v)
        return names_of(flat)

    def _add_variable(self, name: str, kind: VariableType, spec: TensorSpec, array: Any = None) -> SDVariable:
        check_name(name)
        if name in self._variables:
            raise GraphError(f"variable name {name!r} is taken already by {self._variables[name]!r}; choose another one or rename that")
        made = SDVariable(self, name, kind, spec)  # type: ignore[arg-type]  # every core is a SameDiff
        self._variables[name] = made
        if array is not None:
            self._store[name] = array
        self._changed()
        return made

    def _changed(self) -> None:
        self.version += 1

    # Stored values

    def stored(self, name: str) -> Any:
        """The array kept or set for a variable, None when there is none."""
        if self.variable(name).is_place_holder():
            return self._placeholder_values().get(name)
        return to_host(self._store.get(name))

    def _placeholder_values(self) -> dict[str, Any]:
        if not hasattr(self._fed, "values"):
            self._fed.values = {}
        return self._fed.values  # type: ignore[no-any-return]

    def set_array(self, name: str | SDVariable, array: Any) -> None:
        """Store the value of a variable or constant, or set that of a placeholder for this thread."""
        variable = self.variable(name)
        kind = variable.get_variable_type()
        if kind is VariableType.ARRAY:
            raise GraphError(f"{variable!r} is computed by {self._nodes[self._producers[variable.name()]].where()}; it cannot be set")
        value = as_array(array)
        if value.dtype != variable.dtype.numpy:
            value = converted(value, variable.dtype.numpy, f"{variable!r} is {variable.dtype.name}")
        if not variable.spec.accepts(value.shape):
            raise ShapeError(f"{variable!r} declares shape {variable.get_shape()}, the array has {value.shape}")
        if kind is VariableType.PLACEHOLDER:
            self._placeholder_values()[variable.name()] = value
            return
        old = to_host(self._store.get(variable.name()))
        if old is not None and old.shape == value.shape and kind is VariableType.VARIABLE:
            old[...] = value          # compiled plans and flat parameter vectors look at this very array
        else:
            self._store[variable.name()] = value.copy()
            self._changed()

    # Ops

    def nodes(self) -> list[Node]:
        """All nodes, in the order of creation."""
        return list(self._nodes.values())

    def producer(self, name: str) -> Node | None:
        """The node that computes a variable, None for variables that are given."""
        return self._nodes.get(self._producers.get(name, ""))

    def consumers(self, name: str) -> list[Node]:
        """The nodes that read a variable."""
        return [n for n in self._nodes.values() if name in n.inputs]

    def call(self, namespace: str, method: str, *args: Any, **kwargs: Any) -> Any:
        """Add the op behind ``sd.<namespace>.<method>(...)``."""
        return namespaces.call(self, namespace, method, args, kwargs)

    def _variable_method(self, variable: SDVariable, name: str) -> Any:
        return namespaces.variable_method(variable, name)

    def _variable_methods(self) -> list[str]:
        return namespaces.method_names("var")

    def add_op(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None = None) -> Any:
        """Add a node: the only way an op enters a graph.

        Parameters
        ----------
        op : Op
        inputs : sequence of SDVariable, array, number or None
            Numbers take the type of the first variable; None leaves out an optional input.
        names : sequence of str, optional
            Names for the outputs; all of them, or the first only.

        Returns
        -------
        SDVariable, or a list of them when the op has several outputs.

        Raises
        ------
        ShapeError, DataTypeError, GraphError
            The inputs do not fit; the text names op, inputs and the calling line. The graph stays as it was.
        """
        with self._all_or_nothing():
            return self._add_op(op.at_inference() if self._inference_only else op, inputs, names)

    @contextmanager
    def at_inference(self) -> Iterator[None]:
        """Ops that are added in this block behave as outside of training in every run (no dropout, no batch statistics)."""
        before, self._inference_only = self._inference_only, True
        try:
            yield
        finally:
            self._inference_only = before

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Take back what was added when the block raises."""
        variables, nodes, losses = len(self._variables), len(self._nodes), len(self._losses)
        try:
            yield
        except BaseException:
            for name in list(self._variables)[variables:]:
                del self._variables[name]
                self._store.pop(name, None)
                self._producers.pop(name, None)
            for name in list(self._nodes)[nodes:]:
                del self._nodes[name]
            del self._losses[losses:]
            self._names.released()
            self._changed()
            raise

    def _add_op(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        variables = self._as_inputs(op, inputs)
        line = user_line()
        specs = [None if v is None else self._visible(v) for v in variables]
        try:
            found = inferred(op, specs)
        except Exception as error:
            known = error if isinstance(error, DL4PyError) else refusal(op, error)
            if known is None:
                raise
            given = ", ".join("-" if v is None else f"{v.name()} {v.spec}" for v in variables)
            where = f" (at {line})" if line else ""
            raise type(known)(f"{op.id}: {known}; inputs: {given or 'none'}{where}") from error
        several = not isinstance(found, TensorSpec)
        outputs = tuple(found) if isinstance(found, tuple) else (found,)
        own = self._names.unique(op.node_name or op.id)
        wanted = self._output_names(own, outputs, names)
        node = Node(own, op, tuple(None if v is None else v.name() for v in variables), tuple(wanted), line,
                    gradient_of=self._differentiated)
        made = [self._add_variable(n, VariableType.ARRAY, s) for n, s in zip(wanted, outputs)]
        self._nodes[own] = node
        self._producers.update(dict.fromkeys(wanted, own))
        if op.is_loss:
            self._losses.append(wanted[0])
        return made if several else made[0]

    def _output_names(self, own: str, outputs: Sequence[TensorSpec], names: Sequence[str] | None) -> list[str]:
        wanted = [own if i == 0 else f"{own}:{i}" for i in range(len(outputs))]
        given = [self._names.scoped(n) for n in names or ()]
        if len(given) > len(outputs):
            raise GraphError(f"{len(given)} names {given} for {len(outputs)} outputs")
        if 1 < len(given) < len(outputs):
            raise GraphError(f"{len(given)} names {given} for {len(outputs)} outputs; give one for each, or one for all")
        for i, name in enumerate(given):
            if name in self._variables or name in given[:i] or name in wanted[i + 1:]:
                raise GraphError(f"variable name {name!r} is taken already by {self._variables.get(name, 'another output')!r}")
            wanted[i] = name
            if i == 0 and len(given) == 1:
                wanted[1:] = [f"{name}:{k}" for k in range(1, len(outputs))]
        return wanted

    def _as_inputs(self, op: Op, inputs: Sequence[Any]) -> list[SDVariable | None]:
        first = next((v for v in inputs if isinstance(v, SDVariable)), None)
        made: list[SDVariable | None] = []
        for value in inputs:
            if value is None or isinstance(value, SDVariable):
                made.append(None if value is None else self._own(value))
                continue
            number = isinstance(value, (bool, int, float))
            dtype = first.dtype.numpy if number and first is not None and first.dtype.is_numeric else None
            if dtype is not None:
                require_in_range(value, dtype)
            array = as_array(value, dtype)
            if array is value:
                array = owned_copy(array)
            name = self._names.unique("const")
            made.append(self._add_variable(name, VariableType.CONSTANT, _value_spec(array), array))
        return made

    def _visible(self, variable: SDVariable) -> TensorSpec:
        """The spec of a variable, with its value where it is a small constant."""
        if variable.is_constant() and variable.spec.value is None:
            return _value_spec(self._store[variable.name()])
        return variable.spec

    def fork(self) -> Self:
        """A graph with the same variables and nodes that can be extended; stored arrays are shared, not copied."""
        other = type(self)()
        other._variables = {n: SDVariable(other, n, v.get_variable_type(), v.spec) for n, v in self._variables.items()}  # type: ignore[arg-type]
        other._nodes = dict(self._nodes)
        other._producers = dict(self._producers)
        other._store = ChainMap({}, self._store)
        other._losses = list(self._losses)
        other.seed = self.seed
        other._parent = self  # type: ignore[attr-defined]
        return other


def _value_spec(array: Any) -> TensorSpec:
    value = array if array.size <= VISIBLE_VALUE else None
    return TensorSpec(tuple(array.shape), DataType.of(array.dtype), value)


def check_name(name: Any) -> None:
    """GraphError unless it can be the name of a variable."""
    if not isinstance(name, str) or not name:
        raise GraphError(f"names of variables are text that is not empty, got {name!r}")


def names_of(variables: Iterable[str | SDVariable]) -> list[str]:
    """Names from names or variables; one nested list is unpacked."""
    flat = list(variables)
    if len(flat) == 1 and isinstance(flat[0], (list, tuple, set)):
        flat = list(flat[0])
    return [v.name() if isinstance(v, SDVariable) else v for v in flat]


def owned_copy(array: Any) -> Any:
    """A contiguous copy that nobody else holds."""
    return np.array(array, order="C", copy=True)
