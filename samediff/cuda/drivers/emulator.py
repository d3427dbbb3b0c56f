"""A device for machines without a GPU: the same CUDA texts, compiled as C++ and run on NumPy arrays.

It is there for tests and for looking into kernels, not for speed. It checks what a GPU would not: the types of arguments, threads that
do not meet at a barrier, writes beside an array, results that depend on the order in which threads run.
"""
from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ...base.locks import rlock
from ...errors import DeviceError
from ...expressions.arrays import ArrayNamespace
from ...expressions.arrays import xp as numpy_namespace
from ...plans.actions import Action, ArrayCopy, KernelLaunch, MatrixProduct, ZeroFill
from ..arguments import Arguments
from .guards import Guards
from .host_code import HostFunction, KernelParameter, library

Array = np.ndarray[Any, Any]

ORDERS = {"forward": 0, "reversed": 1}
LIMITS = (2**31 - 1, 65535, 65535)
SHARED = 227 << 10
_STACK = 1 << 16

_turn = rlock()        # the compiled functions have global variables


class HostBytes:
    """Memory of the emulator, where host and device are the same."""

    def __init__(self, size: int) -> None:
        self.device = np.empty(size, np.uint8)

    def host(self) -> Array:
        """The bytes on the host."""
        return self.device

    def send(self) -> None:
        """Copy the bytes to the device; nothing to do here."""


class Emulator:
    """A driver that runs CUDA kernels on the processor.

    Parameters
    ----------
    order : of the threads and blocks: ``"forward"``, ``"reversed"``, or a number that is the start of random ones
    guard : put zones of known bytes around all arrays during a launch, and raise when one was written
    index : number of the device: each has copies of its own

    Examples
    --------
    >>> device = Emulator()
    >>> x = device.upload(np.ones(3, np.float32))
    >>> device.prepare([ZeroFill(x)])()
    >>> device.download(x)
    array([0., 0., 0.], dtype=float32)
    """

    xp: ArrayNamespace = numpy_namespace

    def __init__(self, order: str | int = "forward", guard: bool = False, index: int = 0) -> None:
        if isinstance(order, str) and order not in ORDERS:
            raise DeviceError(f"order: expected 'forward', 'reversed' or a number, got {order!r}")
        self._mode = ORDERS[order] if isinstance(order, str) else 2 + order
        self._guard = guard
        self.name = f"emulated:{index}"

    def empty(self, shape: Sequence[int], dtype: Any) -> Array:
        """An array whose values are not set."""
        return np.empty(tuple(shape), dtype)

    def view(self, memory: Array, start: int, shape: Sequence[int], dtype: Any, strides: Sequence[int] | None = None) -> Array:
        """The array that begins ``start`` bytes into the memory of another."""
        if not memory.size:
            return np.empty(tuple(shape), dtype)
        return np.ndarray(tuple(shape), dtype, memory.reshape(-1).view(np.uint8).data, start, strides)        # bfloat16 has no buffer

    def staging(self, size: int) -> HostBytes:
        """Memory for what every run gets from the host."""
        return HostBytes(size)

    def upload(self, host: Array, target: Any = None) -> Any:
        """A copy, in ``target`` or a new array."""
        if target is None:
            return np.array(host, order="C")
        np.copyto(target, np.reshape(host, target.shape), casting="no")
        return target

    def download(self, array: Any, target: Array | None = None) -> Array:
        """A copy, in ``target`` or a new array."""
        if target is None:
            return np.array(array, order="C")
        np.copyto(target, np.reshape(array, target.shape), casting="no")
        return target

    def stream(self) -> AbstractContextManager[Any]:
        """Work is done at once: there is no queue."""
        return nullcontext()

    def prepare(self, actions: Sequence[Action]) -> Callable[[], None]:
        """A function that carries out the actions in order."""
        calls = [self._prepared(action) for action in actions]

        def run() -> None:
            for call in calls:
                call()
        return run

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        """The call itself; like a GPU's it is not run yet."""
        return run

    def synchronize(self) -> None:
        """Wait for all work; nothing to do, as calls return when it is done."""

    def _prepared(self, action: Action) -> Callable[[], None]:
        match action:
            case KernelLaunch():
                return self._launch(action)
            case MatrixProduct():
                _check_product(action)
                return functools.partial(_product, action)
            case ArrayCopy():
                for array in (action.source, action.target):
                    if not isinstance(array, np.ndarray):
                        raise DeviceError(f"Copy: arrays were expected, got the number {array!r}: an index takes one out of an array, "
                                          "with ... behind it gives a view")
                if action.source.dtype != action.target.dtype or action.source.shape != action.target.shape:
                    raise DeviceError(f"Copy: arrays of one type and shape were expected, got {_said(action.source)} for "
                                      f"{_said(action.target)}")
                return functools.partial(np.copyto, action.target, action.source)
            case ZeroFill():
                if not action.target.flags.c_contiguous:
                    raise DeviceError(f"Fill: a contiguous array was expected, got {_said(action.target)}")
                return functools.partial(_fill, action.target)

    def _launch(self, launch: KernelLaunch) -> Callable[[], None]:
        function = library(launch.source).function(launch.name)
        _check_size(launch)
        _check_args(function, launch.args)
        arguments = Arguments(launch.args, _address)
        arrays = [a for _, a in arguments.arrays]
        size = (ctypes.c_uint * 6)(*launch.grid, *launch.block)
        message = ctypes.create_string_buffer(512)

        def run() -> None:
            guards = Guards(arrays) if self._guard else None
            with _turn:
                arguments.point(guards.address if guards else _address)
                message.raw = b"\0"
                function.run(arguments.pointer, size, launch.shared, self._mode, _stacks().ctypes.data, message)
            if message.value:
                raise DeviceError(f"{launch.name}{launch.grid}{launch.block}: {message.value.decode()}")
            if guards:
                guards.check(f"{launch.name}{launch.grid}{launch.block}")
        return run


def _address(array: Array) -> int:
    return int(array.ctypes.data)


@functools.cache
def _stacks() -> Array:
    """A stack for each thread of a block, in front of them room for the one that needs too much."""
    return np.empty((1024 + 16) * _STACK, np.uint8)[16 * _STACK:]


def _said(array: Any) -> str:
    return f"{array.dtype.name} {array.shape}"


def _check_size(launch: KernelLaunch) -> None:
    grid, block = launch.grid, launch.block
    if len(grid) != 3 or len(block) != 3 or not all(1 <= n <= most for n, most in zip(grid, LIMITS)):
        raise DeviceError(f"{launch.name}: three numbers of blocks from 1 to {LIMITS} were expected, got {grid}")
    threads = block[0] * block[1] * block[2]
    if min(block) < 1 or threads > 1024 or block[2] > 64:
        raise DeviceError(f"{launch.name}: a block of 1 to 1024 threads was expected (64 at most along the third axis), got {block}")
    if not 0 <= launch.shared <= SHARED:
        raise DeviceError(f"{launch.name}: a block has at most {SHARED} bytes of shared memory, got {launch.shared}")


def _check_args(function: HostFunction, args: tuple[Any, ...]) -> None:
    if len(args) != len(function.parameters):
        raise DeviceError(f"{function.name} takes {len(function.parameters)} arguments "
                          f"({', '.join(map(str, function.parameters))}), got {len(args)}")
    for i, (parameter, arg) in enumerate(zip(function.parameters, args)):
        wrong = _wrong(parameter, arg)
        if wrong:
            raise DeviceError(f"{function.name}, argument {i}: {parameter} was expected, got {wrong}")


def _wrong(parameter: KernelParameter, arg: Any) -> str:
    """Text on what is wrong with an argument; empty if nothing is."""
    if isinstance(arg, np.ndarray):
        if not parameter.is_pointer or parameter.type not in ("void", arg.dtype.name):
            return f"an array of {arg.dtype.name}"
        if not arg.flags.aligned:
            return "an array that is not aligned"
        return "" if arg.flags.writeable or parameter.is_read else "an array that must not be written"
    if not isinstance(arg, np.generic):
        return f"{type(arg).__name__} {arg!r:.60}, neither array nor NumPy scalar"
    found = str(arg.dtype.itemsize) if isinstance(arg, np.void) else arg.dtype.name
    return "" if not parameter.is_pointer and found == parameter.type else f"the scalar {arg.dtype.name} {arg!r:.60}"


def _check_product(product: MatrixProduct) -> None:
    a, b, out = product.a, product.b, product.out
    if not a.dtype == b.dtype == out.dtype or a.dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        raise DeviceError(f"Product: arrays of one floating type were expected, got {_said(a)}, {_said(b)}, {_said(out)}")
    if (a.ndim, b.ndim) != (out.ndim, out.ndim) or out.ndim < 2 or out.shape[:-2] != a.shape[:-2] or out.shape[:-2] != b.shape[:-2] \
            or (a.shape[-1], a.shape[-2], b.shape[-1]) != (b.shape[-2], out.shape[-2], out.shape[-1]):
        raise DeviceError(f"Product: (*B, m, k), (*B, k, n) and (*B, m, n) were expected, got {a.shape}, {b.shape}, {out.shape}")


def _product(product: MatrixProduct) -> None:
    a, b, out = product.a, product.b, product.out
    wide = np.float64 if a.dtype == np.float64 else np.float32
    made = np.matmul(a.astype(wide), b.astype(wide)) * wide(product.alpha)
    if product.beta:                # otherwise what was there, NaN too, does not matter
        made += out.astype(wide) * wide(product.beta)
    out[...] = made.astype(out.dtype)


def _fill(target: Array) -> None:
    target.reshape(-1).view(np.uint8)[...] = 0
