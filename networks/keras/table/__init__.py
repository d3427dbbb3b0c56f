"""The table of what layers of Keras become, a module for each family; importing it fills the table."""
from . import (
           activations,
           attention,
           conv_lstm,
           convolution,
           core,
           embedding,
           merging,
           noise,
           normalization,
           operations,
           pooling,
           recurrent,
           resizing,
           shaping,
           wrappers,
)

__all__ = ["activations", "attention", "conv_lstm", "convolution", "core", "embedding", "merging", "noise", "normalization", "operations",
           "pooling", "recurrent", "resizing", "shaping", "wrappers"]
