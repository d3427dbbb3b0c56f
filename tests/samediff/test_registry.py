"""Registries: clashes, near names, plug-ins of other distributions."""
from __future__ import annotations

import importlib.metadata
import warnings

import pytest

from dl4py.samediff.errors import MissingOpError, RegistrationError
from dl4py.samediff.registry import PluginWarning, Registry, owner


class Red:
    """A registered thing."""


class Green:
    """Another one."""


class Point:
    """An entry point of a made-up distribution."""

    class Dist:
        name = "acme-plugin"

    def __init__(self, name, act):
        self.name, self.value, self.load, self.dist = name, f"acme.{name}", act, Point.Dist()


def with_points(monkeypatch, *points):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == "colours" else ())


def test_look_up():
    colours = Registry("colour")
    colours.add("red", Red)
    assert colours["red"] is Red and "red" in colours and "blue" not in colours and 5 not in colours
    assert colours.get("blue") is None and list(colours) == ["red"] and colours.items() == [("red", Red)]
    with pytest.raises(MissingOpError, match="no colour named 'rad' is registered; did you mean 'red'"):
        colours["rad"]
    colours.remove("red")
    colours.remove("red")
    assert list(colours) == []


def test_a_clash_names_both_owners():
    colours = Registry("colour")
    colours.add("red", Red)
    colours.add("red", Red)
    with pytest.raises(RegistrationError, match=r"Red .*test_registry.py.*Green .*acme\.red"):
        colours.add("red", Green)
    assert colours["red"] is Red
    assert "test_registry.Red" in owner(Red) and owner(5).endswith("5")


def test_changes_are_told():
    colours, heard = Registry("colour"), []
    colours.on_change.append(lambda: heard.append(list(colours)))
    colours.add("red", Red)
    colours.remove("red")
    assert heard == [["red"], []]


def test_plug_ins_load_at_the_first_unknown_name(monkeypatch):
    colours, loads = Registry("colour", "colours"), []
    colours.add("red", Red)
    with_points(monkeypatch, Point("green", lambda: (loads.append(1), colours.add("green", Green))))
    assert colours["red"] is Red and not loads
    assert colours["green"] is Green and loads == [1]
    assert colours.get("blue") is None and loads == [1]


def test_a_broken_plug_in_is_a_warning_that_names_it(monkeypatch):
    def broken():
        raise ImportError("no module named nothing")
    colours = Registry("colour", "colours")
    with_points(monkeypatch, Point("bad", broken), Point("green", lambda: colours.add("green", Green)))
    with pytest.warns(PluginWarning, match="'bad'.*acme.bad.*'acme-plugin'.*ImportError: no module named nothing"):
        assert colours["green"] is Green
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert colours.get("blue") is None


def test_ops_of_plug_ins_are_namespaces_at_once():
    from dl4py.samediff import SameDiff
    from dl4py.samediff.op import OPS
    from dl4py.udf import user_op
    sd = SameDiff.create()
    x = sd.constant("x", [1.0, 2.0])
    with pytest.raises(AttributeError):
        sd.acmetest.twice(x)

    @user_op("acmetest.twice")
    def twice(xp, x):
        return x * 2
    try:
        assert sd.acmetest.twice("y", x).eval().tolist() == [2, 4]
    finally:
        OPS.remove("acmetest.twice")
    with pytest.raises(AttributeError):
        sd.acmetest.twice(x)
