"""Chrome's trace format, which chrome://tracing and ui.perfetto.dev show."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from ..codecs.atomic_files import extend_file, write_file


def event(name: str, category: str, start: float, seconds: float, track: int, **details: Any) -> dict[str, Any]:
    """Something that took time; the format counts microseconds."""
    return {"name": name, "cat": category, "ph": "X", "ts": round(start * 1e6, 3), "dur": round(seconds * 1e6, 3), "pid": 1, "tid": track,
            "args": details}


def track_names(names: Sequence[str], process: str) -> list[dict[str, Any]]:
    """Events that name the process and its tracks 1, 2 ..."""
    return [{"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": process}},
            *({"name": "thread_name", "ph": "M", "pid": 1, "tid": k, "args": {"name": name}} for k, name in enumerate(names, 1))]


def write_trace(path: str | os.PathLike[str], events: Sequence[dict[str, Any]]) -> None:
    """Write events to a file in Chrome's trace format."""
    write_file(path, json.dumps({"traceEvents": list(events), "displayTimeUnit": "ms"}))


class TraceFile:
    """A trace that grows: valid JSON after every call of :meth:`append`."""

    _END = b"\n]}\n"

    def __init__(self, path: str | os.PathLike[str], events: Sequence[dict[str, Any]]) -> None:
        self.path = path
        write_file(path, b'{"displayTimeUnit": "ms", "traceEvents": [\n' + _lines(events) + self._END)

    def append(self, events: Sequence[dict[str, Any]]) -> None:
        """Add events behind those that are there."""
        if events:
            extend_file(self.path, b",\n" + _lines(events), self._END)


def _lines(events: Iterable[dict[str, Any]]) -> bytes:
    return ",\n".join(map(json.dumps, events)).encode()
