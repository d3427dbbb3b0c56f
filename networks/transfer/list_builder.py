"""Changing a trained list of layers."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ...layers.base.base import Layer
from ...layers.functions.weight_init import IWeightInit
from ...layers.preprocessors import InputPreProcessor
from ...layers.standard.frozen import FrozenLayer
from ...layers.standard.inside import normalization_of
from ...samediff.base.datatype import DataType
from ...samediff.configuration.builder import Builder
from ...samediff.configuration.method_builder import MethodBuilder
from ...samediff.errors import ConfigurationError
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ...samediff.training.listeners.listeners import report
from ..models.multilayer import MultiLayerNetwork
from ..structure.builders import NeuralNetConfigurationBuilder
from ..structure.checks import check_outputs
from ..structure.configuration import NeuralNetConfiguration
from ..structure.java_names import TransferListBuilderNames
from .fine_tune import FineTuneConfiguration
from .sizes import NetworkPart, Types, carried, check_fed, check_runs, fed_with, resizes, taking, with_scheme


class TransferListBuilder(MethodBuilder, TransferListBuilderNames):
    """Builds a new :class:`~dl4py.networks.MultiLayerNetwork` from a trained one, which stays as it is.

    Layers keep their parameters unless they are replaced; updater state starts anew, counters at 0.

    Parameters
    ----------
    network : MultiLayerNetwork
        The trained one.
    rng : Nd4jRandom, optional
        Where new weights are drawn from; by default a generator with the seed of the configuration. (DL4J draws from its process-wide
        generator.)

    Examples
    --------
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> from dl4py.networks import FineTuneConfiguration, MultiLayerNetwork, NeuralNetConfiguration, TransferLearning
    >>> conf = (NeuralNetConfiguration.Builder().seed(1).list().layer(DenseLayer(n_in=4, n_out=8))
    ...         .layer(OutputLayer(n_in=8, n_out=3)).build())
    >>> trained = MultiLayerNetwork(conf).init()
    >>> net = (TransferLearning.Builder(trained).fine_tune_configuration(FineTuneConfiguration(seed=2))
    ...        .set_feature_extractor(0).remove_output_layer().add_layer(OutputLayer(n_in=8, n_out=5)).build())
    >>> net.get_layer(1).n_out
    5
    """

    # What new layers are drawn with, while the network is built.
    _draw: Nd4jRandom
    _dtype: DataType

    def __init__(self, network: MultiLayerNetwork, rng: Nd4jRandom | None = None) -> None:
        if not isinstance(network, MultiLayerNetwork):
            raise ConfigurationError(f"TransferLearning.Builder takes a MultiLayerNetwork; got a {type(network).__name__}. "
                                     "TransferLearning.GraphBuilder is for graphs")
        self._network, self._rng = network, rng
        self._tune = FineTuneConfiguration()
        self._frozen_till = -1
        self._n_out: dict[int, tuple[int, IWeightInit, IWeightInit]] = {}
        self._n_in: dict[int, tuple[int, IWeightInit]] = {}
        self._removed = 0
        self._added: list[Layer] = []
        self._preprocessors: dict[int, InputPreProcessor] = {}
        self._check_output: bool | None = None

    def fine_tune_configuration(self, configuration: FineTuneConfiguration) -> Self:
        """Settings for all layers, kept and new."""
        if not isinstance(configuration, FineTuneConfiguration):
            raise ConfigurationError(f"expected a FineTuneConfiguration; got {configuration!r:.60}")
        self._tune = configuration
        return self

    def set_feature_extractor(self, layer: int) -> Self:
        """Freeze the layers up to this one."""
        self._frozen_till = self._index(layer)
        return self

    def n_out_replace(self, layer: int, n_out: int, scheme: Any, scheme_next: Any = None) -> Self:
        """Give a layer another number of outputs; it and the next one start with new weights (a scheme or a distribution)."""
        first = IWeightInit.of(scheme)
        self._n_out[self._index(layer)] = (int(n_out), first, first if scheme_next is None else IWeightInit.of(scheme_next))
        return self

    def n_in_replace(self, layer: int, n_in: int, scheme: Any, distribution: Any = None) -> Self:
        """Give a layer another number of inputs and new weights."""
        self._n_in[self._index(layer)] = (int(n_in), IWeightInit.of(scheme if distribution is None else distribution))
        return self

    def remove_output_layer(self) -> Self:
        """Remove the last layer."""
        return self.remove_layers_from_output(1)

    def remove_layers_from_output(self, count: int) -> Self:
        """Remove the last layers."""
        if not 1 <= count <= self._network.get_n_layers() - self._removed:
            raise ConfigurationError(f"cannot remove {count} more of {self._network.get_n_layers() - self._removed} layers")
        self._removed += int(count)
        return self

    def add_layer(self, layer: Any) -> Self:
        """Add a layer at the end."""
        made = layer.build() if isinstance(layer, Builder) else layer
        if not isinstance(made, Layer):
            raise ConfigurationError(f"expected a layer; got {made!r:.60}")
        self._added.append(made)
        return self

    def set_input_pre_processor(self, layer: int, preprocessor: InputPreProcessor) -> Self:
        """Put a preprocessor in front of a layer of the new network."""
        self._preprocessors[int(layer)] = InputPreProcessor.of(preprocessor)
        return self

    def validate_output_layer_config(self, validate: bool) -> Self:
        """Whether ``build`` refuses an output layer that makes no sense, such as softmax over one output: it does unless told not to."""
        self._check_output = validate
        return self

    def build(self) -> MultiLayerNetwork:
        """The new network.

        Raises
        ------
        ConfigurationError
            No layers are left, the layers do not fit, or an output layer makes no sense.
        """
        old = self._network.get_configuration()
        confs = [self._tune.applied_to(c) for c in old.confs]
        seed = confs[0].seed
        self._draw = self._rng or Nd4jRandom(seed)
        self._dtype = old.data_type
        values: dict[int, dict[str, Any]] = {i: self._kept(i) for i in range(len(confs))}
        processors = old.input_pre_processors | self._preprocessors
        inputs = fed_with(self._parts(confs, processors), ("input",)) if self._n_out else None
        for i in sorted(self._n_out):
            if inputs is None:
                self._replace_directly(confs, values, i)
            else:
                self._replace_n_out(confs, values, i, processors, inputs)
        for i, (n_in, scheme) in sorted(self._n_in.items()):
            self._renew(confs, values, i, **taking(confs[i].layer, n_in), weight_init=scheme)
        if self._n_in:
            staying = len(confs) - self._removed
            check_fed(self._parts([*old.confs], old.input_pre_processors)[:staying], self._parts(confs, processors)[:staying], ("input",),
                      f"layers {', '.join(map(str, self._n_in))}")
        del confs[len(confs) - self._removed:]
        for layer in self._added:
            values[len(confs)] = {}
            confs.append(self._new(layer, len(confs), seed))
            values[len(confs) - 1] = self._drawn(confs[-1])
        if not confs:
            raise ConfigurationError("no layers are left: add some with add_layer")
        if self._check_output is not False:
            check_outputs([c.layer for c in confs if c.layer is not None])
        for i in range(min(self._frozen_till + 1, len(confs))):
            confs[i] = confs[i].replace(layer=frozen(confs[i].layer))
        processors = {i: p for i, p in processors.items() if i < len(confs)}
        conf = self._tune.applied_to_network(old.replace(confs=tuple(confs), input_pre_processors=processors, iteration_count=0,
                                                         epoch_count=0, **self._checks()))
        network = MultiLayerNetwork(conf).init()
        for i in range(len(confs)):
            for name, value in values[i].items():
                network.set_param(f"{i}_{name}", value)
        if inputs is not None and not self._added and not self._n_in:
            check_runs(network, self._network, inputs, f"layers {', '.join(map(str, self._n_out))} with another number of outputs")
        return network

    def _checks(self) -> dict[str, bool]:
        return {} if self._check_output is None else {"validate_output_layer_config": self._check_output}

    def _index(self, layer: int) -> int:
        return int(self._network.structure.key_of(layer))

    def _kept(self, i: int) -> dict[str, Any]:
        return {name.removeprefix(f"{i}_"): a for name, a in self._network.engine.parameters.table().items() if name.startswith(f"{i}_")}

    @staticmethod
    def _parts(confs: list[NeuralNetConfiguration], processors: Mapping[int, InputPreProcessor]) -> list[NetworkPart]:
        layers: Any = [c.layer for c in confs]
        return [NetworkPart(str(i), layer, processors.get(i), (str(i - 1) if i else "input",)) for i, layer in enumerate(layers)]

    def _replace_n_out(self, confs: list[NeuralNetConfiguration], values: dict[int, dict[str, Any]], i: int,
                       processors: dict[int, InputPreProcessor], inputs: Types) -> None:
        """Change a layer and those behind it, as far as the new size is felt."""
        n_out, scheme, following = self._n_out[i]
        staying = len(confs) - self._removed
        parts = self._parts(confs, processors)[:staying]
        self._renew(confs, values, i, n_out=n_out, weight_init=scheme)
        new = {part.key: part for part in self._parts(confs, processors)[:staying]}
        made, changed = carried(parts, new, inputs, list(map(str, self._n_in)))
        for part in made:
            j, layer = int(part.key), part.conf
            if part.preprocessor is not None:
                processors[j] = part.preprocessor
            if layer != confs[j].layer:
                confs[j] = confs[j].replace(layer=with_scheme(layer, following) if part.key in changed else layer)
            if part.key in changed:
                values[j] = self._drawn(confs[j])
        for behind in [j for j in range(i + 1, staying) if values[j]][:1]:
            weighed = with_scheme(confs[behind].layer, following)
            if str(behind) not in changed and weighed is not confs[behind].layer:           # as many outputs as before
                confs[behind] = confs[behind].replace(layer=weighed)
                values[behind] = self._drawn(confs[behind])
                changed.append(str(behind))
        if changed[1:]:
            report(f"layers {', '.join(changed)} have new parameters, as layer {i} has another number of outputs")

    def _replace_directly(self, confs: list[NeuralNetConfiguration], values: dict[int, dict[str, Any]], i: int) -> None:
        """The same where the sizes between the layers are not known."""
        n_out, scheme, following = self._n_out[i]
        self._renew(confs, values, i, n_out=n_out, weight_init=scheme)
        for j in range(i + 1, len(confs)):
            layer: Any = confs[j].layer
            fields = type(layer)._fields
            if "n_in" in fields and j not in self._preprocessed():
                sizes = taking(layer, n_out)
                self._renew(confs, values, j, **sizes, **({} if "n_out" in sizes else {"weight_init": following}))
                if "n_out" not in sizes:
                    return
            elif (values[j] or j in self._preprocessed()) and j not in self._n_in:
                raise ConfigurationError(f"layer {j} ({type(layer).__name__}) is fed by layer {i}, and how large its input will be is not "
                                         f"known: say it with n_in_replace({j}, …), or remove the layers from there on and add others")

    def _preprocessed(self) -> set[int]:
        found = self._network.get_configuration().input_pre_processors | self._preprocessors
        return {i for i, p in found.items() if resizes(p)}

    def _renew(self, confs: list[NeuralNetConfiguration], values: dict[int, dict[str, Any]], i: int, **changes: Any) -> None:
        layer: Any = confs[i].layer
        missing = [name for name in changes if name not in type(layer)._fields]
        if missing:
            raise ConfigurationError(f"layer {i} ({type(layer).__name__}) has no {missing[0]} to replace")
        confs[i] = confs[i].replace(layer=layer.replace(**changes))
        values[i] = self._drawn(confs[i])

    def _new(self, layer: Layer, i: int, seed: int) -> NeuralNetConfiguration:
        builder: NeuralNetConfigurationBuilder = self._tune.applied_neural_net_configuration_builder()
        given = builder.settings().replace(seed=seed, data_type=self._dtype)
        named = layer if layer.layer_name else layer.renamed(f"layer{i}")
        return given.of_layer(named.apply_global_config(given))

    def _drawn(self, conf: NeuralNetConfiguration) -> dict[str, Any]:
        make = getattr(conf.layer, "initial_values", None)
        return {} if make is None else make(self._draw, np.dtype(self._dtype.numpy))


def frozen(layer: Any) -> Any:
    """A layer whose parameters do not train."""
    if isinstance(layer, FrozenLayer):
        return layer
    return FrozenLayer(underlying=layer, layer_name=layer.layer_name, **normalization_of(layer))
