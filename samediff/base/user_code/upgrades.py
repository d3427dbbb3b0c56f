"""The check of an ``upgrade``: the options of older versions are not known, but what it asks for and what it adds are."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .check_report import CheckFailure

#: So many of the last versions are tried, with values of these kinds.
_VERSIONS, _VALUES = 3, (1.0, 1, "a", True, ())


class OldOptions(dict[str, Any]):
    """Options of an older version that has whatever is asked for.

    Parameters
    ----------
    value : of each option
    all_there : whether ``in`` and ``get`` find options that nobody asked for before
    """

    def __init__(self, value: Any, all_there: bool) -> None:
        super().__init__()
        self.value, self.all_there = value, all_there

    def __missing__(self, name: str) -> Any:
        return self.setdefault(name, self.value)

    def __contains__(self, name: object) -> bool:
        return self.all_there or super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The option, or the default where it is not there."""
        return default if name not in self else self[name]  # noqa: SIM401 - a dict's own get asks neither method

    def pop(self, name: str, *default: Any) -> Any:
        """Take an option out."""
        if default and name not in self:
            return default[0]
        found = self[name]
        del self[name]
        return found


def upgrade_fits(upgrade: Callable[[dict[str, Any], int], Any], version: int, today: dict[str, Any],
                 lost: Callable[[Any], list[str]], options: dict[str, Any] | None = None) -> str:
    """What ``upgrade`` makes of older versions has options of today alone.

    Parameters
    ----------
    upgrade : takes the options of an older version, and its number
    version : of today
    today : what files of today hold
    lost : names among the results that today's class lacks
    options : those of the class among them, if not all are

    Returns
    -------
    str
        The versions that it took.
    """
    taken, kept = [], False
    for old in range(max(1, version - _VERSIONS), version):
        for all_there in (False, True):
            found = _made(upgrade, old, all_there)
            unknown = lost(found) if isinstance(found, dict) else []
            if unknown:
                raise CheckFailure(f"of options of version {old} upgrade makes {unknown[0]!r} too, which is none of today's: files of that "
                                   "version would be refused. Return today's options alone: take others out (pop)")
            kept = kept or bool(found)
            taken += [] if found is None or old in taken else [old]
    if taken and not kept and not upgrade(dict(today), version - 1):
        raise CheckFailure("upgrade returns no options, whatever older files hold: all of them would be lost. Return what it is given, in "
                           "today's form")
    for old in taken:
        _keeps_options(upgrade, old, version, today if options is None else options)
    return f"of version {', '.join(map(str, taken))}" if taken else "not tried: it takes none of the values that were tried"


def _keeps_options(upgrade: Callable[[dict[str, Any], int], Any], old: int, version: int, options: dict[str, Any]) -> None:
    """CheckFailure where upgrade loses an option of today that a file has."""
    for value in _VALUES:
        given = OldOptions(value, False)
        given.update(options)
        try:
            found = upgrade(given, old)
        except Exception:       # as of _made
            continue
        lost = [name for name in options if isinstance(found, dict) and not dict.__contains__(found, name)]
        if lost:
            raise CheckFailure(f"upgrade loses the option {lost[0]!r}, for which files of version {old} would get the default: change what "
                               f"it is given, and return that with all other options in it. Where {lost[0]!r} is new in version {version}, "
                               f"say what it is for older files: attributes.setdefault({lost[0]!r}, value)")
        return


def _made(upgrade: Callable[[dict[str, Any], int], Any], old: int, all_there: bool) -> Any:
    """The result for the first kind of value that it takes; None where it takes none."""
    for value in _VALUES:
        try:
            return upgrade(OldOptions(value, all_there), old)
        except Exception:       # values of another kind, or a version that it refuses
            continue
    return None
