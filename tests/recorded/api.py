"""Objects of dl4py from recorded descriptions, and what is the same for both kinds of network."""

from __future__ import annotations

import json
import re

import numpy as np

from .core import Check, find, number, snake

NUMPY = {
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "HALF": "float16",
    "INT": "int32",
    "LONG": "int64",
    "BOOL": "bool",
    "BYTE": "int8",
    "SHORT": "int16",
    "UBYTE": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
}


def from_java(v):
    """DL4J's JSON as objects: {"@class": "x.Adam", "learningRate": 1} -> Adam(learning_rate=1)."""
    if isinstance(v, list):
        return [from_java(x) for x in v]
    if isinstance(v, dict):
        if {"dataType", "shape", "data"} <= set(v):
            return np.array(v["data"], NUMPY[v["dataType"]]).reshape(v["shape"])
        tag = "@class" if "@class" in v else "type" if "." in str(v.get("type")) else None
        if tag:
            name = re.split(r"[.$]", v[tag])[-1]
            return find(name)(**{snake(k): from_java(x) for k, x in v.items() if k != tag and x is not None})
        return {int(k) if k.isdigit() else k: from_java(x) for k, x in v.items()}
    return number(v) if v in ("NaN", "Infinity", "-Infinity") else v


def from_text(text: str, drop=()):
    """DL4J's toString as an object: "Adam(learningRate=0.1, epsilon=null)" -> Adam(learning_rate=0.1)."""
    name, inner = re.fullmatch(r"(\w+)\((.*)\)", text, re.S).groups()
    fields = {}
    for part in re.split(r", (?=\w+=)", inner) if inner else []:
        k, v = part.split("=", 1)
        if v == "null" or k in drop:
            continue
        fields[snake(k)] = v == "true" if v in ("true", "false") else float(v) if re.fullmatch(r"-?[\d.]+(E-?\d+)?|NaN", v) else v
    return find(name)(**fields)


def activation(name: str):
    return find("Activation").from_string(name).get_activation_function()


def same_json(c: Check, what: str, got: str, want: str):
    """Equal as JSON documents, whatever the order of keys."""
    c.compared += 1
    where = difference(json.loads(got), json.loads(want), "")
    if where:
        c.fail(what, where)


def difference(got, want, at: str) -> str:
    if isinstance(want, dict) and isinstance(got, dict):
        for k in [*want, *(k for k in got if k not in want)]:
            if k not in got or k not in want:
                return f"{at}/{k}: " + ("missing" if k not in got else "not in DL4J's file")
            found = difference(got[k], want[k], f"{at}/{k}")
            if found:
                return found
        return ""
    if isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            return f"{at}: {len(got)} entries, expected {len(want)}"
        return next((d for i, (a, b) in enumerate(zip(got, want)) if (d := difference(a, b, f"{at}/{i}"))), "")
    same = got == want or (
        isinstance(got, (int, float)) and isinstance(want, (int, float)) and not isinstance(want, bool) and float(got) == float(want)
    )
    return "" if same else f"{at}: got {str(got)[:60]!r}, expected {str(want)[:60]!r}"


class Net:
    """A network of either kind behind one face: lists of inputs, labels and masks."""

    def __init__(self, net, graph: bool):
        self.net, self.graph = net, graph

    @classmethod
    def from_json(cls, text: str, graph: bool | None = None, params=None) -> Net:
        graph = '"vertices"' in text if graph is None else graph
        conf = find("ComputationGraphConfiguration" if graph else "MultiLayerConfiguration").from_json(text)
        net = find("ComputationGraph" if graph else "MultiLayerNetwork")(conf)
        net.init()
        self = cls(net, graph)
        if params is not None and params.size:
            net.set_params(params)
        return self

    @classmethod
    def load(cls, path, graph: bool, load_updater=True) -> Net:
        return cls(find("ComputationGraph" if graph else "MultiLayerNetwork").load(str(path), load_updater), graph)

    def output(self, x, fm=None, lm=None) -> list:
        if self.graph:
            masks = {} if fm is None and lm is None else {"features_masks": fm, "labels_masks": lm}
            return list(self.net.output(*x, train=False, **masks))
        return [self.net.output(x[0], train=False, features_mask=one(fm), labels_mask=one(lm))]

    def feed_forward(self, x, fm=None, lm=None) -> dict:
        """Activations by name: layer index or vertex name."""
        if self.graph:
            masks = {} if fm is None and lm is None else {"features_masks": fm, "labels_masks": lm}
            return dict(self.net.feed_forward(*x, train=False, **masks))
        masks = {} if fm is None and lm is None else {"features_mask": one(fm), "labels_mask": one(lm)}
        return {str(i - 1): a for i, a in enumerate(self.net.feed_forward(x[0], train=False, **masks)) if i}

    def data(self, x, y, fm=None, lm=None):
        """A data set of copies: nothing that a network does to its input may reach the next call."""
        x, y, fm, lm = (v if v is None else [None if a is None else np.array(a) for a in v] for v in (x, y, fm, lm))
        if self.graph:
            return find("MultiDataSet")(x, y) if fm is None and lm is None else find("MultiDataSet")(x, y, fm, lm)
        return data_set(x[0], y[0], one(fm), one(lm))

    def fit(self, x, y, fm=None, lm=None):
        self.net.fit(self.data(x, y, fm, lm))

    def gradients(self, x, y, fm=None, lm=None):
        """compute_gradient_and_score: flat gradient; the score is then net.score()."""
        if self.graph:
            self.net.set_inputs(*x)
            self.net.set_labels(*y)
        else:
            self.net.set_input(x[0])
            self.net.set_labels(y[0])
        if fm is not None or lm is not None:
            if self.graph:
                self.net.set_layer_mask_arrays(fm, lm)
            else:
                self.net.set_layer_mask_arrays(one(fm), one(lm))
        self.net.compute_gradient_and_score()
        return self.net.gradient().gradient()

    def state(self):
        return self.net.get_updater().state_view()


def one(masks):
    return None if masks is None else masks[0]


def data_set(x, y, fm=None, lm=None):
    return find("DataSet")(x, y) if fm is None and lm is None else find("DataSet")(x, y, fm, lm)


def numbered(arrays: dict, prefix: str, sep="_") -> list | None:
    """arrays[prefix_0], arrays[prefix_1] … as a list; None when there is none."""
    numbers = [int(k[len(prefix + sep) :]) for k in arrays if re.fullmatch(re.escape(prefix + sep) + r"\d+", k)]
    return [arrays.get(f"{prefix}{sep}{i}") for i in range(max(numbers) + 1)] if numbers else None


def listener(events: list):
    """A training listener that writes down what it hears, as the recorder did."""
    base = find("BaseTrainingListener")

    def epoch(model):
        return model.get_epoch_count()

    class Heard(base):
        def iteration_done(self, model, iteration, epoch):
            events.append(("iterationDone", iteration, epoch, float(model.score())))

        def on_epoch_start(self, model):
            events.append(("onEpochStart", epoch(model)))

        def on_epoch_end(self, model):
            events.append(("onEpochEnd", epoch(model)))

        def on_forward_pass(self, model, activations):
            events.append(("onForwardPass", (type(activations).__name__ in ("dict",) and "map") or "list", len(activations)))

        def on_gradient_calculation(self, model):
            events.append(("onGradientCalculation",))

        def on_backward_pass(self, model):
            events.append(("onBackwardPass",))

    return Heard()


def same_events(c: Check, got: list, want: list[str]):
    parsed = []
    for text in want:
        if text.startswith("iterationDone"):
            i, e, s = re.fullmatch(r"iterationDone iteration=(\d+) epoch=(\d+) score=(.*)", text).groups()
            parsed.append(("iterationDone", int(i), int(e), float(s)))
        elif text.startswith("onEpoch"):
            parsed.append((text.split()[0], int(text.split("=")[1])))
        elif text.startswith("onForwardPass"):
            parsed.append(("onForwardPass", text.split()[1], int(text.split()[3])))
        else:
            parsed.append((text,))
    c.equal("event order", [g[0] for g in got], [p[0] for p in parsed])
    for i, (g, p) in enumerate(zip(got, parsed)):
        if g[0] == p[0] == "iterationDone":
            c.equal(f"event {i}", g[1:3], p[1:3])
            c.close(f"event {i} score", g[3], p[3], "params")
        elif g[0] == p[0]:
            c.equal(f"event {i}", g, p)
