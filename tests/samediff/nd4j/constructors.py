"""DL4J's constructors of op classes, and what becomes of their arguments here.

``tests/golden/op_classes/constructors.txt`` holds each public constructor of 1.0.0-M2.1 that takes anything, as reflection tells it:
types and names of the parameters, then the classes that have it. Before types stands ``>`` where the argument is an output, ``=`` where an
array gives the value of an attribute, ``~`` where the argument says nothing here; behind names the attribute, where it has another name,
``input`` where it is one, ``refused`` where another value is. A line with ``!`` in front is refused.

``python -m tests.samediff.nd4j.constructors`` writes the marks anew: read what changes.
"""
from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dl4py
from dl4py import Nd4j, SameDiff
from dl4py.samediff import Conditions, DataType, MMulTranspose
from dl4py.samediff.base.enums import CropMethod, ImageResizeMethod, LossReduce, PadMode
from dl4py.samediff.base.javanames import squash
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.nd4j import op_classes
from dl4py.samediff.ops.conv import cnn_configuration
from dl4py.samediff.ops.index.gather import PartitionMode
from dl4py.samediff.ops.recurrent import rnn_configuration

FILE = Path(__file__).parents[2] / "golden/op_classes/constructors.txt"
NUMBERS: dict[str, list[Any]] = {"b": [False, True], "d": [0.25, 0.75], "float": [0.25, 0.75], "N": [2.0, 3.0],
                                 "i": [1, 2], "l": [1, 2], "Integer": [1, 2]}
CHOICES: dict[str, list[Any]] = {
    "DataType": [DataType.DOUBLE, DataType.INT], "Condition": [Conditions.lessThan(1.0), Conditions.greaterThan(2.0)],
    "char": ["c", "f"], "LossReduce": [LossReduce.SUM, LossReduce.NONE], "PartitionMode": list(PartitionMode),
    "ImageResizeMethod": [ImageResizeMethod.ResizeArea, ImageResizeMethod.ResizeBicubic], "Object[]": [None], "List": [[]],
    "DataFormat": [cnn_configuration.DataFormat.NHWC, cnn_configuration.DataFormat.NCHW],
    "int[][]": [[[0, 1], [1, 0]], [[1, 0], [0, 1]]],
    **{n: [PadMode.REFLECT, PadMode.SYMMETRIC] for n in ("PadMode", "Pad$Mode", "Mode")}, "CropAndResize$Method": list(CropMethod),
    "CoordinateTransformationMode": ["ASYMMETRIC"], "NearestMode": ["FLOOR"],
    "MMulTranspose": [MMulTranspose(), MMulTranspose(True)]}
SIZES = {"Conv1DConfig": ("k",), "Conv2DConfig": ("kH", "kW"), "Conv3DConfig": ("kD", "kH", "kW"), "DeConv2DConfig": ("kH", "kW"),
         "DeConv3DConfig": ("kD", "kH", "kW"), "Pooling2DConfig": ("kH", "kW", "sH", "sW"),
         "Pooling3DConfig": ("kD", "kH", "kW", "sD", "sH", "sW"), "LocalResponseNormalizationConfig": ("depth",)}
#: Arrays that are values of attributes, by name.
VALUES: dict[str, Any] = {
    "factor": 0.5, "maxOutSize": 2, "iouThreshold": 0.5, "scoreThreshold": 0.25, "numSplit": 3, "adjoint": True, "lower": True,
    "minLower": 1, "maxUpper": 1,
    "dataType": 6, "rows": 2, "columns": 3, "numRows": 2, "numCols": 3, "from": 0.0, "to": 1.0, "step": 0.5, "length": 3,
    "start": 0.0, "stop": 1.0, "number": 3, "dimensions": 0, "clipValue": 0.5, "clipValueMin": -0.5, "clipValueMax": 0.5, "axes": 0,
    "value": 0.5}
PAIRS = ("kSizes", "strides", "rates", "blocks", "croppingTop", "croppingBottom", "paddingTop", "paddingBottom", "shape", "begin", "end",
         "size", "repeat", "seeds", "permuteDims", "dimensionsX", "dimensionsY", "axesX", "axesY", "iArguments")


def constructors() -> Iterator[tuple[str, str]]:
    """Class and parameters of each, without marks."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        parameters, _, names = line.removeprefix("!").partition(" | ")
        for name in names.split():
            yield name, re.sub(r"[>=~]|:[\w+]+", "", parameters)


def marked(name: str, parameters: str) -> str:
    """The parameters with the marks that say what becomes of them."""
    pairs = [p.split(" ") for p in parameters.split(", ")]
    sd = SameDiff.create()
    choices = [_samples(name, kind, word, i == len(pairs) - 1, sd) for i, (kind, word) in enumerate(pairs)]
    first = [c[0] for c in choices]
    made = _made(name, first)
    if made is None:
        return f"!{parameters}"
    places = {id(a): "" for a in made.input_arguments} | {id(a): ">" for a in made.output_arguments}
    texts = []
    for i, (kind, word) in enumerate(pairs):
        if kind == "sd":
            texts.append(f"{kind} {word}")
        elif kind in ("a", "v"):
            texts.append(f"{places.get(id(first[i][0]), '=')}{kind} {word}")
        else:
            found = {n for other in choices[i][1:] for n in _changed(made, _made(name, [*first[:i], other, *first[i + 1:]]))}
            texts.append(_option(f"{kind} {word}", word, found, len(choices[i]) > 1))
    return ", ".join(texts)


def _option(text: str, word: str, found: set[str], varied: bool) -> str:
    if not varied or (len(found) == 1 and squash(next(iter(found))) == squash(word)):
        return text
    return f"{text}:{'+'.join(sorted(found))}" if found else f"~{text}"


def _made(name: str, arguments: list[list[Any]]) -> Any:
    try:
        return getattr(op_classes, name)(*itertools.chain.from_iterable(arguments))
    except DL4PyError:
        return None


def _changed(one: Any, other: Any) -> set[str]:
    if other is None:
        return {"refused"}
    pairs = zip(one.input_arguments, other.input_arguments)
    moved = {"input"} if any(not np.array_equal(a, b) for a, b in pairs if not hasattr(a, "get_shape")) else set()
    if one._compute is not None and one._compute.args[:2][-1] != other._compute.args[:2][-1]:     # of several ops
        moved.add("number")
    if one._op is None:
        return moved
    return moved | {n for n in one._op.attribute_names() if repr(getattr(one._op, n)) != repr(getattr(other._op, n, None))}


def _samples(name: str, kind: str, word: str, last: bool, sd: SameDiff) -> list[list[Any]]:
    """Lists of arguments for a parameter, of several values where it has some."""
    splat = kind.endswith("...")
    kind = kind.removesuffix("...") + "[]" if splat else kind
    if kind == "sd":
        return [[sd]]
    if kind in ("a", "v"):
        value = np.asarray(VALUES[word]) if word in VALUES else np.ones((2, 3), np.float32)
        return [[dl4py.INDArray.of(value) if kind == "a" else sd.constant(value) if word in VALUES else sd.var(value)]]
    if kind in ("a[]", "v[]"):
        required = [t for t in OPS[getattr(op_classes, name).op_id].inputs.split() if t[0] != "*" and t[-1] != "?"]
        count = (len(required) or 2) if word in ("args", "inputs", "inputFunctions") else 1 if word.startswith("output") else 2
        many: list[Any] = [Nd4j.ones(2, 3) if kind == "a[]" else sd.var(np.ones((2, 3), np.float32)) for _ in range(count)]
        return [many if splat else [many]]
    if kind in ("i[]", "l[]"):
        count = 2 if word in PAIRS else 1
        both = [[2, 3], [3, 2]] if word in ("shape", "blocks", "kSizes") else [[0, 1][:count], [1, 0][:count]]
        return both if splat else [[v] for v in both]
    if kind in NUMBERS or kind in CHOICES:
        return [[v] for v in (NUMBERS | CHOICES)[kind]]
    if kind == "String":
        return [["c"], ["f"]] if word == "order" else [["anOp"]]
    if kind in SIZES:
        return [[getattr(cnn_configuration, kind)(**dict.fromkeys(SIZES[kind], 2))]]
    weights = getattr(rnn_configuration, kind)
    needed = [f.name for f in dataclasses.fields(weights) if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    return [[weights(**{n: Nd4j.ones(2, 3) for n in needed})]]


def written() -> str:
    """The text of the file with the marks of today."""
    lines: dict[str, list[str]] = {}
    for name, parameters in constructors():
        lines.setdefault(marked(name, parameters), []).append(name)
    return "".join(f"{parameters} | {' '.join(sorted(set(names)))}\n" for parameters, names in sorted(lines.items()))


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
