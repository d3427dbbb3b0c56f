"""Area training: networks trained step by step, updaters, schedules, regularization, clipping, constraints, masks, truncated BPTT."""

from __future__ import annotations

import numpy as np

from . import losses, transfer
from .api import Net, data_set, from_java, from_text, listener, same_events, same_json
from .core import Case, Check, Intent, Unsupported, find, number, stumbles


def check(case: Case, c: Check):
    group = case.key.split("/")[1]
    name = case.folder.name
    special = SPECIAL.get(f"{group}/{name}") or GROUPS.get(group)
    if special:
        return special(case, c)
    if "steps" in case.info:
        return steps(case, c)
    if "score_after_each_epoch" in case.info:
        return epochs(case, c)
    raise Unsupported(f"group {group}")


def batch(a, k):
    return a[f"features_{k}"], a[f"labels_{k}"], a.get(f"features_mask_{k}"), a.get(f"labels_mask_{k}")


def as_lists(x, y, fm, lm):
    return [x], [y], None if fm is None and lm is None else [fm], None if fm is None and lm is None else [lm]


def steps(case: Case, c: Check):
    """Parameters, updater state, score after chosen steps; gradient at the start; output and score at the end."""
    a, info = case.arrays, case.info
    for key in ("gradient_error", "error"):
        if key in info and stumbles(info[key]):
            raise Intent(f"DL4J stumbles: {info[key]['class']}")
    if case.folder.name == "adagrad_step":
        raise Intent("DL4J's AdaGrad loses its schedule and gives NaN")
    data = [batch(a, k) for k in range(info["n_batches"])]
    text = case.read("configuration.json")
    net = Net.from_json(text, params=a["params_0"])
    c.equal("parameter keys", list(net.net.param_table()), [p["key"] for p in info["param_table"]])
    for p in info["param_table"]:
        c.equal(f"shape of {p['key']}", tuple(net.net.param_table()[p["key"]].shape), tuple(p["shape"]))
    if "gradient_0" in a:
        other = Net.from_json(text, params=a["params_0"])
        c.close("gradient_0", other.gradients(*as_lists(*data[0])), a["gradient_0"], "grad", shape=False)
        c.close("score_0", other.net.score(), info["score_0"], "score")
    last, it = f"params_{info['steps']}", info.get("iteration_count_after_each_step")
    if "error" in info:
        return c.raises("fit", lambda: net.fit(*as_lists(*data[0])), info["error"])
    for k in range(1, info["steps"] + 1):
        net.fit(*as_lists(*data[(k - 1) % len(data)]))
        c.close(f"score of step {k}", net.net.score(), info["scores"][k - 1], "params")
        if it:
            c.equal(f"iteration count after step {k}", net.net.get_iteration_count(), it[k - 1])
        if f"params_{k}" in a:
            c.close(f"params_{k}", net.net.params(), a[f"params_{k}"], "params", shape=False)
        if f"state_{k}" in a:
            c.close(f"state_{k}", net.state(), a[f"state_{k}"], "params", shape=False)
    at_end(case, c, net, data[0], "params")
    c.equal("last parameters recorded", last in a, True)


def at_end(case: Case, c: Check, net: Net, first, kind):
    a, info = case.arrays, case.info
    x, y, fm, lm = as_lists(*first)
    if "score_dataset_test_mode" in info:
        c.close("score(data, training=False)", net.net.score(net.data(x, y, fm, lm), False), info["score_dataset_test_mode"], kind)
    if "output_0" in a:
        c.close("output_0", net.output(x, fm, lm)[0], a["output_0"], kind)


def random_layers(case: Case, c: Check):
    """Dropout and weight noise draw from other generators in dl4py: only the test-mode results for given parameters are compared."""
    a = case.arrays
    if "bias" in case.folder.name:
        raise Intent("DL4J applies the noise to biases in test mode too")
    net = Net.from_json(case.read("configuration.json"), params=a[f"params_{case.get('steps')}"])
    at_end(case, c, net, batch(a, 0), "value")


def epochs(case: Case, c: Check):
    a, info = case.arrays, case.info
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"])
    data = [data_set(a[f"features_{k}"], a[f"labels_{k}"]) for k in range(3)]
    for e, score in enumerate(info["score_after_each_epoch"], 1):
        net.net.fit(find("ListDataSetIterator")(data, len(a["features_0"])))
        c.close(f"params_epoch_{e}", net.net.params(), a[f"params_epoch_{e}"], "params", shape=False)
        c.close(f"score after epoch {e}", net.net.score(), score, "params")
        c.close(
            f"learning rate after epoch {e}", net.net.get_learning_rate(0), info["get_learning_rate_after_each_epoch"][e - 1], rtol=1e-9
        )
    c.equal("iteration count", net.net.get_iteration_count(), info["iteration_count"])
    c.equal("epoch count", net.net.get_epoch_count(), info["epoch_count"])


def values_at(case: Case, c: Check):
    for s in case.get("schedules"):
        import json

        if s.get("error"):
            continue
        schedule = from_java(json.loads(s["json"]))
        c.close(
            s["name"], np.array([schedule.value_at(k, k // 4) for k in range(41)]), case.arrays[s["name"]], rtol=1e-12, elementwise=True
        )
        c.close(
            s["name"] + " by epoch",
            np.array([schedule.value_at(100, k) for k in range(41)]),
            case.arrays[s["name"] + "_epochs"],
            rtol=1e-12,
            elementwise=True,
        )


def set_learning_rate(case: Case, c: Check):
    a, info = case.arrays, case.info
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"])
    data = data_set(a["features_0"], a["labels_0"])
    schedule = find("ExponentialSchedule")(schedule_type="ITERATION", initial_value=0.2, gamma=0.5)
    before = {
        3: lambda: net.net.set_learning_rate(0.1),
        4: lambda: net.net.set_learning_rate(1, 0.3),
        6: lambda: net.net.set_learning_rate(schedule),
    }
    for k in range(1, 8):
        if k in before:
            before[k]()
            if k == 4:
                c.close("learning rate of layer 0", net.net.get_learning_rate(0), info["lr_layer0"], rtol=1e-12)
                c.close("learning rate of layer 1", net.net.get_learning_rate(1), info["lr_layer1"], rtol=1e-12)
        net.net.fit(data)
        c.close(f"params_{k}", net.net.params(), a[f"params_{k}"], "params", shape=False)
        if f"state_{k}" in a:
            c.close(f"state_{k}", net.state(), a[f"state_{k}"], "params", shape=False)


def updater_direct(case: Case, c: Check):
    """Updater rule on given gradients: instantiate(state, True).apply_updater(gradient, iteration, epoch) returns the update."""
    a, info = case.arrays, case.info
    if "error" in info and stumbles(info["error"]):
        raise Intent(f"DL4J stumbles: {info['error']['class']}")
    updater = from_text(info["updater"])
    size = a["gradient_0"].size
    c.equal("state size", int(updater.state_size(size)), info["state_size"])
    state = np.array(a.get("state_init", np.zeros((1, info["state_size"]), a["gradient_0"].dtype))) if info["state_size"] else None
    rule = updater.instantiate(state, True)
    for i in range(6):
        g = a[f"gradient_{i}"].copy()
        got = rule.apply_updater(g, i, 0)
        c.close(
            f"update_{i}",
            g if got is None else got,
            a[f"update_{i}"],
            rtol=1e-4 if g.dtype == np.float32 else 1e-9,
            shape=False,
            elementwise=True,
        )
        if state is not None and f"state_{i}" in a:
            c.close(
                f"state_{i}",
                state_of(rule, state),
                a[f"state_{i}"],
                rtol=1e-4 if g.dtype == np.float32 else 1e-9,
                shape=False,
                elementwise=True,
            )


def state_of(rule, state):
    return rule.state_view() if hasattr(rule, "state_view") else state


def updater_enum(case: Case, c: Check):
    text = case.get("to_string")
    name = text.split("(")[0]
    c.equal(f"defaults of {name}", find(name)() == from_text(text if "(" in text else text + "()"), True)
    c.equal("JSON", find("MultiLayerConfiguration").from_json(case.read("configuration.json")) is not None, True)
    same_json(
        c,
        "configuration.json",
        find("MultiLayerConfiguration").from_json(case.read("configuration.json")).to_json(),
        case.read("configuration.json"),
    )


def constraints_direct(case: Case, c: Check):
    name, a = case.folder.name, case.arrays
    constraint = from_text(case.get("constraint"))
    if not name.startswith("nonnegative"):
        constraint.set_dimensions([0] if "dim0" in name else [0, 1] if "dims01" in name else [1])
    for i in range(3):
        if f"out_{i}" in a:
            x = a[f"in_{i}"].copy()
            got = constraint.apply(x)
            c.close(f"out_{i}", x if got is None else got, a[f"out_{i}"])


def dropout_direct(case: Case, c: Check):
    raise Intent("dropout draws from dl4py's own counter-based generator")


def fit_variants(case: Case, c: Check):
    a = case.arrays
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"]).net
    x, y = a["features_0"], a["labels_0"]
    d = data_set(x, y)
    calls = [
        lambda: net.fit(d),
        lambda: net.fit(x, y),
        lambda: net.fit(x, y, None, None),
        lambda: net.fit(x, a["int_labels"]),
        lambda: net.fit(find("ExistingDataSetIterator")([d, d])),
        lambda: net.fit(find("MultiDataSet")([x], [y])),
    ]
    for k, (call, count) in enumerate(zip(calls, case.get("iteration/epoch")), 1):
        call()
        c.equal(count.split(":")[0] + " counts", f"{net.get_iteration_count()}/{net.get_epoch_count()}", count.split(": ")[1])
        c.close(f"params_{k}", net.params(), a[f"params_{k}"], "params", shape=False)


def iterator_epochs(case: Case, c: Check):
    a, events = case.arrays, []
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"])
    examples = [data_set(a["features"][i : i + 1], a["labels"][i : i + 1]) for i in range(len(a["features"]))]
    net.net.set_listeners(listener(events))
    net.net.fit(find("ListDataSetIterator")(examples, case.get("batch_size")), 3)
    same_events(c, events, case.get("events"))
    c.close("params_after", net.net.params(), a["params_after"], "params", shape=False)
    c.close("state_after", net.state(), a["state_after"], "params", shape=False)
    c.close("score", net.net.score(), case.get("score"), "params")
    c.equal("counts", (net.net.get_iteration_count(), net.net.get_epoch_count()), (case.get("iteration_count"), case.get("epoch_count")))


def resume(case: Case, c: Check):
    a = case.arrays
    for load_updater, key in ((True, "params_10_restored"), (False, "params_10_restored_without_updater")):
        net = Net.load(case.path("model.zip"), False, load_updater)
        c.bits("params_5", net.net.params(), a["params_5"])
        if load_updater:
            c.bits("state_5", net.state(), a["state_5"])
        for k in range(5, 10):
            net.fit([a[f"features_{k % 2}"]], [a[f"labels_{k % 2}"]])
        if load_updater:
            c.close("params_10", net.net.params(), a["params_10"], "params", shape=False)
            c.close("state_10", net.state(), a["state_10"], "params", shape=False)
        c.close(key, net.net.params(), a[key], "params", shape=False)
    c.equal("iteration count", net.net.get_iteration_count(), 10)


def score_examples(case: Case, c: Check):
    a, info = case.arrays, case.info
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"]).net
    d = data_set(a["features_0"], a["labels_0"])
    c.close("score", net.score(d), info["score"], "score")
    c.close("score(training)", net.score(d, True), info["score_training"], "score")
    c.close("score_examples with regularization", net.score_examples(d, True), a["score_examples_with_reg"], shape=False)
    c.close("score_examples without", net.score_examples(d, False), a["score_examples_no_reg"], shape=False)
    c.close("f1_score", net.f1_score(a["features_0"], a["labels_0"]), info["f1Score"], rtol=1e-9)
    c.close("calc_regularization_score", net.calc_regularization_score(True), info["calcRegularizationScore"], "score")
    c.equal("predict", [int(v) for v in net.predict(a["features_0"])], a["predict"].tolist())


def graph(case: Case, c: Check):
    a, info = case.arrays, case.info
    if "mask" in a or "features" in a:
        return graph_masks(case, c)
    net = Net.from_json(case.read("configuration.json"), True, a["params_0"])
    x, y = [a["features_a"], a["features_b"]], [a["labels_o1"], a["labels_o2"]]
    c.equal("parameter keys", list(net.net.param_table()), [p["key"] for p in info["param_table"]])
    c.close("score before", net.net.score(net.data(x, y), False), info["score_before"], "score")
    events = []
    net.net.set_listeners(listener(events))
    for k in range(1, 11):
        net.fit(x, y)
        c.close(f"score of step {k}", net.net.score(), info["scores"][k - 1], "params")
        if k == 1:
            same_events(c, list(events), info["events_first_fit"])
        if f"params_{k}" in a:
            c.close(f"params_{k}", net.net.params(), a[f"params_{k}"], "params", shape=False)
            c.close(f"state_{k}", net.state(), a[f"state_{k}"], "params", shape=False)
    c.close("score_examples", net.net.score_examples(net.data(x, y), True), a["score_examples"], "params", shape=False)
    c.close("score after", net.net.score(net.data(x, y), False), info["score_after"], "params")
    for got, key in zip(net.output(x), ("output_o1", "output_o2")):
        c.close(key, got, a[key], "params")


def graph_masks(case: Case, c: Check):
    a, info, which = case.arrays, case.info, case.folder.name.rsplit("_", 1)[1]
    if "no_input_types" in case.folder.name and "error" in info:
        raise Intent("DL4J needs input types here")
    net = Net.from_json(case.read("configuration.json"), True, a["params_0"])
    fm = [a["mask"]] if which in ("both", "features") else None
    lm = [a["mask"]] if which in ("both", "labels") else None
    x, y = [a["features"]], [a["labels"]]
    c.close("score before (test)", net.net.score(net.data(x, y, fm, lm), False), info["score_before_test"], "score")
    c.close("score before (training)", net.net.score(net.data(x, y, fm, lm), True), info["score_before_train"], "score")
    for k, score in enumerate(info["scores"], 1):
        net.fit(x, y, fm, lm)
        c.close(f"score of step {k}", net.net.score(), score, "params")
        if f"params_{k}" in a:
            c.close(f"params_{k}", net.net.params(), a[f"params_{k}"], "params", shape=False)
    c.close("output after", net.output(x)[0], a["output_after"], "params")


def per_piece_listener(case: Case, c: Check):
    a, events = case.arrays, []
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"])
    net.net.set_listeners(listener(events))
    net.fit([a["features_0"]], [a["labels_0"]])
    c.close("params_1", net.net.params(), a["params_1"], "params", shape=False)
    c.close("state_1", net.state(), a["state_1"], "params", shape=False)
    net.fit([a["features_0"]], [a["labels_0"]])
    same_events(c, events, case.get("events"))
    c.close("params_2", net.net.params(), a["params_2"], "params", shape=False)
    c.close("score", net.net.score(), case.get("score"), "params")
    c.equal("iteration count", net.net.get_iteration_count(), case.get("iteration_count"))


def pretrain(case: Case, c: Check):
    a = case.arrays
    net = Net.from_json(case.read("configuration.json"), params=a["params_0"]).net
    if "params_pretrain_1" not in a:
        raise Intent("draws from dl4py's own generator")
    net.pretrain_layer(0, a["features_0"])
    c.close("params_pretrain_1", net.params(), a["params_pretrain_1"], "params", shape=False)
    data = [data_set(a[f"features_{k}"], a[f"labels_{k}"]) for k in range(2)]
    net.pretrain_layer(0, find("ExistingDataSetIterator")(data), 2)
    c.close("params_pretrain_epochs2", net.params(), a["params_pretrain_epochs2"], "params", shape=False)
    net.fit(data[0])
    c.close("params_fit", net.params(), a["params_fit"], "params", shape=False)
    c.close("score_fit", net.score(), number(case.get("score_fit")), "params")


GROUPS = {
    "activations": losses.activations,
    "losses": losses.losses,
    "losses_extreme": losses.losses,
    "losses_shapes": losses.shapes,
    "random_layers": random_layers,
    "updater_direct": updater_direct,
    "updater_enum": updater_enum,
    "constraints_direct": constraints_direct,
    "dropout_direct": dropout_direct,
    "pretrain": pretrain,
    "graph": graph,
    "early_stopping": transfer.early_stopping,
    "transfer_learning": transfer.transfer_learning,
}
SPECIAL = {
    "fit/fit_variants": fit_variants,
    "fit/iterator_epochs": iterator_epochs,
    "fit/resume": resume,
    "fit/score_examples": score_examples,
    "schedules/value_at_iteration": values_at,
    "schedules/value_at_epoch": values_at,
    "schedules/set_learning_rate_runtime": set_learning_rate,
    "tbptt/per_piece_listener": per_piece_listener,
    "losses/builder_errors": losses.builder_errors,
    "activations/enum": losses.activation_enum,
    "activations/prelu_float32": losses.prelu,
}
