"""Input types: shapes, JSON and refusals."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import CNN2DFormat, CNN3DFormat, InputType, RNNFormat
from dl4py.layers.types import input_type
from dl4py.samediff.errors import ConfigurationError

TYPES = [
    (InputType.feed_forward(6), (-1, 6)),
    (InputType.recurrent(6), (-1, 6, -1)),
    (InputType.recurrent(6, 5, RNNFormat.NWC), (-1, 5, 6)),
    (InputType.convolutional(4, 6, 3), (-1, 3, 4, 6)),
    (InputType.convolutional(4, 6, 3, CNN2DFormat.NHWC), (-1, 4, 6, 3)),
    (InputType.convolutionalFlat(4, 6, 3), (-1, 72)),
    (InputType.convolutional3d(2, 4, 6, 3), (-1, 2, 4, 6, 3)),
    (InputType.convolutional3D(CNN3DFormat.NCDHW, 2, 4, 6, 3), (-1, 3, 2, 4, 6)),
]


@pytest.mark.parametrize(("kind", "shape"), TYPES)
def test_shape_and_json(kind, shape):
    assert kind.array_shape() == shape
    assert InputType.from_json(kind.to_json()) == kind == eval(repr(kind), vars(input_type))


def test_inferred_from_arrays():
    assert InputType.infer(np.zeros((2, 3, 4, 5))) == InputType.convolutional(4, 5, 3)
    assert InputType.infer(np.zeros((2, 3, 4))) == InputType.recurrent(3, 4)


@pytest.mark.parametrize("wrong", [
    lambda: InputType.convolutional(0, 1, 1), lambda: InputType.recurrent(0), lambda: InputType.convolutional3d(1, 2),
    lambda: InputType.infer(np.zeros(3)), lambda: InputType.recurrent(3).array_elements_per_example()])
def test_refused(wrong):
    with pytest.raises(ConfigurationError):
        wrong()
