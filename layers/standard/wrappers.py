"""Layers around another layer."""
from __future__ import annotations

from dataclasses import InitVar, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.ops.elementwise.masking import times_mask
from ..base.base import PACKAGE, Layer, NoParamLayer, layer
from ..base.defaults import LayerDefaults
from ..functions.constraints import LayerConstraint
from ..ops.series_ops import RowsSeries, SeriesRows
from ..ops.step_ops import LastUnmaskedStep
from ..preprocessors import InputPreProcessor
from ..types.formats import BidirectionalMode, RNNFormat
from ..types.input_type import InputType, InputTypeFeedForward, InputTypeRecurrent
from ..types.java_names import (
    BaseWrapperLayerNames,
    BidirectionalNames,
    LastTimeStepNames,
    MaskLayerNames,
    MaskZeroLayerNames,
    TimeDistributedNames,
)
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope, Parameter, ParameterTable
from ..types.positional import positional
from .inside import agreed, informed, inside, layers_inside, made_for, named, normalization_of, time_last

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable
    from ...samediff.training.updaters.regularization import Regularization
    from ...samediff.training.updaters.updater import IUpdater

__all__ = ["BaseWrapperLayer", "Bidirectional", "LastTimeStep", "MaskLayer", "MaskZeroLayer", "TimeDistributed"]


@layer()
class BaseWrapperLayer(Layer, BaseWrapperLayerNames):
    """Base of layers around another one; types, sizes, parameters and preprocessors are those of the wrapped layer.

    Parameters
    ----------
    underlying : Layer
        The wrapped layer, whose own options and dropout count.
    """

    takes_dropout: ClassVar[bool] = False
    reads_series: ClassVar[bool] = False            # True where the wrapper itself has to know which axis is time
    own_options: ClassVar[frozenset[str]] = frozenset({"dropout", "constraints"})
    arguments: ClassVar[tuple[str, ...]] = ("underlying",)
    underlying: Layer = field(aliases=("set_underlying",), kw_only=False)

    @property
    def configured_twice(self) -> bool:
        """Whether DL4J gives the wrapped layer the network's values twice, and so its weight decay once more."""
        return False

    def renamed(self, name: str) -> Self:
        """Return a copy of that name, which the wrapped layer gets as well."""
        return self.replace(layer_name=name, underlying=self.underlying.renamed(name))

    def define_parameters(self, params: ParameterTable) -> None:
        for parameter in self.underlying.parameter_table():
            params.add(parameter)

    @property
    def n_in(self) -> Any:
        """Input size of the wrapped layer, which a bidirectional one leaves to its directions."""
        return "-" if isinstance(self.underlying, Bidirectional) else getattr(self.underlying, "n_in", "-")

    @property
    def n_out(self) -> Any:
        """Output size of the wrapped layer."""
        return "-" if isinstance(self.underlying, Bidirectional) else getattr(self.underlying, "n_out", "-")

    @property
    def table_order(self) -> tuple[str, ...]:
        """The parameters that come first in tables, as in those of the wrapped layer."""
        return getattr(self.underlying, "table_order", ())

    @property
    def summary_sizes(self) -> bool:
        """Whether summaries show sizes of the wrapped layer."""
        return bool(getattr(self.underlying, "summary_sizes", True))

    @property
    def constraints_in_force(self) -> tuple[LayerConstraint, ...]:
        return self.underlying.constraints_in_force

    def updater_for(self, parameter: Parameter) -> IUpdater:
        return self.underlying.updater_for(parameter)

    def regularization_for(self, parameter: Parameter) -> tuple[Regularization, ...]:
        return self.underlying.regularization_for(parameter)

    def updater_key(self, parameter: Parameter) -> str | None:
        """That of the wrapped layer: what only pretraining moves stays so."""
        inner = getattr(self.underlying, "updater_key", None)
        return inner and inner(parameter)  # type: ignore[no-any-return]

    def initial_values(self, rng: Any, dtype: Any) -> dict[str, Any]:
        return self.underlying.initial_values(rng, dtype)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return inside(self.underlying, sd, x, params, mask)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return self.underlying.feed_forward_mask(sd, mask, x)

    def output_type(self, input_type: InputType) -> InputType:
        return self.underlying.get_output_type(0, input_type)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        inner = informed(self.underlying, input_type, override)
        if self.reads_series:
            agreed(self, inner, input_type)
        return self.replace(underlying=inner)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return self.underlying.get_pre_processor_for_input_type(input_type)

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        inner = self.underlying.apply_global_config(given)
        if self.configured_twice:
            inner = inner.apply_global_config(given)
        own = super().missing_values(given)
        return own | {"underlying": inner} | normalization_of(inner)

    def _fill(self, values: dict[str, Any], extra: dict[str, Any]) -> None:
        super()._fill(values, extra)
        self._put(underlying=named(self.underlying, self.layer_name))


@layer(PACKAGE + "recurrent.LastTimeStep")
class LastTimeStep(BaseWrapperLayer, LastTimeStepNames):
    """The last step of a recurrent layer, or the last unmasked one. Shapes: (batch, n_in, time) -> (batch, n_out).

    Examples
    --------
    >>> from dl4py.layers import LSTM
    >>> LastTimeStep(underlying=LSTM(n_in=3, n_out=5)).output_type(InputType.recurrent(3, 7))
    InputTypeFeedForward(size=5)
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.FEED_FORWARD
    reads_series: ClassVar[bool] = True
    summary_name: ClassVar[str] = "LastTimeStepLayer"

    def validate_new(self) -> None:
        made_for(self, self.underlying, InputType.recurrent(1))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        inner = self.underlying.get_output_type(0, input_type)
        self.expects(inner, InputTypeRecurrent)
        assert isinstance(inner, InputTypeRecurrent)
        return InputType.feed_forward(inner.size)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The wrapped layer sees the mask, also an LSTM."""
        masking = next((la for la in layers_inside(self.underlying) if isinstance(la, MaskZeroLayer)), None)
        if masking is not None:
            mask = masking.mask_of_data(sd, x)
        series = inside(self.underlying, sd, x, params, mask, masked=True)
        if series.spec.rank not in (None, 3):
            raise ShapeError(f"{self.label} takes the last step of series, with three axes; {self.underlying.label} gives arrays with "
                             f"{series.spec.rank}")
        if time_last(self.underlying) is RNNFormat.NWC:
            series = series.permute(0, 2, 1)
        steps = None if mask is None else (masking or self).underlying.feed_forward_mask(sd, mask, x)
        if steps is None:
            return series[:, :, -1]
        return sd.add_op(LastUnmaskedStep(), [series, steps])  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """Rows have no steps to mask."""
        return None


@layer(PACKAGE + "recurrent.TimeDistributed")
class TimeDistributed(BaseWrapperLayer, TimeDistributedNames):
    """Applies a feed-forward layer to every step, with the same parameters. Shapes: (batch, n_in, time) -> (batch, n_out, time).

    Parameters
    ----------
    rnn_data_format : RNNFormat or str, optional
        ``NCW`` (default, time last) or ``NWC``, of input and result; that of the input type where the network has one.
    """

    json_first: ClassVar[tuple[str, ...]] = ("rnnDataFormat", "underlying")
    summary_name: ClassVar[str] = "TimeDistributedLayer"
    arguments: ClassVar[tuple[str, ...]] = ("underlying", "rnn_data_format")
    rnn_data_format: Convertible[RNNFormat | None] = field(default=RNNFormat.NCW, aliases=("data_format",), kw_only=False)
    if TYPE_CHECKING:       # further names, which `aliases` make
        data_format: InitVar[Any] = None

    def validate_new(self) -> None:
        made_for(self, self.underlying, InputType.feed_forward(1))

    def output_type(self, input_type: InputType) -> InputType:
        inner = self.underlying.get_output_type(0, self._step(input_type))
        self.expects(inner, InputTypeFeedForward)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.recurrent(inner.array_elements_per_example(), input_type.time_series_length, input_type.format)

    def _step(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return InputType.feed_forward(input_type.size)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        step = self._step(input_type)
        assert isinstance(input_type, InputTypeRecurrent)
        return self.replace(underlying=informed(self.underlying, step, override), rnn_data_format=input_type.format)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return None

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """All steps as rows through the layer, and back."""
        last = self.rnn_data_format is RNNFormat.NWC
        rows = sd.add_op(SeriesRows(last), [x])
        row_mask = None if mask is None else sd.call("base", "reshape", mask.permute(1, 0), -1, 1)
        done = inside(self.underlying, sd, rows, params, row_mask)
        return sd.add_op(RowsSeries(last), [done, x])  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return mask


@layer(PACKAGE + "util.MaskZeroLayer")
class MaskZeroLayer(BaseWrapperLayer, MaskZeroLayerNames):
    """Masks the steps of a recurrent layer's input whose values all equal ``masking_value``; another mask is not looked at.

    Parameters
    ----------
    masking_value : float
        0 by default.
    """

    reads_series: ClassVar[bool] = True
    json_first: ClassVar[tuple[str, ...]] = ("maskingValue", "underlying")
    arguments: ClassVar[tuple[str, ...]] = ("underlying", "masking_value")
    masking_value: float = field(default=0.0, aliases=("mask_value", "set_mask_value"), kw_only=False)
    if TYPE_CHECKING:       # further names, which `aliases` make
        mask_value: InitVar[float] = 0.0

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The mask of the data takes the place of any other."""
        return inside(self.underlying, sd, x, params, self.mask_of_data(sd, x), masked=True)

    def mask_of_data(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        """1 at steps where any value differs from ``masking_value``, (batch, time)."""
        axis = 2 if time_last(self.underlying) is RNNFormat.NWC else 1
        return sd.call("base", "neq", x, self.masking_value).cast_to(x.dtype).max(axis)  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None


@layer(PACKAGE + "util.MaskLayer")
class MaskLayer(NoParamLayer, MaskLayerNames):
    """Sets masked activations to 0. Shapes: x (any) -> the same."""
    takes_dropout: ClassVar[bool] = False

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return times_mask(x, mask)


@layer(PACKAGE + "recurrent.Bidirectional")
class Bidirectional(Layer, BidirectionalNames):
    """A recurrent layer in both directions; the results are combined by ``mode``.

    Shapes: (batch, n_in, time) -> (batch, 2 * n_out, time) for CONCAT, else (batch, n_out, time). Parameters are those of the layer
    twice, with f and b in front of their names. ``Bidirectional(LSTM(n_out=5))``, ``Bidirectional("ADD", LSTM(n_out=5))`` or
    ``Bidirectional(fwd=…, bwd=…, mode=…)``.

    A mask reaches a SimpleRnn inside, and, as in DL4J, an LSTM only where another wrapper stands around both: ``LastTimeStep``,
    or ``MaskZeroLayer``. Otherwise the backward LSTM begins with the padding behind a series, and what stands there moves all steps.

    Parameters
    ----------
    fwd : Layer
        The layer that reads from the first step to the last (``rnn_layer`` in builders).
    bwd : Layer, optional
        The one that reads from the last to the first, of the same class; by default as ``fwd``, with parameters of its own.
    mode : BidirectionalMode or str
        ``CONCAT`` (default), ``ADD``, ``MUL`` or ``AVERAGE``.

    Examples
    --------
    >>> from dl4py.layers import LSTM
    >>> Bidirectional(LSTM(n_in=3, n_out=5)).output_type(InputType.recurrent(3, 7))
    InputTypeRecurrent(size=10, time_series_length=7)
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.RECURRENT
    takes_dropout: ClassVar[bool] = False
    own_options: ClassVar[frozenset[str]] = frozenset({"dropout", "constraints"})
    summary_name: ClassVar[str] = "BidirectionalLayer"
    Mode: ClassVar[type[BidirectionalMode]] = BidirectionalMode
    fwd: Convertible[Layer] = field(aliases=("rnn_layer", "layer"), kw_only=False)
    bwd: Layer | None = None
    if TYPE_CHECKING:       # by position, after a mode
        _layer: InitVar[Layer | None] = field(default=None, kw_only=False)
        _other: InitVar[Layer | None] = field(default=None, kw_only=False)
    mode: Convertible[BidirectionalMode] = BidirectionalMode.CONCAT

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        if len(args) == 1:
            return {"fwd": args[0]}
        return positional(cls.__name__, ("mode", "fwd", "bwd"), *args)

    def _fill(self, values: dict[str, Any], extra: dict[str, Any]) -> None:
        for derived in ("nin", "nout", "rnndataFormat"):
            extra.pop(derived, None)
        super()._fill(values, extra)
        fwd = named(self.fwd, self.layer_name)
        self._put(fwd=fwd, bwd=named(self.bwd or fwd, self.layer_name))

    def renamed(self, name: str) -> Self:
        """Return a copy of that name, which both directions get as well."""
        return self.replace(layer_name=name, fwd=self.fwd.renamed(name), bwd=self.bwd and self.bwd.renamed(name))

    def validate(self) -> None:
        if self.bwd is not None and type(self.fwd) is not type(self.bwd):
            raise ConfigurationError(f"{self.label}: both directions need the same layer class; "
                                     f"got {type(self.fwd).__name__} and {type(self.bwd).__name__}")

    def validate_new(self) -> None:
        made_for(self, self.fwd, InputType.recurrent(1))

    def define_parameters(self, params: ParameterTable) -> None:
        """Those of the forward layer with prefix f, then those of the backward layer with prefix b."""
        for prefix, direction in self._directions().items():
            for p in direction.parameter_table():
                params.add(replace(p, name=prefix + p.name))

    def _directions(self) -> dict[str, Layer]:
        return {"f": self.fwd, "b": self.bwd or self.fwd}

    def _own(self, parameter: Parameter) -> tuple[Layer, Parameter]:
        return self._directions()[parameter.name[0]], replace(parameter, name=parameter.name[1:])

    @property
    def constraints_in_force(self) -> tuple[LayerConstraint, ...]:
        return tuple(c.replace(params=tuple(prefix + name for name in c.params))
                     for prefix, direction in self._directions().items() for c in direction.constraints_in_force)

    def updater_for(self, parameter: Parameter) -> IUpdater:
        inner, p = self._own(parameter)
        return inner.updater_for(p)

    def regularization_for(self, parameter: Parameter) -> tuple[Regularization, ...]:
        inner, p = self._own(parameter)
        return inner.regularization_for(p)

    def initial_values(self, rng: Any, dtype: Any) -> dict[str, Any]:
        """DL4J draws all parameters twice and keeps the second draw."""
        drawn: dict[str, Any] = {}
        for _ in range(2):
            for prefix, direction in self._directions().items():
                drawn |= {prefix + name: value for name, value in direction.initial_values(rng, dtype).items()}
        return drawn

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Forward on the series, backward on the series turned round, combined by ``mode``."""
        return self._both(sd, x, params, mask, masked=False)

    def masked_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The layer inside a wrapper that gives an LSTM its mask."""
        return self._both(sd, x, params, mask, masked=True)

    def _both(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None, masked: bool) -> SDVariable:
        if x.spec.rank not in (None, 3):
            raise ShapeError(f"{self.label} reads series, with three axes, in both directions; got an array with {x.spec.rank}")
        last = time_last(self.fwd) is RNNFormat.NWC
        assert self.bwd is not None

        def time_reversed(v: SDVariable) -> SDVariable:
            return sd.call("base", "reverse", v, 1 if last and len(v.spec.shape or ()) == 3 else -1)  # type: ignore[no-any-return]

        forward = inside(self.fwd, sd, x, params.sub("f"), mask, masked)
        backward = inside(self.bwd, sd, time_reversed(x), params.sub("b"), None if mask is None else time_reversed(mask), masked)
        series = len(backward.spec.shape or ()) == 3
        backward = time_reversed(backward) if series else backward
        if self.mode is BidirectionalMode.CONCAT:
            return sd.call("base", "concat", 2 if last and series else 1, forward, backward)  # type: ignore[no-any-return]
        if self.mode is BidirectionalMode.MUL:
            return forward * backward
        total = forward + backward
        return total * 0.5 if self.mode is BidirectionalMode.AVERAGE else total

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return self.fwd.feed_forward_mask(sd, mask, x)

    def _recurrent(self) -> Layer:
        inner: Layer = self.fwd
        while isinstance(inner, BaseWrapperLayer):
            inner = inner.underlying
        return inner

    @property
    def n_in(self) -> int:
        """Input size of one direction."""
        return int(getattr(self._recurrent(), "n_in", 0))

    @property
    def n_out(self) -> int:
        """Output size: both directions together for CONCAT."""
        one = int(getattr(self._recurrent(), "n_out", 0))
        return 2 * one if self.mode is BidirectionalMode.CONCAT else one

    def to_document(self) -> dict[str, Any]:
        inner = self._recurrent()
        form = getattr(inner, "rnn_data_format", RNNFormat.NCW)
        size = int(getattr(inner, "n_out", 0)) if isinstance(self.fwd, LastTimeStep) else self.n_out
        derived = {"nin": self.n_in, "nout": size, "rnndataFormat": form.value}
        document = super().to_document() | derived
        return {key: document[key] for key in sorted(document)}

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        inner = self.fwd.get_output_type(0, input_type)
        if self.mode is not BidirectionalMode.CONCAT:
            return inner
        if isinstance(inner, InputTypeFeedForward):
            return InputType.feed_forward(2 * inner.size)
        self.expects(inner, InputTypeRecurrent)
        assert isinstance(inner, InputTypeRecurrent)
        return InputType.recurrent(2 * inner.size, inner.time_series_length, inner.format)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        assert self.bwd is not None
        fwd, bwd = (informed(layer, input_type, override) for layer in (self.fwd, self.bwd))
        agreed(self, fwd, input_type)
        return self.replace(fwd=fwd, bwd=bwd)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return self.fwd.get_pre_processor_for_input_type(input_type)

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        assert self.bwd is not None
        fwd, bwd = self.fwd.apply_global_config(given), self.bwd.apply_global_config(given)
        own = super().missing_values(given)
        return own | {"fwd": fwd, "bwd": bwd} | normalization_of(fwd)
