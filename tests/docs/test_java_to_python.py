"""The programs of the guide from Java run, in snake_case and in Java's spelling, and compute the same."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import SameDiff
from dl4py.samediff.data import DataSet, ListDataSetIterator
from tests.docs.blocks import blocks, run
from tests.docs.camel_case import camel_case

GUIDE = "docs/java-to-python.md"
IMPORTS, *PROGRAMS = blocks(GUIDE)
JAVA = blocks(GUIDE, "java")


def images():
    rng = np.random.default_rng(3)
    data = DataSet(rng.random((12, 784)), np.eye(10)[rng.integers(0, 10, 12)])
    return {n: ListDataSetIterator(data.as_list(), 6) for n in ("train", "test")}


def series():
    codes = np.random.default_rng(4).integers(0, 6, (4, 26))
    steps = np.eye(6)[codes].transpose(0, 2, 1)
    return {"train": ListDataSetIterator(DataSet(steps[:, :, :25], steps[:, :, 1:]).as_list(), 2)}


def pairs():
    rng = np.random.default_rng(5)
    return {"x1": rng.random((4, 3)), "x2": rng.random((4, 3)), "y": np.eye(3)[[0, 1, 2, 0]]}


def trained():
    conf = (NeuralNetConfiguration.Builder().seed(1).list().layer(DenseLayer(n_in=784, n_out=4))
            .layer(OutputLayer(n_in=4, n_out=10)).build())
    return {**images(), "net": MultiLayerNetwork(conf).init()}


NAMES = {"Dense network": images, "Convolutional network": images, "LSTM with truncated back-propagation": series,
         "Computation graph": pairs, "SameDiff graph": images, "User-defined op": dict, "SameDiff layer": images,
         "SameDiff lambda vertex": pairs, "Activation function": images, "Saving with a normalizer": trained, "Evaluation": trained,
         "Parallel training and inference": trained, "Arrays, graph scopes and compiled functions": dict}
OTHER_NAME = {"scaled_add": "scaledAdd", "com.example.": "com.example.java."}      # a name is registered once


def program(block, spelling):
    if spelling == "snake_case":
        return block
    code = camel_case(block.code)
    for name, other in OTHER_NAME.items():
        code = code.replace(f'"{name}', f'"{other}')
    return block._replace(code=code)


def result(names):
    """What a program computed, as arrays."""
    if "squares" in names:
        return [np.asarray(names[n]) for n in ("squares", "out", "result")]
    for value in names.values():
        if isinstance(value, (MultiLayerNetwork, ComputationGraph)):
            return value.params() if "Product" not in names else names["output"][0].shape
        if isinstance(value, SameDiff):
            return [v.get_arr() for v in value.variables() if v.name() in ("w0", "b0", "w1", "b1", "x", "y")]
    raise AssertionError("the program leaves neither a network nor a graph")


def test_every_program_is_shown_in_both_languages_and_has_data():
    assert [b.heading for b in PROGRAMS] == [b.heading for b in JAVA] == list(NAMES)


@pytest.mark.parametrize("block", PROGRAMS, ids=lambda b: b.heading)
def test_program_runs_in_both_spellings(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = []
    for spelling in ("snake_case", "camelCase"):
        names = run(IMPORTS, {"__name__": __name__}, GUIDE)
        results.append(result(run(program(block, spelling), names | NAMES[block.heading](), GUIDE)))
    np.testing.assert_equal(results[0], results[1])


@pytest.mark.parametrize("block", PROGRAMS, ids=lambda b: b.heading)
def test_java_spelling_differs(block):
    assert camel_case(block.code) != block.code
    compile(camel_case(block.code), GUIDE, "exec")


def test_names_stand_in_javas_order():
    """The Java form of a program calls the methods of the Java program, in its order (lambdas aside: Python defines them first)."""
    for java, python in zip(JAVA, PROGRAMS):
        if "class " in java.code:
            continue
        called = [re.findall(r"\.(\w+)\(", text) for text in (java.code, camel_case(python.code))]
        own = [[n for n in names if n not in ("println", "zeros", "close") and n[0].islower()] for names in called]
        if "->" in java.code:
            own = [sorted(names) for names in own]
        assert own[0] == own[1], python.heading
