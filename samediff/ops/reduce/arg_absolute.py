"""Positions of the elements of largest and smallest magnitude."""
from __future__ import annotations

from typing import Any

from ...codecs.file_args import FileArgs
from ...ir.op import op
from .argreduce import IndexReduction

_FILE = FileArgs(ints=("*dimensions",), bools=("keep_dims",), dtypes=("=10",), properties={"keepDims": "b:keep_dims"})


@op("argamax", gradient="zero", file=_FILE)
class ArgAbsoluteMax(IndexReduction):
    """Position of the element of largest magnitude over ``dimensions``: the first of equal ones, or the first NaN."""

    which, absolute = "max", True

    def choose(self, xp: Any, rows: Any) -> Any:
        return abs(rows).argmax(axis=-1)


@op("argamin", gradient="zero", file=_FILE)
class ArgAbsoluteMin(IndexReduction):
    """Position of the element of smallest magnitude over ``dimensions``: the first of equal ones, or the first NaN."""

    which, absolute = "min", True

    def choose(self, xp: Any, rows: Any) -> Any:
        return abs(rows).argmin(axis=-1)
