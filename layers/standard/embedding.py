"""Layers that look up a row of weights for each index."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.ops.elementwise.masking import keep_unmasked, times_mask
from ..base import automatic
from ..base.affine import activated
from ..base.base import FeedForwardLayer, Rule, layer
from ..functions.activations import ActivationIdentity, IActivation
from ..ops.embedding_ops import RowIndices
from ..ops.masks import column, masked
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeFeedForward, InputTypeRecurrent
from ..types.java_names import EmbeddingLayerNames, EmbeddingSequenceLayerNames
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope, ParameterTable

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["EmbeddingLayer", "EmbeddingSequenceLayer"]


class EmbeddingTable(FeedForwardLayer):
    """Rows of ``W`` (n_in, n_out) plus ``b`` by index; indices come as numbers of any type.

    Parameters
    ----------
    has_bias : bool
        Whether ``b`` (n_out,) is added; False by default.
    """

    takes_dropout: ClassVar[bool] = False        # its input counts rows
    takes_indices: ClassVar[bool] = True
    has_bias: bool = False

    def define_parameters(self, params: ParameterTable) -> None:
        """W, then b."""
        params.weight("W", (self.n_in, self.n_out), fan_in=1, fan_out=self.n_out, order="f")
        if self.has_bias:
            params.bias("b", (self.n_out,), init=self.bias_init)

    def looked_up(self, sd: SameDiff, index: SDVariable, params: LayerScope, single: bool = False) -> SDVariable:
        """``W[index] + b``. Shapes: index (*S) -> (*S, n_out); one ``single`` index per example, (batch, 1) -> (batch, n_out)."""
        checked = sd.add_op(RowIndices(self.n_in, params.owner, single), [index])
        rows = sd.call("base", "gather", params["W"], sd.call("base", "reshape", checked, -1) if single else checked, 0)
        return rows + params["b"] if self.has_bias else rows  # type: ignore[no-any-return]


@layer("EmbeddingLayer")
class EmbeddingLayer(EmbeddingTable, EmbeddingLayerNames):
    """``activation(W[index] + b)`` for one index per example, a whole number from 0 to ``n_in - 1``.

    Shapes: x (batch, 1) -> (batch, n_out).

    Parameters
    ----------
    activation : str, Activation or IActivation
        Identity by default.

    Raises
    ------
    ShapeError
        When it runs: an index outside of the table, or several for one example.
    DataTypeError
        A fraction, NaN or infinity in place of an index.

    Examples
    --------
    >>> from dl4py.layers import InputType
    >>> EmbeddingLayer(n_in=1000, n_out=16).output_type(InputType.feed_forward(1))
    InputTypeFeedForward(size=16)
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    activation: Convertible[IActivation | None] = field(default=ActivationIdentity(), json="activationFn")
    has_bias: bool = False

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        seen = x if mask is None else keep_unmasked(x, column(mask))
        z = masked(self.looked_up(sd, seen, params, single=True), mask)
        return masked(activated(self, sd, z), mask)


@layer("EmbeddingSequenceLayer")
class EmbeddingSequenceLayer(EmbeddingTable, EmbeddingSequenceLayerNames):
    """``activation(W[index] + b)`` for every step of a series of indices; errors as of `EmbeddingLayer`.

    Shapes: x (batch, time) or (batch, 1, time) -> (batch, n_out, time). A mask (batch, time) sets steps to 0.

    Parameters
    ----------
    activation : str, Activation or IActivation
        Identity by default.
    input_length : int
        The length that the output type states; 1 by default. Series of any length are taken.
    infer_input_length : bool
        Whether DL4J takes series of any length, rather than of ``input_length`` alone; kept in files, without effect here.
    output_format : RNNFormat or str
        ``NCW`` (default, time last) or ``NWC``: order of the axes of the result.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.RECURRENT
    reports_other_type: ClassVar[bool] = True
    preprocessor_rule: ClassVar[Rule] = automatic.flattened
    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    activation: Convertible[IActivation | None] = field(default=ActivationIdentity(), json="activationFn")
    has_bias: bool = False
    input_length: int = 1
    infer_input_length: bool = True
    output_format: Convertible[RNNFormat] = field(default=RNNFormat.NCW, aliases=("output_data_format",))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeFeedForward, InputTypeRecurrent)
        return InputType.recurrent(self.n_out, self.input_length, self.output_format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        if isinstance(input_type, InputTypeRecurrent):
            return self.with_n_in(input_type.size, override)
        return self.with_n_in(input_type.array_elements_per_example(), override)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        index = sd.call("base", "squeeze", x, 1) if x.spec.shape is not None and len(x.spec.shape) == 3 else x
        series = activated(self, sd, self.looked_up(sd, keep_unmasked(index, mask), params))
        series = times_mask(series, mask, channels_last=True)
        return series if self.output_format is RNNFormat.NWC else sd.call("base", "permute", series, 0, 2, 1)  # type: ignore[no-any-return]
