"""Kernels as functions of a table: ``entry(table, part, parts)`` finds its operands at the address ``table``.

The words of a table are, operand by operand, the address and sizes of a dense array, the address, sizes and steps of
any other array, or a number.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.lazy_property import lazy_property
from ...base.locks import LockRank, rlock
from ..compiler.sources import compiled_entry, is_on_disk, stamp_of_entry
from ..library import kernel_names
from ..library.operators import TYPE_NAMES

#: A number that a kernel takes, or a tuple of numbers, such as the sizes of a window.
Number = int | float | tuple["Number", ...]

#: Types of arrays that entries take.
TYPES = {np.dtype(d): n for d, n in TYPE_NAMES.items()}

FLAGS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}

_compiling = rlock(LockRank.KERNELS)


@dataclass(frozen=True)
class Entry:
    """A function ``entry(table, part, parts)``, which is compiled when its address is asked for.

    Attributes
    ----------
    source : of the function
    names : gives what the source uses by name
    seconds : that compiling takes, about
    makes_arrays : whether the function, beside what it calls, makes arrays of its own: those it is given need no reference counts
    """

    source: str
    names: Callable[[], dict[str, Any]]
    seconds: float
    makes_arrays: bool = True

    @lazy_property
    def address(self) -> int:
        """The address of the compiled function."""
        with _compiling:        # once, however many threads ask
            return compiled_entry(self.source, self.names, reference_counts=self.makes_arrays, **FLAGS)[0]

    @property
    def stamp(self) -> str:
        """The name of the file that keeps the code."""
        return stamp_of_entry(self.source, FLAGS)

    def is_at_hand(self) -> bool:
        """Whether nothing is to be compiled."""
        return "address" in vars(self) or is_on_disk(self.stamp)


@dataclass(frozen=True)
class ArrayOperand:
    """An array as a kernel is compiled for it.

    ``axis`` is the one along which each part of the work takes its slice; None: all of the array goes to every part.
    """

    dtype: np.dtype[Any]
    rank: int
    dense: bool = True
    axis: int | None = None

    @property
    def words(self) -> int:
        """Words of the table that it takes."""
        return 1 + self.rank * (1 if self.dense else 2)

    @property
    def form(self) -> str:
        """The operand as text, for :func:`.operand_access.operands`."""
        return f"{TYPES[self.dtype]} {self.rank} {'dense' if self.dense else 'strided'} {'-' if self.axis is None else self.axis}"


def found(names: Sequence[str], operands: Sequence[ArrayOperand]) -> str:
    """The line of source that finds operands in the table ``t`` under these names, and takes a part's slices of them."""
    return f"{', '.join(names)}, = operands({','.join(o.form for o in operands)!r}, table, part, parts)"


@functools.cache
def names() -> dict[str, Any]:
    """Names that the source of entries may use."""
    from . import operand_access
    return {**{name: dtype.type for dtype, name in TYPE_NAMES.items()}, "np": np,
            **{n: getattr(operand_access, n) for n in ("operands", "load", "load_float")}}


def _names_of_expressions() -> dict[str, Any]:
    return {**kernel_names.names(), **names()}


def _names_with(function: Callable[..., Any]) -> dict[str, Any]:
    return {**names(), "kernel": function}


def _names_and(known: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return {**names(), **known()}


@functools.lru_cache(maxsize=4096)
def entry_of_source(source: str) -> Entry:
    """The function ``entry`` that a source defines, which may use what :func:`names` and the elementwise kernels know."""
    return Entry(source, _names_of_expressions, 0.1, makes_arrays=False)


_DEF = "def entry(table, part, parts):"
_NUMBERS = {"i": "load(table + {}),", "f": "load_float(table + {}),", "s": "f4(load_float(table + {})),", "(": "(", ")": "),"}


@functools.lru_cache(maxsize=4096)
def entry_of(function: Callable[..., Any], operands: tuple[ArrayOperand, ...], numbers: str = "", parts: bool = False,
             refuses: bool = False) -> Entry:
    """The entry of a function that Numba compiles.

    Parameters
    ----------
    function : of the arrays, then the numbers, then (``parts``) the part and the number of parts
    operands : forms of the arrays
    numbers : "i" for each integer, "f" for each float64, "s" for each float32, those of a tuple in parentheses
    parts : whether the function takes its share itself; else parts slice the operands that have an axis
    refuses : whether the function says if it took what it was given; the last operand, which it does not see, is set to 1 where it did not
    """
    given = [f"a{k}" for k in range(len(operands))]
    taken = [replace(o, axis=None) for o in operands] if parts else operands
    lines = [f"# {function.__module__} {function.__qualname__}", _DEF, f"    {found(given, taken)}"]
    at = sum(o.words for o in operands)
    answer = given.pop() if refuses else ""
    given += ["".join(_taken(numbers, at)).rstrip(",")] * bool(numbers) + ["part", "parts"] * parts
    called = f"kernel({', '.join(given)})"
    source = "\n".join([*lines, f"    if not {called}:\n        {answer}[0] = 1" if refuses else f"    {called}", ""])
    return Entry(source, functools.partial(_names_with, function), 0.3)


def _taken(numbers: str, at: int) -> Iterator[str]:
    """The source that finds numbers in the table from word ``at`` on."""
    for kind in numbers:
        yield _NUMBERS[kind].format(8 * at)
        at += kind not in "()"


def _kind(number: Number) -> str:
    if isinstance(number, tuple):
        return f"({''.join(map(_kind, number))})"
    return "i" if isinstance(number, int) else "s" if isinstance(number, np.float32) else "f"


def _flat(numbers: Sequence[Number]) -> Iterator[int | float]:
    for n in numbers:
        if isinstance(n, tuple):
            yield from _flat(n)
        else:
            yield n


@functools.lru_cache(maxsize=4096)
def entry_of_generated(source: str, known: Callable[[], dict[str, Any]], operands: tuple[ArrayOperand, ...]) -> Entry:
    """The entry of a function ``def kernel(x, y, ...):`` that was generated; ``known`` gives what its source knows by name.

    One function is compiled instead of two, which takes half the time.
    """
    first, body = source.split("\n", 1)
    given = first[first.index("(") + 1:first.rindex(")")].split(", ")
    text = "\n".join([_DEF, f"    {found(given, operands)}", body])
    return Entry(text, functools.partial(_names_and, known), 0.15)


@dataclass
class Instruction:
    """A call of an entry on given arrays and numbers.

    Attributes
    ----------
    entry : the function, or the address of one that is there
    arrays, numbers : the operands, in the order of the table
    dense : which arrays the entry takes as dense
    work : how long it takes, about, in nanoseconds
    splits : whether it may be done in parts
    products : whether it calls BLAS
    most : parts that it has memory for
    answer : array of one word that the entry sets where it refuses what it is given: the program ends there, and what the instruction
        stands for says why
    """

    entry: Entry | int
    arrays: Sequence[Any]
    dense: Sequence[bool]
    numbers: Sequence[int | float] = ()
    work: float = 1000.0
    splits: bool = False
    products: bool = False
    most: int = 1 << 30
    answer: Any = None

    @property
    def address(self) -> int:
        """The address of the function, which is compiled if need be."""
        return self.entry if isinstance(self.entry, int) else self.entry.address


def instruction(function: Callable[..., Any], arrays: Sequence[Any], numbers: Sequence[Number] = (), *, work: float = 1000.0,
                axes: Sequence[int | None] | None = None, parts: bool = False, products: bool = False,
                dense: Sequence[bool] | None = None, most: int = 1 << 30, refuses: bool = False) -> Instruction | None:
    """A call of a compiled function; None where an array has a type that no entry takes.

    Parameters
    ----------
    function, arrays, numbers : see :func:`entry_of`
    work : nanoseconds that it takes, about
    axes : for each array the axis along which parts slice it
    parts : whether the function takes its share itself
    products : whether it calls BLAS
    dense : which arrays the function takes as dense; by default those that are
    most : parts that there is memory for
    refuses : whether the function says if it took what it was given
    """
    if any(a.dtype not in TYPES or not a.flags.aligned for a in arrays):
        return None
    operands = tuple(ArrayOperand(a.dtype, a.ndim, bool(a.flags.c_contiguous) if dense is None else dense[k],
                                  None if axes is None else axes[k])
                     for k, a in enumerate(arrays))
    answer = np.zeros(1, np.int64) if refuses else None
    if answer is not None:
        arrays, operands = [*arrays, answer], (*operands, ArrayOperand(answer.dtype, 1))
    entry = entry_of(function, operands, "".join(map(_kind, numbers)), parts, refuses)
    return Instruction(entry, arrays, [o.dense for o in operands], list(_flat(numbers)), work,
                       parts or any(o.axis is not None for o in operands), products, most, answer)
