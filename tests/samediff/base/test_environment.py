"""Variables of the environment, by both ways to them."""
from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from dl4py.samediff.base import environment
from dl4py.samediff.base.environment import Setting


@pytest.mark.parametrize("behind", [True, False])
def test_values_are_those_of_now(monkeypatch, behind):
    if not behind:
        monkeypatch.setattr(environment, "_MAPPING", os.environ)
        monkeypatch.setattr(environment, "_IS_ENCODED", False)
    setting = Setting("DL4PY_TEST_SETTING")
    monkeypatch.delenv("DL4PY_TEST_SETTING", raising=False)
    assert setting.value() is None
    for text in ("one", "", "\u00e4"):
        monkeypatch.setenv("DL4PY_TEST_SETTING", text)
        assert setting.value() == text
    monkeypatch.delenv("DL4PY_TEST_SETTING")
    assert setting.value() is None


class Other(dict):
    """An ``os.environ`` of another Python."""

    encodekey = staticmethod(str.encode)


@pytest.mark.parametrize("behind", [{}, {b"DL4PY": b"1"}, {"PATH": "1"}, [b"PATH"], None])
def test_what_is_behind_something_else_is_not_used(monkeypatch, behind):
    other = Other(PATH="1")
    other._data = behind
    monkeypatch.setattr(environment, "os", SimpleNamespace(environ=other))
    assert environment._behind() == (other, False)
    other._data = {b"PATH": b"1"}
    assert environment._behind() == ({b"PATH": b"1"}, True)
