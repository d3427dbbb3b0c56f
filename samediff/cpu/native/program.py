"""Programs: tables of instructions for given arrays."""
from __future__ import annotations

import bisect
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..threads import parts
from . import interpreter, system
from . import thread_pool as helpers
from .array_address import address_of, data_offset
from .instruction import Instruction
from .thresholds import LEAST, NEVER, Thresholds, of_machine


class Program:
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

    def __init__(self, instructions: Sequence[Instruction], stand_ins: Mapping[Any, Any] | None = None,
                 worth: Thresholds | None = None) -> None:
        self.instructions = list(instructions)
        spans = sorted((address_of(a), a.nbytes, n) for n, a in (stand_ins or {}).items() if a.nbytes)
        begins = [s[0] for s in spans]
        order: dict[Any, int] = {}
        tables: list[int] = []
        patches: list[tuple[int, int, int]] = []
        starts: list[int] = []
        for i in instructions:
            starts.append(len(tables))
            for array, dense in zip(i.arrays, i.dense):
                at = address_of(array)
                k = bisect.bisect_right(begins, at) - 1
                if k >= 0 and at < spans[k][0] + spans[k][1]:
                    patches.append((len(tables), order.setdefault(spans[k][2], len(order)), at - spans[k][0]))
                tables += [at, *array.shape, *(() if dense else array.strides)]
            tables += [n if isinstance(n, int) else struct.unpack("q", struct.pack("d", float(n)))[0] for n in i.numbers]
        self.locals = tuple(order)
        count, most, form = len(instructions), parts(), interpreter.INSTRUCTION // 8
        work = sum(i.work for i in instructions)
        if worth is None:
            worth = thresholds() if work >= LEAST.help and any(i.splits and i.work >= LEAST.parts for i in instructions) else NEVER
        shares = [min(most, i.most) if i.splits and i.work >= worth.parts else 1 for i in instructions]
        crew = helpers.pool() if work >= worth.help and any(n > 1 for n in shares) else None
        code = interpreter.LOCALS // 8 + max(len(order), interpreter.GIVEN)
        words = code + form * count + len(tables) + 3 * len(patches)
        raw = np.zeros(words + 8 * (count + 1) + 8, np.int64)
        self._memory = raw
        base = (address_of(raw) + 63) // 64 * 64
        memory = raw[(base - address_of(raw)) // 8:]
        claims = (words + 7) // 8 * 8
        table = code + form * count
        patch = table + len(tables)
        memory[table:patch] = tables
        for k, i in enumerate(instructions):
            answer = 0 if i.answer is None else address_of(i.answer)
            memory[code + form * k:code + form * (k + 1)] = i.entry, base + 8 * (table + starts[k]), shares[k], answer
        for k, (word, local, distance) in enumerate(patches):
            memory[patch + 3 * k:patch + 3 * k + 3] = base + 8 * (table + word), local, distance
        single = system.CAN_SET_BLAS and most > 1 and any(i.products for i in instructions)
        for field, value in ((interpreter.COUNT, count), (interpreter.INSTRUCTIONS, base + 8 * code),
                             (interpreter.PATCHES, base + 8 * patch),
                             (interpreter.PATCH_COUNT, len(patches)), (interpreter.POOL, crew.address if crew else 0),
                             (interpreter.CLAIMS, base + 8 * claims), (interpreter.WORK, int(work)),
                             (interpreter.SINGLE, int(single)), (interpreter.DATA_OFFSET, data_offset())):
            memory[field // 8] = value
        self.address = base

    def __call__(self) -> int:
        """Run it, when there are no locals; gives the number of the instruction that refused, from 1 on, or 0."""
        return int(interpreter.launch(self.address, 0, 0, 0, 0))


def _shared(instructions: Sequence[Instruction], worth: Thresholds) -> Program:
    return Program(instructions, worth=worth)


def thresholds() -> Thresholds:
    """From which length on work is shared with other threads on this machine; measured when it is asked for the first time."""
    return of_machine(_shared)


def in_parts(instruction: Instruction) -> bool:
    """Whether an instruction is long enough to be divided among threads."""
    return instruction.splits and instruction.work >= LEAST.parts and instruction.work >= thresholds().parts and parts() > 1


def is_helped(instructions: Sequence[Instruction]) -> bool:
    """Whether a native call of these instructions asks other threads for help."""
    return (any(map(in_parts, instructions)) and sum(i.work for i in instructions) >= thresholds().help
            and helpers.pool() is not None)
