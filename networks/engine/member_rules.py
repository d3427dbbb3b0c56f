"""Rules of members for gradients and parameters besides their updaters: normalization, constraints, penalties of the score."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...samediff.base.environment import uses_reference
from ...samediff.base.lazy_property import lazy_property
from ...samediff.errors import ShapeError
from ...samediff.training.steps.step import FlatParameters, FlatSlot
from ...samediff.training.updaters.gradient_normalization import GradientNormalization, normalize_gradients
from ...samediff.training.updaters.normalization import Normalization, NormalizeKernel
from ...samediff.training.updaters.penalties import Penalties
from ..structure.structure import Member


class MemberRules:
    """The rules of all members of a network.

    Parameters
    ----------
    owned : each member with its parameters
    flat : these parameters
    averages : whether gradients are divided by the number of rows

    Attributes
    ----------
    normalizes, constrains, penalizes : whether any member does
    """

    def __init__(self, owned: Sequence[tuple[Member, Sequence[FlatSlot]]], flat: FlatParameters, averages: bool) -> None:
        self._owned, self._flat, self._averages = owned, flat, averages
        self._constrained = [m for m, _ in owned if getattr(m.conf, "constraints_in_force", None)]
        scored = [slots for m, slots in owned if getattr(m.conf, "scores_regularization", True)]
        self._terms = [(s.name, r) for slots in scored for s in slots for r in s.regularization]
        self.normalizes = any(normalization_of(m) is not None for m, _ in owned)
        self.constrains, self.penalizes = bool(self._constrained), bool(self._terms)

    @property
    def is_compiled(self) -> bool:
        """Whether all rules are native calls before the updaters, so that no constraint follows them."""
        return not self.constrains and (not self.normalizes or self.normalization is not None)

    @lazy_property
    def normalization(self) -> Normalization | None:
        """The normalization of gradients as a native call; None where there is none, or for types without one."""
        if not self.normalizes or self._flat.gradients.dtype.itemsize < 4:
            return None
        pieces = self._flat.pieces(self._flat.gradients)
        return Normalization([NormalizeKernel(normalization_of(m) or GradientNormalization.None_, _threshold(m),
                                              [pieces[s.name] for s in own], [s.scaled for s in own]) for m, own in self._owned if own])

    def scale(self, rows: int) -> float:
        """The factor for gradients summed over so many rows."""
        return 1.0 / rows if self._averages else 1.0

    def prepare(self, rows: int) -> float:
        """Normalize the gradients; gives the number by which updaters still have to multiply them."""
        scale = self.scale(rows)
        if not self.normalizes:
            return scale
        compiled = None if uses_reference() else self.normalization
        if compiled is not None:
            compiled(scale)
            return 1.0
        for member, own in self._owned:
            scale_gradients(member, own, self._flat.gradient_arrays, scale)
        return 1.0

    def constrain(self) -> None:
        """Apply the constraints to the parameters."""
        for member in self._constrained:
            constrain(member, self._flat.arrays)

    def penalty(self, iteration: int, epoch: int) -> float:
        """The sum of all penalties."""
        if not self._terms:
            return 0.0
        return sum((self._summed_by_numpy if uses_reference() else self._summed).values(iteration, epoch))

    @lazy_property
    def _summed(self) -> Penalties:
        return self._penalties(False)

    @lazy_property
    def _summed_by_numpy(self) -> Penalties:
        return self._penalties(True)

    def _penalties(self, reference: bool) -> Penalties:
        pieces = self._flat.pieces(self._flat.params)
        return Penalties([(pieces[n], r) for n, r in self._terms], reference)


def normalization_of(member: Member) -> GradientNormalization | None:
    """The gradient normalization of a member, or None."""
    mode = getattr(member.conf, "gradient_normalization", None)
    return None if mode in (None, GradientNormalization.None_) else mode


def _threshold(member: Member) -> float:
    return float(getattr(member.conf, "gradient_normalization_threshold", 1.0))


def scale_gradients(member: Member, slots: Sequence[FlatSlot], arrays: Mapping[str, Any], scale: float) -> None:
    """Multiply the gradients of a member by ``scale``, then normalize them as its configuration says."""
    for slot in slots:
        if slot.scaled:
            arrays[slot.name][...] *= scale
    mode = normalization_of(member)
    if mode is not None and slots:
        own = [arrays[s.name] for s in slots]
        for g, new in zip(own, normalize_gradients(np, mode, _threshold(member), own)):
            g[...] = new


def constrain(member: Member, arrays: Mapping[str, Any]) -> None:
    """Apply the constraints of a member to its parameters."""
    for constraint in getattr(member.conf, "constraints_in_force", ()):
        for name in constraint.params:
            array = arrays.get(f"{member.key}_{name}")
            if array is not None:
                made = array
                for _ in range(2):                                          # as DL4J does
                    made = constraint.apply(made)
                    if np.shape(made) != array.shape:
                        raise ShapeError(f"constraint {type(constraint).__name__} of {member.label} returned shape {np.shape(made)} for "
                                         f"parameter {name!r} of shape {array.shape}; it must return the same shape")
                array[...] = made
