"""One SparkContext at a time, as a process has no more: the one for a master stays until a test asks for another master."""
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.java_options import SHORT_LIVED
from tests.helpers.required import missing

ROOT = str(Path(__file__).resolve().parents[3])
SETTINGS = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.executorEnv.PYTHONPATH": ROOT,
            "spark.sql.shuffle.partitions": "2", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
            "spark.log.level": "OFF", "spark.executorEnv.OMP_NUM_THREADS": "1", "spark.task.maxFailures": "2",
            "spark.driver.extraJavaOptions": " ".join(SHORT_LIVED), "spark.executor.extraJavaOptions": " ".join(SHORT_LIVED)}
_running: dict[str, Any] = {}


def context(master: str, folder: Path) -> Any:
    """The context of a master; one for another master ends."""
    if master not in _running:
        from pyspark import SparkConf, SparkContext
        if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            missing("jvm", "Spark needs a Java virtual machine")
        stop()
        os.environ["PYSPARK_PYTHON"] = sys.executable
        folders = {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder)}
        _running[master] = SparkContext(master, "tests", conf=SparkConf().setAll(list({**SETTINGS, **folders}.items())))
    return _running[master]


def stop() -> None:
    """End the context there is."""
    while _running:
        _running.popitem()[1].stop()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where Spark keeps its files; it ends with the session."""
    yield tmp_path_factory.mktemp("spark")
    stop()


@pytest.fixture
def sc(folder):
    """Two threads of this machine, in which a task may fail once."""
    return context("local[2,2]", folder)


@pytest.fixture
def session(sc):
    """The session of :func:`sc`."""
    from pyspark.sql import SparkSession
    return SparkSession(sc)


@pytest.fixture
def cluster(folder):
    """Two executors that are processes."""
    return context("local-cluster[2,1,1024]", folder)
