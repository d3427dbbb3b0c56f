"""Times as texts, as Joda 2 reads and writes them."""
from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from dl4py.samediff.data import DateTimeZone
from dl4py.samediff.data.transforms.time_format import TimeFormat
from dl4py.samediff.errors import ConfigurationError, FileFormatError

JODA = json.loads(Path(__file__).with_name("joda_times.json").read_text(encoding="utf-8"))
#: Years of two digits lie around today; the table is of 2026.
LASTING = [row for row in JODA["parsed"] if "yy" not in row[0].replace("yyyy", "")]


@pytest.mark.parametrize(("pattern", "zone", "text", "wanted"), LASTING)
def test_reading(pattern, zone, text, wanted):
    form = TimeFormat(pattern, DateTimeZone(zone))
    if wanted is None:
        with pytest.raises(FileFormatError, match="expected a time such as"):
            form.parse(text)
    else:
        assert form.parse(text) == wanted


@pytest.mark.parametrize(("pattern", "zone", "time", "wanted"), JODA["printed"])
def test_writing(pattern, zone, time, wanted):
    assert TimeFormat(pattern, DateTimeZone(zone)).text(time) == wanted


def test_years_of_two_digits():
    form, now = TimeFormat("yy", DateTimeZone.UTC), datetime.now().year
    for year in (now - 80, now - 30, now, now + 19):
        assert form.text(form.parse(f"{year % 100:02d}")) == f"{year % 100:02d}"
        assert TimeFormat("yyyy", DateTimeZone.UTC).text(form.parse(f"{year % 100:02d}")) == str(year)
    assert TimeFormat("yyyy", DateTimeZone.UTC).text(form.parse("107")) == "0107"


def test_what_is_no_time():
    with pytest.raises(ConfigurationError, match="letter 'q'"):
        TimeFormat("yyyy-q", DateTimeZone.UTC)
    with pytest.raises(FileFormatError, match="outside of 1 … 9999"):
        TimeFormat("yyyy", DateTimeZone.UTC).parse("20200")
    with pytest.raises(FileFormatError, match="outside of the years"):
        TimeFormat("yyyy", DateTimeZone.UTC).text(2**62)
    with pytest.raises(FileFormatError, match="leave this time out"):
        TimeFormat("yyyy-MM-dd HH:mm", DateTimeZone("America/New_York")).parse("2020-03-08 02:30")
