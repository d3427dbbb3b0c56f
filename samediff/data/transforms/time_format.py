"""Times as texts, in Joda's patterns."""
from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import NamedTuple

from ...errors import ConfigurationError, FileFormatError
from .joda import DateTimeZone, milliseconds, moment_of, zone_of

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HALVES = ("AM", "PM")
_ZONES = {"EST": "America/New_York", "EDT": "America/New_York", "CST": "America/Chicago", "CDT": "America/Chicago", "MST": "America/Denver",
          "MDT": "America/Denver", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "UT": "UTC"}

_ERA, _CENTURY, _YEAR, _MONTH, _WEEK, _DAY, _HALF, _HOUR, _MINUTE, _SECOND, _MILLI = range(12, 1, -1)
_ALL = 13


class _TimeField(NamedTuple):
    """A part of a time: within what it counts, the time of one step, its bounds, and how it is set; times are those of the zone's clock."""

    within: int
    step: int
    bounds: Callable[[datetime], tuple[int, int]]
    put: Callable[[datetime, int], datetime]


def _fixed(low: int, high: int) -> Callable[[datetime], tuple[int, int]]:
    return lambda t: (low, high)


def _in_year(t: datetime, year: int) -> datetime:
    return t.replace(year=year, day=28) if (t.month, t.day) == (2, 29) and not isleap(year) else t.replace(year=year)


def _in_month(t: datetime, month: int) -> datetime:
    return t.replace(month=month, day=min(t.day, monthrange(t.year, month)[1]))


def _weeks(year: int) -> int:
    return datetime(year, 12, 28).isocalendar().week


def _in_weekyear(t: datetime, year: int) -> datetime:
    monday = datetime.fromisocalendar(year, min(t.isocalendar().week, _weeks(year)), t.isoweekday())
    return datetime.combine(monday.date(), t.time())


def _hour(t: datetime, hour: int) -> datetime:
    return t.replace(hour=hour)


_FIELDS: dict[str, _TimeField] = {
    "G": _TimeField(_ALL, _ERA, _fixed(1, 1), lambda t, v: t),
    "C": _TimeField(_ALL, _CENTURY, _fixed(0, 99), lambda t, v: _in_year(t, v * 100 + t.year % 100)),
    "y": _TimeField(_ALL, _YEAR, _fixed(1, 9999), _in_year),
    "Y": _TimeField(_ERA, _YEAR, _fixed(1, 9999), _in_year),
    "x": _TimeField(_ALL, _YEAR, _fixed(1, 9999), _in_weekyear),
    "M": _TimeField(_YEAR, _MONTH, _fixed(1, 12), _in_month),
    "w": _TimeField(_YEAR, _WEEK, lambda t: (1, _weeks(t.isocalendar().year)), lambda t, v: t + timedelta(weeks=v - t.isocalendar().week)),
    "D": _TimeField(_YEAR, _DAY, lambda t: (1, 365 + isleap(t.year)), lambda t, v: t + timedelta(days=v - t.timetuple().tm_yday)),
    "d": _TimeField(_MONTH, _DAY, lambda t: (1, monthrange(t.year, t.month)[1]), lambda t, v: t.replace(day=v)),
    "e": _TimeField(_WEEK, _DAY, _fixed(1, 7), lambda t, v: t + timedelta(days=v - t.isoweekday())),
    "a": _TimeField(_DAY, _HALF, _fixed(0, 1), lambda t, v: _hour(t, t.hour % 12 + 12 * v)),
    "H": _TimeField(_DAY, _HOUR, _fixed(0, 23), _hour),
    "k": _TimeField(_DAY, _HOUR, _fixed(1, 24), lambda t, v: _hour(t, v % 24)),
    "K": _TimeField(_HALF, _HOUR, _fixed(0, 11), lambda t, v: _hour(t, t.hour // 12 * 12 + v)),
    "h": _TimeField(_HALF, _HOUR, _fixed(1, 12), lambda t, v: _hour(t, t.hour // 12 * 12 + v % 12)),
    "m": _TimeField(_HOUR, _MINUTE, _fixed(0, 59), lambda t, v: t.replace(minute=v)),
    "s": _TimeField(_MINUTE, _SECOND, _fixed(0, 59), lambda t, v: t.replace(second=v)),
    "S": _TimeField(_SECOND, _MILLI, _fixed(0, 999), lambda t, v: t.replace(microsecond=1000 * v)),
}
_FIELDS["E"] = _FIELDS["e"]
_DIGITS = {"y": 9, "Y": 9, "x": 9, "D": 3, "e": 1}      # the most, where it is not 2
_TEXTS: dict[str, tuple[tuple[str, ...], int]] = {"E": (_DAYS, 1), "M": (_MONTHS, 1), "a": (_HALVES, 0), "G": (("AD", "CE"), 1)}

_FLOORS: dict[int, Callable[[datetime], datetime]] = {
    _ERA: lambda t: datetime(1, 1, 1), _CENTURY: lambda t: datetime(max(t.year // 100 * 100, 1), 1, 1),
    _YEAR: lambda t: datetime(t.year, 1, 1), _MONTH: lambda t: datetime(t.year, t.month, 1),
    _WEEK: lambda t: _FLOORS[_DAY](t - timedelta(days=t.weekday())),
    _DAY: lambda t: datetime(t.year, t.month, t.day), _HALF: lambda t: _FLOORS[_DAY](t) + timedelta(hours=t.hour // 12 * 12),
    _HOUR: lambda t: t.replace(minute=0, second=0, microsecond=0), _MINUTE: lambda t: t.replace(second=0, microsecond=0),
    _SECOND: lambda t: t.replace(microsecond=0), _MILLI: lambda t: t}


def _floor(letter: str, t: datetime) -> datetime:
    if letter == "x":
        return datetime.fromisocalendar(t.isocalendar().year, 1, 1)
    return _FLOORS[_FIELDS[letter].step](t)


@lru_cache(maxsize=64)
def tokens(pattern: str) -> tuple[tuple[str, int], ...]:
    """The parts of a pattern: a letter and how often it stands there; plain text with the number 0.

    Raises
    ------
    ConfigurationError
        A letter that stands for nothing.
    """
    found: list[tuple[str, int]] = []
    for part in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+", pattern):
        text = part.group()
        if text[0] == "'":
            found.append(("'" if text == "''" else part[1].replace("''", "'"), 0))
        elif part[2]:
            if part[2] not in _FIELDS and part[2] not in "zZ":
                raise ConfigurationError(f"the time pattern {pattern!r} has the letter {part[2]!r}, which stands for nothing")
            found.append((part[2], len(text)))
        else:
            found.append((text, 0))
    return tuple(found)


class TimeFormat:
    """Text to milliseconds since 1970, and back.

    Parameters
    ----------
    pattern : str
        Joda's: ``yyyy-MM-dd HH:mm:ss.SSS``.
    zone : DateTimeZone
        Of texts that name none.

    Notes
    -----
    Larger parts of a text are set before smaller ones; parts that a text lacks are those of 1970-01-01, of the year 2000 where months,
    weeks or days are its largest. A year of two digits is the one from 80 years ago to 19 years ahead.

    Examples
    --------
    >>> form = TimeFormat("yyyy-MM-dd HH:mm", DateTimeZone.UTC)
    >>> form.parse("1970-01-02 01:00"), form.text(0)
    (90000000, '1970-01-01 00:00')
    """

    def __init__(self, pattern: str, zone: DateTimeZone) -> None:
        self.pattern, self.zone, self._tokens = pattern, zone, tokens(pattern)
        self._regex = re.compile("".join(self._expression(k) for k in range(len(self._tokens))), re.ASCII)

    def _is_text(self, letter: str, count: int) -> bool:
        return letter in "EaG" or (letter == "M" and count > 2)

    def _expression(self, k: int) -> str:
        """What a part looks like: it takes all that it can, whatever follows."""
        letter, count = self._tokens[k]
        if not count:
            return f"(?i:{re.escape(letter)})"
        if self._is_text(letter, count):
            names = {form for name in _TEXTS[letter][0] for text in (name, name[:3]) for form in (text, text.lower(), text.upper())}
            return f"((?>{'|'.join(sorted(names, key=len, reverse=True))}))"
        if letter == "z" or (letter == "Z" and count > 2):
            return r"([A-Za-z]\w++(?:/\w++)*+|[+-]\d\d:\d\d)"
        if letter == "Z":
            return r"([Zz]|[+-]\d\d(?:\d\d(?:\d\d)?|:\d\d(?::\d\d)?)?+)"
        following, number = self._tokens[k + 1] if k + 1 < len(self._tokens) else ("", 0)
        packed = number > 0 and not self._is_text(following, number) and following not in "zZ"      # digits follow at once
        if letter in "yYx" and count == 2:
            return r"(\d{2})" if packed else r"([+-]?\d++)"
        most = count if letter in "SC" or (letter in "yYx" and packed) else _DIGITS.get(letter, 2)
        return rf"({'[+-]?' * (letter in 'yx')}\d{{1,{most}}}+)"

    def parse(self, text: str) -> int:
        """Milliseconds of a text.

        Raises
        ------
        FileFormatError
            The text does not follow the pattern, or is no time.
        """
        found = self._regex.fullmatch(text)
        if found is None:
            raise FileFormatError(f"expected a time such as {self.pattern}, got {text!r:.60}")
        zone, parts = self.zone.zone, []
        try:
            for (letter, count), value in zip([part for part in self._tokens if part[1]], found.groups()):
                if letter in "zZ":
                    zone = _zone(value)
                else:
                    parts.append((letter, self._number(letter, count, value)))
            return self._milliseconds(parts, zone)
        except (ValueError, OverflowError) as error:
            raise FileFormatError(f"expected a time such as {self.pattern}, got {text!r:.60}: {error}") from None

    def _number(self, letter: str, count: int, value: str) -> int:
        if self._is_text(letter, count):
            names, first = _TEXTS[letter]
            place = next(k for k, name in enumerate(names) if name[:3].upper() == value[:3].upper())
            return 1 if letter == "G" else place + first
        if letter == "S":
            return int(f"{value:0<3}"[:3])
        if letter in "yYx" and count == 2 and len(value) == 2 and value.isdigit():
            latest = datetime.now().year + 19
            return latest - (latest - int(value)) % 100
        return int(value)

    def _milliseconds(self, parts: list[tuple[str, int]], zone: tzinfo) -> int:
        parts.sort(key=lambda part: (-_FIELDS[part[0]].within, -_FIELDS[part[0]].step))
        if parts and _DAY <= _FIELDS[parts[0][0]].step <= _MONTH:
            parts.insert(0, ("y", 2000))
        made = datetime(1970, 1, 1)
        for again in (False, True):         # what stands before others may change with them: all are set a second time
            for k, (letter, value) in enumerate(parts):
                low, high = _FIELDS[letter].bounds(made)
                if not low <= value <= high:
                    raise ValueError(f"{value} lies outside of {low} … {high} ({letter!r} of the pattern)")
                made = _FIELDS[letter].put(made, value)
                if not again or k == len(parts) - 1:
                    made = _floor(letter, made)
        there = milliseconds(made.replace(tzinfo=zone))
        if moment_of(there, zone).replace(tzinfo=None) != made:
            raise ValueError("clocks of the zone leave this time out")
        return there

    def text(self, time: int) -> str:
        """The text of milliseconds."""
        moment = moment_of(time, self.zone.zone)
        return "".join(self._text(letter, count, moment) if count else letter for letter, count in self._tokens)

    def _text(self, letter: str, count: int, t: datetime) -> str:
        if letter == "E":
            return _DAYS[t.weekday()][: None if count > 3 else 3]
        if letter == "M" and count > 2:
            return _MONTHS[t.month - 1][: None if count > 3 else 3]
        if letter == "a":
            return _HALVES[t.hour // 12]
        if letter == "Z":
            text = t.strftime("%z")
            return self.zone.name if count > 2 else text[:5] if count == 1 else f"{text[:3]}:{text[3:5]}"
        if letter in "zG":
            return t.tzname() or "" if letter == "z" else "AD"
        if letter == "S":
            return f"{t.microsecond:06d}"[:count].ljust(count, "0")
        number = {"y": t.year, "Y": t.year, "x": t.isocalendar().year, "C": t.year // 100, "M": t.month, "d": t.day,
                  "D": t.timetuple().tm_yday, "w": t.isocalendar().week, "e": t.isoweekday(), "H": t.hour, "k": (t.hour - 1) % 24 + 1,
                  "K": t.hour % 12, "h": (t.hour - 1) % 12 + 1, "m": t.minute, "s": t.second}[letter]
        return f"{number % 100:02d}" if letter in "yYx" and count == 2 else f"{number:0{count}d}"


def _zone(text: str) -> tzinfo:
    """The zone of an offset or a name."""
    if text[0] not in "+-":
        return zone_of(_ZONES.get(text.upper(), text))
    hours, minutes, seconds = (int(part) for part in re.findall(r"\d\d", f"{text}0000")[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"{text} is no offset of a time zone")
    distance = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(distance if text[0] == "+" else -distance)
