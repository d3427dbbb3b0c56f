"""Arguments by position: none is dropped."""
from __future__ import annotations

import pytest

from dl4py import layers
from dl4py.layers import Layer
from dl4py.samediff.errors import DL4PyError

EVERY = {name: cls for name, cls in vars(layers).items()
         if isinstance(cls, type) and issubclass(cls, Layer) and not name.startswith(("Base", "Abstract"))}


@pytest.mark.parametrize("name", EVERY)
def test_more_than_a_layer_takes_are_refused(name):
    with pytest.raises((DL4PyError, TypeError)):
        EVERY[name](*[2] * 12)


@pytest.mark.parametrize(("make", "most"), [(layers.AutoEncoder, "corruption_level"), (layers.SpaceToBatchLayer, "blocks, padding"),
                                            (layers.CapsuleLayer, "routings"), (layers.BatchNormalization, "minibatch")])
def test_the_error_names_those_that_there_are(make, most):
    with pytest.raises(DL4PyError, match=most):
        make(2, 2, 2, 2, 2)
