"""Layers around another layer."""
from __future__ import annotations

from typing import Any, ClassVar, Self

from ..samediff.configuration import field
from ..samediff.errors import ConfigurationError
from .base import PACKAGE, Layer, NoParamLayer, layer
from .defaults import LayerDefaults
from .formats import BidirectionalMode, RNNFormat
from .input_type import InputType, InputTypeFeedForward, InputTypeRecurrent
from .preprocessors import InputPreProcessor


@layer()
class BaseWrapperLayer(Layer):
    """A layer around another one; types, sizes and preprocessors are those of the wrapped layer."""

    arguments: ClassVar[tuple[str, ...]] = ("underlying",)
    underlying: Layer

    def output_type(self, input_type: InputType) -> InputType:
        return self.underlying.get_output_type(0, input_type)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self.replace(underlying=informed(self.underlying, input_type, override))

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return self.underlying.get_pre_processor_for_input_type(input_type)

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        inner = self.underlying.apply_global_config(given)
        own = super().missing_values(given.replace(dropout=None, constraints=()))
        return own | {"underlying": inner} | normalization_of(inner)

    def _fill(self, values: dict[str, Any], extra: dict[str, Any]) -> None:
        super()._fill(values, extra)
        self.__dict__["underlying"] = named(self.underlying, self.layer_name)


def named(layer: Layer, name: str | None) -> Layer:
    """Give the wrapped layer the name of its wrapper, where it has none."""
    return layer.replace(layer_name=name) if name is not None and layer.layer_name is None else layer


def normalization_of(inner: Layer) -> dict[str, Any]:
    """A wrapper reports the gradient normalization of the wrapped layer."""
    return {"gradient_normalization": inner.gradient_normalization,
            "gradient_normalization_threshold": inner.gradient_normalization_threshold}


def informed(layer: Layer, input_type: InputType, override: bool = True) -> Layer:
    """Return the layer with the size of its input; user code may change the (copied) layer or return a new one."""
    return layer.changed(lambda copy: copy.set_n_in(input_type, override))


@layer(PACKAGE + "recurrent.LastTimeStep")
class LastTimeStep(BaseWrapperLayer):
    """The last step of a recurrent layer, or the last unmasked one. Shapes: (batch, n_in, time) -> (batch, n_out).

    Examples
    --------
    >>> from dl4py.layers import LSTM
    >>> LastTimeStep(underlying=LSTM(n_in=3, n_out=5)).output_type(InputType.recurrent(3, 7))
    InputTypeFeedForward(size=5)
    """

    def output_type(self, input_type: InputType) -> InputType:
        inner = self.underlying.get_output_type(0, input_type)
        if isinstance(inner, InputTypeFeedForward):
            return inner
        self.expects(inner, InputTypeRecurrent)
        assert isinstance(inner, InputTypeRecurrent)
        return InputType.feed_forward(inner.size)


@layer(PACKAGE + "recurrent.TimeDistributed")
class TimeDistributed(BaseWrapperLayer):
    """Applies a feed-forward layer to every step. Shapes: (batch, n_in, time) -> (batch, n_out, time)."""

    arguments: ClassVar[tuple[str, ...]] = ("underlying", "rnn_data_format")
    rnn_data_format: RNNFormat | None = field(default=RNNFormat.NCW, aliases=("data_format",))

    def output_type(self, input_type: InputType) -> InputType:
        inner = self.underlying.get_output_type(0, self._step(input_type))
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


@layer(PACKAGE + "util.MaskZeroLayer")
class MaskZeroLayer(BaseWrapperLayer):
    """Masks the steps of a recurrent layer's input whose values all equal ``masking_value``."""

    arguments: ClassVar[tuple[str, ...]] = ("underlying", "masking_value")
    masking_value: float = field(default=0.0, aliases=("mask_value",))


@layer(PACKAGE + "util.MaskLayer")
class MaskLayer(NoParamLayer):
    """Sets masked activations to 0. Shapes: x (any) -> the same."""


@layer(PACKAGE + "misc.FrozenLayer")
class FrozenLayer(BaseWrapperLayer):
    """A layer whose parameters do not train; nothing is propagated below it."""

    underlying: Layer = field(json="layer")


@layer(PACKAGE + "misc.FrozenLayerWithBackprop")
class FrozenLayerWithBackprop(BaseWrapperLayer):
    """A layer whose parameters do not train, while gradients pass through it."""


@layer(PACKAGE + "recurrent.Bidirectional")
class Bidirectional(Layer):
    """A recurrent layer in both directions; the results are combined by ``mode``.

    Shapes: (batch, n_in, time) -> (batch, 2 * n_out, time) for CONCAT, else (batch, n_out, time).
    ``Bidirectional(LSTM(n_out=5))``, ``Bidirectional("ADD", LSTM(n_out=5))`` or ``Bidirectional(fwd=…, bwd=…,
    mode=…)``.
    """

    Mode: ClassVar[type[BidirectionalMode]] = BidirectionalMode
    fwd: Layer = field(aliases=("rnn_layer", "layer"))
    bwd: Layer | None = None
    mode: BidirectionalMode = BidirectionalMode.CONCAT

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        if len(args) == 1:
            return {"fwd": args[0]}
        return dict(zip(("mode", "fwd", "bwd"), args))

    def _fill(self, values: dict[str, Any], extra: dict[str, Any]) -> None:
        for derived in ("nin", "nout", "rnndataFormat"):
            extra.pop(derived, None)
        super()._fill(values, extra)
        fwd = named(self.fwd, self.layer_name)
        self.__dict__.update(fwd=fwd, bwd=named(self.bwd or fwd, self.layer_name))

    def validate(self) -> None:
        if self.bwd is not None and type(self.fwd) is not type(self.bwd):
            raise ConfigurationError(f"{self.label}: both directions need the same layer class; "
                                     f"got {type(self.fwd).__name__} and {type(self.bwd).__name__}")

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
        return self.replace(fwd=informed(self.fwd, input_type, override), bwd=informed(self.bwd, input_type, override))

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return self.fwd.get_pre_processor_for_input_type(input_type)

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        assert self.bwd is not None
        fwd, bwd = self.fwd.apply_global_config(given), self.bwd.apply_global_config(given)
        own = super().missing_values(given.replace(dropout=None, constraints=()))
        return own | {"fwd": fwd, "bwd": bwd} | normalization_of(fwd)
