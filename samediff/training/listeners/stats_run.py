"""Facts about a run of training that its first record tells: model, hyperparameters, environment."""
from __future__ import annotations

import math
import os
import platform
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from ...configuration.configuration import Configuration
from ...device.devices import current_device
from ...errors import ConfigurationError, DL4PyError
from .stats import StatsStorageRouter


def new_session() -> str:
    """A name for a run that no other has.

    Examples
    --------
    >>> len(new_session()), new_session() != new_session()
    (20, True)
    """
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:4]}"


def routers_of(given: StatsStorageRouter | Sequence[StatsStorageRouter]) -> Sequence[StatsStorageRouter]:
    """The destinations of records, where one or several were named."""
    found: Sequence[Any] = given if isinstance(given, (list, tuple)) else [given]
    for router in found:
        if not callable(getattr(router, "put", None)):
            raise ConfigurationError(f"records go into a StatsStorageRouter, such as FileStatsStorage(path); got {router!r:.60}")
    return found


def run_of(model: Any) -> dict[str, Any]:
    """The facts of a run that do not change: the drawing of the model, hyperparameters, environment."""
    found: dict[str, Any] = {"model": type(model).__name__, "hyperparameters": hyperparameters_of(model), "environment": environment()}
    try:
        found["graph"] = model.drawing().to_document() if hasattr(model, "drawing") else None
    except DL4PyError as error:         # a layer whose class is missing
        found["graph"], found["note"] = None, str(error)
    return found


def hyperparameters_of(model: Any) -> dict[str, Any]:
    """Seed, sizes and the first updater with its numbers, by name."""
    slots = model.engine.parameters.slots if hasattr(model, "engine") else []
    updater = slots[0].updater if slots else getattr(getattr(model, "get_training_config", lambda: None)(), "updater", None)
    found: dict[str, Any] = {"updater": type(updater).__name__} if updater is not None else {}
    if isinstance(updater, Configuration):
        found |= {name: _plain(getattr(updater, name)) for name in type(updater)._fields if getattr(updater, name) is not None}
    if hasattr(model, "structure"):
        found |= {"seed": model.structure.seed, "layers": sum(m.is_layer for m in model.structure.members)}
    if hasattr(model, "num_params"):
        found["parameters"] = int(model.num_params())
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)) else str(value)


def environment() -> Mapping[str, Any]:
    """Versions and machine."""
    from importlib.metadata import PackageNotFoundError, version
    versions = {}
    for name in ("dl4py", "numpy", "numba"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "?"
    return {"python": platform.python_version(), **versions, "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "cores": os.cpu_count(), "device": str(current_device())}


def used() -> dict[str, float]:
    """Megabytes of this process now (or at most so far, where the system tells no more), and its seconds on all cores."""
    found = {"cpu_seconds": time.process_time()}
    try:
        with open("/proc/self/statm", "rb") as stream:
            return found | {"memory_mb": round(int(stream.read().split()[1]) * 4096 / 2**20, 1)}
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:         # Windows
        return found
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"memory_mb": round(most / (2**20 if sys.platform == "darwin" else 2**10), 1)}
