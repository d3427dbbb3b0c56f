"""Settings that replace those of a trained network."""
from __future__ import annotations

from typing import Any, ClassVar, Self

from ...layers.base.base import Layer
from ...layers.base.defaults import merged
from ...samediff.configuration.builder import Builder
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.configuration.values import write_json, write_yaml
from ...samediff.errors import ConfigurationError
from ...samediff.text.document_text import read_text
from ..structure.builders import NeuralNetConfigurationBuilder
from ..structure.configuration import NetworkConfiguration, NeuralNetConfiguration
from ..structure.global_configuration import GlobalConfiguration
from ..structure.java_names import FineTuneBuilderNames, FineTuneConfigurationNames
from ..structure.settings import BackpropType

_KEYS = {"activation": "activationFn", "weightInit": "weightInitFn"}      # where Java's JSON has other keys than the builder
_JAVA_NAME = "org.deeplearning4j.nn.transferlearning.FineTuneConfiguration"


@configuration(kw_only=True, tag="")
class _Settings(GlobalConfiguration):
    """The settings that may be replaced."""

    backprop_type: Convertible[BackpropType] = BackpropType.Standard
    tbptt_fwd_length: int = 20
    tbptt_back_length: int = 20


class FineTuneBuilder(Builder["FineTuneConfiguration"], FineTuneBuilderNames):
    """Collects the options that were given; those of :class:`NeuralNetConfiguration.Builder`."""

    target = _Settings

    def build(self) -> FineTuneConfiguration:
        """The configuration."""
        return FineTuneConfiguration(**self._values)


class FineTuneConfiguration(FineTuneConfigurationNames):
    """Settings for all layers of a network that is changed by transfer learning; what is not set stays as it is.

    Options are those of ``NeuralNetConfiguration.Builder``: updater, activation, weight_init, l1, l2, weight_decay, dropout,
    seed, gradient_normalization, backprop_type …  Layers that are added later take them as their defaults.

    Parameters
    ----------
    **options
        Those of ``NeuralNetConfiguration.Builder`` by name, and ``backprop_type``, ``tbptt_fwd_length``, ``tbptt_back_length``.

    Examples
    --------
    >>> from dl4py.networks import FineTuneConfiguration
    >>> from dl4py.samediff.training import Sgd
    >>> tune = FineTuneConfiguration.Builder().updater(Sgd(0.1)).l2(1e-4).seed(7).build()
    >>> FineTuneConfiguration.from_json(tune.to_json()) == tune
    True
    """

    Builder: ClassVar[type[FineTuneBuilder]] = FineTuneBuilder

    def __init__(self, **options: Any) -> None:
        values: dict[str, Any] = {}
        for name, value in options.items():
            found = _Settings.find_option(name)
            if found in _Settings._options:
                _Settings._options[found](values, value)
            else:
                values[found] = value
        settings = _Settings(**values)
        self._values = {name: getattr(settings, name) for name in values}

    @classmethod
    def builder(cls) -> Any:
        """A new ``Builder``."""
        return cls.Builder()

    def applied_to(self, conf: NeuralNetConfiguration) -> NeuralNetConfiguration:
        """The configuration of one layer with these settings."""
        layer = conf.layer if conf.layer is None else self._tuned(conf.layer)
        return conf.replace(**self._shared(NeuralNetConfiguration), layer=layer)

    applied_neural_net_configuration = applied_to

    def applied_to_network(self, conf: Any) -> Any:
        """What a whole network takes over: back-propagation, type, workspaces."""
        return conf.replace(**self._shared(NetworkConfiguration))

    def applied_neural_net_configuration_builder(self) -> NeuralNetConfigurationBuilder:
        """A builder with these settings, for new layers."""
        own = {name: value for name, value in self._values.items() if name in GlobalConfiguration._fields}
        return NeuralNetConfigurationBuilder(**own)

    def _shared(self, kind: type[Configuration]) -> dict[str, Any]:
        return {name: value for name, value in self._values.items() if name in kind._fields and name != "layer"}

    def _tuned(self, layer: Layer) -> Layer:
        """A layer, and those inside it, with these settings where it has them."""
        fields = set(type(layer)._fields)
        changes = {name: value for name, value in self._values.items() if name in fields - layer.own_options - layer.untuned_options}
        for name in ("regularization", "regularization_bias"):
            if name in changes:
                changes[name] = merged((), changes[name])
        for name in fields:
            held = getattr(layer, name)
            if isinstance(held, Layer):
                changes[name] = self._tuned(held)
            elif isinstance(held, tuple) and held and all(isinstance(v, Layer) for v in held):
                changes[name] = tuple(map(self._tuned, held))
        return layer.replace(**changes) if changes else layer

    def to_document(self) -> dict[str, Any]:
        """The JSON document: the options that are set."""
        whole = _Settings(**self._values).to_document()
        keys = {_Settings._fields[name].json for name in self._values}
        return {"type": _JAVA_NAME} | {_KEYS.get(key, key): value for key, value in whole.items() if key in keys}

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """The configuration of a JSON document."""
        if not isinstance(document, dict) or document.get("type", _JAVA_NAME) != _JAVA_NAME:
            raise ConfigurationError(f"expected the JSON of a FineTuneConfiguration; got {document!r:.60}")
        known = {name: value for key, value in document.items() if (name := _Settings._spellings.get(key.lower())) in _Settings._fields}
        settings = _Settings.from_document(known)
        return cls(**{name: getattr(settings, name) for name in known})

    def to_json(self) -> str:
        """JSON text."""
        return write_json(self.to_document())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The configuration of a JSON text."""
        return cls.from_document(read_text(text, "JSON"))

    def to_yaml(self) -> str:
        """YAML text."""
        return write_yaml(self.to_document())

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """The configuration of a YAML text."""
        return cls.from_document(read_text(text, "YAML"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FineTuneConfiguration) and self.to_document() == other.to_document()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"FineTuneConfiguration({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"
