"""A router that sends records to the training page of another process."""
from __future__ import annotations

import json
import queue
import threading
import urllib.error
import urllib.request
import warnings
from typing import Any

from ..errors import ConfigurationError
from ..training.listeners.stats import StatsStorageRouter
from .server import UIServer

_WAITING = 1000             # records that wait at most; older ones are left out then


class RemoteUIStatsStorageRouter(StatsStorageRouter):
    """Sends records to a :class:`UIServer` of another process, beside the training.

    Training never waits: where the server cannot be reached, records are left out, and a warning says so once.

    Parameters
    ----------
    address : str
        Such as ``"http://127.0.0.1:9000"``; that of another machine is reached through a tunnel (``ssh -L 9000:localhost:9000``).
    token : str
        What ``enable_remote_listener`` returned; not needed where that was called in this process, by ``UIServer.get_instance()``.
    timeout : float, default 5
        Seconds after which sending a record has failed.

    Examples
    --------
    >>> router = RemoteUIStatsStorageRouter("http://127.0.0.1:9000", "a token of the server")
    >>> router.close()
    """

    def __init__(self, address: str, token: str | None = None, timeout: float = 5.0) -> None:
        if not address.startswith(("http://", "https://")):
            raise ConfigurationError(f"the address of a training page begins with http:// or https://; got {address!r}")
        token = UIServer.token_at(address) if token is None else token
        if token is None:
            raise ConfigurationError("a training page takes records of who knows its token: RemoteUIStatsStorageRouter(address, token), "
                                     "where enable_remote_listener() of its UIServer returned the token")
        self.address, self.timeout, self.failures = address.rstrip("/"), timeout, 0
        self._token, self._why, self._told = token, "", False
        self._queue: queue.Queue[dict[str, Any] | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None

    def put(self, record: dict[str, Any]) -> None:
        self._tell()
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name="dl4py-ui-remote", daemon=True)
            self._thread.start()
        try:
            self._queue.put_nowait(record)
        except queue.Full:
            self._failed("more records come than it takes")

    def close(self) -> None:
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        self._tell()

    def _send_all(self) -> None:
        while (record := self._queue.get()) is not None:
            try:
                self._send(record)
            except urllib.error.HTTPError as error:
                self._failed(f"{error.code}: {_reason(error)}")
            except OSError as error:
                self._failed(str(error))

    def _send(self, record: dict[str, Any]) -> None:
        data = json.dumps(record, allow_nan=False).encode("utf-8")
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.address}/remote", data, headers)
        with urllib.request.urlopen(request, timeout=self.timeout):
            pass

    def _failed(self, why: str) -> None:
        self.failures += 1
        self._why = self._why or why

    def _tell(self) -> None:
        """Warn once, in the thread that trains."""
        if self._why and not self._told:
            self._told = True
            warnings.warn(f"records do not reach the training page at {self.address} ({self._why})", stacklevel=3)


def _reason(error: urllib.error.HTTPError) -> str:
    with error:
        try:
            return str(json.loads(error.read(2000)).get("error", error.reason))
        except (ValueError, AttributeError):
            return str(error.reason)
