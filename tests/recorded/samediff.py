"""Area samediff: graphs trained step by step, files of every op family, files written by others."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import numpy as np

from .core import Case, Check, Intent, Unsupported, find, stumbles


def check(case: Case, c: Check):
    kind = case.key.split("/")[1]
    if kind == "train":
        return train(case, c)
    if kind == "files":
        return file(case, c)
    if kind == "written":
        return written(case, c)
    raise Unsupported(kind)


def part(a: dict, prefix: str) -> dict:
    return {k[len(prefix) :]: v for k, v in a.items() if k.startswith(prefix)}


def load(case: Case, updater=True):
    return find("SameDiff").load(str(case.path("graph.fb")), updater)


def array(sd, name):
    return sd.get_variable(name).get_arr()


def batch(case: Case, k: int):
    values, info = part(case.arrays, f"batch{k}/"), case.info
    masks = json_config(case)

    def pick(names):
        return [values[n] for n in names or [] if n in values] or None

    return find("MultiDataSet")(
        pick(info["feature_placeholders"]),
        pick(info.get("label_placeholders")),
        pick(masks.get("dataSetFeatureMaskMapping")),
        pick(masks.get("dataSetLabelMaskMapping")),
    )


def json_config(case: Case) -> dict:
    return case.get("training_config_json") or {}


def train(case: Case, c: Check):
    a, info = case.arrays, case.info
    if "error" in info and stumbles(info["error"]) and "grad0" not in "".join(a):
        raise Intent(f"DL4J stumbles: {info['error']['class']}")
    sd = prepared(case)
    for name, want in part(a, "init/").items():
        c.bits(f"initial {name}", array(sd, name), want)
    feed = part(a, "batch0/")
    c.equal("loss variables", list(sd.get_loss_variables()), info["loss_variables_before_fit"])
    outputs = part(a, "out0/")
    if outputs:
        got = sd.output(feed, *outputs)
        for name, want in outputs.items():
            c.close(f"output {name}", got[name], want)
    gradients = part(a, "grad0/")
    if gradients:
        got = sd.calculate_gradients(feed, *gradients)
        for name, want in gradients.items():
            c.close(f"gradient {name}", got[name], want, "grad")
    if "error" in info:
        return None
    fits(case, c, sd)
    epochs(case, c)
    return None


def prepared(case: Case):
    sd = load(case)
    sd.set_training_config(find("TrainingConfig").from_json(json.dumps(json_config(case))))
    return sd


def fits(case: Case, c: Check, sd):
    a, info = case.arrays, case.info
    losses = info["loss_variables_before_fit"]
    for k in range(max(info["snapshots"])):
        b = k % info["batches"]
        if losses:
            now = sd.output(part(a, f"batch{b}/"), *losses)
            for j, name in enumerate(losses):
                c.close(
                    f"{name} before step {k + 1}",
                    float(np.sum(np.asarray(now[name], np.float64))),
                    info["loss_forward_per_step"][k][j],
                    "params",
                )
        sd.fit(batch(case, b))
        for name, want in part(a, f"var{k + 1}/").items():
            c.close(f"{name} after step {k + 1}", array(sd, name), want, "params")
        for name, want in part(a, f"state{k + 1}/").items():
            variable, state = name.rsplit("/", 1)
            c.close(
                f"updater state {name} after step {k + 1}", sd.get_updater_map()[variable].get_state()[state], want, "params", shape=False
            )
    config = sd.get_training_config()
    c.equal("iteration count", config.get_iteration_count(), info["iteration_count_after"])
    c.equal("epoch count", config.get_epoch_count(), info["epoch_count_after"])
    c.close("regularization score", sd.calc_regularization_score(), info["regularization_score_after"], "params")
    outputs = part(a, "outN/")
    if outputs:
        got = sd.output(part(a, "batch0/"), *outputs)
        for name, want in outputs.items():
            c.close(f"output {name} after training", got[name], want, "params")


def epochs(case: Case, c: Check):
    want = part(case.arrays, "epoch/var/")
    if not want or "error" in case.get("two_epochs", {}):
        return
    sd = prepared(case)
    sd.fit([batch(case, k) for k in range(case.get("batches"))], 2)
    for name, w in want.items():
        c.close(f"{name} after 2 epochs", array(sd, name), w, "params")
    c.equal(
        "counts after 2 epochs",
        (sd.get_training_config().get_iteration_count(), sd.get_training_config().get_epoch_count()),
        (case.get("two_epochs")["iteration_count"], case.get("two_epochs")["epoch_count"]),
    )


RANDOM = ("op_random", "op_dropout")


def file(case: Case, c: Check):
    """Load, run, save, load again, run: same values both times."""
    info, a = case.info, case.arrays
    if "build_error" in info:
        raise Intent("DL4J cannot build the graph")
    sd = load(case)
    c.equal("loads", sd is not None, True)
    feed, outputs = part(a, "in/"), part(a, "out/")
    if outputs and case.folder.name not in RANDOM:
        compare(c, "", sd, feed, outputs)
    if case.folder.name in RANDOM and outputs:
        for name, got in sd.output(feed, *outputs).items():
            c.equal(f"shape of {name}", tuple(np.shape(got)), outputs[name].shape)
    with tempfile.TemporaryDirectory() as folder:
        copy = str(Path(folder) / "graph.fb")
        sd.save(copy, bool(info.get("saved_with_updater_state")))
        again = find("SameDiff").load(copy, True)
        c.equal("variables after save and load", sorted(v.name() for v in again.variables()), sorted(v.name() for v in sd.variables()))
        if outputs and case.folder.name not in RANDOM:
            compare(c, "after save and load: ", again, feed, outputs)


def compare(c: Check, what: str, sd, feed: dict, outputs: dict, exact=True):
    got = sd.output({k: v.copy() for k, v in feed.items()}, *outputs)
    for name, want in outputs.items():
        if name.startswith("batched_gemm"):
            continue  # zeros in DL4J, whatever goes in
        if want.dtype.kind in "USO":
            c.equal(what + name, [words(s) for s in np.asarray(got[name]).ravel()], [words(s) for s in want.ravel()])
        else:
            c.close(what + name, got[name], want, rtol=1e-9 if exact and want.dtype == np.float64 else 2e-5, dtype=exact)


def words(v) -> str:
    return v.decode() if isinstance(v, bytes) else str(v)


def written(case: Case, c: Check):
    """Files with the minimal field set."""
    info, a = case.info, case.arrays
    if info.get("expect_error"):
        return c.raises("load", lambda: load(case), info["error"])
    sd = load(case, bool(info.get("loaded_with_updater_state")))
    outputs = part(a, "out0/")
    feed = part(a, "batch0/") or part(a, "in/")
    if outputs:
        if not feed and any(v.is_place_holder() for v in sd.variables()):
            partner = partner_of(case)
            feed = part(partner.arrays, "batch0/") if partner else {}
        if feed or not any(v.is_place_holder() for v in sd.variables()):
            compare(c, "", sd, feed, outputs, exact=False)
    c.equal("loads", sd is not None, True)
    steps, partner = info.get("train_steps_after_load") or 0, partner_of(case)
    if steps and partner is not None and part(a, "trained/"):
        if sd.get_training_config() is None:
            sd.set_training_config(find("TrainingConfig").from_json(json.dumps(json_config(partner))))
        start = resume_step(case)
        for k in range(start, start + steps):
            sd.fit(batch(partner, k % partner.get("batches")))
        for name, want in part(a, "trained/").items():
            c.close(f"{name} after {steps} steps", array(sd, name), want, "params")
    return None


def resume_step(case: Case) -> int:
    found = re.search(r"_resume(\d+)", case.folder.name)
    return int(found.group(1)) if found else 0


def partner_of(case: Case) -> Case | None:
    """The train case with the same graph."""
    name = case.folder.name.rsplit("_resume", 1)[0]
    for n in (name, case.get("train_case") or name):
        f = case.folder.parent.parent / "train" / n
        if (f / "case.json").exists():
            return Case(f, case.area, json.loads((f / "case.json").read_text()))
    return None
