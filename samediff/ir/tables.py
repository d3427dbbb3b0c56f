"""The tables of a graph: variables, nodes, stored arrays, names; and the one way to add to them."""
from __future__ import annotations

import threading
from collections import ChainMap
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..base.datatype import DataType
from ..base.names import Names
from ..base.source_line import user_line
from ..base.spec import TensorSpec
from ..base.user_code.users_arrays import is_given, users_arrays
from ..errors import DL4PyError, GraphError, UnknownNameError, did_you_mean
from ..expressions.arrays import as_array, require_held
from ..expressions.typed_lists import with_lists
from .graph_plans import GraphPlans
from .node import Node
from .op import Op
from .translate_errors import inferred, translated
from .variable import SDVariable, VariableType

#: Constants up to this many elements are shown to shape rules.
VISIBLE_VALUE = 4096


class GradientGraph(NamedTuple):
    """A copy of a graph with gradients.

    Attributes
    ----------
    version : of the graph that it was made of
    targets : names of the variables to differentiate by
    graph : the copy
    found : the gradient in it of each target, None where the loss does not depend on it
    losses : names of the losses
    """

    version: int
    targets: list[str]
    graph: Any
    found: dict[str, SDVariable | None]
    losses: list[str]


class _Given(threading.local):
    """Values set for placeholders, and results that were to be kept, of each thread its own."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.results: dict[str, Any] = {}


class GraphTables:
    """The tables that make up a graph. :class:`~dl4py.samediff.SameDiff` has DL4J's methods; code that builds graphs uses these tables.

    Anything that changes the structure raises ``version``; compiled plans and the gradient graph belong to a version.

    Parameters
    ----------
    sd : the graph

    Attributes
    ----------
    variables, nodes : by name, in the order of creation
    producers : name of the node that computes a variable
    store : arrays of variables and constants
    names : unique names, and the scopes that are open
    losses, outputs : names of variables
    losses_given : whether somebody or a file named losses, and not ops of ``sd.loss`` alone
    functions : named sub-graphs
    blocks : names that were given to branches and loops
    version : of the structure
    inference_only : whether ops are added as they are outside of training
    differentiated : the node whose gradient is being added
    parent : the tables that these were copied of
    gradients : the gradient graph, once it was asked for
    plans : how runs that were asked for are done
    users_arrays : whether somebody stored or set an array with DL4J's methods; results are such arrays then
    """

    def __init__(self, sd: Any) -> None:
        self.sd = sd
        self.variables: dict[str, SDVariable] = {}
        self.nodes: dict[str, Node] = {}
        self.producers: dict[str, str] = {}
        self.store: MutableMapping[str, Any] = {}
        self.names = Names(self.is_taken)
        self.losses: list[str] = []
        self.losses_given = False
        self.outputs: list[str] = []
        self.functions: dict[str, Any] = {}
        self.blocks: set[str] = set()
        self.version = 0
        self.inference_only = False
        self.differentiated: str | None = None
        self.parent: GraphTables | None = None
        self.gradients: GradientGraph | None = None
        self.plans = GraphPlans()
        self.users_arrays = False
        self._given = _Given()

    def copy_of(self, other: GraphTables) -> None:
        """Take over variables and nodes; stored arrays are shared, not copied."""
        self.variables = {n: SDVariable(self.sd, n, v.get_variable_type(), v.spec) for n, v in other.variables.items()}
        self.nodes, self.producers, self.losses = dict(other.nodes), dict(other.producers), list(other.losses)
        self.losses_given = other.losses_given
        self.store = ChainMap({}, other.store)
        self.parent, self.users_arrays = other, other.users_arrays

    def in_kind(self, found: Any, given: Any) -> Any:
        """Results as arrays with DL4J's methods, where such were given, now or before."""
        return users_arrays(found) if self.users_arrays or is_given(given) else found

    # Looking up

    def is_taken(self, name: str) -> bool:
        """Whether a name is in use already, by a variable, a node or a result."""
        return name in self.variables or name in self.nodes or f"{name}:1" in self.variables

    def own(self, variable: SDVariable) -> SDVariable:
        """The variable; GraphError when it belongs to another graph, or no longer to this one."""
        if variable.sd is not self.sd:
            other = " (of its gradient graph)" if variable.sd.tables.parent is self else ""
            raise GraphError(f"{variable!r} belongs to another graph{other}; all inputs of an op must belong to one graph. "
                             "Copy a variable over with sd.var(variable)")
        if self.variables.get(variable.name()) is not variable:
            raise GraphError(f"{variable!r} is no longer part of its graph")
        return variable

    def variable(self, name: str | SDVariable) -> SDVariable:
        """The variable of that name; UnknownNameError suggests near ones."""
        if isinstance(name, SDVariable):
            return self.own(name)
        if not isinstance(name, str):
            raise _no_name(name)
        found = self.variables.get(name)
        if found is None:
            if self.gradients is not None and self.gradients.graph.has_variable(name):
                raise UnknownNameError(f"variable {name!r} is in the gradient graph that grad() and gradient() build, not in this one; for "
                                       "losses made of gradients add the gradients to this graph: (g,) = sd.gradients(loss, x)")
            raise UnknownNameError(f"no variable named {name!r} in this graph of {len(self.variables)} variables"
                                   f"{did_you_mean(name, self.variables)}")
        return found

    def node(self, name: str | Node) -> Node:
        """The node of that name."""
        name = name.name if isinstance(name, Node) else name
        if not isinstance(name, str) or name not in self.nodes:
            raise UnknownNameError(f"no op named {name!r:.200} in this graph{did_you_mean(str(name), self.nodes)}")
        return self.nodes[name]

    def known_gradients(self) -> GradientGraph | None:
        """The gradient graph of this version; None when it was not asked for."""
        known = self.gradients
        return known if known is not None and known.version == self.version else None

    def names_in(self, variables: Iterable[Any]) -> list[str]:
        """Names from names or variables, which must be of this graph."""
        flat = list(variables)
        for v in flat[0] if len(flat) == 1 and isinstance(flat[0], (list, tuple, set)) else flat:
            if isinstance(v, SDVariable):
                self.own(v)
            elif not isinstance(v, str):
                raise _no_name(v)
        return names_of(flat)

    def visible(self, variable: SDVariable) -> TensorSpec:
        """The spec of a variable, with its value where it is a small constant."""
        if variable.is_constant() and variable.spec.value is None:
            return _value_spec(self.store[variable.name()])
        return variable.spec

    def producer(self, name: str) -> Node | None:
        """The node that computes a variable, None for variables that are given."""
        return self.nodes.get(self.producers.get(name, ""))

    # Values of placeholders

    def given(self) -> dict[str, Any]:
        """Values that this thread has set for placeholders."""
        return self._given.values

    def results(self) -> dict[str, Any]:
        """Results of this thread's last run that was to keep them."""
        return self._given.results

    def keep_results(self, values: dict[str, Any]) -> None:
        """Keep these in place of the ones before."""
        self._given.results = values

    def known_feeds(self) -> dict[str, Any]:
        """Values of placeholders that this thread has set, or else gave to its last run that was to keep them."""
        kept = {n: a for n, a in self._given.results.items() if n in self.variables and self.variables[n].is_place_holder()}
        return kept | self._given.values

    def forget_given(self) -> None:
        """Forget the values set for placeholders, and kept results, on all threads."""
        self._given = _Given()

    # Adding

    def changed(self) -> None:
        """Note that the structure is another one."""
        self.version += 1

    def add_variable(self, name: str, kind: VariableType, spec: TensorSpec, array: Any = None) -> SDVariable:
        """Add a variable, with the array that it stores."""
        check_name(name)
        if name in self.variables:
            raise GraphError(f"variable name {name!r} is taken already by {self.variables[name]!r}; choose another one or rename that")
        made = SDVariable(self.sd, name, kind, spec)
        self.variables[name] = made
        if array is not None:
            self.store[name] = array
        self.changed()
        return made

    def add_input(self, name: str, spec: TensorSpec) -> SDVariable:
        """A placeholder of that shape and type."""
        return self.add_variable(name, VariableType.PLACEHOLDER, TensorSpec(spec.shape, spec.dtype))

    def new_input(self, base: str, spec: TensorSpec) -> SDVariable:
        """Add an input under a free name that begins with ``base``."""
        return self.add_input(self.names.unique(base), spec)

    def put_node(self, node: Node, specs: Iterable[TensorSpec]) -> None:
        """Add a node with its results unchecked, as it was checked in another graph."""
        for name, spec in zip(node.outputs, specs):
            self.add_variable(name, VariableType.ARRAY, spec)
            self.producers[name] = node.name
        self.nodes[node.name] = node

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Context manager that removes everything added in the block when it raises."""
        variables, nodes, losses = len(self.variables), len(self.nodes), len(self.losses)
        try:
            yield
        except BaseException:
            for name in list(self.variables)[variables:]:
                del self.variables[name]
                self.store.pop(name, None)
                self.producers.pop(name, None)
            for name in list(self.nodes)[nodes:]:
                del self.nodes[name]
            del self.losses[losses:]
            self.names.released()
            self.changed()
            raise

    def add_node(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """Add an op; see :meth:`.GraphCore.add_op`."""
        def add(given: Sequence[Any]) -> Any:
            with self.all_or_nothing():
                return self._added(op, given, names)
        return with_lists(add, inputs)

    def _added(self, op: Op, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        variables = self.as_inputs(inputs)
        line = user_line()
        specs = [None if v is None else self.visible(v) for v in variables]
        try:
            found = inferred(op, specs)
        except Exception as error:
            known = error if isinstance(error, DL4PyError) else translated(op, error)
            if known is None:
                raise
            given = ", ".join("-" if v is None else f"{v.name()} {v.spec}" for v in variables)
            where = f" (at {line})" if line else ""
            raise type(known)(f"{op.id}: {known}; inputs: {given or 'none'}{where}") from error
        several = not isinstance(found, TensorSpec)
        outputs = tuple(found) if isinstance(found, tuple) else (found,)
        if not outputs:
            return []                   # nothing could ever ask for it
        own = self.names.unique(op.node_name or op.id)
        wanted = self._output_names(own, outputs, names)
        node = Node(own, op, tuple(None if v is None else v.name() for v in variables), tuple(wanted), line,
                    gradient_of=self.differentiated)
        made = [self.add_variable(n, VariableType.ARRAY, s) for n, s in zip(wanted, outputs)]
        self.nodes[own] = node
        self.producers.update(dict.fromkeys(wanted, own))
        if op.is_loss:
            self.losses.append(wanted[0])
        return made if several else made[0]

    def _output_names(self, own: str, outputs: Sequence[TensorSpec], names: Sequence[str] | None) -> list[str]:
        wanted = [own if i == 0 else f"{own}:{i}" for i in range(len(outputs))]
        given = [self.names.scoped(n) for n in names or ()]
        if len(given) > len(outputs):
            raise GraphError(f"{len(given)} names {given} for {len(outputs)} outputs")
        if 1 < len(given) < len(outputs):
            raise GraphError(f"{len(given)} names {given} for {len(outputs)} outputs; give one for each, or one for all")
        for i, name in enumerate(given):
            if name in self.variables or name in given[:i] or name in wanted[i + 1:]:
                raise GraphError(f"variable name {name!r} is taken already by {self.variables.get(name, 'another output')!r}")
            wanted[i] = name
            if i == 0 and len(given) == 1:
                wanted[1:] = [f"{name}:{k}" for k in range(1, len(outputs))]
        return wanted

    def as_inputs(self, inputs: Sequence[Any]) -> list[SDVariable | None]:
        """Variables of this graph, where arrays and numbers become constants of it."""
        first = next((v for v in inputs if isinstance(v, SDVariable)), None)
        made: list[SDVariable | None] = []
        for value in inputs:
            if value is None or isinstance(value, SDVariable):
                made.append(None if value is None else self.own(value))
                continue
            number = isinstance(value, (bool, int, float))
            dtype = first.dtype.numpy if number and first is not None and first.dtype.is_numeric else None
            if dtype is not None:
                require_held(value, dtype)
            array = as_array(value, dtype)
            if array is value or array.base is not None:
                array = owned_copy(array)
            name = self.names.unique("const")
            made.append(self.add_variable(name, VariableType.CONSTANT, _value_spec(array), array))
        return made


def _value_spec(array: Any) -> TensorSpec:
    value = array if array.size <= VISIBLE_VALUE else None
    return TensorSpec(tuple(array.shape), DataType.of(array.dtype), value)


def check_name(name: Any) -> None:
    """GraphError unless it can be the name of a variable."""
    if not isinstance(name, str) or not name:
        raise GraphError(f"names of variables are text that is not empty, got {name!r}")


def _no_name(value: Any) -> UnknownNameError:
    return UnknownNameError(f"a variable is given itself or by its name, which is a text; got {value!r:.60}")


def names_of(variables: Iterable[str | SDVariable]) -> list[str]:
    """Names from names or variables; one nested list is unpacked."""
    flat = list(variables)
    if len(flat) == 1 and isinstance(flat[0], (list, tuple, set)):
        flat = list(flat[0])
    return [v.name() if isinstance(v, SDVariable) else v for v in flat]


def owned_copy(array: Any) -> Any:
    """A contiguous copy that nobody else holds."""
    return np.array(array, order="C", copy=True)
