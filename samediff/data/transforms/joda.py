"""Times in Joda's patterns, and its time zones and fields: DL4J's text of dates."""
from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...base.java_names import DateTimeFieldTypeNames, DateTimeZoneNames
from ...base.javanames import squash
from ...errors import ConfigurationError, FileFormatError, UnknownNameError, did_you_mean

__all__ = ["DateTimeFieldType", "DateTimeZone"]

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBERS = "yYxMdDHhkKmsSCe"


class DateTimeZone(DateTimeZoneNames):
    """A time zone.

    Parameters
    ----------
    name : str
        ``"UTC"``, a place such as ``"Europe/Berlin"``, or hours and minutes such as ``"+02:00"``.
    """

    UTC: ClassVar[DateTimeZone]

    def __init__(self, name: str) -> None:
        self.name, self.zone = name, _zone(name)

    @staticmethod
    def for_id(name: str) -> DateTimeZone:
        """The zone of that name."""
        return DateTimeZone(name)

    @staticmethod
    def for_time_zone(zone: Any) -> DateTimeZone:
        """The same zone as one of Python, or of that name."""
        return DateTimeZone.of(zone)

    forID = for_id

    @classmethod
    def of(cls, value: Any) -> Self:
        """The zone of a name or of Python's `tzinfo`."""
        if isinstance(value, cls):
            return value
        return cls(value if isinstance(value, str) else str(getattr(value, "key", value)))

    def get_id(self) -> str:
        """The name."""
        return self.name

    getID = get_id

    def to_document(self) -> str:
        """The name, as DL4J's JSON has it."""
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DateTimeZone) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"DateTimeZone({self.name!r})"


def _zone(name: str) -> tzinfo:
    found = re.fullmatch(r"([+-])(\d\d):?(\d\d)", name)
    if found:
        minutes = int(found[2]) * 60 + int(found[3])
        return timezone(timedelta(minutes=minutes if found[1] == "+" else -minutes))
    if name.upper() in ("UTC", "GMT", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise UnknownNameError(f"unknown time zone {name!r}: such as 'UTC', 'Europe/Berlin' or '+02:00'") from None


DateTimeZone.UTC = DateTimeZone("UTC")

_FIELDS: dict[str, Callable[[datetime], int]] = {
    "year": lambda t: t.year, "yearOfEra": lambda t: t.year, "yearOfCentury": lambda t: t.year % 100,
    "centuryOfEra": lambda t: t.year // 100,
    "weekyear": lambda t: t.isocalendar().year, "weekOfWeekyear": lambda t: t.isocalendar().week, "monthOfYear": lambda t: t.month,
    "dayOfYear": lambda t: t.timetuple().tm_yday, "dayOfMonth": lambda t: t.day, "dayOfWeek": lambda t: t.isoweekday(),
    "halfdayOfDay": lambda t: t.hour // 12, "hourOfHalfday": lambda t: t.hour % 12, "clockhourOfHalfday": lambda t: (t.hour - 1) % 12 + 1,
    "hourOfDay": lambda t: t.hour, "clockhourOfDay": lambda t: (t.hour - 1) % 24 + 1, "minuteOfHour": lambda t: t.minute,
    "minuteOfDay": lambda t: t.hour * 60 + t.minute, "secondOfMinute": lambda t: t.second,
    "secondOfDay": lambda t: t.hour * 3600 + t.minute * 60 + t.second, "millisOfSecond": lambda t: t.microsecond // 1000,
    "millisOfDay": lambda t: (t.hour * 3600 + t.minute * 60 + t.second) * 1000 + t.microsecond // 1000,
}


class DateTimeFieldType(DateTimeFieldTypeNames):
    """A part of a time: ``DateTimeFieldType.hourOfDay()``.

    Parameters
    ----------
    name : str
        The part, such as ``"hourOfDay"`` or ``"hour_of_day"``.
    """

    def __init__(self, name: str) -> None:
        known = {squash(field): field for field in _FIELDS}
        if squash(name) not in known:
            raise UnknownNameError(f"times have no field {name!r}{did_you_mean(name, _FIELDS)}; fields: {', '.join(_FIELDS)}")
        self.name = known[squash(name)]

    def of_time(self, time: datetime) -> int:
        """The part of that time."""
        return _FIELDS[self.name](time)

    def get_name(self) -> str:
        """The name of the part."""
        return self.name

    def to_document(self) -> dict[str, str]:
        """The part, as DL4J's JSON has it."""
        return {"fieldType": self.name}

    @classmethod
    def of(cls, value: Any) -> Self:
        """The part of that name, or of DL4J's JSON."""
        if isinstance(value, cls):
            return value
        return cls(str(value["fieldType"] if isinstance(value, dict) else value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DateTimeFieldType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"DateTimeFieldType({self.name!r})"


for _name in _FIELDS:
    for _spelling in {_name, re.sub(r"([A-Z])", lambda m: "_" + m[0].lower(), _name)}:
        setattr(DateTimeFieldType, _spelling, staticmethod(lambda _name=_name: DateTimeFieldType(_name)))


def tokens(pattern: str) -> list[tuple[str, int]]:
    """The parts of a pattern: a letter and how often it stands there; plain text with the number 0."""
    found: list[tuple[str, int]] = []
    for part in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+", pattern):
        text = part.group()
        if text[0] == "'":
            found.append(("'" if text == "''" else part[1].replace("''", "'"), 0))
        elif part[2]:
            if part[2] not in _NUMBERS + "EaZzG":
                raise ConfigurationError(f"the time pattern {pattern!r} has the letter {part[2]!r}, which stands for nothing")
            found.append((part[2], len(text)))
        else:
            found.append((text, 0))
    return found


class TimeFormat:
    """Text to milliseconds since 1970, and back.

    Parameters
    ----------
    pattern : str
        Joda's: ``yyyy-MM-dd HH:mm:ss.SSS``.
    zone : DateTimeZone
        Of texts that name none.

    Examples
    --------
    >>> form = TimeFormat("yyyy-MM-dd HH:mm", DateTimeZone.UTC)
    >>> form.parse("1970-01-02 01:00"), form.text(0)
    (90000000, '1970-01-01 00:00')
    """

    def __init__(self, pattern: str, zone: DateTimeZone) -> None:
        self.pattern, self.zone, self._tokens = pattern, zone, tokens(pattern)
        self._regex = re.compile("".join(self._expression(k) for k in range(len(self._tokens))), re.IGNORECASE)

    def _expression(self, k: int) -> str:
        letter, count = self._tokens[k]
        if not count:
            return re.escape(letter)
        packed = k + 1 < len(self._tokens) and self._tokens[k + 1][1] > 0       # digits follow at once
        if letter in "EG" or (letter == "M" and count > 2) or letter == "a":
            return r"([^\W\d]+\.?)"
        if letter in "Zz":
            return r"(Z|[+-]\d\d:?\d\d|[A-Z]\w+(?:/\w+)*)"
        if packed:
            return rf"(\d{{{count}}})"
        return r"([+-]?\d+)" if letter in "yYx" else r"(\d+)"

    def parse(self, text: str) -> int:
        """Milliseconds of a text.

        Raises
        ------
        FileFormatError
            The text does not follow the pattern, or is no date.
        """
        found = self._regex.fullmatch(text.strip())
        if found is None:
            raise FileFormatError(f"expected a time such as {self.pattern}, got {text!r:.60}")
        parts: dict[str, str] = {}
        for (letter, _), value in zip([t for t in self._tokens if t[1]], found.groups()):
            parts[letter] = value
        try:
            return self._milliseconds(parts)
        except (ValueError, OverflowError) as error:
            raise FileFormatError(f"expected a time such as {self.pattern}, got {text!r:.60}: {error}") from None

    def _milliseconds(self, parts: dict[str, str]) -> int:
        year = next((int(parts[letter]) for letter in "yYx" if letter in parts), 1970)
        if len(next((parts[letter] for letter in "yYx" if letter in parts), "1970")) == 2:
            year += 2000 if year < 70 else 1900
        month = _month(parts.get("M", "1"))
        hour = next((int(parts[letter]) for letter in "HkKh" if letter in parts), 0)
        if "a" in parts:
            hour = hour % 12 + (12 if parts["a"].lower() == "pm" else 0)
        fraction = int(float(f"0.{parts.get('S', '0')}") * 1000 + 1e-6)
        made = datetime(year, month, int(parts.get("d", 1)), hour % 24, int(parts.get("m", 0)), int(parts.get("s", 0)), fraction * 1000)
        if "D" in parts:                # the day of the year decides, whatever month there is: as Joda has it
            made = made.replace(month=1, day=1) + timedelta(days=int(parts["D"]) - 1)
        zone = parts.get("Z") or parts.get("z")
        return milliseconds(made.replace(tzinfo=_zone(zone) if zone else self.zone.zone))

    def text(self, time: int) -> str:
        """The text of milliseconds."""
        moment = moment_of(time, self.zone)
        return "".join(_text(letter, count, moment) if count else letter for letter, count in self._tokens)


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    found = [k for k, name in enumerate(_MONTHS, 1) if name.startswith(text.lower().rstrip("."))]
    if len(found) != 1:
        raise ValueError(f"{text!r} is no month")
    return found[0]


def _text(letter: str, count: int, t: datetime) -> str:
    if letter == "E":
        return _DAYS[t.weekday()][: None if count > 3 else 3]
    if letter == "M" and count > 2:
        return _MONTHS[t.month - 1].capitalize()[: None if count > 3 else 3]
    if letter == "a":
        return "PM" if t.hour > 11 else "AM"
    if letter == "Z":
        text = t.strftime("%z")
        return text if count == 1 else f"{text[:3]}:{text[3:5]}"
    if letter in "zG":
        return t.tzname() or "" if letter == "z" else "AD"
    if letter == "S":
        return f"{t.microsecond:06d}"[:count].ljust(count, "0")
    number = {"y": t.year, "Y": t.year, "x": t.isocalendar().year, "C": t.year // 100, "M": t.month, "d": t.day, "D": t.timetuple().tm_yday,
              "e": t.isoweekday(), "H": t.hour, "k": (t.hour - 1) % 24 + 1, "K": t.hour % 12, "h": (t.hour - 1) % 12 + 1, "m": t.minute,
              "s": t.second}[letter]
    return f"{number % 100:02d}" if letter in "yYx" and count == 2 else f"{number:0{count}d}"


def moment_of(time: int, zone: DateTimeZone) -> datetime:
    """The date and time of milliseconds since 1970."""
    return (_EPOCH + timedelta(milliseconds=int(time))).astimezone(zone.zone)


def milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)
