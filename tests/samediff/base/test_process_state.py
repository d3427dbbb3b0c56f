"""What code changes of the whole process is told, and put back."""
from __future__ import annotations

import os
import random
import sys
import warnings

import numpy as np
import pytest

from dl4py.samediff.base.user_code.process_state import changed_by, settings


def nothing():
    with np.errstate(all="ignore"), warnings.catch_warnings(), np.printoptions(precision=2):
        warnings.simplefilter("ignore")
        np.random.default_rng(0).normal()


@pytest.mark.parametrize(("call", "text"), [
    (nothing, ""), (lambda: np.random.normal(), "numbers of np.random: draw from the generator"),
    (lambda: random.random(), "numbers of random"), (lambda: np.seterr(under="raise"), "np.seterr: write with np.errstate"),
    (lambda: warnings.simplefilter("ignore", BytesWarning), "filters of warnings"),
    (lambda: os.environ.update(TEST_PROCESS_STATE="1"), "environment variables"), (lambda: os.chdir("/"), "working directory"),
    (lambda: sys.setrecursionlimit(4321), "limit of recursion"), (lambda: np.set_printoptions(precision=3), "np.set_printoptions")])
def test_what_a_call_changes(call, text):
    start = settings()
    found = changed_by(call, start)
    assert found.startswith(text) and bool(found) == bool(text)
    assert settings() == start


def test_what_was_changed_before_is_found_and_stays():
    start = settings()
    os.environ["TEST_PROCESS_STATE"] = "1"
    try:
        assert changed_by(lambda: os.environ.update(TEST_PROCESS_STATE="1"), start).startswith("environment variables")
        assert os.environ["TEST_PROCESS_STATE"] == "1"
    finally:
        del os.environ["TEST_PROCESS_STATE"]


def test_errors_of_the_call_pass():
    with pytest.raises(ZeroDivisionError):
        changed_by(lambda: 1 / 0, settings())
