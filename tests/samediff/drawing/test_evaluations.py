"""Pictures of evaluations and curves show what was counted."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, NumericalError
from dl4py.samediff.evaluation import (
    ROC,
    BaseEvaluation,
    Evaluation,
    EvaluationBinary,
    EvaluationCalibration,
    RegressionEvaluation,
    ROCBinary,
    ROCMultiClass,
)
from dl4py.samediff.training import EvaluationRecord, History, Loss, LossCurve

pytest.importorskip("matplotlib")

LABELS = np.eye(3)[[0, 1, 2, 0, 1, 2]]
CHANCES = np.array([[.8, .1, .1], [.2, .7, .1], [.1, .2, .7], [.4, .5, .1], [.1, .8, .1], [.3, .3, .4]])


def counted(evaluation, y=LABELS, p=CHANCES):
    evaluation.eval(y, p)
    return evaluation


def test_a_confusion_matrix_and_measures(tmp_path):
    found = counted(Evaluation(["a", "b", "c"]))
    figure = found.plot(tmp_path / "a.png")
    left, right = figure.axes
    assert [[float(t.get_text()) for t in left.texts[3 * k:3 * k + 3]] for k in range(3)] == [[1, 1, 0], [0, 2, 0], [0, 0, 2]]
    assert [t.get_text() for t in left.get_xticklabels()] == ["a", "b", "c"] and left.get_title() == "accuracy 0.8333"
    assert [round(b.get_height(), 4) for b in right.patches] == [round(getattr(found, n)(i), 4) for n in ("precision", "recall", "f1")
                                                                 for i in range(3)]
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(("evaluation", "y", "p", "titles"), [
    (ROC(), LABELS[:, :1], CHANCES[:, :1], ["ROC (area 1)", "precision and recall (area 1)"]),
    (ROCMultiClass(), LABELS, CHANCES, ["ROC", "precision and recall"]), (ROCBinary(), LABELS, CHANCES, ["ROC", "precision and recall"]),
    (EvaluationBinary(), LABELS, CHANCES, ["by output"]), (RegressionEvaluation(), LABELS, CHANCES, ["errors by column", "by column"]),
    (EvaluationCalibration(), LABELS, CHANCES, ["reliability", "Residual Plot - All Predictions and Classes",
                                                "Network Probabilities Histogram - All Predictions and Classes"])])
def test_every_evaluation_has_a_picture(evaluation, y, p, titles):
    figure = counted(evaluation, y, p).plot()
    assert [a.get_title() for a in figure.axes if a.get_visible() and a.axison] == titles


def test_curves_are_drawn_as_they_are():
    roc = counted(ROC(), LABELS[:, :1], CHANCES[:, :1])
    for curve, x, y in ((roc.get_roc_curve(), "fpr", "tpr"), (roc.get_precision_recall_curve(), "recall", "precision")):
        (axes,) = curve.plot().axes
        assert axes.lines[0].get_xydata().tolist() == np.stack([getattr(curve, x), getattr(curve, y)], 1).tolist()
        assert axes.get_title() == curve.get_title()
    table = counted(EvaluationCalibration())
    assert table.get_reliability_diagram(0).plot().axes[0].get_title() == "Reliability Diagram: Class 0"
    histogram = table.get_probability_histogram_all_classes()
    assert histogram.plot().axes[0].patches[0].get_data().values.tolist() == histogram.bin_counts.tolist()


def test_what_has_no_picture():
    class Mine(BaseEvaluation):
        pass

    with pytest.raises(ConfigurationError, match="Mine has no picture"):
        Mine().plot()
    for empty in (Evaluation(), RegressionEvaluation(), EvaluationBinary(), ROC(), EvaluationCalibration()):
        with pytest.raises((NumericalError, ConfigurationError)):
            empty.plot()
    with pytest.raises(ConfigurationError, match="no epoch has ended"):
        History().plot()


def test_a_history_shows_losses_and_measures():
    records = [EvaluationRecord({"out": [counted(Evaluation())]}) for _ in range(2)]
    figure = History(records, records[:1], LossCurve([Loss(["mse"], [2.0]), Loss(["mse"], [1.0])]), 5).plot()
    loss, accuracy = figure.axes
    assert loss.lines[0].get_ydata().tolist() == [2, 1] and accuracy.get_title() == "accuracy"
    assert [line.get_ydata() for line in accuracy.lines] == [pytest.approx([5 / 6, 5 / 6]), pytest.approx([5 / 6])]
