"""The checked-in stub files of the ops follow the registry."""
from pathlib import Path

import pytest

import dl4py.samediff
from dl4py.samediff.tools import stubs


@pytest.mark.slow
def test_stub_files_are_up_to_date():
    root = Path(dl4py.samediff.__file__).resolve().parents[1]
    found = {file.relative_to(root).as_posix(): file.read_text() for package in ("samediff", "layers", "networks", "udf")
             for file in (root / package).rglob("*.pyi")}
    assert found == stubs.generate(), "run .ci/generate"


@pytest.mark.slow
def test_an_op_shows_its_signatures_and_docstring():
    text = "".join(stubs.generate().values())
    assert "def softmax(self, x: Operand" in text
    assert "def softmax(self, name: str | list[str] | None, x: Operand" in text
    assert "class MathOps(Namespace):" in text and "class VariableOps:" in text and "def sd(self) -> SameDiff" in text
