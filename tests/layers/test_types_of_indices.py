"""Ops whose kernels refuse what is no index: equal results or errors by both executors for labels, masks and indices of any type."""
from __future__ import annotations

import os
from unittest import mock

import numpy as np
import pytest

from dl4py.layers.ops.embedding_ops import RowIndices
from dl4py.layers.ops.loss_terms import OneHotLabels
from dl4py.layers.ops.step_ops import AtLastUnmaskedStep, LastUnmaskedStep
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ops.index.gather import Gather, GatherNd
from dl4py.samediff.ops.losses.cross_entropy import SparseCrossEntropySlope, SparseSoftmaxCrossEntropy
from dl4py.samediff.ops.shape.slicing import ReverseSequence

RNG = np.random.default_rng(0)
X = RNG.random((3, 2, 4)).astype(np.float32)
MASK, CLASSES = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]]), np.array([0, 1, 1])
CASES = {
    "last": (LastUnmaskedStep(), lambda k, d: [X.astype(d), MASK.astype(k)]),
    "at last": (AtLastUnmaskedStep(), lambda k, d: [X[:, :, 0].astype(d), MASK.astype(k)]),
    "rows of a table": (RowIndices(count=2), lambda k, d: [CLASSES[:, None].astype(k)]),
    "rows too few": (RowIndices(count=1), lambda k, d: [CLASSES[:, None].astype(k)]),
    "one hot": (OneHotLabels("mse"), lambda k, d: [CLASSES[:, None].astype(k), X[:, :, 0].astype(d)]),
    "one hot of a vector": (OneHotLabels("mse"), lambda k, d: [CLASSES.astype(k), X[:, :, 0].astype(d)]),
    "one hot of a scalar": (OneHotLabels("mse"), lambda k, d: [CLASSES[1].astype(k), X[:1, :, 0].astype(d)]),
    "sparse": (SparseSoftmaxCrossEntropy(), lambda k, d: [CLASSES.astype(k), X[:, :, 0].astype(d)]),
    "slope of sparse": (SparseCrossEntropySlope(), lambda k, d: [CLASSES.astype(k), X[:, :, 0].astype(d), X[:, 0, 0].astype(d)]),
    "reversed": (ReverseSequence(2, 0), lambda k, d: [X.astype(d), CLASSES.astype(k)]),
    "gather": (Gather(0), lambda k, d: [X.astype(d), CLASSES.astype(k)]),
    "gather_nd": (GatherNd(), lambda k, d: [X.astype(d), CLASSES[:, None].astype(k)]),
}


def found(op, arrays, executor):
    sd = SameDiff.create()
    names = [f"x{i}" for i in range(len(arrays))]
    with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": executor}):
        try:
            made = sd.add_op(op, [sd.placeholder(n, DataType.of(a.dtype), *a.shape) for n, a in zip(names, arrays)])
            return sd.output_single(dict(zip(names, arrays)), made)
        except DL4PyError as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("name", CASES)
def test_types(name, dtype):
    op, arrays = CASES[name]
    for kind in ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
        plan, reference = (found(op, arrays(kind, dtype), e) for e in ("plan", "reference"))
        if isinstance(reference, str):
            assert plan == reference
        else:
            assert plan.dtype == reference.dtype
            np.testing.assert_allclose(plan, reference, rtol=2e-3 if dtype is np.float16 else 2e-6)
