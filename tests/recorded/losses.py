"""Activations and losses called directly (groups of area training)."""

from __future__ import annotations

import json

import numpy as np

from .api import activation, from_java
from .core import Case, Check, Intent, find, number, stumbles


def near(c: Check, what, got, want, x=None):
    """Elementwise: small entries beside large ones must be right too. Where DL4J overflows for a finite x, a finite value is right."""
    double = want.dtype == np.float64
    got = np.array(got)
    if x is not None and x.shape == want.shape == got.shape:
        over = np.isfinite(x) & ~np.isfinite(want)
        got = np.where(over, want, got).astype(got.dtype)
    c.close(what, got, want, rtol=1e-9 if double else 3e-5, atol=1e-12 if double else 1e-6, elementwise=True)


def activations(case: Case, c: Check):
    a, info = case.arrays, case.info
    f = from_java(json.loads(info["json"]))
    random = "RReLU" in info["class"]
    near(c, "forward", f.get_activation(a["x"].copy(), False), a["y_test"], a["x"])
    if random:
        return
    near(c, "forward (training)", f.get_activation(a["x"].copy(), True), a["y_train"], a["x"])
    near(c, "backprop", f.backprop(a["x"].copy(), a["epsilon"].copy())[0], a["dx"], a["x"])
    if "y_special" in a:
        near(c, "forward of special values", f.get_activation(a["x_special"].copy(), False), a["y_special"], a["x_special"])
    for rank in (2, 3, 4):
        if f"y_rank{rank}" in a:
            near(c, f"forward, rank {rank}", f.get_activation(a[f"x_rank{rank}"].copy(), False), a[f"y_rank{rank}"])
        if f"dx_rank{rank}" in a:
            near(
                c, f"backprop, rank {rank}", f.backprop(a[f"x_rank{rank}"].copy(), a[f"epsilon_rank{rank}"].copy())[0], a[f"dx_rank{rank}"]
            )


def prelu(case: Case, c: Check):
    a = case.arrays
    f = find("ActivationPReLU")(a["alpha"].copy(), None)
    c.close("y", f.get_activation(a["x"].copy(), True), a["y"])
    dx, dalpha = f.backprop(a["x"].copy(), a["epsilon"].copy())
    c.close("dx", dx, a["dx"])
    c.close("dalpha", dalpha, a["dalpha"], "grad", shape=False)
    if "y_rank4" in a:
        f = find("ActivationPReLU")(a["alpha_rank4"].copy(), [2, 3])
        c.close("y_rank4", f.get_activation(a["x_rank4"].copy(), True), a["y_rank4"])
        dx, dalpha = f.backprop(a["x_rank4"].copy(), a["epsilon_rank4"].copy())
        c.close("dx_rank4", dx, a["dx_rank4"])
        c.close("dalpha_rank4", dalpha, a["dalpha_rank4"], "grad", shape=False)


def activation_enum(case: Case, c: Check):
    for name, cls in case.get("enum").items():
        got = getattr(find("Activation"), name).get_activation_function()
        c.equal(name, got == find(cls.rsplit(".", 1)[1])(), True)
    for text, want in case.get("from_string").items():
        if isinstance(want, dict):
            c.raises(f"from_string({text!r})", lambda t=text: find("Activation").from_string(t), want)
        else:
            c.equal(f"from_string({text!r})", find("Activation").from_string(text) == getattr(find("Activation"), want), True)


def loss_of(case: Case, weights: bool):
    fields = json.loads(case.get("json"))
    if not weights:
        fields.pop("weights", None)
    return from_java(fields)


def known(got, want, mask):
    """Masks choose. DL4J multiplies NaN by 0, so its value says nothing where it is not finite and something is masked."""
    if mask is None or mask.all():
        return want
    masked = (mask == 0).any(axis=1, keepdims=True) if np.ndim(want) else True
    return np.where(masked & ~np.isfinite(want), got, want)


def losses(case: Case, c: Check):
    if "json" not in case.info:
        raise Intent("the case does not say which options the loss had")
    a = case.arrays
    for run in case.get("runs"):
        name = run["run"]
        loss = loss_of(case, run.get("weights", False))
        y, z = a[run.get("labels", "labels")], a[run.get("preoutput", "preoutput")]
        one_run(c, name, run, a, loss, y, z, a[run["mask"]] if run.get("mask") else None)


def one_run(c: Check, name, run, a, loss, y, z, mask):
    f = activation(run["activation"])

    def args():
        return y.copy(), z.copy(), f, None if mask is None else mask.copy()

    def close(what, got, want):
        c.close(f"{name} {what}", got, known(got, want, mask), rtol=tight(z))

    for average, key in ((True, "score_average"), (False, "score_sum")):
        if key in run:
            close(key, loss.compute_score(*args(), average), number(run[key]))
        elif key + "_error" in run:
            c.raises(f"{name} {key}", lambda av=average: loss.compute_score(*args(), av), run[key + "_error"])
    if f"{name}_score_array" in a:
        close("score array", loss.compute_score_array(*args()), a[f"{name}_score_array"])
    if f"{name}_gradient" in a:
        close("gradient", loss.compute_gradient(*args()), a[f"{name}_gradient"])
    elif "gradient_error" in run:
        c.raises(f"{name} gradient", lambda: loss.compute_gradient(*args()), run["gradient_error"])
    if "gradient_and_score_average" in run:
        close("gradient_and_score", loss.compute_gradient_and_score(*args(), True)[0], number(run["gradient_and_score_average"]))


def tight(z):
    return 1e-9 if z.dtype == np.float64 else 3e-5


def shapes(case: Case, c: Check):
    """Rank 2 as recorded, mismatches refused; other ranks are unspecified (networks reshape before the loss)."""
    if "json" not in case.info:
        raise Intent("the case does not say which options the loss had")
    a = case.arrays
    for run in case.get("runs"):
        y, z = a.get(run.get("labels", "")), a.get(run.get("preoutput", ""))
        if run["run"].startswith("shape_"):
            if y is not None and y.ndim == 2:
                one_run(c, run["run"], run, a, loss_of(case, False), y, z, None)
        elif run["run"].startswith("mismatch") and not stumbles(run.get("score_average_error", {"class": "NullPointer"})):
            n, k = z.shape
            y = np.ones((n, k + 1) if "columns" in run["run"] else (n - 1, k), z.dtype)
            f = activation(run["activation"])
            c.raises(run["run"], lambda y=y, z=z, f=f: loss_of(case, False).compute_score(y, z, f, None, True), run["score_average_error"])
    if not c.compared:
        raise Intent("only shapes whose result is unspecified")


def builder_errors(case: Case, c: Check):
    calls = {
        "new LossMSE(weights of shape [2,2])": lambda: find("LossMSE")(weights=np.ones((2, 2), np.float32)),
        "new LossMCXENT(-0.1,null)": lambda: find("LossMCXENT")(softmax_clip_eps=-0.1),
        "new LossMCXENT(0.6,null)": lambda: find("LossMCXENT")(softmax_clip_eps=0.6),
        "new LossBinaryXENT(-1)": lambda: find("LossBinaryXENT")(clip_eps=-1.0),
        "new LossBinaryXENT(0.7)": lambda: find("LossBinaryXENT")(clip_eps=0.7),
        "new LossFMeasure(0)": lambda: find("LossFMeasure")(beta=0.0),
    }
    for item in case.get("checks"):
        if item["call"] in calls and item.get("error"):
            c.raises(item["call"], calls[item["call"]], item["error"])
    for name, cls in case.get("enum").items():
        if isinstance(cls, str):
            got = getattr(find("LossFunction"), name).get_i_loss_function()
            c.equal(name, got == find(cls.rsplit(".", 1)[1])(), True)
