"""Docstrings of classes and functions say what their parameters are, where they are declared: sub-classes inherit it."""
from __future__ import annotations

import enum
import importlib
import inspect
import re

import pytest

PACKAGES = ("samediff", "layers", "networks", "udf", "samediff.training", "samediff.data", "samediff.evaluation", "samediff.files",
            "samediff.arrays", "samediff.nd4j", "samediff.scopes", "networks.zoo")
_SECTION = re.compile(r"^ *Parameters\n *-+\n(.*?)(?=^ *\w[^\n]*\n *-{3,}$|\Z)", re.MULTILINE | re.DOTALL)


def public_things():
    """Classes and functions that packages export, by name."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"dl4py.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith("dl4py.") and (inspect.isclass(thing) or inspect.isroutine(thing)):
                found[name if found.get(name, thing) is thing else f"{package}.{name}"] = thing
    return {n: t for n, t in found.items() if not (inspect.isclass(t) and issubclass(t, (enum.Enum, BaseException)))}


def described(thing):
    """The parameters that a docstring describes, or those of base classes."""
    names = set()
    for owner in thing.__mro__ if inspect.isclass(thing) else [thing]:
        for section in _SECTION.findall(inspect.cleandoc(owner.__doc__ or "")):
            for line in re.findall(r"^(\S[^\n:]*?)(?: :[^\n]*)?$", section, re.MULTILINE):
                names |= set(line.replace("*", "").replace(" ", "").split(","))
    return names


def undescribed(thing):
    """The parameters of a class or function that no docstring describes."""
    try:
        parameters = inspect.signature(thing).parameters
    except ValueError:          # what Python has none for
        return set()
    refused = {p.name for p in parameters.values() if p.annotation == "Never"}      # catches misspelt options
    return set(parameters) - {"self"} - refused - described(thing)


def without_words(thing):
    """Parameters that its docstring lists and says nothing of, beside their type."""
    found = []
    for section in _SECTION.findall(inspect.cleandoc(thing.__doc__ or "")):
        lines = [line for line in section.split("\n") if line.strip()]
        found += [line for line, following in zip(lines, [*lines[1:], ""]) if not line.startswith(" ") and not following.startswith(" ")]
    return found


THINGS = public_things()


@pytest.mark.parametrize("name", THINGS)
def test_parameters_are_described(name):
    thing = THINGS[name]
    assert undescribed(thing) == set(), thing.__module__
    owners = [c for c in thing.__mro__ if c.__module__.startswith("dl4py.")] if inspect.isclass(thing) else [thing]
    assert [line for owner in owners for line in without_words(owner)] == [], thing.__module__


def test_a_section_is_read():
    def some(a, b, *c, d=1):
        """Do.

        Parameters
        ----------
        a, b : int
            Numbers.
        *c
            More: of them.

        Returns
        -------
        d : int
        """
    assert described(some) == {"a", "b", "c"} and undescribed(some) == {"d"} and without_words(some) == []


def test_words_that_are_missing_are_seen():
    def some(a, b):
        """Do.

        Parameters
        ----------
        a : int
        b : int
            A number.
        """
    assert without_words(some) == ["a : int"]
