"""Unique names and name scopes."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import GraphError


class Names:
    """Generates the names of a graph's variables and ops.

    The base is tried bare, then with ``_1``, ``_2`` …; a base that ends in ``_N`` counts on from N.

    Parameters
    ----------
    taken : callable
        Says whether a name is in use by a variable or op of the graph.
    """

    def __init__(self, taken: Callable[[str], bool]) -> None:
        self._taken = taken
        self._next: dict[str, int] = {}
        self.scopes: list[str] = []

    @property
    def prefix(self) -> str:
        """``block/inner/`` inside scopes, else empty."""
        return "".join(s + "/" for s in self.scopes)

    def scoped(self, name: str) -> str:
        """``name`` with the active scopes in front."""
        return self.prefix + name

    def unique(self, base: str) -> str:
        """A name that is not taken yet, in the active scope."""
        base = self.scoped(base)
        found = re.fullmatch(r"(.*)_(\d+)", base)
        if not found and not self._taken(base):
            return base
        stem, n = (found[1], int(found[2])) if found else (base, 1)
        n = max(n, self._next.get(stem, 0)) if not found else n
        while self._taken(f"{stem}_{n}"):
            n += 1
        self._next[stem] = n
        return f"{stem}_{n}"

    def released(self) -> None:
        """A name was given back: count from the start again."""
        self._next.clear()

    @contextmanager
    def scope(self, name: str) -> Iterator[NameScope]:
        """Prefix all generated names inside the block."""
        opened = NameScope(self, name)
        try:
            yield opened
        finally:
            opened.close()


class NameScope:
    """An open name scope of a graph, as ``sd.with_name_scope(name)`` gives it; close it innermost first, or use it as a context manager.

    Parameters
    ----------
    names : Names
        The names of the graph.
    name : str
        What stands, with a slash, before the names of variables and ops that are made inside.
    """

    def __init__(self, names: Names, name: str) -> None:
        self._names = names
        self.name = name
        names.scopes.append(name)
        self.prefix = names.prefix
        self._depth = len(names.scopes)

    def close(self) -> None:
        """Leave the scope."""
        if len(self._names.scopes) != self._depth or self._names.scopes[-1] != self.name:
            open_ = "/".join(self._names.scopes) or "none"
            raise GraphError(f"name scope {self.name!r} cannot be closed now; open scopes: {open_}. Close the innermost first")
        self._names.scopes.pop()

    def __repr__(self) -> str:
        return f"NameScope({self.name!r})"

    def __enter__(self) -> NameScope:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def first_free(base: str, taken: Callable[[str], bool], ending: str = "") -> str:
    """The first of ``base``, ``base_1``, ``base_2`` … that is not taken, and an ending."""
    name, i = base, 0
    while taken(name):
        i += 1
        name = f"{base}_{i}"
    return name + ending
