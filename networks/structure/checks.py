"""Checks of a finished configuration: output layers that make no sense, layers that truncated training cannot have."""
from __future__ import annotations

from collections.abc import Iterable

from ...layers import (
    ActivationHardSigmoid,
    ActivationIdentity,
    ActivationSigmoid,
    ActivationSoftmax,
    BaseOutputLayer,
    Cnn3DLossLayer,
    GlobalPoolingLayer,
    LastTimeStep,
    Layer,
    LossBearing,
    LossBinaryXENT,
    LossMCXENT,
    OCNNOutputLayer,
)
from ...samediff.errors import ConfigurationError

_BOUNDED = (ActivationSigmoid, ActivationSoftmax, ActivationHardSigmoid)


def check_outputs(layers: Iterable[Layer]) -> None:
    """Refuse losses that do not fit their activation; ``validate_output_layer_config(False)`` permits them."""
    for layer in layers:
        if not isinstance(layer, LossBearing) or isinstance(layer, (Cnn3DLossLayer, OCNNOutputLayer)):      # DL4J looks at neither
            continue
        activation, loss = layer.activation, layer.loss_function
        names = f"{layer.label}: {type(activation).__name__} with {type(loss).__name__}"
        hint = "; validate_output_layer_config(False) permits it"
        if isinstance(activation, ActivationSoftmax) and layer.n_out == 1 and layer.n_in > 0:
            raise ConfigurationError(f"{names}: softmax over one output is always 1; use sigmoid{hint}")
        bounded_before = isinstance(activation, ActivationIdentity) and not isinstance(layer, BaseOutputLayer)
        if isinstance(loss, (LossMCXENT, LossBinaryXENT)) and not isinstance(activation, _BOUNDED) and not bounded_before:
            raise ConfigurationError(f"{names}: the loss needs activations between 0 and 1{hint}")
        if isinstance(loss, LossBinaryXENT) and isinstance(activation, ActivationSoftmax):
            raise ConfigurationError(f"{names}: softmax goes with LossMCXENT, sigmoid with LossBinaryXENT{hint}")
        if isinstance(loss, LossMCXENT) and isinstance(activation, ActivationSigmoid):
            raise ConfigurationError(f"{names}: sigmoid goes with LossBinaryXENT, softmax with LossMCXENT{hint}")


def check_truncated(layers: Iterable[Layer]) -> None:
    """ConfigurationError for layers that need whole sequences, under truncated back-propagation."""
    for layer in layers:
        if isinstance(layer, (LastTimeStep, GlobalPoolingLayer)):
            raise ConfigurationError(
                f"{layer.label} needs whole sequences and cannot train with truncated back-propagation; "
                "use BackpropType.Standard, or validate_tbptt_config(False)")
