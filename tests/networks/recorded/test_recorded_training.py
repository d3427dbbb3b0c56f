"""Training replayed step by step against recorded parameters, updater state, scores, gradients and outputs."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dl4py.networks import MultiLayerNetwork
from dl4py.samediff import DataSet, ListDataSetIterator, Listener, MultiDataSet
from tests.helpers.replay import Recorded, close, data_of, gradient_of, outputs_of

ROOT = Path(__file__).parents[2] / "golden" / "training"
STEPS = sorted(str(p.parent.relative_to(ROOT)) for p in ROOT.glob("*/*/case.json")
               if (p.parent / "configuration.json").exists() and "steps" in json.loads(p.read_text()))


@pytest.mark.sampled(45)
@pytest.mark.parametrize("name", STEPS)
def test_steps(name):
    case = Recorded(ROOT / name)
    a, info = case.arrays, case.info
    limit = 1e-9 if a["params_0"].dtype == np.float64 else 2e-4
    net = case.network(a["params_0"])
    batches = [[None if a.get(f"{key}_{k}") is None else [a[f"{key}_{k}"]]
                for key in ("features", "labels", "features_mask", "labels_mask")]
               for k in range(info["n_batches"])]
    assert list(net.param_table()) == [p["key"] for p in info["param_table"]]
    assert [list(v.shape) for v in net.param_table().values()] == [p["shape"] for p in info["param_table"]]
    if "gradient_0" in a:
        other = case.network(a["params_0"])
        close(gradient_of(other, *batches[0]), a["gradient_0"], min(limit, 1e-5))
        close(other.score(), info["score_0"], 1e-5)
    for k in range(1, info["steps"] + 1):
        net.fit(data_of(net, *batches[(k - 1) % len(batches)]))
        close(net.score(), info["scores"][k - 1], limit)
        for key, found in ((f"params_{k}", net.params()), (f"state_{k}", net.get_updater().state_view())):
            if key in a:
                close(found, a[key], limit)
    counts = info.get("iteration_count_after_each_step")
    assert net.get_iteration_count() == (counts[-1] if counts else info["steps"])
    x, _, fm, lm = batches[0]
    if "output_0" in a:
        close(outputs_of(net, x, fm, lm)[0], a["output_0"], limit)
    for key, training in (("score_dataset_test_mode", False), ("score_dataset_train_mode", True)):
        if key in info:
            close(net.score(data_of(net, *batches[0]), training), info[key], limit)


@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "graph").iterdir()))
def test_graphs(name):
    case = Recorded(ROOT / "graph" / name)
    a, info = case.arrays, case.info
    net = case.network(a["params_0"])
    if "features" in a:
        which = name.rsplit("_", 1)[1]
        masks = [[a["mask"]] if which in ("both", what) else None for what in ("features", "labels")]
        batch = [a["features"]], [a["labels"]], *masks
        ends = {"output_after": 0}
    else:
        batch = [a["features_a"], a["features_b"]], [a["labels_o1"], a["labels_o2"]]
        ends = {"output_o1": 0, "output_o2": 1}
    data = data_of(net, *batch)
    close(net.score(data), info.get("score_before", info.get("score_before_test")), 1e-5)
    for k, score in enumerate(info["scores"], 1):
        net.fit(data)
        close(net.score(), score, 2e-4)
        for key, found in ((f"params_{k}", net.params()), (f"state_{k}", net.get_updater().state_view())):
            if key in a:
                close(found, a[key], 2e-4)
    for key, i in ends.items():
        close(net.output(*batch[0])[i], a[key], 2e-4)
    if "score_examples" in a:
        close(net.score_examples(data, True), a["score_examples"], 2e-4)


def test_ways_to_fit():
    case = Recorded(ROOT / "fit/fit_variants")
    a, net = case.arrays, case.network(case.arrays["params_0"])
    x, y = a["features_0"], a["labels_0"]
    d = DataSet(x, y)
    calls = [lambda: net.fit(d), lambda: net.fit(x, y), lambda: net.fit(x, y, None, None), lambda: net.fit(x, a["int_labels"]),
             lambda: net.fit([d, d]), lambda: net.fit(MultiDataSet([x], [y]))]
    for k, (call, counts) in enumerate(zip(calls, case.info["iteration/epoch"]), 1):
        call()
        assert f"{net.get_iteration_count()}/{net.get_epoch_count()}" == counts.split(": ")[1], counts
        close(net.params(), a[f"params_{k}"], 2e-4)


class Told(Listener):
    """Writes down the hooks in DL4J's words."""

    def __init__(self):
        self.events = []

    def on_epoch_start(self, model):
        self.events.append(f"onEpochStart epoch={model.get_epoch_count()}")

    def on_epoch_end(self, model):
        self.events.append(f"onEpochEnd epoch={model.get_epoch_count()}")

    def on_forward_pass(self, model, activations):
        self.events.append(f"onForwardPass {len(activations)}")

    def on_gradient_calculation(self, model):
        self.events.append("onGradientCalculation")

    def on_backward_pass(self, model):
        self.events.append("onBackwardPass")

    def iteration_done(self, model, iteration, epoch):
        self.events.append(f"iterationDone iteration={iteration} epoch={epoch} {model.score():.4f}")


def test_epochs_and_listeners():
    case = Recorded(ROOT / "fit/iterator_epochs")
    a, info, net, told = case.arrays, case.info, case.network(case.arrays["params_0"]), Told()
    examples = [DataSet(a["features"][i:i + 1], a["labels"][i:i + 1]) for i in range(len(a["features"]))]
    net.set_listeners(told)
    net.fit(ListDataSetIterator(examples, info["batch_size"]), 3)
    close(net.params(), a["params_after"], 2e-4)
    close(net.get_updater().state_view(), a["state_after"], 2e-4)
    assert (net.get_iteration_count(), net.get_epoch_count()) == (info["iteration_count"], info["epoch_count"])
    close(net.score(), info["score"], 2e-4)
    assert [e.split()[0] for e in told.events] == [e.split()[0] for e in info["events"]], info["events"][:8]


@pytest.mark.parametrize(("load_updater", "key"), [(True, "params_10_restored"), (False, "params_10_restored_without_updater")])
def test_training_goes_on_from_a_file(load_updater, key):
    case = Recorded(ROOT / "fit/resume")
    a, net = case.arrays, MultiLayerNetwork.load(case.folder / "model.zip", load_updater)
    assert np.array_equal(net.params(), a["params_5"].ravel())
    if load_updater:
        assert np.array_equal(net.get_updater().state_view(), a["state_5"].ravel())
    for k in range(5, 10):
        net.fit(a[f"features_{k % 2}"], a[f"labels_{k % 2}"])
    close(net.params(), a[key], 2e-4)
    assert net.get_iteration_count() == 10
    if load_updater:
        close(net.get_updater().state_view(), a["state_10"], 2e-4)


def test_scores_of_examples():
    case = Recorded(ROOT / "fit/score_examples")
    a, info, net = case.arrays, case.info, case.network(case.arrays["params_0"])
    d = DataSet(a["features_0"], a["labels_0"])
    close(net.score(d), info["score"], 1e-5)
    close(net.score(d, True), info["score_training"], 1e-5)
    close(net.score_examples(d, True), a["score_examples_with_reg"], 1e-5)
    close(net.score_examples(d, False), a["score_examples_no_reg"], 1e-5)
    close(net.f1_score(a["features_0"], a["labels_0"]), info["f1Score"], 1e-9)
    close(net.calc_regularization_score(), info["calcRegularizationScore"], 1e-5)
    assert net.predict(a["features_0"]).tolist() == a["predict"].tolist()
