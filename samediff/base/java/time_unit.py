"""Java's units of time."""
from __future__ import annotations

from .java_enum import JavaEnum


class TimeUnit(JavaEnum):
    """Java's units of time; the value is the number of seconds."""

    NANOSECONDS = 1e-9
    MICROSECONDS = 1e-6
    MILLISECONDS = 1e-3
    SECONDS = 1.0
    MINUTES = 60.0
    HOURS = 3600.0
    DAYS = 86400.0

    def to_millis(self, amount: float) -> int:
        """So many of them in milliseconds, without a fraction.

        Examples
        --------
        >>> TimeUnit.HOURS.toMillis(2)
        7200000
        """
        return int(round(amount * self.value * 1e6) // 1000)

    toMillis = to_millis
