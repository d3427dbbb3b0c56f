"""CUDA text of user-defined ops."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.spec import TensorSpec
from ...samediff.errors import GraphError, RegistrationError
from ...samediff.ir.op import Op
from ...samediff.plans.actions import CudaKernel, KernelLaunch

if TYPE_CHECKING:
    from ...samediff.plans.actions import CudaKernel

THREADS = 256
_FUNCTION = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(')
_NUMBERS = {bool: np.bool_, int: np.int64, float: np.float64}


def function_name(text: str) -> str | None:
    """The name of the kernel in CUDA text; None when there is none."""
    found = _FUNCTION.search(text)
    return None if found is None else found[1]


def check_text(op_id: str, argument: str, text: Any) -> None:
    """RegistrationError unless it is CUDA text with a kernel."""
    if not isinstance(text, str):
        raise RegistrationError(f"op {op_id!r}: {argument} must be CUDA C source text, got {type(text).__name__}")
    if function_name(text) is None:
        raise RegistrationError(f"op {op_id!r}: the CUDA text has no function that begins with 'extern \"C\" __global__ void'")


def cuda_kernel(op: Op, text: str, specs: Sequence[TensorSpec | None], results: Sequence[TensorSpec]) -> CudaKernel | None:
    """The launch of a text for inputs of these specs; None where an input is left out or a size unknown."""
    if not all(s is not None and s.is_static and s.dtype.is_numeric for s in (*specs, *results)):
        return None
    from ...samediff.cuda.sources import type_name
    names = [(n, getattr(op, n)) for n in op.attribute_names()]
    strange = [n for n, v in names if type(v) not in _NUMBERS]
    if strange:
        raise GraphError(f"op {op.id!r}: its CUDA text takes attributes that are numbers or truth values; {', '.join(strange)} is none. "
                         "Write the method cuda(self, *specs) to pass it otherwise")
    numbers = [_NUMBERS[type(v)](v) for _, v in names]
    types = "".join(f"#define T{i} {type_name(s.dtype)}\n" for i, s in enumerate([*specs, *results]) if s is not None)
    source, name = f"{types}#define T T0\n{text}", function_name(text)
    assert name is not None         # was looked at when the op was registered

    def actions(*arrays: Any) -> list[KernelLaunch]:
        n = arrays[len(specs)].size
        return [KernelLaunch(source, name, (-(-n // THREADS), 1, 1), (THREADS, 1, 1), (*arrays, *numbers, np.int64(n)))] if n else []
    return CudaKernel(actions)
