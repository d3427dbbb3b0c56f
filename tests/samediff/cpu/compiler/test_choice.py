"""Kernels are compiled by the lean compiler where it works, else by Numba as it is."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dl4py.samediff.cpu.compiler import choice, sources
from dl4py.samediff.cpu.native.instruction import FLAGS

PROGRAM = """
import numpy as np
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.cpu.compiler import choice
sd = SameDiff.create()
x = sd.placeholder("x", DataType.FLOAT, -1, 5)
sd.nn.softmax("s", sd.math.tanh("t", x)), sd.argmax("a", x, 1), sd.math.exp("e", x.cast_to(DataType.DOUBLE))
values = np.linspace(-2, 2, 10, dtype=np.float32).reshape(2, 5)
found = sd.output({"x": values}, "s", "a", "e")
soft = np.exp(np.tanh(values))
np.testing.assert_allclose(found["s"], soft / soft.sum(1, keepdims=True), rtol=1e-6)
np.testing.assert_allclose(found["e"], np.exp(values.astype(float)), rtol=1e-14)
np.testing.assert_array_equal(found["a"], [4, 4])
print(choice.compiler().__name__.rpartition(".")[2])
"""

#: What another version of Numba might do, and what is said then.
BREAKAGES = {
    "a name is gone": ("import numba\nfrom numba.core import compiler_machinery\ndel compiler_machinery.PassManager", "PassManager"),
    "a method is gone": ("from dl4py.samediff.cpu.compiler import lean\nlean._USED = (*lean._USED, '_renamed')", "_renamed"),
    "a function takes something else": ("from dl4py.samediff.cpu.compiler import lean\n"
                                        "def changed(): pass\nlean.compile_extra = changed", "it failed with TypeError"),
    "nobody tried it": ("import numba\nnumba.__version__ = '9.1.0'", "not known"),
}


def start(folder, prelude="", **variables):
    """The compiler in the end, and the warnings."""
    done = subprocess.run([sys.executable, "-W", "always::RuntimeWarning", "-c", prelude + "\n" + PROGRAM], capture_output=True, text=True,
                          timeout=500, env={**os.environ, "DL4PY_CACHE_DIR": str(folder), "DL4PY_COMPILER": "", **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", BREAKAGES)
def test_a_numba_that_the_lean_compiler_does_not_fit(tmp_path, name):
    prelude, why = BREAKAGES[name]
    compiler, said = start(tmp_path, prelude)
    assert compiler == "plain" and said.count("RuntimeWarning") == 1 and why in said


@pytest.mark.slow
def test_the_user_chooses(tmp_path):
    assert start(tmp_path, DL4PY_COMPILER="plain") == ("plain", "")
    assert start(tmp_path, BREAKAGES["nobody tried it"][0], DL4PY_COMPILER="lean") == ("lean", "")


def test_what_one_compiler_made_is_not_taken_by_the_other(monkeypatch):
    found = set()
    for name in ("", "plain"):
        monkeypatch.setenv("DL4PY_COMPILER", name)
        found.add(sources.toolchain.__wrapped__())
    assert len(found) == 2


def test_a_kernel_that_no_compiler_takes_leaves_the_choice_as_it_is():
    before = choice.compiler()
    function = sources.function_of("def entry(table, part, parts):\n    return unknown_name + 1\n", "entry", {})
    with pytest.raises(Exception, match="unknown_name"):
        choice.machine_code(function, "dl4py_test_refused", FLAGS)
    assert choice.compiler() is before


@pytest.mark.slow
def test_a_program_that_used_numba_first_gets_the_same_code(tmp_path):
    """One name on disk is one code: what Numba was told first does not change it."""
    def kept(name, prelude=""):
        start(tmp_path / name, prelude)
        return {file.name: file.read_bytes() for file in tmp_path.glob(f"{name}/numba/*.o")}
    found = kept("alone")
    assert found and found == kept("numba first", "import numba\nnumba.njit(lambda x: x)(1)")
