"""States of PyTorch's modules, ``state_dict``, into networks and out of them."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from ...samediff.codecs.array_files import read_arrays, write_arrays
from ...samediff.codecs.torch_tensors import array_of, torch
from ...samediff.errors import ConfigurationError, FileFormatError
from ...samediff.graph.graph import SameDiff
from ..engine.protocols import HasEngine
from ..files.exchange import set_arrays
from ..structure.structure import Member
from .weights import Arrays, TorchForm, form_of

#: Names that end in the level of a recurrent module.
_LEVELLED = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
ARRAY_FILES = (".safetensors", ".npz")

Place = str | tuple[str, int]


def set_state_dict(model: Any, state: Any, names: Mapping[str, Place] | None = None, strict: bool = True) -> None:
    """Take over the weights of a module of PyTorch; nothing changes when one of them does not fit.

    Axes, transposes and the order of gates are DL4J's afterwards: of `Linear`, convolutions and their transposes, batch, layer and
    group norms, `Embedding`, `PReLU`, `LSTM`, `GRU`, `RNN` in one direction or both, and `MultiheadAttention`. Layers that PyTorch has
    not are taken under their own names for parameters. PyTorch itself is needed for ``.pt`` files alone.

    Parameters
    ----------
    model : MultiLayerNetwork, ComputationGraph or SameDiff
        What takes them.
    state : mapping, module or path
        ``module.state_dict()``, the module, or a file: ``.safetensors``, ``.npz``, or what ``torch.save`` wrote, of which only tensors
        are read.
    names : mapping of str, optional
        For each layer with parameters (its name, or its place in a list as text) the module that has its weights, ``"encoder.0"``; of a
        recurrent module with several levels the level too, ``("rnn", 1)``. For graphs: for each variable the name in the state. Left
        out, layers are called as their modules, or stand in the same order (which ``.safetensors`` files do not keep).
    strict : bool
        Whether every layer and every array of the state must be used; True by default.

    Raises
    ------
    ConfigurationError
        Something is missing, left over, or of another shape; the text lists it.
    FileFormatError
        The file holds no arrays by name.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
    >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)).build())
    >>> state = to_state_dict(net.init(), {"0": "hidden", "1": "out"})
    >>> {name: array.shape for name, array in state.items()}
    {'hidden.weight': (3, 2), 'hidden.bias': (3,), 'out.weight': (2, 3), 'out.bias': (2,)}
    >>> set_state_dict(net, state)          # the layers in the order of the modules
    """
    arrays = arrays_of(state)
    if isinstance(model, SameDiff):
        _set_graph(model, arrays, dict(names or {}), strict)
        return
    layers = _layers(model)
    places = _given(layers, names) if names is not None else _found(layers, arrays, _keeps_order(state))
    used: set[str] = set()
    problems: list[str] = []
    made: Arrays = {}
    for key, place in places.items():
        form, shapes = layers[key].form, layers[key].parameters
        given = {n: arrays[full] for n in (*form.names, *form.optional) if (full := _full(place, n)) in arrays}
        used.update(_full(place, n) for n in given)
        lacking = [_full(place, n) for n in form.names if n not in given]
        if lacking:
            problems.append(f"layer {layers[key].label} needs {', '.join(lacking)}")
            continue
        made |= _fitting(layers[key], form, given, shapes, problems)
    if strict:
        problems += [f"layer {one.label} gets nothing" for key, one in layers.items() if key not in places]
        problems += [f"{name} is used by no layer" for name in arrays if name not in used and not name.endswith("num_batches_tracked")]
    if problems:
        raise ConfigurationError(f"the state does not fit the network: {'; '.join(problems[:10])}; names={{layer: module}} says which "
                                 "belongs to which, strict=False leaves out what does not")
    set_arrays(model, dict(model.engine.flat.arrays) | made)


def _fitting(layer: _Layer, form: TorchForm, given: Arrays, shapes: Arrays, problems: list[str]) -> Arrays:
    try:
        found = form.read(given, shapes)
    except ConfigurationError:
        raise
    except (ValueError, IndexError) as error:
        problems.append(f"layer {layer.label}: {', '.join(f'{n} {list(a.shape)}' for n, a in given.items())} do not fit ({error})")
        return {}
    for name, array in found.items():
        if array.shape != shapes[name].shape:
            source = ", ".join(f"{n} {list(a.shape)}" for n, a in given.items())
            problems.append(f"layer {layer.label}: {name} would have the shape {list(array.shape)} and has {list(shapes[name].shape)} "
                            f"(from {source})")
    return {f"{layer.member.key}_{n}": a for n, a in found.items()}


def to_state_dict(model: Any, names: Mapping[str, Place] | None = None, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """The weights as a module of PyTorch has them: arrays of NumPy for ``module.load_state_dict`` (through ``torch.from_numpy``).

    Parameters
    ----------
    model : MultiLayerNetwork, ComputationGraph or SameDiff
        Whose weights.
    names : mapping of str, optional
        What the modules are called, see :func:`set_state_dict`; by default as the layers (their places in a list where they have no
        names), and with ``names`` the layers named there alone.
    path : path, optional
        A ``.safetensors`` or ``.npz`` file that is written too.

    Raises
    ------
    ConfigurationError
        PyTorch has no such layer.
    """
    if isinstance(model, SameDiff):
        wanted = dict(names) if names is not None else {n: n for n in _variables(model)}
        found = {str(theirs): np.array(model.get_variable(own).get_arr()) for own, theirs in wanted.items()}
    else:
        layers = _layers(model)
        places: dict[str, Place] = _given(layers, names) if names is not None else {k: one.name for k, one in layers.items()}
        found = {}
        for key, place in places.items():
            for name, array in layers[key].form.write(layers[key].parameters).items():
                found[_full(place, name)] = np.ascontiguousarray(array).reshape(np.shape(array))
    if path is not None:
        write_arrays(path, found)
    return found


def arrays_of(state: Any) -> Arrays:
    """The arrays of a state by name, whatever holds them."""
    if isinstance(state, (str, os.PathLike)):
        path = os.fspath(state)
        if path.lower().endswith(ARRAY_FILES):
            return read_arrays(path)[0]
        state = _unpickled(path)
    if hasattr(state, "state_dict"):
        state = state.state_dict()
    if not isinstance(state, Mapping):
        raise ConfigurationError(f"the weights of a module are its state_dict, the module, or a file; got {type(state).__name__}")
    return {str(name): array_of(value) for name, value in state.items() if value is not None and not isinstance(value, (Mapping, bytes))}


def _unpickled(path: str) -> Any:
    """What ``torch.save`` wrote: PyTorch reads tensors alone, and runs nothing that the file names."""
    library = torch()
    try:
        found = library.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:                          # of many kinds
        raise FileFormatError(f"{path} holds no tensors by name that PyTorch reads without running code: "
                              f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}") from error
    return found["state_dict"] if isinstance(found, Mapping) and isinstance(found.get("state_dict"), Mapping) else found


class _Layer:
    """A layer or vertex with parameters."""

    def __init__(self, member: Member, parameters: Arrays) -> None:
        self.member, self.parameters = member, parameters
        self.name = str(getattr(member.conf, "layer_name", None) or member.key)
        self.label = repr(self.name)

    @property
    def form(self) -> TorchForm:
        """How its parameters stand in a state."""
        return form_of(self.member.conf, self.parameters)


def _layers(model: Any) -> dict[str, _Layer]:
    if not _is_network(model):
        raise ConfigurationError(f"expected a MultiLayerNetwork, ComputationGraph or SameDiff; got {type(model).__name__}")
    arrays = model.engine.flat.arrays
    found = {}
    for member in model.engine.structure.members:
        own = {p.name: np.array(arrays[slot.name]) for slot, p in member.slots()}
        if own:
            found[member.key] = _Layer(member, own)
    return found


def _is_network(model: Any) -> TypeGuard[HasEngine]:
    return hasattr(model, "engine")


def _given(layers: Mapping[str, _Layer], names: Mapping[str, Place]) -> dict[str, Place]:
    """Modules by the keys of layers."""
    keys = {one.name: key for key, one in layers.items()} | {key: key for key in layers}
    wrong = [n for n in names if n not in keys]
    if wrong:
        raise ConfigurationError(f"names: no layer with parameters is called {', '.join(map(repr, wrong))}; there are "
                                 f"{', '.join(one.label for one in layers.values())}")
    return {keys[n]: place for n, place in names.items()}


def _keeps_order(state: Any) -> bool:
    return not (isinstance(state, (str, os.PathLike)) and os.fspath(state).lower().endswith(".safetensors"))


def _found(layers: Mapping[str, _Layer], arrays: Arrays, ordered: bool) -> dict[str, Place]:
    """The modules that are called as the layers, or stand in their order."""
    modules = _modules(arrays)
    if all((one.name, 0) in modules for one in layers.values()):
        return {key: one.name for key, one in layers.items()}
    if not ordered and len(modules) > 1:
        raise ConfigurationError(f"a .safetensors file keeps no order, and its modules ({', '.join(sorted(m for m, _ in modules))}) "
                                 f"are not called as the layers ({', '.join(one.label for one in layers.values())}): say by "
                                 "names={layer: module} which belongs to which")
    if len(modules) != len(layers):
        raise ConfigurationError(f"the state has weights of {len(modules)} modules ({', '.join(m for m, _ in modules)}), the network has "
                                 f"{len(layers)} layers with parameters ({', '.join(one.label for one in layers.values())}): say by "
                                 "names={layer: module} which belongs to which")
    return dict(zip(layers, modules))


def _modules(arrays: Arrays) -> list[tuple[str, int]]:
    """The modules with weights of their own, and levels of recurrent ones, in the order of the state."""
    attention = {n.removesuffix(end) for n in arrays for end in ("in_proj_weight", "q_proj_weight") if n.endswith(end)}
    found: dict[tuple[str, int], None] = {}
    for name in arrays:
        module, _, last = name.rpartition(".")
        level = 0
        if f"{module.removesuffix('out_proj')}" in attention and module.endswith("out_proj"):
            module = module.removesuffix("out_proj").removesuffix(".")
        if last.startswith(_LEVELLED) and "_l" in last:
            level = int(last.rpartition("_l")[2].removesuffix("_reverse"))
        found[module, level] = None
    return list(found)


def _full(place: Place, name: str) -> str:
    """The name of an array of a module."""
    module, level = (place, 0) if isinstance(place, str) else place
    plain = name.removesuffix("_reverse")
    if plain in _LEVELLED:
        name = f"{plain}_l{level}{name[len(plain):]}"
    return f"{module}.{name}" if module else name


# Graphs

def _variables(sd: SameDiff) -> list[str]:
    return [v.name() for v in sd.variables() if v.get_variable_type().name == "VARIABLE"]


def _set_graph(sd: SameDiff, arrays: Arrays, names: dict[str, Place], strict: bool) -> None:
    stored = {v.name(): v for v in sd.variables() if v.get_variable_type().name in ("VARIABLE", "CONSTANT")}
    wanted = {own: str(theirs) for own, theirs in names.items()} or {n: n for n in stored if n in arrays or (
        strict and stored[n].get_variable_type().name == "VARIABLE")}
    problems = [f"{theirs} is missing" for theirs in wanted.values() if theirs not in arrays]
    problems += [f"there is no variable {own!r}" for own in wanted if own not in stored]
    problems += [f"{own} has the shape {list(stored[own].get_arr().shape)}, {theirs} {list(arrays[theirs].shape)}"
                 for own, theirs in wanted.items()
                 if own in stored and theirs in arrays and stored[own].get_arr().shape != arrays[theirs].shape]
    if problems:
        raise ConfigurationError(f"the state does not fit the graph: {'; '.join(problems[:10])}")
    for own, theirs in wanted.items():
        stored[own].set_array(arrays[theirs].astype(stored[own].dtype.numpy))
