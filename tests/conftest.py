"""Fixtures that every test folder shares."""
from __future__ import annotations

import collections
import faulthandler
import gc
import math
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis.internal.conjecture import providers

# The same examples every time; HYPOTHESIS_PROFILE=search looks for new ones.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("search")
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


#: Seconds that the end of a run may take.
PATIENCE = 120.0

#: Files that take longest. They come first: of several processes, none is left with one of them at the end.
LONGEST = {f"tests/{name}.py" for name in ("networks/spark/test_on_spark", "docs/test_documents", "recorded/test_recorded_cases",
                                           "ports/test_ports", "interop/test_interop")}

#: Where tests ask what ops, layers and networks mean: the executor that compiles nothing answers them sooner. With
#: ``DL4PY_EXECUTOR=plan``, plans do.
BY_REFERENCE = tuple(f"tests/{name}" for name in (
    "documents/", "layers/", "networks/batches/", "networks/keras/", "networks/models/", "networks/structure/", "networks/transfer/",
    "samediff/arrays/", "samediff/families/", "samediff/graph/", "samediff/nd4j/", "samediff/numpy_functions/", "samediff/onnx/",
    "samediff/ops/", "samediff/scopes/", "samediff/tensorflow/", "udf/checks/"))
#: But here executors are compared.
BY_PLANS = "tests/samediff/ops/every/"


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument and number: what they hold may be the time, and workers must agree on the names of tests."""
    return argname if isinstance(val, bytes | bytearray) else None


def pytest_configure(config: pytest.Config) -> None:
    """Checks of ops call them a fixed number of times, whatever the machine does meanwhile; kernels are compiled where tests run."""
    os.environ.setdefault("DL4PY_COMPILE_PROCESSES", "1")       # all processors are busy with tests
    from dl4py.udf.checks import runs
    runs._SECONDS, runs._REPEATS = math.inf, 200
    # Hypothesis draws numbers and texts from the sources that happen to be imported, too: other examples after other tests.
    if hasattr(providers, "_get_local_constants") and hasattr(providers, "_local_constants"):
        monkeypatch = pytest.MonkeyPatch()
        monkeypatch.setattr(providers, "_get_local_constants", lambda: providers._local_constants)
        config.add_cleanup(monkeypatch.undo)


def pytest_collection(session: pytest.Session) -> None:
    """What is read and made now lives to the end: the collector of garbage need not look through it, now and, later, a hundred times."""
    gc.set_threshold(0)


def pytest_collection_finish(session: pytest.Session) -> None:
    """The collector works from here on, on what tests make; on all there is after a thousand times, or when a test asks for it."""
    gc.set_threshold(700, 10, 1000)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked ``sampled(n)`` one of n cases is quick, the others are slow: what each compiles takes longer than what it does.

    The longest files come first.
    """
    seen: collections.Counter[str] = collections.Counter()
    for item in items:
        marker = item.get_closest_marker("sampled")
        if marker is not None:
            name = item.nodeid.partition("[")[0]
            if seen[name] % marker.args[0]:
                item.add_marker("slow")
            seen[name] += 1
    items.sort(key=lambda item: item.nodeid.partition("::")[0] not in LONGEST)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked ``gpu`` need one."""
    if item.get_closest_marker("gpu") is not None:
        from dl4py.samediff.cuda.availability import cupy_for
        from dl4py.samediff.errors import DeviceError
        try:
            cupy_for(0)
        except DeviceError as error:
            pytest.skip(str(error))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what tests have recorded with ``record_property(title, text)``, also in other processes."""
    for report in (r for several in terminalreporter.stats.values() for r in several if getattr(r, "when", "") == "call"):
        for title, text in report.user_properties:
            terminalreporter.section(title)
            terminalreporter.write_line(text)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Threads that tests left behind do not keep the run from ending, nor change how it ended: they are named."""
    if hasattr(session.config, "workerinput"):
        return              # ended by the first process

    def end() -> None:
        faulthandler.dump_traceback(file=sys.__stderr__)
        print("threads that linger:", *(t.name for t in threading.enumerate()), file=sys.__stderr__, flush=True)
        os._exit(exitstatus)
    timer = threading.Timer(PATIENCE, end)
    timer.daemon = True
    timer.start()


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_disks() -> Iterator[None]:
    """Files of tests need not outlive the machine; a disk takes longer to hold one than a test to write it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(autouse=True)
def no_new_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks of plug-ins start no processes, which takes seconds each, nor copies of this one, except in tests marked for it."""
    from dl4py.samediff.base.user_code import check_report
    if request.node.get_closest_marker("children") is None:
        monkeypatch.setattr(check_report, "watched", [lambda what: None])
    if request.node.get_closest_marker("new_processes") is None:
        monkeypatch.setenv("DL4PY_IN_NEW_PROCESS", "1")


@pytest.fixture(autouse=True)
def executor_by_folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests in :data:`BY_REFERENCE` compute node by node, except those marked for plans."""
    node = request.node
    by_plans = not node.nodeid.startswith(BY_REFERENCE) or node.nodeid.startswith(BY_PLANS) or node.get_closest_marker("plans")
    if not by_plans and "DL4PY_EXECUTOR" not in os.environ:
        monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed, fresh for every test."""
    return np.random.default_rng(12345)


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of recorded values that ship with the tests."""
    return Path(__file__).parent / "golden"
