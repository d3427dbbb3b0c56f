"""Area init: equal seed, equal initial parameters, bit for bit."""

from __future__ import annotations

import json

import numpy as np

from .api import Net, data_set
from .core import Case, Check, Intent, Unsupported, drawn_close, find


def check(case: Case, c: Check):
    name = case.folder.name
    if name.startswith(("net_", "double_")):
        return networks(case, c)
    if name.startswith("shuffle_"):
        return shuffle(case, c)
    if name.startswith("rng_"):
        raise Intent("bare streams are looked at in tests/samediff/initializers; the net_* cases show their effect")
    if name == "seed_semantics":
        return semantics(case, c)
    if name == "weight_init_embedding":
        return embedding(case, c)
    raise Unsupported(name)


def with_init(text: str, init: dict | None, seed: int) -> str:
    """The configuration with another seed and, where the network-wide initialiser stands, another initialiser."""
    doc = json.loads(text)
    common = first_init(doc)

    def change(v):
        if isinstance(v, dict):
            return {
                k: seed if k == "seed" else init if init is not None and k.startswith("weightInitFn") and x == common else change(x)
                for k, x in v.items()
            }
        return [change(x) for x in v] if isinstance(v, list) else v

    return json.dumps(change(doc))


def first_init(v):
    if isinstance(v, dict):
        for k, x in v.items():
            if k == "weightInitFn" and x:
                return x
            found = first_init(x)
            if found:
                return found
    if isinstance(v, list):
        return next((f for x in v if (f := first_init(x))), None)
    return None


def networks(case: Case, c: Check):
    text = case.read("configuration.json")
    inits = {i["name"]: json.loads(i["json"]) for i in case.get("inits", []) if not i["json"].startswith("error")}
    errors = {i["name"]: i["error"] for i in case.get("inits", []) if "error" in i}
    if not inits:
        from_class = {
            "xavier": "WeightInitXavier",
            "relu_uniform": "WeightInitReluUniform",
            "var_scaling_normal_fan_in": "WeightInitVarScalingNormalFanIn",
            "normal": "WeightInitNormal",
        }
        inits = {k: {"@class": f"org.deeplearning4j.nn.weights.{v}"} for k, v in from_class.items()}
    for key, want in case.arrays.items():
        name, seed = key.split("__")
        if name in inits:
            drawn(c, key, Net.from_json(with_init(text, inits[name], int(seed))).net, want, inits[name])
    for name, error in errors.items():
        if name in inits and not any(k.startswith(name + "__") for k in case.arrays):
            c.raises(name, lambda n=name: Net.from_json(with_init(text, inits[n], case.get("seeds")[0])), error)


def drawn(c: Check, what: str, net, want, init: dict):
    """All to a few 1e-6 of the deviation (native builds of DL4J differ in the last digits), orthogonal ones by their norm."""
    got, text = np.asarray(net.params()), json.dumps(init)
    if "Orthogonal" in text:
        c.close(f"{what}: norm", float(np.linalg.norm(got.astype(np.float64))), float(np.linalg.norm(want.astype(np.float64))), rtol=1e-4)
    else:
        drawn_close(c, what, got, want)


def shuffle(case: Case, c: Check):
    for n in sorted({int(k.rsplit("_", 1)[1]) for k in case.arrays if k.startswith("dataset_shuffle_features")}):
        d = data_set(np.arange(2 * n, dtype=np.float32).reshape(n, 2), np.arange(n, dtype=np.float32).reshape(n, 1))
        d.shuffle(case.get("seed"))
        c.close(f"features of {n}", d.get_features(), case.arrays[f"dataset_shuffle_features_{n}"])
        c.close(f"labels of {n}", d.get_labels(), case.arrays[f"dataset_shuffle_labels_{n}"])


def semantics(case: Case, c: Check):
    a = case.arrays
    first, second = (Net.from_json(case.read("configuration.json")).net for _ in range(2))
    drawn_close(c, "first network", first.params(), a["first"])
    drawn_close(c, "second network", second.params(), a["first"])
    first.init()
    drawn_close(c, "init() again", first.params(), a["first"])
    graph = Net.from_json(case.read("graph_configuration.json"), True).net
    c.equal("order of the graph's parameters", list(graph.param_table()), case.get("graph_param_order"))
    drawn_close(c, "graph", graph.params(), a["graph_params"])


def embedding(case: Case, c: Check):
    w = case.arrays["vectors"]
    layer = (
        find("EmbeddingSequenceLayer")
        .Builder()
        .weight_init(find("ArrayEmbeddingInitializer")(w))
        .n_in(w.shape[0])
        .n_out(w.shape[1])
        .build()
    )
    out = find("RnnOutputLayer").Builder().n_in(w.shape[1]).n_out(2).activation(find("Activation").SOFTMAX).build()
    conf = find("NeuralNetConfiguration").Builder().seed(1).list().layer(layer).layer(out).build()
    net = find("MultiLayerNetwork")(conf)
    net.init()
    c.bits("0_W", net.param_table()["0_W"], case.arrays["0_W"])
