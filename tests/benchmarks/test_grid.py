"""The grid: each row is the same computation in both systems, and the worst stands first."""
import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def grid():
    """The modules of the grid, as its command imports them."""
    pytest.importorskip("jax")
    sys.path.insert(0, str(BENCHMARKS))
    yield {name: importlib.import_module(f"grid{name}") for name in ("", "_rows", "_tasks")}
    sys.path.remove(str(BENCHMARKS))
    for name in [n for n, m in sys.modules.items() if getattr(m, "__file__", None) and Path(m.__file__).parent == BENCHMARKS]:
        del sys.modules[name]


def test_rows_have_names_of_their_own(grid):
    names = [row.name for row in grid["_rows"].table()]
    assert len(set(names)) == len(names) > 150


def _agree(grid, row):
    made = [grid["_tasks"].make(row, system) for system in grid["_tasks"].SYSTEMS]
    for _ in range(2):
        ours, theirs = (task.score() for task in made)
        assert ours == pytest.approx(theirs, rel=row.tolerance)
        for task in made:
            task.run(3)


@pytest.mark.parametrize("name", [
    "rows/dense relu/small/train", "images/conv 3x3 same/small/infer", "images/deconv 2x2 stride 2/small/train",
    "images/pool avg 3x3 same/small/train", "series/lstm tanh masked/small/train", "rows/updater Adam/small/train",
    "rows/batch norm/small/train", "graph/cumsum/small/gradients"])
def test_both_systems_do_the_same(grid, name):
    _agree(grid, grid["_rows"].find(name))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_rows_of_every_kind_do_the_same(grid, first):
    """Every tenth of the small ones: all of them together compile for a quarter of an hour."""
    rows = [row for row in grid["_rows"].table() if "/small/" in row.name]
    for row in rows[first::40]:
        try:
            _agree(grid, row)
        except NotImplementedError:
            continue
        except Exception as error:
            error.add_note(row.name)
            raise


def test_the_worst_row_stands_first(grid, capsys):
    found = [{"name": "a", "dl4py": 1.0, "jax": 2.0}, {"name": "b", "dl4py": 3.0, "jax": 2.0}, {"name": "c", "dl4py": 1.0},
             {"name": "d", "problem": "not the same"}]
    grid[""].report(found, 0)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:6]] == ["b", "a", "c", "d"]
    assert lines[-1] == "2 rows beside JAX: worst 1.50, 95 % at most 1.45, median 1.00; 50% at most 1.1"


def test_the_costliest_steps(grid):
    shown = grid[""].costliest(grid["_rows"].find("graph/softmax last/small/forward"))
    assert shown and "softmax" in shown[0]
