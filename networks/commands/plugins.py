"""Distributions with plug-ins that are installed, what they register, and what is broken."""
from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...samediff.base.registry import GROUPS, load_plugin
from ...samediff.configuration.classes import registered
from ...samediff.ir.op import OPS

__all__ = ["InstalledPlugin", "installed_plugins"]


@dataclass
class InstalledPlugin:
    """A distribution that announces plug-ins.

    Attributes
    ----------
    location : the folder that its package is imported from
    ops, classes : names that its packages registered, with their versions
    notes : what could not be loaded and why, and names that somebody else has
    """

    distribution: str
    version: str
    location: str
    points: list[str] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rows = [f"{self.distribution} {self.version}  ({self.location})", f"  entry points: {', '.join(self.points)}"]
        rows += [f"  {what}: {', '.join(names)}" for what, names in (("ops", self.ops), ("classes", self.classes)) if names]
        return "\n".join([*rows, *(f"  BROKEN: {text}" for text in self.notes)])


def installed_plugins() -> list[InstalledPlugin]:
    """Every distribution with entry points for dl4py, loaded as files and calls would load it."""
    found: dict[str, InstalledPlugin] = {}
    packages: dict[str, set[str]] = {}
    for group in GROUPS:
        for point in importlib.metadata.entry_points(group=group):
            name = point.dist.name if point.dist else "?"
            if name not in found:
                found[name] = InstalledPlugin(name, point.dist.version if point.dist else "?", _location(point))
            found[name].points.append(f"{group}:{point.name} = {point.value}")
            packages.setdefault(name, set()).add(point.module.partition(".")[0])
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                load_plugin(point, group)
            found[name].notes += [text for w in caught if (text := str(w.message)) not in found[name].notes]
    for name, plugin in found.items():
        plugin.ops = sorted(f"{n} (version {getattr(c, 'version', 1)})" for n, c in OPS.items() if _package(c) in packages[name])
        plugin.classes = sorted(f"{n} (version {_version(c)})" for n, c in registered() if _package(c) in packages[name])
    return list(found.values())


def _location(point: importlib.metadata.EntryPoint) -> str:
    """The folder that the package is imported from; without one, that of what the installer left."""
    package = importlib.util.find_spec(point.module.partition(".")[0])
    if package is None or package.origin is None:
        return str(point.dist.locate_file("")) if point.dist else "?"
    return str(Path(package.origin).parents[0 if package.submodule_search_locations is None else 1])


def _package(cls: Any) -> str:
    return str(cls.__module__).partition(".")[0]


def _version(cls: Any) -> int:
    return cls.class_version() if hasattr(cls, "class_version") else 1


def describe_plugins() -> str:
    """The list as text."""
    return "\n".join(map(str, installed_plugins())) or "no distribution announces plug-ins for dl4py"
