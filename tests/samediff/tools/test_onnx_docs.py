"""The checked-in table of ONNX operators follows the registry."""
from pathlib import Path

import pytest
from onnx import defs

from dl4py.samediff.base.home import is_ours
from dl4py.samediff.onnx import known_converters
from dl4py.samediff.tools import onnx_docs

DOCUMENTS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", ["onnx.md", "tensorflow.md"])
def test_document_is_up_to_date(name):
    text = (DOCUMENTS / name).read_text(encoding="utf-8")
    assert text == onnx_docs.generate(text, name), "run .ci/generate"


def test_operators_are_those_of_the_standard():
    known = {(s.domain, s.name) for s in defs.get_all_schemas_with_history()}
    own = {(c.domain, c.operator) for c in known_converters() if is_ours(c.convert) and c.domain not in onnx_docs.ELSEWHERE}
    assert own <= known | {("ai.onnx.ml", "TreeEnsemble")}
    assert len(own) > 180
