# mypy: ignore-errors
"""The loops that run programs.

Functions of words (:mod:`.int_compiler`). A segment is a run of instructions. Its header, instructions and claims are words of memory; see
:mod:`program`, which writes them. Which thread does which part never changes a result: parts are fixed, and do not share memory that
they write.
"""
from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..compiler.sources import compiled_module
from ..threads import MOST_PARTS
from . import python_bindings, system  # noqa: F401  the functions of the system are known then
from .int_compiler import WORD, Module
from .primitives import (
    add_shared,
    call,
    claim,
    control_word,
    copy_bytes,
    cycles,
    external,
    load,
    load_shared,
    pause,
    set_control_word,
    store,
    store_shared,
)

# Words of a segment's header, in bytes; from LOCALS on one for each local.
(COUNT, INSTRUCTIONS, PATCHES, PATCH_COUNT, POOL, WORK, CLAIMS, EPOCH, SINGLE, DATA_OFFSET, REFUSED, LOCALS) = range(0, 96, 8)
GIVEN = 4               # locals that a call takes itself

# Words of an instruction. ANSWER is the address of the word that its entry sets where it refuses what it is given, or 0.
ENTRY, TABLE, PARTS, ANSWER = 0, 8, 16, 24
INSTRUCTION = 32

# Words of the claims of one instruction: one for each part, then how many are done; a cache line of their own.
CLAIM = 64

# Words of a pool, a cache line each.
TICKET, OPEN, INSIDE, BUSY, SLEEPING, SEGMENT, STOP, REST, PATIENCE, POOL_WORDS = 0, 64, 128, 192, 256, 320, 384, 448, 512, 72

#: Turns of a waiting loop before a thread takes over what another should have begun, gives way, or sleeps.
STEAL, YIELD, SLEEP = 400, 4000, 4000

#: How many times as long as helpers kept a run waiting the next ones go without them, at most.
MOST_PATIENCE = 16

#: Nanoseconds of work for which helpers that sleep are woken.
WORTH_WAKING = 100_000

_FLUSH = 0x8000         # results that are denormal become 0; what is given is taken as it is

_give_way = external("dl4py_yield")
_wake, _sleep = external("dl4py_sem_post", WORD), external("dl4py_sem_wait", WORD)
_thread_count = external("dl4py_blas_thread_count")
_threads = external("dl4py_blas_threads", WORD, result=ir.VoidType())       # functions that take an int read half of the word


def _is_refused(at):
    """Whether a finished instruction reported invalid input."""
    answer = load(at + ANSWER)
    return answer != 0 and load_shared(answer) != 0


def run_alone(segment):
    """All instructions up to one that refuses, part after part, on this thread; gives the number of that one from 1 on, or 0."""
    at = load(segment + INSTRUCTIONS)
    for k in range(load(segment + COUNT)):
        entry, table, parts = load(at + ENTRY), load(at + TABLE), load(at + PARTS)
        for part in range(parts):
            call(entry, table, part, parts)
        if _is_refused(at):
            return k + 1
        at += INSTRUCTION
    return 0


def _take(at, claims, first, last, epoch, parts, refused):
    """Do the parts from ``first`` to ``last`` that nobody has begun, after a refusal only in name; whether there was one."""
    found = False
    for part in range(first, last):
        if claim(claims + 8 * part, epoch - 1, epoch):
            if refused == 0:
                call(load(at + ENTRY), load(at + TABLE), part, parts)
            add_shared(claims + 8 * MOST_PARTS, 1)
            found = True
    return found


def run_shared(segment, me, epoch, pool):
    """Take part in a run: each thread has its own parts, and takes over parts of late threads. Returns the cycles spent waiting."""
    waited, refused = 0, 0
    at, claims = load(segment + INSTRUCTIONS), load(segment + CLAIMS)
    for k in range(load(segment + COUNT)):
        parts = load(at + PARTS)
        done = claims + 8 * MOST_PARTS
        if me < parts:
            _take(at, claims, me, me + 1, epoch, parts, refused)
        turns = 0
        began = cycles()
        while load_shared(done) < parts * epoch:
            turns += 1
            late = turns > STEAL or (me == 0 and load_shared(pool + INSIDE) == 0)
            if late and _take(at, claims, 0, parts, epoch, parts, refused):
                turns = 0
            elif turns > YIELD:
                turns = STEAL
                _give_way()
            else:
                pause()
        waited += cycles() - began
        if refused == 0 and _is_refused(at):        # all threads see it here, before anyone goes on
            refused = k + 1
        at += INSTRUCTION
        claims += CLAIM
    if me == 0:
        store(segment + REFUSED, refused)
    return waited


def _worker_loop(pool, me):
    """The loop of a thread of the pool: wait for a run and take part in it, until the pool stops."""
    set_control_word(control_word() | _FLUSH)
    seen = load_shared(pool + TICKET)
    turns = 0
    while load_shared(pool + STOP) == 0:
        ticket = load_shared(pool + TICKET)
        if ticket == seen:
            turns += 1
            if turns > SLEEP:
                turns = 0
                add_shared(pool + SLEEPING, 1)
                _sleep(pool + 8 * POOL_WORDS)
                add_shared(pool + SLEEPING, -1)
            else:
                pause()
            continue
        turns = 0
        seen = ticket
        add_shared(pool + INSIDE, 1)
        if load_shared(pool + OPEN) == ticket:
            segment = load_shared(pool + SEGMENT)
            run_shared(segment, me, load_shared(segment + EPOCH), pool)
        add_shared(pool + INSIDE, -1)


def _with_help(segment, pool):
    epoch = load(segment + EPOCH) + 1
    store_shared(segment + EPOCH, epoch)
    store_shared(pool + SEGMENT, segment)
    ticket = load(pool + TICKET) + 1
    store_shared(pool + OPEN, ticket)
    store_shared(pool + TICKET, ticket)
    for _ in range(load_shared(pool + SLEEPING)):
        _wake(pool + 8 * POOL_WORDS)
    began = cycles()
    waited = run_shared(segment, 0, epoch, pool)
    store_shared(pool + OPEN, 0)
    ended = cycles()
    while load_shared(pool + INSIDE) != 0:
        pause()
    waited += cycles() - ended
    worked = cycles() - began - waited
    if waited > worked:         # the processor of a helper has other work: without help for a while, longer each time that this happens
        patience = max(load(pool + PATIENCE), 1)
        store(pool + REST, cycles() + patience * waited)
        store(pool + PATIENCE, min(2 * patience, MOST_PATIENCE))
    else:
        store(pool + PATIENCE, 1)


def _run(segment):
    """Gives the number of the instruction that refused, from 1 on, or 0."""
    old = control_word()
    set_control_word(old | _FLUSH)
    pool, single = load(segment + POOL), load(segment + SINGLE)
    before = 1
    if single != 0:
        before = _thread_count()
        if before != 1:
            _threads(1)
    alone = True
    if pool != 0 and claim(pool + BUSY, 0, 1):
        if cycles() > load(pool + REST) and (load(segment + WORK) >= WORTH_WAKING or load_shared(pool + SLEEPING) == 0):
            _with_help(segment, pool)
            alone = False
        store_shared(pool + BUSY, 0)
    if alone:
        store(segment + REFUSED, run_alone(segment))
    if before != 1:
        _threads(before)
    set_control_word(old)
    refused = load(segment + REFUSED)
    if refused != 0:
        store(load(load(segment + INSTRUCTIONS) + INSTRUCTION * (refused - 1) + ANSWER), 0)
    return refused


def _place(segment, index, array):
    """Tell a segment where a local of the run is."""
    store(segment + LOCALS + 8 * index, array)


def _launch(segment, a, b, c, d):
    """Run a segment with up to four locals; others were placed before. Gives what :func:`_run` does."""
    count = load(segment + PATCH_COUNT)
    if count != 0:
        words, offset = segment + LOCALS, load(segment + DATA_OFFSET)
        if a != 0:
            store(words, a)
        if b != 0:
            store(words + 8, b)
        if c != 0:
            store(words + 16, c)
        if d != 0:
            store(words + 24, d)
        at = load(segment + PATCHES)
        for _ in range(count):      # word to fill, local, distance from its first byte
            data = load(words + 8 * load(at + 8))
            if offset >= 0:
                data = load(data + offset)
            store(load(at), data + load(at + 16))
            at += 24
    return _run(segment)


def _launch_series(segment, times, indices, columns, locals_, places, numbers, values, size):
    """Run a segment once for each row of locals and of numbers.

    ``indices`` says which locals the columns of ``locals_`` are, ``places`` where the ``numbers`` numbers of each row of ``values``, of
    ``size`` bytes each, are stored. All but counts are addresses. Ends at the row for which an instruction refuses; gives its number from
    1 on, or 0.
    """
    for k in range(times):
        for j in range(columns):
            store(segment + LOCALS + 8 * load(indices + 8 * j), load(locals_))
            locals_ += 8
        for j in range(numbers):
            copy_bytes(values, load(places + 8 * j), size)
            values += size
        if _launch(segment, 0, 0, 0, 0) != 0:
            return k + 1
    return 0


def _add_one(table, part, parts):
    """An entry: add 1 to the number whose address is in the table."""
    at = load(table)
    store(at, load(at) + 1)


def _repeat(table, part, parts):
    """An entry that runs a segment repeatedly, each time with its locals moved on; its table is described in :mod:`.repetition`."""
    about = load(table)
    segment, times, columns = load(about), load(about + 8), load(about + 16)
    words = segment + LOCALS
    patches, count = load(segment + PATCHES), load(segment + PATCH_COUNT)
    for turn in range(times):
        at = about + 24
        for _ in range(columns):    # local, place of its operand in the table, bytes to the first turn, then on, place of the last
            last = load(at + 32)
            if last >= 0 and turn == times - 1:
                store(words + 8 * load(at), load(table + last))
            else:
                store(words + 8 * load(at), load(table + load(at + 8)) + load(at + 16) + turn * load(at + 24))
            at += 40
        patch = patches
        for _ in range(count):
            store(load(patch), load(words + 8 * load(patch + 8)) + load(patch + 16))
            patch += 24
        run_alone(segment)


def _written() -> Any:
    module = Module("runner")
    module.function(_add_one, public=True)
    module.function(_repeat, public=True)
    for function in _CALLED:
        python_bindings.export(module.llvm, module.function(function))
    return module.llvm


_CALLED = (_launch, _launch_series, _place, _worker_loop)
_NAMES = [f.__name__[1:] for f in _CALLED]
_ENTRIES = ("dl4py_add_one", "dl4py_repeat")
*_addresses, ADD_ONE, REPEAT = compiled_module("runner", [*(f"dl4py_{name}_py" for name in _NAMES), *_ENTRIES], _written)
launch, launch_many, place, worker_loop = python_bindings.builtins(_NAMES, _addresses)
