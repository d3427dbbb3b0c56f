"""The configuration of a loaded network as text: what the file said, wherever nothing has changed since."""
from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ...samediff.configuration.missing_class import stand_ins_in
from ...samediff.configuration.values import write_json
from ...samediff.text.document_text import read_text


def kept_text(original: str, loaded: Any, present: Any) -> str:
    """The JSON of a configuration that was read from a file.

    Untouched it is the file's own text. Else what has changed is put into it: fields that nobody knows, the order of
    fields and the line ends stay. Files of older versions get today's form.

    Parameters
    ----------
    original : the text of the file.
    loaded, present : the configuration as it was read, and as it is.
    """
    before, now = loaded.to_document(), present.to_document()
    if before == now and any(stand_ins_in(present)):        # what of it is old, nobody knows
        return original
    document = read_text(original, "JSON")
    if not isinstance(document, Mapping) or type(present).upgrade(deepcopy(dict(document))) != document:
        return str(present.to_json())
    if before == now:
        return original
    text = write_json(merged(document, before, now))
    return text.replace("\n", "\r\n") if "\r\n" in original else text


def merged(original: Any, before: Any, now: Any) -> Any:
    """``original`` with the changes from ``before`` to ``now``.

    Examples
    --------
    >>> merged({"new": 1, "a": 2, "b": 3}, {"a": 2, "b": 3}, {"a": 5, "b": 3})
    {'new': 1, 'a': 5, 'b': 3}
    """
    if before == now:
        return original
    if isinstance(original, Mapping) and isinstance(before, Mapping) and isinstance(now, Mapping) and _same_class(original, now):
        kept = {key: merged(value, before.get(key), now[key]) if key in now else value
                for key, value in original.items() if key in now or key not in before}
        return kept | {key: value for key, value in now.items() if key not in original and before.get(key) != value}
    if isinstance(original, list) and isinstance(before, list) and isinstance(now, list) and len(original) == len(before) == len(now):
        return [merged(*three) for three in zip(original, before, now)]
    return now


def _same_class(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a.get("@class") == b.get("@class")
