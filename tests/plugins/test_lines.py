"""The table of lines in docs/plug-ins-advanced.md is that of the code beside this file."""
from __future__ import annotations

import ast
import inspect
import itertools
from pathlib import Path

from tests.plugins import layers, ops, others

DOCUMENT = Path(__file__).parents[2] / "docs" / "plug-ins-advanced.md"
#: What was written, its lines for an early version of dl4py, and what there is now.
OPS = [
    ("mish, with an attribute", 3, (ops, "mish")), ("straight-through rounding", 5, (ops, "quantise")),
    ("root mean square", 3, (ops, "rms")), ("two outputs", 3, (ops, "polar")),
    ("rows by index", 3, (ops, "pick_rows")),
    ("Numba kernel and that of its gradient", 26, (ops, "_averaged", "_averaged_back", "ema")), ("CUDA text", 8, (ops, "scaled")),
    ("random, in training", 12, (ops, "jitter")), ("running mean", 4, (ops, "running_mean")),
    ("attributes of eight types", 22, (ops, "Side", "props")), ("DL4J's form", 22, (ops, "Added")), ("SciPy", 6, (ops, "median_filter")),
    ("attention", 7, (ops, "cosine_attention")), ("any number of inputs", 6, (ops, "weighted_sum")),
    ("an input that may be left out", 7, (ops, "masked_mean"))]
LAYERS = [
    ("dense layer with a norm", 12, (layers, "DenseNorm")), ("self-attention and its op", 31, (layers, "mha", "SelfAttention")),
    ("residual block of layers", 38, (layers, "ResidualBlock")), ("GRU with state", 26, (layers, "Gru")),
    ("output layer with masks", 25, (layers, "MarginOutput")), ("batch normalization and its op", 28, (layers, "norm", "MyBatchNorm")),
    ("vertex", 11, (layers, "GatedMix")), ("layer and vertex without parameters", 12, (layers, "squash", "product")),
    ("table with a constraint", 11, (layers, "Bucketed")), ("layer of user ops", 17, (layers, "angles"))]
OTHERS = [
    ("activation", 5, (others, "ActivationMish")), ("loss", 6, (others, "Huber")), ("updater", 11, (others, "Lion")),
    ("schedule", 6, (others, "WarmUp")), ("initialiser", 5, (others, "Orthant")), ("dropout", 6, (others, "ScaleNoise")),
    ("preprocessor", 10, (others, "Flat")), ("constraint", 5, (others, "Clipped")), ("evaluation", 8, (others, "Brier")),
    ("listener", 4, (others, "Scores"))]


def lines(module, *names):
    """Lines of code with decorators, without blank ones and docstrings."""
    source = inspect.getsource(module)
    counted = set()
    for node in ast.parse(source).body:
        if getattr(node, "name", None) not in names:
            continue
        counted |= {*range(min(d.lineno for d in (*node.decorator_list, node)), node.end_lineno + 1)}
        for inner in ast.walk(node):
            if isinstance(inner, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(inner) is not None:
                counted -= {*range(inner.body[0].lineno, inner.body[0].end_lineno + 1)}
    return sum(bool(line.strip()) for n, line in enumerate(source.splitlines(), 1) if n in counted)


def test_the_table_of_lines():
    def cells(row):
        return ("", "", "") if row is None else (row[0], str(row[1]), str(lines(*row[2])))
    rows = [" | ".join(cell for row in three for cell in cells(row)) for three in itertools.zip_longest(OPS, LAYERS, OTHERS)]
    text = DOCUMENT.read_text(encoding="utf-8")
    missing = [f"| {row} |" for row in rows if f"\n| {row} |\n" not in text]
    assert not missing, "\n".join(missing)
