"""The server of the training page, in a thread of its own."""
from __future__ import annotations

import secrets
import socket
import threading
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from ..base.java_names import UIServerNames
from ..base.locks import rlock
from ..errors import ConfigurationError, MissingPackageError
from ..training.listeners.stats import InMemoryStatsStorage, StatsStorage, StatsStorageRouter
from .application import Take, application
from .runs import Runs

_making = rlock()


class UIServer(UIServerNames):
    """Shows trainings in the browser while they run; only this machine can reach it.

    Parameters
    ----------
    port : int, default 9000
        Where it listens, on 127.0.0.1; 0 for any that is free.

    Raises
    ------
    ConfigurationError
        The port is in use.
    MissingPackageError
        The packages of the page are not installed: ``pip install dl4py[ui]``.

    Notes
    -----
    Source: DL4J's ``UIServer``. As there, :meth:`get_instance` starts it and :meth:`attach` shows a storage.

    Examples
    --------
    >>> from dl4py.samediff.training import InMemoryStatsStorage, StatsListener
    >>> storage = InMemoryStatsStorage()
    >>> UIServer.get_instance().attach(storage)  # doctest: +SKIP
    >>> net.set_listeners(StatsListener(storage, 10))  # doctest: +SKIP
    """

    _instance: ClassVar[UIServer | None] = None

    def __init__(self, port: int = 9000) -> None:
        self._runs = Runs()
        self._remote: tuple[str, Take] | None = None
        made = application(self._runs, lambda: self._remote)
        try:
            import uvicorn
        except ImportError:
            raise MissingPackageError("the training page needs uvicorn: pip install starlette uvicorn plotly (or dl4py[ui])") from None
        self._socket = _listening(port)
        config = uvicorn.Config(made, log_config=None, access_log=False, lifespan="off", ws="none", http="h11")
        self._server: Any = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="dl4py-ui", daemon=True)
        self._thread.start()

    @classmethod
    def get_instance(cls) -> UIServer:
        """Return the server of this process, which is started if need be."""
        with _making:
            if UIServer._instance is None or UIServer._instance.is_stopped():
                UIServer._instance = cls()
            return UIServer._instance

    @classmethod
    def stop_instance(cls) -> None:
        """Stop the server of this process, where there is one."""
        with _making:
            if UIServer._instance is not None:
                UIServer._instance.stop()
            UIServer._instance = None

    @classmethod
    def token_at(cls, address: str) -> str | None:
        """The token of a remote listener of this process at that address, None where there is none."""
        with _making:
            server, at = UIServer._instance, urlsplit(address)
        if server is None or server.is_stopped() or server._remote is None:
            return None
        return server._remote[0] if at.hostname in ("localhost", "127.0.0.1") and at.port == server.get_port() else None

    def attach(self, stats_storage: StatsStorage) -> None:
        """Show the runs of a storage, also while these go on.

        Parameters
        ----------
        stats_storage : StatsStorage
            Such as ``FileStatsStorage("run.jsonl")``.
        """
        if not isinstance(stats_storage, StatsStorage):
            raise ConfigurationError(f"attach takes a StatsStorage, whose records can be read; got {stats_storage!r:.60}")
        self._runs.attach(stats_storage)

    def detach(self, stats_storage: StatsStorage) -> None:
        """Show the runs of a storage no longer."""
        self._runs.detach(stats_storage)

    def is_attached(self, stats_storage: StatsStorage) -> bool:
        """Return whether a storage is shown."""
        return self._runs.has(stats_storage)

    def get_stats_storage_instances(self) -> list[StatsStorage]:
        """Return the storages that are shown."""
        return self._runs.storages()

    def watch(self, folder: str | Path) -> Self:
        """Show every file ``*.jsonl`` of training statistics below a folder, also those that come later."""
        if not Path(folder).is_dir():
            raise ConfigurationError(f"{folder} is no folder")
        self._runs.watch(Path(folder))
        return self

    def enable_remote_listener(self, stats_storage: StatsStorageRouter | None = None, attach: bool = True, token: str | None = None) -> str:
        """Let other processes add records, by a :class:`RemoteUIStatsStorageRouter` with the token that is returned.

        Parameters
        ----------
        stats_storage : StatsStorageRouter, optional
            Where their records go; by default into memory.
        attach : bool, default True
            Whether it is shown.
        token : str, optional
            A secret of at least 16 letters; by default a random one.
        """
        token = secrets.token_urlsafe(24) if token is None else token
        if len(token) < 16 or not token.isascii():
            raise ConfigurationError("the token of a remote listener has at least 16 letters of ASCII, so that nobody guesses it")
        storage = InMemoryStatsStorage() if stats_storage is None else stats_storage
        if attach and isinstance(storage, StatsStorage):
            self.attach(storage)
        self._remote = token, storage.put
        return token

    def disable_remote_listener(self) -> None:
        """Take no more records from other processes."""
        self._remote = None

    def is_remote_listener_enabled(self) -> bool:
        """Return whether other processes may add records."""
        return self._remote is not None

    def get_port(self) -> int:
        """Return the port on which it listens."""
        return int(self._socket.getsockname()[1]) if not self.is_stopped() else -1

    def get_address(self) -> str:
        """Return the address of the page."""
        return f"http://127.0.0.1:{self.get_port()}"

    def is_stopped(self) -> bool:
        """Return whether it was stopped."""
        return bool(self._server.should_exit)

    def stop(self) -> None:
        """End the server; the storages stay."""
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    def join(self, seconds: float | None = None) -> None:
        """Wait until it ends."""
        self._thread.join(seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def _listening(port: int) -> socket.socket:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise ConfigurationError(f"a port is a whole number from 0 to 65535, got {port!r}")
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
        made.listen(128)            # from now on connections wait for the thread
    except OSError as error:
        made.close()
        raise ConfigurationError(f"port {port} cannot be used ({error.strerror}): another server may run; UIServer(0) takes any free "
                                 "one") from None
    return made
