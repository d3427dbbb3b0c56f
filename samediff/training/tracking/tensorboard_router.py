"""Records of trainings as files of TensorBoard; the only place that needs its package."""
from __future__ import annotations

import base64
import os
from typing import Any

import numpy as np

from ...errors import MissingPackageError
from ..listeners.stats import StatsStorageRouter
from .scalars import scalars_of

__all__ = ["TensorBoardRouter"]

_HISTOGRAMS = ("parameters", "gradients", "updates")


class TensorBoardRouter(StatsStorageRouter):
    """Writes records of trainings into a folder of TensorBoard.

    It shows scalars, histograms, the graph, hyperparameters, and, from a :class:`WatchListener`, pictures of filters and activations and
    precision-recall curves. ``tensorboard --logdir runs`` compares all runs in folders below ``runs``.

    Parameters
    ----------
    folder : path
        Of one run; it is made. A training that goes on later may go on in it.
    flush_seconds : int, default 5
        How long a record may wait before it is on disk.

    Raises
    ------
    MissingPackageError
        The package ``tensorboard`` is not installed.

    Examples
    --------
    >>> from dl4py.samediff.training import StatsListener
    >>> with TensorBoardRouter("runs/first") as router:  # doctest: +SKIP
    ...     net.fit(batches, epochs=10, listeners=StatsListener(router, 10))
    """

    def __init__(self, folder: str | os.PathLike[str], flush_seconds: int = 5) -> None:
        try:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise MissingPackageError("records for TensorBoard need its package: pip install tensorboard (or dl4py[tensorboard])") from None
        self.folder = os.fspath(folder)
        self._writer: Any = EventFileWriter(self.folder, flush_secs=flush_seconds)

    def put(self, record: dict[str, Any]) -> None:
        step, at = int(record.get("iteration", 0)), float(record.get("time", 0.0))
        if "run" in record:
            self._begin(record["run"], at)
        values = [_scalar(name, value) for name, value in scalars_of(record).items()]
        values += [_histogram(f"{kind}/{name}", found) for kind in _HISTOGRAMS for name, found in record.get(kind, {}).items()
                   if found.get("histogram")]
        values += [_picture(f"pictures/{name}", text) for name, text in record.get("pictures", {}).items()]
        curves = record.get("evaluation", {}).get("precision_recall", {})
        values += [_precision_recall(f"evaluation/{name}", curve) for name, curve in curves.items()]
        self._write(values, step, at)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def _write(self, values: list[Any], step: int, at: float) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        if values:
            self._writer.add_event(Event(wall_time=at, step=step, summary=Summary(value=values)))

    def _begin(self, run: dict[str, Any], at: float) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.plugins.hparams import summary_v2 as hp
        given = run.get("hyperparameters", {})
        metrics = [hp.Metric("score"), hp.Metric("evaluation/accuracy")]
        for summary in (hp.hparams_config_pb([hp.HParam(n) for n in given], metrics, at), hp.hparams_pb(given, None, at)):
            self._writer.add_event(Event(wall_time=at, summary=summary))
        if run.get("graph"):
            self._writer.add_event(Event(wall_time=at, graph_def=_graph(run["graph"]).SerializeToString()))


def _scalar(name: str, value: float) -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary
    return Summary.Value(tag=name, simple_value=value)


def _histogram(name: str, found: dict[str, Any]) -> Any:
    """The histogram of a record: sums are those of the whole array, as far as it is finite."""
    from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
    drawn = found["histogram"]
    counts = np.asarray(drawn["counts"], np.float64) * drawn.get("every", 1)
    number, edges = counts.sum(), np.linspace(drawn["min"], drawn["max"], len(counts) + 1)
    made = HistogramProto(min=drawn["min"], max=drawn["max"], num=number, sum=(found.get("mean") or 0.0) * number,
                          sum_squares=(found.get("l2") or 0.0) ** 2, bucket_limit=edges, bucket=[0.0, *counts])
    return Summary.Value(tag=name, histo=made)


def _picture(name: str, text: str) -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary
    data = base64.b64decode(text)
    width, height = (int.from_bytes(data[at:at + 4], "big") for at in (16, 20))
    return Summary.Value(tag=name, image=Summary.Image(height=height, width=width, colorspace=3, encoded_image_string=data))


def _precision_recall(name: str, curve: dict[str, Any]) -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.pr_curve import metadata
    from tensorboard.util.tensor_util import make_tensor_proto
    tp, fp, fn = (np.asarray(curve[key], np.float32) for key in ("tp", "fp", "fn"))
    tn = np.float32(curve["total"]) - tp - fp - fn
    data = np.stack([tp, fp, tn, fn, np.asarray(curve["precision"], np.float32), np.asarray(curve["recall"], np.float32)])
    return Summary.Value(tag=f"{name}/pr_curves", metadata=metadata.create_summary_metadata(name, "", len(tp)),
                         tensor=make_tensor_proto(data))


def _graph(drawing: dict[str, Any]) -> Any:
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.node_def_pb2 import NodeDef
    nodes = []
    for node in drawing["nodes"]:
        made = NodeDef(name=node["name"], op=node["kind"], input=node["inputs"])
        for key, text in {"shape": node["shape"], **node["details"]}.items():
            made.attr[key].s = str(text).encode("utf-8")
        nodes.append(made)
    return GraphDef(node=nodes)
