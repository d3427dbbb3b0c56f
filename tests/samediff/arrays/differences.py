"""Recorded calls in which dl4py means something else than DL4J 1.0.0-M2.1, by reason (docs/differences.md)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.samediff.arrays.recorded import tables

Case = dict[str, Any]


def data_type(name: str) -> str:
    """The type of one of the arrays."""
    found = tables()
    return found["arrays"][name]["type"] if name in found["arrays"] else data_type(found["views"][name][0])


def shape(name: str) -> list[int]:
    """Its shape; none for views."""
    return tables()["arrays"].get(name, {}).get("shape", [])


def others(case: Case) -> list[str]:
    """The arrays among the arguments."""
    return [a["a"] for a in case["args"] if "a" in a]


def numbers(case: Case) -> list[Any]:
    """The numbers among the arguments, also of positions and dimensions."""
    found: list[Any] = []

    def collect(value: Any) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            for v in value:
                collect(v)
    for a in case["args"]:
        collect(list(a.values()))
    return found


def calls(*names: str) -> Callable[[Case], bool]:
    """Calls of these methods."""
    return lambda case: case["call"] in names


def whole(name: str) -> bool:
    """Whether an array holds whole numbers."""
    return data_type(name) in ("INT", "LONG")


def parts(case: Case) -> list[Any]:
    """The indices among the arguments."""
    return [part for a in case["args"] for part in a.get("index", ())]


def shorter_than_stride(part: list[Any]) -> bool:
    """Whether an interval holds its first position alone."""
    return part[0] == "interval" and len(part) == 4 and part[2] - part[1] < part[3]


REASONS: dict[str, Callable[[Case], bool]] = {
    "a mask takes the elements where it is True": lambda c: c["call"] == "get" and others(c) == ["mask"],
    "methods of empty arrays give empty arrays, or raise where no value exists": lambda c: c["on"] in ("e", "e2", "eI"),
    "arrays of different types meet in the wider one; DL4J refuses, or reads the memory of one as the type of the other":
        lambda c: any(data_type(o) != data_type(c["on"]) for o in others(c)),
    "a number beside whole numbers may be a float without a fraction; one with a fraction is refused where DL4J refuses or cuts it off":
        lambda c: whole(c["on"]) and any("N" in a for a in c["args"]),
    "negative positions and dimensions count from the end": lambda c: any(n < 0 for n in numbers(c)),
    "positions, shapes and lengths that do not fit are refused, not read or written from other memory":
        lambda c: "error" not in c and c["call"] in (
            "get", "put", "putRow", "putColumn", "eps", "assign", "getDouble", "getFloat", "getInt", "getLong", "getNumber", "getScalar",
            "distance1", "distance2", "squaredDistance", "amean"),
    "an interval shorter than its stride has one position; DL4J refuses it or reads beyond":
        lambda c: any(map(shorter_than_stride, parts(c))),
    "arrays are put to listed positions beside intervals and points; DL4J applies these to the values too":
        lambda c: c["call"] == "put" and "error" in c and any(p[0] == "indices" for p in parts(c)),
    "views print all their elements": lambda c: c["call"] in ("toString", "toStringFull") and c["on"] in ("tp", "mIv"),
    "a slice of a slice is not empty": lambda c: len(c.get("view", ())) == 2 and "error" in c,
    "a column of a view loses its axis of size 1 too": lambda c: c["call"] == "var" and "view" in c,
    "new axes may stand anywhere": lambda c: c["call"] == "get" and "newAxis" in str(c["args"]),
    "broadcast, ravel with an order, repmat with any counts": calls("broadcast", "ravel", "repmat"),
    "putWhere works; masks are not 0, and elements come from the same places": calls("putWhere", "putWhereWithMask"),
    "match compares with the number": lambda c: c["call"] == "match" and "N" in c["args"][0],
    "the largest and smallest of NaN is NaN": lambda c: c["on"] == "nan",
    "a reduction takes its axis away, of size 1 too": lambda c: c["on"] == "r" and c["args"] == [{"ints": [0]}],
    "medians have the shape of other reductions and keep DOUBLE": calls("median"),
    "columns as vectors in column order": lambda c: c["call"].endswith("ColumnVector") and c["on"] in ("mf", "mt"),
    "a vector has itself as its transpose": lambda c: c["call"] in ("transpose", "transposei") and len(shape(c["on"])) < 2,
    "truth values have a largest one, and one slice may be put into a vector, or 2 into truth values":
        lambda c: (c["call"], c["on"]) in (("argMax", "mB"), ("putSlice", "v"), ("assign", "mB")),
    "strides of axes of size 1 are NumPy's": lambda c: c["on"] == "r" and c["call"] in ("stride", "shapeInfoToString"),
    "a column has no leading ones": lambda c: (c["call"], c["on"]) == ("getLeadingOnes", "c"),
    "remainders by 0 are NaN or 0": calls("remainder", "fmod"),
}


def reason(case: Case) -> str | None:
    """Why a call may differ."""
    return next((text for text, holds in REASONS.items() if holds(case)), None)
