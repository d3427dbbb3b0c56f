"""What every case has: a name, what the manifest says about it, and what is compared when Java has done its part."""
from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dl4py.samediff.files import read_array, write_array

#: An op that no method offers: a gradient or a helper. DL4J may or may not know it.
MAYBE = "an op of dl4py's own"


class Folder:
    """Where Python puts files for Java, and finds those of Java."""

    def __init__(self, given: Path, found: Path) -> None:
        self.given, self.found = given, found
        self.count = 0

    def put(self, array: Any) -> str:
        """Write an array; the name of its file."""
        self.count += 1
        name = f"{self.count}.bin"
        with open(self.given / name, "wb") as stream:
            write_array(stream, np.asarray(array))
        return name

    def got(self, case: Case, ending: str) -> Any:
        """An array that Java wrote."""
        return read_array(io.BytesIO((self.found / f"{case.id}{ending}").read_bytes()))


@dataclass
class Case:
    """One file. ``tolerance`` is relative to the largest entry of an array, ``step`` for what training gives."""

    name: str
    tolerance: float = 1e-5
    step: float = 1e-4
    refused: str = ""           # why DL4J cannot open it; MAYBE for ops that only dl4py has
    differences: dict[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The name as a file name."""
        return re.sub(r"\W+", "_", self.name)

    def write(self, folder: Folder) -> dict[str, Any]:
        """Write the file; the manifest's entry."""
        raise NotImplementedError

    def check(self, folder: Folder, result: dict[str, Any]) -> None:
        """Compare what Java found and saved."""
        raise NotImplementedError

    def compare(self, what: str, got: Any, want: Any, tolerance: float) -> None:
        """Note the difference and fail where it is too large."""
        got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
        assert got.shape == want.shape, f"{what}: Java has {got.shape}, Python {want.shape}"
        equal = (got == want) | (np.isnan(got) & np.isnan(want))
        finite = want[np.isfinite(want)]
        scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
        with np.errstate(invalid="ignore"):
            apart = float(np.where(equal, 0.0, np.abs(got - want)).max(initial=0.0)) / scale
        self.note(what, apart, tolerance)

    def note(self, what: str, apart: float, tolerance: float) -> None:
        """The same with a difference that is known."""
        self.differences[what] = apart
        assert apart <= tolerance, f"{what}: they differ by {apart:.3g}, allowed are {tolerance:.3g}"
