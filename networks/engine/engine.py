"""Engine of a network: parameters, graphs over them, and what runs these."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...samediff.base.locks import rlock
from ...samediff.training.steps.step import FlatParameters
from ..structure.structure import Member, Structure
from .forward import Forward
from .graphs import Graphs
from .parameters import Parameters
from .placement import Place
from .pretrainer import Pretrainer
from .progress import Progress
from .steps import Steps
from .updates import Updates


class Engine:
    """The parts of one network. A changed configuration replaces all but progress, pretrainers and lock.

    Attributes
    ----------
    structure : the members
    parameters : their flat vectors
    graphs : by the form of the batch
    forward : activations and losses
    steps : gradients and updates
    updates : what updaters would do
    progress : counters, and the score of the last step
    place : the device
    pretrainers : of members that were pretrained
    lock : held for a step
    """

    structure: Structure
    parameters: Parameters
    place: Place
    graphs: Graphs
    forward: Forward
    steps: Steps
    updates: Updates
    _alone: dict[tuple[str, Any], Forward]

    def __init__(self, structure: Structure) -> None:
        self.progress, self.lock = Progress(structure.seed), rlock()
        self.pretrainers: dict[str, Pretrainer] = {}
        self._work_on(Parameters(structure), Place())

    def _work_on(self, parameters: Parameters, place: Place) -> None:
        graphs = Graphs(parameters)
        vars(self).update(                  # all at once, whatever interrupts this
            structure=parameters.structure, parameters=parameters, place=place, graphs=graphs, _alone={},
            forward=Forward(graphs, self.progress, place), steps=Steps(graphs, self.progress, place, self.lock),
            updates=Updates(parameters, self.progress, self.lock))

    @property
    def flat(self) -> FlatParameters:
        """Parameters, gradients and updater state as flat vectors, and as arrays by name."""
        return self.parameters.flat

    def state(self) -> dict[str, Any]:
        """The state of training after a step: values, counters, score, and the state of pretraining."""
        flat = self.flat
        with flat.gate:
            return {"params": flat.params.copy(), "updater": flat.state.copy(), "gradients": flat.gradients.copy(),
                    "computed": frozenset(self.steps.computed), "progress": self.progress.state(),
                    "pretrainers": {key: trainer.state() for key, trainer in self.pretrainers.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the :meth:`state` of an engine with the same parameters."""
        flat = self.flat
        with flat.gate:
            flat.params[...], flat.state[...], flat.gradients[...] = state["params"], state["updater"], state["gradients"]
            self.steps.computed = state["computed"]
            self.progress.restore(state["progress"])
            for key, kept in state["pretrainers"].items():
                self.pretrainers[key] = Pretrainer(self.structure.member(key), self.structure.dtype.numpy)
                self.pretrainers[key].restore(kept)

    def take_over(self, other: Engine) -> None:
        """Go on where another engine with the same parameters is."""
        self.restore(other.state())

    def reconfigure(self, structure: Structure) -> None:
        """Go on with a changed configuration of the same parameters: their values stay, and updater state where it fits."""
        with self.lock:
            fresh = self.parameters.for_structure(structure)
            self.progress.seed = structure.seed
            self._work_on(fresh, Place(self.place.device))

    def part(self, first: int, last: int) -> Forward:
        """Runs the members from one to another of a list, over the same parameters: the first takes the input."""
        members = self.structure.members[first:last + 1]
        place = Place(self.place.device)        # a new object, as its caches belong to one network
        return self._over((replace(members[0], inputs=self.structure.inputs), *members[1:]), self.structure.inputs, place)

    def alone(self, key: str, changed: Any = None) -> Forward:
        """Runs one member, with a changed configuration on request, on an input of its own, without its preprocessor, over the same
        parameters."""
        found = self._alone.get((key, changed))
        if found is None:
            member = replace(self.structure.member(key), inputs=("input",), preprocessor=None)
            member = member if changed is None else replace(member, conf=changed)
            found = self._alone.setdefault((key, changed), self._over((member,), ("input",), self.place))
        return found

    def _over(self, members: tuple[Member, ...], inputs: tuple[str, ...], place: Place) -> Forward:
        structure = replace(self.structure, inputs=inputs, members=members, outputs=(members[-1].key,), declared=())
        return Forward(Graphs(self.parameters, structure), self.progress, place)
