"""The checked-in stub files of the ops follow the registry."""
from pathlib import Path

import dl4py.samediff
from dl4py.samediff.tools import stubs


def test_stub_files_are_up_to_date():
    folder = Path(dl4py.samediff.__file__).parent / "ir"
    assert {file.name: file.read_text() for file in folder.glob("*.pyi")} == stubs.generate(), "run `python -m dl4py.samediff.tools.stubs`"


def test_an_op_shows_its_signatures_and_docstring():
    text = "".join(stubs.generate().values())
    assert "def softmax(self, x: Operand" in text
    assert "def softmax(self, name: str | list[str] | None, x: Operand" in text
    assert "class MathOps(Namespace):" in text and "class VariableOps:" in text and "def sd(self) -> SameDiff" in text
