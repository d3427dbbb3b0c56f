"""Early stopping and transfer learning (parts of area training).

Of transfer learning the resulting network is checked: frozen layers, regularization, steps.
"""

from __future__ import annotations

import re

import numpy as np

from .api import Net, data_set
from .core import Case, Check, Unsupported, find, number


def examples(a: dict, kind: str, k: int) -> list:
    out = []
    for i in range(k):
        x, y = a[f"{kind}_features_{i}"], a[f"{kind}_labels_{i}"]
        out += [data_set(x[j : j + 1], y[j : j + 1]) for j in range(len(x))]
    return out


def early_stopping(case: Case, c: Check):
    a, info, name = case.arrays, case.info, case.folder.name
    if name == "conditions_to_string":
        return strings(case, c)
    if "options" not in info or "params_0" not in a:
        raise Unsupported(name)
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"])
    rows = len(a["train_features_0"])

    def batches(kind, k):
        return find("ListDataSetIterator")(examples(a, kind, k), rows)

    b = find("EarlyStoppingConfiguration").Builder()
    b.epoch_termination_conditions(*[make(condition) for condition in info["options"]["epoch"]])
    if "every" in info["options"]:
        b.evaluate_every_n_epochs(info["options"]["every"])
    calculator = info["options"].get("score")
    if calculator:
        data = batches("train", 3) if calculator.get("data") == "train" else batches("test", 2)
        b.score_calculator(
            find(calculator["class"])(*[resolve(v) for v in calculator.get("before", [])], data, *calculator.get("after", []))
        )
    if "error" in info:
        return c.raises("fit", lambda: find("EarlyStoppingTrainer")(b.build(), net.net, batches("train", 3)).fit(), info["error"])
    result = find("EarlyStoppingTrainer")(b.build(), net.net, batches("train", 3)).fit()
    c.equal("termination reason", str(result.get_termination_reason()).split(".")[-1], info["termination_reason"])
    c.equal("best epoch", result.get_best_model_epoch(), info["best_model_epoch"])
    c.equal("epochs", result.get_total_epochs(), info["total_epochs"])
    got = {int(k): float(v) for k, v in dict(result.get_score_vs_epoch()).items()}
    want = {int(k): number(v) for k, v in info["score_vs_epoch"].items()}
    c.equal("epochs with a score", sorted(got), sorted(want))
    c.close("scores", np.array([got.get(k, np.nan) for k in sorted(want)]), np.array([want[k] for k in sorted(want)]), rtol=1e-4)
    c.close("final parameters", net.net.params(), a["params_final"], "params", shape=False)
    if "params_best" in a:
        c.close("best parameters", result.get_best_model().params(), a["params_best"], "params", shape=False)
    return None


def make(condition: list):
    return find(condition[0])(*condition[1:])


def resolve(v):
    """ "Evaluation.Metric.ACCURACY" as the value itself."""
    head, *rest = v.split(".")
    out = find(head)
    for part in rest:
        out = getattr(out, part)
    return out


def strings(case: Case, c: Check):
    for text in case.get("strings"):
        name, inner = re.fullmatch(r"(\w+)\((.*)\)", text).groups()
        if "unit=" in inner:
            continue
        args = [float(v.split("=")[-1]) for v in inner.split(", ")] if inner else []
        args = [int(v) if v == int(v) and name.startswith(("MaxEpochs", "ScoreImprovement")) and i == 0 else v for i, v in enumerate(args)]
        if name == "ScoreImprovementEpochTerminationCondition" and args[1] == 0:
            args = args[:1]
        c.text(text, str(find(name)(*args)), text)


def transfer_learning(case: Case, c: Check):
    a, info = case.arrays, case.info
    if not case.has("new_configuration.json") or "new_params" not in a:
        raise Unsupported(case.folder.name)
    net = Net.from_json(case.read("new_configuration.json"), params=a["new_params"])
    if "param_table" in info:
        table = net.net.param_table()
        c.equal("parameter keys", list(table), [p["key"] for p in info["param_table"]])
    if "num_params" in info:
        c.equal("number of parameters", int(net.net.num_params()), info["num_params"])
    x, y = [a["features"]], [a["labels"]]
    if "error" in info:
        return c.raises("output", lambda: net.output(x), info["error"])
    c.close("output", net.output(x)[0], a["new_output"])
    if case.has("summary.txt"):
        c.text("summary()", net.net.summary(), case.read("summary.txt"))
    for k in (1, 2, 3):
        net.fit(x, y)
        if f"score_{k}" in info:
            c.close(f"score of step {k}", net.net.score(), info[f"score_{k}"], "params")
        if f"params_after_{k}" in a:
            c.close(f"params_after_{k}", net.net.params(), a[f"params_after_{k}"], "params", shape=False)
    if "state_after_3" in a:
        c.close("state_after_3", net.state(), a["state_after_3"], "params", shape=False)
    return None
