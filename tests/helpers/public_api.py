"""What the packages offer: the names in ``__all__`` of all of them, and the bases of the classes among it."""
from __future__ import annotations

import importlib
import inspect
import pkgutil

import dl4py.layers
import dl4py.networks
import dl4py.samediff
import dl4py.udf

PACKAGES = dl4py.samediff, dl4py.layers, dl4py.networks, dl4py.udf


def public():
    """What the packages name in ``__all__``, and the bases of the classes among it."""
    packages = [p.name for top in PACKAGES for p in pkgutil.walk_packages(top.__path__, top.__name__ + ".") if p.ispkg]
    found = {}
    for package in [*PACKAGES, *map(importlib.import_module, packages)]:
        for name in getattr(package, "__all__", ()):
            member = getattr(package, name)
            for one in member.__mro__ if inspect.isclass(member) else [member]:
                if getattr(one, "__module__", "").startswith("dl4py."):
                    found[f"{one.__module__}.{one.__qualname__}"] = one
    return found.items()
