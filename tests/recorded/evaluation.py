"""Area evaluation: metrics, stats() text, curves, JSON of the evaluation classes; then normalizers, iterators, data sets (data.py)."""

from __future__ import annotations

import json
import re

import numpy as np

from . import data
from .api import Net, data_set, same_json
from .core import Case, Check, Intent, Unsupported, find, number, snake

CLASSES = {
    "evaluation": "Evaluation",
    "evaluation_binary": "EvaluationBinary",
    "roc": "ROC",
    "roc_binary": "ROCBinary",
    "roc_multi_class": "ROCMultiClass",
    "regression": "RegressionEvaluation",
    "calibration": "EvaluationCalibration",
}
STATE = {
    "getCountActualNegative",
    "getCountActualPositive",
    "getTopNCorrectCount",
    "getTopNTotalCount",
    "getCountTruePositive",
    "getCountFalsePositive",
    "getCountTrueNegative",
    "getCountFalseNegative",
    "getNumRowCounter",
    "getThresholdSteps",
    "getExampleCount",
}


def check(case: Case, c: Check):
    group = case.key.split("/")[1]
    if group in CLASSES:
        return evaluation(case, c, CLASSES[group])
    if group == "network":
        return network(case, c)
    return data.check(case, c)


def fresh(case: Case, name: str):
    """The evaluation object as the recorder constructed it; options stand in DL4J's JSON of the result."""
    doc = json.loads(case.read("evaluation.json")) if case.has("evaluation.json") else {}
    cls, what = find(name), case.folder.name
    n = max((case.arrays[k].shape[1] for k in case.arrays if k.startswith("labels_")), default=3)
    if name == "Evaluation":
        return classification(cls, what, doc, n)
    if name == "EvaluationBinary":
        if what.startswith("with_roc"):
            return cls(n, 0 if what.endswith("exact") else 10)
        e = (
            cls(
                np.array(
                    doc["decisionThreshold"]["data"] if isinstance(doc["decisionThreshold"], dict) else doc["decisionThreshold"], np.float32
                ).ravel()
            )
            if what == "thresholds"
            else cls()
        )
        return named(e, "set_label_names", doc.get("labels") if what == "named" else None)
    if name == "ROC":
        return cls(doc.get("thresholdSteps", 0), doc.get("rocRemoveRedundantPts", True))
    if name in ("ROCBinary", "ROCMultiClass"):
        labels = doc.get("labels") if what == "named" else None
        return named(cls(doc.get("thresholdSteps", 0)), "set_label_names" if name == "ROCBinary" else "set_labels", labels)
    if name == "RegressionEvaluation":
        first = [doc["columnNames"]] if what.startswith("named") else [n] if what in ("n_columns", "precision") else []
        return cls(*first, *([doc["precision"]] if "precision" in what else []))
    return cls(*[doc[k] for k in ("reliabilityDiagNumBins", "histogramNumBins", "excludeEmptyBins") if k in doc])


def classification(cls, what: str, doc: dict, n: int):
    labels = doc.get("labelsList")
    cost = (
        np.array(doc["costArray"]["data"] if isinstance(doc["costArray"], dict) else doc["costArray"], np.float32).ravel()
        if doc.get("costArray")
        else None
    )
    if what in ("two_classes_n", "ten_classes", "many_classes"):
        return cls(n)
    if what in ("empty_n", "eval_ints"):
        return cls(3)
    if what.startswith("two_classes_positive"):
        return cls(2, 0 if what.endswith("0") else None)
    if what.endswith("threshold"):
        return cls(float(doc["binaryDecisionThreshold"]))
    if cost is not None:
        return cls(cost) if what.startswith("two") else cls(labels, cost)
    if what.endswith(("named", "top2", "top3")) or what == "ties":
        return cls(labels, doc["topN"]) if doc["topN"] > 1 else cls(labels)
    e = cls()
    if what.endswith("axis2"):
        e.set_axis(2)
    return e


def named(e, method: str, labels):
    if labels:
        getattr(e, method)(labels)
    return e


def evaluation(case: Case, c: Check, name: str):
    a, info = case.arrays, case.info
    e = fresh(case, name)
    if exact_curves(e) and order_decides(a):
        raise Intent("equal predictions are one threshold; DL4J takes them in the order in which they came")
    if "error" in info:
        return c.raises("eval", lambda: feed(case, e), info["error"])
    if "predicted" in a:
        for p, y in zip(a["predicted"], a["actual"]):
            e.eval(int(p), int(y))
    elif case.folder.name.startswith("merge"):
        other = fresh(case, name)
        e.eval(a["labels_0"], a["predictions_0"])
        other.eval(a["labels_1"], a["predictions_1"])
        e.merge(other)
    else:
        feed(case, e)
    report(case, c, e, name)
    return None


def exact_curves(e) -> bool:
    """Whether it draws ROC curves with a point for each prediction."""
    return getattr(getattr(e, "roc_binary", None) or e, "threshold_steps", None) == 0


def order_decides(arrays) -> bool:
    """Whether a positive and a negative example of a column have the same prediction."""
    rows = [[np.moveaxis(v, 1, -1).reshape(-1, v.shape[1]) for k, v in sorted(arrays.items()) if k.startswith(n)]
            for n in ("labels_", "predictions_")]
    return any(np.intersect1d(p[y > 0.5], p[y <= 0.5]).size for y, p in zip(*(np.concatenate(r).T if r else () for r in rows)))


def feed(case: Case, e):
    a, info = case.arrays, case.info
    for k in range(info.get("n_batches", 0)):
        y, p, m = a[f"labels_{k}"], a[f"predictions_{k}"], a.get(f"mask_{k}")
        if "prediction_errors" in info:
            e.eval(y, p, m, [f"rec{i}" for i in range(len(y))])
        elif m is None:
            e.eval(y, p)
        else:
            e.eval(y, p, m)


def report(case: Case, c: Check, e, name: str):
    info = case.info
    for method, want in info.get("metrics", {}).items():
        metric(c, e, method, want)
    if case.has("stats.txt"):
        c.printed("stats()", e.stats(), case.read("stats.txt"))
    if case.has("evaluation.json"):
        if info.get("from_json_stats_equal") and case.has("stats.txt"):
            c.printed("stats() of from_json", find(name).from_json(case.read("evaluation.json")).stats(), case.read("stats.txt"))
        json_text = case.read("evaluation.json")
        if "map" not in json_text and not case.folder.name.startswith("merge"):
            same_json(c, "to_json()", e.to_json(), json_text)
    if name == "Evaluation":
        confusion(case, c, e)
    for key, want in (info.get("score_for_metric") or {}).items():
        value = getattr(find(name).Metric, key)
        if isinstance(want, dict):
            c.raises(f"score_for_metric({key})", lambda v=value: e.score_for_metric(v), want)
        else:
            c.close(f"score_for_metric({key})", e.score_for_metric(value), want, rtol=1e-5)
    for key, want in info.items():
        if key in ("prediction_errors", "predictions_by_actual_class_1"):
            got = e.get_prediction_errors() if key == "prediction_errors" else e.get_predictions_by_actual_class(1)
            c.equal(key, [str(p) for p in got], want)
    curves(case, c, e)


def call(e, method: str, *args):
    """Java's method under its Python name; getX may also be a property or a method x."""
    s = snake(method)
    for n in (s, re.sub("^(get|is)_", "", s)):
        if hasattr(e, n):
            f = getattr(e, n)
            return f(*args) if callable(f) else f
    return getattr(e, s)(*args)


def metric(c: Check, e, method: str, want):
    name, inner = re.fullmatch(r"(\w+)\((.*)\)", method).groups() if "(" in method else (method, "")
    if name.startswith(("get", "is")) and name not in STATE:
        return
    args = []
    for part in inner.split(",") if inner else []:
        args.append("i" if part == "i" else float(part) if re.match(r"[\d.]+$", part) else getattr(find("EvaluationAveraging"), part))
    if "i" in args:
        for i, w in enumerate(want):
            value(c, f"{name}({i})", lambda i=i: call(e, name, *[i if x == "i" else x for x in args]), w)
    else:
        value(c, method, lambda: call(e, name, *args), want)


def value(c: Check, what: str, get, want):
    if isinstance(want, dict) and "class" in want:
        return c.raises(what, get, want)
    got = get()
    if isinstance(want, dict):
        return c.equal(what, {str(k): float(v) for k, v in dict(got).items()}, {k: float(v) for k, v in want.items()})
    if isinstance(want, list):
        return c.close(what, np.asarray(got, np.float64).ravel(), np.array([number(w) for w in want], np.float64), rtol=1e-5)
    if isinstance(want, bool) or want is None:
        return c.equal(what, got, want)
    return c.close(what, float(got), want, rtol=1e-5)


def confusion(case: Case, c: Check, e):
    info = case.info
    for file, get in (
        ("stats_suppress_warnings.txt", lambda: e.stats(True)),
        ("stats_no_warnings_with_matrix.txt", lambda: e.stats(False, True)),
        ("confusion_matrix.txt", lambda: e.confusion_matrix()),
        ("confusion_to_string.txt", lambda: e.confusion_to_string()),
    ):
        if case.has(file):
            c.printed(file[:-4], get(), case.read(file))
    if "confusion_csv" in info:
        c.text("confusion as CSV", e.get_confusion_matrix().to_csv(), info["confusion_csv"])
        c.text("confusion as HTML", e.get_confusion_matrix().to_html(), info["confusion_html"])
    if "confusion" in case.arrays:
        want = case.arrays["confusion"]
        got = np.array([[e.get_confusion_matrix().get_count(i, j) for j in range(len(want))] for i in range(len(want))], np.float64)
        c.close("confusion", got, want)


def curves(case: Case, c: Check, e):
    a = case.arrays
    for key, want in a.items():
        found = re.fullmatch(r"(c|class(\d+))_(roc|pr)_(\w+)", key)
        if found:
            index = () if found.group(1) == "c" else (int(found.group(2)),)
            curve = e.get_roc_curve(*index) if found.group(3) == "roc" else e.get_precision_recall_curve(*index)
            c.close(key, np.asarray(call(curve, "get" + found.group(4).capitalize()), np.float64), want, rtol=1e-6)
        found = re.fullmatch(r"reliability_(mean_predicted|fraction_positive)_(\d+)", key)
        if found:
            diagram = e.get_reliability_diagram(int(found.group(2)))
            get = "getMeanPredictedValueX" if found.group(1) == "mean_predicted" else "getFractionPositivesY"
            c.close(key, np.asarray(call(diagram, get), np.float64), want, rtol=1e-6)
        found = re.fullmatch(r"hist_(residual|probability)_(\d+|all)", key)
        if found:
            name = "get_residual_plot" if found.group(1) == "residual" else "get_probability_histogram"
            plot = getattr(e, name + "_all_classes")() if found.group(2) == "all" else getattr(e, name)(int(found.group(2)))
            c.close(key, np.asarray(call(plot, "getBinCounts"), np.int64), want.astype(np.int64))


def network(case: Case, c: Check):
    a, info = case.arrays, case.info
    if "output" not in a:
        raise Unsupported(case.folder.name)
    net = Net.from_json(case.read("configuration.json"), params=a["params"])
    n = net.net
    examples = [data_set(a["features"][i : i + 1], a["labels"][i : i + 1]) for i in range(len(a["features"]))]

    def batches():
        return find("ListDataSetIterator")(examples, info["batch_size"])

    c.close("output", net.output([a["features"]])[0], a["output"])
    for file, get in (
        ("evaluate_stats.txt", lambda: n.evaluate(batches()).stats()),
        ("evaluate_named_stats.txt", lambda: n.evaluate(batches(), ["a", "b", "c"]).stats()),
        ("evaluate_top2_stats.txt", lambda: n.evaluate(batches(), ["a", "b", "c"], 2).stats()),
        ("roc_multi_class_stats.txt", lambda: n.evaluate_roc_multi_class(batches(), 0).stats()),
        ("regression_stats.txt", lambda: n.evaluate_regression(batches()).stats()),
    ):
        c.printed(file, get(), case.read(file))
    made = n.do_evaluation(batches(), find("Evaluation")(), find("EvaluationCalibration")(), find("ROCMultiClass")(10))
    for i, e in enumerate(made):
        c.printed(f"do_evaluation_{i}", e.stats(), case.read(f"do_evaluation_{i}_stats.txt"))
    c.raises("evaluate_roc with three columns", lambda: n.evaluate_roc(batches(), 0), info["evaluateROC_error"])
    c.close("f1_score", n.f1_score(data_set(a["features"], a["labels"])), info["f1Score"], rtol=1e-9)
    c.equal("predict", [int(v) for v in n.predict(a["features"])], a["predict"].tolist())
