"""CUDA kernels on the emulator against ``compute``."""
from __future__ import annotations

import os

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.drivers.drivers import driver_of
from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.drivers.host_code import compiler
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.device.devices import Device
from dl4py.samediff.errors import DeviceError
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.ir.op import as_tuple
from dl4py.samediff.ir.run_context import RunContext

#: Of the largest value of an output.
TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "float64": 1e-12}

#: Each finds other mistakes: the orders of threads that do not wait for each other, what is written beside an array. With a device such as
#: ``DL4PY_CUDA_TESTS=cuda:0`` kernels run there in their place.
DRIVERS = ((driver_of(Device.of(os.environ["DL4PY_CUDA_TESTS"])),) if "DL4PY_CUDA_TESTS" in os.environ else
           (Emulator(guard=True), Emulator("reversed", guard=True), Emulator(7, guard=True)))


def lacks_compiler() -> str:
    """Why the emulator does not run here, or nothing."""
    try:
        compiler()
    except DeviceError as error:
        return str(error)
    return ""


needs_compiler = pytest.mark.skipif(bool(lacks_compiler()), reason=lacks_compiler() or "there is a compiler")


def check_kernel(op, *arrays, tolerance=None, known=(), context=None, same_bits=True):
    """Run ``op.cuda`` on the emulator in several orders of threads, compare with ``op.compute``, and return the outputs.

    Parameters
    ----------
    op : the op
    arrays : its inputs, None for one left out; they may have any layout and are made contiguous as the executor does
    tolerance : of floating outputs, relative to the largest value; by type if not given
    known : indices of inputs whose values are known when kernels are chosen
    context : of a stateful op, which gets the words of it before its inputs
    same_bits : whether all orders of threads must give the very same result
    """
    if lacks_compiler():
        pytest.skip(lacks_compiler())
    specs = [None if a is None else TensorSpec(a.shape, DataType.of(a.dtype), a if i in known else None) for i, a in enumerate(arrays)]
    promised = as_tuple(op.infer(*specs))
    kernel = KERNELS.kernel(op, *specs)
    assert kernel is not None, f"{op!r} has no CUDA kernel for {specs}"
    want = _wanted(op, arrays, promised, context)
    first = None
    for driver in DRIVERS:
        got = _run(driver, op, kernel, arrays, want, context)
        first = first or got
        for k, (w, g, f) in enumerate(zip(want, got, first)):
            _compare(w, g, tolerance, f"output {k} of {op!r} for {specs}")
            if same_bits:
                np.testing.assert_array_equal(_bits(g), _bits(f), f"output {k} of {op!r} depends on the order of threads")
    return first


def _wanted(op, arrays, promised, context):
    """What ``compute`` gives; numbers of 16 bits are computed as kernels do it, in float32."""
    wide = [a.astype(np.float32) if a is not None and a.dtype.name in ("float16", "bfloat16") else a for a in arrays]
    with np.errstate(all="ignore"):
        made = as_tuple(op.compute(xp, *wide, context=context) if context else op.compute(xp, *wide))
        made = [np.asarray(w).astype(s.dtype.numpy) for w, s in zip(made, promised)]
    assert len(made) == len(promised)
    for w, s in zip(made, promised):
        assert s.accepts(w.shape), f"{s} was promised, compute gave {w.shape}"
    return made


def _run(driver, op, kernel, arrays, want, context):
    given = [None if a is None else np.array(a, order="C") for a in arrays]
    if op.stateful:
        given.insert(0, (context or RunContext()).words())
    inputs = [None if a is None else driver.upload(a) for a in given]
    outs = [driver.upload(_unset(w.shape, w.dtype)) for w in want]
    run = driver.prepare(kernel.actions(*inputs, *outs, *(driver.upload(_unset(s.shape, s.dtype.numpy)) for s in kernel.workspace)))
    run()
    once = [driver.download(o) for o in outs]
    run()
    made = [driver.download(o) for o in outs]
    for k, (a, b) in enumerate(zip(once, made)):
        np.testing.assert_array_equal(_bits(a), _bits(b), f"output {k} of {op!r} is another one when the same actions run again")
    for k, (a, b) in enumerate(zip(given, inputs)):
        if a is not None:
            np.testing.assert_array_equal(_bits(a), _bits(driver.download(b)), f"input {k} of {op!r} was changed")
    return made


def _unset(shape, dtype):
    """Memory as a device gives it, with the worst that may be in it."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[...] = 255 if array.dtype.kind in "fV" else 0xA5
    return array


def _bits(array):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _compare(want, got, tolerance, name):
    if want.dtype.name not in TOLERANCES:
        np.testing.assert_array_equal(_bits(want) if want.dtype == bool else want, _bits(got) if want.dtype == bool else got, name)
        return
    want, got, relative = want.astype(np.float64), got.astype(np.float64), TOLERANCES[want.dtype.name] if tolerance is None else tolerance
    largest = np.abs(want[np.isfinite(want)]).max(initial=1e-30)
    np.testing.assert_allclose(got, want, rtol=0, atol=relative * largest, err_msg=name)
