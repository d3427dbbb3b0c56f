"""Layers and vertices of Keras that DL4J has not, as dl4py computes them. Files know them by the prefix ``dl4py.keras``."""
from . import (
    activations,
    attention,
    channel_dropout,
    conv_lstm,
    convolution,
    losses,
    masking,
    merging,
    normalization,
    operations,
    positions,
    recurrent,
    shaping,
    sharing,
    states,
    steps,
    updaters,
)

__all__ = ["activations", "attention", "channel_dropout", "conv_lstm", "convolution", "losses", "masking", "merging", "normalization",
           "operations", "positions", "recurrent", "shaping", "sharing", "states", "steps", "updaters"]
