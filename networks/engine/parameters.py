"""The parameters of a network: flat vectors, and whose the pieces are."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...layers.types.parameters import Parameter
from ...samediff.errors import ShapeError
from ...samediff.expressions.arrays import to_numbers
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ...samediff.training.steps.step import FlatParameters, FlatSlot
from ..structure.structure import Member, Structure
from .member_rules import MemberRules


class Parameters:
    """Parameters, gradients and updater state of a structure.

    Attributes
    ----------
    slots : the pieces of the flat vectors, in their order
    owners : for each of them the member, and what that says of it
    flat : the vectors, and views of their pieces
    rules : what members do to gradients and parameters besides their updaters
    only_pretrained : names of those that only pretraining moves
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        found = [(slot, p, m) for m in structure.members for slot, p in m.slots()]
        self.slots: list[FlatSlot] = [slot for slot, _, _ in found]
        self.owners: list[tuple[Member, Parameter]] = [(m, p) for _, p, m in found]
        self.only_pretrained = {slot.name for slot, p, m in found if m.only_pretrained(p)}
        self.flat = FlatParameters(self.slots, structure.dtype.numpy)
        owned = [(m, [s for s, _ in m.slots()]) for m in structure.members]
        self.rules = MemberRules(owned, self.flat, structure.mini_batch)

    def draw(self) -> None:
        """Initial values, drawn as DL4J draws them: parameter by parameter from one generator."""
        rng = Nd4jRandom(self.structure.seed)
        for member in self.structure.as_declared:
            if hasattr(member.conf, "initial_values"):
                for name, value in member.conf.initial_values(rng, self.structure.dtype.numpy).items():
                    self.flat.arrays[f"{member.key}_{name}"][...] = value

    def table(self) -> dict[str, Any]:
        """Views of all parameters by name, in the order of the configuration."""
        names: dict[str, list[str]] = {m.key: [] for m in self.structure.as_declared}
        for slot, (member, _) in zip(self.slots, self.owners):
            names[member.key].append(slot.name)
        for member in self.structure.as_declared:
            names[member.key].sort(key=member.table_rank)
        return {name: self.flat.arrays[name] for own in names.values() for name in own}

    def set(self, values: Any) -> None:
        """Replace all parameters by a flat vector."""
        given = to_numbers(values, "a network").reshape(-1)
        if given.size != self.flat.params.size:
            raise ShapeError(f"the network has {self.flat.params.size} parameters, the vector given has {given.size}")
        with self.flat.gate:
            self.flat.params[...] = given

    def for_structure(self, structure: Structure) -> Parameters:
        """The parameters for a changed configuration: values stay, and updater state where it fits."""
        fresh = Parameters(structure)
        with self.flat.gate:
            fresh.flat.params[...] = self.flat.params
            before = self.flat.state_by_parameter()
            for name, state in fresh.flat.state_by_parameter().items():
                for key, array in state.items():
                    if key in before[name]:
                        array[...] = before[name][key]
        return fresh

    def trained(self) -> list[FlatSlot]:
        """The parameters that receive gradients."""
        reached = self.structure.trained()
        return [s for s, (m, p) in zip(self.slots, self.owners) if p.role != "statistic" and not m.is_frozen and m.key in reached]

    def pretraining_penalty(self, iteration: int, epoch: int) -> float:
        """Sum of the penalties of those that only pretraining moves."""
        kept = [(self.flat.arrays[s.name], rule) for s, (m, p) in zip(self.slots, self.owners) if s.name in self.only_pretrained
                for rule in m.conf.regularization_for(p)]
        return sum(float(rule.score(np, array, rule.coefficient(iteration, epoch))) for array, rule in kept)
