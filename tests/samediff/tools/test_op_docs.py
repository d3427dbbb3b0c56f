"""The checked-in table of ops follows the registry."""
from pathlib import Path

from dl4py.samediff.ir.op import METHODS, OPS
from dl4py.samediff.tools import op_docs

DOCUMENT = Path(__file__).parents[3] / "docs" / "ops.md"


def test_document_is_up_to_date():
    assert DOCUMENT.read_text() == op_docs.generate(), "run .ci/generate"


def test_every_method_is_in_it():
    text = op_docs.generate()
    own = [cls for classes in METHODS.values() for cls in classes if cls.__module__.startswith("dl4py.samediff.")]
    assert not [cls.id for cls in own if f"| `{cls.id}` |" not in text]


def test_kinds():
    assert op_docs.kernel(OPS["tanh"]) == "fused" and op_docs.kernel(OPS["matmul"]) == "own"
    assert op_docs.types(OPS["add"]) == "promote" and op_docs.types(OPS["cast"]) == "`data_type`"
    assert op_docs.kernel(OPS["transpose"]) == "view" and op_docs.types(OPS["isnan"]) == "BOOL"
