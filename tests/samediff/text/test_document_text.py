"""Texts of strangers: what they cost, what they may say, and that what was read can be written."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerConfiguration, NeuralNetConfiguration
from dl4py.samediff.errors import ConfigurationError, FileFormatError, LimitError
from dl4py.samediff.text import java_yaml
from dl4py.samediff.text.document_text import read_text

SIZE = 100_000
HOSTILE = {
    "list": "confs: [" + "0," * (SIZE // 2) + "0]", "objects": "confs: [" + "{}," * (SIZE // 3) + "{}]",
    "minutes": "confs: " + "1:" * (SIZE // 2) + "1", "nested lists": "[" * SIZE, "nested dashes": "- " * (SIZE // 2) + "1",
    "nested objects": "{a: " * (SIZE // 4), "nested keys": "? " * (SIZE // 2), "hexadecimal": "confs: 0x" + "f" * SIZE,
    "decimal": "confs: " + "9" * SIZE, "exponent": "confs: 1e" + "9" * SIZE, "underscores": "confs: 1" + "_" * SIZE,
    "anchors": "- &a 1\n" * (SIZE // 7), "tags": "- !<a.B> {}\n" * (SIZE // 12),
    "references": "a: &a [x,x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1},*a{i - 1}]\n" for i in range(3000)),
    "keys": "".join(f"k{i}: \n" for i in range(SIZE // 8)), "escapes": '"' + "\\u0041" * (SIZE // 6) + '"'}
COST = """
import resource, sys, time
from dl4py.networks import MultiLayerConfiguration
from dl4py.samediff.errors import DL4PyError
sys.path.insert(0, sys.argv[1])
from test_document_text import HOSTILE
try:
    MultiLayerConfiguration.from_yaml("confs: []")
except DL4PyError:
    pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, text in HOSTILE.items():
    begin = time.process_time()
    for read in (MultiLayerConfiguration.from_yaml, MultiLayerConfiguration.from_json):
        try:
            read(text)
        except DL4PyError:
            pass
    spent = time.process_time() - begin
    if spent > 10:
        print(name, spent)
if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > 200 * 1024:
    print("memory")
"""


@pytest.mark.slow
def test_no_text_costs_much():
    """Each takes some hundredths of a second; what this is to find took minutes."""
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", COST, here], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == ""


@pytest.mark.parametrize("parser", [java_yaml._PARSER, yaml.SafeLoader])
@pytest.mark.parametrize(("text", "value"), [
    ("1", 1), ("0x1F", 31), ("010", 8), ("0b11", 3), ("1_000", 1000), ("-5", -5), ("1.5", 1.5), ("1e5", 1e5), ("1.0E-7", 1e-7),
    ("+.5", 0.5), ("1_0.5", 10.5), ("-.inf", float("-inf")), ("~", None), ("null", None), ("", None), ("yes", True), ("No", False),
    ("tRue", "tRue"),
    ("a b", "a b"), ("'1'", "1"), ('"a\\nb"', "a\nb"), ("1:2", "1:2"), ("2020-01-01", "2020-01-01"), ("!!str 5", "5"), ("!!int '7'", 7),
    ("NaN", "NaN"), ("08", "08"), ("[1, a]", [1, "a"]), ("{1: b}", {"1": "b"}), ("!<a.B> {x: 1}", {"@class": "a.B", "x": 1}), ("{}", {})])
def test_yaml_values(parser, text, value, monkeypatch):
    monkeypatch.setattr(java_yaml, "_PARSER", parser)
    assert read_text(f"k: {text}\n", "YAML") == {"k": value}
    assert read_text(f"- {text}\n", "YAML") == [value]


@pytest.mark.parametrize("text", ["a: *b", "- &a 1\n- *a", "!x 1", "!!python/name:os.system x", "!!set {a}", "!!int x", "{[a]: 1}",
                                  "--- 1\n--- 2", "a: 0x" + "f" * 5000])
def test_yaml_that_is_refused(text):
    with pytest.raises(FileFormatError, match="is not YAML"):
        read_text(text, "YAML")


@pytest.mark.parametrize("kind", ["JSON", "YAML"])
def test_limits(kind):
    assert read_text("[[1, 2]]", kind, 3, 4) == [[1, 2]]
    with pytest.raises(LimitError, match="nested too deeply: more than 1 "):
        read_text("[[1, 2]]", kind, 1)
    with pytest.raises(LimitError, match="values"):
        read_text("[[1, 2, 3, 4, 5, 6]]", kind, 9, 4)


def test_no_more_layers_than_allowed():
    conf = {"layer": {"@class": "org.deeplearning4j.nn.conf.layers.DenseLayer", "nin": 1, "nout": 1}}
    assert len(MultiLayerConfiguration.from_document({"confs": [conf] * 2000}).confs) == 2000
    with pytest.raises(LimitError, match="50000 confs, at most"):
        MultiLayerConfiguration.from_document({"confs": [{}] * 50_000})


@pytest.mark.parametrize("name", ["\ud800", "\udc00\ud800", "a\0b", "\u2028", "'\"\\", "\N{GRINNING FACE}", "", "a/b"])
def test_what_was_read_can_be_written(name):
    document = NeuralNetConfiguration.Builder().list(DenseLayer(n_in=2, n_out=2), OutputLayer(n_in=2, n_out=2)).build().to_document()
    document["confs"][0]["layer"] |= {"layerName": name, "ofTheFuture": ["Infinity", 10**4000, {name: name}]}
    text = json.dumps(document).replace('"Infinity"', "1e999")
    conf = MultiLayerConfiguration.from_json(text)
    assert conf.confs[0].layer.layer_name == name
    written = conf.to_json().encode().decode()
    assert MultiLayerConfiguration.from_json(written) == conf == MultiLayerConfiguration.from_yaml(conf.to_yaml().encode().decode())
    assert json.loads(written)["confs"][0]["layer"]["ofTheFuture"] == ["Infinity", 10**4000, {name: name}]


@pytest.mark.parametrize("options", [{"n_in": 10**5000}, {"activation": 10**5000}, {"n_in": [10**5000]}, {"dropout": 10**5000},
                                     {"bias_init": 10**5000}])
def test_numbers_that_cannot_be_printed(options):
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        DenseLayer(n_out=2, **options)


@pytest.mark.parametrize("length", [0, 100_000])
def test_halves_of_characters_in_yaml_of_any_length(length):
    long = "y" * length
    listed = f'["{long}\\ud800", "\\\\ud800", "\\\\\\udC00", \'\\ud800\', "\\ud83d\\ude00", "\\ud800\\u0041"]'
    assert read_text(f'"k\\ud800": {listed}', "YAML") == {
        "k\ud800": [f"{long}\ud800", "\\ud800", "\\\udc00", "\\ud800", "\N{GRINNING FACE}", "\ud800A"]}
    assert read_text(f"a: {long}\\ud800", "YAML") == {"a": f"{long}\\ud800"}


@pytest.mark.parametrize("length", [127, 128, 5000])
@pytest.mark.parametrize("value", [1, [1, 2], [[1], {"b": 2}], {"b": {"c": [], "d": {}}}, {"@class": "acme.Layer", "b": [1]}, [], {}])
def test_long_keys_in_yaml(length, value):
    document = {"x": {"a" * length: value, "next": 3}, "y": [{"b " * length: value}]}
    assert read_text(java_yaml.write_yaml(document), "YAML") == document


@pytest.mark.parametrize("value", [3, None, {"a": 1}, ["{}"], object(), Path("a.json")])
def test_what_is_no_text(value):
    for read in (MultiLayerConfiguration.from_json, MultiLayerConfiguration.from_yaml):
        with pytest.raises(FileFormatError, match="expected a text"):
            read(value)
