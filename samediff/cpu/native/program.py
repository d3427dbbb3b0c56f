"""Programs: tables of instructions for given arrays."""
from __future__ import annotations

import bisect
import ctypes
import functools
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import pool as helpers
from . import runner, system
from .entry import Instruction
from .thresholds import LEAST, NEVER, Thresholds, of_machine


@functools.cache
def data_offset() -> int:
    """Where in an array object the address of its memory stands; -1 where that cannot be told."""
    probe = np.arange(3)
    for offset in (16, 32):
        if ctypes.c_int64.from_address(id(probe) + offset).value == probe.ctypes.data:
            return offset
    return -1


def locator() -> Callable[[Any], int]:
    """What tells a program where an array is."""
    return id if data_offset() >= 0 else _address


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class Segment:
    """Instructions that run one after the other.

    Parameters
    ----------
    instructions
    stand_ins : arrays laid out like the locals, whose memory differs from run to run: what lies in the memory of a stand-in
        is looked up in that of the local
    worth : from which length on work is shared; by default what was measured on this machine

    Attributes
    ----------
    instructions
    locals : names of those that it uses, in the order in which a run gives them
    """

    def __init__(self, instructions: Sequence[Instruction], stand_ins: Mapping[str, Any] | None = None,
                 worth: Thresholds | None = None) -> None:
        self.instructions = list(instructions)
        spans = sorted((_address(a), a.nbytes, n) for n, a in (stand_ins or {}).items() if a.nbytes)
        begins = [s[0] for s in spans]
        order: dict[str, int] = {}
        tables: list[int] = []
        patches: list[tuple[int, int, int]] = []
        starts: list[int] = []
        for i in instructions:
            starts.append(len(tables))
            for array, dense in zip(i.arrays, i.dense):
                at = _address(array)
                k = bisect.bisect_right(begins, at) - 1
                if k >= 0 and at < spans[k][0] + spans[k][1]:
                    patches.append((len(tables), order.setdefault(spans[k][2], len(order)), at - spans[k][0]))
                tables += [at, *array.shape, *(() if dense else array.strides)]
            tables += [n if isinstance(n, int) else struct.unpack("q", struct.pack("d", float(n)))[0] for n in i.numbers]
        self.locals = tuple(order)
        count, most = len(instructions), helpers.parts()
        work = sum(i.work for i in instructions)
        if worth is None:
            worth = thresholds() if work >= LEAST.help and any(i.splits and i.work >= LEAST.parts for i in instructions) else NEVER
        shares = [min(most, i.most) if i.splits and i.work >= worth.parts else 1 for i in instructions]
        crew = helpers.pool() if work >= worth.help and any(n > 1 for n in shares) else None
        code = runner.LOCALS // 8 + max(len(order), runner.GIVEN)
        words = code + 3 * count + len(tables) + 3 * len(patches)
        raw = np.zeros(words + 8 * (count + 1) + 8, np.int64)
        self._memory = raw
        base = (_address(raw) + 63) // 64 * 64
        memory = raw[(base - _address(raw)) // 8:]
        claims = (words + 7) // 8 * 8
        table = code + 3 * count
        patch = table + len(tables)
        memory[table:patch] = tables
        for k, i in enumerate(instructions):
            memory[code + 3 * k:code + 3 * k + 3] = i.entry, base + 8 * (table + starts[k]), shares[k]
        for k, (word, local, distance) in enumerate(patches):
            memory[patch + 3 * k:patch + 3 * k + 3] = base + 8 * (table + word), local, distance
        single = system.CAN_SET_BLAS and most > 1 and any(i.products for i in instructions)
        for field, value in ((runner.COUNT, count), (runner.INSTRUCTIONS, base + 8 * code), (runner.PATCHES, base + 8 * patch),
                             (runner.PATCH_COUNT, len(patches)), (runner.POOL, crew.address if crew else 0),
                             (runner.CLAIMS, base + 8 * claims), (runner.WORK, int(work)),
                             (runner.SINGLE, int(single)), (runner.DATA_OFFSET, data_offset())):
            memory[field // 8] = value
        self.address = base

    def __call__(self) -> None:
        """Run it, when there are no locals."""
        runner.launch(self.address, 0, 0, 0, 0)


def _shared(instructions: Sequence[Instruction], worth: Thresholds) -> Segment:
    return Segment(instructions, worth=worth)


def thresholds() -> Thresholds:
    """From which length on work is shared with other threads on this machine; measured when it is asked for the first time."""
    return of_machine(_shared)
