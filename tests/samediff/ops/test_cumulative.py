"""Running sums and products along axes without elements, and coordinate grids of arrays that are no vectors."""
import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff


@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_axes_without_elements(name, exclusive, reverse, shape, executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, *[-1 for _ in shape])
    y = getattr(sd.math, name)(x, exclusive, reverse, shape.index(0))
    y.sum().mark_as_loss()
    assert sd.output_single({"x": np.zeros(shape)}, y).shape == shape
    assert sd.calculate_gradients({"x": np.zeros(shape)}, "x")["x"].shape == shape


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_grids_of_arrays_that_are_no_vectors(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    a, b = np.arange(6.0).reshape(2, 3), np.array(7.0)
    grids = sd.math.meshgrid(sd.constant("a", a), sd.constant("b", b), cartesian=False)
    assert [g.spec.shape for g in grids] == [(6, 1), (6, 1)]
    for grid, expected in zip(grids, np.meshgrid(a.reshape(-1), b, indexing="ij")):
        np.testing.assert_array_equal(grid.eval(), expected)
