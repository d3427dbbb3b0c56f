"""The graphs of a network by the form of the batch: built at first use, over the same flat parameters."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...samediff.base.bounded_cache import BoundedCache
from ...samediff.base.call_cache import CallCache
from ...samediff.base.locks import rlock
from ...samediff.errors import ConfigurationError, GraphError, MissingOpError, ShapeError
from ...samediff.training.steps.step import TrainingStep
from ..batches.batch import NetworkBatch
from ..batches.batch_checks import Explained, check_masks
from ..structure.structure import Structure
from .build import NetworkGraph, NetworkGraphBuilder, Variant, features_mask_name, input_name, label_name, labels_mask_name, state_name
from .gradient_graphs import Backward, InputGradients, backward, input_gradients, training_step
from .parameters import Parameters


class Graphs:
    """The graphs of a network by variant, and values derived from them; thread-safe.

    Attributes
    ----------
    structure : the members; those that the parameters belong to, or some of them
    plain : graphs without gradients
    of_methods : those of single layers' own methods
    """

    def __init__(self, parameters: Parameters, structure: Structure | None = None) -> None:
        self.parameters, self.structure = parameters, structure or parameters.structure
        forms = CallCache()
        self.plain: BoundedCache[Variant, NetworkGraph] = forms.table()
        self.of_methods: BoundedCache[Any, Any] = forms.table()
        self._steps: BoundedCache[Variant, TrainingStep] = forms.table()
        self._input_gradients: BoundedCache[Variant, InputGradients] = forms.table()
        self._backward: BoundedCache[Any, Backward] = forms.table()
        self._building = rlock()        # not the lock of a step: a listener in it may wait for a thread that runs the network

    def cached(self, table: BoundedCache[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
        """The entry of a table, made by one thread."""
        found = table.get(key)
        if found is None:
            with self._building:
                found = table.get(key)
                if found is None:
                    found = table[key] = make()
        return found

    def variant(self, batch: NetworkBatch, stateful: bool = False) -> Variant:
        """The variant of the graph for a batch: its ranks, masks and states."""
        inputs = self.structure.inputs
        if len(batch.inputs) != len(inputs):
            raise GraphError(f"the network has {len(inputs)} inputs ({', '.join(inputs)}), {len(batch.inputs)} were given")
        check_masks(self.structure, batch)
        ranks = [tuple([0 if a is None else a.ndim for a in part]) for part in batch.parts()]
        sizes = batch_sizes(batch) if self.structure.sees_sizes else ()
        return Variant(ranks[0], ranks[1], ranks[2], ranks[3], stateful, sizes=sizes)

    def of(self, batch: NetworkBatch, stateful: bool = False) -> NetworkGraph:
        """The graph for a batch."""
        return self._graph(self.variant(batch, stateful))

    def _graph(self, variant: Variant) -> NetworkGraph:
        return self.cached(self.plain, variant, lambda: NetworkGraphBuilder(self.structure, variant, self.parameters.flat.arrays).build())  # type: ignore[no-any-return]

    def with_loss(self, batch: NetworkBatch, stateful: bool = False) -> NetworkGraph:
        """The graph for a batch with a loss; an error where no loss can be computed."""
        _check_examples(batch)
        with Explained(self.structure, batch):
            made = self.of(batch, stateful)
        for name in self.structure.outputs:
            if name in made.unavailable:
                raise MissingOpError(made.unavailable[name])
        if not made.losses:
            raise ConfigurationError(f"no loss can be computed: {_without_loss(self.structure)}")
        return made

    def step(self, batch: NetworkBatch, stateful: bool = False) -> tuple[TrainingStep, NetworkGraph]:
        """The step of training for a batch."""
        self.structure.check_complete("train this network")
        _check_examples(batch)
        variant = self.variant(batch, stateful)
        step = self.cached(self._steps, variant, lambda: training_step(self.with_loss(batch, stateful), self.parameters))
        return step, self._graph(variant)

    def input_gradients(self, batch: NetworkBatch) -> tuple[InputGradients, NetworkGraph]:
        """The gradients of the inputs for a batch."""
        variant = self.variant(batch)
        found = self.cached(self._input_gradients, variant, lambda: input_gradients(self.with_loss(batch), len(batch.inputs)))
        return found, self._graph(variant)

    def backward(self, batch: NetworkBatch, epsilons: Sequence[Any]) -> Backward:
        """Back-propagation of gradients of the outputs, None for those of which the loss counts."""
        variant = self.variant(batch)
        made = self._graph(variant)
        for name, e in zip(self.structure.outputs, epsilons):
            if e is not None:
                _check_epsilon(name, e, made.sd.variable(made.activations[name]).get_shape(), batch.size)
        key = variant, tuple(-1 if e is None else e.ndim for e in epsilons)
        return self.cached(self._backward, key, lambda: backward(made, self.parameters, self.structure, epsilons))  # type: ignore[no-any-return]

    def feeds(self, batch: NetworkBatch, made: NetworkGraph, states: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Values of the graph's placeholders for a batch."""
        dtype = self.structure.dtype.numpy
        values: dict[str, Any] = {}
        for name, arrays in zip((input_name, label_name, features_mask_name, labels_mask_name), batch.parts()):
            for i, a in enumerate(arrays):
                if a is not None and made.sd.has_variable(name(i)):
                    values[name(i)] = a if a.dtype == dtype else a.astype(dtype)
        for key, size in made.state_inputs.items():
            given = (states or {}).get(key)
            values[state_name(key)] = np.zeros((batch.size, size), dtype) if given is None else given
        return values


def batch_sizes(batch: NetworkBatch) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The sizes of the arrays of a batch, all but the number of examples."""
    return tuple(tuple(() if a is None else tuple(a.shape[1:]) for a in part) for part in batch.parts())


def _without_loss(structure: Structure) -> str:
    """Text on a network none of whose outputs gives a loss."""
    if structure.losses:
        return "labels are missing"
    outputs = [structure.member(name) for name in structure.outputs if name not in structure.inputs]
    text = f"the outputs ({', '.join(m.label for m in outputs)}) are no output layers"
    frozen = any(m.is_frozen and getattr(m.conf.underlying, "has_loss", False) for m in outputs)
    return text + ("; one that is frozen has no loss, as in DL4J: leave it out of what set_feature_extractor freezes" if frozen else "")


def _check_examples(batch: NetworkBatch) -> None:
    if not batch.size or any(y is not None and not y.shape[0] for y in batch.labels):
        raise ShapeError("a batch without examples has no loss")


def _check_epsilon(output: str, epsilon: Any, shape: Sequence[int] | None, batch_size: int) -> None:
    wanted = None if shape is None else (batch_size, *shape[1:])
    if wanted is not None and (epsilon.ndim != len(wanted) or any(w not in (-1, g) for w, g in zip(wanted, epsilon.shape))):
        raise ShapeError(f"the gradient of output {output!r} must have the shape of its activations {tuple(wanted)} (-1: any), "
                         f"got {epsilon.shape}")
