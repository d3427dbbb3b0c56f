"""Where the cache is, and to what its files are bound."""
from __future__ import annotations

import os
import sys
import warnings

import pytest

from dl4py.samediff.cpu.cache import store as cache_store
from dl4py.samediff.cpu.cache.store import cache_folder, opened, read, read_plain, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An own cache, about which nothing was said yet."""
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache_store, "_warnings_left", iter([True]))
    cache_store._opened.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def variables(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def given(**values):
        for name in ("DL4PY_CACHE_DIR", "XDG_CACHE_HOME"):
            monkeypatch.setenv(name, values.get(name, ""))
        return cache_folder()
    return given


def test_where_it_is(variables, tmp_path):
    assert variables() == tmp_path / ".cache" / "dl4py"
    assert variables(XDG_CACHE_HOME="/x/y") == tmp_path.__class__("/x/y/dl4py")
    assert variables(XDG_CACHE_HOME="x/y") == tmp_path / ".cache" / "dl4py"
    assert variables(XDG_CACHE_HOME="/x/y", DL4PY_CACHE_DIR="/z") == tmp_path.__class__("/z")
    assert variables(DL4PY_CACHE_DIR="z") == tmp_path / "z"


def test_no_home_folder_no_cache(variables, monkeypatch):
    monkeypatch.setattr(cache_store, "home", lambda: None)
    assert variables() is None and variables(XDG_CACHE_HOME="x") is None
    assert variables(XDG_CACHE_HOME="/x") is not None
    variables()
    assert opened() is None and read("numba", "a", "") is None
    write("numba", "a", "", b"")


def test_a_file_is_read_as_it_was_written(folder):
    assert read("numba", "a", "1") is None
    write("numba", "a", "1", b"content")
    assert read("numba", "a", "1") == b"content"
    assert os.listdir(folder) == ["numba"]


def test_a_file_is_bound_to_its_name_and_versions(folder):
    write("numba", "a", "1", b"content")
    (folder / "numba" / "b").write_bytes((folder / "numba" / "a").read_bytes())
    (folder / "numba" / "b").chmod(0o600)
    assert read("numba", "b", "1") is None
    assert read("numba", "a", "2") is None
    assert read("numba", "a", "1") == b"content"


@pytest.mark.parametrize("damage", [lambda c: b"", lambda c: c[:20], lambda c: c[:-1], lambda c: c + b"x", lambda c: c[:-1] + b"x",
                                    lambda c: b"x" + c, lambda c: c[:20] + b"x" + c[21:]])
def test_a_damaged_file_is_none(folder, damage):
    write("numba", "a", "1", b"content")
    file = folder / "numba" / "a"
    file.write_bytes(damage(file.read_bytes()))
    assert read("numba", "a", "1") is None
    write("numba", "a", "1", b"content")
    assert read("numba", "a", "1") == b"content"


@pytest.mark.parametrize("part", ["", "numba"])
def test_one_warning_says_why_the_cache_is_not_used(folder, part):
    write("numba", "a", "1", b"content")
    (folder / part).chmod(0o777)
    cache_store._opened.cache_clear()
    text = "compiled kernels are not taken from .* others may write to .*chmod go-w.*DL4PY_CACHE_DIR"
    with pytest.warns(UserWarning, match=text) as said:
        for name in "aab":
            assert read("numba", name, "1") is None
            write("numba", name, "1", b"other")
            assert read_plain("numba", name) is None
    assert len(said) == 1
    assert sorted(os.listdir(folder / "numba")) == ["a", "tidied"]


def test_one_warning_for_files_of_others(folder):
    for name in "abc":
        write("numba", name, "1", b"content")
        (folder / "numba" / name).chmod(0o666)
    with pytest.warns(UserWarning, match="others may write to .*/a ") as said:
        assert [read("numba", name, "1") for name in "abc"] == [None] * 3
    assert len(said) == 1
    write("numba", "a", "1", b"content")
    assert read("numba", "a", "1") == b"content"


def test_what_cannot_be_a_folder_is_passed_over(tmp_path, folder):
    folder.write_text("")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opened() is None and opened("numba") is None
