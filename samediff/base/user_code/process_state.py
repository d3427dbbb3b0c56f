"""Settings of the whole process that code of others changes, besides what it returns."""
from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class _Setting(NamedTuple):
    """Something that all code of a process shares."""

    read: Callable[[], Any]
    put: Callable[[Any], Any]
    advice: str


def _numpy_generator() -> Any:
    name, keys, *rest = np.random.get_state()
    return name, tuple(keys), *rest


def _put_environment(values: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(values)


def _put_filters(filters: list[Any]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]


_SETTINGS = {
    "numbers of np.random": _Setting(_numpy_generator, np.random.set_state, "draw from the generator that is given, or from a "
                                                                            "np.random.default_rng(seed) of its own"),
    "numbers of random": _Setting(random.getstate, random.setstate, "draw from a random.Random(seed) of its own"),
    "np.seterr": _Setting(np.geterr, lambda kept: np.seterr(**kept), "write with np.errstate(...):"),
    "filters of warnings": _Setting(lambda: list(warnings.filters), _put_filters, "write with warnings.catch_warnings():"),
    "environment variables": _Setting(lambda: dict(os.environ), _put_environment, "what it needs is an attribute or an option"),
    "working directory": _Setting(os.getcwd, os.chdir, "use absolute paths"),
    "np.set_printoptions": _Setting(np.get_printoptions, lambda kept: np.set_printoptions(**kept), "write with np.printoptions(...):"),
    "limit of recursion": _Setting(sys.getrecursionlimit, sys.setrecursionlimit, "write a loop")}


def settings() -> dict[str, Any]:
    """What they are now."""
    return {name: s.read() for name, s in _SETTINGS.items()}


def changed_by(call: Callable[[], Any], start: dict[str, Any]) -> str:
    """Which of the settings, that are put as they were at the start, a call changes, and what to do; empty where it changes none.

    A first call may load modules, which change some too: the second one counts. Afterwards all is as it was before.
    """
    changed, before = list[str](), settings()
    for _ in range(2):
        for name, s in _SETTINGS.items():
            s.put(start[name])
        try:
            call()
        finally:
            after = settings()
            changed = [name for name in _SETTINGS if after[name] != start[name]]
            for name, s in _SETTINGS.items():
                s.put(before[name])
    return f"{changed[0]}: {_SETTINGS[changed[0]].advice}" if changed else ""
