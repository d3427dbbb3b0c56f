"""Plug-ins of every kind, and dl4py, in other forms than source files: byte code, archives, ``-c``, ``-OO``, no compiler, no home."""
from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.test_code_without_module import plug_ins

ROOT = Path(__file__).resolve().parents[1]
#: Where the programs find dl4py.
LIBRARY = f"import sys; sys.path[:0] = [{str(ROOT)!r}]\n"
FUTURE = "from __future__ import annotations\n"

#: Besides the plug-ins of every kind: kernels, lambdas, graphs with bodies, copies.
MORE = '''
import copy

def fill(x, out, factor):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * factor

@user_op("nowhere.filled", numba=fill)
def filled(xp, x, *, factor: float = 2.0):
    return np.asarray(x) * factor

@user_op("nowhere.written", numba="def fill(x, out):\\n    for i in range(len(x)):\\n        out[i] = x[i] * 2")
def written(xp, x):
    return np.asarray(x) * 2

sine = user_op("nowhere.sine")(lambda xp, x: xp.sin(x))
tangent = lambda_layer("nowhere.tangent")(lambda sd, x: sd.nn.tanh(x))
cross = lambda_vertex("nowhere.cross")(lambda sd, a, b: a * b)

sd = SameDiff.create()
v = sd.var("v", x)
filled("f", v, factor=3.0), written("w", v), sine("s", v)
sd.while_loop([sd.constant(np.int32(0)), v], lambda sd, y: y[0] < 3, lambda sd, y: [y[0] + 1, y[1] * 2])[1].rename("l")
sd.save(path)
wanted = {"f": 3 * x, "w": 2 * x, "s": np.sin(x), "l": 8 * x}
for found in (sd, SameDiff.load(path), copy.deepcopy(sd)):
    for name, value in found.output({}, [*wanted]).items():
        np.testing.assert_allclose(value, wanted[name], rtol=1e-12)

conf = NeuralNetConfiguration.Builder().seed(1)
net = MultiLayerNetwork(conf.list().layer(DenseLayer(n_in=3, n_out=3)).layer(tangent()).layer(OutputLayer(n_in=3, n_out=2)).build()).init()
again(net, x)
graph = ComputationGraph(conf.graph_builder().add_inputs("a", "b").add_vertex("c", cross(), "a", "b")
                         .add_layer("out", OutputLayer(n_in=3, n_out=2), "c").set_outputs("out").build()).init()
again(graph, x, x)
for made, given in ((net, [x]), (graph, [x, x])):
    for other in (made.clone(), copy.deepcopy(made)):
        np.testing.assert_array_equal(other.output(*given), made.output(*given))
'''


def source(folder: Path) -> str:
    """The text of a program or module with the plug-ins."""
    body = plug_ins("nowhere").replace(FUTURE, "").replace("FOLDER", f"pathlib.Path({str(folder)!r})")
    return f"{FUTURE}{LIBRARY}import pathlib\n{body}{MORE}"


def module(folder: Path) -> Path:
    """The plug-ins as a module that its users import."""
    file = folder / "author.py"
    file.write_text(source(folder))
    return file


def imported(*places: Path) -> str:
    return f"{LIBRARY}sys.path[:0] = {[str(p) for p in places]!r}; import author; print(author.SAID)"


def byte_code(folder: Path) -> Path:
    """Byte code alone, in another place than where it was made."""
    file = module(folder)
    assert compileall.compile_file(str(file), legacy=True, quiet=1)
    file.unlink()
    (folder / "moved").mkdir()
    return Path(shutil.move(folder / "author.pyc", folder / "moved"))


def archive(folder: Path, *files: Path) -> Path:
    with zipfile.ZipFile(folder / "parts.zip", "w") as parts:
        for file in files:
            parts.write(file, file.name)
            file.unlink()
    return folder / "parts.zip"


def program(folder: Path) -> Path:
    file = folder / "__main__.py"
    file.write_text(source(folder) + "\nprint(SAID)")
    return file


def options(*given: str) -> Callable[[Path], list[str]]:
    return lambda folder: [*given, "-c", imported(module(folder).parent)]


#: Forms in which there is no text of the line that an error is about.
WITHOUT_TEXT = {"-c", "byte code", "archive of byte code"}
#: How Python is called, and what is set for it.
FORMS: dict[str, tuple[Callable[[Path], list[str]], dict[str, str]]] = {
    "-c": (lambda folder: ["-c", source(folder) + "\nprint(SAID)"], {}),
    "byte code": (lambda folder: ["-c", imported(byte_code(folder).parent)], {}),
    "archive": (lambda folder: ["-c", imported(archive(folder, module(folder)))], {}),
    "archive of byte code": (lambda folder: ["-c", imported(archive(folder, byte_code(folder)))], {}),
    "archive that is a program": (lambda folder: [str(archive(folder, program(folder)))], {}),
    "-OO": (options("-OO"), {}),
    "-I": (options("-I"), {}),
    "no compiler": (options(), {"NUMBA_DISABLE_JIT": "1"}),
    "no compiler, nothing kept": (options(), {"NUMBA_DISABLE_JIT": "1", "DL4PY_CACHE_DIR": "/proc/nothing"}),
    "no compiler, plain": (options(), {"NUMBA_DISABLE_JIT": "1", "DL4PY_COMPILER": "plain"}),
    "plain compiler": (options(), {"DL4PY_COMPILER": "plain"}),
    "no home": (options(), {"HOME": "/dev/null/nobody", "XDG_CACHE_HOME": "", "DL4PY_CACHE_DIR": ""}),
    "reference": (options(), {"DL4PY_EXECUTOR": "reference"}),
}
QUICK = {"byte code", "-OO", "no compiler"}


def run(arguments: list[str], more: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | more
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=900, check=False, env=environment)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", [f if f in QUICK else pytest.param(f, marks=pytest.mark.slow) for f in FORMS])
def test_plug_ins(form, tmp_path):
    arguments, more = FORMS[form]
    done = run(arguments(tmp_path), more)
    assert done.returncode == 0, done.stderr
    assert "(at " in done.stdout and (form in WITHOUT_TEXT or "v + sd.var(" in done.stdout), done.stdout


#: A kernel that only runs as Python, which a user may look into with a debugger.
LOOKED_INTO = """
import numba
import numpy as np
from dl4py.samediff import SameDiff
from dl4py.udf import user_op
seen = []
@numba.njit
def fill(x, out):
    for i in range(len(x)):
        seen.append(float(x[i]))
        out[i] = x[i] * 2
@user_op("forms.seen", numba=fill)
def op(xp, x):
    return np.asarray(x) * 2
sd = SameDiff.create()
sd.math.tanh("t", op("y", sd.var("v", np.arange(3.0))))
print(sd.output({}, ["y"])["y"].tolist(), sd.output({}, ["t"])["t"].round(3).tolist(), seen[:3])
"""


def test_kernels_of_users_run_as_python_where_numba_is_switched_off():
    done = run(["-c", LIBRARY + LOOKED_INTO], {"NUMBA_DISABLE_JIT": "1"})
    assert (done.stdout, done.returncode) == ("[0.0, 2.0, 4.0] [0.0, 0.964, 0.999] [0.0, 1.0, 2.0]\n", 0), done.stderr


#: Checks of an op and a layer, which look for what the code keeps.
CHECKED = FUTURE + """
import numpy as np
from dl4py.layers import *
from dl4py.samediff import SameDiff
from dl4py.udf import check_op, user_op

KEPT = []

@user_op("forms.right")
def right(xp, x, *, scale: float = 1.0):
    return np.asarray(x) * scale

@user_op("forms.hoards")
def hoards(xp, x):
    KEPT.append(np.array(x))
    return x * 2

@layer("forms.Grows")
class Grows(SameDiffLambdaLayer):
    def define_layer(self, sd, x):
        KEPT.append(bytes(1000))
        return x * 2

    def get_output_type(self, layer_index, input_type):
        return input_type

def failures(report):
    return sorted(c.name for c in report.checks if not c.passed)

def check():
    x = np.linspace(-1, 2, 6).reshape(3, 2)
    for op in (right, hoards):
        print(failures(check_op(op, [x], gradient=False)))
    print(failures(check_layer(Grows(), InputType.feed_forward(3))))
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["-c", "byte code", "archive", "-OO"])
def test_checks(form, tmp_path):
    file = tmp_path / "author.py"
    file.write_text(CHECKED)
    place, call = tmp_path, "import author; author.check()"
    if form == "byte code":
        assert compileall.compile_file(str(file), legacy=True, quiet=1)
        file.unlink()
        (place := tmp_path / "moved").mkdir()
        shutil.move(tmp_path / "author.pyc", place)
    elif form == "archive":
        place = archive(tmp_path, file)
    start = f"{LIBRARY}sys.path[:0] = [{str(place)!r}]\n"
    done = run(["-c", CHECKED + LIBRARY + "check()"] if form == "-c" else [*([form] if form == "-OO" else []), "-c", start + call], {})
    assert (done.stdout, done.returncode) == ("[]\n['memory']\n['memory']\n", 0), done.stderr


#: A small network, trained.
TRAINED = """
import numpy as np
from dl4py import *
net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list().layer(DenseLayer(n_in=3, n_out=4, activation="tanh"))
                        .layer(OutputLayer(n_in=4, n_out=2)).build()).init()
net.fit(np.ones((2, 3)), np.eye(2))
print("trained", net.score() > 0)
"""


def package(folder: Path) -> Path:
    """dl4py as it is installed, without what links point to."""
    target = folder / "dl4py"
    shutil.copytree(ROOT / "dl4py", target, symlinks=False, ignore=shutil.ignore_patterns("__pycache__"))
    return target


@pytest.mark.slow
@pytest.mark.parametrize("form", ["archive", "byte code", "read-only"])
def test_the_library(form, tmp_path):
    """What it needs it names."""
    found = package(tmp_path / "given")
    place = found.parent
    if form == "archive":
        place = Path(shutil.make_archive(str(tmp_path / "dl4py"), "zip", found.parent))
    elif form == "byte code":
        assert compileall.compile_dir(str(found), legacy=True, quiet=1)
        for file in found.rglob("*.py"):
            file.unlink()
    else:
        for file in (*found.rglob("*"), found):
            file.chmod(0o555 if file.is_dir() else 0o444)
    done = run(["-c", f"import sys; sys.path[:0] = [{str(place)!r}]\n{TRAINED}"], {})
    if form == "byte code":
        assert "MissingPackageError" in done.stderr and "install it with its .py files" in done.stderr, done.stderr
    else:
        assert (done.stdout, done.returncode) == ("trained True\n", 0), done.stderr
