"""JSON of evaluations that users derive."""
from __future__ import annotations

import pytest

from dl4py.samediff.errors import ConfigurationError, FileFormatError, RegistrationError
from dl4py.samediff.evaluation import Evaluation
from dl4py.samediff.evaluation.base import BaseEvaluation


class Unnamed(Evaluation):
    """No name for files."""


class Named(Evaluation, name="org.acme.test.Named"):
    """A name of its own."""


class Counter(BaseEvaluation, name="org.acme.test.Counter"):
    """Counts rows."""

    def __init__(self, rows=0):
        self.rows = rows

    def count(self, rows):
        self.rows += len(rows.labels)

    def document(self):
        return {"rows": self.rows}

    @classmethod
    def restore(cls, doc):
        return cls(doc["rows"])


def test_a_class_without_a_name_has_no_json_but_is_compared():
    found = Unnamed()
    found.eval([[1, 0], [0, 1]], [[0.9, 0.1], [0.8, 0.2]])
    for write in (found.to_json, found.to_yaml):
        with pytest.raises(ConfigurationError, match=r"Unnamed has no name.*name=\"org.acme.Unnamed\""):
            write()
    assert found == found and found != Unnamed() and Evaluation() != Unnamed()


def test_named_classes_come_back_as_themselves():
    found = Counter()
    found.eval([[1, 0], [0, 1]], [[0.9, 0.1], [0.8, 0.2]])
    assert '"@class" : "org.acme.test.Counter"' in found.to_json()
    for again in (Counter.from_json(found.to_json()), BaseEvaluation.from_json(found.to_json()), BaseEvaluation.from_yaml(found.to_yaml())):
        assert type(again) is Counter and again == found
    assert type(Evaluation.from_json(Named().to_json())) is Named
    with pytest.raises(FileFormatError, match="expected the JSON of Evaluation, got the class 'org.acme.test.Counter'"):
        Evaluation.from_json(found.to_json())


def test_a_name_is_given_once():
    with pytest.raises(RegistrationError, match=r"org.acme.test.Named.*registered already"):
        type("Other", (BaseEvaluation,), {"__module__": "elsewhere"}, name="org.acme.test.Named")
