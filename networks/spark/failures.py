"""Errors that a task found in data or model: they travel as results, so that Spark does not try again what fails every time."""
from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...samediff.errors import DL4PyError, MissingPackageError, WorkerError
from ..parallel.worker_process import portable


@dataclass(frozen=True)
class Failure:
    """An error of a task.

    Parameters
    ----------
    rank : int
        The task's.
    host : str
        Its machine.
    error : BaseException
        The error, in a form that can be pickled.
    """

    rank: int
    host: str
    error: BaseException

    @classmethod
    def of(cls, error: DL4PyError, rank: int) -> Failure:
        """The failure of a task on this machine."""
        host = socket.gethostname()
        return cls(rank, host, portable(error, f"in task {rank} of Spark, on {host}"))


def raise_first(found: Iterable[object]) -> None:
    """Raise the error of the lowest rank among results; what is missing on several machines is said once, with all of these."""
    failures = sorted((f for f in found if isinstance(f, Failure)), key=lambda f: f.rank)
    if not failures:
        return
    first = failures[0]
    if isinstance(first.error, MissingPackageError):
        hosts = dict.fromkeys(f.host for f in failures if str(f.error) == str(first.error))
        raise MissingPackageError(f"{first.error} Missing on {', '.join(hosts)}") from first.error
    raise first.error


def whole(elements: Iterable[Any]) -> Iterator[Any]:
    """The elements; an error for one that could not be made."""
    for element in elements:
        if isinstance(element, Failure):
            raise element.error
        yield element


def to_try_again(error: Exception, rank: int) -> WorkerError:
    """The error for Spark, which tries the task again; Spark itself does not tell where Python failed."""
    return WorkerError(f"{type(error).__name__}: {error} (task {rank}, on {socket.gethostname()})")
