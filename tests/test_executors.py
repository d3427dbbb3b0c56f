"""Recorded networks and graphs give the same by the compiled executor and by the reference: values, gradients, steps of training."""
from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from dl4py.layers import DenseLayer, GaussianNoise, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType, MultiDataSet, SameDiff
from dl4py.samediff.cpu.fused_step import FusedStep
from dl4py.samediff.plans.plan import Plan
from dl4py.samediff.training import Sgd, TrainingConfig
from tests.helpers.executors import BothExecutors, difference
from tests.helpers.replay import Recorded, data_of, gradient_of, outputs_of

ROOT = Path(__file__).parent / "golden"
STEPS = 4


def cases(pattern, needs):
    return sorted(str(p.parent.relative_to(ROOT)) for p in ROOT.glob(pattern) if (p.parent / needs).exists())


@pytest.fixture(scope="module")
def both():
    with BothExecutors() as watched:
        yield watched


def data(case):
    """Inputs, labels and masks; None for those that are not recorded."""
    a = case.arrays
    if "in/0" in a:
        x, y = case.several("in"), case.several("label")
        return x, y, case.several("fmask", len(x)), case.several("lmask", len(y or x))
    if "features_a" in a:
        return [a["features_a"], a["features_b"]], [a["labels_o1"], a["labels_o2"]], None, None
    found = [next((a[k] for k in (f"{part}_0", part, f"train_{part}_0") if k in a), None)
             for part in ("features", "labels", "features_mask", "labels_mask")]
    return [None if v is None else [v] for v in found]


@pytest.mark.sampled(105)
@pytest.mark.parametrize("name", cases("layers/*/case.json", "configuration.json") + cases("training/*/*/case.json", "configuration.json"))
def test_networks(name, both):
    case = Recorded(ROOT / name)
    params = case.arrays.get("params", case.arrays.get("params_0"))
    x, y, fm, lm = data(case)

    def job():
        net = case.network(params)
        outputs_of(net, x, fm, lm)
        if isinstance(net, ComputationGraph):
            net.feed_forward(*x, features_masks=fm, labels_masks=lm)
        else:
            net.feed_forward(x[0], features_mask=fm and fm[0], labels_mask=lm and lm[0])
        if y is None:
            return
        batch = data_of(net, x, y, fm, lm)
        net.score(batch)
        gradient_of(case.network(params), x, y, fm, lm)
        for _ in range(STEPS):
            net.fit(batch)
        outputs_of(net, x, fm, lm)
    count, found = both.compare(job)
    assert count and not found


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", cases("samediff/*/*/case.json", "graph.fb"))
def test_graphs(name, both):
    info = json.loads((ROOT / name / "case.json").read_text())
    file = ROOT / name / "arrays.npz"
    arrays = dict(np.load(file)) if file.exists() else {}

    def part(*prefixes):
        return {k[len(p):]: v for p in prefixes for k, v in arrays.items() if k.startswith(p)}
    feeds, outputs = part("in/", "batch0/"), part("out/", "out0/")

    def job():
        sd = SameDiff.load(str(ROOT / name / "graph.fb"), True)
        given = feeds if any(v.is_place_holder() for v in sd.variables()) else {}
        sd.output(given, *(outputs or [v.name() for v in sd.variables()]))
        if "training_config_json" not in info:
            return
        sd.set_training_config(TrainingConfig.from_json(json.dumps(info["training_config_json"])))
        sd.calculate_gradients(feeds, *[v.name() for v in sd.variables() if v.is_trainable()])
        for _ in range(STEPS):
            sd.fit(MultiDataSet([feeds[n] for n in info["feature_placeholders"]], [feeds[n] for n in info["label_placeholders"]]))
    count, found = both.compare(job)
    assert count and not found


@pytest.mark.slow
def test_a_wrong_result_is_found(both):
    case = Recorded(ROOT / "layers/dense_layernorm")
    x, y, fm, lm = data(case)

    def job():
        net = case.network(case.arrays["params"])
        outputs_of(net, x, fm, lm)
        for _ in range(STEPS):
            net.fit(DataSet(x[0], y[0]))
    run, step = Plan.run, FusedStep.__call__

    def disturbed(plan, feeds, context):
        return tuple(None if r is None else r * r.dtype.type(1.0001) for r in run(plan, feeds, context))

    def disturbed_step(whole, *rest):
        results = step(whole, *rest)
        for kernel in whole.updaters:
            kernel.arrays[0][...] *= 1.0001
        return results
    assert not both.compare(job)[1]
    with mock.patch.object(Plan, "run", disturbed):
        found = both.compare(job)[1]
    assert any(".output" in text for text in found) and any(".fit/score" in text for text in found)
    with mock.patch.object(FusedStep, "__call__", disturbed_step):
        found = both.compare(job)[1]
    assert found and ".fit/parameters" in found[0]


def test_random_numbers_are_the_same(both):
    def job():
        sd = SameDiff.create()
        drawn = sd.random.normal("drawn", 0.0, 1.0, DataType.FLOAT, 40, 70)
        for _ in range(2):
            sd.output({}, drawn)
        config = NeuralNetConfiguration.builder().seed(3).updater(Sgd(0.1)).list() \
            .layer(DenseLayer(n_in=70, n_out=30, activation="tanh", drop_out=0.5)) \
            .layer(OutputLayer(n_out=4, activation="softmax", loss_fn="mcxent", drop_out=GaussianNoise(0.2))).build()
        net, rng = MultiLayerNetwork(config).init(), np.random.default_rng(1)
        for _ in range(STEPS):
            net.fit(DataSet(rng.normal(size=(9, 70)).astype(np.float32), np.eye(4, dtype=np.float32)[np.arange(9) % 4]))
    count, found = both.compare(job)
    assert count > 4 * STEPS and not found


@pytest.mark.parametrize("found, wanted, text", [
    (np.float32([1, 2]), np.float32([1, 2.00001]), ""), (np.float32([1, 2]), np.float32([1, 2.0001]), "off by"),
    (np.float64([1, 2]), np.float64([1, 2.00001]), "off by"), (1.0, 1.000001, ""), (1.0, 1.001, "off by"),
    (np.float32([1, np.nan]), np.float32([1, np.nan]), ""), (np.float32([np.inf]), np.float32([-np.inf]), "not finite"),
    (np.float32([1]), np.float64([1]), "reference float64"), (np.int32([1, 2]), np.int32([1, 3]), "1 of 2"),
    ("ShapeError", np.float32([1]), "ShapeError"), ("ShapeError", "ShapeError", "")])
def test_difference(found, wanted, text):
    said = difference(found, wanted)
    assert text in said and bool(text) == bool(said)
