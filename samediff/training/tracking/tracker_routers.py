"""Records of trainings for experiment trackers: what looks like MLflow or like a run of Weights and Biases."""
from __future__ import annotations

import base64
import io
import re
from typing import Any

import numpy as np

from ...errors import ConfigurationError, MissingPackageError
from ..listeners.stats import StatsStorageRouter
from .scalars import scalars_of

__all__ = ["MlflowRouter", "WandbRouter"]

_NOT_IN_NAMES = re.compile(r"[^\w\-. /]")        # what MLflow refuses


class MlflowRouter(StatsStorageRouter):
    """Gives records of trainings to MLflow, or to something with its functions.

    Hyperparameters become parameters, numbers metrics, the drawing of the model, environment and pictures files of the run.

    Parameters
    ----------
    logger : object, optional
        With ``log_params(values)``, ``log_metrics(values, step=)`` and, for files, ``log_dict(values, name)`` and
        ``log_image(picture, name)``; by default the module ``mlflow``, with its active run.

    Examples
    --------
    >>> class Logger:
    ...     def log_params(self, values): pass
    ...     def log_metrics(self, values, step=None): print(step, values)
    >>> MlflowRouter(Logger()).put({"iteration": 3, "score": 0.5})
    3 {'score': 0.5}
    """

    def __init__(self, logger: Any = None) -> None:
        if logger is None:
            try:
                import mlflow
            except ImportError:
                raise MissingPackageError("records for MLflow need its package: pip install mlflow-skinny (or mlflow)") from None
            logger = mlflow
        self._logger = _with(logger, "MlflowRouter", "log_params", "log_metrics")

    def put(self, record: dict[str, Any]) -> None:
        step = int(record.get("iteration", 0))
        if "run" in record:
            run = record["run"]
            self._logger.log_params({"session": record.get("session", ""), **run.get("hyperparameters", {})})
            if hasattr(self._logger, "log_dict"):
                self._logger.log_dict({k: run[k] for k in ("graph", "environment") if run.get(k)}, "model.json")
        if values := {_NOT_IN_NAMES.sub("_", name): value for name, value in scalars_of(record).items()}:
            self._logger.log_metrics(values, step=step)
        if record.get("pictures") and hasattr(self._logger, "log_image"):
            for name, text in record["pictures"].items():
                self._logger.log_image(_pixels(text), f"pictures/{_NOT_IN_NAMES.sub('_', name)}_{step:08d}.png")


class WandbRouter(StatsStorageRouter):
    """Gives records of trainings to a run of Weights and Biases, or to something with its methods.

    Parameters
    ----------
    run : object
        What ``wandb.init()`` returns: with ``config.update(values)`` and ``log(values, step=)``. Where the package is installed,
        histograms and pictures are given as its objects.

    Examples
    --------
    >>> class Run:
    ...     config = {}
    ...     def log(self, values, step=None): print(step, values)
    >>> WandbRouter(Run()).put({"iteration": 3, "score": 0.5})
    3 {'score': 0.5}
    """

    def __init__(self, run: Any) -> None:
        self._run = _with(run, "WandbRouter", "log", "config")

    def put(self, record: dict[str, Any]) -> None:
        if "run" in record:
            self._run.config.update({"session": record.get("session", ""), **record["run"].get("hyperparameters", {})})
        values: dict[str, Any] = dict(scalars_of(record))
        try:
            import wandb
        except ImportError:
            wandb = None
        if wandb is not None:
            for kind in ("parameters", "gradients", "updates"):
                for name, found in record.get(kind, {}).items():
                    if drawn := found.get("histogram"):
                        edges = np.linspace(drawn["min"], drawn["max"], len(drawn["counts"]) + 1)
                        values[f"{kind}/{name}"] = wandb.Histogram(np_histogram=(np.asarray(drawn["counts"]), edges))
            values |= {f"pictures/{name}": wandb.Image(_pixels(text)) for name, text in record.get("pictures", {}).items()}
        if values:
            self._run.log(values, step=int(record.get("iteration", 0)))


def _with(logger: Any, router: str, *names: str) -> Any:
    missing = [n for n in names if not hasattr(logger, n)]
    if missing:
        raise ConfigurationError(f"{router} needs an object with {', '.join(names)}; {type(logger).__name__} lacks {', '.join(missing)}")
    return logger


def _pixels(text: str) -> Any:
    """The pixels of a PNG in base 64."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingPackageError("pictures for experiment trackers need Pillow: pip install pillow (or dl4py[images])") from None
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))
