"""Modules of PyTorch as networks and graphs."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...layers.base.base import Layer
from ...layers.preprocessors import ComposableInputPreProcessor, InputPreProcessor
from ...layers.standard.feed_forward import ActivationLayer
from ...samediff.base.datatype import DataType
from ...samediff.codecs.torch_tensors import array_of, torch
from ...samediff.errors import ConfigurationError, GraphError
from ...samediff.graph.graph import SameDiff
from ...samediff.training.updaters.updater import IUpdater
from ..keras.building import SizedListBuilder
from ..models.multilayer import MultiLayerNetwork
from ..structure.configuration import NeuralNetConfiguration
from .module_table import NotALayerError, TorchModule, part_of
from .state import set_state_dict

#: How far results may lie from PyTorch's, as a part of the largest.
TOLERANCE = {np.dtype(np.float64): 1e-6, np.dtype(np.float16): 2e-2}


def from_torch(module: Any, example: Any, loss: Layer | None = None, updater: IUpdater | str | None = None, graph: bool = False,
               dynamic_shapes: Any = None, check: bool = True) -> MultiLayerNetwork | SameDiff:
    """The network or graph of a module of PyTorch, with its weights.

    An ``nn.Sequential`` of modules that are layers here becomes a MultiLayerNetwork; everything else, by ``torch.export``, a graph whose
    parameters are variables of their names in ``state_dict`` and train: batch norms in it keep their running statistics, dropout is
    active while training. Arrays keep PyTorch's axes. What comes out is compared with the module before it is returned.

    Parameters
    ----------
    module : torch.nn.Module
        The module, which stays as it is.
    example : tensor, tuple of tensors, or dict
        What it is called with, by position or by name. The number of examples stays open where the module allows it.
    loss : Layer, optional
        For networks: a layer of the loss behind the last one, such as ``LossLayer("mcxent", activation="softmax")``, whose activation
        then belongs to the output.
    updater : IUpdater or str, optional
        For networks: how they are trained; SGD by default.
    graph : bool
        Whether a Sequential becomes a graph, too.
    dynamic_shapes : optional
        For graphs: which sizes are open, as ``torch.export.export`` takes it; by default the first of each tensor. ``{}``: none.
    check : bool
        Whether the result is run on the example and compared; True by default.

    Raises
    ------
    MissingOpError
        Ops without a converter, all named; ``torch_converter`` of ``dl4py.samediff.pytorch`` makes them known.
    GraphError
        ``torch.export`` cannot record the module, or the results differ.
    MissingPackageError
        PyTorch is not installed.
    """
    library = torch()
    if not isinstance(module, library.nn.Module):
        raise ConfigurationError(f"from_torch takes a torch.nn.Module; got {type(module).__name__}")
    args, options = _call(library, example)
    made: MultiLayerNetwork | SameDiff | None = None
    reason = "graph=True"
    if not graph:
        try:
            made = _network(library, module, args, options, loss, updater)
        except NotALayerError as problem:
            reason = f"{problem} is no layer here"
    if made is None:
        if loss is not None or updater is not None:
            raise ConfigurationError(f"loss and updater belong to networks, and this module becomes a graph ({reason}): add the loss with "
                                     "sd.loss, and training with sd.set_training_config")
        from ...samediff.pytorch.importing import fill
        from ...samediff.pytorch.recording import graph_of
        made = SameDiff.create()
        fill(made, graph_of(module, args, options, dynamic_shapes))
    if check and loss is None:
        _compare(library, module, args, options, made)
    return made


def _call(library: Any, example: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by position and by name."""
    if isinstance(example, Mapping):
        return (), dict(example)
    given = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    return tuple(library.from_numpy(v) if isinstance(v, np.ndarray) else v for v in given), {}


# Lists of layers

def _network(library: Any, module: Any, args: tuple[Any, ...], options: Mapping[str, Any], loss: Layer | None,
             updater: IUpdater | str | None) -> MultiLayerNetwork:
    leaves = dict(_leaves(library, module, ""))
    if len(args) != 1 or options or not isinstance(args[0], library.Tensor) or args[0].ndim < 2:
        raise NotALayerError("a module of several inputs")
    kind = {p.dtype for p in module.parameters()} or {args[0].dtype}
    if kind not in ({library.float32}, {library.float64}):
        raise NotALayerError(f"a module of {', '.join(map(str, kind))}")
    shapes = _shapes(library, module, leaves, args[0])
    modules = [TorchModule(path, type(leaf).__name__, leaf, shapes[path]) for path, leaf in leaves.items()]
    base = NeuralNetConfiguration.Builder().data_type(DataType.DOUBLE if kind == {library.float64} else DataType.FLOAT)
    if updater is not None:
        base.updater(updater)
    net = MultiLayerNetwork(list_of(base, modules, loss)).init()
    state = {n: t for n, t in module.state_dict().items() if not n.endswith("num_batches_tracked")}
    if state:
        set_state_dict(net, state)
    return net


def _leaves(library: Any, module: Any, prefix: str) -> Any:
    """Paths and modules of a Sequential, those inside of others too."""
    if type(module) is not library.nn.Sequential:
        raise NotALayerError(f"a {type(module).__name__}")
    for name, child in module.named_children():
        if type(child) is library.nn.Sequential:
            yield from _leaves(library, child, f"{prefix}{name}.")
        elif type(child).__module__.startswith("torch.nn."):
            yield f"{prefix}{name}", child
        else:
            raise NotALayerError(f"{prefix}{name} ({type(child).__name__})")


def _shapes(library: Any, module: Any, leaves: Mapping[str, Any], x: Any) -> dict[str, tuple[int, ...]]:
    """What each module is given, without the batch."""
    found: dict[str, tuple[int, ...]] = {}
    if len({id(leaf) for leaf in leaves.values()}) != len(leaves):
        raise NotALayerError("a module that stands at several places")
    hooks = [leaf.register_forward_pre_hook(lambda _, given, path=path: found.__setitem__(path, tuple(given[0].shape[1:])))
             for path, leaf in leaves.items()]
    try:
        _outputs(library, module, (x,), {})
    finally:
        for hook in hooks:
            hook.remove()
    return found


def list_of(base: Any, modules: list[TorchModule], loss: Layer | None = None) -> Any:
    """The configuration of a list of modules."""
    builder, waiting, number = SizedListBuilder(base), list[InputPreProcessor](), 0

    def add(layer: Layer) -> None:
        nonlocal number
        if waiting:
            builder.input_pre_processor(number, waiting[0] if len(waiting) == 1 else ComposableInputPreProcessor(*waiting))
            waiting.clear()
        builder.layer(layer)
        number += 1

    for module in modules:
        part = part_of(module)
        if isinstance(part, InputPreProcessor):
            waiting.append(part)
        elif part is not None:
            add(part.replace(layer_name=module.path))
    if loss is not None:
        add(loss)
    elif waiting or not number:
        add(ActivationLayer(activation="identity", layer_name="result"))
    return builder.validate_output_layer_config(False).build()


# Comparison

def _outputs(library: Any, module: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> list[Any]:
    """What a module gives outside of training."""
    was_training = module.training
    module.eval()
    try:
        with library.no_grad():
            found = module(*args, **options)
    finally:
        module.train(was_training)
    return [array_of(t) for t in library.utils._pytree.tree_leaves(found) if isinstance(t, library.Tensor)]


def _compare(library: Any, module: Any, args: tuple[Any, ...], options: Mapping[str, Any], made: MultiLayerNetwork | SameDiff) -> None:
    """GraphError where the results are not PyTorch's."""
    wanted = _outputs(library, module, args, options)
    given = [array_of(t) for t in library.utils._pytree.tree_leaves((args, dict(options))) if isinstance(t, library.Tensor)]
    if isinstance(made, SameDiff):
        names = [v.name() for v in made.placeholders()]
        found = made.output(dict(zip(names, given)), *made.outputs())
        got = [found[n] for n in made.outputs()]
    else:
        got = [made.output(given[0])]
    for i, (a, b) in enumerate(zip(got, wanted)):
        if a.shape != b.shape:
            raise GraphError(f"{type(module).__name__}: output {i} has the shape {list(a.shape)}, PyTorch's {list(b.shape)}")
        wide, others = (np.asarray(v, np.float64) for v in (a, b))
        largest = float(np.abs(others).max(initial=0.0, where=np.isfinite(others)))
        off = float(np.nanmax(np.abs(wide - others), initial=0.0))
        if off > TOLERANCE.get(b.dtype, 1e-3) * max(largest, 1e-3):
            raise GraphError(f"{type(module).__name__}: output {i} differs from PyTorch's by {off:.3g}, the largest value being "
                             f"{largest:.3g}; a module that draws random numbers outside of training differs (check=False skips this)")
