"""Promises of DL4J's documents, each with a small program that keeps it."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.nd4j import op_classes

from .programs import run

GRAPH = """
sd = SameDiff.create()
x = sd.placeHolder("input", DataType.FLOAT, -1, 4)
y = sd.placeHolder("labels", DataType.FLOAT, -1, 3)
w = sd.var("w", np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32))
b = sd.var("b", DataType.FLOAT, 3)
hidden = sd.nn.relu("hidden", x.mmul(w).add(b), 0)
softmax = sd.nn.softmax("softmax", hidden)
loss = sd.loss.softmaxCrossEntropy("loss", y, hidden, None)
feeds = {"input": np.linspace(-1, 1, 8).reshape(2, 4).astype(np.float32), "labels": np.eye(3, dtype=np.float32)[[0, 2]]}
config = TrainingConfig.builder().updater(Adam(1e-2)).dataSetFeatureMapping("input").dataSetLabelMapping("labels").build()
batches = ListDataSetIterator([DataSet(feeds["input"], feeds["labels"])] * 4, 2)
"""


def refused(call: Callable[[], Any], said: str) -> None:
    """That a call is an error whose text has these words."""
    with pytest.raises(Exception, match=said):
        call()


def equal(found: Any, wanted: Any) -> None:
    """That values are the same but for rounding."""
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def promises(document: str, table: str) -> Any:
    """Parameters of a test: the rows of a table, ``# LINE promise`` and its program, in both spellings."""
    rows = [(int(line), said, program) for line, said, program in re.findall(r"^# (\d+) (.*)\n((?:(?!# \d).*\n)+)", table, re.M)]
    cases = [pytest.param(program, spelling, id=f"{document}:{line} {said} ({spelling})") for line, said, program in rows
             for spelling in ("java", "python")]
    return pytest.mark.parametrize("program, spelling", cases)


def keep(program: str, spelling: str, **given: Any) -> None:
    """Run the program of a promise after the graph that all of a document share."""
    ops = {n: getattr(op_classes, n) for n in dir(op_classes) if n.endswith("Op")}
    run(GRAPH + program, spelling, np=np, refused=refused, equal=equal, **ops, **given)
