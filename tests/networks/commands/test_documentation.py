"""The document of formats lists what the tables have."""
from __future__ import annotations

from dl4py.networks.commands.documentation import PATH, generate, layer_rows, op_rows
from dl4py.samediff.ir.op import METHODS
from dl4py.samediff.onnx.not_sayable import REFUSED


def test_the_tables_are_as_generated():
    text = PATH.read_text(encoding="utf-8")
    assert generate(text) == text, "python -m dl4py.networks.commands.documentation"


def test_rows():
    layers = {name: cells for names, *cells in layer_rows() for name in names.split(", ")}
    assert layers["`Convolution3D`"] == ["both ways", "Conv3D", "both ways"]
    assert layers["`DropoutLayer`"][1].startswith("AlphaDropout (other random numbers)")
    assert layers["`GravesLSTM`"] == ["both ways", "no", "by its own names"] and layers["`Recurrent`"][0] == "as a class of dl4py"
    ops = {name: written for names, _, written in op_rows() for name in names.split(", ")}
    assert ops["`relu`"] == "yes" and ops["`svd`"] == f"no: {REFUSED['svd']}"
    assert {f"`{cls.id}`" for classes in METHODS.values() for cls in classes if cls.__module__.startswith("dl4py.")} == set(ops)
