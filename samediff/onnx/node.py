"""An ONNX node, as converters see it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import GraphError, ValueNeededError
from ..families.array_code.graph_array import GraphArray
from ..numpy_functions.on_variables import OnVariables
from .values import Held, array_of, data_type

_NO = object()


class OnnxNode:
    """One node of an ONNX model: its attributes, what is known of its inputs, and the functions that add nodes here.

    Attributes
    ----------
    sd : SameDiff
        The graph that is made.
    xp : namespace
        NumPy's functions, which add nodes.
    op_type, domain, name : str
        As in the file.
    version : int
        That of the operator set.
    inputs : list
        What stands behind each input.
    """

    def __init__(self, walk: Any, proto: Any, version: int, inputs: Sequence[Any], attributes: dict[str, Any]) -> None:
        self.walk, self.proto, self.version, self.inputs = walk, proto, version, list(inputs)
        self.sd = walk.sd
        self.xp: Any = OnVariables(walk.sd).xp
        self.op_type, self.domain, self.name = proto.op_type, proto.domain, proto.name
        self.attributes = attributes

    def __repr__(self) -> str:
        where = f" {self.name!r}" if self.name else f" that gives {', '.join(map(repr, list(self.proto.output)[:4]))}"
        return f"{self.walk.library} node{where} ({f'{self.domain}.' if self.domain else ''}{self.op_type}, version {self.version})"

    # Attributes

    def get(self, name: str, default: Any = _NO) -> Any:
        """An attribute: a number, text, list, array or graph."""
        if name in self.attributes:
            return self.attributes[name]
        if default is _NO:
            raise GraphError(f"{self!r} has no attribute {name!r}, which it needs")
        return default

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that says yes or no."""
        return bool(self.get(name, int(default)))

    def dtype(self, name: str, default: Any = None) -> Any:
        """An attribute that names a type of elements, as a type of NumPy."""
        code = self.get(name, 0)
        return default if not code else data_type(code, f"attribute {name!r} of {self!r}").numpy

    # Inputs

    def has(self, i: int) -> bool:
        """Whether input ``i`` is given."""
        return i < len(self.inputs) and self.inputs[i] is not None

    def known(self, i: int) -> Any:
        """The value of input ``i`` where it is known while the graph is built, else None."""
        given = self.inputs[i] if i < len(self.inputs) else None
        if isinstance(given, Held):
            return given.array
        if isinstance(given, list) or given is None:
            return None
        return self.sd.tables.visible(given).value

    def value(self, i: int, what: str) -> Any:
        """The value of input ``i``, which the graph depends on.

        Raises
        ------
        ValueNeededError
            It is not known.
        """
        found = self.known(i)
        if found is None:
            raise self.needed(i, what)
        return found

    def needed(self, i: int, what: str) -> ValueNeededError:
        """The error for a value that must be known."""
        name = self.proto.input[i] if i < len(self.proto.input) else ""
        given = self.inputs[i]
        found = self.walk.placeholders([given] if not isinstance(given, list) else given)
        values = ", ".join(f"{n!r}: array" for n in found)
        return ValueNeededError(f"{self!r}: {what}, input {i} ({name!r}), must be known while the graph is built; it depends on "
                                f"placeholders. Give their values: dynamic_variables={{{values}}}", tuple(found))

    def code(self, i: int) -> int:
        """The type of ONNX of input ``i`` where it is held in a wider one here, else 0."""
        return self.walk.code_of(self.inputs[i]) if self.has(i) else 0

    def marked(self, x: Any, code: int) -> Any:
        """An array whose elements stand for those of a narrower type of ONNX."""
        x = self.array(x)
        if x.variable.get_variable_type().name != "ARRAY":
            x = self.op("base.identity", x)
        self.walk.codes[x.variable.name()] = code
        return x

    def ints(self, name: str, i: int | None = None, default: Any = None) -> Any:
        """Whole numbers, from an attribute or, in later versions, from input ``i``."""
        if name in self.attributes:
            found = self.attributes[name]
            return tuple(found) if isinstance(found, (list, tuple)) else (int(found),)
        if i is None or not self.has(i):
            return default
        return tuple(int(v) for v in np.asarray(self.value(i, name)).reshape(-1))

    def array(self, value: Any, dtype: Any = None) -> GraphArray:
        """A number or an array as an array of the graph."""
        if isinstance(value, GraphArray):
            return value if dtype is None else value.astype(dtype)
        made: GraphArray = self.xp.wrap(self.sd.constant(np.asarray(value, dtype)))
        return made

    def frozen(self, i: int) -> Any:
        """Input ``i`` as a constant, where its value is known: what training does not change."""
        found = self.inputs[i] if i < len(self.inputs) else None
        if isinstance(found, Held) and found.variable is None:
            found.trainable = False
        return None if found is None else self.xp.wrap(self.walk.variable(found))

    # Nodes

    def op(self, place: str, *args: Any, **options: Any) -> Any:
        """Call an op of the graph: ``node.op("nn.relu", x, 0.0)``, ``node.op("base.concat", 0, x, y)``."""
        namespace, method = place.split(".")
        made = self.sd.call(namespace, method, *(self.inner(a) for a in args), **{k: self.inner(v) for k, v in options.items()})
        return self.outer(made)

    def inner(self, value: Any) -> Any:
        """Variables in place of graph arrays."""
        return self.xp.unwrap(value) if isinstance(value, GraphArray) else value

    def outer(self, made: Any) -> Any:
        """Graph arrays in place of variables."""
        return [self.xp.wrap(v) for v in made] if isinstance(made, (list, tuple)) else self.xp.wrap(made)

    def np(self, function: Any, *args: Any, **options: Any) -> Any:
        """A function of NumPy."""
        return self.xp.call(function, args, options)

    def tensor(self, proto: Any) -> Any:
        """The array of a tensor among the attributes."""
        return array_of(proto, self.walk.file, repr(self))

    def spec(self, x: GraphArray) -> Any:
        """The known shape and type of an array."""
        return self.sd.tables.visible(x.variable)

    def sizes(self, x: GraphArray) -> GraphArray:
        """The shape of an array, LONG."""
        made: GraphArray = self.op("base.shape", x)
        return made.astype(np.int64)

    def refuse(self, what: str) -> GraphError:
        """The error for something that has no counterpart here."""
        return GraphError(f"{self!r}: {what}")


