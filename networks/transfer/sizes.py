"""The sizes behind a layer that was given another number of outputs."""
from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ...layers.base.base import Layer
from ...layers.preprocessors import (
    ComposableInputPreProcessor,
    FeedForwardToRnnPreProcessor,
    InputPreProcessor,
    RnnToFeedForwardPreProcessor,
)
from ...layers.standard.inside import informed
from ...layers.types.formats import CNN2DFormat, CNN3DFormat, RNNFormat
from ...layers.types.input_type import InputType
from ...layers.vertices import GraphVertex
from ...samediff.errors import ConfigurationError, DL4PyError

Types = dict[str, InputType]
#: Heights and widths that are tried: the parameters of what is there fit the right ones.
_SQUARE, _OBLONG = range(1, 1025), range(1, 65)
_PROBES = (1, 64, 1023, 1024)
_SERIES, _IMAGES = ("NCW", "NWC"), ("NCHW", "NHWC", "NCDHW", "NDHWC")
_AXES = (_SERIES, _IMAGES)


@dataclass(frozen=True)
class NetworkPart:
    """A layer or vertex, the preprocessor in front of it, and what feeds it."""

    key: str
    conf: Layer | GraphVertex
    preprocessor: InputPreProcessor | None
    sources: tuple[str, ...]

    def fitted(self, types: Types) -> tuple[NetworkPart, InputType]:
        """This part for inputs of those types, with the type of its activations.

        Raises
        ------
        DL4PyError
            It cannot take them.
        """
        given = [types[s] for s in self.sources]
        if not isinstance(self.conf, Layer):
            unset = {name: 0 for name in type(self.conf)._fields if name.startswith("n_in")}
            vertex = self.conf.replace(**unset).with_input_types(*given)
            return replace(self, conf=vertex), vertex.get_output_type(0, *given)
        before, current = _sized(self.preprocessor, given[0])
        if before is None and self.conf.get_pre_processor_for_input_type(current) is not None:
            raise ConfigurationError(f"{self.conf.label} needs a preprocessor for {current!r}")
        shapeless = {"input_shape": None} if getattr(self.conf, "input_shape", None) else {}
        layer = _fed(self.conf.replace(**shapeless), current)
        return replace(self, conf=layer, preprocessor=before), layer.get_output_type(0, current)

    def orders(self) -> list[Any]:
        """The orders of axes that it was given."""
        return [getattr(self.conf, name, None) for name in ("data_format", "rnn_data_format", "format")]

    def shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """The shapes of its parameters."""
        table = getattr(self.conf, "parameter_table", None)
        return [] if table is None else [(p.name, p.shape) for p in table()]


def _fed(layer: Layer, given: InputType) -> Layer:
    """A layer for inputs of that type; one whose input and output have one size keeps it so."""
    try:
        made = informed(layer, given)
        made.parameter_table()
        return made
    except DL4PyError:
        size: Any = getattr(given, "channels", None) or getattr(given, "size", None)
        if not size or getattr(layer, "n_in", None) != getattr(layer, "n_out", None):
            raise
        return informed(layer.replace(n_in=size, n_out=size), given)


def _sized(preprocessor: InputPreProcessor | None, given: InputType) -> tuple[InputPreProcessor | None, InputType]:
    """A preprocessor for inputs of that type, and the type that it makes of them."""
    if preprocessor is None:
        return None, given
    if isinstance(preprocessor, ComposableInputPreProcessor):
        parts = []
        for part in preprocessor.input_pre_processors:
            made, given = _sized(part, given)
            parts.append(made)
        return preprocessor.replace(input_pre_processors=tuple(parts)), given
    sizes = {"input_height": "height", "input_width": "width", "input_depth": "depth", "num_channels": "channels"}
    if hasattr(given, "channels") and getattr(preprocessor, "input_height", None):
        fields = type(preprocessor)._fields
        preprocessor = preprocessor.replace(**{own: getattr(given, name) for own, name in sizes.items() if own in fields})
    made_of_it = preprocessor.output_type(given)
    if not hasattr(made_of_it, "time_series_length") and not hasattr(given, "time_series_length"):
        before, after = given.array_elements_per_example(), made_of_it.array_elements_per_example()
        if before != after:
            raise ConfigurationError(f"{preprocessor!r} makes {after} values of {before}")
    return preprocessor, made_of_it


def fed_with(parts: list[NetworkPart], inputs: tuple[str, ...]) -> Types | None:
    """Types of the inputs for which the parameters of all parts have the shapes that they have; None where there are none."""
    return next((types for types in _candidates(parts, inputs) if _misfit(parts, types) is None), None)


def _misfit(parts: list[NetworkPart], inputs: Types) -> tuple[Any, ...] | None:
    """The first part that such inputs do not fit, and why: its shapes, or what it says (of sizes too, if a preprocessor names some)."""
    types = dict(inputs)
    for part in parts:
        try:
            fitted, types[part.key] = part.fitted(types)
        except DL4PyError as error:
            return part.key, str(error) if part.preprocessor else re.sub(r"\d+", "", str(error))
        if fitted.preprocessor != part.preprocessor or fitted.shapes() != part.shapes() or fitted.orders() != part.orders():
            return part.key, fitted.preprocessor, fitted.shapes()
    return None


def _candidates(parts: list[NetworkPart], inputs: tuple[str, ...]) -> Iterator[Types]:
    """Types of the inputs: their numbers of channels are found in what they feed, heights and widths are the same for all of them."""
    for chosen in product(*(_kinds(parts, name) for name in inputs)):
        def of_size(height: int, width: int, chosen: Any = chosen) -> Types:
            return {name: _type(kind, channels, height, width) for name, (kind, channels) in zip(inputs, chosen)}
        found = {axes for kind, _ in chosen for axes in _AXES if kind in axes}
        if not found:
            yield of_size(1, 1)
        elif len(misfits := {repr(_misfit(parts, of_size(n, n))) for n in _PROBES}) > 1 or "None" in misfits:    # else no size mends it
            yield from (of_size(n, n) for n in _SQUARE)
            yield from (of_size(*sizes) for sizes in product(_OBLONG, _OBLONG) if _IMAGES in found)


def _kinds(parts: list[NetworkPart], name: str) -> list[tuple[str, int]]:
    """Kinds of what an input may be, with its size."""
    fed, found = {name}, []
    for part in parts:
        if fed & set(part.sources):
            fed.add(part.key)
            sizes = getattr(part.preprocessor, "shape", None)
            width = _width(part.conf)
            if sizes is not None:
                height, channels = sizes(), getattr(part.preprocessor, "num_channels", 0)
                found += [(kind, math.prod(height)) for kind in ("FF", *_SERIES)] + [(kind, channels) for kind in _IMAGES]
            if width:
                order = _order_of_volumes(part.conf)
                return found + [(kind, width) for kind in (("FF", *_SERIES, *_IMAGES) if order is None else (order.name,))]
    return found


def _order_of_volumes(conf: Any) -> CNN3DFormat | None:
    """The order of axes that a layer over volumes, or the one inside it, is told; types of activations do not say it, as in DL4J."""
    inner = getattr(conf, "underlying", None)
    order = getattr(conf, "data_format", None)
    return _order_of_volumes(inner) if inner is not None else order if isinstance(order, CNN3DFormat) else None


def _width(conf: Any) -> int:
    """Number of channels that a layer takes, or that the layer inside it takes."""
    inner = getattr(conf, "underlying", None) or getattr(conf, "fwd", None)
    return _width(inner) if inner is not None else int(getattr(conf, "n_in", 0) or getattr(conf, "n_in_queries", 0) or 0)


def _type(kind: str, size: int, height: int, width: int) -> InputType:
    if kind == "FF":
        return InputType.feed_forward(size)
    if kind in _SERIES:
        return InputType.recurrent(size, height, RNNFormat[kind])
    if kind.endswith("DHW") or kind == "NDHWC":
        return InputType.convolutional3d(CNN3DFormat[kind], height, height, width, size)
    return InputType.convolutional(height, width, size, CNN2DFormat[kind])


def carried(old: list[NetworkPart], new: Mapping[str, NetworkPart], inputs: Types,
            fixed: Collection[str] = ()) -> tuple[list[NetworkPart], list[str]]:
    """The parts behind those that are new, fitted to what they are fed now, and the keys of those whose parameters changed.

    Parameters
    ----------
    old, new
        All parts as they were, in the order in which they run; those that were changed by hand, by key.
    inputs
        Types of the inputs.
    fixed
        Keys of parts whose sizes were set by hand. What is behind parts that are gone is left as it is.

    Raises
    ------
    ConfigurationError
        A part that cannot take its new input: it names the part.
    """
    before, after, made, changed = dict(inputs), dict(inputs), [], []
    for part in old:
        before[part.key] = part.fitted(before)[1]
        mine = new.get(part.key)
        if mine is None or any(s not in after for s in mine.sources):
            continue
        if mine == part and all(before[s] == after[s] for s in part.sources):
            after[part.key] = before[part.key]
            continue
        try:
            fitted, after[part.key] = mine.fitted(after)
        except DL4PyError as error:
            raise ConfigurationError(f"{part.key!r} ({type(part.conf).__name__}) cannot take what it is fed now ({error}): replace it as "
                                     "well, or remove it and add another") from error
        if part.key in fixed:
            continue
        if fitted.shapes() == mine.shapes():
            made.append(replace(mine, preprocessor=fitted.preprocessor))
        else:
            made.append(fitted)
            changed.append(part.key)
    return made, changed


def with_scheme(conf: Any, scheme: Any) -> Any:
    """A layer with weights, whose scheme is another one; what has none of its own for each output stays."""
    weighs = "weight_init" in type(conf)._fields and conf.weight_names and getattr(conf, "n_in", None)
    return conf.replace(weight_init=scheme) if weighs and conf.n_in * conf.n_out <= conf.num_params() else conf


def resizes(preprocessor: InputPreProcessor | None) -> bool:
    """Whether a preprocessor may change how large a row is: those between rows and series do not."""
    return not (preprocessor is None or isinstance(preprocessor, (FeedForwardToRnnPreProcessor, RnnToFeedForwardPreProcessor)))


def check_fed(old: list[NetworkPart], new: list[NetworkPart], inputs: tuple[str, ...], given: str) -> None:
    """ConfigurationError, which says what was given another number of inputs, where nothing that could be fed fits what stays."""
    old, new = _joined(old, inputs), _joined(new, inputs)
    kept = {part.key for part in old} & {part.key for part in new}
    old, new = ([part for part in parts if part.key in kept] for parts in (old, new))
    feeding = tuple(name for name in inputs if any(name in part.sources for part in new))
    if fed_with(new, feeding) is None and fed_with(old, feeding) is not None:
        raise ConfigurationError(f"{given} with another number of inputs: what is in front gives as many as before. Replace its outputs as "
                                 "well (n_out_replace), or remove the layers from there on and add others")


def _joined(parts: list[NetworkPart], inputs: tuple[str, ...]) -> list[NetworkPart]:
    """Those that the inputs reach through all that feeds them."""
    known, found = set(inputs), []
    for part in parts:
        if part.sources and known.issuperset(part.sources):
            known.add(part.key)
            found.append(part)
    return found


def taking(layer: Any, n_in: int) -> dict[str, int]:
    """The options of a layer that takes so many inputs; one whose input and output have one size, such as a normalization, keeps it so."""
    if getattr(layer, "n_in", None) != getattr(layer, "n_out", 0) or "W" in (p.name for p in layer.parameter_table()):
        return {"n_in": n_in}
    return {"n_in": n_in, "n_out": n_in}


def check_runs(network: Any, old: Any, inputs: Types, what: str) -> None:
    """ConfigurationError, which says what was replaced, where a network cannot take inputs of these types, which the old one takes."""
    arrays = [np.zeros([1] + [n if n > 0 else 2 for n in kind.array_shape()[1:]]) for kind in inputs.values()]
    try:
        network.output(*arrays)
    except DL4PyError as error:
        if _takes(old, arrays):
            raise ConfigurationError(f"behind {what}, layers do not fit ({error}): replace them as well") from error


def _takes(network: Any, arrays: list[Any]) -> bool:
    """Whether a network runs: sizes that were guessed, such as the length of series, may be too small for it."""
    try:
        network.output(*arrays)
    except DL4PyError:
        return False
    return True
