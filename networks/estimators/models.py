"""The network of an estimator: from nothing, a configuration, a function that builds one, or another network."""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ...layers.standard.feed_forward import DenseLayer
from ...layers.standard.output import OutputLayer
from ...samediff.errors import ConfigurationError, did_you_mean
from ...samediff.training.updaters.updaters import Adam
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from ..models.network import Network
from ..structure.configuration import ComputationGraphConfiguration, MultiLayerConfiguration, NeuralNetConfiguration

#: What a function that builds a network may take from the data, by these names.
FROM_DATA = ("n_in", "n_out", "seed")


def small_network(n_in: int, n_out: int, seed: int, hidden: tuple[int, ...] = (32,), activation: str = "relu",
                  learning_rate: float = 0.01, last: str = "softmax", loss: str = "mcxent") -> MultiLayerConfiguration:
    """What is trained where no model is given: dense layers and an output layer, with Adam, in double precision.

    Parameters
    ----------
    n_in, n_out, seed : int
        Columns of the features, outputs, and the seed of the first values.
    hidden : tuple of int
        Sizes of the layers between them.
    activation : str
        Theirs.
    learning_rate : float
        Of Adam.
    last, loss : str
        Activation and loss of the output.
    """
    layers = [DenseLayer(n_in=a, n_out=b, activation=activation) for a, b in zip((n_in, *hidden), hidden)]
    output = OutputLayer(n_in=hidden[-1] if hidden else n_in, n_out=n_out, activation=last, loss_function=loss)
    builder = NeuralNetConfiguration.Builder().seed(seed).data_type("DOUBLE").updater(Adam(learning_rate))
    return builder.list(*layers, output).build()  # type: ignore[no-any-return, unused-ignore]


def options_of(model: Any) -> dict[str, Any]:
    """The options of the function that builds a model, with their defaults."""
    function = small_network if model is None else model
    if isinstance(function, (Network, MultiLayerConfiguration, ComputationGraphConfiguration)) or not callable(function):
        return {}
    parameters = inspect.signature(function).parameters.values()
    return {p.name: None if p.default is p.empty else p.default for p in parameters
            if p.name not in FROM_DATA and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


def network_for(model: Any, options: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """A network that may be trained.

    Parameters
    ----------
    model : None, configuration, network or function
        A network is copied; a function is called with the options, and with what it takes of ``given``.
    options : mapping
        Those of the function.
    given : mapping
        What is known of the data: :data:`FROM_DATA`, and defaults of the small network.

    Raises
    ------
    ConfigurationError
        It is nothing of these; options that the function does not have.
    """
    made = model
    if model is None or (callable(model) and not isinstance(model, Network)):
        function = small_network if model is None else model
        known = options_of(model)
        unknown = next((name for name in options if name not in known), None)
        if unknown is not None:
            raise ConfigurationError(f"{function.__name__} has no option {unknown!r}{did_you_mean(unknown, known)}; options: "
                                     f"{', '.join(known)}")
        takes = inspect.signature(function).parameters
        made = function(**{**{k: v for k, v in given.items() if k in takes}, **options})
    elif options:
        raise ConfigurationError(f"options are for a function that builds the network; a {type(model).__name__} has none")
    if isinstance(made, MultiLayerConfiguration):
        return MultiLayerNetwork(made)
    if isinstance(made, ComputationGraphConfiguration):
        return ComputationGraph(made)
    if isinstance(made, Network):
        return made.clone() if made is model else made
    raise ConfigurationError(f"a model is a configuration, a network, or a function that gives one of these; got {type(made).__name__}")
