"""Evaluations of recorded data give DL4J's numbers, reports, JSON and curves."""
from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.base.javanames import to_snake
from dl4py.samediff.evaluation import (
    ROC,
    BaseEvaluation,
    Evaluation,
    EvaluationAveraging,
    EvaluationBinary,
    EvaluationCalibration,
    RegressionEvaluation,
    ROCMultiClass,
)

CASES: dict[str, Callable[[], Any]] = {
    "evaluation/three_classes_top2": lambda: Evaluation(["x", "y", "z"], 2),
    "evaluation/missing_classes": Evaluation,
    "evaluation/two_classes_cost_array": lambda: Evaluation(np.array([1.0, 2.0], np.float32)),
    "evaluation/time_series_mask": Evaluation,
    "evaluation/metadata": Evaluation,
    "regression/output_mask": RegressionEvaluation,
    "regression/constant_labels": RegressionEvaluation,
    "evaluation_binary/thresholds": lambda: EvaluationBinary(np.array([0.3, 0.5, 0.7], np.float32)),
    "roc/single_column_steps0": ROC,
    "roc/single_column_steps10": lambda: ROC(10),
    "roc_multi_class/steps10": lambda: ROCMultiClass(10),
    "calibration/bins": lambda: EvaluationCalibration(5, 8),
}


class Case:
    """A recorded case and the evaluation that it describes, already fed."""

    def __init__(self, folder: Path, made: Any) -> None:
        self.folder, self.e = folder, made
        self.info = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        with np.load(folder / "arrays.npz") as file:
            self.arrays = dict(file)
        records = [f"rec{i}" for i in range(len(self.arrays["labels_0"]))] if "prediction_errors" in self.info else None
        given = [self.arrays[k] for k in ("labels_0", "predictions_0")], self.arrays.get("mask_0")
        made.eval(*given[0], given[1], *([records] if records else []))

    def text(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode("utf-8")


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, golden: Path) -> Case:
    return Case(golden / "evaluation" / request.param, CASES[request.param]())


def test_every_recorded_measure(case: Case):
    for method, want in case.info["metrics"].items():
        name, inner = re.fullmatch(r"(\w+)\((.*)\)", method).groups()
        parts = inner.split(",") if inner else []
        wants = want if "i" in parts else [want]
        for i, expected in enumerate(wants):
            args = [i if p == "i" else float(p) if p[0].isdigit() else EvaluationAveraging[p] for p in parts]
            got = getattr(case.e, to_snake(name))(*args)
            if isinstance(expected, dict):
                assert got == {int(k): v for k, v in expected.items()}, method
            elif expected is None or isinstance(expected, bool):
                assert got is expected or got == expected, method
            elif got is not None:
                got, expected = (np.asarray(v, np.float64).ravel() for v in (got, expected))
                np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-9, err_msg=method)


def test_the_reports_are_dl4js_byte_for_byte(case: Case):
    made = {"stats.txt": lambda: case.e.stats(), "stats_suppress_warnings.txt": lambda: case.e.stats(True),
            "stats_no_warnings_with_matrix.txt": lambda: case.e.stats(False, True),
            "confusion_matrix.txt": lambda: case.e.confusion_matrix(),
            "confusion_to_string.txt": lambda: case.e.confusion_to_string()}
    files = [f for f in case.info["files"] if f.endswith(".txt")]
    assert files
    for file in files:
        assert made[file]() == case.text(file), file


def test_the_json_is_dl4js(case: Case):
    assert json.loads(case.e.to_json()) == json.loads(case.text("evaluation.json"))


def test_dl4js_json_is_read_back(case: Case):
    read = BaseEvaluation.from_json(case.text("evaluation.json"))
    assert type(read) is type(case.e) and read == case.e
    assert read.stats() == case.e.stats()
    assert type(read).from_yaml(read.to_yaml()) == read


def test_confusion_matrix_as_csv_and_html(case: Case):
    if "confusion_csv" in case.info:
        matrix = case.e.get_confusion_matrix()
        assert matrix.to_csv() == case.info["confusion_csv"]
        assert matrix.to_html() == case.info["confusion_html"]
        np.testing.assert_array_equal(matrix.counts, case.arrays["confusion"])


def test_score_for_metric(case: Case):
    for name, want in (case.info.get("score_for_metric") or {}).items():
        np.testing.assert_allclose(case.e.score_for_metric(type(case.e).Metric[name]), float(want), rtol=1e-5)


def test_curves_and_histograms(case: Case):
    curves = {"roc": "get_roc_curve", "pr": "get_precision_recall_curve"}
    for key, want in case.arrays.items():
        if found := re.fullmatch(r"(c|class\d+)_(roc|pr)_(\w+)", key):
            index = [int(found[1][5:])] if found[1] != "c" else []
            curve = getattr(case.e, curves[found[2]])(*index)
            np.testing.assert_array_equal(getattr(curve, found[3]), want, err_msg=key)
        if found := re.fullmatch(r"hist_(residual|probability)_(\d+|all)", key):
            name = {"residual": "get_residual_plot", "probability": "get_probability_histogram"}[found[1]]
            every = found[2] == "all"
            made = getattr(case.e, name + "_all_classes")() if every else getattr(case.e, name)(int(found[2]))
            np.testing.assert_array_equal(made.bin_counts, want, err_msg=key)
            assert f"{made.title}, lower {made.lower}, upper {made.upper}" == case.info["arrays"][key]["meaning"]


def test_points_of_a_precision_recall_curve(case: Case):
    if "point_at_threshold_0_5" in case.info:
        curve = case.e.get_precision_recall_curve()
        assert str(curve.get_point_at_threshold(0.5)) == case.info["point_at_threshold_0_5"]
        assert str(curve.get_point_at_precision(0.5)) == case.info["point_at_precision_0_5"]
        assert str(curve.get_point_at_recall(0.5)) == case.info["point_at_recall_0_5"]
        assert str(curve.get_confusion_matrix_at_threshold(0.5)) == case.info["confusion_at_threshold_0_5"]
        assert [case.e.get_roc_curve().get_title(), curve.get_title()] == case.info["curve_titles"]
        assert type(curve).from_json(curve.to_json()) == curve


def test_predictions_by_meta_data(case: Case):
    if "prediction_errors" in case.info:
        assert [str(p) for p in case.e.get_prediction_errors()] == case.info["prediction_errors"]
        by_class = [str(p) for p in case.e.get_predictions_by_actual_class(1)]
        assert by_class == case.info["predictions_by_actual_class_1"]
