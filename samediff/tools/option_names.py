"""The part of the files ``java_names.pyi`` that follows from the fields of configuration classes: getters, options of builders.

A public configuration class ``X`` has the base ``XNames``. Of each there are in the stub: ``XNames``, the getters of its fields and its
``Builder``; ``XOptions``, a method for each option in each spelling; ``XBuilder``, where objects of the class can be made. What a class
has from its bases stands there, so a class of a user's own, which no stub can know, has a builder that takes any name.
"""
from __future__ import annotations

import ast
import inspect
import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator, Set
from typing import Any

from ..base.javanames import to_camel, to_snake
from ..configuration.builder import Builder
from ..configuration.configuration import Configuration
from ..configuration.names import FieldName

#: What a builder takes for a field of a plain type; anything else is converted from values of many types.
TAKES = {"int": "value: SupportsIndex", "float": "value: SupportsFloat | SupportsIndex", "bool": "value: bool = ...", "str": "value: str"}
_ANY = type("Any", (), {"__module__": "builtins"})       # so that signatures show its name alone
_BUILDER = "    @classmethod\n    def builder(cls, *args: Any, **options: Any) -> {}[Self]: ...\n"
PLAIN = {"int", "float", "bool", "str", "None", "tuple", "Convertible", "Self"}


def is_configuration(cls: type) -> bool:
    """Whether the names of a class follow from its fields."""
    return issubclass(cls, Configuration)


def fields_of(cls: type[Configuration]) -> dict[str, str]:
    """The fields of a class and their further names, with the text of their types."""
    found = {}
    for name, info in cls._fields.items():
        for each in (name, *info.aliases):
            found[each] = info.annotation if isinstance(info.annotation, str) else getattr(info.annotation, "__name__", "Any")
    return found


def options_of(cls: type[Configuration]) -> dict[str, str]:
    """What the builder of a class takes, with the text of the types."""
    return {**fields_of(cls), **dict.fromkeys(cls._options, "Any")}


def further_names(cls: type[Configuration]) -> set[str]:
    """Names of fields that the class has for tools and readers."""
    return {n for n in dir(cls) if isinstance(inspect.getattr_static(cls, n), FieldName)}


def spellings(name: str) -> list[str]:
    """A name in Python's and in Java's spelling, as far as they are names in Python."""
    names = dict.fromkeys((name, to_camel(name)))
    return [n for n in names if n.isidentifier() and not keyword.iskeyword(n)]


def value_type(annotation: str) -> str:
    """What a getter gives: the type of the field where it is a plain one."""
    words = {n.id for n in ast.walk(ast.parse(annotation)) if isinstance(n, ast.Name)}
    return re.sub(r"^Convertible\[(.*)\]$", r"\1", annotation) if words <= PLAIN else "Any"


class Members:
    """Lines of a class in a stub, each name once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: set[str] = set()

    def add(self, names: list[str], rest: str, before: str = "") -> None:
        """A method under several names, as far as they are free; not one as another: type checkers would go in circles."""
        free = [n for n in dict.fromkeys(names) if n not in self.names]
        self.lines += [f"{before}    def {name}({rest}: ...\n" for name in free]
        self.names |= set(free)

    def __str__(self) -> str:
        return "".join(self.lines)


def getters(cls: type[Configuration], fields: dict[str, str]) -> str:
    """The lines for reading fields: ``get_n_out()``, ``getNOut()``, ``nOut``, of switches also ``isNOut()``."""
    members = Members()
    members.names |= {n for n in dir(cls) if n not in further_names(cls)} | set(fields)
    members.names |= {n for own in dir(cls) if is_method(cls, own) for n in spellings(own)}
    for name, annotation in fields.items():
        kind = value_type(annotation)
        prefixes = ("get", "is") if kind == "bool" else ("get",)
        members.add([n for p in prefixes for n in spellings(f"{p}_{name.strip('_')}")], f"self) -> {kind}")
        members.add([n for n in spellings(name) if n not in cls._fields], f"self) -> {kind}", "    @property\n")
    return str(members)


def methods(cls: type, names: Iterable[str], known: Set[str] = frozenset(), unseen: Set[str] = frozenset()) -> str:
    """The lines for methods and properties in Java's spelling; ``unseen`` ones also in Python's. Results may be of classes ``known``."""
    members = Members()
    for name in names:
        member = inspect.getattr_static(cls, name)
        function = getattr(member, "fget", getattr(member, "__func__", member))
        spelled = [n for n in spellings(name) if n != name or name in unseen]
        if not spelled or not inspect.isfunction(function):
            continue
        kind = str(function.__annotations__.get("return", "Any"))
        kind = kind if kind in known else value_type(kind)
        if isinstance(member, property):
            members.add(spelled, f"self) -> {kind}", "    @property\n")
            continue
        first, before = ("cls, ", "    @classmethod\n") if isinstance(member, classmethod) else ("self, ", "")
        if isinstance(member, staticmethod):
            members.add(spelled, f"{parameters(function)}) -> {kind}", "    @staticmethod\n")
        else:                                       # users may override it with fewer parameters
            members.add(spelled, f"{first}*args: Any, **options: Any) -> {kind}", before)
    return str(members)


def parameters(function: Any) -> str:
    """The parameters of a function, of any type."""
    given = inspect.signature(function).parameters.values()
    return str(inspect.Signature([p.replace(annotation=_ANY, default=p.default if p.default is p.empty else ...) for p in given])
               ).strip("()").replace("Ellipsis", "...")


def is_method(cls: type, name: str) -> bool:
    """Whether a member is something that is called or computed."""
    member = inspect.getattr_static(cls, name)
    return inspect.isfunction(member) or isinstance(member, staticmethod | classmethod | property)


def members_of(cls: type) -> set[str]:
    """The public names of a class and its bases here; ``dir`` leaves out those of enums."""
    return {n for k in cls.__mro__ if k.__module__.startswith("dl4py.") for n in vars(k) if not n.startswith("_")}


def unseen_by_checkers(cls: type) -> set[str]:
    """Members that are made while the module runs, so its text does not say them."""
    found, said = set(), set()
    for kind in cls.__mro__:
        if kind.__module__.startswith("dl4py.") and kind.__name__ != "BaseOps":
            found |= {n for n, value in vars(kind).items() if isinstance(value, staticmethod) and to_snake(n) == n}
            nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))))
            said |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
            said |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found - said


def setters(options: dict[str, str]) -> str:
    """The lines for the options of a builder: ``n_out(4)``, ``nOut(4)``, ``setNOut(4)``."""
    members = Members()
    for name, annotation in options.items():
        names = [*(spellings(name) or [name + "_"]), to_camel(f"set_{name.strip('_')}")]
        members.add(names, f"self, {TAKES.get(annotation, '*values: Any')}) -> Self")
    return str(members)


def of_configuration(cls: type[Configuration], bases: list[type[Any]]) -> tuple[str, str, str]:
    """Bases of the names, their lines besides methods, and the classes of the builder."""
    below: dict[str, str] = {}
    for base in bases:
        below |= options_of(base)
    own = {n: t for n, t in options_of(cls).items() if n not in below}
    fields = {n: t for n, t in fields_of(cls).items() if n in own}
    name = cls.__name__
    over = ", ".join(f"{b.__name__}Options" for b in bases)
    classes = f"\nclass {name}Options{f'({over})' if over else ''}:\n{setters(own) or '    ...' + chr(10)}"
    lines = getters(cls, fields)
    if cls is Configuration:
        lines += f"    Builder: ClassVar[BuilderAccess]\n{_BUILDER.format('OpenBuilder')}"
    elif cls.java_name and cls.Builder.__name__ == "Builder" and cls.Builder.__mro__[1] is Builder:
        classes += (f"\nclass {name}Builder({name}Options, Builder[T]): ...\n"
                    f"\nclass {name}BuilderAccess:\n"
                    f"    def __get__(self, instance: object, owner: type[T]) -> type[{name}Builder[T]]: ...\n")
        lines += f"    Builder: ClassVar[{name}BuilderAccess]\n{_BUILDER.format(f'{name}Builder')}"
    return "".join(f"{b.__name__}Names, " for b in bases).rstrip(", "), lines, classes


def target_of(builder: type[Builder[Any]]) -> type[Configuration]:
    """What a builder that is written by hand makes."""
    return builder.target or next(c for c in _below(Configuration) if getattr(vars(c).get("Builder"), "base", None) is builder)


def _below(cls: type[Configuration]) -> Iterator[type[Configuration]]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)


def of_builder(cls: type[Builder[Any]]) -> str:
    """The options of a builder that is written by hand, less those that it works out itself."""
    taken = {*cls.made, *(n for k in cls.__mro__ for n in vars(k))}
    return setters({n: t for n, t in options_of(target_of(cls)).items() if n not in taken})
