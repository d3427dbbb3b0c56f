"""A listener that records what a network does with chosen examples: evaluation, pictures, where activations lie."""
from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...drawing.images import as_pictures, png
from ...errors import ConfigurationError
from ..history import LossCurve
from ..listeners.listener import Listener
from ..listeners.operation import At, ListenerResponse, Operation
from ..listeners.stats import StatsStorageRouter
from ..listeners.stats_run import new_session, routers_of
from .embedding import plane_of
from .evaluated import evaluated

__all__ = ["WatchListener"]


class WatchListener(Listener):
    """Records at the end of epochs what a network does with chosen examples.

    These are the evaluation (confusion matrix, ROC, precision against recall, calibration; errors of regression), pictures of filters
    and activations, and the activations of a layer as points of a plane.

    Parameters
    ----------
    storage : StatsStorageRouter, or a sequence of them
        Where the records go; a :class:`StatsListener` records the iterations into the same.
    data : DataSet
        Features and labels; a few hundred examples do.
    frequency : int, default 1
        Look every so many epochs.
    session : str, optional
        That of the :class:`StatsListener`, ``stats.session``, so that both are one run.
    names : sequence of str, optional
        Names of the classes.
    layer : str or int, optional
        Name or place of the layer whose activations are shown as points; by default the last but one.
    method : "pca" or "tsne"
        How these become points; t-SNE needs scikit-learn.
    pictures : bool, default True
        Whether to draw filters and activations.

    Examples
    --------
    >>> from dl4py.samediff.data import DataSet
    >>> from dl4py.samediff.training import InMemoryStatsStorage, StatsListener
    >>> storage = InMemoryStatsStorage()
    >>> stats = StatsListener(storage, 10)
    >>> watch = WatchListener(storage, DataSet([[0.0, 1.0]], [[1.0, 0.0]]), session=stats.session)
    """

    def __init__(self, storage: StatsStorageRouter | Sequence[StatsStorageRouter], data: Any, frequency: int = 1, *,
                 session: str | None = None, names: Sequence[str] | None = None, layer: str | int | None = None, method: str = "pca",
                 pictures: bool = True) -> None:
        if frequency < 1:
            raise ConfigurationError(f"WatchListener: the frequency must be at least 1, got {frequency}")
        if method not in ("pca", "tsne"):
            raise ConfigurationError(f"WatchListener: the method is 'pca' or 'tsne', got {method!r}")
        if getattr(data, "features", None) is None or getattr(data, "labels", None) is None:
            raise ConfigurationError(f"WatchListener needs a DataSet with features and labels; got {data!r:.60}")
        self.storage, self.data, self.frequency = storage, data, frequency
        self.session = new_session() if session is None else session
        self.names, self.layer, self.method, self.pictures = names, layer, method, pictures

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def epoch_end(self, sd: Any, at: At, loss_curve: LossCurve | None, epoch_time_millis: int) -> ListenerResponse | None:
        if at.epoch() % self.frequency == 0:
            record = {"session": self.session, "iteration": at.iteration(), "epoch": at.epoch(), "time": time.time(), **self.look(sd)}
            for router in routers_of(self.storage):
                router.put(record)
        return None

    def look(self, network: Any) -> dict[str, Any]:
        """Evaluation, pictures and points of a network now, as parts of a record."""
        layers = self._activations(network)
        *hidden, output = layers.items()
        labels = np.asarray(self.data.labels)
        found: dict[str, Any] = {"evaluation": evaluated(labels, np.asarray(output[1]), self.names)}
        if hidden:
            name, points = self._chosen(dict(hidden))
            several = labels.ndim == 2 and labels.shape[1] > 1
            classes = (labels.argmax(1) if several else labels.reshape(len(labels), -1)[:, 0]).tolist()
            found["embedding"] = {"layer": name, "method": self.method, "points": plane_of(points, self.method).tolist(), "labels": classes,
                                  "names": list(self.names or ())}
        if self.pictures:
            found["pictures"] = {f"filters {n}": _png(a) for n, a in network.param_table().items()
                                 if np.ndim(a) == 4 and min(np.shape(a)[2:]) > 1}
            found["pictures"] |= {f"activations {n}": _png(a[:1]) for n, a in hidden if np.ndim(a) == 4}
        return found

    def _activations(self, network: Any) -> dict[str, Any]:
        """The activations of all layers for the examples, by name, the output last."""
        if not hasattr(network, "feed_forward"):
            raise ConfigurationError(f"WatchListener watches networks; a {type(network).__name__} has no layers")
        found = network.feed_forward(np.asarray(self.data.features))
        if isinstance(found, dict):
            *_, last = network.structure.outputs
            return {n: a for n, a in found.items() if n not in network.structure.inputs and n != last} | {last: found[last]}
        return {m.key: a for m, a in zip(network.structure.members, found[1:])}

    def _chosen(self, hidden: dict[str, Any]) -> tuple[str, Any]:
        if self.layer is None:
            name = list(hidden)[-1]
        else:
            name = str(self.layer)
            if name not in hidden:
                raise ConfigurationError(f"WatchListener: no layer {name!r} before the output; there are: {', '.join(hidden)}")
        return name, np.asarray(hidden[name]).reshape(len(hidden[name]), -1)


def _png(array: Any) -> str:
    pixels = as_pictures(array)
    return "" if pixels is None else base64.b64encode(png(pixels)).decode("ascii")
