"""Deeplearning4j's networks, configurations, numbers and files in Python.

The packages are :mod:`dl4py.samediff` (graphs, ops, data, training, evaluation), :mod:`dl4py.layers`, :mod:`dl4py.networks` and
:mod:`dl4py.udf` (ops of one's own). Their public names can be taken from here too; a package is imported when something of it is
first asked for.

Examples
--------
>>> import dl4py
>>> dl4py.MultiLayerNetwork is dl4py.networks.MultiLayerNetwork
True
"""
from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import layers as layers
    from . import networks as networks
    from . import samediff as samediff
    from . import udf as udf
    from .layers import *
    from .networks import *
    from .networks.zoo import *
    from .samediff import *
    from .samediff.arrays import *
    from .samediff.data import *
    from .samediff.evaluation import *
    from .samediff.files import NormalizerSerializer as NormalizerSerializer
    from .samediff.nd4j import *
    from .samediff.scopes import *
    from .samediff.training import *
    from .samediff.ui import *
    from .udf import *

    __version__: str

_PACKAGES = ("samediff", "layers", "networks", "udf")
_PUBLIC = (*_PACKAGES, "samediff.training", "samediff.data", "samediff.evaluation", "samediff.arrays", "samediff.scopes", "samediff.nd4j",
           "samediff.ui", "networks.zoo")

if not all((Path(__file__).parent / name).is_dir() for name in _PACKAGES):      # a checkout on a system without symbolic links
    __path__.append(str(Path(__file__).resolve().parent.parent))  # noqa: F405

#: Public names that stand elsewhere.
_FURTHER = {"NormalizerSerializer": "samediff.files"}


def _found(name: str) -> Any:
    if name in (*_PACKAGES, "spark"):
        return import_module(f".{name}", __name__)
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version
        try:
            return version("dl4py")
        except PackageNotFoundError:
            return "0"                  # a checkout that is not installed
    if name == "__all__":
        return sorted({public for package in _PUBLIC for public in import_module(f".{package}", __name__).__all__}
                      | {*_PACKAGES, *_FURTHER})
    if not name.startswith("_"):
        for package in _PUBLIC:
            module = import_module(f".{package}", __name__)
            if name in module.__all__:
                globals()[name] = found = getattr(module, name)
                return found
    if name in _FURTHER:
        return getattr(import_module(f".{_FURTHER[name]}", __name__), name)
    raise AttributeError(_unknown(name), name=name)


def _unknown(name: str) -> str:
    from .elsewhere import ELSEWHERE
    from .samediff.base.java.old_names import instead
    from .samediff.errors import did_you_mean
    advice = ELSEWHERE.get(name.lower()) or _where(name)
    other, names = instead("names", name), _found("__all__")
    alike = next((n for n in names if n.lower() == name.lower()), name)
    return f"dl4py has no {name!r}" + (f": {advice}{other}" if advice else other or did_you_mean(alike, names))


def _where(name: str) -> str | None:
    """The package that has a name of DL4J which is not among the public ones."""
    from .samediff.nd4j.op_classes.op_names import ABSENT, OP_NAMES
    if name in ABSENT:
        return f"this op class of DL4J's is not here; instead: {ABSENT[name]}"
    if name in OP_NAMES:
        return f"DL4J's classes of ops are in dl4py.samediff.nd4j.op_classes: from dl4py.samediff.nd4j.op_classes import {name}"
    on_spark = name.startswith("Spark") or name.endswith(("TrainingMaster", "Spark"))
    return "what runs on Spark is in dl4py.spark" if on_spark else None


def __dir__() -> list[str]:
    return [*_found("__all__"), "__version__"]


if not TYPE_CHECKING:       # else no misspelt name would be noticed
    __getattr__ = _found
