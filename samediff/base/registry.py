"""Registered things: a name, its class, and who owns it."""
from __future__ import annotations

import importlib.metadata
import inspect
import re
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from ..errors import MissingOpError, RegistrationError, did_you_mean
from .source_line import SourceLine, user_line

T = TypeVar("T")


class PluginWarning(UserWarning):
    """A plug-in of another distribution could not be loaded."""


class MissingClassWarning(UserWarning):
    """A file names classes that nobody registers; it was opened as far as it goes."""


def owner(thing: Any) -> str:
    """Location of a registered class or function: ``module.Name (file:line)``."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    name = f"{getattr(thing, '__module__', '?')}.{getattr(thing, '__qualname__', thing)}"
    try:
        return f"{name} ({inspect.getsourcefile(thing)}:{inspect.getsourcelines(thing)[1]})"
    except (TypeError, OSError):
        return name


@cache
def distribution_of(package: str) -> str | None:
    """Name and version of the distribution that a top-level package belongs to; None where it was not installed."""
    found = importlib.metadata.packages_distributions().get(package, [])
    points = (p for group in GROUPS for p in importlib.metadata.entry_points(group=group))          # of which files are not listed
    found += [p.dist.name for p in points if p.dist and re.split("[.:]", p.value)[0] == package]
    return f"{found[0]} {importlib.metadata.version(found[0])}" if found else None


#: What could not be loaded: the names of the plug-in, its package and distribution, and what happened.
_broken: list[tuple[set[str], str]] = []


def load_plugins(group: str) -> None:
    """Load the entry points of a group, in the order of their names; one that cannot be loaded is a warning that names it."""
    for point in sorted(importlib.metadata.entry_points(group=group), key=lambda p: (p.dist.name if p.dist else "", p.name)):
        load_plugin(point, group)


def load_plugin(point: importlib.metadata.EntryPoint, group: str) -> None:
    """Load one; a name in it that somebody else has is a warning too, and costs that name only."""
    before, _loading.by_plugin = _loading.by_plugin, True
    try:
        point.load()
    except (Exception, SystemExit) as error:        # a broken plug-in must not break its host, a script that ends must not end it
        where = point.dist.name if point.dist else "?"
        text = (f"plug-in {point.name!r} ({point.value}) of distribution {where!r} could not be loaded: "
                f"{type(error).__name__}: {error}")
        _broken.append(({point.name, where, re.split("[.:]", point.value)[0]}, text))
        warnings.warn(text, PluginWarning, stacklevel=5)
    finally:
        _loading.by_plugin = before


def refuse_taken(text: str) -> None:
    """RegistrationError for a name that is taken; a warning while entry points are loaded, where the rest of the module goes on."""
    if not _loading.by_plugin:
        raise RegistrationError(text)
    warnings.warn(f"{text} The first one stays", PluginWarning, stacklevel=4)


def why_missing(*names: str) -> str:
    """The plug-ins that could not be loaded and may have been meant by these names, as the end of a message."""
    parts = {part for n in names for part in n.split(".")[:-1]}
    return "".join(f". The {text}" for meant, text in _broken if meant & parts)


#: What may register ops and classes that a file names: packages of this distribution beside this one, and groups of entry points.
PACKAGES = ("layers", "networks", "udf")
GROUPS = ("dl4py.ops", "dl4py.layers", "dl4py.vertices", "dl4py.activations", "dl4py.losses", "dl4py.updaters")
_loaded: set[str] = set()


class _Loading(threading.local):
    """State of a thread that is loading modules."""

    def __init__(self) -> None:
        self.busy: set[str] = set()
        self.by_plugin = False


_loading = _Loading()


def further(names: Sequence[str] = (*PACKAGES, *GROUPS)) -> Iterator[str]:
    """Load what has not been loaded yet, one after the other, as long as the caller goes on; gives the names.

    A look-up that fails goes on until it has found its name, so nothing is loaded that nobody needs. What is loaded may look up names.
    """
    busy = _loading.busy
    for name in names:
        if name in _loaded or name in busy:
            continue
        busy.add(name)
        try:
            if name in PACKAGES:
                import_module(f"dl4py.{name}")
            else:
                load_plugins(name)
        finally:
            busy.discard(name)
        _loaded.add(name)       # only now: another thread must not miss what is still being loaded
        yield name


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
        self._written: dict[str, Written | None] = {}
        self._discovered = group is None
        self.on_change: list[Callable[[], None]] = []

    def add(self, name: str, item: T) -> None:
        """Register ``item`` under ``name``."""
        taken, written = self._items.get(name), Written.here(item)
        if (taken is not None and taken is not item and not _redefined(taken, item, self._written.get(name), written)
                and not takes_over(self.kind, name, item, taken)):
            own = "" if "." in name else f", for instance with a prefix of your own ('acme.{name}')"
            refuse_taken(f"{self.kind} {name!r} is registered already: by {owner(taken)}; now also by {owner(item)}. "
                         f"Choose another name{own}.")
            return
        self._items[name], self._written[name] = item, written
        for notify in self.on_change:
            notify()

    def holds(self, name: str, item: T) -> bool:
        """Whether ``name`` stands for ``item``."""
        return self._items.get(name) is item

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

    def find(self, name: str) -> T | None:
        """As :meth:`get`, for names from files: all is loaded that could register it."""
        found = self.get(name)
        for _ in further() if found is None else ():
            found = self._items.get(name)
            if found is not None:
                break
        return found

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
        if self.group not in GROUPS:
            load_plugins(self.group or "")
        for _ in further([self.group] if self.group in GROUPS else []):
            pass


@dataclass(frozen=True)
class Written:
    """The place of a registration in the sources, and the run of its module in which it was made."""

    place: SourceLine
    run: Any

    @staticmethod
    def here(item: Any) -> Written | None:
        """Of the registration under way; None for dl4py's own."""
        if str(getattr(item, "__module__", "dl4py.")).startswith("dl4py."):
            return None
        place, frame = user_line(), sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back  # type: ignore[assignment]
        return None if place is None else Written(place, None if frame is None else weakref.ref(frame.f_code))

    def again(self, other: Written) -> bool:
        """Whether ``other`` is the same line once more, or of another run of the module: a cell of a notebook, a reload."""
        mine = None if self.run is None else self.run()
        return (self.place.file, self.place.line) == (other.place.file, other.place.line) or mine is None or self.run != other.run


def takes_over(kind: str, name: str, item: Any, taken: Any) -> bool:
    """Whether a thing gets a name that is taken, with a warning: the package in front of the name defines it, and not the other."""
    def owns(thing: Any) -> bool:
        return str(getattr(thing, "__module__", "")).partition(".")[0] in name.split(".")[:-1]
    if not owns(item) or owns(taken):
        return False
    warnings.warn(f"{kind} {name!r} of {owner(item)} takes the place of the one that {owner(taken)} registered under a name of its package",
                  PluginWarning, stacklevel=4)
    return True


def replaced(old: Any, new: Any) -> bool:
    """Whether ``new`` is another thing than ``old`` was, not the same definition run again."""
    return new is not old and _key(old) != _key(new)


def _key(thing: Any) -> tuple[Any, Any]:
    return getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)


def _redefined(old: Any, new: Any, before: Written | None, now: Written | None) -> bool:
    """The same definition run again, as notebooks and reloads do."""
    if _key(old) != _key(new) or _key(old)[1] is None:
        return False
    return owner(old) == owner(new) if before is None or now is None else before.again(now)
