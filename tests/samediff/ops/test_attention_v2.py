"""Attention with the features last against plain loops."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import GraphError, ShapeError

RNG = np.random.default_rng(4)
Q, V, K = RNG.normal(size=(2, 3, 2)), RNG.normal(size=(2, 4, 5)), RNG.normal(size=(2, 4, 2))
QUERY_MASK = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
VALUE_MASK = np.array([[1, 0, 1, 1], [1, 1, 1, 0]], np.int32)


def plain(scale=1.0, query_mask=None, value_mask=None, causal=False):
    out = np.zeros((2, 3, 5))
    for b, i in np.ndindex(2, 3):
        steps = [j for j in range(4) if (value_mask is None or value_mask[b, j]) and not (causal and j > i)]
        weights = np.exp([scale * Q[b, i] @ K[b, j] for j in steps])
        if query_mask is None or query_mask[b, i]:
            out[b, i] = weights / weights.sum() @ V[b, steps]
    return out


@pytest.mark.parametrize("executor", ["", "reference"])
@pytest.mark.parametrize(("masks", "scale", "causal"), [
    ((None, None), 1.0, False), ((None, None), 0.5, True), ((QUERY_MASK, None), 1.0, False), ((None, VALUE_MASK), 2.0, False),
    ((QUERY_MASK, VALUE_MASK != 0), 0.5, True)])
def test_values(monkeypatch, executor, masks, scale, causal):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    given = [None if m is None else sd.constant(m) for m in masks]
    made = sd.nn.dot_product_attention_v2(sd.constant(Q), sd.constant(V), sd.constant(K), *given, scale, 0.0, causal, False)
    assert np.allclose(made.eval(), plain(scale, *masks, causal), atol=1e-12)


def test_half_precision_hides_steps():
    sd = SameDiff.create()
    q, v, k = (sd.constant(a.astype(np.float16)) for a in (Q, V, K))
    found = sd.nn.dot_product_attention_v2(q, v, k, None, sd.constant(VALUE_MASK), 1.0, 0.0, False, False).eval()
    assert np.allclose(found, plain(value_mask=VALUE_MASK), atol=0.02)


def test_weights_are_dropped_in_training_only():
    sd = SameDiff.create()
    q, v, k = sd.constant(np.zeros((1, 50, 2))), sd.constant(np.ones((1, 40, 1))), sd.constant(np.zeros((1, 40, 2)))
    made = sd.nn.dot_product_attention_v2(q, v, k, None, None, 1.0, 0.25, False, True)
    assert np.allclose(made.eval(), 1)
    trained = sd.compute({}, [made.name()], training=True)[made.name()]
    assert trained.std() > 0.05
    assert np.allclose(trained * 30, np.round(trained * 30))          # of 40 equal weights, each of those that are left counts 1 / 30
    assert trained.mean() == pytest.approx(1, abs=0.05)


def test_wrong_calls_are_told():
    sd = SameDiff.create()
    q, v, k = (sd.constant(a) for a in (Q, V, K))
    with pytest.raises(ShapeError, match="steps of keys and values"):
        sd.nn.dot_product_attention_v2(q, v[:, :2], k)
    with pytest.raises(ShapeError, match="steps of value mask"):
        sd.nn.dot_product_attention_v2(q, v, k, None, sd.constant(QUERY_MASK))
    with pytest.raises(GraphError, match="below 1"):
        sd.nn.dot_product_attention_v2(q, v, k, None, None, 1.0, 1.0, False, True)
