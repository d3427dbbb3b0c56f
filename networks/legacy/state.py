"""Updater state of versions up to 0.8: parameter by parameter, where later ones join neighbours with one updater into blocks."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...samediff.errors import ShapeError
from ...samediff.training.steps.step import FlatParameters


def fill_state(flat: FlatParameters, stored: Any, owners: Iterable[str]) -> None:
    """Put the state of an old file where it belongs today.

    Parameters
    ----------
    flat : FlatParameters
        Takes the state.
    stored : array
        For each layer and each of its parameters, that parameter's state arrays one after the other.
    owners : iterable of str
        The layers in the order of the file: for graphs that of their declaration.

    Raises
    ------
    ShapeError
        The state has another length.
    """
    if stored.size != flat.state.size:
        raise ShapeError(f"the updater has a state of {flat.state.size} numbers, the file has {stored.size}")
    parts, at = flat.state_by_parameter(), 0
    for owner in owners:
        for name in (n for n in parts if n.rpartition("_")[0] == owner):
            for array in parts[name].values():
                array[...] = stored[at:at + array.size]
                at += array.size
