"""The trainable variables of a graph in flat vectors, with updater state, and the step that trains them."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...base.environment import uses_reference
from ...base.lazy_property import lazy_property
from ...device import devices
from ...device.device_memory import to_host
from ...errors import ConfigurationError
from ...ir.core import GraphCore
from ...ir.tables import GradientGraph
from ..config import TrainingConfig
from ..updaters.kernel import UpdateKernel
from ..updaters.penalties import Penalties
from ..updaters.updater import GradientUpdater
from .flat_layout import state_by_parameter
from .step import FlatParameters, FlatSlot, TrainingStep

States = dict[str, dict[str, Any]]


class GraphParameters:
    """Trainable variables of a graph, in one flat vector for each data type.

    The graph stores views of the vectors, so that an update in place is seen everywhere. Variables that the loss does
    not depend on have vectors of their own, which no kernel touches.
    """

    def __init__(self, sd: GraphCore, config: TrainingConfig, trained: set[str]) -> None:
        if config.updater is None:
            raise ConfigurationError("the training configuration has no updater: TrainingConfig.builder().updater(Adam(1e-3))")
        self.updater, terms = config.updater, tuple(config.regularization)
        self.shapes: dict[str, tuple[int, ...]] = {}
        found: dict[tuple[Any, bool], list[FlatSlot]] = {}
        for v in sd.variables():
            if v.is_trainable():
                array = sd.stored(v.name())
                self.shapes[v.name()] = array.shape
                slot = FlatSlot(v.name(), array.shape, self.updater, regularization=terms)
                found.setdefault((v.dtype, v.name() in trained), []).append(slot)
        self.trained, self.gate = trained, sd.gate
        self.groups = [(used, FlatParameters(slots, dtype.numpy, self.gate)) for (dtype, used), slots in found.items()]
        self._arrays = {n: a for _, flat in self.groups for n, a in flat.arrays.items()}
        self._gradient_arrays = {n: a for _, flat in self.groups for n, a in flat.gradient_arrays.items()}

    @property
    def arrays(self) -> dict[str, Any]:
        """The variables by name: views, as :attr:`FlatParameters.arrays`."""
        self._bring(self._arrays)
        return self._arrays

    @property
    def gradient_arrays(self) -> dict[str, Any]:
        """The gradients by parameter name, as views."""
        self._bring(self._gradient_arrays)
        return self._gradient_arrays

    def _bring(self, arrays: dict[str, Any]) -> None:
        if devices.active:
            for array in arrays.values():
                to_host(array)

    def take(self, store: Any) -> None:
        """Copy the stored values in, and store the views in their place."""
        for name, view in self.arrays.items():
            view[...] = store[name]
            store[name] = view

    def holds(self, sd: GraphCore, config: TrainingConfig, trained: set[str]) -> bool:
        """Whether these vectors are still up to date with graph and configuration."""
        names = [v.name() for v in sd.variables() if v.is_trainable()]
        return (names == list(self.shapes) and trained == self.trained and self.updater == config.updater
                and all(sd.tables.store.get(n) is self._arrays[n] for n in names)
                and all(slot.regularization == tuple(config.regularization) for _, flat in self.groups for slot in flat.slots))

    def kernels(self, minimize: bool = True) -> list[UpdateKernel]:
        """The kernels of all trained vectors."""
        return [kernel for used, flat in self.groups if used for kernel in flat.kernels(minimize)]

    def vectors(self) -> list[Any]:
        """All arrays that a step changes: parameters and updater state."""
        return [a for used, flat in self.groups if used for a in (flat.params, flat.state)]

    def state(self) -> States:
        """Updater state by variable and key; views."""
        made: States = {}
        for _, flat in self.groups:
            sizes = {s.name: s.size for s in flat.slots}
            for block in flat.blocks:
                parts = state_by_parameter(block, [sizes[n] for n in block.names], flat.state)
                made |= {n: {k: a.reshape(self.shapes[n]) for k, a in part.items()} for n, part in zip(block.names, parts)}
        return made

    def restore(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        """Copy updater state of variables that fits this updater."""
        for name, mine in self.state().items():
            given = states.get(name, {})
            if set(given) == set(mine) and all(np.size(given[k]) == a.size for k, a in mine.items()):
                for key, array in mine.items():
                    array[...] = np.reshape(given[key], array.shape)

    def updater_map(self) -> dict[str, GradientUpdater]:
        """The updater at work on each variable."""
        return {name: self.updater.instantiate(state) for name, state in self.state().items()}


class TrainingSession:
    """Parameters and training step of one version of a graph under one configuration."""

    def __init__(self, sd: GraphCore, config: TrainingConfig, losses: list[str], gradients: GradientGraph, old: GraphParameters | None,
                 states: Mapping[str, Mapping[str, Any]]) -> None:
        self.losses, graph = losses, gradients.graph
        names = {name: g.name() for name, g in gradients.found.items() if g is not None and sd.variable(name).is_trainable()}
        if old is not None and old.holds(sd, config, set(names)):
            self.params = old
        else:
            self.params = GraphParameters(sd, config, set(names))
            self.params.restore(states)
            self.params.take(sd.tables.store)
            sd.tables.changed()
            graph.tables.changed()          # its plans hold the arrays of before
            sd.tables.gradients = gradients._replace(version=sd.version)
        self.version, self.config = sd.version, config
        self.key = _key(config)
        self.graph = graph
        self.step = TrainingStep(graph, names, self.params, self.losses, config.minimize)  # type: ignore[arg-type]  # same parts

    @lazy_property
    def penalties(self) -> Penalties:
        """The penalties that regularization adds to the score."""
        used = [flat.params for used, flat in self.params.groups if used]
        return Penalties([(a, term) for term in self.config.regularization for a in used], uses_reference())

    def penalty_scores(self) -> dict[str, float]:
        """Contribution of each kind of regularization to the loss."""
        scores: dict[str, float] = {}
        if self.config.regularization:
            values = self.penalties.values(self.config.iteration_count, self.config.epoch_count)
            for (_, term), value in zip(self.penalties.terms, values):
                scores[type(term).__name__] = scores.get(type(term).__name__, 0.0) + value
        return scores

    def fits(self, sd: GraphCore, config: TrainingConfig) -> bool:
        """Whether graph and configuration are unchanged since the session was made."""
        return self.version == sd.version and self.key == _key(config)


def _key(config: TrainingConfig) -> tuple[Any, ...]:
    return (config.updater, tuple(config.regularization), config.minimize, tuple(config.loss_variables or ()),
            tuple(config.data_set_feature_mapping or ()), tuple(config.data_set_label_mapping or ()),
            tuple(config.data_set_feature_mask_mapping or ()), tuple(config.data_set_label_mask_mapping or ()),
            tuple(config.train_evaluation_labels.items()), tuple(config.validation_evaluation_labels.items()))
