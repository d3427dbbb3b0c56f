"""Updater state where DL4J's files cut it otherwise than their parameters lie.

DL4J walks over the parameters of a separable or depthwise convolution weights first, though the bias comes first in the flat vector.
Where the bias has an updater of its own, each updater therefore holds the state of a stretch that belongs partly to the other.
Files of such networks get a further entry with the whole state; DL4J passes over it.
"""
from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...samediff.codecs.nd4j_array import read_array, write_array
from ...samediff.training.steps.flat_layout import UpdaterBlock, initial_state, updater_blocks
from .engine import Engine

ENTRY = "updaterState.dl4py.bin"


def from_file(engine: Engine, stored: NDArray[Any], extra: Mapping[str, bytes] | None = None) -> NDArray[Any]:
    """The updater state of a file in the order of ``engine.flat.state``; values that the file lacks are initial ones."""
    places = _places(engine)
    if places is None:
        return stored
    whole = (extra or {}).get(ENTRY)
    if whole is not None:
        return np.ravel(read_array(BytesIO(whole), where=ENTRY, expected=engine.flat.state.size))
    state: NDArray[Any] = initial_state(np, engine.flat.blocks, engine.flat.dtype)
    state[places >= 0] = np.ravel(stored)[places[places >= 0]]
    return state


def to_file(engine: Engine) -> tuple[NDArray[Any], dict[str, bytes]]:
    """The state as DL4J expects it in a file, and the further entry where that is not all of it."""
    state: NDArray[Any] = engine.flat.state
    places = _places(engine)
    if places is None:
        return state, {}
    stored: NDArray[Any] = initial_state(np, _blocks_of_file(engine), engine.flat.dtype)
    stored[places[places >= 0]] = state[places >= 0]
    stream = BytesIO()
    write_array(stream, state)
    return stored, {ENTRY: stream.getvalue()}


def _blocks_of_file(engine: Engine) -> list[UpdaterBlock]:
    walked = []
    for member in engine.structure.members:
        slots = [s for s, _ in member.slots()]
        walked += sorted(slots, key=lambda s, m=member: m.table_rank(s.name))  # type: ignore[misc]
    return updater_blocks([(s.name, s.size, s.updater, s.key) for s in walked])


def _places(engine: Engine) -> NDArray[Any] | None:
    """For each number of the state its place in the file, -1 where the file has another updater there; None when nothing is moved."""
    ours, theirs = engine.flat.blocks, _blocks_of_file(engine)
    if [(b.start, b.stop, b.updater, b.state_start) for b in ours] == [(b.start, b.stop, b.updater, b.state_start) for b in theirs]:
        return None
    places = np.full(engine.flat.state.size, -1)
    starts = [b.start for b in theirs]
    for mine in ours:
        for other in theirs[max(0, bisect_right(starts, mine.start) - 1):bisect_left(starts, mine.stop)]:
            start, stop = max(mine.start, other.start), min(mine.stop, other.stop)
            if start >= stop or mine.updater != other.updater:
                continue
            for a, b in zip(mine.state_slices().values(), other.state_slices().values()):
                places[a][start - mine.start:stop - mine.start] = np.arange(b.start + start - other.start, b.start + stop - other.start)
    return places
