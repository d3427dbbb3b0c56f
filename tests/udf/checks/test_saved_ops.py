"""Checks of what was saved, in new processes: what follows from hashes, counters and the process itself is found."""
from __future__ import annotations

import sys

import numpy as np
import pytest

from dl4py.layers import InputType, check_layer
from dl4py.samediff.base.user_code import new_process
from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.udf import check_op, user_op
from dl4py.udf.checks.saved_op import in_new_process
from tests.udf.checks import saved_ops

X = np.array([0.5, 1.5, 0.25])
pytestmark = pytest.mark.new_processes


def made(op):
    return op.op_class()


@pytest.mark.slow
@pytest.mark.parametrize(("op", "what"), [(saved_ops.hashed, "output 0"), (saved_ops.order, "output 0"), (saved_ops.process, "output 0"),
                                          (saved_ops.numbered, "output 0"), (saved_ops.slope, "gradient 0")], ids=str)
def test_what_depends_on_the_process(op, what):
    with pytest.raises(CheckFailure, match=f"{what} is another one after saving"):
        in_new_process(made(op), [X])


@pytest.mark.slow
@pytest.mark.parametrize("op", [saved_ops.power, saved_ops.drawn, saved_ops.whole], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_what_does_not(op, dtype):
    import ml_dtypes
    x = X.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    assert in_new_process(made(op), [x]).endswith("arrays")


@pytest.mark.slow
def test_reports():
    found = {c.name: c for c in check_op(saved_ops.hashed, [X], order=1).checks}
    assert [n for n, c in found.items() if not c.passed] == ["saved, in a new process"]
    for kind, passes in ((saved_ops.Scaled, True), (saved_ops.ScaledByHash, False)):
        found = {c.name: c for c in check_layer(kind(n_out=2), InputType.feed_forward(3)).checks}
        assert [n for n, c in found.items() if not c.passed] == ([] if passes else ["saved, in a new process"])


def test_what_no_other_process_finds(monkeypatch):
    @user_op("test_saved_ops.local")
    def local(xp, x):
        return x
    assert "inside of a function" in in_new_process(local.op_class(), [X])
    monkeypatch.setattr(saved_ops.power.op_class, "__module__", "__main__")
    assert "no other process can import the module __main__" in in_new_process(made(saved_ops.power), [X])
    monkeypatch.setattr(saved_ops.power.op_class, "__module__", "tests.nowhere")
    assert "tests.nowhere" in in_new_process(made(saved_ops.power), [X])
    monkeypatch.setenv("DL4PY_IN_NEW_PROCESS", "1")
    assert "a new process already" in in_new_process(made(saved_ops.power), [X])


@pytest.mark.slow
def test_processes_that_fail(monkeypatch):
    """The error of the process is told; what ends it, too."""
    class Owner:
        __module__ = "tests.udf.checks.saved_ops"
    with pytest.raises(CheckFailure, match="imports tests.udf.checks.saved_ops: ModuleNotFoundError: .*nowhere"):
        new_process.call(Owner, "nowhere:function")
    with pytest.raises(CheckFailure, match="exit status 3"):
        new_process.call(Owner, f"{__name__}:end")
    monkeypatch.setattr(new_process, "LIMIT", 0.01)
    with pytest.raises(CheckFailure, match="more than 0.01 seconds"):
        new_process.call(Owner, f"{__name__}:end")


def end(number):
    """What a new process is told to do."""
    sys.exit(3)


@pytest.mark.parametrize("file", ["<doctest of_it>", "page.md"])
def test_code_that_is_not_in_the_file_of_its_module(file):
    """Doctests and ``exec`` run in the name of a module, and importing that runs none of it."""
    names = {"__name__": __name__, "user_op": user_op, "id": f"test_saved_ops.shown{len(file)}"}
    exec(compile("@user_op(id)\ndef shown(xp, x):\n    return x", file, "exec"), names)
    assert f"it is written in {file}" in in_new_process(made(names["shown"]), [X])
