"""Docstrings: their examples run, and every public name has one."""
from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

PACKAGES = ["dl4py.samediff", "dl4py.layers", "dl4py.networks", "dl4py.udf"]


def modules(package):
    root = importlib.import_module(package)
    return [package, *(m.name for m in pkgutil.walk_packages(root.__path__, f"{package}.") if not m.name.endswith("__main__"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_examples_run(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = {name: doctest.testmod(importlib.import_module(name)) for name in modules(package)}
    assert sum(result.attempted for result in found.values()) > 0
    assert [name for name, result in found.items() if result.failed] == []


@pytest.mark.parametrize("package", [*PACKAGES, "dl4py.samediff.training", "dl4py.samediff.data", "dl4py.samediff.evaluation",
                                     "dl4py.samediff.files"])
def test_public_names_are_described(package):
    module = importlib.import_module(package)
    things = {name: getattr(module, name) for name in module.__all__}
    bare = [n for n, t in things.items() if (inspect.isclass(t) or inspect.isroutine(t)) and not (t.__doc__ or "").strip()]
    assert bare == []


def test_names_that_load_on_first_use():
    from dl4py.samediff import DataSet, DataType, MultiDataSet, SameDiff, TrainingConfig
    from dl4py.samediff.data import DataSet as Direct
    assert DataSet is Direct and all((DataType, MultiDataSet, SameDiff, TrainingConfig))
    with pytest.raises(ImportError, match="Nothing"):
        from dl4py.samediff import Nothing  # noqa: F401
