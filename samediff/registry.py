"""Registered things: a name, its class, and who owns it."""
from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from .errors import MissingOpError, RegistrationError, did_you_mean

T = TypeVar("T")


class PluginWarning(UserWarning):
    """A plug-in of another distribution could not be loaded."""


def owner(thing: Any) -> str:
    """Where a registered class or function is defined: ``module.Name (file:line)``."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    name = f"{getattr(thing, '__module__', '?')}.{getattr(thing, '__qualname__', thing)}"
    try:
        return f"{name} ({inspect.getsourcefile(thing)}:{inspect.getsourcelines(thing)[1]})"
    except (TypeError, OSError):
        return name


def load_plugins(group: str) -> None:
    """Load the entry points of a group; one that cannot be loaded is a warning that names it."""
    import importlib.metadata
    for point in importlib.metadata.entry_points(group=group):
        try:
            point.load()
        except Exception as error:  # a broken plug-in must not break its host
            where = point.dist.name if point.dist else "?"
            warnings.warn(f"plug-in {point.name!r} ({point.value}) of distribution {where!r} could not be loaded: "
                          f"{type(error).__name__}: {error}", PluginWarning, stacklevel=4)


class Registry(Generic[T]):
    """Names and what they stand for, with discovery through entry points.

    Registering a taken name is an error that names both owners. The entry points of ``group`` are loaded on the
    first look-up that fails; one that cannot be loaded is a warning that names it.

    Examples
    --------
    >>> colours = Registry("colour")
    >>> colours.add("red", 1)
    >>> colours["red"]
    1
    """

    def __init__(self, kind: str, group: str | None = None) -> None:
        self.kind = kind
        self.group = group
        self._items: dict[str, T] = {}
        self._discovered = group is None
        self.on_change: list[Callable[[], None]] = []

    def add(self, name: str, item: T) -> None:
        """Register ``item`` under ``name``."""
        taken = self._items.get(name)
        if taken is not None and taken is not item and not _redefined(taken, item):
            raise RegistrationError(f"{self.kind} {name!r} is registered already: by {owner(taken)}; now also by {owner(item)}. "
                                    f"Choose another name, for instance with a prefix of your own ('acme.{name}')")
        self._items[name] = item
        for notify in self.on_change:
            notify()

    def remove(self, name: str) -> None:
        """Forget ``name`` (for tests and notebooks)."""
        self._items.pop(name, None)
        for notify in self.on_change:
            notify()

    def get(self, name: str) -> T | None:
        """What ``name`` stands for, None when nobody registers it."""
        if name not in self._items:
            self.discover()
        return self._items.get(name)

    def __getitem__(self, name: str) -> T:
        found = self.get(name)
        if found is None:
            raise MissingOpError(f"no {self.kind} named {name!r} is registered{did_you_mean(name, self._items)}")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._items))

    def items(self) -> list[tuple[str, T]]:
        """All pairs, in the order of registration."""
        return list(self._items.items())

    def discover(self) -> None:
        """Load the entry points of the group, once."""
        if self._discovered:
            return
        self._discovered = True
        load_plugins(self.group or "")


def _redefined(old: Any, new: Any) -> bool:
    """The same definition run again, as notebooks and reloads do."""
    key = [(getattr(x, "__module__", None), getattr(x, "__qualname__", None)) for x in (old, new)]
    return key[0] == key[1] and key[0][1] is not None and (key[0][0] == "__main__" or owner(old) == owner(new))
