"""Loops besides a graph give the same on every back end."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.device.device_memory import to_host
from dl4py.samediff.device.devices import Device
from dl4py.samediff.expressions import expression as ex
from dl4py.samediff.plans.backend import Backend, CompiledLoops, backend_of
from tests.samediff.cuda.support import needs_compiler

BACK_ENDS = {"array code": Backend, "cpu": backend_of, "emulated": lambda: backend_of(Device.of("emulated"))}


@pytest.mark.sampled(6)
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BACK_ENDS)
def test_each_element_and_the_sum_of_all(name, dtype):
    x, factor, total, counter = np.arange(5, dtype=dtype), np.full(1, 2, dtype), np.zeros(1, dtype), np.zeros(1, np.int64)

    def make(loops):
        return {"each": loops.each(ex.trace(lambda xp, x, f: x * f, [dtype] * 2), [x, factor], [x]),
                "total": loops.total(ex.trace(lambda xp, x, f: x * x + f, [dtype] * 2), [x, factor], total)}
    program = BACK_ENDS[name]().compile(make, counter)
    assert set(program.made) == {"each", "total"} and program.is_one_call == (name == "cpu")
    for k in range(1, 4):
        program()
        wanted = np.arange(5) * 2.0 ** k
        np.testing.assert_array_equal(to_host(x), wanted)
        np.testing.assert_allclose(to_host(total), (wanted ** 2).sum() + 10, rtol=1e-6)
        assert counter == k
    to_host(x)[...] = 1                         # what changes on the host is seen by the next run
    program()
    assert to_host(x).tolist() == [2] * 5 and to_host(total).item() == 30


@pytest.mark.parametrize(("name", "count"), [("array code", 1), ("cpu", 0)])
def test_what_has_no_compiled_form_is_left_out(name, count):
    x = np.ones(3, np.float16)
    program = BACK_ENDS[name]().compile(lambda loops: {0: loops.each([ex.input_(0, x.dtype)], [x], [x])})
    assert len(program.made) == count


def test_each_back_end_makes_a_program_once():
    made, loops, backends = [], CompiledLoops(), (Backend(), Backend())
    for backend in backends * 2:
        loops.of(backend, lambda loops: made.append(loops) or {})()
    assert len(made) == len(backends)
