"""The benchmark of small arrays compares calls that give the same, and prints its table."""
from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "eager.py"
_spec = importlib.util.spec_from_file_location("benchmark_of_eager_calls", FILE)
eager = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(eager)


@pytest.mark.parametrize("name", [n for n in eager.rows(8) if n != "nn.softmax"])
def test_rows_compare_the_same(name):
    ours, theirs = eager.rows(8)[name]
    np.testing.assert_allclose(ours(), theirs(), rtol=1e-5, atol=1e-6)


def test_the_table_is_printed(capsys):
    eager.main(["--only", "add", "--rounds", "1"])
    assert capsys.readouterr().out.splitlines()[1].startswith("add ")
