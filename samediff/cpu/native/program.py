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
        work = sum(i.work for i in instructions)
        shares, crew = _shares(instructions, work, worth)
        tables = _Tables(instructions, stand_ins or {})
        self.locals = tuple(tables.order)
        count, patches = len(instructions), len(tables.patches)
        code = interpreter.LOCALS // 8 + max(len(tables.order), interpreter.GIVEN)       # in words, like all positions here
        table = code + interpreter.INSTRUCTION // 8 * count
        patch = table + len(tables.words)
        claims = (patch + 3 * patches + 7) // 8 * 8
        self._memory, base = _aligned(claims + 8 * (count + 1))
        memory = self._memory[(base - address_of(self._memory)) // 8:]
        memory[code:table] = [n for i, start, share in zip(instructions, tables.starts, shares) for n in (
            i.address, base + 8 * (table + start), share, 0 if i.answer is None else address_of(i.answer))]
        memory[table:patch] = tables.words
        memory[patch:patch + 3 * patches] = [n for word, local, distance in tables.patches
                                             for n in (base + 8 * (table + word), local, distance)]
        single = system.CAN_SET_BLAS and parts() > 1 and any(i.products for i in instructions)
        for field, value in ((interpreter.COUNT, count), (interpreter.INSTRUCTIONS, base + 8 * code),
                             (interpreter.PATCHES, base + 8 * patch),
                             (interpreter.PATCH_COUNT, patches), (interpreter.POOL, crew.address if crew else 0),
                             (interpreter.CLAIMS, base + 8 * claims), (interpreter.WORK, int(work)),
                             (interpreter.SINGLE, int(single)), (interpreter.DATA_OFFSET, data_offset())):
            memory[field // 8] = value
        self.address = base

    def __call__(self) -> int:
        """Run it, when there are no locals; gives the number of the instruction that refused, from 1 on, or 0."""
        return int(interpreter.launch(self.address, 0, 0, 0, 0))


class _Tables:
    """The operands of instructions, as words of memory.

    Attributes
    ----------
    words, starts : the tables one after the other, and where each begins
    order : numbers of the locals that are read
    patches : for each word that a run sets: its place, the number of the local, and the distance from that in bytes
    """

    def __init__(self, instructions: Sequence[Instruction], stand_ins: Mapping[Any, Any]) -> None:
        self.words: list[int] = []
        self.starts: list[int] = []
        self.order: dict[Any, int] = {}
        self.patches: list[tuple[int, int, int]] = []
        self._spans = sorted((address_of(a), a.nbytes, n) for n, a in stand_ins.items() if a.nbytes)
        self._begins = [begin for begin, _, _ in self._spans]
        for i in instructions:
            self.starts.append(len(self.words))
            for array, dense in zip(i.arrays, i.dense):
                self._add(address_of(array), (*array.shape, *(() if dense else array.strides)))
            self.words += [n if isinstance(n, int) else struct.unpack("q", struct.pack("d", float(n)))[0] for n in i.numbers]

    def _add(self, at: int, sizes: Sequence[int]) -> None:
        k = bisect.bisect_right(self._begins, at) - 1
        if k >= 0 and at < self._spans[k][0] + self._spans[k][1]:
            begin, _, name = self._spans[k]
            self.patches.append((len(self.words), self.order.setdefault(name, len(self.order)), at - begin))
        self.words += [at, *sizes]


def _shares(instructions: Sequence[Instruction], work: float, worth: Thresholds | None) -> tuple[list[int], helpers.ThreadPool | None]:
    """In how many parts each instruction is done, and the threads that help, if any."""
    if worth is None:
        worth = thresholds() if work >= LEAST.help and any(i.splits and i.work >= LEAST.parts for i in instructions) else NEVER
    shares = [min(parts(), i.most) if i.splits and i.work >= worth.parts else 1 for i in instructions]
    return shares, helpers.pool() if work >= worth.help and any(n > 1 for n in shares) else None


def _aligned(words: int) -> tuple[np.ndarray[Any, Any], int]:
    """Zeros in memory, and the address of the first line of the cache in it."""
    memory = np.zeros(words + 8, np.int64)
    return memory, (address_of(memory) + 63) // 64 * 64


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
