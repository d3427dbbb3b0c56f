"""The compiler of functions of words against the same functions in Python."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff.cpu.compiler import objects as cache_objects
from dl4py.samediff.cpu.native import primitives, python_bindings
from dl4py.samediff.cpu.native.int_compiler import Module, Primitive
from dl4py.samediff.errors import MissingPackageError

FACTOR = 3
VALUES = [-9, -4, -1, 0, 1, 2, 7, 1 << 40]


def arithmetic(a, b):
    return (a + b * FACTOR - (a & 6) | 1) // (5 if b >= 0 else -3) + a % 7 - -b


def conditions(a, b):
    if a < b and (b != 7 or not a > 0):
        return 1
    elif a == b or b > 100:
        return max(a, min(b, 4))
    found = a > b
    return 10 + found


def loops(a, b):
    total = 0
    for k in range(a):
        if k % 3 == 1:
            continue
        for j in range(k, b + 20, 4):
            total += j * k
    turns, left = 0, b
    while left > 0 and turns < 50:
        left //= 2
        turns += 1
    return total * 100 + turns


def _half(a):
    return a // 2


def calls(a, b):
    a, b = b, _half(a)
    return a * 1000 + b


def guarded(a, b):
    return a // b if b != 0 else -1


@pytest.mark.parametrize("function", [arithmetic, conditions, loops, calls, guarded])
def test_as_python_does(function):
    module = Module(f"test_{function.__name__}")
    symbol = python_bindings.export(module.llvm, module.function(function))
    at = cache_objects.addresses(f"test-{function.__name__}", [symbol], lambda: cache_objects.of_module(module.llvm), None)[0]
    (made,) = python_bindings.builtins(["made"], at)
    for a, b in itertools.product(VALUES[:-1], VALUES):
        if function is not loops or b < 100:
            assert made(a, b) == function(a, b), (a, b)
    with pytest.raises(TypeError):
        made(1)
    with pytest.raises(TypeError):
        made(1, "a")
    with pytest.raises(OverflowError):
        made(1, 1 << 80)


def memory(address, count):
    total = 0
    for k in range(count):
        total += load(address + 8 * k)
        store(address + 8 * k, k)
    copy_bytes(address, address + 8 * count - 8, 8)
    return total + add_shared(address, 5) + claim(address, 5, 6) + claim(address, 5, 7)


load, store, add_shared, claim, copy_bytes = (
    getattr(primitives, n) for n in ("load", "store", "add_shared", "claim", "copy_bytes"))


def test_functions_without_their_text_say_what_they_need():
    space = {}
    exec(compile("def alone(x): return x", "/gone/alone.py", "exec"), space)
    said = r"/gone/alone\.py is not there: install it with its \.py files"
    with pytest.raises(MissingPackageError, match=said):
        Module("test_without_text").function(space["alone"])


def test_memory():
    module = Module("test_memory", {"two": Primitive(lambda b: b)})
    symbol = python_bindings.export(module.llvm, module.function(memory))
    at = cache_objects.addresses("test-memory", [symbol], lambda: cache_objects.of_module(module.llvm), None)[0]
    words = np.array([4, 5, 6], np.int64)
    assert python_bindings.builtins(["memory"], at)[0](words.ctypes.data, 3) == 15 + 0 + 1 + 0
    assert words.tolist() == [6, 1, 0]
