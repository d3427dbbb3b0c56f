"""Builder of the one SameDiff graph of a network's structure."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...layers.types.parameters import LayerScope, ScopeHooks
from ...samediff.base.datatype import DataType
from ...samediff.errors import MissingOpError
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.variable import SDVariable
from ...samediff.ops.elementwise.masking import drop_marks, keep_unmasked
from ..batches.batch import NetworkBatch
from ..batches.batch_checks import time_axis
from ..structure.structure import Member, Structure


@dataclass(frozen=True)
class Variant:
    """The optional inputs of a graph: ranks of inputs, labels and masks (0: not given), and kept state.

    ``sizes`` are those of the four kinds of arrays, all but the number of examples, where the graph is built for them.
    """

    inputs: tuple[int, ...]
    labels: tuple[int, ...] = ()
    features_masks: tuple[int, ...] = ()
    labels_masks: tuple[int, ...] = ()
    stateful: bool = False
    input_types: tuple[DataType, ...] = ()
    sizes: tuple[tuple[tuple[int, ...], ...], ...] = ()

    def shape(self, part: int, i: int, rank: int) -> tuple[int, ...]:
        """The shape of array ``i`` of a part (inputs, labels, masks of the features, masks of the labels), -1 where it is open."""
        sizes = self.sizes[part][i] if self.sizes and i < len(self.sizes[part]) else ()
        return (-1, *sizes) if len(sizes) == rank - 1 else (-1,) * rank


class Activations(dict[str, str]):
    """Names of activations by member; asking for one that cannot be computed raises the error that says why."""

    unavailable: dict[str, str]

    def __missing__(self, member: str) -> str:
        raise MissingOpError(self.unavailable[member]) if member in self.unavailable else KeyError(member)


@dataclass
class NetworkGraph:
    """The graph of one variant, and the names in it."""

    sd: SameDiff
    mini_batch: bool                                        # losses are divided by the number of rows
    activations: Activations = field(default_factory=Activations)
    scores: list[str] = field(default_factory=list)         # (batch,) loss of each output layer
    losses: list[str] = field(default_factory=list)         # their sums, and penalties
    loss_outputs: dict[str, int] = field(default_factory=dict)      # number of the output that a sum belongs to
    averaged: set[str] = field(default_factory=set)         # sums that are averaged although the network asks for sums
    states: dict[str, str] = field(default_factory=dict)    # variable of each recurrent state after the run
    state_inputs: dict[str, int] = field(default_factory=dict)   # size of each initial state
    statistic_updates: dict[str, str] = field(default_factory=dict)     # steps of running statistics by parameter
    unavailable: dict[str, str] = field(default_factory=dict)     # members that need what nobody registers, and what that is

    def __post_init__(self) -> None:
        self.activations.unavailable = self.unavailable

    def divisors(self, batch: NetworkBatch) -> list[int]:
        """By what each loss is divided: its number of rows; without ``mini_batch`` only where a layer always averages."""
        return [self._rows(n, batch) if self.mini_batch or n in self.averaged else 1 for n in self.losses]

    def _rows(self, loss: str, batch: NetworkBatch) -> int:
        k = self.loss_outputs.get(loss, 0)
        labels = batch.labels[k] if k < len(batch.labels) else None
        return batch.size if labels is None else int(labels.shape[0])

    def total(self, sums: Sequence[Any], batch: NetworkBatch) -> float:
        """The sum of the losses of all outputs, each divided by its divisor."""
        return float(sum(float(v) / n for v, n in zip(sums, self.divisors(batch))))


def input_name(i: int) -> str:
    """Name of the placeholder for network input ``i``."""
    return f"input_{i}"


def label_name(i: int) -> str:
    """Placeholder of the labels of output ``i``."""
    return f"labels_{i}"


def features_mask_name(i: int) -> str:
    """Placeholder of the mask of input ``i``."""
    return f"features_mask_{i}"


def labels_mask_name(i: int) -> str:
    """Placeholder of the mask of output ``i``."""
    return f"labels_mask_{i}"


def epsilon_name(i: int) -> str:
    """Placeholder of the gradient of output ``i``, where it comes from outside."""
    return f"epsilon_{i}"


def state_name(key: str) -> str:
    """Name of the placeholder for a layer's initial recurrent state."""
    return f"state_{key}"


class NetworkGraphBuilder:
    """Builds the graph of one variant; parameters are variables over the arrays given."""

    def __init__(self, structure: Structure, variant: Variant, arrays: Mapping[str, Any]) -> None:
        self.structure, self.variant = structure, variant
        self.sd = SameDiff.create()
        self.sd.seed = structure.seed
        self.made = NetworkGraph(self.sd, structure.mini_batch)
        self.values: dict[str, SDVariable] = {}
        self.masks: dict[str, SDVariable | None] = {}
        self.parameters = {n: self.sd.attach(n, a) for n, a in arrays.items()}
        for i, (name, rank) in enumerate(zip(structure.inputs, variant.inputs)):
            dtype = variant.input_types[i] if variant.input_types else structure.dtype
            x = self.sd.placeholder(input_name(i), dtype, *variant.shape(0, i, rank))
            mask = self.masks[name] = self._optional(features_mask_name(i), 2, variant.features_masks, i)
            self.values[name] = drop_marks(x, mask, time_axis(structure) == 1)

    def _optional(self, name: str, part: int, ranks: tuple[int, ...], i: int) -> SDVariable | None:
        rank = ranks[i] if i < len(ranks) else 0
        return self.sd.placeholder(name, self.structure.dtype, *self.variant.shape(part, i, rank)) if rank else None

    def build(self) -> NetworkGraph:
        """Build the graph: all members, then the losses."""
        for member in self.structure.members:
            behind = [n for n in member.inputs if n not in self.values]
            if behind:
                self.made.unavailable[member.key] = self.made.unavailable[behind[0]]
                continue
            try:
                self._add(member)
            except MissingOpError as error:
                self.made.unavailable[member.key] = f"{member.label}: {error}"
            except Exception as error:
                error.add_note(f"in {member.label}")
                raise
            if member.key in self.values:
                self.made.activations[member.key] = self.values[member.key].name()
        return self.made

    def _add(self, member: Member) -> None:
        inputs = [self.values[n] for n in member.inputs]
        masks = [self.masks[n] for n in member.inputs]
        hooks = ScopeHooks(self._initial_state(member) if self.variant.stateful else None, self._in_pieces())
        stored = {p.name: f"{member.parameters_of}_{p.name}" for p in member.used_parameters()}
        own = {name: self.parameters[key] for name, key in stored.items() if key in self.parameters}
        with self.sd.with_name_scope(getattr(member.conf, "layer_name", None) or member.key):
            noise = getattr(member.conf, "weight_noise", None)
            scope = LayerScope(member.label, own if noise is None else noise.applied(self.sd, own, member.conf.parameter_table()), hooks)
            if member.preprocessor is not None:
                masks = [member.preprocessor.define_mask(self.sd, masks[0], inputs[0])]
                inputs = [member.preprocessor.define(self.sd, inputs[0])]
            if member.is_layer:
                self._layer(member, inputs[0], masks[0], scope)
            else:
                self.values[member.key] = member.conf.define_vertex(self.sd, inputs, scope, masks)
                self.masks[member.key] = member.conf.feed_forward_masks(self.sd, masks, inputs)
        for name, step in hooks.statistic_updates.items():
            before = self.made.statistic_updates.get(stored[name])              # of another member with the same parameters
            self.made.statistic_updates[stored[name]] = (step if before is None else self.sd.get_variable(before) + step).name()
        self.made.states.update({f"{member.key}_{n}": v.name() for n, v in hooks.kept.items()})
        self.made.losses.extend(v.name() for v in hooks.penalties)

    def _layer(self, member: Member, x: SDVariable, mask: SDVariable | None, scope: LayerScope) -> None:
        conf = member.conf
        if getattr(conf, "dropout", None) is not None and conf.takes_dropout:
            x = conf.dropout.define(self.sd, x)
        output = conf.has_loss and member.key in self.structure.outputs
        k = self.structure.outputs.index(member.key) if output else 0
        given = self._optional(labels_mask_name(k), 3, self.variant.labels_masks, k) if output else None
        fed = mask if getattr(conf, "loss_uses_feature_mask", True) else None
        rank = self.variant.labels[k] if output and k < len(self.variant.labels) else 0
        shown = fed if given is None else given
        labels = self._optional(label_name(k), 1, self.variant.labels, k) if output else None
        if labels is not None:
            labels = keep_unmasked(labels, shown, getattr(conf, "channels_last", False))
        scope.labels = labels
        self.values[member.key] = conf.define_layer(self.sd, x, scope, shown)
        self.masks[member.key] = conf.feed_forward_mask(self.sd, mask, x)
        required = conf.labels_required
        if not output or (not rank and (required() if callable(required) else required)):
            return
        scores = conf.define_loss(self.sd, x, labels, scope, shown)
        self.made.scores.append(scores.name())
        self.made.losses.append(scores.sum().name())
        self.made.loss_outputs[self.made.losses[-1]] = k
        if getattr(conf, "always_averages", False):
            self.made.averaged.add(self.made.losses[-1])

    def _in_pieces(self) -> bool:
        """State is carried, and there are labels to learn from."""
        return self.variant.stateful and any(self.variant.labels)

    def _initial_state(self, member: Member) -> Any:
        def state(name: str, batch_like: SDVariable, size: int) -> SDVariable:
            key = f"{member.key}_{name}"
            self.made.state_inputs[key] = size
            fed: SDVariable = self.sd.placeholder(state_name(key), self.structure.dtype, -1, size)
            return fed
        return state
