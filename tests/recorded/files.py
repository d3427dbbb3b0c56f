"""Areas files, real and bad: DL4J's own model files, ND4J arrays, SameDiff files from elsewhere, damaged files."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from . import custom
from .api import NUMPY, Net, data_set, numbered, same_json
from .core import Case, Check, Intent, Unsupported, find


def check(case: Case, c: Check):
    if case.folder.name == "arrays":
        return nd4j_arrays(case, c)
    if "kind" in case.info:
        return model(case, c)
    parts = {"normalizers": normalizers, "datasets": datasets, "compressed": compressed}.get(case.folder.name)
    if parts is None:
        raise Unsupported(case.folder.name)
    for item in case.get("cases"):
        if item.get("file") and not item.get("error"):
            parts(case, c, item, {k[len(item["name"]) + 1 :]: v for k, v in case.arrays.items() if k.startswith(item["name"] + ".")})
    return None


def inputs(case: Case, prefix: str):
    return numbered(case.arrays, prefix, "")


def model(case: Case, c: Check):
    """Load, compare parameters, updater state, outputs; one more step; save, and compare what was written."""
    a, info = case.arrays, case.info
    custom.register(case.get("custom_layer"))
    graph = info["kind"] == "ComputationGraph"
    half = info.get("data_type") in ("HALF", "float16")
    path = case.path(info.get("file", "model.zip"))
    net = Net.load(path, graph, True)
    if "num_params" in info:
        c.equal("number of parameters", int(net.net.num_params()), info["num_params"])
    if "params" in a:
        c.bits("params", net.net.params(), a["params"])
    if "updater" in a:
        c.bits("updater state", net.state(), a["updater"])
    for row in info.get("param_table", info.get("table", [])) or []:
        key = row.get("name", row.get("key"))
        table = net.net.param_table()
        c.equal(
            f"shape of {key} (without 1)", key in table and [d for d in table[key].shape if d != 1], [d for d in row["shape"] if d != 1]
        )
    counters = info.get("counters", {})
    if "iteration" in counters:
        c.equal("counters", (net.net.get_iteration_count(), net.net.get_epoch_count()), (counters["iteration"], counters["epoch"]))
    if case.has("configuration.json"):
        got = (net.net.get_configuration() if graph else net.net.get_layer_wise_configurations()).to_json()
        if case.folder.name.startswith("written_"):  # DL4J's own text
            c.text("configuration", got, case.read("configuration.json"))
        else:
            same_json(c, "configuration", got, case.read("configuration.json"))
    if "restored_iteration" in counters:
        c.equal(
            "counters",
            (net.net.get_iteration_count(), net.net.get_epoch_count()),
            (counters["restored_iteration"], counters["restored_epoch"]),
        )
    x, y = inputs(case, "x"), inputs(case, "y")
    fm, lm = inputs(case, "xm"), inputs(case, "ym")
    for i, out in enumerate(net.output(x)):
        c.close(f"out{i}", out, a[f"out{i}"])
    if y and info.get("score") is not None:
        c.close("score", net.net.score(net.data(x, y, fm, lm), False), info["score"], rtol=1e-2 if half else 2e-5)
    written(case, c, net, path, graph)
    if "after_params" in a and y and not random_training(path):
        net.fit(x, y, fm, lm)
        c.close("parameters after a step", net.net.params(), a.get("after_params_true", a["after_params"]), "params", shape=False)
        state = a.get("after_updater_true", a.get("after_updater"))
        if state is not None:
            c.close("updater state after a step", net.state(), state, "params", shape=False)
        if info.get("fit_score") is not None:
            c.close("score of the step", net.net.score(), info["fit_score"], rtol=1e-2 if half else 1e-4)
    if "normIn" in a:
        normalizer = find("ModelSerializer").restore_normalizer_from_file(str(path))
        labels = np.zeros((len(a["normIn"]), a["y0"].shape[1]), np.float32)  # some transform these too
        d = data_set(a["normIn"].copy(), labels)
        normalizer.transform(d)
        c.close("normalizer", d.get_features(), a["normed"])


def random_training(path: Path) -> bool:
    """Dropout or weight noise in the configuration: a step draws random numbers."""
    with zipfile.ZipFile(path) as z:
        text = z.read("configuration.json").decode("utf-8", "replace")
    old = [float(v) for v in re.findall(r'"dropOut"\s*:\s*([\d.]+)', text)]
    return any(0 < v < 1 for v in old) or bool(re.search(r'"(idropout|iDropout|weightNoise)"\s*:\s*\{|"useDropConnect"\s*:\s*true', text))


def written(case: Case, c: Check, net: Net, path: Path, graph: bool):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "model.zip"
        net.net.save(str(copy), True)
        with zipfile.ZipFile(copy) as new, zipfile.ZipFile(path) as old:
            need = {"configuration.json"} | ({"coefficients.bin"} if case.get("num_params") else set())
            c.equal("entries", need <= set(new.namelist()), True)
            if not case.has("configuration.json"):
                same_json(c, "configuration.json", new.read("configuration.json").decode(), old.read("configuration.json").decode())
        again = Net.load(copy, graph, True)
        c.bits("params after save and load", again.net.params(), np.asarray(net.net.params()))
        c.bits("updater state after save and load", again.state(), np.asarray(net.state()))


def normalizers(case: Case, c: Check, item: dict, a: dict):
    """Files of the default serializer: x and y through them."""
    n = find("NormalizerSerializer").get_default().restore(str(case.path(item["file"])))
    xs, ys, name = numbered(a, "x", ""), numbered(a, "y", ""), item["name"]
    if xs is None:
        d = data_set(a["x"].copy(), a["y"].copy() if "y" in a else np.zeros((len(a["x"]), 1), a["x"].dtype))
        n.transform(d)
        c.close(f"{name}: x_out", d.get_features(), a["x_out"], rtol=2e-5)
        if "x_back" in a:
            n.revert(d)
            c.close(f"{name}: x_back", d.get_features(), a["x_back"], rtol=2e-5)
        return
    d = find("MultiDataSet")([v.copy() for v in xs], [v.copy() for v in ys])
    n.transform(d)
    for i in range(len(xs)):
        if f"x{i}_out" in a:
            c.close(f"{name}: x{i}_out", d.get_features(i), a[f"x{i}_out"], rtol=2e-5)


def datasets(case: Case, c: Check, item: dict, a: dict):
    name, many = item["name"], item["file"].endswith(".multidataset")
    d = find("MultiDataSet" if many else "DataSet")()
    d.load(str(case.path(item["file"])))
    for key, want in a.items():
        part = key.rstrip("0123456789")
        getter = getattr(
            d,
            {
                "features": "get_features",
                "labels": "get_labels",
                "features_mask": "get_features_mask_array",
                "labels_mask": "get_labels_mask_array",
            }[part],
        )
        c.close(f"{name}: {key}", getter(int(key[len(part) :])) if many else getter(), want, rtol=0.0)


def compressed(case: Case, c: Check, item: dict, a: dict):
    if "read" in a:
        c.close(item["name"], find("Nd4j").read_binary(str(case.path(item["file"]))), a["values"], rtol=0.0)


def nd4j_arrays(case: Case, c: Check):
    nd4j = find("Nd4j")
    for item in case.get("arrays"):
        what = item["file"]
        if what == "empty_0.bin" or item.get("values_c_order") is None:  # no bytes at all, or not read back by DL4J
            continue
        got = nd4j.read_binary(str(case.path(item["file"])))
        if item["type"] == "UTF8":
            if item.get("values_c_order"):
                c.equal(what, [str(s) for s in np.asarray(got).ravel()], item["values_c_order"])
            continue
        c.equal(f"shape of {what}", tuple(got.shape) if got.size else (), tuple(item["shape"]) if 0 not in item["shape"] else ())
        if item["type"] in NUMPY:
            c.equal(f"type of {what}", str(got.dtype), NUMPY[item["type"]])
        want = np.array([float(v) for v in item["values_c_order"]]).reshape(-1)
        c.close(what, np.asarray(got, np.float64).ravel(), want, rtol=0.0 if item["type"] != "BFLOAT16" else 1e-2)


def real(case: Case, c: Check):
    kind = case.key.split("/")[1]
    if kind == "models":
        return real_model(case, c)
    if kind == "samediff":
        return real_samediff(case, c)
    if kind == "tf_graphs":
        return tensorflow(case, c)
    if kind == "keras":
        return keras(case, c)
    if kind == "onnx":
        return onnx(case, c)
    raise Unsupported(kind)


def real_model(case: Case, c: Check):
    a, info = case.arrays, case.info
    if info.get("loads_with_updater") is False and info.get("loads_without_updater") is False:
        raise Intent("DL4J 1.0.0-M2.1 does not load it")
    if not custom.known(info.get("custom_layer")):
        raise Unsupported("a user layer of the old kind: write it and load the file by hand")
    custom.register(info.get("custom_layer"))
    graph, half = info["kind"] == "ComputationGraph", info.get("data_type") == "float16"
    updater = info.get("loads_with_updater") is not False
    net = Net.load(case.path(info["file"]), graph, updater)
    c.equal("number of parameters", int(net.net.num_params()), info["num_params"])
    if "updater_length" in info and updater:
        c.equal("length of the updater state", int(np.size(net.state())), info["updater_length"])
    if "params" in a:
        c.bits("params", net.net.params(), a["params"])
    x = [a["r"]] if "r" in a else numbered(a, "r")
    if x and "r_out" in a:
        c.close("output for r", net.output(x)[0], a["r_out"], "value")
    for i in range(9):
        if f"r_out{i}" in a and x:
            c.close(f"output {i} for r", net.output(x)[i], a[f"r_out{i}"], "value")
    if "x" in a and "y_m21" in a:
        c.close("output for x", net.output([a["x"]])[0], a["y_m21"], "value")
    elif "x" in a and "y_stored" in a and info.get("m21_vs_stored_max_diff", 1) < 1e-5:
        c.close("output for x", net.output([a["x"]])[0], a["y_stored"], rtol=1e-2 if half else 1e-4)
    if "labels" in a and "after_params" in a and not random_training(case.path(info["file"])):
        net.fit(x, [a["labels"]])
        c.close("parameters after a step", net.net.params(), a["after_params"], "params", shape=False)
        if "after_updater" in a:
            c.close("updater state after a step", net.state(), a["after_updater"], "params", shape=False)
        if info.get("fit_score") is not None:
            c.close("score of the step", net.net.score(), info["fit_score"], rtol=1e-2 if half else 1e-4)


def real_samediff(case: Case, c: Check):
    if not case.get("loads", True):
        raise Intent("DL4J 1.0.0-M2.1 does not load it")
    a = case.arrays
    sd = find("SameDiff").load(str(case.path("model.zip")), True)
    names = case.get("variables")
    if names:
        c.equal("variables", sorted(v.name() for v in sd.variables()), sorted(names))
    if "r_out" in a:
        c.close("output for r", sd.output_single({"in": a["r"]}, "out"), a["r_out"])


def tensorflow(case: Case, c: Check):
    outcome = case.get("dl4j_import", {}).get("result")
    if case.get("random") or (
        any(op.startswith(("Random", "Multinomial", "StatelessRandom", "TruncatedNormal")) for op, _ in case.get("ops"))
        and outcome != "equal"
    ):
        raise Intent("random numbers")
    a = case.arrays
    sd = find("SameDiff").import_frozen_tf(str(case.path(case.get("file"))))
    feed = {i["tensor"].split(":")[0]: a[i["key"]] for i in case.get("inputs")}
    for out in case.get("outputs"):
        name, port = out["tensor"].split(":")
        if out["key"] in a:
            c.close(
                out["tensor"],
                sd.output_single(feed, name if port == "0" else f"{name}:{port}"),
                a[out["key"]],
                rtol=1e-4,
                dtype=False,
                shape=False,
            )


def keras(case: Case, c: Check):
    a = case.arrays
    graph = case.get("dl4j_import").get("kind", "MultiLayerNetwork") == "ComputationGraph"
    importer = find("KerasModelImport")
    load = importer.import_keras_model_and_weights if graph else importer.import_keras_sequential_model_and_weights
    net = Net(load(str(case.path(case.get("file")))), graph)
    if case.get("dl4j_import").get("layout", "same") != "same":
        raise Intent("the arrays of Keras and DL4J have different layouts here")
    got = net.output([a[f"input.{n}"] for n in case.get("inputs")])
    for n, out in zip(case.get("outputs"), got):
        if f"prediction.{n}" in a:
            c.close(n, out, a[f"prediction.{n}"], rtol=1e-4, dtype=False)


def onnx(case: Case, c: Check):
    if not case.arrays:
        raise Intent("no expected values")
    sd = find("OnnxFrameworkImporter")().run_import(str(case.path(case.get("file"))))
    a = case.arrays
    got = sd.output({k[3:]: v for k, v in a.items() if k.startswith("in.")}, *case.get("outputs"))
    for i, name in enumerate(case.get("outputs")):
        c.close(name, got[name], a[f"out.{name}" if f"out.{name}" in a else f"out{i}"], rtol=1e-4)


def bad(case: Case, c: Check):
    """Damaged model files: a typed error, no hang, nothing written; 'ok' ones load."""
    import warnings

    info, path = case.info, case.folder / case.info["file"]
    load = find("MultiLayerNetwork").load

    def read():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load(str(path), True)

    before = sorted(p.name for p in case.folder.parent.iterdir())
    if info["expect"] in ("ok", "ok_warning"):
        c.equal("loads", read() is not None, True)
    elif info["expect"] == "unsupported_normalizer":
        c.equal("loads", read() is not None, True)
        c.raises("normalizer", lambda: find("ModelSerializer").restore_normalizer_from_file(str(path)))
    else:
        c.raises(f"{info['expect']} ({info['what']})", read)
    c.equal("nothing written outside", sorted(p.name for p in case.folder.parent.iterdir()), before)
