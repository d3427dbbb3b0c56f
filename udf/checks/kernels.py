"""Checks of kernels: on memory that shows what they read and write beside their arrays, against ``compute``."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.datatype import is_floating
from ...samediff.base.spec import TensorSpec
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.cpu.kernel_table import KERNELS as CPU_KERNELS
from ...samediff.cuda.kernel_table import KERNELS as CUDA_KERNELS
from ...samediff.errors import DeviceError
from ...samediff.ir.op import Op, as_tuple
from ..code.gradient_op import UserGradient, gradient_example
from ..code.kernels import bounds_checked
from ..ops.base import UserOp
from .examples import Example
from .guard_zones import GuardedArray
from .runs import CONTEXT, agree, results, specs_of, takes, unchanged

if TYPE_CHECKING:
    from ...samediff.plans.actions import CudaKernel

#: What unset memory holds: something that differs from the NaN beside inputs, and NaN in floating numbers.
_BYTES = (0x5A, 255)
_ORDERS: dict[str | int, str] = {"forward": "forward", "reversed": "reversed", 7: "random"}


def on_cpu(op: Op, examples: Sequence[Example]) -> str:
    """The kernel of the CPU fills its outputs, changes nothing else and gives what ``compute`` gives."""
    tried, shapes = 0, set[str]()
    function, attributes = _numba(op)
    for arrays in (e for e in examples if takes(op, e)):
        specs = specs_of(arrays)
        kernel, promised = CPU_KERNELS.kernel(op, *specs), as_tuple(op.infer(*specs))  # type: ignore[arg-type]
        if kernel is None or not all(s.is_static for s in promised):
            continue
        tried += 1
        if function is not None and _shapes(arrays) not in shapes:         # in one type: each is compiled, and indices are the same in all
            shapes.add(_shapes(arrays))
            _in_range(op, function, attributes, arrays, promised)
        for byte in _BYTES:
            _fenced(op, kernel.call, kernel.workspace, arrays, promised, byte, "the kernel")
    return _counted(tried)


def _numba(op: Op) -> tuple[Any, tuple[Any, ...]]:
    """The function that Numba compiles for an op, and the attributes that it is given; None where another kernel runs."""
    if isinstance(op, UserGradient):
        return op.code.numba_gradient, op.code.values()
    return (op.numba_kernel if isinstance(op, UserOp) and type(op).cpu is UserOp.cpu else None), op.values()


def _in_range(op: Op, function: Any, attributes: Sequence[Any], arrays: Example, promised: Sequence[TensorSpec]) -> None:
    """CheckFailure when an index of a Numba kernel is beside its array."""
    outs = [np.zeros(s.shape or (), s.dtype.numpy) for s in promised]
    given = [None if a is None else np.array(a, order="C") for a in arrays]
    try:
        bounds_checked(function)(*_words(op), *given, *outs, *attributes)
    except IndexError as error:
        raise CheckFailure(f"the Numba kernel uses an index beside its array, for inputs of shapes {_shapes(arrays)}: {error}") from error


def _fenced(op: Op, call: Callable[..., Any], workspace: Sequence[TensorSpec], arrays: Example, promised: Sequence[TensorSpec], byte: int,
            what: str) -> None:
    """Run a kernel on fenced arrays, outputs and workspace holding ``byte``, and look at all of them."""
    inputs = [None if a is None else GuardedArray(a) for a in arrays]
    outs, scratch = ([GuardedArray.unset(s.shape or (), s.dtype.numpy, byte) for s in several] for several in (promised, workspace))
    call(*_words(op), *(None if f is None else f.array for f in (*inputs, *outs, *scratch)))
    for kind, fences in (("input", inputs), ("output", outs), ("workspace", scratch)):
        for i, fence in enumerate(fences):
            if fence is not None:
                fence.check(f"{what} writes", f"{kind} {i} of shape {fence.array.shape}")
    unchanged(op, what, arrays, [None if f is None else f.array for f in inputs])
    if not op.stateful:         # random numbers of a kernel are its own
        where = f"for inputs {', '.join('-' if s is None else str(s) for s in specs_of(arrays))}"
        try:
            agree([f.array for f in outs], results(op, arrays), f"{what} and compute, {where}")
        except CheckFailure as error:
            if byte != 255:         # a NaN may be one that was computed
                _filled(op, [f.array for f in outs], byte, what, where, error)
            raise


def _filled(op: Op, outs: Sequence[Any], byte: int, what: str, where: str, error: CheckFailure) -> None:
    """CheckFailure that names an output of which elements are as they were before."""
    for i, a in enumerate(outs):
        left = (a.reshape(-1).view(np.uint8).reshape(a.size, a.itemsize) == byte).all(axis=1).sum()
        if left:
            which = f"the gradient of floating input {i}" if isinstance(op, UserGradient) else f"output {i}"
            raise CheckFailure(f"{what} leaves what was there before in {left} of {a.size} elements of {which}, {where}: it has to set "
                               "each one (= and not +=), also to 0") from error


def on_emulator(op: Op, examples: Sequence[Example]) -> str:
    """The same of CUDA text, with threads in several orders."""
    from ...samediff.cuda.drivers.emulator import Emulator
    from ...samediff.cuda.drivers.host_code import compiler
    try:
        compiler()
    except DeviceError as error:
        return f"not run: {error}"
    tried = 0
    for arrays in (e for e in examples if takes(op, e)):
        specs = specs_of(arrays)
        kernel, promised = CUDA_KERNELS.kernel(op, *specs), as_tuple(op.infer(*specs))  # type: ignore[arg-type]
        if kernel is None or not all(s.is_static for s in promised):
            continue
        tried += 1
        for order, byte in product(_ORDERS, _BYTES):
            def call(*given: Any, kernel: CudaKernel = kernel, order: str | int = order) -> None:
                Emulator(order).prepare(kernel.actions(*given))()
            _fenced(op, call, kernel.workspace, arrays, promised, byte, f"the CUDA text (threads in {_ORDERS[order]} order)")
    return _counted(tried)


def _of_gradient(check: Callable[[Op, Sequence[Example]], str]) -> Callable[[Op, Sequence[Example]], str]:
    """The check of a kernel for the gradient of an op."""
    def run(op: Op, examples: Sequence[Example]) -> str:
        assert isinstance(op, UserOp)
        tried = [e for e in map(_untied, examples) if takes(op, e)]
        made = [gradient_example(op, e, results(op, e)) for e in tried]
        found = [check(gradient, [arrays]) for gradient, arrays in made if all(a is None or a.size for a in arrays)]
        return found[0] if found and not found[0][0].isdigit() else _counted(len(found))
    return run


def _untied(arrays: Example) -> list[Any]:
    """Floating inputs without equal numbers, but for masks: where two share a maximum, each may have its gradient."""
    def spread(a: Any) -> Any:
        if a is None or not is_floating(a.dtype) or np.isin(a, (0, 1)).all():
            return a
        return (a * (1 - 1e-2 * np.arange(a.size).reshape(a.shape) / a.size)).astype(a.dtype)
    return [spread(a) for a in arrays]


def _words(op: Op) -> list[Any]:
    """The first argument of kernels of stateful ops: the state of the generator."""
    return [CONTEXT.words()] if op.stateful else []


def _shapes(arrays: Example) -> str:
    return ", ".join("-" if a is None else str(a.shape) for a in arrays)


def _counted(tried: int) -> str:
    return f"{tried} shapes and types" if tried else "not run: there is no kernel for these inputs"


#: Checks by name, with what tells whether an op has the kernel.
KERNELS: tuple[tuple[str, Callable[[type[UserOp]], bool], Callable[[Op, Sequence[Example]], str]], ...] = (
    ("kernel stays in its arrays", lambda cls: cls.has_cpu(), on_cpu),
    ("CUDA text stays in its arrays", lambda cls: cls.has_cuda(), on_emulator),
    ("gradient kernel stays in its arrays", lambda cls: cls.numba_gradient is not None, _of_gradient(on_cpu)),
    ("CUDA text of the gradient stays in its arrays", lambda cls: cls.cuda_gradient is not None, _of_gradient(on_emulator)))
