"""All public classes and methods in both spellings."""
from __future__ import annotations

import inspect

import pytest

import dl4py
from dl4py.samediff.base.javanames import JavaSpelling, to_camel, to_snake

#: What is no Java, or gives its names in another way: graph variables and ops ask their graph, enums write names out.
ELSEWHERE = {"EagerOps", "FileSplit", "Listeners", "RunContext", "SDVariable"}
NOT_JAVA = {"DataType.is_fp_type"}      # isFPType


def classes():
    """Public classes by name, without ops."""
    found = {name: getattr(dl4py, name) for name in dl4py.__all__}
    return {n: c for n, c in found.items() if isinstance(c, type) and not (hasattr(c, "compute") and hasattr(c, "infer"))}


def methods(cls):
    """Public methods of a class that Java would spell otherwise."""
    for owner in cls.__mro__:
        for name, member in vars(owner).items() if owner.__module__.startswith("dl4py.") else ():
            is_method = inspect.isfunction(member) or isinstance(member, staticmethod | classmethod | property)
            if is_method and not name.startswith("_") and to_camel(name) != name and "_" in name.strip("_"):
                yield name, isinstance(member, staticmethod | classmethod)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(classes().keys() - ELSEWHERE))
def test_methods(name):
    cls = classes()[name]
    lost = [m for m, is_static in methods(cls) if not hasattr(cls, to_camel(m)) and (is_static or not issubclass(cls, JavaSpelling))]
    assert not {f"{name}.{m}" for m in lost} - NOT_JAVA


def test_there_are_many():
    assert sum(len(list(methods(cls))) for cls in classes().values()) > 4000


@pytest.mark.parametrize("name", sorted(n for n, c in classes().items() if hasattr(c, "find_option")))
def test_options(name):
    """Options of builders and constructors mean the same in both spellings."""
    cls = classes()[name]
    for option in [*cls._fields, *cls._options]:
        assert cls.find_option(to_camel(option)) == cls.find_option(option) == cls.find_option(to_snake(to_camel(option)))
