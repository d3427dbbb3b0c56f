"""Cache of facts about calls by their form: worked out at the first call, used by later ones, forgotten all at once."""
from __future__ import annotations

from typing import Any

from .bounded_cache import BoundedCache
from .locks import rlock

#: Entries of a table; the least recently used goes first. Plans have arenas of so many bytes together, but the last few stay.
MAX_ENTRIES, MAX_BYTES, LAST_FEW = 64, 1 << 30, 4


def _bytes(entry: Any) -> float:
    """What a plan keeps, or that which an entry holds: as its first item, or as its attribute ``plan``."""
    plan = entry[0] if isinstance(entry, tuple) else getattr(entry, "plan", entry)
    return getattr(plan, "memory", 0.0)


class CallCache:
    """Tables whose keys are forms of calls: what was asked, and the shapes and types of what was given.

    All of them hold for one ``state`` of what answers the calls, and are emptied together when it is another one.

    Attributes
    ----------
    state : what the entries were worked out for; None before the first
    lock : held while tables are emptied

    Examples
    --------
    >>> forms = CallCache()
    >>> squares = forms.table()
    >>> forms.hold_for("numbers")
    >>> squares[3] = 9
    >>> forms.hold_for("numbers"), len(squares)
    (None, 1)
    >>> forms.hold_for("matrices"), len(squares)
    (None, 0)
    """

    def __init__(self) -> None:
        self.state: Any = None
        self.lock = rlock()
        self._tables: list[BoundedCache[Any, Any]] = []

    def table(self) -> BoundedCache[Any, Any]:
        """One more table of plans, or of what holds one."""
        made: BoundedCache[Any, Any] = BoundedCache(MAX_ENTRIES, _bytes, MAX_BYTES, LAST_FEW)
        self._tables.append(made)
        return made

    def hold_for(self, state: Any) -> None:
        """Forget everything that was worked out for another state."""
        if state != self.state:
            with self.lock:
                for table in self._tables:
                    table.clear()
                self.state = state
