"""Lists of arrays (tensor arrays) in files of DL4J 1.0.0-M2.1: its list changes in place, here each write gives a new flow."""
from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff import SameDiff

RECORDED = Path(__file__).parent / "recorded"
V = np.array([1, 2, 3], np.float32)


def again(sd: SameDiff) -> SameDiff:
    """Saved and loaded."""
    stream = io.BytesIO()
    sd.save(stream)
    stream.seek(0)
    return SameDiff.load(stream)


@pytest.mark.parametrize("times", [1, 2])
def test_writes_and_reads(times: int) -> None:
    sd = SameDiff.load(RECORDED / "lists.fb")
    sd = sd if times == 1 else again(sd)
    found = {n: v.tolist() for n, v in sd.output({}, "gather_list", "gather_list_1", "read_list", "scatter_list", "size_list").items()}
    assert found["gather_list"] == [V.tolist(), (2 * V).tolist()] and found["gather_list_1"] == [(2 * V).tolist(), V.tolist()]
    assert found["read_list"] == (2 * V).tolist() and found["size_list"] == 2
    assert found["scatter_list"] == np.arange(6).reshape(2, 3).tolist()


@pytest.mark.parametrize("times", [1, 2])
def test_a_loop_writes(times: int) -> None:
    sd = SameDiff.load(RECORDED / "list_in_loop.fb")
    sd = sd if times == 1 else again(sd)
    assert sd.missing_ops() == []
    assert sd.variable("stacked").eval().tolist() == [0, 1, 4, 9]


def test_gradient_through_a_list() -> None:
    sd = SameDiff.load(RECORDED / "lists.fb")
    sd.set_loss_variables(sd.variable("gather_list").sum().name())
    assert sd.calculate_gradients({}, "v")["v"].tolist() == [3, 3, 3]
