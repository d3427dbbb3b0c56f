"""The disk cache of compiled kernels."""
from __future__ import annotations

import os
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest

from dl4py.samediff.executor import cache, cache_objects
from dl4py.samediff.executor.cpu import settings

PROGRAM = """
import sys
import numpy as np
from dl4py.samediff.executor.cpu import Layout, elementwise_kernel
from dl4py.samediff.expression import trace
kernel = elementwise_kernel(trace(lambda xp, x: xp.exp(x) + {constant}, ["float32"]), [Layout.same(1)])
print(float(kernel(np.zeros(3, np.float32), out=np.empty(3, np.float32))[1]), "{compiler}" in sys.modules)
"""
COMPILER = "dl4py.samediff.executor.cpu.native.generated"


def start(folder, constant=1, program=PROGRAM, compiler=COMPILER, **settings):
    return subprocess.Popen([sys.executable, "-c", program.format(constant=constant, compiler=compiler)], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "DL4PY_CACHE_DIR": str(folder), **settings})


def result(process):
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    value, compiled = out.split()
    return float(value), compiled == "True"


def run(folder, constant=1, **settings):
    """The value, and whether the process had to compile."""
    return result(start(folder, constant, **settings))


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    assert run(tmp_path) == (2.0, True)
    assert run(tmp_path) == (2.0, False)
    assert run(tmp_path, constant=2) == (3.0, True)
    assert run(tmp_path, NUMBA_OPT="1") == (2.0, True)      # another compiler, as it were


@pytest.mark.parametrize("damage", [lambda content: b"damaged", lambda content: b"", lambda content: content[:len(content) // 2],
                                    lambda content: content[:-100] + bytes(100), lambda content: content[:30] + b"x" + content[31:]],
                         ids=["other", "empty", "cut", "changed", "checksum"])
def test_damaged_files_cost_time_only(tmp_path, damage):
    run(tmp_path)
    files = list(tmp_path.rglob("*.o"))
    assert files
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    assert run(tmp_path) == (2.0, True)
    assert run(tmp_path) == (2.0, False)                    # written anew


def test_several_processes_fill_one_folder(tmp_path):
    started = [start(tmp_path) for _ in range(3)]
    assert {result(p)[0] for p in started} == {2.0}
    assert run(tmp_path) == (2.0, False)
    assert not [f for f in tmp_path.rglob("tmp*") if f.is_file()]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a path that cannot be a folder")
def test_a_folder_that_cannot_be_used_changes_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "below") == (2.0, True)


TRAINING = """
import sys
import numpy as np
from dl4py.layers import {layer}, {output}
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Adam
net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.01)).list()
                        .layer({layer}(n_in=4, n_out=6, activation="tanh")).layer({output}(n_in=6, n_out=3)).build()).init()
rng = np.random.default_rng(0)
net.fit(DataSet(rng.random({x}, np.float32), np.ones({y}, np.float32) / 3))
print(repr(net.score()), "compiler" in sys.modules)
"""


DENSE = {"layer": "DenseLayer", "output": "OutputLayer", "x": (5, 4), "y": (5, 3)}
RECURRENT = {"layer": "LSTM", "output": "RnnOutputLayer", "x": (5, 4, 2), "y": (5, 3, 2)}


def training(form):
    text = TRAINING.format(**form).replace("{", "{{").replace("}", "}}")
    return text.replace('"compiler"', '"{compiler}"')


@pytest.mark.parametrize("form", [DENSE, RECURRENT], ids=["dense", "lstm"])
def test_training_starts_without_the_compiler(tmp_path, form):
    first, second = (result(start(tmp_path, program=training(form))) for _ in range(2))
    assert first[1] and not second[1]
    assert first[0] == second[0]


def test_what_a_small_network_needs_is_compiled_without_numba(tmp_path):
    assert not result(start(tmp_path, program=training(DENSE), compiler="numba"))[1]
    assert result(start(tmp_path, program=training(RECURRENT), compiler="numba"))[1]
    assert not result(start(tmp_path, program=training(RECURRENT), compiler="numba"))[1]


BEGINNERS = """
import threading
from dl4py.samediff.executor.cpu.functions import prepare
go, failed = threading.Barrier(8), []

def begin():
    go.wait()
    try:
        prepare()
    except Exception as error:
        failed.append(repr(error))
threads = [threading.Thread(target=begin) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(failed)
"""


def test_several_threads_may_start_the_compiler(tmp_path):
    done = subprocess.run([sys.executable, "-c", BEGINNERS], env={**os.environ, "DL4PY_CACHE_DIR": str(tmp_path)}, capture_output=True,
                          text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_code_that_calls_what_is_missing_is_not_loaded(tmp_path):
    symbol = "dl4py_test_stamp"
    machine = cache_objects.engine().machine
    code = machine.emit_object(llvm.parse_assembly(f"define i64 @{symbol}() {{ ret i64 7 }}"))
    with pytest.raises(RuntimeError, match="no_such_function"):
        cache_objects.addresses("stamp-a", [symbol], lambda: (code, ["no_such_function"]), tmp_path)
    cache_objects._write(tmp_path / "stamp-b.o", code, ["no_such_function"])
    (address,), known = cache_objects.addresses("stamp-b", [symbol], lambda: (code, []), tmp_path)
    assert address and not known


def test_a_file_is_read_as_it_was_written(tmp_path):
    code = np.random.default_rng(0).bytes(1000)
    cache_objects._write(tmp_path / "a.o", code, ["b", "c"])
    assert cache_objects._read(tmp_path / "a.o") == (code, ["b", "c"])
    assert cache_objects._read(tmp_path / "missing.o") is None
    assert os.listdir(tmp_path) == ["a.o"]


def test_another_processor_has_files_of_its_own(monkeypatch):
    toolchain = cache.toolchain.__wrapped__
    here = toolchain()
    assert toolchain() == here
    monkeypatch.setattr(settings, "target", lambda: ("another", "+features"))
    assert toolchain() != here
