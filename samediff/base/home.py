"""Modules of the classes and functions of users, which need not exist: notebooks, ``exec``, modules that are gone."""
from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

#: Of code without a module; that of the program always exists.
NOWHERE = "__main__"


def module_of(thing: Any) -> str:
    """The module in which a class or function says it is written, where there is such a module."""
    name = written_in(thing)
    return name if name in sys.modules else NOWHERE


def written_in(thing: Any) -> str:
    """The module in which a class or function says it is written, even where that is gone."""
    name = getattr(thing, "__module__", None)
    return NOWHERE if name in (None, "builtins") else str(name)       # classes in code without a name say builtins


def is_ours(thing: Any) -> bool:
    """Whether a class or function is dl4py's own; what users write may say no module at all."""
    return str(getattr(thing, "__module__", None)).startswith("dl4py.")


def settle(cls: type) -> None:
    """Give a class that users write a module where it has none, and types where its annotations are texts.

    Texts are read where the class is written: in a function, and in code that is no module, nobody could do so later. What is not
    known there (names for type checkers alone, classes that follow) stays a text. Called by ``__init_subclass__`` of a base.
    """
    if is_ours(cls):
        return
    cls.__module__ = written_in(cls)
    texts = vars(cls).get("__annotations__", {})
    if any(isinstance(text, str) for text in texts.values()):
        frame = _writer()
        names = {**frame.f_locals, cls.__name__: cls}
        cls.__annotations__ = {n: resolved(text, frame.f_globals, names) for n, text in texts.items()}


def resolved(annotation: Any, module: dict[str, Any], names: Mapping[str, Any]) -> Any:
    """The type that an annotation stands for; the text itself where it has names that nobody knows."""
    try:
        return eval(annotation, module, names) if isinstance(annotation, str) else annotation
    except (NameError, AttributeError, TypeError):
        return annotation


def scope_of(frame: FrameType) -> dict[str, Any]:
    """All names that code of a frame knows."""
    return {**frame.f_globals, **frame.f_locals}


def _writer() -> FrameType:
    """The nearest frame that is not dl4py's."""
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("dl4py."):
        frame = frame.f_back
    assert frame is not None
    return frame
