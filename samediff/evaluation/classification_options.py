"""Arguments of an :class:`Evaluation` and their meaning, and small parts of its JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import ConfigurationError


def positional(args: tuple[Any, ...]) -> dict[str, Any]:
    """Return the options that DL4J's positional constructor arguments mean, by their types."""
    if not args or (len(args) == 1 and args[0] is None):
        return {}
    first, *rest = args
    if isinstance(first, bool) or len(args) > 2:
        raise ConfigurationError(
            f"Evaluation takes (num_classes[, positive]), (labels[, top_n or costs]) or (threshold[, positive]), "
            f"got {args}"
        )
    if isinstance(first, (int, np.integer)):
        found: dict[str, Any] = {"num_classes": int(first), "binary_positive_class": 1 if first == 2 else None}
        second = "binary_positive_class"
    elif isinstance(first, (float, np.floating)):
        found, second = {"binary_decision_threshold": float(first)}, "binary_positive_class"
    elif isinstance(first, Mapping) or (not hasattr(first, "shape") and all(isinstance(v, str) for v in names(first))):
        found, second = {"labels": first}, "top_n" if rest and isinstance(rest[0], (int, np.integer)) else "cost_array"
    else:
        found, second = {"cost_array": first}, ""
    if rest and not second:
        raise ConfigurationError(
            "a cost array takes no second argument; give names first: Evaluation(labels, cost_array)"
        )
    return {**found, second: rest[0]} if rest else found


def names(labels: Iterable[str] | Mapping[int, str] | None) -> list[str]:
    """Return the class names as a list."""
    if isinstance(labels, Mapping):
        if sorted(labels) != list(range(len(labels))):
            raise ConfigurationError(
                f"class names by number need the numbers 0 to {len(labels) - 1}, got {sorted(labels)}"
            )
        return [labels[i] for i in range(len(labels))]
    if labels is None:
        return []
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise ConfigurationError(f"class names are a list of texts, or a dictionary of them by number; got {labels!r:.60}")
    return list(labels)


def counter(values: dict[int, int], with_zeros: bool = False) -> dict[str, Any]:
    """Return DL4J's JSON of a counter; zeros are left out unless they are asked for."""
    found = {str(k): float(v) for k, v in values.items() if v or with_zeros}
    return {"map": found, "totalCount": float(sum(found.values())), "dirty": False, "empty": not found}
