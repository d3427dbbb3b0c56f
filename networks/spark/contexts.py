"""The Spark that the user gives, and errors of its jobs."""
from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark import RDD, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ...samediff.errors import ConfigurationError, MissingPackageError, WorkerError


def context_of(spark: Any) -> SparkContext:
    """The SparkContext of what a user gives as Spark: that context or a session.

    Raises
    ------
    ConfigurationError
        Something else, or a session of Spark Connect, which has no RDDs.
    """
    if isinstance(spark, SparkContext):
        return spark
    if isinstance(spark, SparkSession):
        return spark.sparkContext
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise ConfigurationError("training needs RDDs, which a session of Spark Connect does not have: start the driver with "
                                 "SparkSession.builder.master(...), or use predict_udf, which needs none")
    raise ConfigurationError(f"expected a SparkContext or SparkSession; got {type(spark).__name__}")


def is_frame(data: Any) -> bool:
    """Whether data is a DataFrame."""
    return isinstance(data, DataFrame)


def is_rdd(data: Any) -> bool:
    """Whether data is an RDD."""
    return isinstance(data, RDD)


@contextmanager
def spark_errors(what: str) -> Iterator[None]:
    """Make one error, with what Python says on the executor, of a job that Spark gave up.

    Parameters
    ----------
    what : str
        What the job was for.

    Raises
    ------
    MissingPackageError
        Executors lack dl4py or another module.
    WorkerError
        Everything else: a task failed too often, or the executors are gone.
    """
    try:
        yield
    except (Py4JError, PySparkException) as error:
        text = str(error)
        missing = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", text)
        if missing:
            raise MissingPackageError(
                f"the executors have no module {missing[1]!r}{_host(text)}: install it in the Python that they run (PYSPARK_PYTHON), or "
                "send it with sc.addPyFile(...)") from error
        raise WorkerError(f"Spark gave up {what}: {_reason(text)}{_host(text)}. spark.task."
                          "maxFailures says how often a task is tried") from error


def _host(text: str) -> str:
    found = re.search(r"TID \d+\) \(([^)\s]+) executor ([\w-]+)\)", text)
    return f" (executor {found[2]} on {found[1]})" if found else ""


def _reason(text: str) -> str:
    """The line that says what went wrong: that of Python, where there is one."""
    python = re.findall(r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b: ?.*)$", text, re.MULTILINE)
    inside = [line for line in python if not line.startswith(("Py4JJavaError", "SparkException", "PythonException"))]
    found = inside[-1] if inside else next((line for line in text.splitlines() if "Reason:" in line or "Job aborted" in line),
                                           text.strip().splitlines()[-1] if text.strip() else "no reason is known")
    return found.strip().removeprefix("WorkerError: ").rstrip(".")[:500]
