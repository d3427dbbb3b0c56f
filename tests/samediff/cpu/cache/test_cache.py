"""The disk cache of compiled kernels."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import permutations

import llvmlite.binding as llvm
import numpy as np
import pytest

from dl4py.samediff.cpu.compiler import objects as cache_objects
from dl4py.samediff.cpu.compiler import settings
from dl4py.samediff.cpu.compiler import sources as cache

PROGRAM = """
import sys
import numpy as np
from dl4py.samediff.cpu import OperandLayout, elementwise_kernel
from dl4py.samediff.expressions.expression import trace
kernel = elementwise_kernel(trace(lambda xp, x: xp.exp(x) + {constant}, ["float32"]), [OperandLayout.same(1)])
print(float(kernel(np.zeros(3, np.float32), out=np.empty(3, np.float32))[1]), "{compiler}" in sys.modules)
"""
COMPILER = "dl4py.samediff.cpu.compiler.choice"


def start(folder, constant=1, program=PROGRAM, compiler=COMPILER, stderr=None, **settings):
    return subprocess.Popen([sys.executable, "-c", program.format(constant=constant, compiler=compiler)], stdout=subprocess.PIPE,
                            stderr=stderr, text=True, env={**os.environ, "DL4PY_CACHE_DIR": str(folder), **settings})


def result(process):
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    value, compiled = out.split()
    return float(value), compiled == "True"


def run(folder, constant=1, **settings):
    """The value, and whether the process had to compile."""
    return result(start(folder, constant, **settings))


@pytest.mark.slow
def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    assert run(tmp_path) == (2.0, True)
    assert run(tmp_path) == (2.0, False)
    assert run(tmp_path, constant=2) == (3.0, True)
    assert run(tmp_path, NUMBA_OPT="1") == (2.0, True)      # another compiler, as it were


@pytest.mark.parametrize("damage", [lambda content: b"damaged", lambda content: b"", lambda content: content[:len(content) // 2],
                                    lambda content: content[:-100] + bytes(100), lambda content: content[:30] + b"x" + content[31:]],
                         ids=["other", "empty", "cut", "changed", "checksum"])
@pytest.mark.slow
def test_damaged_files_cost_time_only(tmp_path, damage):
    run(tmp_path)
    files = list(tmp_path.rglob("*.o"))
    assert files
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    assert run(tmp_path) == (2.0, True)
    assert run(tmp_path) == (2.0, False)                    # written anew


#: Kernels of every kind that is kept: for compiled code, and for callers in Python.
SEVERAL = """
import sys
import numpy as np
from dl4py.samediff import DataType, SameDiff
sd = SameDiff.create()
x = sd.placeholder("x", DataType.FLOAT, -1, 5)
sd.math.exp("e", x), sd.math.log("l", x), sd.nn.softmax("s", x)
ids = sd.constant("ids", np.arange(2))
sd.math.segment_mean("a", x, ids), sd.math.segment_max("i", x, ids)
names = ["e", "l", "a", "i", "s"]
found = sd.output({{"x": np.arange(1, 11, dtype=np.float32).reshape(2, 5)}}, *names)
print(float(sum(np.abs(found[n]).astype(np.float64).sum() for n in names)), "{compiler}" in sys.modules)
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A folder that some processes filled at once, and what they all found."""
    folder = tmp_path_factory.mktemp("several")
    started = [start(folder, program=SEVERAL) for _ in range(4)]
    value, = {result(p)[0] for p in started}
    assert {f.suffix for f in (folder / "numba").iterdir()} == {".o", ".nbc", ""}
    assert not [f for f in folder.rglob("*") if "tmp" in f.name]
    return folder, value


@pytest.fixture
def filled(several, tmp_path):
    """A copy of that folder."""
    shutil.copytree(several[0], tmp_path / "copy")
    return tmp_path / "copy", several[1]


@pytest.mark.slow
def test_several_processes_fill_one_folder(several):
    folder, value = several
    before = {f: f.stat().st_mtime_ns for f in folder.rglob("*.[on]*")}
    assert result(start(folder, program=SEVERAL)) == (value, False)
    assert before == {f: f.stat().st_mtime_ns for f in folder.rglob("*.[on]*")}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".o", ".nbc"])
def test_code_under_the_name_of_other_code_is_not_run(filled, suffix):
    folder, value = filled
    files = sorted(f for f in (folder / "numba").iterdir() if f.suffix == suffix)
    assert len(files) >= 2
    for file, content in zip(files, [f.read_bytes() for f in (*files[1:], files[0])]):
        file.write_bytes(content)
    assert result(start(folder, program=SEVERAL))[0] == value


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes")
def test_pipes_and_links_in_place_of_code(filled):
    folder, value = filled
    for k, file in enumerate(sorted((folder / "numba").iterdir())):
        file.rename(folder / file.name)
        if k % 2:
            os.mkfifo(file)
        else:
            file.symlink_to(folder / file.name)
    assert result(start(folder, program=SEVERAL)) == (value, True)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users have no numbers here")
@pytest.mark.parametrize("what", ["folder", "files"])
@pytest.mark.slow
def test_code_that_others_may_write_is_not_run(filled, what):
    folder, value = filled
    for file in (folder, folder / "numba") if what == "folder" else (folder / "numba").iterdir():
        file.chmod(0o777)
        if os.geteuid() == 0:
            os.chown(file, 65534, 65534)
    process = start(folder, program=SEVERAL, stderr=subprocess.PIPE)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 0 and said.count("UserWarning") == 1 and "compiled kernels are not taken from" in said
    again = result(start(folder, program=SEVERAL))
    assert again == (value, what == "folder")       # files were written anew


NAMELESS = """
import os, pwd
def unknown(uid):
    raise KeyError(uid)
pwd.getpwuid = unknown
for name in ("HOME", "XDG_CACHE_HOME", "DL4PY_CACHE_DIR"):
    os.environ.pop(name, None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="users have names there")
def test_a_user_without_a_home_folder(tmp_path):
    process = start(tmp_path, program=NAMELESS + PROGRAM, stderr=subprocess.PIPE)
    said = process.communicate(timeout=300)
    assert (said[0].split(), said[1]) == (["2.0", "True"], "")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
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
@pytest.mark.slow
def test_training_starts_without_the_compiler(tmp_path, form):
    first, second = (result(start(tmp_path, program=training(form), compiler="numba")) for _ in range(2))
    assert first[1] and not second[1]
    assert first[0] == second[0]


BEGINNERS = """
import threading
from dl4py.samediff.cpu.compiler.jit_functions import prepare
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


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(tmp_path))


def code_of(symbol):
    return cache_objects.engine().machine.emit_object(llvm.parse_assembly(f"define i64 @{symbol}() {{ ret i64 7 }}"))


def test_code_that_calls_what_is_missing_is_not_loaded(own_cache):
    symbol = "dl4py_test_stamp"
    code = code_of(symbol)
    with pytest.raises(RuntimeError, match="no_such_function"):
        cache_objects.addresses("stamp-a", [symbol], lambda: (code, ["no_such_function"]), "1")
    cache_objects._write("stamp-b", "1", code, ["no_such_function"])
    (address,), known = cache_objects.addresses("stamp-b", [symbol], lambda: (code, []), "1")
    assert address and not known


def test_code_without_its_function_is_not_called(own_cache):
    for name in ("stamp-c", "stamp-d"):
        cache_objects._write(name, "1", code_of(f"dl4py_other_{name[-1]}"), [])
    (address,), known = cache_objects.addresses("stamp-c", ["dl4py_test_c"], lambda: (code_of("dl4py_test_c"), []), "1")
    assert address and not known
    with pytest.raises(RuntimeError, match="has no dl4py_test_d"):
        cache_objects.addresses("stamp-d", ["dl4py_test_d"], lambda: (code_of("dl4py_another"), []), "1")


def test_the_first_code_of_a_process_may_call_functions_of_the_system(own_cache):
    cache_objects._write("stamp-e", "1", code_of("dl4py_test_e"), ["tanh", "memcpy"])
    first = "from dl4py.samediff.cpu.compiler import objects; print(objects.addresses('stamp-e', ['dl4py_test_e'], lambda: None, '1')[1])"
    done = subprocess.run([sys.executable, "-c", first], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


def test_code_is_read_as_it_was_written(own_cache, tmp_path):
    code = np.random.default_rng(0).bytes(1000)
    cache_objects._write("a", "1", code, ["b", "c"])
    assert cache_objects._read("a", "1") == (code, ["b", "c"])
    assert cache_objects._read("missing", "1") is None
    assert "a.o" in os.listdir(tmp_path / "numba")


def test_another_processor_has_files_of_its_own(monkeypatch):
    toolchain = cache.toolchain.__wrapped__
    here = toolchain()
    assert toolchain() == here
    monkeypatch.setattr(settings, "target", lambda: ("another", "+features"))
    assert toolchain() != here


def test_another_python_has_files_of_its_own(monkeypatch):
    toolchain = cache.toolchain.__wrapped__
    here = toolchain()
    monkeypatch.setattr(cache.sys, "version_info", (3, 99, 0, "final", 0))
    assert toolchain() != here


def test_options_of_the_compiler_have_one_text():
    texts = {cache._text({"fastmath": set(flags), "nogil": True}) for flags in permutations(("contract", "arcp", "nsz", "reassoc"))}
    assert len(texts) == 1 and cache._text({"fastmath": {"arcp"}}) not in texts
