"""The training page: trainings in the browser while they run, on this machine alone."""
from .remote import RemoteUIStatsStorageRouter
from .server import UIServer

__all__ = ["RemoteUIStatsStorageRouter", "UIServer"]
