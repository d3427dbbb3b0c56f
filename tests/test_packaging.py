"""What an installation holds, and what importing it costs."""
from __future__ import annotations

import fnmatch
import importlib
import subprocess
import sys
import textwrap
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from setuptools import find_packages

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("samediff", "layers", "networks", "udf")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUP = PROJECT["tool"]["setuptools"]


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


def source_files() -> list[Path]:
    found = [p for f in FOLDERS for p in (ROOT / f).rglob("*") if p.is_file()]
    return [p for p in found if "__pycache__" not in p.parts and not p.name.startswith(".")]


def test_every_package_is_found():
    present = {"dl4py", *("dl4py." + ".".join(p.parent.relative_to(ROOT).parts) for p in source_files() if p.name == "__init__.py")}
    assert sorted(find_packages(str(ROOT), **SETUP["packages"]["find"])) == sorted(present)


def test_every_folder_with_sources_is_a_package():
    folders = {p.parent for p in source_files() if p.suffix == ".py"}
    assert not [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").exists()]


def test_every_data_file_is_shipped():
    patterns = [pattern for listed in SETUP["package-data"].values() for pattern in listed]
    left = [str(p.relative_to(ROOT)) for p in source_files()
            if p.suffix != ".py" and not any(fnmatch.fnmatch(p.name, pattern) for pattern in patterns)]
    assert not left


def test_no_two_modules_are_the_same():
    seen: dict[str, Path] = {}
    same = [(str(seen[text]), str(p)) for p in source_files()
            if p.suffix == ".py" and (text := p.read_text(encoding="utf-8")).strip() and seen.setdefault(text, p) is not p]
    assert not same


def test_every_extra_serves_a_feature():
    texts = "".join(p.read_text(encoding="utf-8") for p in source_files() if p.suffix == ".py")
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"bench", "site", "test"}
    assert extras and not [e for e in extras if f"dl4py[{e}]" not in texts]       # errors for missing packages name the extra


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_installed_package_is_typed(folder):
    assert files(importlib.import_module(f"dl4py.{folder}")).joinpath("py.typed").is_file()


def test_main_names_are_at_the_root():
    run = python("""
        import sys, dl4py
        assert not [m for m in sys.modules if m.startswith("dl4py.")], "importing the root imports nothing else"
        from dl4py import Adam, DataSet, DenseLayer, Evaluation, INDArray, MultiLayerNetwork, Nd4j, SameDiff, user_op
        assert dl4py.__version__[0].isdigit() and SameDiff is dl4py.samediff.SameDiff
        assert {"DenseLayer", "samediff", "__version__"} <= set(dir(dl4py))
        for name, said in [("zoo", "dl4py.networks.zoo"), ("TFGraphMapper", "frozen_tf"), ("DenseLayr", "did you mean 'DenseLayer'")]:
            try:
                getattr(dl4py, name)
            except AttributeError as error:
                assert said in str(error) and name in str(error), error
            else:
                raise AssertionError(name)
        """)
    assert run.returncode == 0, run.stderr


def test_the_root_is_found_without_links(tmp_path):
    """As in a checkout on a system without symbolic links, where they are small files of text."""
    (tmp_path / "dl4py").mkdir()
    (tmp_path / "dl4py" / "__init__.py").write_bytes((ROOT / "dl4py" / "__init__.py").read_bytes())
    for folder in FOLDERS:
        (tmp_path / "dl4py" / folder).write_text(f"../{folder}")
        (tmp_path / folder).symlink_to(ROOT / folder)
    code = "import sys; sys.path.insert(0, '.'); import dl4py; assert dl4py.__path__[0].startswith(sys.argv[1]); dl4py.SameDiff.create()"
    command = [sys.executable, "-I", "-c", code, str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr


def test_the_command_line_is_the_package():
    run = subprocess.run([sys.executable, "-m", "dl4py", "--version"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert run.stdout.startswith("dl4py "), run.stderr


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
