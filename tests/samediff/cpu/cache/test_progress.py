"""What surrounds a compilation: a line that says what a slow start waits for, no garbage collection."""
from __future__ import annotations

import gc
import os
import sys

import pytest

from dl4py.samediff.cpu.cache import progress


@pytest.fixture
def slow(monkeypatch, tmp_path):
    """A process whose first kernel took long, and that has not said anything yet."""
    monkeypatch.setattr(progress, "_left", iter([True]))
    monkeypatch.setattr(progress, "_spent", 2 * progress.PATIENCE)
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("DL4PY_PROGRESS", raising=False)


def compile_two():
    for _ in range(2):
        with progress.compiling():
            pass


@pytest.mark.parametrize(("terminal", "variable", "lines"), [(True, None, 1), (False, None, 0), (True, "0", 0), (False, "1", 1),
                                                             (True, "else", 1)])
def test_one_line_for_who_watches_or_asks(slow, monkeypatch, capsys, tmp_path, terminal, variable, lines):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    if variable is not None:
        monkeypatch.setenv("DL4PY_PROGRESS", variable)
    compile_two()
    said = capsys.readouterr()
    assert said.err.count("\n") == said.err.count(f"once, and keeps them in {tmp_path}") == lines and not said.out


def test_a_quick_start_is_silent(slow, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_spent", 0.0)
    monkeypatch.setenv("DL4PY_PROGRESS", "1")
    compile_two()
    assert capsys.readouterr().err == ""


def test_without_a_folder_that_is_said(slow, monkeypatch, capsys):
    monkeypatch.setenv("DL4PY_PROGRESS", "1")
    monkeypatch.setattr(progress, "opened", lambda: None)
    compile_two()
    assert "in each process" in capsys.readouterr().err


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_stream_that_is_gone_hurts_nobody(slow, monkeypatch, tmp_path, stream):
    monkeypatch.setenv("DL4PY_PROGRESS", "1")
    if stream == "closed":
        stream = (tmp_path / "gone").open("w")
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    compile_two()


@pytest.fixture(params=[True, False])
def collecting(request):
    """The garbage collector on or off; on again afterwards."""
    if not request.param:
        gc.disable()
    yield request.param
    gc.enable()


def test_nothing_is_collected_until_the_last_compilation_ends(collecting):
    first, second = progress.compiling(), progress.compiling()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled() == collecting


def test_an_error_while_compiling_leaves_the_collector_as_it_was(collecting):
    with pytest.raises(KeyError), progress.compiling():
        raise KeyError
    assert gc.isenabled() == collecting


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_collects(collecting):
    with progress.compiling():
        child = os.fork()
        if not child:
            os._exit(gc.isenabled() != collecting)
        assert os.waitpid(child, 0)[1] == 0
