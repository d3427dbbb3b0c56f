"""The benchmark's workloads run in dl4py and in NumPy and give the same scores; with JAX, those that NumPy lacks too."""
from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
QUICK = ["W0", "W1_infer", "W6_grad", "W7"]
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


def compared(benchmark, name, systems, where="Here"):
    workload = next(w for w in benchmark["workloads"].WORKLOADS if w.name == name)
    return benchmark["measure"].compare(workload, systems, 1, getattr(benchmark["measure"], where))


def check(found, systems):
    assert sorted(found) == sorted(systems)
    assert all(0 < times["min"] <= times["median"] for times in found.values())


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in BY_HAND)])
def test_dl4py_and_numpy_agree(benchmark, name):
    check(compared(benchmark, name, ["dl4py", "numpy"]), ["dl4py", "numpy"])


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


def test_what_is_missing_is_left_out(benchmark, capsys):
    benchmark["measure"].MODULES["absent"] = "with_absent"
    assert benchmark["run"].installed(["numpy", "absent"]) == ["numpy"]
    assert "absent is left out: No module named 'with_absent'" in capsys.readouterr().out
    del benchmark["measure"].MODULES["absent"]


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
