"""A second process compiles a part of the kernels; what it does not do is done here."""
from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.cpu.kernels import reverse_sequence
from dl4py.samediff.cpu.native import helper_process, instruction
from dl4py.samediff.cpu.native.helper_process import HelperProcess, _as_text, is_possible
from dl4py.samediff.cpu.native.instruction import Entry, Instruction, entry_of, entry_of_source
from dl4py.samediff.cpu.native.program import Program


@pytest.fixture
def two(monkeypatch, tmp_path):
    """Two processors, and an empty cache."""
    monkeypatch.delenv("DL4PY_COMPILE_PROCESSES", raising=False)
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(helper_process, "parts", lambda: 2)


@pytest.fixture
def compiled(monkeypatch):
    """Sources that this process compiles."""
    found, usual = [], instruction.compiled_entry

    def compiled_entry(source, names, **options):
        address, known = usual(source, names, **options)
        if not known:
            found.append(source)
        return address, known
    monkeypatch.setattr(instruction, "compiled_entry", compiled_entry)
    return found


def entries(tmp_path, count=3):
    """Entries that set an element to their number; nobody has compiled them before."""
    return [Entry(f"# {tmp_path}\ndef entry(table, part, parts):\n    x, = operands('f8 1 dense -', table, part, parts)\n    x[0] = {k}\n",
                  instruction._names_of_expressions, 1.0) for k in range(count)]


def value(entry):
    x = np.full(1, -1.0)
    Program([Instruction(entry, [x], [True])])()
    return x[0]


def test_what_the_other_process_has_begun_is_not_compiled_here(two, compiled, tmp_path):
    made = entries(tmp_path)
    with HelperProcess(made) as helper:
        claimed, end = Path(helper._folder, made[-1].stamp), time.monotonic() + 300
        while not claimed.exists() and time.monotonic() < end and helper._process.poll() is None:
            time.sleep(0.01)
        assert not helper.leaves(made[-1])
    assert not os.path.exists(helper._folder)
    assert made[-1].is_at_hand() and value(made[-1]) == 2 and made[-1].source not in compiled


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "import time; time.sleep(1000)"], ids=["fails", "hangs"])
def test_what_it_does_not_do_is_done_here(two, compiled, monkeypatch, tmp_path, code):
    monkeypatch.setattr(helper_process, "_CODE", code)
    made = entries(tmp_path)
    with HelperProcess(made) as helper:
        assert all(map(helper.leaves, made)) and all(map(helper.leaves, made))
        assert [value(e) for e in made] == [0, 1, 2]
    assert helper._process.returncode is not None and compiled == [e.source for e in made]


def test_what_it_has_begun_and_left_is_done_here(two, compiled, monkeypatch, tmp_path):
    monkeypatch.setattr(helper_process, "_CODE", "import pathlib, sys; pathlib.Path(sys.argv[1], sys.argv[-1]).touch()")
    made = entries(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, made[1].stamp])
    with HelperProcess(made) as helper:
        helper._process.wait()
        assert [helper.leaves(e) for e in made] == [True, False, True]
    assert [value(e) for e in made] == [0, 1, 2]


def test_an_error_ends_it(two, monkeypatch, tmp_path):
    monkeypatch.setattr(helper_process, "_CODE", "import time; time.sleep(1000)")
    with pytest.raises(KeyboardInterrupt), HelperProcess(entries(tmp_path)) as helper:
        raise KeyboardInterrupt
    assert helper._process.returncode is not None and not os.path.exists(helper._folder)


def test_few_kernels_are_compiled_here(two, tmp_path):
    with HelperProcess(entries(tmp_path, 2)) as helper:
        assert helper._process is None


def test_where_no_process_can_be_started(two, monkeypatch, tmp_path):
    def refused(*args, **options):
        raise OSError("no more processes")
    monkeypatch.setattr(subprocess, "Popen", refused)
    made = entries(tmp_path)
    with HelperProcess(made) as helper:
        assert all(map(helper.leaves, made))


@pytest.mark.parametrize(("what", "name", "given"), [
    (sys, "executable", ""), (sys, "executable", "/usr/sbin/httpd"), (helper_process, "parts", lambda: 1),
    (helper_process, "opened", lambda part: None)])
def test_when_it_is_not_possible(two, monkeypatch, what, name, given):
    assert is_possible()
    monkeypatch.setattr(what, name, given)
    assert not is_possible()


def test_frozen_programs_and_those_that_say_so_have_none(two, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not is_possible()
    monkeypatch.delattr(sys, "frozen")
    monkeypatch.setenv("DL4PY_COMPILE_PROCESSES", "1")
    assert not is_possible()


def test_functions_of_users_stay_here():
    def own(x, y):
        y[:] = x
    operands = (instruction.ArrayOperand(np.dtype("f4"), 1),) * 2
    assert _as_text(entry_of(own, operands)) is None
    assert _as_text(Entry("", partial(instruction._names_and, dict), 1.0)) is None
    assert _as_text(entry_of(reverse_sequence.reverse_sequence, (*operands, operands[0]))) is not None
    assert _as_text(entry_of_source("def entry(): pass")) is not None
