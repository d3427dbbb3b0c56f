"""The layer inside of a wrapper: its series, sizes, name and options."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...samediff.errors import ConfigurationError
from ..base.base import Layer
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeRecurrent
from ..types.parameters import LayerScope

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable


def inside(layer: Layer, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None, masked: bool = False) -> SDVariable:
    """The wrapped layer with its own dropout and weight noise; ``masked`` gives recurrent layers the mask that they would ignore alone."""
    if layer.dropout is not None and layer.takes_dropout:
        x = layer.dropout.define(sd, x)
    noise = getattr(layer, "weight_noise", None)
    if noise is not None:
        params = params.changed(noise.applied(sd, dict(params), layer.parameter_table()))
    return defining(layer, masked)(sd, x, params, mask)  # type: ignore[no-any-return]


def defining(layer: Layer, masked: bool) -> Any:
    """The method that adds the wrapped layer to a graph: with ``masked``, one that ignores masks alone takes its mask."""
    return getattr(layer, "masked_layer", layer.define_layer) if masked else layer.define_layer


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


def made_for(owner: Layer, layer: Layer, given: InputType) -> None:
    """ConfigurationError for a layer that does not take what its wrapper gives it as it is: series, or the rows of single steps."""
    before = layer.get_pre_processor_for_input_type(given)
    if before is not None:
        what, advice = ("time series", "TimeDistributed acts on single steps") if isinstance(given, InputTypeRecurrent) else (
            "single steps", "put it into the network without the wrapper")
        raise ConfigurationError(f"{owner.label} gives {what} to the layer inside, and {layer.label} takes them only behind a "
                                 f"{type(before).__name__}; {advice}")
    if isinstance(given, InputTypeRecurrent) and (pooling := next((la for la in layers_inside(layer) if la.pools_series), None)):
        raise ConfigurationError(f"{owner.label} expects series of the layer inside, and {pooling.label} gives one row for each; "
                                 "put it into the network without the wrapper")


def agreed(owner: Layer, layer: Layer, input_type: InputType) -> None:
    """ConfigurationError where series come in another format than that of the layer inside, in which the wrapper reads them."""
    form = time_last(layer)
    if isinstance(input_type, InputTypeRecurrent) and input_type.format is not form:
        raise ConfigurationError(f"{owner.label} reads series as {layer.label} does, which is {form.name}, and gets "
                                 f"{input_type.format.name}; set rnn_data_format of the layer inside, or put a layer without this option "
                                 "into the network by itself")


def layers_inside(layer: Layer) -> Iterator[Layer]:
    """The layer, what it wraps, what that wraps ...; of two directions the forward one."""
    inner: Layer | None = layer
    while inner is not None:
        yield inner
        inner = getattr(inner, "underlying", None) or getattr(inner, "fwd", None)


def time_last(layer: Layer) -> RNNFormat:
    """The data format of the recurrent layer inside wrappers."""
    forms = (getattr(inner, "rnn_data_format", None) for inner in layers_inside(layer))
    return next((RNNFormat(form) for form in forms if form is not None), RNNFormat.NCW)
