"""Docstrings: their examples run, and every public name has one."""
from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest

PACKAGES = ["dl4py.samediff", "dl4py.layers", "dl4py.networks", "dl4py.udf"]


RUN = """
import doctest, importlib, pkgutil, sys, warnings
warnings.simplefilter("error")
root = importlib.import_module(sys.argv[1])
names = [root.__name__, *(m.name for m in pkgutil.walk_packages(root.__path__, root.__name__ + ".") if not m.name.endswith("__main__"))]
results = [doctest.testmod(importlib.import_module(name)) for name in names]
print(sum(r.attempted for r in results), "examples")
sys.exit(sum(r.failed for r in results))
"""


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.slow
def test_examples_run(package, tmp_path):
    """In a process of their own: ops and layers of examples are registered for good."""
    ran = subprocess.run([sys.executable, "-c", RUN, package], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not ran.stdout.startswith("0 ")


@pytest.mark.parametrize("package", [*PACKAGES, "dl4py.samediff.training", "dl4py.samediff.data", "dl4py.samediff.evaluation",
                                     "dl4py.samediff.files", "dl4py.networks.zoo"])
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
