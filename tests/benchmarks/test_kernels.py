"""The benchmark of single ops gives what NumPy gives, and prints its table."""
from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "kernels.py"
_spec = importlib.util.spec_from_file_location("benchmark_of_kernels", FILE)
kernels = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kernels)


@pytest.mark.parametrize("name", [n for n, row in kernels.ROWS.items() if row.plain is not None])
def test_rows_compare_the_same(name, rng):
    row, sd = kernels.ROWS[name], SameDiff.create()
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in row.shapes]
    found = row.build(sd, *(sd.placeholder(f"x{k}", DataType.FLOAT, *a.shape) for k, a in enumerate(arrays)))
    value = sd.output_single({f"x{k}": a for k, a in enumerate(arrays)}, found)
    np.testing.assert_allclose(value, row.plain(*arrays), rtol=1e-3, atol=1e-4)


def test_the_table_is_printed(capsys):
    kernels.main(["--only", "softmax", "--seconds", "0"])
    assert capsys.readouterr().out.startswith("softmax ")
