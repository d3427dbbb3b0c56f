"""Training over one flat parameter vector: updater blocks, state layout, gradient normalization."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.java_names import UpdaterBlockNames
from ...errors import ShapeError
from ..updaters.updater import GradientUpdater, IUpdater

__all__ = [
    "ParameterSlot", "UpdaterBlock", "initial_state", "state_by_parameter", "state_length", "updater_blocks",
]


class ParameterSlot:
    """One parameter of the flat vector. Neighbours with equal updater and key share a block.

    Parameters
    ----------
    name : str
        What tables call it.
    size : int
        Number of entries.
    updater : IUpdater
        What changes it.
    key : object, optional
        Keeps parameters apart whose rate changes at run time.
    """

    __slots__ = ("key", "name", "size", "updater")

    def __init__(self, name: str, size: int, updater: IUpdater, key: object = None) -> None:
        self.name, self.size, self.updater, self.key = name, size, updater, key


@dataclass(frozen=True)
class UpdaterBlock(UpdaterBlockNames):
    """Neighbouring parameters with one updater.

    The state of a block is one array after the other for the whole block: for Adam M of all its parameters, then V.

    Parameters
    ----------
    start, stop : int
        Where its parameters begin in the flat vector, and end (without).
    updater : IUpdater
        What changes them.
    state_start : int
        Where its state begins in the flat vector of states.
    names : tuple of str
        The parameters.
    """

    start: int
    stop: int
    updater: IUpdater
    state_start: int
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.stop - self.start

    @property
    def state_stop(self) -> int:
        """End of the state of this block in the flat state vector."""
        return self.state_start + self.updater.state_size(self.size)

    def state_slices(self) -> dict[str, slice]:
        """Return where each state array lies in the flat state vector, by DL4J's name."""
        n = self.size
        return {name: slice(self.state_start + i * n, self.state_start + (i + 1) * n)
                for i, name in enumerate(self.updater.state_names)}

    def initialize(self, state: Any) -> None:
        """Fill this block's part of the flat state vector with the start values."""
        for where, value in zip(self.state_slices().values(), self.updater.state_init()):
            state[where] = value

    def instantiate(self, state: Any, initialize: bool = False) -> GradientUpdater:
        """Return the updater at work on this block's part of the flat state vector."""
        return self.updater.instantiate(state[self.state_start:self.state_stop], initialize)


def updater_blocks(slots: Iterable[ParameterSlot | tuple[Any, ...]]) -> list[UpdaterBlock]:
    """Merge neighbouring parameters with equal updater configuration into blocks.

    Parameters
    ----------
    slots
        The parameters in the order of the flat vector: :class:`ParameterSlot` or ``(name, size, updater[, key])``.

    Examples
    --------
    >>> from dl4py.samediff.training import Adam, Sgd
    >>> [(b.start, b.stop, b.state_start, b.state_stop) for b in updater_blocks(
    ...     [("W0", 20, Adam()), ("b0", 4, Adam()), ("W1", 12, Sgd()), ("W2", 2, Adam())])]
    [(0, 24, 0, 48), (24, 36, 48, 48), (36, 38, 48, 52)]
    """
    runs: list[tuple[IUpdater, object, list[ParameterSlot]]] = []
    for given in slots:
        slot = given if isinstance(given, ParameterSlot) else ParameterSlot(*given)
        if runs and runs[-1][1] == slot.key and runs[-1][0] == slot.updater:
            runs[-1][2].append(slot)
        else:
            runs.append((slot.updater, slot.key, [slot]))
    blocks: list[UpdaterBlock] = []
    start = state = 0
    for updater, _, members in runs:
        stop = start + sum(slot.size for slot in members)
        blocks.append(UpdaterBlock(start, stop, updater, state, tuple(slot.name for slot in members)))
        start, state = stop, blocks[-1].state_stop
    return blocks


def state_length(blocks: Sequence[UpdaterBlock]) -> int:
    """Return the length of the flat state vector of all blocks.

    Parameters
    ----------
    blocks : sequence of UpdaterBlock
        As :func:`updater_blocks` gives them.
    """
    return blocks[-1].state_stop if blocks else 0


def initial_state(xp: Any, blocks: Sequence[UpdaterBlock], dtype: Any) -> Any:
    """Return a new flat state vector with the start values of every block.

    Parameters
    ----------
    xp : module
        NumPy, or another library with ``zeros``.
    blocks : sequence of UpdaterBlock
        As :func:`updater_blocks` gives them.
    dtype : data type
        Of the state.
    """
    state = xp.zeros(state_length(blocks), dtype)
    for block in blocks:
        block.initialize(state)
    return state


def state_by_parameter(block: UpdaterBlock, sizes: Sequence[int], state: Any) -> list[dict[str, Any]]:
    """Return, for each parameter of the block, its own parts of the state arrays (views).

    Parameters
    ----------
    block : UpdaterBlock
        The block.
    sizes : sequence of int
        Number of entries of each of its parameters.
    state : array
        The flat vector of the states of all blocks.

    Raises
    ------
    ShapeError
        The sizes do not add up to that of the block.
    """
    if sum(sizes) != block.size:
        raise ShapeError(f"sizes {list(sizes)} add up to {sum(sizes)}, the block has {block.size} parameters")
    result, at = [], 0
    for size in sizes:
        result.append({name: state[where][at:at + size] for name, where in block.state_slices().items()})
        at += size
    return result
