"""Attention as a vertex."""
from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.base.datatype import DataType
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError
from ...samediff.ops.elementwise.masking import times_mask
from ...samediff.training.updaters.gradient_normalization import GradientNormalization
from ...samediff.training.updaters.regularization import Regularization
from ...samediff.training.updaters.updater import IUpdater
from ..base.automatic import refuse_channels_last
from ..base.contract import LayerContract
from ..custom.samediff_base import shapes_document, with_parameters
from ..functions.weight_init import WeightInit
from ..types.input_type import InputType, InputTypeRecurrent
from ..types.java_names import AttentionVertexNames, GraphDefinedVertexNames
from ..types.parameters import LayerScope, ParameterTable
from .base import GraphVertex, vertex

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["AttentionVertex"]


@configuration(kw_only=True)
class GraphDefinedVertex(LayerContract, GraphVertex, GraphDefinedVertexNames):
    """A vertex defined by a graph, with parameters that train.

    Parameters
    ----------
    name : str, optional
        The name of the vertex in messages.
    layer_name, data_type
        Stand in DL4J's files; nothing is computed of them here.
    regularization, regularization_bias, updater, bias_updater, gradient_normalization, gradient_normalization_threshold
        As of layers (`BaseLayer`, `Layer`); those of the network where the vertex has none.
    """

    max_inputs: ClassVar[int | None] = None
    summary_name: ClassVar[str] = "SameDiffGraphVertex"
    name: str | None = None
    layer_name: str | None = None
    data_type: Convertible[DataType | None] = None
    regularization: Convertible[tuple[Regularization, ...]] = ()
    regularization_bias: Convertible[tuple[Regularization, ...]] = ()
    updater: Convertible[IUpdater | None] = None
    bias_updater: Convertible[IUpdater | None] = None
    gradient_normalization: Convertible[GradientNormalization | None] = None
    gradient_normalization_threshold: float = math.nan

    @property
    def label(self) -> str:
        """Class and name, for messages."""
        name = self.name or self.layer_name
        return type(self).__name__ + (f" {name!r}" if name else "")

    def apply_global_config(self, given: Any) -> Self:
        """Return a copy with the network's values where this vertex has none of its own."""
        values: dict[str, Any] = {}
        for name in ("regularization", "regularization_bias", "updater", "bias_updater", "gradient_normalization"):
            values[name] = getattr(self, name) or getattr(given, name)
        if math.isnan(self.gradient_normalization_threshold):
            values["gradient_normalization_threshold"] = given.gradient_normalization_threshold
        return self.replace(**values)

    def parameters_document(self) -> dict[str, Any] | None:
        """The names of the inputs and the shapes of the parameters as DL4J's JSON has them, None where sizes are open."""
        raise NotImplementedError(type(self).__name__)

    def to_document(self) -> dict[str, Any]:
        return with_parameters(super().to_document(), "vertexParams", self.parameters_document())


@vertex("AttentionVertex")
class AttentionVertex(GraphDefinedVertex, AttentionVertexNames):
    """Dot-product attention (Vaswani et al., 2017) of queries over keys and values, each (batch, size, time).

    The result is softmax(queries · keys / sqrt(size)) times values: (batch, n_out, query time), or (batch, n_in_values, query time)
    without ``project_input``. Steps that the mask of keys or values leaves out get no weight; results at masked steps of queries are 0.

    Parameters
    ----------
    n_in_queries, n_in_keys, n_in_values : int
        Sizes of one step of the three inputs, in this order; 0 where the input types say them. Without ``project_input`` the first
        two are equal.
    n_out : int
        Size of one step of the result, with ``project_input``.
    n_heads : int
        Number of heads, which attend side by side; above 1 only with ``project_input``. Default 1.
    head_size : int
        Size of queries, keys and values of one head; 0 for ``n_out // n_heads``.
    project_input : bool
        Whether there are weights Wq, Wk, Wv (n_heads, head_size, size) and Wo (n_heads * head_size, n_out); False by default.
    weight_init : WeightInit or str, optional
        First values of weights; Xavier's by default, also where the network has another.

    Examples
    --------
    >>> series = InputType.recurrent(6, 10)
    >>> AttentionVertex(n_out=4, n_heads=2, project_input=True).output_type(series, series, series)
    InputTypeRecurrent(size=4, time_series_length=10)
    """

    min_inputs: ClassVar[int] = 3
    max_inputs: ClassVar[int | None] = 3
    n_in_keys: int = 0
    n_in_values: int = 0
    n_in_queries: int = 0
    n_out: int = 0
    head_size: int = 0
    n_heads: int = 1
    project_input: bool = False
    weight_init: Convertible[WeightInit | None] = WeightInit.XAVIER

    def validate(self) -> None:
        if not self.project_input and self.n_heads > 1:
            raise ConfigurationError("AttentionVertex: several heads need project_input")
        if not self.head_size and self.n_heads and self.n_out:
            self._put(head_size=self.n_out // self.n_heads)

    def with_input_types(self, *input_types: InputType) -> GraphVertex:
        """Sizes that are not set follow from the types of queries, keys and values."""
        sizes = dict(zip(("n_in_queries", "n_in_keys", "n_in_values"), (getattr(t, "size", 0) for t in input_types)))
        return self.replace(**{n: size for n, size in sizes.items() if not getattr(self, n)})

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        queries = input_types[0]
        if not isinstance(queries, InputTypeRecurrent):
            raise ConfigurationError(f"AttentionVertex takes time series; got {queries!r}")
        refuse_channels_last("AttentionVertex", *input_types)
        size = self.n_out if self.project_input else self.n_in_values
        return InputType.recurrent(size, queries.time_series_length)

    def parameters_document(self) -> dict[str, Any] | None:
        found = shapes_document(self.parameter_table)
        return None if found is None else {"biasParams": found["biasParams"], "inputs": ["queries", "keys", "values"],
                                           "weightParams": found["weightParams"]}

    def define_parameters(self, params: ParameterTable) -> None:
        """With ``project_input``: projections of queries, keys and values for each head, then of the joined heads."""
        if not self.project_input:
            return
        for name, size in (("Wq", self.n_in_queries), ("Wk", self.n_in_keys), ("Wv", self.n_in_values)):
            params.weight(name, (self.n_heads, self.head_size, size), fan_in=size, fan_out=self.head_size)
        joined = self.n_heads * self.head_size
        params.weight("Wo", (joined, self.n_out), fan_in=joined, fan_out=self.n_out)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        _, *shown = masks
        known = [m for m in shown if m is not None]
        mask = reduce(lambda a, b: sd.call("math", "min", a, b), known) if known else None
        if self.project_input:
            weights = [params[n] for n in ("Wq", "Wk", "Wv", "Wo")]
            out = sd.call("nn", "multi_head_dot_product_attention", *inputs, *weights, mask, True)
        else:
            out = sd.call("nn", "dot_product_attention", *inputs, mask, True)
        return times_mask(out, masks[0])
