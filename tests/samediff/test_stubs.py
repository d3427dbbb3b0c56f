"""The checked-in stub file of the ops follows the registry."""
from pathlib import Path

import dl4py.samediff
from dl4py.samediff.tools import stubs


def test_stub_file_is_up_to_date():
    checked_in = Path(dl4py.samediff.__file__).parent.joinpath("ir", "typed.pyi").read_text()
    assert checked_in == stubs.generate(), "run `python -m dl4py.samediff.tools.stubs`"


def test_an_op_shows_its_signatures_and_docstring():
    text = stubs.generate()
    assert "def softmax(self, x: Operand" in text
    assert "def softmax(self, name: str | list[str] | None, x: Operand" in text
    assert "class MathOps(Namespace):" in text and "class VariableOps:" in text
