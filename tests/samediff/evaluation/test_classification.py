"""Evaluation: what counts, what is refused, how parts are merged."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, DL4PyError, FileFormatError, NumericalError, ShapeError
from dl4py.samediff.evaluation import (
    ConfusionMatrix,
    Evaluation,
    EvaluationAveraging,
    EvaluationBinary,
    RegressionEvaluation,
    ROCMultiClass,
)


def data(rng, n=30, classes=3):
    return np.eye(classes, dtype=np.float32)[rng.integers(0, classes, n)], rng.random((n, classes), np.float32)


def fed(y, p, mask=None, **options):
    e = Evaluation(**options)
    e.eval(y, p, mask)
    return e


def test_parts_merged_are_the_whole(rng):
    y, p = data(rng)
    first, second, empty = fed(y[:10], p[:10], top_n=2), fed(y[10:], p[10:], top_n=2), Evaluation(top_n=2)
    first.merge(second)
    empty.merge(first)
    assert first == fed(y, p, top_n=2) == empty
    assert empty.stats() == first.stats()


def test_merging_other_classes_is_refused_and_changes_nothing(rng):
    three, two = fed(*data(rng)), fed(*data(rng, classes=2))
    before = three.to_json()
    with pytest.raises(ShapeError, match="3 classes"):
        three.merge(two)
    with pytest.raises(ConfigurationError, match="RegressionEvaluation"):
        three.merge(RegressionEvaluation())
    assert three.to_json() == before


def test_masked_rows_do_not_count(rng):
    y, p = data(rng)
    mask = (np.arange(30) % 3 > 0).astype(np.float32)
    assert fed(y, p, mask[:, None]) == fed(y, p, mask) == fed(y[mask > 0], p[mask > 0])


@pytest.mark.parametrize(("axis", "order"), [(1, (0, 2, 1)), (2, (0, 1, 2))])
def test_time_series_count_every_step(rng, axis, order):
    y, p = data(rng)
    series = [a.reshape(5, 6, 3).transpose(order) for a in (y, p)]
    assert fed(*series, axis=axis).get_confusion_matrix() == fed(y, p).get_confusion_matrix()
    mask = rng.integers(0, 2, (5, 6))
    keep = mask.ravel() > 0
    assert fed(*series, mask, axis=axis).get_confusion_matrix() == fed(y[keep], p[keep]).get_confusion_matrix()


def test_images_count_every_pixel(rng):
    y, p = data(rng, 40)
    images = [a.reshape(5, 2, 4, 3).transpose(0, 3, 1, 2) for a in (y, p)]
    assert fed(*images) == fed(y, p)


def test_single_column_is_the_probability_of_class_one():
    e = fed([[1], [0], [1]], [[0.6], [0.5], [0.2]])
    assert e.get_confusion_matrix() == ConfusionMatrix([0, 1], [[1, 0], [1, 1]])
    assert fed([[1], [0], [1]], [[0.6], [0.5], [0.2]], binary_decision_threshold=0.1).recall() == 1.0


def test_the_first_of_equal_predictions_wins():
    e = fed([[0, 1, 0]], [[0.2, 0.4, 0.4]], top_n=2)
    assert e.get_confusion_matrix().get_count(1, 1) == 1
    assert fed([[0, 0, 1]], [[0.4, 0.4, 0.4]], top_n=1).get_confusion_matrix().get_count(2, 0) == 1


def test_one_example_at_a_time():
    e = Evaluation(3)
    for predicted, actual in ((0, 0), (1, 2), (2, 2)):
        e.eval(predicted, actual)
    assert e.accuracy() == pytest.approx(2 / 3) and e.num_row_counter() == 3
    with pytest.raises(ShapeError, match="class 3"):
        e.eval(3, 0)
    with pytest.raises(ConfigurationError, match="num_classes"):
        Evaluation().eval(0, 1)
    for one in (1, np.int64(1), np.array(1), np.array(1, np.uint8)):
        e = Evaluation(3)
        e.eval(one, one)
        assert e.accuracy() == 1 and e.num_row_counter() == 1
    for wrong, error in ((1.0, ShapeError), (None, DL4PyError), (np.array(1.0), ShapeError), ({}, DL4PyError)):
        for evaluation in (Evaluation(3), EvaluationBinary(), RegressionEvaluation()):
            with pytest.raises(error):
                evaluation.eval(wrong, wrong)


def test_averages():
    e = fed(np.eye(3)[[0, 0, 1, 2]], np.eye(3)[[0, 1, 1, 1]])
    assert e.precision(EvaluationAveraging.Macro) == pytest.approx((1 + 1 / 3) / 2)    # class 2 was never predicted
    assert e.precision(EvaluationAveraging.Micro) == e.accuracy() == 0.5
    assert e.recall() == pytest.approx((0.5 + 1 + 0) / 3)
    assert e.average_precision_num_classes_excluded() == 1
    assert e.precision(2) == 0.0 and e.precision(2, 1.0) == 1.0


def test_positive_class_of_two():
    y, p = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 1, 1]]
    assert fed(y, p).precision() == pytest.approx(2 / 3)
    assert fed(y, p, binary_positive_class=0).precision() == 1.0
    assert fed(y, p, binary_positive_class=None).precision() == pytest.approx(5 / 6)


def test_java_spellings():
    e = fed([[1, 0], [0, 1]], [[0.8, 0.2], [0.6, 0.4]])
    assert e.falsePositiveRate(0) == e.false_positive_rate(0)
    assert e.getTopN() == e.get_top_n() == e.top_n == 1
    assert e.getConfusionMatrix().getCount(1, 0) == 1
    assert e.scoreForMetric(Evaluation.Metric.ACCURACY) == 0.5
    e.setAxis(2)
    assert e.axis == 2


def test_meta_data_given_as_third_argument():
    e = Evaluation()
    e.eval([[1, 0], [0, 1]], [[0.1, 0.9], [0.2, 0.8]], ["a", "b"])
    assert [p.record_meta_data for p in e.get_prediction_errors()] == ["a"]
    assert [p.get_record_meta_data() for p in e.get_predictions(1, 1)] == ["b"]


@pytest.mark.parametrize(("change", "error"), [
    ({"p": np.zeros((4, 2))}, ShapeError),
    ({"p": np.full((4, 3), np.nan)}, NumericalError),
    ({"mask": np.ones((4, 3))}, ShapeError),
    ({"mask": np.ones((5, 1))}, ShapeError),
    ({"labels": ["a", "b"]}, ShapeError),
    ({"cost_array": [1.0, 2.0]}, ShapeError),
    ({"binary_decision_threshold": 0.3}, ShapeError),
    ({"cost_array": [1.0, -2.0, 1.0]}, ConfigurationError),
    ({"top_n": 0}, ConfigurationError),
    ({"labels": {0: "a", 2: "b"}}, ConfigurationError),
])
def test_what_does_not_fit_is_refused(change, error):
    options = {k: v for k, v in change.items() if k not in ("p", "mask")}
    with pytest.raises(error):
        fed(np.eye(3)[[0, 1, 2, 0]], change.get("p", np.ones((4, 3))), change.get("mask"), **options)


@pytest.mark.parametrize("count, row", [(9, " 9 0 | 0 = 0"), (10, "10 0 | 0 = 0"), (11, " 11  0 | 0 = 0"), (100, "100  0 | 0 = 0")])
def test_columns_of_the_confusion_matrix_are_as_wide_as_in_java(count, row):
    y = np.eye(2)[[0] * count + [1]]
    assert row in fed(y, y).stats().splitlines()


def test_measures_need_data():
    e = Evaluation(3)
    for measure in (e.accuracy, e.precision, e.f1, e.g_measure, e.matthews_correlation, e.top_n_accuracy):
        with pytest.raises(NumericalError, match="no evaluation"):
            measure()
    assert "No data" in e.stats()
    assert Evaluation().confusion_matrix() == "Confusion matrix: <no data>"


def test_reset_forgets(rng):
    e = Evaluation(3)
    empty = e.to_json()
    e.eval(*data(rng))
    e.reset()
    assert e.to_json() == empty


@pytest.mark.parametrize("text", ["{", '{"@class": "org.other.Evaluation"}', "[1]",
                                  '{"@class": "org.nd4j.evaluation.regression.RegressionEvaluation"}',
                                  '{"@class": "org.nd4j.evaluation.classification.Evaluation", "confusion": {"a": 1}}'])
def test_bad_json_is_refused(text):
    with pytest.raises(FileFormatError):
        Evaluation.from_json(text)


def test_many_classes_leave_the_matrix_out(rng):
    e = fed(*data(rng, 60, 25))
    assert "Confusion matrix not generated" in e.stats()
    assert "| 24 = 24" in e.stats(False, True)


def test_errors_are_typed():
    with pytest.raises(DL4PyError):
        Evaluation(np.ones(2), 3)


@pytest.mark.parametrize(("labels", "predictions", "lines"), [
    ([[1], [1]], [[0.4], [0.7]], ["recall: [0]"]),
    ([[1, 0], [0, 1]], [[0.6, 0.4], [0.7, 0.3]], ["precision: [1]"]),
    ([[0], [0]], [[0.1], [0.3]], ["precision: [1]", "recall: [1]"]),
])
def test_two_classes_warn_too(labels, predictions, lines):
    """What M2.1 prints about classes that it never saw, also where the measures are those of the positive class."""
    text = fed(np.array(labels, np.float32), np.array(predictions, np.float32)).stats()
    assert [line.removeprefix("Classes excluded from average ") for line in text.splitlines() if line.startswith("Classes")] == lines
    assert "class excluded from average)" not in text


ACTUAL, GUESSED = np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 1, 1, 0]]


@pytest.mark.parametrize("records", [[7, 8, 9, 10], (7, 8, 9, 10), range(7, 11), [7.5, 8.5, 9.5, 10.5], list("abcd"),
                                     [("f", i) for i in range(4)], [None] * 4, [{"row": i} for i in range(4)], [0, 1, 2, 3]], ids=repr)
def test_a_list_is_meta_data_whatever_it_holds(records):
    e = Evaluation()
    e.eval(ACTUAL, GUESSED, records)
    assert e.get_num_row_counter() == 4 and [p.record_meta_data for p in e.get_prediction_errors()] == [records[2]]
    for other in (ROCMultiClass(), EvaluationBinary(), RegressionEvaluation(3)):
        plain = type(other)(3) if isinstance(other, RegressionEvaluation) else type(other)()
        other.eval(ACTUAL, GUESSED, records)
        plain.eval(ACTUAL, GUESSED)
        assert other == plain or other.stats() == plain.stats()


@pytest.mark.parametrize("mask", [np.array([1, 0, 1, 1]), [True, False, True, True], [1.0, 0.0, 1.0, 1.0], [[1], [0], [1], [1]],
                                  np.array([[1.0], [0], [0.5], [1]])], ids=repr)
def test_masks_stay_masks(mask):
    e = Evaluation()
    e.eval(ACTUAL, GUESSED, mask)
    assert e.get_num_row_counter() == 3


@pytest.mark.parametrize("third, error, said", [
    ([0, 1, 1, 0], ConfigurationError, "may be a mask or meta data"),
    (np.array([7, 8, 9, 10]), ShapeError, "got 7 ... 10; meta data of the examples are a list"),
    ([7, 8, 9], ShapeError, r"3 records of meta data for labels of shape \(4, 3\)"),
])
def test_what_could_be_either_is_refused(third, error, said):
    for e in (Evaluation(), EvaluationBinary(), RegressionEvaluation(3)):
        with pytest.raises(error, match=said):
            e.eval(ACTUAL, GUESSED, third)


@pytest.mark.parametrize("labels", ["abc", b"ab", len, object, object()])
def test_class_names_are_a_list(labels):
    for make in (lambda: Evaluation(labels), lambda: Evaluation(labels=labels)):
        with pytest.raises(ConfigurationError, match="class names are a list"):
            make()


def test_one_output_tells_two_classes_apart():
    """As in DL4J, where no class counts as the positive one then."""
    e = Evaluation(1)
    e.eval([[1], [0], [1]], [[0.7], [0.6], [0.2]])
    assert e.get_num_row_counter() == 3 and e.labels_list == ["0", "1"]
    np.testing.assert_allclose([e.accuracy(), e.precision(), e.recall(), e.f1()], [1 / 3, 0.25, 0.25, 0.5])


@pytest.mark.parametrize("dtype, predicted", [(np.float32, np.float32), (np.float64, np.float32), (np.float64, np.float64)])
def test_what_equals_its_threshold_is_not_positive(dtype, predicted):
    thresholds = np.array([0.1, 0.3, 0.6, 0.7], dtype)
    e = EvaluationBinary(thresholds)
    e.eval(np.ones((1, 4), predicted), np.array([[0.1, 0.3, 0.6, 0.7]], predicted))
    assert [e.true_positives(k) for k in range(4)] == [0] * 4
    again = EvaluationBinary.from_json(e.to_json())
    assert again.to_json() == e.to_json() and again.decision_threshold.dtype == dtype
