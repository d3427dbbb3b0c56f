"""Checks of a batch: masks that fit it, and where NaN comes from."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

import numpy as np

from ...layers.types.formats import RNNFormat
from ...samediff.errors import DL4PyError, NumericalError, ShapeError
from ...samediff.ops.elementwise.masking import kept
from ...samediff.training.steps.step import FlatParameters
from ..structure.structure import Structure
from .batch import NetworkBatch


def time_axis(structure: Structure) -> int:
    """The axis of time in series: 1 when a recurrent layer has the format NWC, else 2."""
    return 1 if RNNFormat.NWC in [getattr(m.conf, "rnn_data_format", None) for m in structure.members] else 2


def check_masks(structure: Structure, batch: NetworkBatch) -> None:
    """ShapeError for masks that can belong to no batch of these inputs and labels."""
    if not batch.features_masks and not batch.labels_masks:
        return
    axis = time_axis(structure)
    for i, (mask, x) in enumerate(zip(batch.features_masks, batch.inputs)):
        takers = [m.label for m in structure.members if structure.inputs[i] in m.inputs]
        _check_mask("features", mask, x, axis, takers[0] if takers else structure.inputs[i])
    for i, mask in enumerate(batch.labels_masks):
        labels = batch.labels[i] if i < len(batch.labels) else None
        if labels is not None and i < len(structure.outputs):
            _check_mask("labels", mask, labels, axis, structure.member(structure.outputs[i]).label)


def _check_mask(what: str, mask: Any, data: Any, axis: int, where: str) -> None:
    if mask is None or data is None or not mask.ndim or not data.ndim:
        return
    if mask.shape[0] != data.shape[0]:
        raise ShapeError(f"{where}: the {what} mask of shape {mask.shape} has {mask.shape[0]} examples, the {what} of shape {data.shape} "
                         f"have {data.shape[0]}")
    if mask.ndim == 2 and data.ndim == 3 and mask.shape[1] not in (1, *data.shape[1:]):       # either format of series
        raise ShapeError(f"{where}: a mask of these {what} has shape (batch, time) = {(data.shape[0], data.shape[axis])}, "
                         f"as the {what} have shape {data.shape}; got {mask.shape}")


class Explained:
    """Adds the shapes of the batch to errors of a run."""

    def __init__(self, structure: Structure, batch: NetworkBatch) -> None:
        self._structure, self._batch = structure, batch

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, DL4PyError):
            shapes = ", ".join(f"{n} {x.shape}" for n, x in zip(self._structure.inputs, self._batch.inputs))
            labels = ", ".join(str(y.shape) for y in self._batch.labels if y is not None)
            alone = any(x.ndim == 1 for x in self._batch.inputs)
            error.add_note(f"network inputs: {shapes}" + (f"; labels: {labels}" if labels else "")
                           + ("; one example alone needs the axis of examples too: x[None]" if alone else ""))


def explain_not_finite(structure: Structure, batch: NetworkBatch, flat: FlatParameters, activations: Mapping[str, Any],
                       computed: Collection[str]) -> NoReturn:
    """NumericalError naming the first place with NaN or infinity: data, parameter, activation, loss or gradient."""
    for what, names, arrays, masks in (("data of input", structure.inputs, batch.inputs, batch.features_masks),
                                       ("labels of output", structure.outputs, batch.labels, batch.labels_masks)):
        for name, array, mask in zip(names, arrays, [*masks, *[None] * len(arrays)]):
            _check(f"the {what} {name!r}", array if array is None or mask is None else kept(array, mask, time_axis(structure) == 1))
    for mask, arrays in (("features", batch.features_masks), ("labels", batch.labels_masks)):
        for i, array in enumerate(arrays):
            _check(f"{mask} mask {i}", array)
    for name, array in flat.arrays.items():
        _check(f"parameter {name!r}", array)
    for member in structure.members:
        _check(f"the activation of {member.label}", activations[member.key])
    losses = ", ".join(m.label for m in structure.losses)
    for slot in reversed(flat.slots):
        if slot.name in computed:
            _check(f"the gradient of parameter {slot.name!r} (all activations are finite)", flat.gradient_arrays[slot.name])
    raise NumericalError(f"the loss of {losses} is NaN or infinite, while all activations are finite; parameters are as before the step")


def _check(what: str, array: Any) -> None:
    if array is None or np.issubdtype(array.dtype, np.integer) or array.dtype == bool:
        return
    finite = np.isfinite(array)
    if not finite.all():
        bad = tuple(np.argwhere(~finite)[0].tolist())
        raise NumericalError(f"{what} is the first to hold NaN or infinity: {array[bad]} at {list(bad)} of shape {array.shape}; "
                             "parameters are as before the step")
