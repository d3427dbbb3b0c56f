"""The benchmark's workloads run in dl4py and in NumPy and give the same scores; with JAX, those that NumPy lacks too."""
from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.drivers.host_code import compiler
from dl4py.samediff.errors import DeviceError

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
QUICK = ["W0", "W1_infer", "W6_grad", "W7"]
COMPILED = ["W4_1e6", "W6", "W6_mm", "W6_grad", "W11_1e6", "W12"]
BY_HAND = ["W0_infer", "W1_b32", "W1_b128", "W6", "W6_mm", "W7_builtin", "W8", "W4_1e6", "W10"]
NOT_BY_HAND = ["W2", "W2_infer", "W3_char", "W3_uci", "W5"]


@pytest.fixture(scope="module")
def benchmark():
    """The modules of the folder, which import each other by their short names."""
    names = ("workloads", "measure", "cold_start", "with_dl4py", "with_numpy", "run")
    sys.path.insert(0, str(FOLDER))
    yield {name: importlib.import_module(name) for name in names}
    sys.path.remove(str(FOLDER))
    for name in [n for n, m in sys.modules.items() if getattr(m, "__file__", None) and Path(m.__file__).parent == FOLDER]:
        del sys.modules[name]


@pytest.fixture
def emulated(benchmark, monkeypatch):
    """The emulator as a place."""
    try:
        compiler()
    except DeviceError as missing:
        pytest.skip(str(missing))
    monkeypatch.setenv("DL4PY_CUDA_GRAPHS", "1")        # which workloads change
    return benchmark["workloads"].Place("emulated:0")


def compared(benchmark, name, systems, where="Here", *place):
    workload = next(w for w in benchmark["workloads"].WORKLOADS if w.name == name)
    return benchmark["measure"].compare(workload, systems, 1, getattr(benchmark["measure"], where), *place)


def check(found, systems):
    assert sorted(found) == sorted(systems)
    assert all(0 < times["min"] <= times["median"] for times in found.values())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in BY_HAND)])
def test_dl4py_and_numpy_agree(benchmark, name):
    check(compared(benchmark, name, ["dl4py", "numpy"]), ["dl4py", "numpy"])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", COMPILED)
def test_compiled_functions_agree(benchmark, name):
    check(compared(benchmark, name, ["dl4py", "dl4py_compiled", "numpy"]), ["dl4py", "dl4py_compiled", "numpy"])


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_BY_HAND)
def test_dl4py_and_jax_agree(benchmark, name):
    pytest.importorskip("jax")
    check(compared(benchmark, name, ["dl4py", "jax"]), ["dl4py", "jax"])


@pytest.mark.slow
def test_systems_in_processes_of_their_own(benchmark):
    check(compared(benchmark, "W0_infer", ["dl4py", "numpy"], "Apart"), ["dl4py", "numpy"])
    (name, _, kept) = benchmark["cold_start"].COLD[0]
    check(benchmark["cold_start"].cold_start(name, ["numpy"], 1, kept), ["numpy"])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["W0", "W0_infer", "W6"])
def test_the_emulator_of_a_gpu_agrees(benchmark, emulated, name, monkeypatch):
    graphs, capture = [], Emulator.capture

    def counted(self, run):
        graphs.append(run)
        return capture(self, run)
    monkeypatch.setattr(Emulator, "capture", counted)
    found = {}
    for system in ("dl4py_uncaptured", "dl4py"):
        found |= compared(benchmark, name, [system], "Here", emulated)
        assert bool(graphs) is (system == "dl4py")
    found |= compared(benchmark, name, ["numpy"])
    workload = next(w for w in benchmark["workloads"].WORKLOADS if w.name == name)
    benchmark["measure"].agree(workload, {system: [times["score"]] for system, times in found.items()})


@pytest.mark.slow
def test_the_table_of_a_device(benchmark, emulated, monkeypatch, capsys, tmp_path):
    words = ["--device", "emulated", "--only", "W0_infer", "--rounds", "1", "--json", str(tmp_path / "f")]
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    benchmark["run"].main()
    shown, written = capsys.readouterr().out.splitlines(), json.loads((tmp_path / "f").read_text())
    assert shown[0] == "not on emulated:0: dl4py_compiled, numpy, jax, torch, torch_cl, torch_compile, ort, ort_1t, dl4j, dl4j_1t"
    assert shown[1].startswith("emulated:0: the emulator of a GPU, ") and shown[-1].startswith("W0_infer")
    assert written["device"] == "emulated:0" and written["limits"] == {}
    check(written["workloads"]["W0_infer"], ["dl4py", "dl4py_uncaptured"])


def test_systems_by_device(benchmark, capsys):
    run, place = benchmark["run"], benchmark["workloads"].Place
    assert run.asked("", place()) == ["dl4py", "dl4py_compiled", "numpy", "jax", "torch", "torch_cl", "ort", "ort_1t"]
    assert not capsys.readouterr().out
    assert run.asked("all", place())[-2:] == ["dl4j", "dl4j_1t"]
    assert run.asked("", place("cuda:1")) == ["dl4py", "dl4py_uncaptured", "torch", "torch_compile", "jax", "ort"]
    assert capsys.readouterr().out == "not on cuda:1: dl4py_compiled, numpy, torch_cl, ort_1t, dl4j, dl4j_1t\n"
    assert run.asked("torch,numpy", place("cuda:1")) == ["torch"]
    assert capsys.readouterr().out == "not on cuda:1: numpy\n"


def test_places(benchmark):
    place = benchmark["workloads"].Place
    assert (place("cuda:1").index, place("cuda:1").is_gpu, place("cuda:1").from_host) == (1, True, True)
    assert not place("cuda:1", on_device=True).from_host
    assert not place().is_gpu and not place("emulated:0").from_host


@pytest.mark.slow
def test_a_device_that_is_not_there_is_said(benchmark, capsys):
    if importlib.util.find_spec("cupy"):
        pytest.skip("CuPy is installed")
    assert not benchmark["run"].installed(["dl4py"], benchmark["workloads"].Place("cuda:0"))
    assert "dl4py is left out: a GPU needs CuPy, which is not installed" in capsys.readouterr().out


def test_what_is_missing_is_left_out(benchmark, capsys):
    benchmark["measure"].MODULES["absent"] = "with_absent"
    assert benchmark["run"].installed(["numpy", "absent"]) == {"numpy": ""}
    assert "absent is left out: No module named 'with_absent'" in capsys.readouterr().out
    del benchmark["measure"].MODULES["absent"]


def test_a_workload_that_needs_another_package_goes_on_without_the_system(benchmark, capsys, monkeypatch):
    def lacking(workload, system):
        import pandas_that_nobody_has  # noqa: F401
    monkeypatch.setitem(sys.modules, "with_lacking", SimpleNamespace(make=lacking))
    monkeypatch.setitem(benchmark["measure"].MODULES, "lacking", "with_lacking")
    check(compared(benchmark, "W7", ["numpy", "lacking"]), ["numpy"])
    assert "lacking is left out of W7: No module named 'pandas_that_nobody_has'" in capsys.readouterr().out
    assert compared(benchmark, "W7", ["lacking"]) == {} and compared(benchmark, "W5", ["numpy"]) == {}


def test_a_missing_plot_library_is_said_before_hours_of_measuring(benchmark, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["run.py", "--systems", "numpy", "--plot", str(tmp_path / "plot.png")])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install matplotlib"):
        benchmark["run"].main()


def test_different_scores_are_refused(benchmark):
    workload = benchmark["workloads"].WORKLOADS[0]
    benchmark["measure"].agree(workload, {"a": [1.0, 0.5], "b": [1.001, 0.5005]})
    with pytest.raises(SystemExit, match="do not compute the same"):
        benchmark["measure"].agree(workload, {"a": [1.0, 0.5], "b": [1.0, 0.51]})


def test_workloads_are_chosen_by_their_beginnings(benchmark):
    names = [w.name for w in benchmark["workloads"].WORKLOADS]
    assert [n for n in names if benchmark["run"].chosen(n, "W1,W6_mm")] == ["W1_b32", "W1_b128", "W1_b1024", "W1_infer", "W6_mm"]


def test_rows_show_ratios(benchmark):
    found = {"dl4py": {"min": 2e-4}, "numpy": {"min": 1e-4}, "jax": {"min": 4e-3}}
    assert benchmark["run"].line(found, ["dl4py", "numpy", "jax", "ort"]) == ["2.00", "200 us", "100 us (2.00)", "4.00 ms (0.05)", "-"]
    shown = benchmark["run"].markdown({"W0": found}, ["dl4py", "numpy"])
    assert shown.splitlines()[0::2] == ["|  | best peer | dl4py | numpy |", "| W0 | 2.00 | 200 us | 100 us (2.00) |"]


def test_the_share_of_others_is_a_share(benchmark):
    assert not benchmark["measure"].busy(0.05) > 1
