"""Numbers of a record by name, as experiment trackers take them."""
from __future__ import annotations

from typing import Any

from ..listeners.stats import update_ratios

_PLAIN = ("score", "learning_rate", "iteration_ms", "etl_ms", "recording_ms", "examples_per_second", "memory_mb")
_NORMS = ("l2", "mean", "mean_magnitude", "stdev")


def scalars_of(record: dict[str, Any]) -> dict[str, float]:
    """Numbers by name: ``score``, ``parameters/0_W/stdev``, ``update_ratio/0_W``, ``evaluation/accuracy`` ...

    ``update_ratio`` is the common logarithm of the mean magnitudes of update and parameter; about -3 is usual.

    Examples
    --------
    >>> scalars_of({"score": 0.5, "iteration_ms": 10.0, "examples": 32})
    {'score': 0.5, 'iteration_ms': 10.0, 'examples_per_second': 3200.0}
    """
    made = {key: float(record[key]) for key in _PLAIN if isinstance(record.get(key), (int, float))}
    if record.get("examples") and record.get("iteration_ms"):
        made["examples_per_second"] = 1000 * record["examples"] / record["iteration_ms"]
    for kind in ("parameters", "gradients", "updates", "activations"):
        for name, found in record.get(kind, {}).items():
            made |= {f"{kind}/{name}/{norm}": found[norm] for norm in _NORMS if found.get(norm) is not None}
    made |= {f"update_ratio/{name}": ratio for name, ratio in update_ratios(record).items()}
    return made | {f"evaluation/{name}": value for name, value in record.get("evaluation", {}).items() if isinstance(value, (int, float))}
