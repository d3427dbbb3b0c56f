"""Plans of a network in words, and the time of a step or of an output."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...layers.types.input_type import InputType
from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import ConfigurationError
from ...samediff.executor.plan_cache import plan_for
from ...samediff.executor.session import checked_feeds, request_for
from ...samediff.executor.stepwise import profiled
from ...samediff.plans.backend import backend_of
from ...samediff.plans.machine_peak import shortest
from ...samediff.training.listeners.calls import Listeners
from ..batches.batch import NetworkBatch
from ..batches.given_data import batch_of
from ..engine.pieces import pieces_of
from ..engine.update_profile import update_steps
from ..reports.drawings import likely_input_types
from ..reports.estimate import StepEstimate, estimate_of
from ..reports.memory_report import zeros_of
from .fitting import NetworkFittingMixin
from .network import Network

if TYPE_CHECKING:
    from ...samediff.executor.profile import Profile
    from ...samediff.plans.plan import Plan
    from ...samediff.training.steps.step import TrainingStep
    from ..structure.structure import Structure


class NetworkProfilingMixin(NetworkFittingMixin):
    """The part of a network that explains and times its runs."""

    def explain(self, data: Any, train: bool | None = None) -> str:
        """Describe the run of ``fit`` (for data with labels) or ``output`` for batches of these shapes.

        Tells what was fused, where values live, what one native call does, and what runs as Python and why.

        Parameters
        ----------
        data : DataSet, MultiDataSet, an array, or a list with an array for each input
            Values do not matter, only shapes and types.
        train : bool, optional
            Whether to look at ``fit`` or at ``output``; by default at ``fit`` where there are labels.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> from dl4py.layers import DenseLayer, OutputLayer
        >>> conf = NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_in=4, n_out=8)).layer(OutputLayer(n_in=8, n_out=3)).build()
        >>> net = MultiLayerNetwork(conf).init()
        >>> "matmul" in net.explain(np.zeros((2, 4)))
        True
        >>> sorted(net.profile(np.zeros((2, 4), "f4"), steps=1).by_layer())
        ['layer0', 'layer1']
        """
        batch = self._profiled_batch(data)
        plan, _ = planned(self, batch, self._trains(batch, train))
        return backend_of(plan.where).explain(plan)

    def profile(self, data: Any, steps: int = 10, train: bool | None = None) -> Profile:
        """Time, bytes and operations of every step of ``fit`` (for data with labels) or of ``output``.

        Parameters, gradients, updater state and counters stay as they are: training is profiled on a copy of the network.

        Parameters
        ----------
        data : DataSet, MultiDataSet, an array, or a list with an array for each input
            What the steps run on; the network stays as it is.
        steps : int, default 10
            How often each step of the plan is timed; the shortest time counts.
        train : bool, optional
            Whether to profile ``fit`` or ``output``; by default ``fit`` where there are labels.

        Returns
        -------
        Profile
            ``print(profile)``, ``profile.by_layer()``, ``profile.to_json()``, ``profile.write_trace(path)`` for chrome://tracing.
        """
        if isinstance(steps, bool) or not hasattr(steps, "__index__") or steps < 1:
            raise ConfigurationError(f"profile times every step a whole number of times above 0; got steps={steps!r}")
        batch = self._profiled_batch(data)
        return _of_fit(self.clone(), batch, steps) if self._trains(batch, train) else _of_output(self, batch, steps)

    def estimate(self, batch_size: int, *input_types: InputType) -> StepEstimate:
        """What a step of training with so many examples takes: memory, and time by the limits of this machine. Nothing is run.

        Parameters
        ----------
        batch_size : int
            Number of examples, at least 1.
        *input_types : InputType
            One for each input; not needed where the first layers tell the sizes.

        Examples
        --------
        >>> from dl4py.layers import DenseLayer, OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> conf = NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_in=4, n_out=8)).layer(OutputLayer(n_in=8, n_out=3)).build()
        >>> MultiLayerNetwork(conf).init().estimate(16).memory["Parameters"]
        268
        """
        structure, dtype = self.engine.structure, self.engine.structure.dtype.numpy
        types = input_types or likely_input_types(structure, self._configuration)
        if batch_size < 1 or len(types) != len(structure.inputs):
            raise ConfigurationError("estimate needs at least one example and an input type for each input "
                                     f"({', '.join(structure.inputs)}); got {batch_size} and {len(types)}")
        inputs = [zeros_of(name, t, batch_size, dtype) for name, t in zip(structure.inputs, types)]
        forward, _ = planned(self, NetworkBatch(inputs), False)
        made = self.engine.graphs.of(NetworkBatch(inputs))
        labels = [np.zeros(forward.specs[made.activations[key]].shape or (), dtype) for key in structure.outputs]
        plan, feeds = planned(self, NetworkBatch(inputs, labels), True)
        return estimate_of(self.engine, plan, feeds, batch_size)

    def last_training_step(self) -> TrainingStep | None:
        """The step that computed the last gradient."""
        return self.engine.steps.last

    def _profiled_batch(self, data: Any) -> NetworkBatch:
        if isinstance(data, (DataSet, MultiDataSet)):
            return batch_of(data)
        return NetworkBatch(data if isinstance(data, (list, tuple)) else [data])

    def _trains(self, batch: NetworkBatch, train: bool | None) -> bool:
        if train and not batch.labels:
            raise ConfigurationError("a step of training needs labels: give a DataSet or MultiDataSet that has them")
        return bool(batch.labels and self.engine.parameters.slots) if train is None else train


def planned(net: Network, batch: NetworkBatch, train: bool) -> tuple[Plan, dict[str, Any]]:
    """The plan of a step or of an output, and its inputs; nothing is run."""
    engine = net.engine
    graphs = engine.graphs
    if not train:
        batch = batch.unlabelled()
        made = graphs.of(batch)
        feeds = checked_feeds(made.sd, graphs.feeds(batch, made))
        names = [made.activations[key] for key in engine.structure.outputs]
        return plan_for(made.sd, feeds, request_for(made.sd, tuple(names), False)), feeds
    piece = pieces_of(engine.structure, batch)[0]
    step, made = graphs.step(piece, piece is not batch)
    feeds = checked_feeds(step.graph, graphs.feeds(piece, made))
    return step.plan_for(feeds), feeds


def _of_output(net: NetworkProfilingMixin, batch: NetworkBatch, steps: int) -> Profile:
    engine = net.engine
    plan, feeds = planned(net, batch, False)
    found = profiled(plan, feeds, engine.progress.context(False), steps, _layers(engine.structure),
                     f"output of {type(net).__name__}, batch of {batch.size}")
    members, inputs = list(engine.structure.outputs), batch.unlabelled()
    seconds = shortest(lambda: engine.forward.activations(inputs, members), steps + 1)
    return dataclasses.replace(found, runs={**found.runs, "output": seconds})


def _of_fit(twin: NetworkProfilingMixin, batch: NetworkBatch, steps: int) -> Profile:
    """The profile of training steps, on a network that may be changed."""
    engine, deaf, trainer = twin.engine, Listeners([]), twin.trainer
    pieces = pieces_of(engine.structure, batch)
    fit = shortest(lambda: trainer.fit_piece(pieces[0], {} if pieces[0] is not batch else None, deaf, trainer.optimizer), steps + 1)
    plan, feeds = planned(twin, batch, True)
    found = profiled(plan, feeds, engine.progress.context(True), steps, _layers(engine.structure),
                     f"fit of {type(twin).__name__}, batch of {batch.size}" + (", first piece of time" if len(pieces) > 1 else ""))
    updates = update_steps(engine, batch.rows, steps, len(found.steps), _layers(engine.structure))
    return dataclasses.replace(found, steps=(*found.steps, *updates), runs={**found.runs, "fit": fit})


def _layers(structure: Structure) -> Callable[[str], str]:
    """A function that gives the layer of a name scope."""
    names = {getattr(m.conf, "layer_name", None) or m.key: m for m in structure.members}
    labels = {name: f"layer{name}" if name.isdigit() and name == m.key else name for name, m in names.items()}

    def layer_of(scope: str) -> str:
        parts = scope.split("/")
        return next((labels[s] for k in range(len(parts), 0, -1) if (s := "/".join(parts[:k])) in labels), "")
    return layer_of
