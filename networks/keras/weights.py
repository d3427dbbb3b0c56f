"""The weights of layers, in the forms in which files of Keras have them."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...samediff.errors import FileFormatError
from .hdf5 import Hdf5Group

Array = np.ndarray[Any, Any]

#: Parts of a layer that have weights of their own, in the order in which Keras counts them.
PARTS = ("layer", "cell", "forward_layer", "backward_layer", "query_dense", "key_dense", "value_dense", "gate_dense", "output_dense",
         "_query_dense", "_key_dense", "_value_dense", "_output_dense")


class GivenWeights:
    """Arrays by layer, in the order in which Keras has them."""

    present = True

    def inside(self, layer: str, class_name: str, layers: list[tuple[str, str]]) -> GivenWeights:
        """The weights of the layers of a model inside; ``layers`` are names and classes of the layers beside it, itself among them."""
        raise NotImplementedError

    def held(self) -> GivenWeights:
        """Those of what a wrapper holds, of the weights of the wrapper."""
        return self

    def of(self, layer: str, class_name: str, layers: list[tuple[str, str]], cells: Sequence[str] = ()) -> list[Array]:
        """The arrays of a layer; ``cells`` are the classes of what it runs step by step, where these are several."""
        raise NotImplementedError


class NoWeights(GivenWeights):
    """A configuration alone."""

    present = False

    def inside(self, layer: str, class_name: str, layers: list[tuple[str, str]]) -> GivenWeights:
        return self

    def of(self, layer: str, class_name: str, layers: list[tuple[str, str]], cells: Sequence[str] = ()) -> list[Array]:
        return []


class WeightsInGroup(GivenWeights):
    """Those of a group of an HDF5 file.

    Parameters
    ----------
    group : the group of the model.
    """

    def __init__(self, group: Hdf5Group) -> None:
        self.group = group


class NamedWeights(WeightsInGroup):
    """HDF5 files of Keras 1, 2 and 3: a group by the name of each layer, with the names of its arrays."""

    def of(self, layer: str, class_name: str, layers: list[tuple[str, str]], cells: Sequence[str] = ()) -> list[Array]:
        return [array for _, array in self.named(layer)]

    def named(self, layer: str) -> list[tuple[str, Array]]:
        """Names and arrays of a layer."""
        if layer not in self.group:
            return []
        inside = self.group.group(layer)
        return [(str(name), inside.array(str(name))) for name in inside.attribute("weight_names") or []]

    def inside(self, layer: str, class_name: str, layers: list[tuple[str, str]]) -> GivenWeights:
        return PathWeights(self.named(layer), layer)


class PathWeights(GivenWeights):
    """The weights of a model inside of another: one list, in which the names of layers are parts of those of arrays.

    Parameters
    ----------
    arrays : names and arrays.
    model : the name of the model.
    """

    def __init__(self, arrays: list[tuple[str, Array]], model: str) -> None:
        self.arrays, self.model = arrays, model

    def of(self, layer: str, class_name: str, layers: list[tuple[str, str]], cells: Sequence[str] = ()) -> list[Array]:
        return [array for _, array in self._named(layer)]

    def inside(self, layer: str, class_name: str, layers: list[tuple[str, str]]) -> GivenWeights:
        return PathWeights(self._named(layer) or self.arrays, layer)

    def _named(self, layer: str) -> list[tuple[str, Array]]:
        return [(name, array) for name, array in self.arrays if layer in name.split("/")[:-1]]


class LayeredWeights(WeightsInGroup):
    """Weights of Keras 3: a group for each layer, called by its class and a number, with groups for its parts."""

    def of(self, layer: str, class_name: str, layers: list[tuple[str, str]], cells: Sequence[str] = ()) -> list[Array]:
        found = self._group(layer, layers)
        return [] if found is None else _arrays(found, cells)

    def inside(self, layer: str, class_name: str, layers: list[tuple[str, str]]) -> GivenWeights:
        found = self._group(layer, layers)
        return NoWeights() if found is None else LayeredWeights(found)

    def held(self) -> GivenWeights:
        return LayeredWeights(self.group.group("layer")) if "layer" in self.group else NoWeights()

    def _group(self, layer: str, layers: list[tuple[str, str]]) -> Hdf5Group | None:
        holder = next((self.group.group(n) for n in ("layers", "_layer_checkpoint_dependencies") if n in self.group), None)
        if holder is None:
            raise FileFormatError(f"{self.group.name} has no group 'layers', where Keras 3 puts the weights")
        for (name, _), entry in zip(layers, _entries([kind for _, kind in layers])):
            if name == layer:
                return holder.group(entry) if entry in holder else _by_name(holder, layer)
        return None


def _by_name(holder: Hdf5Group, layer: str) -> Hdf5Group | None:
    """The group whose variables say that they are those of a layer: classes may have other names in Python."""
    for entry in holder.names():
        found = holder.group(entry)
        if "vars" in found and found.group("vars").attribute("name") == layer:
            return found
    return None


def _entries(kinds: Sequence[str]) -> list[str]:
    """The names of groups of objects of these classes."""
    stems = [snake_case(kind) for kind in kinds]
    counts = [stems[:i].count(stem) for i, stem in enumerate(stems)]
    return [f"{stem}_{count}" if count else stem for stem, count in zip(stems, counts)]


def _arrays(group: Hdf5Group, cells: Sequence[str] = ()) -> list[Array]:
    """The variables of a layer, then those of its parts."""
    found = []
    names = group.names()
    if "vars" in names:
        variables = group.group("vars")
        found += [variables.array(n) for n in sorted((n for n in variables.names() if n.isdigit()), key=int)]
    if "cells" in names:
        inner = group.group("cells")
        found += [array for entry in _entries(cells) if entry in inner for array in _arrays(inner.group(entry))]
    for part in PARTS:
        if part in names:
            found += _arrays(group.group(part), cells)
    return found


def snake_case(name: str) -> str:
    """The name that Keras 3 gives the group of a class."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
