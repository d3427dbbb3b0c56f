"""Checks are told apart from what they check: a class in the place of an object is one sentence."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    ActivationSwish,
    CnnToFeedForwardPreProcessor,
    DenseLayer,
    InputType,
    LossMSE,
    MergeVertex,
    check_activation,
    check_layer,
    check_loss,
    check_preprocessor,
    check_vertex,
)
from dl4py.samediff.errors import ConfigurationError

KIND = InputType.feed_forward(3)
CALLS = {check_layer: (DenseLayer, KIND), check_vertex: (MergeVertex, KIND), check_activation: (ActivationSwish,),
         check_loss: (LossMSE, [[1.0]], [[0.5]]), check_preprocessor: (CnnToFeedForwardPreProcessor, InputType.convolutional(2, 3, 4))}


@pytest.mark.parametrize("check", CALLS, ids=lambda c: c.__name__)
def test_the_class_in_place_of_an_object_and_other_things(check):
    cls, *rest = CALLS[check]
    with pytest.raises(ConfigurationError, match=rf"{check.__name__} takes an object.*the class {cls.__name__}: write {cls.__name__}"):
        check(cls, *rest)
    for wrong in (np.ones(2), 3, None, object, KIND):
        with pytest.raises(ConfigurationError, match=rf"{check.__name__} takes a"):
            check(wrong, *rest)


def test_names_of_activations_and_losses_are_taken():
    assert check_activation("tanh").passed
    assert check_loss("mse", [[1.0, 0.0]], [[0.5, 0.25]]).passed
