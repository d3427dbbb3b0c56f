"""Area layers: networks of every layer and vertex: parameters, activations, score, gradients, steps; preprocessors called directly."""

from __future__ import annotations

import json
import re

import numpy as np

from . import custom, type_table
from .api import Net, from_java, numbered, same_json
from .core import Case, Check, Intent, Unsupported, drawn_close, find

# DL4J's gradients of SameDiff-based layers are multiples of the right ones (README, surprise 1): only their values are compared.
DOUBLED = (
    "LocallyConnected1D",
    "LocallyConnected2D",
    "PrimaryCapsules",
    "CapsuleLayer",
    "CapsuleStrengthLayer",
    "SelfAttentionLayer",
    "LearnedSelfAttentionLayer",
    "RecurrentAttentionLayer",
    "AttentionVertex",
    "example.custom",
)
HARMLESS = ("HuberOutputSD", "LogCoshLossSD", "NoLabelLossSD", "QuarticLoss")


def check(case: Case, c: Check):
    info = case.info
    if info.get("not_repeatable"):
        raise Intent("does not repeat in DL4J itself")
    if any("is entirely masked out" in e.get("message", "") for e in case.get("error") or []):
        raise Intent("an example that is masked throughout is a row of zeros; DL4J refuses it")
    if case.folder.name == "types_table":
        return type_table.check(case, c)
    if "network" not in info and "class" in info:
        return preprocessor(case, c)
    if not case.has("configuration.json"):
        return refused(case, c)
    return network(case, c)


def errors(case: Case) -> dict:
    return {e["stage"]: e for e in case.get("error") or []}


def refused(case: Case, c: Check):
    """DL4J refuses to build the network; there is no configuration to read."""
    found = errors(case)
    raise Intent("no configuration recorded: " + "; ".join(f"{e['class'].rsplit('.', 1)[-1]}" for e in found.values()))


class Truth:
    """Which of the recorded numbers are also mathematically right."""

    def __init__(self, case: Case, text: str):
        fd = case.get("fd_check")
        known = isinstance(fd, dict)
        failed = known and fd.get("failed", 0) > 0
        against = failed and fd.get("failed_against_score_dataset", fd["failed"]) > 0
        doubled = any(d in text for d in DOUBLED) and not any(h in text for h in HARMLESS if "example.custom" in text)
        self.gradient = not against and not (doubled and (not known or failed))
        self.score = not failed or against
        if doubled and not self.gradient:
            self.score = True


def network(case: Case, c: Check):
    a, info, bad = case.arrays, case.info, errors(case)
    text = case.read("configuration.json")
    custom.register_all(text)
    graph = info.get("network") == "ComputationGraph"
    for stage in ("configuration", "init"):
        if stage in bad:
            return c.raises(stage, lambda: Net.from_json(text, graph), bad[stage])
    net = Net.from_json(text, graph)
    if "json_roundtrip_error" not in info and info.get("json_roundtrip_equal", True):
        same_json(
            c, "to_json", find("ComputationGraphConfiguration" if graph else "MultiLayerConfiguration").from_json(text).to_json(), text
        )
    table(case, c, net)
    if "params" in a:
        net.net.set_params(a["params"])
        for name, want in ((k[6:], v) for k, v in a.items() if k.startswith("param/")):
            c.close(f"parameter {name}", net.net.param_table()[name], want, rtol=0.0)
    x, fm, lm = (numbered(a, k, "/") for k in ("in", "fmask", "lmask"))
    y = numbered(a, "label", "/")
    fm, lm = pad(fm, x), pad(lm, y or x)
    if x is None:
        return None
    forward(case, c, net, x, fm, lm, bad)
    if info.get("summary"):
        c.text("summary()", net.net.summary(), info["summary"])
    truth = Truth(case, text)
    if y is not None:
        scores(case, c, net, x, y, fm, lm, bad)
        if truth.gradient:
            gradients(case, c, text, graph, x, y, fm, lm, bad, truth)
    if "rnn/step_0" in a or any(k.startswith("rnn/") for k in a):
        time_steps(case, c, text, graph, x)
    if y is not None and truth.gradient:
        training(case, c, text, graph, (x, y, fm, lm), bad, truth)
    if case.has("model.zip"):
        loaded = Net.load(case.path("model.zip"), graph, True)
        if "params" in a and "OCNNOutputLayer" not in text:  # scoring changes its parameter r
            c.bits("parameters of model.zip", loaded.net.params(), a["params"])
    return None


def pad(masks, arrays):
    return None if masks is None else masks + [None] * (len(arrays) - len(masks))


def table(case: Case, c: Check, net: Net):
    a, info = case.arrays, case.info
    if "params_seed" in a:
        drawn_close(c, "initial parameters", net.net.params(), a["params_seed"])
    rows = info.get("param_table")
    if rows:
        got = net.net.param_table()
        c.equal("parameter names", list(got), [r["name"] for r in rows])
        for r in rows:
            if r["name"] in got:
                c.equal(f"shape of {r['name']}", tuple(got[r["name"]].shape), tuple(r["shape"]))
    if "num_params" in info:
        c.equal("number of parameters", int(net.net.num_params()), info["num_params"])


def forward(case: Case, c: Check, net: Net, x, fm, lm, bad):
    a = case.arrays
    if "output" in bad:
        c.raises("output", lambda: net.output(x, fm, lm), bad["output"])
    elif "out/0" in a:
        for i, out in enumerate(net.output(x, fm, lm)):
            if f"out/{i}" in a:
                c.close(f"out/{i}", out, a[f"out/{i}"], rtol=tight(a[f"out/{i}"]))
    want = {k[4:]: v for k, v in a.items() if k.startswith("act/")}
    if want and "feedForward" not in bad:
        got = net.feed_forward(x, fm, lm)
        for name, w in want.items():
            if name in got:
                c.close(f"activation {name}", got[name], w, rtol=tight(w))
            else:
                c.fail(f"activation {name}", "not among " + ", ".join(got))


def tight(w):
    return 2e-5 if w.dtype == np.float32 else 1e-9 if w.dtype == np.float64 else 1e-2


def scores(case: Case, c: Check, net: Net, x, y, fm, lm, bad):
    a = case.arrays

    def data():
        return net.data(x, y, fm, lm)

    if "score" in bad:
        c.raises("score", lambda: net.net.score(data(), False), bad["score"])
    if "score" in a:
        c.close("score", net.net.score(data(), False), float(a["score"]), "score")
    if "score_train" in a and "score" in a and a["score_train"] == a["score"]:
        c.close("score (training)", net.net.score(data(), True), float(a["score_train"]), "score")
    if "score_examples" in a:
        c.close("score_examples", net.net.score_examples(data(), True), a["score_examples"], rtol=3e-5, shape=False)


def gradients(case: Case, c: Check, text, graph, x, y, fm, lm, bad, truth):
    a = case.arrays
    fresh = Net.from_json(text, graph, a.get("params"))
    if "computeGradientAndScore" in bad:
        return c.raises("gradients", lambda: fresh.gradients(x, y, fm, lm), bad["computeGradientAndScore"])
    if "grad" not in a:
        return None
    c.close("gradient", fresh.gradients(x, y, fm, lm), a["grad"], "grad", shape=False)
    if truth.score and "score_cgs" in a:
        c.close("score of compute_gradient_and_score", fresh.net.score(), float(a["score_cgs"]), "score")
    keys = case.get("gradient_keys")
    if keys:
        c.equal("names of the gradients", sorted(fresh.net.gradient().gradient_for_variable()), sorted(keys))
    if "in_grad/0" in a and not graph:
        other = Net.from_json(text, graph, a.get("params"))
        got = other.net.calculate_gradients(x[0], y[0], None if fm is None else fm[0], None if lm is None else lm[0])[1]
        c.close("gradient for the input", got, a["in_grad/0"], "grad")
    return None


def training(case: Case, c: Check, text, graph, data, bad, truth):
    a = case.arrays
    net = Net.from_json(text, graph, a.get("params"))
    if "fit" in bad:
        return c.raises("fit", lambda: net.fit(*data), bad["fit"])
    if "fit_scores" not in a:
        return None
    for k, score in enumerate(a["fit_scores"], 1):
        net.fit(*data)
        if truth.score:
            c.close(f"score of fit {k}", net.net.score(), float(score), "params")
        if f"params_{k}" in a:
            steady(case, c, f"params_{k}", net.net.params(), a[f"params_{k}"])
    if "updater_state_5" in a:
        c.close("updater state", net.state(), a["updater_state_5"], rtol=1e-3, shape=False)
    for i, out in enumerate(net.output(data[0], data[2], data[3])):
        if f"out_5/{i}" in a:
            c.close(f"out_5/{i}", out, a[f"out_5/{i}"], rtol=1e-3)
    if "iterations_after" in case.info:
        c.equal("iteration count", net.net.get_iteration_count(), case.get("iterations_after"))
    return None


def steady(case: Case, c: Check, what, got, want):
    """Adam turns gradient noise around 0 into whole steps: entries with a gradient near 0 are left out."""
    got = np.asarray(got).ravel()
    grad = case.arrays.get("grad")
    if grad is not None and "Adam" in str(case.get("updater")) and got.size == want.size == grad.size:
        g = np.abs(grad.ravel())
        keep = (g > 1e-4 * max(float(np.nanmax(g, initial=0)), 1e-12)) | (g == 0)
        return c.close(what, got[keep], want.ravel()[keep], "params", shape=False, atol=2e-3 if what == "params_5" else 0.0)
    return c.close(what, got, want, "params", shape=False)


def time_steps(case: Case, c: Check, text, graph, x):
    """rnn_time_step over pieces of the input."""
    a = case.arrays
    steps = sorted((k for k in a if re.fullmatch(r"rnn/step_?\d+(/0)?", k)), key=lambda k: int(re.findall(r"\d+", k)[0]))
    if not steps or graph:
        return
    net = Net.from_json(text, graph, a.get("params")).net
    at = 0
    for k in steps:
        want = a[k]
        t = want.shape[2] if want.ndim == 3 else 1
        piece = x[0][:, :, at : at + t] if want.ndim == 3 else x[0][:, :, at]
        at += t
        c.close(k, net.rnn_time_step(piece), want, rtol=3e-5)


def preprocessor(case: Case, c: Check):
    a, info = case.arrays, case.info
    if "json" not in info or "x" not in a:
        raise Unsupported("no object to build")
    p = from_java(json.loads(info["json"]))
    n = info.get("minibatch", len(a["x"]))
    if "y" in a:
        c.close("pre_process", p.pre_process(a["x"].copy(), n), a["y"])
    if "y_f" in a:
        c.close("pre_process (column-major)", p.pre_process(np.asfortranarray(a["x"]), n), a["y_f"])
    if "backprop" in a:
        c.close("backprop", p.backprop(a["eps"].copy(), n), a["backprop"])
    if "mask_out" in a:
        got = p.feed_forward_mask_array(a["mask"].copy(), find("MaskState").Active, n)
        c.close("mask", got[0], a["mask_out"])
    for stage, e in errors(case).items():
        if stage == "preProcess":
            c.raises("pre_process", lambda: p.pre_process(a["x"].copy(), n), e)
