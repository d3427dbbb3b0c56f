"""The table of what layers of Keras become, a module for each family; importing it fills the table."""
from . import (
           activations,
           attention,
           convolution,
           core,
           embedding,
           merging,
           noise,
           normalization,
           pooling,
           recurrent,
           resizing,
           shaping,
           wrappers,
)

__all__ = ["activations", "attention", "convolution", "core", "embedding", "merging", "noise", "normalization", "pooling", "recurrent",
           "resizing", "shaping", "wrappers"]
