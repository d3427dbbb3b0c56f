"""Programs of DL4J's documents: in Java's spelling as they are printed, and in Python's."""
from __future__ import annotations

import re
from typing import Any

import pytest

import dl4py
from dl4py.samediff.base.javanames import to_snake

spellings = pytest.mark.parametrize("spelling", ["java", "python"])


def run(program: str, spelling: str, **given: Any) -> dict[str, Any]:
    """What a program defines. ``given`` stands for the data that documents leave open; all public names are known."""
    in_python = re.sub(r"(\.|\bdef )([a-z]+(?:[A-Z]\w*)+)(?=\()", lambda found: found[1] + to_snake(found[2]), program)
    text = program if spelling == "java" else in_python
    names = {n: getattr(dl4py, n) for n in dl4py.__all__} | given
    exec(compile(text, f"<{spelling}>", "exec"), names)
    return names
