"""Attention as Keras has it: series are (batch, time, size), projections have biases."""
from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....layers.functions.weight_init import WeightInitXavierUniform
from ....layers.types.input_type import InputType
from ....layers.types.parameters import Parameter
from ....layers.vertices.attention import GraphDefinedVertex
from ....layers.vertices.base import vertex
from ....samediff.configuration.declaring import configuration
from ....samediff.errors import ConfigurationError
from ....samediff.ops.nn.attention import far
from .. import shapes

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope, ParameterTable
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable

@configuration(kw_only=True)
class SeriesAttention(GraphDefinedVertex):
    """Queries over keys and values; inputs are queries and values, then keys where they are others.

    Parameters
    ----------
    causal : bool
        Whether a step attends to itself and what is before it alone.
    scores : bool
        Whether the result is what each query gives to each key, in the place of what it sees.
    """

    min_inputs: ClassVar[int] = 2
    max_inputs: ClassVar[int | None] = 3
    causal: bool = False
    scores: bool = False

    @property
    def score_heads(self) -> tuple[int, ...]:
        """The sizes of scores in front of queries and keys, without the batch."""
        return ()

    def parameters_document(self) -> dict[str, Any] | None:
        return None

    def allowed(self, sd: SameDiff, scores: SDVariable, masks: list[SDVariable | None]) -> SDVariable | None:
        """1 where a score counts and 0 elsewhere, (batch, queries, keys) or sizes that spread to these; None where all count."""
        found: list[SDVariable] = [sd.call("base", "expand_dims", m, 1) for m in masks[1:] if m is not None]
        if self.causal:
            ones = sd.call("base", "ones_like", scores)
            rank = len(scores.spec.shape or ())
            rows, columns = (sd.call("base", "cumsum", ones, False, False, axis) for axis in (rank - 2, rank - 1))
            seen = sd.call("base", "gte", rows, columns).cast_to(scores.dtype)
            found.append(seen if rank == 3 else seen[:, 0])
        return reduce(lambda a, b: a * b, found) if found else None

    def result_size(self, *sizes: int) -> int:
        """The size of one step of the result, by those of the inputs."""
        return sizes[1]

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        given = [shapes.shape_of(t) for t in input_types]
        if self.scores:
            return shapes.type_of((*self.score_heads, given[0][0], given[1][0]))
        return shapes.type_of((given[0][0], self.result_size(*(s[-1] or 0 for s in given))))

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return masks[0]


@vertex("dl4py.keras.MultiHeadAttention")
class MultiHeadAttention(SeriesAttention):
    """Attention in several heads (Vaswani et al., 2017). Shapes: (batch, time, size) -> (batch, query time, n_out).

    Parameters
    ----------
    n_in_queries, n_in_keys, n_in_values : int
        Sizes of one step of the inputs.
    n_heads, head_size, value_size, n_out : int
        Number of heads, sizes of queries and values of one head, size of the result.
    key_heads : int
        Number of heads of keys and values, each of which several heads of queries share; as many as ``n_heads`` where 0.
    has_bias : bool
        Whether projections have biases; True by default.
    given_mask : bool
        Whether the last input says which queries see which keys, (batch, query time, time) of 1 and 0.
    blind_zero : bool
        Whether a query that may see nothing gets zeros; the mean of all values by default.
    """

    n_in_queries: int = 0
    n_in_keys: int = 0
    n_in_values: int = 0
    n_heads: int = 1
    key_heads: int = 0
    head_size: int = 0
    value_size: int = 0
    n_out: int = 0
    has_bias: bool = True
    given_mask: bool = False
    blind_zero: bool = False
    max_inputs: ClassVar[int | None] = 4

    @property
    def score_heads(self) -> tuple[int, ...]:
        return (self.n_heads,)

    def result_size(self, *sizes: int) -> int:
        return self.n_out

    def sizes(self) -> tuple[tuple[str, int, int], ...]:
        """The projections q, k, v and o: their letters, and the sizes before and behind."""
        heads = self.key_heads or self.n_heads
        return (("q", self.n_in_queries, self.n_heads * self.head_size), ("k", self.n_in_keys, heads * self.head_size),
                ("v", self.n_in_values, heads * self.value_size), ("o", self.n_heads * self.value_size, self.n_out))

    def define_parameters(self, params: ParameterTable) -> None:
        """Wq, bq, Wk, bk, Wv, bv, Wo, bo."""
        for name, before, behind in self.sizes():
            params.add(Parameter(f"W{name}", (before, behind), "weight", "c", before, behind, WeightInitXavierUniform()))
            if self.has_bias:
                params.bias(f"b{name}", (behind,))

    def _projected(self, sd: SameDiff, x: SDVariable, name: str, params: LayerScope) -> SDVariable:
        width = {n: size for n, size, _ in self.sizes()}[name]
        rows = sd.call("nn", "linear", sd.call("base", "reshape", x, -1, width), params[f"W{name}"],
                       *([params[f"b{name}"]] if self.has_bias else []))
        return rows  # type: ignore[no-any-return]

    def _heads(self, sd: SameDiff, x: SDVariable, name: str, heads: int, size: int, params: LayerScope) -> SDVariable:
        """(batch, heads, time, size)."""
        rows = self._projected(sd, x, name, params)
        sizes = [sd.call("base", "expand_dims", sd.call("base", "size_at", x, i), 0) for i in (0, 1)]
        shape = sd.call("base", "concat", 0, *sizes, sd.constant(np.array([heads, size], np.int64)))
        found = sd.call("base", "permute", sd.call("base", "reshape", rows, shape), 0, 2, 1, 3)
        if heads == self.n_heads:
            return found  # type: ignore[no-any-return]
        each = self.n_heads // heads
        return sd.call("base", "concat", 1, *[found[:, i // each:i // each + 1] for i in range(self.n_heads)])  # type: ignore[no-any-return]

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        queries, values = inputs[:2]
        series = inputs[:-1] if self.given_mask else inputs
        keys = series[2] if len(series) > 2 else values
        heads = self.key_heads or self.n_heads
        q = self._heads(sd, queries, "q", self.n_heads, self.head_size, params) * (1 / math.sqrt(self.head_size))
        k = self._heads(sd, keys, "k", heads, self.head_size, params)
        v = self._heads(sd, values, "v", heads, self.value_size, params)
        scores = sd.call("base", "mmul", q, k, False, True)
        counted = self.allowed(sd, scores, masks[:len(series)])
        further = [inputs[-1].cast_to(scores.dtype)] if self.given_mask else []
        if masks[0] is not None:
            further.append(sd.call("base", "expand_dims", masks[0], 2))
        for more in further:
            counted = more if counted is None else counted * more
        if counted is not None:
            counted = sd.call("base", "expand_dims", counted, 1)
            scores = scores * counted + (1.0 - counted) * far(scores.dtype.numpy)
        weights = sd.call("nn", "softmax", scores, -1)
        weights = weights * counted if self.blind_zero and counted is not None else weights
        if self.scores:
            return weights  # type: ignore[no-any-return]
        attended = sd.call("base", "mmul", weights, v)
        joined = sd.call("base", "reshape", sd.call("base", "permute", attended, 0, 2, 1, 3), -1, self.n_heads * self.value_size)
        out = sd.call("nn", "linear", joined, params["Wo"], *([params["bo"]] if self.has_bias else []))
        sizes = [sd.call("base", "expand_dims", sd.call("base", "size_at", queries, i), 0) for i in (0, 1)]
        shape = sd.call("base", "concat", 0, *sizes, sd.constant(np.array([self.n_out], np.int64)))
        return sd.call("base", "reshape", out, shape)  # type: ignore[no-any-return]


@vertex("dl4py.keras.Attention")
class Attention(SeriesAttention):
    """Attention without projections: dot products, or ``sum(scale * tanh(query + key))`` (Bahdanau et al., 2015).

    Parameters
    ----------
    additive : bool
        Whether scores are those of sums.
    scale_shape : tuple of int, optional
        Shape of a learned scale: () for one number, (size,) for additive scores.
    """

    additive: bool = False
    scale_shape: tuple[int, ...] | None = None

    def define_parameters(self, params: ParameterTable) -> None:
        """scale, where there is one."""
        if self.scale_shape is not None:
            params.add(Parameter("scale", self.scale_shape or (1,), "unregularized", init=1.0))

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        queries, values = inputs[:2]
        keys = inputs[2] if len(inputs) > 2 else values
        if len(queries.spec.shape or ()) != 3:
            raise ConfigurationError("attention takes series (batch, time, size)")
        if self.additive:
            sums = sd.call("math", "tanh", sd.call("base", "expand_dims", queries, 2) + sd.call("base", "expand_dims", keys, 1))
            scores = (sums * params["scale"] if self.scale_shape is not None else sums).sum(3)
        else:
            scores = sd.call("base", "mmul", queries, keys, False, True)
            scores = scores * params["scale"] if self.scale_shape is not None else scores
        counted = self.allowed(sd, scores, masks[:2])
        weights = sd.call("nn", "softmax", scores if counted is None else scores + (1.0 - counted) * far(scores.dtype.numpy), -1)
        if self.scores:
            return weights  # type: ignore[no-any-return]
        seen: SDVariable = sd.call("base", "mmul", weights, values)
        return seen if masks[0] is None else seen * sd.call("base", "expand_dims", masks[0], 2)
