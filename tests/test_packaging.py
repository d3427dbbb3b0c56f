"""What an installation holds, and what importing it costs."""
from __future__ import annotations

import fnmatch
import importlib
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("samediff", "layers", "networks", "udf")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUP = PROJECT["tool"]["setuptools"]


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def source_files() -> list[Path]:
    found = [p for f in FOLDERS for p in (ROOT / f).rglob("*") if p.is_file()]
    return [p for p in found if "__pycache__" not in p.parts and not p.name.startswith(".")]


def test_every_package_is_listed_once():
    present = {"dl4py." + ".".join(p.parent.relative_to(ROOT).parts) for p in source_files() if p.name == "__init__.py"}
    assert sorted(SETUP["packages"]) == sorted(present)


def test_every_folder_with_sources_is_a_package():
    folders = {p.parent for p in source_files() if p.suffix == ".py"}
    assert not [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").exists()]


def test_every_data_file_is_shipped():
    patterns = [pattern for listed in SETUP["package-data"].values() for pattern in listed]
    left = [str(p.relative_to(ROOT)) for p in source_files()
            if p.suffix != ".py" and not any(fnmatch.fnmatch(p.name, pattern) for pattern in patterns)]
    assert not left


def test_every_extra_serves_a_feature():
    texts = "".join(p.read_text(encoding="utf-8") for p in source_files() if p.suffix == ".py")
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"bench", "test"}
    assert extras and not [e for e in extras if f"dl4py[{e}]" not in texts]       # errors for missing packages name the extra


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_installed_package_is_typed(folder):
    assert files(importlib.import_module(f"dl4py.{folder}")).joinpath("py.typed").is_file()


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_source_folder_is_not_importable_by_its_bare_name(folder):
    run = python(f"import {folder}")
    assert run.returncode != 0
    assert f"dl4py.{folder}" in run.stderr
    assert "pip install -e ." in run.stderr


@pytest.mark.parametrize("folder", FOLDERS)
def test_import_loads_no_compiler_and_no_device_library(folder):
    run = python(f"import sys, dl4py.{folder}; print([m for m in ('numba', 'llvmlite', 'cupy') if m in sys.modules])")
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"
