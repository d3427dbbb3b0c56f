"""Layers and vertices of Keras that DL4J has not, as dl4py computes them. Files know them by the prefix ``dl4py.keras``."""
from . import (
    activations,
    attention,
    channel_dropout,
    conv_lstm,
    losses,
    masking,
    merging,
    normalization,
    positions,
    recurrent,
    shaping,
    updaters,
)

__all__ = ["activations", "attention", "channel_dropout", "conv_lstm", "losses", "masking", "merging", "normalization", "positions",
           "recurrent", "shaping", "updaters"]
