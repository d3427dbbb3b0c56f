"""One statement of a program, made from text or from the table of ops."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import array_methods, nd4j_calls, numpy_calls
from .helping import NAMES

#: Names of values in the texts, and of what else is drawn.
VALUES, DRAWN = ("a", "b", "c"), ("k", "n", "s", "i", "j")


@dataclass(frozen=True)
class Statement:
    """What is called.

    Attributes
    ----------
    text, area : as it is printed, and the table that it comes from
    values : how many values of the program it takes
    function : of these and of what was drawn
    refused : whether scopes and traces may refuse it
    steps : whether compiled functions run it step by step
    """

    text: str
    area: str
    values: int
    function: Callable[..., Any] = field(repr=False, compare=False)
    refused: bool = False
    steps: bool = False

    def calls(self) -> set[str]:
        """The dotted names in the text: ``np.linalg.inv``, ``Nd4j.sum``, ``.addi``."""
        plain = re.sub(r'"[^"]*"', '""', self.text)
        return set(re.findall(r"(?:np|Nd4j|T|I|C|ops)(?:\.[A-Za-z_]\w*)+", plain)) | set(re.findall(r"(?<=[\w)\]])\.[A-Za-z_]\w*", plain))


def _made(text: str, area: str) -> Statement:
    mark, code = (text[0], text[1:].strip()) if text[0] in "?!" else ("", text)
    plain = re.sub(r"lambda (\w+(?:, \w+)*):", "", code)
    used = [v for v in VALUES if re.search(rf"(?<![\w.\"]){v}(?![\w\"])", plain)]
    count = VALUES.index(used[-1]) + 1 if used else 0
    function = eval(f"lambda {', '.join([*VALUES[:count], *DRAWN])}: {code}", dict(NAMES))
    return Statement(code, area, count, function, mark == "?", mark == "!")


def of_text() -> list[Statement]:
    """The statements of all tables."""
    tables: dict[str, str] = {**numpy_calls.TABLES, **array_methods.TABLES, **nd4j_calls.TABLES}
    lines = [(line, area) for area, text in tables.items() for line in text.strip().splitlines()]
    return [_made(s.strip(), area) for line, area in lines for s in line.split(" ; ") if s.strip()]


def drawn(rng: np.random.Generator, values: Sequence[Any]) -> tuple[Any, ...]:
    """An axis, a count, a number, and positions, for statements on these values."""
    a = values[0] if values else np.zeros((1, 1))
    sizes = (a.shape[0], a.shape[-1]) if a.ndim else (1, 1)
    axis = int(rng.integers(-1, max(a.ndim, 1)))
    i, j = (int(rng.integers(-n, n)) if n else 0 for n in sizes)
    return axis, int(rng.integers(1, 4)), float((0.5, -1.5, 2.0, 0.0, 1.0)[rng.integers(5)]), i, j
