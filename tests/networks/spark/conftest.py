"""One SparkContext at a time, as a process has no more: the one for a master stays until a test asks for another master."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from dl4py.networks import spark as _spark  # noqa: F401 - warnings of PySpark's own are dealt with there

ROOT = str(Path(__file__).resolve().parents[3])
_running: dict[str, SparkContext] = {}


def pytest_collection_modifyitems(items):
    """PySpark warns of versions of pandas that it does not know, and leaves sockets to the garbage collector."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for ignored in ("ignore::FutureWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::UserWarning",
                            "ignore::pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(ignored))


def context(master: str) -> SparkContext:
    """The context of a master; one for another master ends."""
    if master not in _running:
        stop()
        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.executorEnv.PYTHONPATH": ROOT,
                    "spark.sql.shuffle.partitions": "2", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
                    "spark.log.level": "OFF", "spark.executorEnv.OMP_NUM_THREADS": "1", "spark.task.maxFailures": "2"}
        _running[master] = SparkContext(master, "tests", conf=SparkConf().setAll(list(settings.items())))
    return _running[master]


def stop() -> None:
    """End the context there is."""
    while _running:
        _running.popitem()[1].stop()


@pytest.fixture(scope="session", autouse=True)
def _ends():
    yield
    stop()


@pytest.fixture
def sc() -> SparkContext:
    """Two threads of this machine, in which a task may fail once."""
    return context("local[2,2]")


@pytest.fixture
def session(sc) -> SparkSession:
    """The session of :func:`sc`."""
    return SparkSession(sc)


@pytest.fixture
def cluster() -> SparkContext:
    """Two executors that are processes."""
    return context("local-cluster[2,1,1024]")
