"""Layers that act while training alone."""
from __future__ import annotations

from typing import Any

from ....layers.functions.dropout import AlphaDropout, Dropout, GaussianDropout, GaussianNoise, SpatialDropout
from ....layers.standard.feed_forward import DropoutLayer
from ..layer_reading import KerasLayer, Made
from ..own.channel_dropout import ChannelDropout
from ..registry import keras_layer


def _dropping(k: KerasLayer, dropout: Any, rate: str = "rate") -> Made:
    """A layer with that dropout; one that drops nothing is none."""
    share = float(k.get(rate))
    return k.made(None) if share == 0 else k.made(DropoutLayer(dropout=dropout(share)))


@keras_layer("Dropout", becomes="`DropoutLayer`", lossy="`noise_shape`; other random numbers")
def dropout(k: KerasLayer) -> Made:
    k.leave(noise_shape=None)
    return _dropping(k, lambda rate: Dropout(1 - rate))


@keras_layer("GaussianDropout", becomes="`DropoutLayer` with `GaussianDropout`", lossy="other random numbers")
def gaussian_dropout(k: KerasLayer) -> Made:
    return _dropping(k, GaussianDropout)


@keras_layer("GaussianNoise", becomes="`DropoutLayer` with `GaussianNoise`", lossy="other random numbers")
def gaussian_noise(k: KerasLayer) -> Made:
    return _dropping(k, GaussianNoise, "stddev")


@keras_layer("AlphaDropout", becomes="`DropoutLayer` with `AlphaDropout`", lossy="other random numbers")
def alpha_dropout(k: KerasLayer) -> Made:
    return _dropping(k, lambda rate: AlphaDropout(1 - rate))


@keras_layer("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
             becomes="`DropoutLayer` with `SpatialDropout`; with channels last a layer that drops these", lossy="other random numbers")
def spatial_dropout(k: KerasLayer) -> Made:
    if k.channels_first() or not float(k.get("rate")):
        return _dropping(k, lambda rate: SpatialDropout(1 - rate))
    return k.made(ChannelDropout(dropout=SpatialDropout(1 - float(k.get("rate")))))


@keras_layer("RandomFlip", "RandomRotation", "RandomTranslation", "RandomZoom", "RandomContrast", "RandomBrightness", "RandomShear",
             "RandomGaussianBlur", "RandomColorJitter", "RandomHue", "RandomSaturation", "RandomSharpness", "RandomGrayscale",
             "RandomInvert", "RandomPosterization", "RandomPerspective", "RandomElasticTransform", "RandomErasing",
             becomes="nothing", lossy="changes of pictures while training")
def augmentation(k: KerasLayer) -> Made:
    k.left.append(k.label)
    return k.made(None)
