"""Networks as plain graphs, and as arrays by name."""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...samediff.errors import ConfigurationError, DL4PyError
from ...samediff.graph.graph import SameDiff
from ..engine.build import NetworkGraph, NetworkGraphBuilder, Variant
from ..engine.protocols import HasEngine
from .stored import WritableNetwork

_RANKS = (2, 3, 4, 5)


def to_same_diff(net: HasEngine, ranks: Sequence[int] | None = None) -> SameDiff:
    """The forward pass of a network as a graph of its own, with a copy of the parameters.

    Inputs are placeholders named ``input_0``, ``input_1`` ..., parameters variables under their names in the parameter
    table (``0_W``); :meth:`SameDiff.outputs` are the network's.

    Parameters
    ----------
    net : MultiLayerNetwork or ComputationGraph
        The network, which stays as it is.
    ranks : sequence of int, optional
        Number of axes of each input; by default the smallest that the layers accept.

    Raises
    ------
    ConfigurationError
        The layers accept no inputs of these ranks.

    Examples
    --------
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
    >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
    ...     DenseLayer(n_in=4, n_out=3, activation="relu"), OutputLayer(n_in=3, n_out=2)).build()).init()
    >>> sd = to_same_diff(net)
    >>> x = np.ones((1, 4), "float32")
    >>> bool((sd.output({"input_0": x}, sd.outputs()[0])[sd.outputs()[0]] == net.output(x)).all())
    True
    """
    return forward_graph(net, ranks).sd


def forward_graph(net: HasEngine, ranks: Sequence[int] | None = None, sizes: Sequence[Sequence[int]] = ()) -> NetworkGraph:
    """The graph of :func:`to_same_diff` and the names in it; ``sizes`` are those of an example of each input, where they are known."""
    structure = net.engine.structure
    arrays = {name: np.array(array) for name, array in net.engine.flat.arrays.items()}
    known = (tuple(map(tuple, sizes)),) if sizes else ()
    problem: DL4PyError | None = None
    for candidate in [tuple(ranks)] if ranks is not None else _candidates(len(structure.inputs)):
        try:
            made = NetworkGraphBuilder(structure, Variant(candidate, (), (), (), False, sizes=known), arrays).build()
        except DL4PyError as error:
            problem = problem or error
            continue
        made.sd.set_outputs(*[made.activations[name] for name in structure.outputs])
        return made
    raise ConfigurationError(f"the layers accept no inputs with {ranks or 'two to five'} axes: {problem}") from problem


def _candidates(count: int) -> Iterator[tuple[int, ...]]:
    """Ranks to try, small ones first."""
    return iter(sorted(itertools.product(_RANKS, repeat=count), key=sum))


def to_arrays(net: WritableNetwork) -> dict[str, Any]:
    """Copies of all parameters by name, and of the updater's state as ``updaterState`` where there is one.

    Parameters
    ----------
    net : MultiLayerNetwork or ComputationGraph
        The network, which stays as it is.
    """
    flat = net.engine.flat
    with flat.gate:
        found = {name: np.array(array) for name, array in flat.arrays.items()}
        state = net.origin.model.updater_state if net.engine.structure.missing_classes and net.origin else flat.state
        return found | ({} if state is None or not state.size else {"updaterState": np.array(state)})


def set_arrays(net: HasEngine, arrays: dict[str, Any]) -> None:
    """Take over all parameters, and the updater's state where it is given; nothing changes when one of them does not fit.

    Parameters
    ----------
    net : MultiLayerNetwork or ComputationGraph
        The network that takes them.
    arrays : dict of array by str
        Arrays by names and in shapes as :func:`to_arrays` gives them.

    Raises
    ------
    ConfigurationError
        A parameter is missing, unknown, or has another shape.
    """
    flat = net.engine.flat
    state = arrays.get("updaterState")
    given = {name: np.asarray(a) for name, a in arrays.items() if name != "updaterState"}
    problems = [f"{name} is missing" for name in flat.arrays if name not in given]
    problems += [f"{name} is no parameter of the network" for name in given if name not in flat.arrays]
    problems += [f"{name} has shape {list(given[name].shape)} for {list(a.shape)}" for name, a in flat.arrays.items()
                 if name in given and given[name].shape != a.shape]
    if state is not None and np.size(state) != flat.state.size:
        problems.append(f"the updater's state has {np.size(state)} numbers for {flat.state.size}")
    if problems:
        raise ConfigurationError("the arrays do not fit the network: " + "; ".join(problems[:10]))
    with flat.gate:
        for name, array in flat.arrays.items():
            array[...] = given[name]
        if state is not None:
            flat.state[...] = np.reshape(state, -1)
