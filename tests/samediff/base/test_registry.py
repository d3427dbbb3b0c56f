"""Registries: clashes, near names, plug-ins of other distributions."""
from __future__ import annotations

import importlib.metadata
import runpy
import sys
import warnings

import numpy as np
import pytest

from dl4py.samediff.base import registry
from dl4py.samediff.base.registry import PluginWarning, Registry, owner
from dl4py.samediff.errors import MissingOpError, RegistrationError
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.ir.op import OPS


@pytest.fixture(autouse=True)
def nothing_broken(monkeypatch):
    """Each test has its own list of what could not be loaded."""
    monkeypatch.setattr(registry, "_broken", [])


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
    from dl4py.samediff.ir.op import OPS
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


TWICE = """
from dl4py.udf import UserOp, user_op
@user_op("test_registry.{name}")
{first}
@user_op("test_registry.{name}")
{second}
"""
FUNCTION = "def same(xp, x): return x + {n}"
CLASS = "class Same(UserOp):\n    def compute(self, xp, x): return x + {n}"


@pytest.mark.parametrize("text", [FUNCTION, CLASS])
@pytest.mark.parametrize("module", ["__main__", "test_registry_module"])
def test_two_of_one_name_in_one_module_are_refused_and_a_new_run_of_it_replaces(text, module, tmp_path):
    name = f"{module.strip('_')}_{text.split()[0]}"
    path = tmp_path / "written.py"
    path.write_text(TWICE.format(name=name, first=text.format(n=1), second=text.format(n=2)))
    with pytest.raises(RegistrationError, match="registered already"):
        runpy.run_path(str(path), run_name=module)
    for n in (3, 4):                                       # a reload of the edited file, a cell run again
        path.write_text("\n" * n + TWICE.split("@")[0] + f'@user_op("test_registry.{name}")\n' + text.format(n=n))
        runpy.run_path(str(path), run_name=module)
        assert OPS[f"test_registry.{name}"]().compute(xp, np.ones(1)) == 1 + n


def of_module(module):
    return type("Thing", (), {"__module__": module})


def test_the_package_in_front_of_a_name_gets_it_in_any_order():
    mine, other = of_module("acmex.ops"), of_module("squatter.ops")
    for order in ((mine, other), (other, mine)):
        colours = Registry("colour")
        colours.add("acmex.red", order[0])
        if order[0] is mine:
            with pytest.raises(RegistrationError, match=r"acmex.ops.Thing.*squatter.ops.Thing.*Choose another name"):
                colours.add("acmex.red", order[1])
        else:
            with pytest.warns(PluginWarning, match=r"acmex.ops.Thing.*takes the place.*squatter.ops.Thing"):
                colours.add("acmex.red", order[1])
        assert colours["acmex.red"] is mine


def test_so_do_configuration_classes():
    from dl4py.samediff.configuration.classes import find_class
    from dl4py.samediff.configuration.configuration import Configuration
    from dl4py.samediff.configuration.declaring import configuration
    squatter, mine = (type("Thing", (Configuration,), {"__module__": m}) for m in ("squatter.layers", "acmex.layers"))
    configuration("org.acmex.Thing")(squatter)
    with pytest.warns(PluginWarning, match=r"org.acmex.Thing.*acmex.layers.Thing.*takes the place.*squatter"):
        configuration("org.acmex.Thing")(mine)
    assert find_class("org.acmex.Thing") is mine
    with pytest.raises(RegistrationError, match="is taken by acmex"):
        configuration("org.acmex.Thing")(squatter)


def test_a_call_of_an_op_whose_name_another_package_got_is_refused():
    from dl4py.udf import user_op

    def squat(xp, x):
        return x * 3

    def real(xp, x):
        return x * 2
    squat.__module__, real.__module__ = "squatter.ops", "acmex.ops"
    squat = user_op("acmex.twice")(squat)
    try:
        with pytest.warns(PluginWarning):
            real = user_op("acmex.twice")(real)
        assert real(np.ones(2)).tolist() == [2, 2]
        with pytest.raises(RegistrationError, match=r"acmex.twice.*acmex.ops.*squatter.ops"):
            squat(np.ones(2))
    finally:
        OPS.remove("acmex.twice")


def test_plug_ins_are_loaded_in_the_order_of_their_names(monkeypatch):
    loaded, colours = [], Registry("colour", "colours")
    with_points(monkeypatch, *(Point(name, lambda name=name: loaded.append(name)) for name in ("c", "a", "b")))
    colours.discover()
    assert loaded == ["a", "b", "c"]


def test_a_plug_in_that_ends_the_process_costs_only_itself(monkeypatch):
    loaded, colours = [], Registry("colour", "colours")
    with_points(monkeypatch, Point("a", lambda: sys.exit(3)), Point("b", lambda: loaded.append("b")))
    with pytest.warns(PluginWarning, match="'a'.*SystemExit: 3"):
        colours.discover()
    assert loaded == ["b"]


def test_a_group_is_loaded_once_whoever_looks(monkeypatch):
    from dl4py.samediff.base import registry as module
    loaded = []
    monkeypatch.setattr(module, "GROUPS", ("colours",))
    monkeypatch.setattr(module, "_loaded", set())
    with_points(monkeypatch, Point("a", lambda: loaded.append("a")))
    Registry("colour", "colours").discover()
    assert list(module.further(["colours"])) == [] and loaded == ["a"]


def test_entry_points_tell_whose_a_package_is(monkeypatch):
    from dl4py.samediff.base import registry as module
    monkeypatch.setattr(module, "GROUPS", ("colours",))
    with_points(monkeypatch, Point("red", None))
    monkeypatch.setattr(importlib.metadata, "packages_distributions", dict)
    monkeypatch.setattr(importlib.metadata, "version", {"acme-plugin": "1.5"}.get)
    found = module.distribution_of.__wrapped__
    assert found("acme") == "acme-plugin 1.5" and found("other") is None


def test_a_missing_name_tells_of_the_plug_in_that_could_not_be_loaded(monkeypatch):
    import io

    from dl4py.samediff import DataType, SameDiff
    from dl4py.samediff.base import registry as module
    from dl4py.udf import user_op

    def broken():
        raise ImportError("no module named engine")
    monkeypatch.setattr(module, "_broken", [])
    colours = Registry("colour", "colours")
    with_points(monkeypatch, Point("acmey", broken))
    with pytest.warns(PluginWarning):
        colours.discover()
    op = user_op("acmey.gone")(lambda xp, x: x + 1)
    sd, stream = SameDiff.create(), io.BytesIO()
    op("y", sd.placeholder("x", DataType.FLOAT, 2))
    sd.save(stream)
    OPS.remove("acmey.gone")
    stream.seek(0)
    with pytest.raises(MissingOpError, match=r"'acmey.gone' version 1.*'acme-plugin' could not be loaded: ImportError: no module"):
        SameDiff.load(stream).output_single({"x": np.zeros(2)}, "y")


def test_an_op_of_an_older_version_registered_later_says_so():
    import io

    from dl4py.samediff import DataType, SameDiff
    from dl4py.udf import user_op
    op = user_op("acmez.f", version=2)(lambda xp, x: x + 1)
    sd, stream = SameDiff.create(), io.BytesIO()
    op("y", sd.placeholder("x", DataType.FLOAT, 2))
    sd.save(stream)
    OPS.remove("acmez.f")
    stream.seek(0)
    loaded = SameDiff.load(stream)
    for version, remedy in ((1, "update the package"), (2, "load the graph again")):
        user_op("acmez.f", version=version)(lambda xp, x: x + 1)
        with pytest.raises(MissingOpError, match=rf"saved by version 2 of its class; registered is version {version} by now: {remedy}"):
            loaded.output_single({"x": np.zeros(2)}, "y")
        OPS.remove("acmez.f")
