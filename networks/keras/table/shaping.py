"""Changes of shape."""
from __future__ import annotations

import math

from ....layers.preprocessors import (
    Cnn3DToFeedForwardPreProcessor,
    CnnToFeedForwardPreProcessor,
    InputPreProcessor,
    KerasFlattenRnnPreprocessor,
    ReshapePreprocessor,
)
from ....layers.standard.feed_forward import RepeatVector
from ....layers.types.formats import CNN2DFormat, RNNFormat
from ..layer_reading import KerasLayer, Made
from ..own.shaping import PermuteLayer, ReshapeLayer
from ..registry import keras_layer


@keras_layer("Flatten", becomes="`CnnToFeedForwardPreProcessor`, `KerasFlattenRnnPreprocessor` or `Cnn3DToFeedForwardPreProcessor`")
def flatten(k: KerasLayer) -> Made:
    rank = k.rank()
    if rank == 1:
        return k.made(None)
    if rank == 0:
        return k.made(ReshapeLayer(sizes=(1,)), shape=(1,))
    sizes = k.sizes()
    total = (math.prod(sizes),)
    if k.channels_first() and rank > 1:
        order = (*range(2, rank + 1), 1)
        return k.made([PermuteLayer(order=order), ReshapeLayer(sizes=total)], shape=total, masked=False)
    found: InputPreProcessor
    if rank == 2:
        found = KerasFlattenRnnPreprocessor(sizes[1], sizes[0])
    elif rank == 3:
        found = CnnToFeedForwardPreProcessor(sizes[0], sizes[1], sizes[2], CNN2DFormat.NHWC)
    elif rank == 4:
        found = Cnn3DToFeedForwardPreProcessor(sizes[0], sizes[1], sizes[2], sizes[3], False)
    else:
        return k.made(ReshapeLayer(sizes=total), shape=total, masked=False)
    return k.made(found, shape=total, masked=False)


@keras_layer("Reshape", becomes="`ReshapePreprocessor`, or a layer where sizes are open")
def reshape(k: KerasLayer) -> Made:
    target = [-1 if n is None else int(n) for n in k.get("target_shape")]
    if -1 in target and None not in k.shape:
        target[target.index(-1)] = math.prod(k.sizes()) // max(1, -math.prod(target))
    shape = tuple(None if n < 0 else n for n in target)
    if -1 in target or not 1 <= len(target) <= 3 or not 1 <= k.rank() <= 3:
        return k.made(ReshapeLayer(sizes=tuple(target)), shape=shape, masked=False)
    return k.made(ReshapePreprocessor(input_shape=k.sizes(), target_shape=tuple(target)), shape=shape, masked=False)


@keras_layer("Permute", becomes="a layer that exchanges axes")
def permute(k: KerasLayer) -> Made:
    order = tuple(int(i) for i in k.get("dims"))
    return k.made(PermuteLayer(order=order), shape=tuple(k.shape[i - 1] for i in order), masked=False)


@keras_layer("RepeatVector", becomes="`RepeatVector`")
def repeat_vector(k: KerasLayer) -> Made:
    k.rank(1)
    count = int(k.get("n"))
    conf = RepeatVector(n=count, n_in=k.size(), n_out=k.size(), data_format=RNNFormat.NWC)
    return k.made(conf, shape=(count, k.size()), masked=False)
