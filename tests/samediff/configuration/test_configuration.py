"""Configuration objects: constructor, builder, JSON, YAML, names and refusals."""
from __future__ import annotations

import copy
import functools
import json
import math
import os
import pickle
import subprocess
import sys
from dataclasses import InitVar
from enum import Enum
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.base.javanames import JavaSpelling, to_camel, to_snake
from dl4py.samediff.configuration.classes import find_class
from dl4py.samediff.configuration.configuration import Configuration
from dl4py.samediff.configuration.declaring import configuration, field, option
from dl4py.samediff.errors import ConfigurationError, FileFormatError, MissingOpError, RegistrationError


class Kind(Enum):
    FIRST = "FIRST"
    None_ = "None"


def add_penalty(values: dict[str, Any], coefficient: float) -> None:
    values["penalties"] = (*values.get("penalties", ()), coefficient)


@configuration()
class Curve(Configuration):
    """Abstract."""


@configuration("test.curves.Fixed")
class Fixed(Curve):
    value: float

    def validate(self) -> None:
        if self.value < 0:
            raise ConfigurationError("value must not be negative")


@configuration("test.Thing", aliases=("test.old.Thing",))
class Thing(Configuration):
    rate: float = 0.1
    n_in: int = 0
    lambda_: float = 2.0
    kind: Kind = Kind.FIRST
    kernel_size: tuple[int, ...] = (1, 1)
    curve: Curve | None = field(default=None, omit_none=True)
    note: str | None = None
    weights: np.ndarray | None = field(default=None, json="w")
    points: dict[int, float] = field(default_factory=dict)
    penalties: tuple[float, ...] = ()
    l2: InitVar[float | None] = option(add_penalty)


FULL = Thing(rate=math.nan, n_in=3, kind="None", kernel_size=[2, 3], curve=Fixed(0.5), note="é",
             weights=np.array([1.0, 2.0]), points={4: 0.5}, l2=0.1)


def test_json_has_jacksons_keys_and_values():
    document = json.loads(FULL.to_json())
    assert document == {
        "@class": "test.Thing", "curve": {"@class": "test.curves.Fixed", "value": 0.5}, "kernelSize": [2, 3],
        "kind": "None", "lambda": 2.0, "nin": 3, "note": "é", "penalties": [0.1], "points": {"4": 0.5}, "rate": "NaN",
        "w": {"dataType": "DOUBLE", "shape": [2], "data": [1.0, 2.0]}}
    assert list(document) == sorted(document)
    assert "curve" not in Thing().to_document() and Thing().to_document()["note"] is None


@pytest.mark.parametrize("way", ["json", "yaml"])
def test_files_give_the_same_object(way):
    text = getattr(FULL, f"to_{way}")()
    again = getattr(Thing, f"from_{way}")(text)
    assert again == FULL and hash(again) == hash(FULL) and again.points == {4: 0.5}


def test_abstract_class_reads_what_the_file_names():
    assert Curve.from_json('{"@class": "test.curves.Fixed", "value": 1}') == Fixed(1.0)
    assert Thing.from_json('{"@class": "test.old.Thing", "nin": 7}').n_in == 7
    assert find_class("Thing") is find_class("test.Thing") is Thing


def test_unknown_json_fields_survive_but_do_not_count():
    thing = Thing.from_json('{"@class": "test.Thing", "nin": 2, "future": [1, {"a": null}]}')
    assert thing == Thing(n_in=2)
    assert json.loads(thing.replace(rate=1).to_json())["future"] == [1, {"a": None}]


def test_both_spellings_everywhere():
    built = Thing.Builder().nIn(3).kernelSize(2, 3).l2(0.5).build()
    assert built == Thing.builder().n_in(3).kernel_size((2, 3)).l2(0.5).build()
    assert built == Thing(nIn=3, kernelSize=(2, 3), penalties=0.5)
    assert built.nIn == built.getNIn() == built.get_n_in() == 3
    assert built.setNIn(4).n_in == 4 and built.n_in == 3


@pytest.mark.parametrize("wrong", [
    lambda: Thing(kernl_size=2), lambda: Thing.Builder().kernlSize(2), lambda: Thing().replace(kernl_size=1)])
def test_misspelt_option_says_what_was_meant(wrong):
    with pytest.raises(ConfigurationError, match="did you mean 'kernel_size'"):
        wrong()


@pytest.mark.parametrize("values", [
    {"n_in": 1.5}, {"n_in": True}, {"n_in": 10**30}, {"rate": "fast"}, {"kind": "SECOND"}, {"curve": 3}, {"note": 3}])
def test_wrong_value_names_the_field(values):
    with pytest.raises(ConfigurationError, match=f"Thing.{next(iter(values))}"):
        Thing(**values)


def test_missing_repeated_and_invalid_values():
    negative, twice, too_many = (lambda: Fixed(-1)), (lambda: Fixed(1, value=1)), (lambda: Fixed(1, 2))
    for wrong in (Fixed, negative, twice, too_many, lambda: Thing.Builder().n_in()):
        with pytest.raises(ConfigurationError):
            wrong()


@pytest.mark.parametrize(("text", "error"), [
    ("{", FileFormatError), ('{"rate": NaN}', FileFormatError), ("[" * 100_000, FileFormatError),
    ("[]", ConfigurationError), ('{"@class": "test.curves.Fixed", "value": 1}', ConfigurationError),
    ('{"@class": "java.lang.Object"}', MissingOpError)])
def test_bad_texts(text, error):
    with pytest.raises(error):
        Thing.from_json(text)


def test_abstract_class_needs_a_name():
    with pytest.raises(ConfigurationError, match="@class"):
        Curve.from_json("{}")


def test_taken_name_is_refused_naming_both():
    with pytest.raises(RegistrationError, match=r"Thing.*Other"):
        @configuration("test.Thing")
        class Other(Configuration):
            pass


def test_objects_are_frozen_values():
    thing = Thing(n_in=3, kind=Kind.None_)
    with pytest.raises(AttributeError, match="replace"):
        thing.n_in = 4
    assert repr(thing) == "Thing(n_in=3, kind=Kind.None_)"
    assert eval(repr(thing)) == thing == copy.deepcopy(thing) == pickle.loads(pickle.dumps(thing))
    assert Thing(rate=math.nan) == Thing(rate=math.nan) != Thing()


@pytest.mark.parametrize(("java", "snake"), [
    ("nIn", "n_in"), ("lambda", "lambda_"), ("useLeakyReLU", "use_leaky_relu"), ("evaluateROC", "evaluate_roc"),
    ("tBPTTForwardLength", "tbptt_forward_length"), ("cnn2dDataFormat", "cnn2d_data_format"),
    ("getParamTable", "get_param_table"), ("isNCDHW", "is_ncdhw")])
def test_names_go_there_and_back(java, snake):
    assert to_snake(java) == snake and to_camel(snake) == java


def test_java_spelling_of_any_class():
    class Net(JavaSpelling):
        def __init__(self) -> None:
            self.learning_rate = 1.0

        def num_params(self) -> int:
            return 5

    net = Net()
    net.setLearningRate(2.0)
    assert net.numParams() == net.getNumParams() == 5 and net.getLearningRate() == net.learningRate == 2.0
    with pytest.raises(AttributeError):
        net.numParam()


def test_classes_of_plug_ins_are_found_by_their_entry_points(tmp_path):
    """A file that names a class nobody imported loads the plug-ins; a broken one is a warning."""
    package = tmp_path / "acme_rules"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from dl4py.samediff.configuration.declaring import configuration\nfrom dl4py.samediff.training import Sgd\n"
        "@configuration('com.acme.Halved')\nclass Halved(Sgd):\n    pass\n")
    metadata = tmp_path / "acme_rules-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: acme-rules\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[dl4py.updaters]\nhalved = acme_rules:Halved\nbroken = acme_rules:Nothing\n")
    code = ("from dl4py.samediff.training import IUpdater\n"
            "print(IUpdater.from_json('{\"@class\": \"com.acme.Halved\", \"learningRate\": 0.5}'))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.stdout == "Halved(learning_rate=0.5)\n"
    assert "plug-in 'broken'" in done.stderr and "'acme-rules'" in done.stderr


class _Called:
    def __call__(self, x):
        return x, "called"


class _JavaMixIn:
    def valueAt(self, x):
        return x, "mix-in"


@pytest.mark.parametrize("member, wanted", [
    (staticmethod(lambda x: (x, "static")), "static"), (classmethod(lambda cls, x: (x, "class")), "class"), (_Called(), "called"),
    (functools.partialmethod(lambda self, kind, x: (x, kind), "partial"), "partial"),
    (property(lambda self: lambda x: (x, "property")), "property")])
def test_everything_that_can_be_called_overrides_in_javas_spelling(member, wanted):
    class Base(JavaSpelling):
        def value_at(self, x):
            return x, "base"

    assert type("Own", (Base,), {"valueAt": member})().value_at(1) == (1, wanted)
    assert type("Mixed", (_JavaMixIn, Base), {})().value_at(1) == (1, "mix-in")
    assert type("Behind", (Base, _JavaMixIn), {})().value_at(1) == (1, "base")
    assert type("Both", (_JavaMixIn, Base), {"valueAt": member})().value_at(1) == (1, wanted)
    assert type("Nested", (Base,), {"valueAt": type("valueAt", (), {})})().value_at(1) == (1, "base")
