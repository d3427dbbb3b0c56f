"""Arguments of fit, evaluate and score as batches of a network."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...layers.functions.losses import LossMCXENT, LossSparseMCXENT
from ...layers.standard.recurrent import RnnOutputLayer
from ...layers.types.formats import RNNFormat
from ...samediff.data import DataSet, MultiDataSet
from ...samediff.data.given.forms import is_pair, is_several, is_whole, record_of
from ...samediff.data.given.labels import as_columns
from ...samediff.data.given.parts import ArrayNames, BatchParts, inputs_of, parts_from, parts_of
from ...samediff.data.given.sources import InBatch, decides_itself, numbered, source_of
from ...samediff.data.given.weights import masks_with_weights
from ...samediff.errors import DL4PyError, GraphError
from ...samediff.expressions.arrays import as_array
from ...samediff.training.fit_options import positive
from ..structure.structure import Structure
from .batch import NetworkBatch
from .row_batches import RowBatches


def names_of(structure: Structure) -> ArrayNames:
    """Names of the inputs and outputs of a network, to assign arrays by."""
    return ArrayNames(structure.inputs, structure.outputs, structure.is_list)


def batch_of(data: DataSet | MultiDataSet) -> NetworkBatch:
    """A data set as a batch, its labels as they are."""
    return NetworkBatch(*parts_of(data, ArrayNames((), ()), "use")[:4])


def batch_from(structure: Structure, x: Any, y: Any = None, features_mask: Any = None, labels_mask: Any = None) -> NetworkBatch:
    """Arrays as a batch: one of each for a list of layers, one or lists of them for a graph."""
    if type(x) is np.ndarray and type(y) is np.ndarray and features_mask is labels_mask is None and _in_columns(y):      # nearly always
        return NetworkBatch([x], [y])
    return _batch(structure, parts_from(names_of(structure), x, y, features_mask, labels_mask))


def _batch(structure: Structure, parts: BatchParts) -> NetworkBatch:
    labels = parts.labels
    if labels and not all(map(_in_columns, labels)):
        outputs = structure.outputs
        masks = [*(parts.labels_masks or ()), *[None] * len(labels)]
        labels = [_columns(structure.member(outputs[k]).conf, _chosen(a, m)) if k < len(outputs) else a
                  for k, (a, m) in enumerate(zip(labels, masks))]
    batch = NetworkBatch(parts.inputs, labels, parts.features_masks, parts.labels_masks)
    return batch if parts.weights is None else weighted(structure, batch, parts.weights)


def weighted(structure: Structure, batch: NetworkBatch, sample_weight: Any = None, class_weight: Any = None) -> NetworkBatch:
    """The batch with weights in the masks of its labels: DL4J multiplies the loss of an example by its mask."""
    masks = masks_with_weights(batch.labels, batch.labels_masks, sample_weight, class_weight, structure.outputs)
    return NetworkBatch(batch.inputs, batch.labels, batch.features_masks, masks)


def _in_columns(labels: Any) -> bool:
    """Whether labels are certainly one column per class already."""
    return type(labels) is np.ndarray and labels.ndim > 1 and labels.dtype.kind == "f" and labels.shape[1] > 1


def _chosen(labels: Any, mask: Any) -> Any:
    """Labels of one number each, with 0 where they are masked: masked numbers need not be classes."""
    if labels is None or mask is None or np.size(mask) != np.size(labels):
        return labels
    return np.where(np.reshape(as_array(mask), np.shape(labels)) != 0, as_array(labels), 0)


def _columns(conf: Any, labels: Any) -> Any:
    """Labels as an output layer has them."""
    width, loss = getattr(conf, "n_out", 0), getattr(conf, "loss_function", None)
    if labels is None or not isinstance(width, int) or isinstance(loss, LossSparseMCXENT):
        return labels
    series = isinstance(conf, RnnOutputLayer)
    found = as_columns(labels, width, isinstance(loss, LossMCXENT), series)
    turned = series and found is not labels and np.ndim(labels) == 2 and conf.rnn_data_format is RNNFormat.NWC
    return np.moveaxis(found, 1, -1) if turned else found


def with_labels(data: Any, second: Any, default: Any = None) -> tuple[Any, Any]:
    """Data and an option, where features and labels may stand instead: ``evaluate(x, y)`` is ``evaluate((x, y))`` with the default."""
    pair = (data, np.asarray(second) if isinstance(second, (list, tuple)) and not is_several(second) else second)
    features = not is_whole(data) or record_of(data) is not None
    return (pair, default) if features and is_pair(pair, lists=True) else pair


def batch_in(structure: Structure, data: Any, use: str, error: type[DL4PyError] = GraphError) -> NetworkBatch:
    """One batch from a data set, (features, labels), or arrays by name."""
    return data if isinstance(data, NetworkBatch) else _batch(structure, parts_of(data, names_of(structure), use, error))


def inputs_in(structure: Structure, data: Any, use: str) -> NetworkBatch:
    """A batch of inputs without labels; an array is the features."""
    given = data if isinstance(data, NetworkBatch) else inputs_of(data, names_of(structure), use)
    return NetworkBatch(given.inputs, None, given.features_masks)


def batches_in(structure: Structure, data: Any, use: str, error: type[DL4PyError] = GraphError,
               size: int | None = None) -> Iterator[NetworkBatch]:
    """The batches of an iterator or a collection; a data set or (features, labels) is one, or is cut into batches of ``size`` rows.

    Single examples are put together by ``size``.
    """
    if size is not None:
        size = positive("batch_size", size)
        if not is_whole(data) and decides_itself(data):
            raise error(f"batch_size is for arrays, one data set or single examples; a {type(data).__name__} decides on its batches itself")
    if is_whole(data) and size is not None:
        source: Any = RowBatches(batch_in(structure, data, use, error), size)
    else:
        source = [data] if is_whole(data) else source_of(data, size)
    for number, part in numbered(source, use):
        with InBatch(number):
            batch = batch_in(structure, part, use, error)
        yield batch


def outputs_of(call: Any, structure: Structure, data: Any) -> list[Any]:
    """Results of ``call`` for the inputs of all batches, concatenated."""
    found: list[Sequence[Any]] = []
    for number, part in numbered(source_of(data), "compute"):
        with InBatch(number):
            found.append(call(inputs_in(structure, part, "compute")))
    return [np.concatenate(parts) for parts in zip(*found)]
