"""Models of Keras 1 to 3 as networks: files read with h5py, a table of layers, and the layers that DL4J has not."""
from .layer_reading import KerasLayer, Made, Tensor
from .registry import register_keras_layer

__all__ = ["KerasLayer", "Made", "Tensor", "register_keras_layer"]
