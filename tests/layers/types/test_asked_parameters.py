"""What custom layers and vertices, constraints and types answer about themselves."""
from __future__ import annotations

import pytest

from dl4py.layers import InputType, MaxNormConstraint
from dl4py.samediff.errors import ConfigurationError
from tests.helpers.custom_classes import Dense, DenseVertex


def test_declared_parameters():
    params = Dense(n_in=4, n_out=3).get_layer_params()
    assert params.get_param_shapes() == {"W": (4, 3), "b": (1, 3)}
    assert (params.is_weight_param("W"), params.is_bias_param("W")) == (True, False)
    assert (params.is_weight_param("b"), params.is_bias_param("b"), params.is_bias_param("x")) == (False, True, False)
    assert params.get_weight_parameter_keys() == ["W"] and params.get_bias_parameter_keys() == ["b"]
    vertex = DenseVertex(n_in=4, n_out=3).get_vertex_params()
    assert list(vertex.inputs) == ["in"] and vertex.get_param_shapes() == {"W": (4, 3), "b": (1, 3)}


def test_rows_that_hold_images():
    flat = InputType.convolutional_flat(5, 4, 3)
    assert flat.unflattened_type() == InputType.convolutional(5, 4, 3) and flat.flattened_size == 60


def test_dimensions_of_a_constraint_change_in_place():
    constraint = MaxNormConstraint(1.0, 1)
    assert constraint.set_dimensions((0, 1)) is constraint and tuple(constraint.dimensions) == (0, 1)
    with pytest.raises(ConfigurationError, match="dimensions"):
        constraint.set_dimensions("x")
