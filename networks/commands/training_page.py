"""The training page of the command line."""
from __future__ import annotations

import time
import webbrowser
from pathlib import Path

from ...samediff.errors import ConfigurationError
from ...samediff.training import FileStatsStorage
from ...samediff.ui import UIServer


def show(path: str = ".", port: int = 9000, remote: bool = False, open_browser: bool = False) -> str:
    """Show recorded trainings until somebody interrupts it.

    Parameters
    ----------
    path : a file of training statistics, or a folder of such
    port : where this machine can reach the page; 0 for any that is free
    remote : whether to take records of other processes; the token is printed
    open_browser : whether to open the page
    """
    where = Path(path)
    if not where.exists():
        raise ConfigurationError(f"{path} is not there; the training page shows a file of training statistics (FileStatsStorage), or a "
                                 "folder with such files")
    storage = None if where.is_dir() else FileStatsStorage(where)
    with UIServer(port) as server:
        if storage is None:
            server.watch(where)
        else:
            server.attach(storage)
        print(f"{server.get_address()} shows {path}; Ctrl-C ends it", flush=True)
        if remote:
            print(f"token for RemoteUIStatsStorageRouter: {server.enable_remote_listener()}", flush=True)
        if open_browser:
            webbrowser.open(server.get_address())
        while not server.is_stopped():
            time.sleep(0.2)
    return "ended"
