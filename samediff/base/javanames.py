"""Java's camelCase names and Python's snake_case names, converted by one rule and one table of exceptions."""
from __future__ import annotations

import keyword
import re
import types
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .home import settle

_IRREGULAR = {  # snake_case: camelCase, where the rule does not lead back
    "apply_lr": "applyLR",
    "c_relu": "cReLU",
    "evaluate_roc": "evaluateROC",
    "evaluate_roc_multi_class": "evaluateROCMultiClass",
    "get_bottom_right_xy": "getBottomRightXY",
    "get_roc": "getROC",
    "get_top_left_xy": "getTopLeftXY",
    "import_frozen_tf": "importFrozenTF",
    "is_ncdhw": "isNCDHW",
    "set_iwm": "setIWM",
    "set_twm": "setTWM",
    "t_bptt_backward_length": "tBPTTBackwardLength",
    "t_bptt_forward_length": "tBPTTForwardLength",
    "t_bptt_length": "tBPTTLength",
    "tbptt_backward_length": "tBPTTBackwardLength",
    "tbptt_forward_length": "tBPTTForwardLength",
    "tbptt_length": "tBPTTLength",
    "use_leaky_relu": "useLeakyReLU",
    "use_relu": "useReLU",
}


@lru_cache(maxsize=4096)
def to_snake(name: str) -> str:
    """Return the snake_case spelling of a Java name; Python keywords get a trailing underscore.

    Examples
    --------
    >>> to_snake("nIn"), to_snake("useLeakyReLU"), to_snake("lambda"), to_snake("tBPTTLength")
    ('n_in', 'use_leaky_relu', 'lambda_', 'tbptt_length')
    """
    name = name.replace("ReLU", "Relu").replace("TBPTT", "Tbptt").replace("tBPTT", "tbptt")
    name = re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"_\1", name)
    name = re.sub(r"([A-Z])([A-Z][a-z])", r"\1_\2", name).lower()
    return name + "_" if keyword.iskeyword(name) else name


@lru_cache(maxsize=4096)
def to_camel(name: str) -> str:
    """Return the Java spelling of a snake_case name.

    Examples
    --------
    >>> to_camel("n_in"), to_camel("lambda_"), to_camel("use_relu")
    ('nIn', 'lambda', 'useReLU')
    """
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def in_both_spellings(names: Iterable[str]) -> list[str]:
    """The names, and Java's spelling of those that it writes otherwise, for completion.

    Examples
    --------
    >>> in_both_spellings(["n_in", "fit"])
    ['fit', 'nIn', 'n_in']
    """
    given = set(names)
    return sorted(given | {to_camel(name) for name in given if not name.startswith("_") and "_" in name.rstrip("_")})


def squash(name: str) -> str:
    """Return what all spellings of a name share: ``nIn``, ``n_in``, ``nin`` and ``NIn`` are all ``nin``."""
    return name.replace("_", "").lower()


def method_of(data: Any, name: str) -> Any:
    """A method in either spelling, None where there is none."""
    return getattr(data, name, None) or getattr(data, to_camel(name), None)


class PythonSpelling:
    """An object of a class of its own, in Java's spelling, with the names that are called here.

    Parameters
    ----------
    of : object
        It has the methods.
    """

    def __init__(self, of: Any) -> None:
        self.of = of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "of":        # while a copy is made
            raise AttributeError(name)
        found = method_of(self.of, name)
        if found is None:
            raise AttributeError(f"{type(self.of).__name__!r} object has no attribute {name!r}", name=name, obj=self.of)
        return found


def in_python_spelling(given: Any, name: str) -> Any:
    """The object itself where it has that method, in Python's spelling where it has it in Java's; else None."""
    if hasattr(given, name):
        return given
    return PythonSpelling(given) if hasattr(given, to_camel(name)) else None


#: What every object of Java has.
_OF_OBJECT: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "equals": lambda own: lambda other: own == other, "hash_code": lambda own: lambda: hash(own), "to_string": lambda own: lambda: str(own)}


class JavaSpelling:
    """Mix-in: camelCase names and Java's getters and setters reach the snake_case attributes.

    ``obj.numParams`` is ``obj.num_params``. Where there is no such method, ``getX()``, ``get_x()``, ``isX()`` and
    ``is_x()`` give the attribute ``x`` (or call the method ``x``), ``setX(v)`` and ``set_x(v)`` set it.
    Names that exist cost nothing. Static and class methods have both names on the class itself. A sub-class that defines ``valueAt``
    overrides ``value_at``. ``equals``, ``hashCode`` and ``toString`` are what ``==``, ``hash`` and ``str`` give.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        settle(cls)
        own = [o for o in cls.__mro__ if o is cls or not issubclass(o, JavaSpelling)]      # its bases did theirs
        for name in {n for owner in own for n in vars(owner) if "_" in n.strip("_") and not n.startswith("_")}:
            member = next(vars(o)[name] for o in cls.__mro__ if name in vars(o))
            if isinstance(member, (staticmethod, classmethod)) and to_camel(name) not in vars(cls):
                setattr(cls, to_camel(name), member)
        for owner in own:
            nearer = cls.__mro__[:cls.__mro__.index(owner) + 1]
            for name, member in list(vars(owner).items()):
                snake = to_snake(name)
                if (snake != name and _is_method(member) and callable(getattr(cls, snake, None))
                        and not any(snake in vars(o) for o in nearer)):
                    setattr(cls, snake, member)

    def __dir__(self) -> list[str]:
        return in_both_spellings(super().__dir__())

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                snake = to_snake(name)
                if snake != name and _has(self, snake):
                    return getattr(self, snake)
                prefix, _, rest = snake.partition("_")
                for field in (rest, rest + "_"):
                    known = prefix in ("get", "is", "set") and rest and _has(self, field)
                    if known and not (prefix == "set" and _is_function(self, field)):
                        return _accessor(self, prefix, field)
                if snake in _OF_OBJECT:
                    return _OF_OBJECT[snake](self)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


def _is_method(member: object) -> bool:
    """Whether a member of a class may stand for a method: a function, a callable or a descriptor, but no class inside the class."""
    return (callable(member) or hasattr(type(member), "__get__")) and not isinstance(member, type)


def _has(obj: object, name: str) -> bool:
    return hasattr(type(obj), name) or name in getattr(obj, "__dict__", ())


def _is_function(obj: object, name: str) -> bool:
    return isinstance(getattr(type(obj), name, None), types.FunctionType) and name not in getattr(obj, "__dict__", ())


def _accessor(obj: Any, prefix: str, field: str) -> Callable[..., Any]:
    if prefix == "set":
        return lambda value: setattr(obj, field, value)
    value = getattr(obj, field)
    return value if callable(value) and hasattr(type(obj), field) else lambda: value  # a method x() serves get_x() too
