"""Names in the body of a configuration class: values without annotations, and names of methods."""
from __future__ import annotations

import pytest

from dl4py.layers import ActivationReLU, ContainerLayer, DenseLayer, Layer, OutputLayer, layer
from dl4py.samediff.configuration.configuration import Configuration
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError, RegistrationError


@configuration()
class Base(Configuration):
    rate: float = 0.1
    sizes: tuple[int, ...] = (1,)
    sized: int = 1

    def scaled(self):
        return 2 * self.rate


@layer("test_class_bodies.Plain")
class Plain(OutputLayer):
    has_bias = False
    activation = "relu"


@layer("test_class_bodies.Further")
class Further(Plain):
    n_out: int = 3


def test_values_without_annotations_are_defaults():
    for made in (Plain(), Further()):
        assert made.has_bias is False and made.activation == ActivationReLU()
        assert "b" not in [p.name for p in made.replace(n_in=2, n_out=2).parameter_table()]
        assert type(made).from_json(made.to_json()) == made
    assert Plain(has_bias=True).has_bias and OutputLayer().has_bias


def test_methods_in_place_of_fields_stay_methods():
    @configuration("test_class_bodies.Computed")
    class Computed(Base):
        sizes = [2, 3]

        @property
        def sized(self):
            return len(self.sizes)
    assert Computed().sizes == (2, 3) and type(Computed().sizes) is tuple


def test_defaults_are_of_the_type_of_their_field():
    with pytest.raises(ConfigurationError, match="Wrong.rate"):
        configuration("test_class_bodies.Wrong")(type("Wrong", (Base,), {"__module__": __name__, "rate": "fast"}))()


@pytest.mark.parametrize("base, name", [(Base, "scaled"), (ContainerLayer, "inner_layers"), (DenseLayer, "define_layer"), (Layer, "label")])
def test_fields_with_names_of_methods_are_refused(base, name):
    with pytest.raises(RegistrationError, match=f"field '{name}' takes the place of .*{name}.*another name"):
        configuration(f"test_class_bodies.Of{name}")(type("Of", (base,), {"__module__": __name__, "__annotations__": {name: int}, name: 1}))
