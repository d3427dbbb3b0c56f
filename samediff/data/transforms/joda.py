"""Joda's time zones, and fields of times."""
from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...base.java_names import DateTimeFieldTypeNames, DateTimeZoneNames
from ...base.javanames import squash
from ...errors import FileFormatError, UnknownNameError, did_you_mean

__all__ = ["DateTimeFieldType", "DateTimeZone"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DateTimeZone(DateTimeZoneNames):
    """A time zone.

    Parameters
    ----------
    name : str
        ``"UTC"``, a place such as ``"Europe/Berlin"``, or hours and minutes such as ``"+02:00"``.
    """

    UTC: ClassVar[DateTimeZone]

    def __init__(self, name: str) -> None:
        self.name, self.zone = name, zone_of(name)

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


def zone_of(name: str) -> tzinfo:
    """The zone of that name, or of hours and minutes.

    Raises
    ------
    UnknownNameError
        There is none.
    """
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


def moment_of(time: int, zone: tzinfo) -> datetime:
    """The date and time of milliseconds since 1970.

    Raises
    ------
    FileFormatError
        It lies outside of the years 1 to 9999.
    """
    try:
        return (_EPOCH + timedelta(milliseconds=int(time))).astimezone(zone)
    except OverflowError:
        raise FileFormatError(f"{time} milliseconds since 1970 lie outside of the years 1 to 9999") from None


def milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)
