"""Documents (dictionaries, lists, numbers, texts) from JSON and YAML of strangers."""
from __future__ import annotations

import json
from typing import Any

from ..errors import DL4PyError, FileFormatError, LimitError
from .java_yaml import read_yaml

MOST_VALUES = 500_000     # a layer has about eighty
MOST_NESTED = 100       # far more than any network needs, and far less than what Python's stack holds


def read_text(text: str | bytes, kind: str, most_nested: int = MOST_NESTED, most_values: int = MOST_VALUES) -> Any:
    """Return the document of a ``"JSON"`` or ``"YAML"`` text.

    Raises
    ------
    FileFormatError
        Not such a text.
    LimitError
        Nested more than ``most_nested`` levels deep, or of more than ``most_values`` values.
    """
    if isinstance(text, (bytes, bytearray)):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        raise FileFormatError(f"the configuration is not {kind}: expected a text, got {text!r:.60}")
    try:
        if kind == "JSON":
            if len(text) > most_values and sum(map(text.count, ",[{")) > most_values:     # counted before any of them takes memory
                raise LimitError(f"the JSON text has more than {most_values} values")
            document, _ = _DECODER.raw_decode(text.lstrip(" \t\r\n"))      # what follows the document is passed over, as in DL4J
        else:
            return read_yaml(text, most_nested, most_values)
    except DL4PyError:
        raise
    except RecursionError:
        raise _too_deep(kind, most_nested) from None
    except Exception as problem:
        if isinstance(problem, (ValueError, TypeError)) or type(problem).__module__.startswith("yaml"):
            raise FileFormatError(f"the configuration is not {kind}: {problem}") from None
        raise
    level = [document]
    for _ in range(most_nested):
        level = [v for node in level for v in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())]
        if not level:
            return document
    raise _too_deep(kind, most_nested)


def _too_deep(kind: str, most_nested: int) -> LimitError:
    return LimitError(f"the {kind} text is nested too deeply: more than {most_nested} levels")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f'a bare {name} is not JSON; write it as text: "{name}"')


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
