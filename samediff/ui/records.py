"""Records that come from other processes: taken only in the form that listeners give them."""
from __future__ import annotations

import json
from typing import Any

from ..errors import FileFormatError

#: Of one record, and how deep it is nested at most.
MOST_BYTES, DEEPEST = 20_000_000, 12


def checked_record(body: bytes) -> dict[str, Any]:
    """The record in some bytes.

    Raises
    ------
    FileFormatError
        They are none.

    Examples
    --------
    >>> checked_record(b'{"iteration": 3, "session": "a", "score": 0.5}')["score"]
    0.5
    """
    try:
        record = json.loads(body, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"a record is JSON ({error})") from None
    if not isinstance(record, dict):
        raise FileFormatError(f"a record is a dictionary, got a {type(record).__name__}")
    iteration, session = record.get("iteration"), record.get("session", "")
    if not isinstance(iteration, int) or isinstance(iteration, bool) or iteration < 0:
        raise FileFormatError(f"the iteration of a record is a whole number from 0 on, got {iteration!r:.40}")
    if not isinstance(session, str) or len(session) > 200:
        raise FileFormatError(f"the session of a record is a text of at most 200 letters, got {session!r:.40}")
    parts: tuple[str, ...] = ("run", "parameters", "gradients", "updates", "activations", "evaluation", "pictures", "embedding")
    kinds: dict[str, tuple[type, ...]] = {"score": (int, float, type(None)), "time": (int, float), "epoch": (int,)}
    for key, kind in (kinds | dict.fromkeys(parts, (dict,))).items():
        if key in record and not isinstance(record[key], kind):
            raise FileFormatError(f"{key!r} of a record is of another type: {record[key]!r:.40}")
    _check_depth(record)
    return record


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _check_depth(value: Any, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise FileFormatError(f"a record is nested at most {DEEPEST} deep")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(part, depth + 1)
