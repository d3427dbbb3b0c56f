"""Checking layers and vertices, one's own or built in."""
from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...samediff.base.datatype import is_floating
from ...samediff.base.user_code.check_report import CheckReport, require_instance
from ...samediff.graph.child_process import in_child, possible
from ..base.base import Layer
from ..types.input_type import InputType
from ..vertices import GraphVertex
from .check_circumstances import instances
from .check_parts import configuration_checks, graph_checks, options_kept
from .check_subject import Runner, Subject, drawn, masks_for, time_axis

__all__ = ["check_layer", "check_vertex"]


@in_child
def check_layer(layer: Layer, inputs: InputType | Any, labels: Any = None, *, input_type: InputType | None = None, mask: Any = None,
                tolerance: float = 1e-4, seed: int = 0, allow: Collection[str] = ()) -> CheckReport:
    """Check a layer: its configuration, types, gradients, masks, files, and training in a small network.

    Parameters
    ----------
    layer : Layer
        Options that it leaves open are taken from a network's defaults, sizes from the input type.
    inputs : InputType or array
        Examples to run, away from points where the layer has no derivative; of a type, examples are drawn.
    labels : array, optional
        For output layers; by default one-hot labels in the shape of the activations.
    input_type : InputType, optional
        The type of given examples, where the shape alone does not tell it.
    mask : array, optional
        For the examples, or the labels of an output layer; series and rows of losses are masked by default.
    tolerance : float
        Largest relative error of a gradient.
    allow : collection of str
        Names of checks that may fail, because it is intended.
    seed : int
        Of drawn examples, labels and parameters.

    Returns
    -------
    CheckReport
        With ``passed``, ``failures``, ``raise_if_failed()`` and a readable ``str``.

    Examples
    --------
    >>> from dl4py.layers import DenseLayer, InputType
    >>> report = check_layer(DenseLayer(n_out=2, activation="tanh"), InputType.feed_forward(3))
    >>> report.passed
    True
    >>> for check in (report.checks[i] for i in (3, 4, 6)):
    ...     print(check.name, check.detail, sep=": ")
    parameters: W (3, 2), b (2,)
    output type: InputTypeFeedForward(size=2), (3, 2)
    gradient: relative error below 0.0001
    """
    require_instance("check_layer", layer, Layer, "DenseLayer(n_out=3)")
    report = CheckReport(f"layer {type(layer).__name__}")
    kept = layer.replace()
    configuration_checks(report, layer)
    kinds, arrays = _examples([inputs], None if input_type is None else [input_type], seed)
    made: list[Subject] = []
    if report.run("sizes follow from the input type", lambda: made.append(Subject.of_layer(layer, kinds[0], arrays[0], labels))):
        report.checks.pop()
        inner = made[0].conf.replace()
        _run(report, made[0], None if mask is None else [np.asarray(mask)], tolerance, seed)
        options_kept(report, [(kept, layer), (inner, made[0].conf)])
    return report.permit(allow)


@in_child
def check_vertex(vertex: GraphVertex, *inputs: InputType | Any, input_types: Sequence[InputType] | None = None,
                 masks: Sequence[Any] | None = None, tolerance: float = 1e-4, seed: int = 0, allow: Collection[str] = ()) -> CheckReport:
    """Check a vertex as :func:`check_layer` does a layer.

    Parameters
    ----------
    vertex : GraphVertex
        Options that it leaves open are taken from a network's defaults, sizes from the input types.
    *inputs : InputType or array
        One for each input, then one for each network input that the vertex names.
    input_types : sequence of InputType, optional
        The types of given examples.
    masks : sequence of array or None, optional
        One for each input; series are masked by default.
    tolerance, seed, allow
        As of :func:`check_layer`.

    Examples
    --------
    >>> from dl4py.layers import InputType, MergeVertex
    >>> check_vertex(MergeVertex(), InputType.feed_forward(3), InputType.feed_forward(2)).passed
    True
    """
    require_instance("check_vertex", vertex, GraphVertex, "MergeVertex()")
    report = CheckReport(f"vertex {type(vertex).__name__}")
    kept = vertex.replace()
    configuration_checks(report, vertex)
    kinds, arrays = _examples(inputs, input_types, seed)
    made: list[Subject] = []
    if report.run("sizes follow from the input types", lambda: made.append(Subject.of_vertex(vertex, kinds, arrays))):
        report.checks.pop()
        inner = made[0].conf.replace()
        _run(report, made[0], masks, tolerance, seed)
        options_kept(report, [(kept, vertex), (inner, made[0].conf)])
    return report.permit(allow)


def _examples(inputs: Sequence[Any], kinds: Sequence[InputType] | None, seed: int) -> tuple[list[InputType], list[Any]]:
    rng = np.random.default_rng(seed)
    arrays = [drawn(one, rng, number=i) if isinstance(one, InputType) else np.asarray(one) for i, one in enumerate(inputs)]
    types = [one if isinstance(one, InputType) else None if kinds is None else kinds[i] for i, one in enumerate(inputs)]
    found = [_open(InputType.infer(a)) if t is None else t for t, a in zip(types, arrays)]
    return found, [a.astype(np.float64) if is_floating(a.dtype) else a for a in arrays]


def _open(kind: InputType) -> InputType:
    return kind.replace(time_series_length=-1) if hasattr(kind, "time_series_length") else kind


def _run(report: CheckReport, subject: Subject, masks: Sequence[Any] | None, tolerance: float, seed: int) -> None:
    try:
        subject.draw(seed)
    except Exception as error:      # whatever a layer does wrong belongs into the report
        failed = error
        report.run("parameters", lambda: _raise(failed))
        return
    if subject.needs_labels and subject.labels is None:
        report.run("activations", lambda: _label(subject, seed))
        if not report.checks.pop().passed:
            report.run("activations", lambda: _label(subject, seed))
            return
    if subject.has_loss and masks is not None:
        subject.label_mask = masks[0]
    used = masks_for(subject) if masks is None else list(masks)
    if subject.foreign and possible():                     # first of all: what ran before may be what decides
        report.run("other objects of its class", lambda: instances(subject))
    try:
        for _ in graph_checks(report, subject, used, tolerance, seed):
            # Networks stand above layers: imports go the other way.
            importlib.import_module("dl4py.networks.models.check_in_network").network_checks(report, subject, seed)
    except Exception as error:
        failed = error
        report.run("graphs", lambda: _raise(failed))


def _raise(error: Exception) -> None:
    raise error


def _label(subject: Subject, seed: int) -> None:
    """One-hot labels in the shape of the activations, along the axis of the channels."""
    found = Runner(subject).run().activations
    kind = subject.output_type(*subject.kinds)
    axis = found.ndim - 1 if time_axis(kind, found.ndim) == 1 or _last(kind) else 1
    picked = np.random.default_rng(seed).integers(0, found.shape[axis], np.delete(found.shape, axis))
    subject.labels = np.moveaxis(np.eye(found.shape[axis])[picked], -1, axis)


def _last(kind: InputType | None) -> bool:
    form = getattr(kind, "format", getattr(kind, "data_format", None))
    return getattr(form, "name", "") in ("NHWC", "NDHWC", "NWC")
