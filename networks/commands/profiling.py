"""Profile of a model file, with random inputs."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...layers.preprocessors.flatten import FlattenPreProcessor
from ...layers.preprocessors.unflatten import UnflattenPreProcessor
from ...layers.types.input_type import InputType, InputTypeConvolutional
from ...samediff.data import MultiDataSet
from ...samediff.errors import ConfigurationError, DL4PyError
from ...samediff.executor.profile import Profile
from ...samediff.graph.graph import SameDiff
from ..batches.batch import NetworkBatch
from ..models.profiling import planned
from ..structure.structure import Member
from .opening import open_model

#: Steps of series, and sides of images where no layer tells them.
LENGTH, SIDE = 16, 32


def profile(path: str, batch: int = 32, train: bool = False, shapes: Sequence[str] = (), trace: str | None = None,
            flame: str | None = None, roofline: str | None = None) -> Profile:
    """Profile the model of a file.

    Parameters
    ----------
    path : a model zip, graph file, or the arrays of a network
    batch : number of examples
    train : whether to profile a step of training in place of an output; of networks
    shapes : of one example of each input ("3,32,32"); by default as the configuration says
    trace : a file for chrome://tracing, written where given
    flame : a page with a flame graph, written where given
    roofline : a picture with the steps below the limits of the machine, written where given
    """
    if batch < 1:
        raise ConfigurationError(f"--batch must be at least 1, got {batch}")
    model, given = open_model(path), [_sizes(s) for s in shapes]
    if isinstance(model, SameDiff):
        if train:
            raise ConfigurationError(f"{path} is a graph, and --train is for networks; sd.profile takes any outputs of a graph")
        found = model.profile(_placeholders(model, batch, given))
    else:
        inputs = _inputs(model, batch, given)
        found = model.profile(MultiDataSet(inputs, _labels(model, inputs)) if train else inputs)
    if trace is not None:
        found.write_trace(trace)
    if flame is not None:
        found.to_html(flame)
    if roofline is not None:
        found.plot_roofline(roofline)
    return found


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(n) for n in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise ConfigurationError(f"--shape is the shape of one example as numbers with commas, such as 3,32,32; got {text!r}")
    return sizes


def _placeholders(sd: SameDiff, batch: int, given: Sequence[tuple[int, ...]]) -> dict[str, Any]:
    """Ones: valid as indices too; open sizes are the batch, or those given."""
    made = {}
    for i, v in enumerate(sd.placeholders()):
        declared = v.get_shape()
        if i < len(given):
            shape = (batch, *given[i])
        elif declared is None or -1 in declared[1:]:
            raise ConfigurationError(f"placeholder {v.name()!r} has the shape {declared}: give --shape for every placeholder")
        else:
            shape = tuple(batch if n == -1 else n for n in declared)
        made[v.name()] = np.ones(shape, v.dtype.numpy)
    return made


def _inputs(net: Any, batch: int, given: Sequence[tuple[int, ...]]) -> list[Any]:
    structure = net.engine.structure
    if given and len(given) != len(structure.inputs):
        raise ConfigurationError(f"the network has {len(structure.inputs)} inputs ({', '.join(structure.inputs)}), "
                                 f"--shape was given {len(given)} times")
    readers = [next((m for m in structure.members if name in m.inputs), None) for name in structure.inputs]
    choices = [[shape] for shape in given] or [list(_candidates(net, m)) for m in readers]
    for k in range(max(map(len, choices), default=0)):
        inputs = [_random(m, (batch, *c[min(k, len(c) - 1)]), structure.dtype.numpy) for m, c in zip(readers, choices)]
        try:
            planned(net, NetworkBatch(inputs), False)
        except DL4PyError:
            if given:
                raise
        else:
            return inputs
    raise ConfigurationError("the configuration does not tell the shape of the inputs: give --shape for each, such as --shape 3,32,32")


def _random(member: Member | None, shape: tuple[int, ...], dtype: Any) -> Any:
    rng = np.random.default_rng(0)
    if member is not None and getattr(member.conf, "takes_indices", False):
        return rng.integers(0, max(getattr(member.conf, "n_in", 1), 1), shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def _candidates(net: Any, member: Member | None) -> Iterator[tuple[int, ...]]:
    """Shapes of an example that a layer may take, the likeliest first."""
    if member is None:
        return
    if isinstance(member.preprocessor, UnflattenPreProcessor):
        yield (math.prod(member.preprocessor.shape()),)
    size = getattr(member.conf, "n_in", 0)
    if not isinstance(size, int) or size < 1:
        return
    if getattr(member.conf, "takes_indices", False):
        yield from ((1,), (LENGTH,), (1, LENGTH))
        return
    yield from ((size,), (size, LENGTH))
    side = next((s for s in range(1, 513) if _fits(net, s, size)), SIDE)
    yield from ((size, side, side), (side, side, size), (size, SIDE, SIDE, SIDE))


def _fits(net: Any, side: int, channels: int) -> bool:
    """Whether square images of that side arrive at the first flattened layer in the size that it was made for."""
    structure, conf = net.engine.structure, net.get_configuration()
    try:
        types: Any = conf.layer_activation_types(InputType.convolutional(side, side, channels))
    except (DL4PyError, ValueError):
        return False
    if not isinstance(types, dict):
        types = {m.key: t for m, t in zip(structure.members, types)}
    for m in structure.members:
        before = types.get(m.inputs[0])
        if isinstance(m.preprocessor, FlattenPreProcessor) and isinstance(before, InputTypeConvolutional):
            c, h, w = before.channels, before.height, before.width
            return m.preprocessor.shape() in ((c, h, w), (h, w, c))
    return False


def _labels(net: Any, inputs: Sequence[Any]) -> list[Any]:
    """One class for each row of each output."""
    rng, made = np.random.default_rng(1), []
    outputs = net.output(*inputs)
    for y in outputs if isinstance(outputs, list) else [outputs]:
        classes = rng.integers(0, y.shape[1] if y.ndim > 1 else 1, (y.shape[0], *y.shape[2:]))
        made.append(np.moveaxis(np.eye(y.shape[1] if y.ndim > 1 else 1, dtype=y.dtype)[classes], -1, 1 if y.ndim > 1 else 0))
    return made
