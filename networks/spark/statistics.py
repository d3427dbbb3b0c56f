"""The time that the parts of training on Spark take."""
from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...samediff.base.javanames import JavaSpelling
from ...samediff.text.html import html_table


class SparkTrainingStats(JavaSpelling):
    """Seconds that each part of a training took, each time it was done.

    ``split`` deals out the data, ``broadcast`` sends the values of the model, ``aggregate`` is the job of a round, of which workers spend
    ``worker_init`` and ``worker_fit``, ``process`` puts the means into the model.

    Examples
    --------
    >>> stats = SparkTrainingStats()
    >>> stats.add({"aggregate": [1.0, 3.0]})
    >>> stats.get_key_set(), stats.get_value("aggregate"), stats.total("aggregate")
    (['aggregate'], [1.0, 3.0], 4.0)
    """

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {}

    @contextmanager
    def timed(self, key: str) -> Iterator[None]:
        """Note how long the block takes."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add({key: [time.perf_counter() - began]})

    def add(self, seconds: Mapping[str, list[float]]) -> None:
        """Note further times."""
        for key, values in seconds.items():
            self._seconds.setdefault(key, []).extend(values)

    def get_key_set(self) -> list[str]:
        """The parts that were timed."""
        return list(self._seconds)

    def get_value(self, key: str) -> list[float]:
        """The times of a part."""
        return list(self._seconds.get(key, ()))

    def total(self, key: str) -> float:
        """All times of a part together."""
        return sum(self._seconds.get(key, ()))

    def stats_as_string(self) -> str:
        """A line for each part: how often, how long in all and at most."""
        return "\n".join(f"{key:<14} {len(v):>6} times {sum(v):>9.3f} s, at most {max(v):.3f} s" for key, v in self._seconds.items())

    def _repr_html_(self) -> str:
        rows = [(key, len(v), sum(v), max(v)) for key, v in self._seconds.items()]
        return html_table("Training on Spark", ("part", "times", "seconds", "longest"), rows)

    def __str__(self) -> str:
        return self.stats_as_string()
