"""The ONNX graph that is being written: values, nodes, constants, graphs inside of nodes."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.spec import TensorSpec
from ..families.subgraph import SubGraph
from ..ir.op import Op, as_tuple
from .export_table import NotSayableError
from .values import CODES

#: Constants of so many elements are written once where they are equal.
MOST_SHARED = 4096


@dataclass(eq=False)
class Value:
    """A value of the ONNX graph.

    Parameters
    ----------
    name : str
        Its name in the file; empty for a constant that no node has read yet.
    spec : TensorSpec
        Type and shape, as far as they are known.
    known : ndarray, optional
        The value of a constant.
    wanted : str
        The name that a constant has in the graph.
    """

    name: str
    spec: TensorSpec
    known: Any = None
    wanted: str = ""

    @property
    def dtype(self) -> DataType:
        """The element type."""
        return self.spec.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, -1 where one is open.

        Raises
        ------
        NotSayableError
            The rank is not known.
        """
        if self.spec.shape is None:
            raise NotSayableError("the number of axes of an input is not known")
        return self.spec.shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def static(self) -> tuple[int, ...]:
        """The sizes, all of which must be known."""
        if -1 in self.shape:
            raise NotSayableError(f"the sizes of an input must be known; it has the shape {self.shape}")
        return self.shape


    @property
    def seen(self) -> TensorSpec:
        """The spec as shape rules look at it, with the value of a small constant."""
        known = self.known if self.known is not None and self.known.size <= MOST_SHARED else None
        return TensorSpec(self.spec.shape, self.spec.dtype, known)


def result_of(op: Op, *inputs: Value | None) -> TensorSpec:
    """Shape and type of the first result of an op."""
    return as_tuple(op.infer(*[None if v is None else v.seen for v in inputs]))[0]  # type: ignore[arg-type,no-any-return]


@dataclass(eq=False)
class WrittenNode:
    """A node, with values for names and blocks for graphs."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    domain: str = ""


@dataclass(eq=False)
class Block:
    """A graph inside of a node."""

    inputs: list[Value]
    nodes: list[WrittenNode] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)


class OnnxGraph:
    """Adds nodes one by one.

    Attributes
    ----------
    nodes : those of the graph, or of the block that is being written
    initializers : arrays by name
    domains : versions of the operator sets of others, by domain
    read : which results of the op that is being written something reads
    """

    def __init__(self, taken: Sequence[str]) -> None:
        self.nodes: list[WrittenNode] = []
        self.initializers: dict[str, Any] = {}
        self.domains: dict[str, int] = {}
        self.read: list[bool] = []
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}
        self._constants: dict[Any, str] = {}

    def fresh(self, base: str) -> str:
        """A name that nothing has yet."""
        while True:
            self._numbers[base] = number = self._numbers.get(base, -1) + 1
            name = f"{base}_{number}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def name(self, value: Value | None) -> str:
        """The name of a value; a constant becomes an initializer where it is first read."""
        if value is None:
            return ""
        if not value.name:
            array = np.asarray(value.known)
            key = (array.dtype.name, array.shape, array.tobytes()) if array.size <= MOST_SHARED and not value.wanted else None
            found = self._constants.get(key)
            if found is None:
                found = value.wanted if value.wanted and value.wanted not in self.initializers else self.fresh("constant")
                self.initializers[found] = array
                if key is not None:
                    self._constants[key] = found
            value.name = found
        return value.name

    def node(self, operator: str, *inputs: Value | None, outputs: int = 1, dtype: DataType | None = None, domain: str = "",
             **attributes: Any) -> Any:
        """Add a node: its result, or a tuple of several.

        Parameters
        ----------
        operator : str
            Of the standard, or of ``domain``.
        *inputs : values
            None leaves an optional one out.
        outputs : int
            Number of results.
        dtype : DataType, optional
            Type of the results; that of the first input by default.
        domain : str
            Whose operator it is; the standard's own by default.
        **attributes
            Numbers, lists, texts and blocks; None leaves one out.
        """
        kind = dtype or next((v.dtype for v in inputs if v is not None), DataType.FLOAT)
        made = tuple(Value(self.fresh(operator), TensorSpec(None, kind)) for _ in range(outputs))
        names = [self.name(v) for v in inputs]
        while names and not names[-1]:
            names.pop()
        if domain:
            self.domains.setdefault(domain, 1)
        given = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(WrittenNode(operator, tuple(names), tuple(v.name for v in made), given, domain))
        return made[0] if outputs == 1 else made

    @contextmanager
    def block(self, inputs: list[Value]) -> Iterator[Block]:
        """A graph inside of a node: nodes that are added meanwhile are its own."""
        made, outer = Block(inputs), self.nodes
        self.nodes = made.nodes
        try:
            yield made
        finally:
            self.nodes = outer

    # Ops by their own exporters, of the class that has these

    def op(self, op: Op, *inputs: Value | None) -> Any:
        """The nodes of another op: its result, or a tuple of several."""
        raise NotImplementedError

    def graph(self, graph: SubGraph, inputs: Sequence[Value]) -> list[Value]:
        """The nodes of a graph that an op runs: its results."""
        raise NotImplementedError

    def block_of(self, graph: SubGraph, inputs: list[Value], given: Sequence[Value]) -> Block:
        """A block that runs a graph on ``given``; its own inputs are ``inputs``."""
        raise NotImplementedError

    # What many exporters use

    def input(self, spec: TensorSpec) -> Value:
        """An input of a block."""
        return Value(self.fresh("in"), TensorSpec(spec.shape, spec.dtype))

    def constant(self, value: Any, dtype: DataType | None = None) -> Value:
        """A constant array, or number of a type."""
        array = np.asarray(value, None if dtype is None else dtype.numpy)
        return Value("", TensorSpec(tuple(array.shape), DataType.of(array.dtype)), array)

    def ints(self, *numbers: int) -> Value:
        """Whole numbers, as axes and sizes are given."""
        return self.constant(np.asarray(numbers, np.int64).reshape(-1))

    def cast(self, x: Value, dtype: DataType) -> Value:
        """The value in another type, itself where that is its own."""
        if x.dtype is dtype:
            return x
        if x.known is not None:
            return self.constant(x.known.astype(dtype.numpy))
        return self.node("Cast", x, dtype=dtype, to=CODES[dtype])  # type: ignore[no-any-return]

    def shape(self, x: Value) -> Value:
        """The sizes, as LONG."""
        if x.spec.is_static:
            return self.ints(*x.static)
        return self.node("Shape", x, dtype=DataType.LONG)  # type: ignore[no-any-return]

    def size(self, x: Value, axis: int) -> Value:
        """One size, as a vector."""
        if x.shape[axis] != -1:
            return self.ints(x.shape[axis])
        return self.node("Gather", self.node("Shape", x, dtype=DataType.LONG), self.ints(axis))  # type: ignore[no-any-return]

    def reshape(self, x: Value, *sizes: int) -> Value:
        """The elements in another shape, in which one size may be -1."""
        if sizes.count(-1) > 1:
            raise NotSayableError(f"more than one size of {sizes} is open")
        return self.node("Reshape", x, self.ints(*sizes), allowzero=1 if 0 in sizes else None)  # type: ignore[no-any-return]

    def transpose(self, x: Value, *order: int) -> Value:
        """The axes in another order."""
        return x if order == tuple(range(len(order))) else self.node("Transpose", x, perm=list(order))

    def unsqueeze(self, x: Value, *axes: int) -> Value:
        """With axes of size 1."""
        return self.node("Unsqueeze", x, self.ints(*axes))  # type: ignore[no-any-return]

    def squeeze(self, x: Value, *axes: int) -> Value:
        """Without axes of size 1."""
        return self.node("Squeeze", x, self.ints(*axes))  # type: ignore[no-any-return]

    def part(self, x: Value, axis: int, begin: int, end: int) -> Value:
        """A block along an axis."""
        return self.node("Slice", x, self.ints(begin), self.ints(end), self.ints(axis))  # type: ignore[no-any-return]

    def numbers(self, x: Value | None, what: str) -> list[int]:
        """The whole numbers of a constant.

        Raises
        ------
        NotSayableError
            They are known in a run only.
        """
        if x is None or x.known is None:
            raise NotSayableError(f"{what} must be constants")
        return [int(n) for n in np.asarray(x.known).reshape(-1)]

    def shaped(self, x: Value, spec: TensorSpec) -> Value:
        """The elements in the shape of a spec, in which one size may be open."""
        if spec.shape is None:
            raise NotSayableError("the number of axes of the result is not known")
        return self.reshape(x, *spec.shape)

    def filled(self, number: Any, dtype: DataType, shape: Value) -> Value:
        """An array of one number."""
        if shape.known is not None:
            return self.constant(np.full(self.numbers(shape, "sizes"), number, dtype.numpy))
        return self.node("Expand", self.constant(number, dtype), shape)  # type: ignore[no-any-return]

    def like(self, x: Value, *others: Value) -> Value:
        """``x`` stretched to the shape that it has together with others."""
        for other in others:
            x = self.node("Expand", x, self.shape(other))
        return x
