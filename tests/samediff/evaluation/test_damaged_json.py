"""JSON of evaluations and curves with wrong values: a typed error when it is read, or an evaluation that reports."""
from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, DL4PyError, FileFormatError
from dl4py.samediff.evaluation import (
    ROC,
    Evaluation,
    EvaluationBinary,
    EvaluationCalibration,
    RegressionEvaluation,
    ROCBinary,
    RocCurve,
    ROCMultiClass,
)

CLASSES = (Evaluation, ROC, ROCBinary, ROCMultiClass, RegressionEvaluation, EvaluationBinary, EvaluationCalibration)
WRONG = (2**70, -2**70, 2**63, 2**31, -1, 0, 1.5, "a", None, True, float("nan"), float("inf"), [], {}, 1e300, [None], ["a"], {"a": 1})
LABELS, SCORES = np.eye(2)[[0, 1, 1, 0]], np.array([[.9, .1], [.2, .8], [.6, .4], [.7, .3]])


def places(document, path=()):
    for key, value in document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ():
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(document, path, value):
    made = copy.deepcopy(document)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


@pytest.mark.sampled(8)
@pytest.mark.parametrize("cls", CLASSES)
def test_what_is_read_reports(cls):
    evaluation = cls()
    evaluation.eval(LABELS, SCORES)
    document = json.loads(evaluation.to_json())
    for path in places(document):
        for value in WRONG:
            try:
                cls.from_json(json.dumps(changed(document, path, value))).stats()
            except DL4PyError:
                continue


@pytest.mark.parametrize("text", [None, 3, b"\xff", "{", "[" * 100_000, "3", "null"])
def test_texts_that_are_none(text):
    for cls in (Evaluation, RocCurve):
        with pytest.raises(FileFormatError):
            cls.from_json(text)


@pytest.mark.parametrize("make", [lambda: ROC(10**8), lambda: ROCBinary(2**31), lambda: RegressionEvaluation(2, precision=2**31),
                                  lambda: RegressionEvaluation(2, precision=1.5), lambda: RegressionEvaluation(2, 0)])
def test_numbers_that_no_memory_holds(make):
    with pytest.raises(ConfigurationError, match=r"threshold_steps|precision"):
        make()


@pytest.mark.parametrize("cls", CLASSES)
def test_copies_count_alone(cls):
    first = cls()
    first.eval(LABELS, SCORES)
    stored = first.to_json()
    copy.copy(first).eval(LABELS, SCORES)
    assert first.to_json() == stored
