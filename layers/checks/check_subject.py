"""A layer or vertex in a graph of its own, as a network would build it; what the checks of layers run."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.executor.session import run, run_uncompiled
from ...samediff.graph.graph import SameDiff
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ...samediff.ir.run_context import RunContext
from ...samediff.ir.variable import SDVariable
from ...samediff.training.updaters.updaters import Sgd
from ..base.base import Layer
from ..base.defaults import LayerDefaults
from ..custom.samediff_output import SameDiffOutputLayer
from ..preprocessors import InputPreProcessor
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeRecurrent
from ..types.parameters import LayerScope, Parameter, ScopeHooks
from ..vertices import GraphVertex

#: Sizes of drawn examples: rows, and steps where the type leaves them open.
BATCH, STEPS = 3, 5


def distinct(shape: Sequence[int], rng: np.random.Generator, number: int = 0) -> Any:
    """Values between about -1 and 1 in random order, no two equal and none 0, nor those of arrays of another number: maxima are single,
    kinks are far."""
    n = int(np.prod(shape))
    return ((rng.permutation(n) + 0.37 + 0.23 * number) / max(n, 1) * 2 - 1).reshape(shape)


def drawn(kind: InputType, rng: np.random.Generator, batch: int = BATCH, number: int = 0) -> Any:
    """An example of the input of that number, of a type."""
    shape = kind.array_shape()[1:]
    return distinct((batch, *[STEPS if n < 0 else n for n in shape]), rng, number)


def other_sizes(kinds: Sequence[InputType]) -> Iterator[tuple[InputType, ...]]:
    """The types with one more feature, row or column, all of them together."""
    for name in ("size", "channels", "height", "width", "depth"):
        if all(hasattr(kind, name) for kind in kinds):
            yield tuple(kind.replace(**{name: getattr(kind, name) + 1}) for kind in kinds)


def time_axis(kind: InputType | None, rank: int) -> int | None:
    """The axis of the steps in arrays of a type; None where there are none."""
    if not isinstance(kind, InputTypeRecurrent) or rank not in (2, 3):
        return None
    return 1 if rank == 2 or kind.format is RNNFormat.NWC else 2


def fits(promised: Sequence[int], found: Sequence[int], text: str) -> None:
    """Refuse a shape that is not the promised one; -1 fits every size."""
    if tuple(promised[1:]) == (1,) and len(found) == 1:     # a column may come as a vector
        return
    if len(promised) != len(found) or any(p not in (-1, f) for p, f in zip(promised, found)):
        raise CheckFailure(f"{text} of shape {tuple(promised)}, the activations are {tuple(found)}")


@dataclass
class Built:
    """The variables of a subject in a graph."""

    activations: SDVariable
    scores: SDVariable | None
    mask: SDVariable | None
    hooks: ScopeHooks


@dataclass
class Subject:
    """The object that is checked, with the sizes from its input types, and example inputs."""

    given: Any                                  # as the user gave it
    conf: Any                                   # as a network keeps it
    kinds: tuple[InputType, ...]                # of the inputs, the network inputs that a vertex names last
    arrays: list[Any]
    preprocessor: InputPreProcessor | None = None
    labels: Any = None
    label_mask: Any = None
    parameters: list[Parameter] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_layer(cls, layer: Layer, kind: InputType, x: Any, labels: Any) -> Subject:
        """A layer behind the preprocessor that networks put in front of it."""
        conf = layer.apply_global_config(LayerDefaults(updater=Sgd(0.1)))
        before = conf.get_pre_processor_for_input_type(kind)
        inner = kind if before is None else before.output_type(kind)
        return cls(layer, conf.changed(lambda copy: copy.set_n_in(inner, False)), (kind,), [x], before, labels)

    @classmethod
    def of_vertex(cls, vertex: GraphVertex, kinds: Sequence[InputType], arrays: Sequence[Any]) -> Subject:
        """A vertex."""
        own = len(kinds) - len(vertex.named_inputs())
        inherit = getattr(vertex, "apply_global_config", None)
        conf = vertex if inherit is None else inherit(LayerDefaults(updater=Sgd(0.1)))
        return cls(vertex, conf.with_input_types(*kinds[:own]), tuple(kinds), list(arrays))

    @property
    def is_layer(self) -> bool:
        """A layer, not a vertex."""
        return isinstance(self.conf, Layer)

    @property
    def foreign(self) -> bool:
        """Whether its class is not one of dl4py's own, which follow DL4J."""
        return not type(self.conf).__module__.startswith("dl4py.")

    @property
    def has_loss(self) -> bool:
        """Whether it ends a network."""
        return bool(getattr(self.conf, "has_loss", False))

    @property
    def frozen(self) -> bool:
        """Whether its parameters do not train."""
        return bool(getattr(self.conf, "frozen", False))

    @property
    def needs_labels(self) -> bool:
        """Whether its loss compares with labels."""
        required = getattr(self.conf, "labels_required", False)
        return self.has_loss and bool(required() if callable(required) else required)

    def output_type(self, *kinds: InputType) -> InputType | None:
        """The type of the activations."""
        if self.is_layer:
            inner = kinds[0] if self.preprocessor is None else self.preprocessor.output_type(kinds[0])
            return self.conf.get_output_type(0, inner)  # type: ignore[no-any-return]
        return self.conf.get_output_type(0, *kinds[:len(kinds) - len(self.conf.named_inputs())])  # type: ignore[no-any-return]

    def draw(self, seed: int) -> None:
        """Initial parameters, moved a little so that none is at a special place."""
        table = getattr(self.conf, "parameter_table", None)
        self.parameters = table() if table else []
        start = self.conf.initial_values(Nd4jRandom(seed + 1), np.dtype(np.float64)) if self.parameters else {}
        rng = np.random.default_rng(seed)
        for p in self.parameters:
            noise = 0.0 if p.role == "statistic" else rng.uniform(0.02, 0.1, p.shape)
            self.values[p.name] = np.array(start[p.name], np.float64) + noise

    def build(self, sd: SameDiff, xs: Sequence[SDVariable], values: dict[str, SDVariable], masks: Sequence[SDVariable | None],
              labels: SDVariable | None = None, label_mask: SDVariable | None = None) -> Built:
        """Add it to a graph, as networks do."""
        hooks = ScopeHooks()
        conf = self.conf
        if not self.is_layer:
            scope = LayerScope(conf.label, values, hooks)
            out = conf.define_vertex(sd, list(xs), scope, list(masks))
            return Built(out, None, conf.feed_forward_masks(sd, list(masks), list(xs)), hooks)
        noise = getattr(conf, "weight_noise", None)
        scope = LayerScope(conf.label, values if noise is None else noise.applied(sd, values, self.parameters), hooks)
        (x,), (mask,) = xs, masks
        if self.preprocessor is not None:
            mask, x = self.preprocessor.define_mask(sd, mask, x, xs[0]), self.preprocessor.define(sd, x, xs[0])
        if conf.dropout is not None and conf.takes_dropout:
            x = conf.dropout.define(sd, x)
        used = mask if label_mask is None else label_mask
        scope.labels = labels
        out = conf.define_layer(sd, x, scope, used)
        ends = self.has_loss and (labels is not None or not self.needs_labels)
        scores = conf.define_loss(sd, x, labels, scope, used) if ends else None
        return Built(out, scores, conf.feed_forward_mask(sd, mask, x), hooks)


@dataclass
class Result:
    """Arrays of one run."""

    activations: Any
    scores: Any = None
    mask: Any = None


class Runner:
    """A subject in a graph, in one floating type; as in networks, code of others sees all sizes but that of the batch."""

    def __init__(self, subject: Subject, dtype: DataType = DataType.DOUBLE) -> None:
        self.subject, self.dtype = subject, dtype
        self.built: dict[Any, tuple[SameDiff, Built]] = {}

    def run(self, arrays: Sequence[Any] | None = None, masks: Sequence[Any] = (), labels: Any = None, label_mask: Any = None,
            training: bool = False, compiled: bool = False) -> Result:
        """Activations, scores where there are labels, and the mask for what follows; node by node, or by a compiled plan."""
        arrays = self.subject.arrays if arrays is None else arrays
        feeds = {f"x{i}": self._cast(a) for i, a in enumerate(arrays)}
        feeds |= {f"mask{i}": self._cast(m) for i, m in enumerate(masks) if m is not None}
        feeds |= {n: self._cast(a) for n, a in (("labels", labels), ("label_mask", label_mask)) if a is not None}
        key = tuple((n, self._shape(a)) for n, a in feeds.items())
        if key not in self.built:
            self.built[key] = self._build(feeds)
        sd, built = self.built[key]
        named = {n: v.name() for n, v in vars(built).items() if isinstance(v, SDVariable)}
        by = run if compiled else run_uncompiled
        found = by(sd, feeds, list(dict.fromkeys(named.values())), RunContext(training=training, seed=1, iteration=0))
        return Result(**{n: found[name] for n, name in named.items()})

    def variables(self) -> Built:
        """The graph without masks and labels."""
        self.run()
        return next(iter(self.built.values()))[1]

    def _shape(self, a: Any) -> tuple[int, ...]:
        return (-1, *a.shape[1:])[:a.ndim] if self.subject.foreign else (-1,) * a.ndim

    def _cast(self, a: Any) -> Any:
        a = np.asarray(a)
        return a.astype(self.dtype.numpy) if is_floating(a.dtype) else a

    def _build(self, feeds: dict[str, Any]) -> tuple[SameDiff, Built]:
        sd = SameDiff()
        given = {n: sd.placeholder(n, DataType.of(a), *self._shape(a)) for n, a in feeds.items()}
        values = {n: sd.var(n, v.astype(self.dtype.numpy)) for n, v in self.subject.values.items()}
        count = len(self.subject.kinds)
        built = self.subject.build(sd, [given[f"x{i}"] for i in range(count)], values, [given.get(f"mask{i}") for i in range(count)],
                                   given.get("labels"), given.get("label_mask"))
        return sd, built


def masks_for(subject: Subject) -> list[Any] | None:
    """A mask for each series, shorter from row to row; a row mask where a loss is one of rows; None where there is nothing to mask."""
    if subject.label_mask is not None:
        return [subject.label_mask]
    found: list[Any] = []
    by_examples = isinstance(subject.conf, SameDiffOutputLayer)         # has one loss for each, of series too
    for kind, a in zip(subject.kinds, subject.arrays):
        axis = None if by_examples else time_axis(kind, a.ndim)
        if axis is not None:
            steps = a.shape[axis]
            lengths = [max(1, steps - 2 * i) for i in range(len(a))]
            found.append(np.array([[1.0] * n + [0.0] * (steps - n) for n in lengths]))
        else:
            rows = by_examples or (subject.has_loss and a.ndim == 2)
            found.append(np.array([[float(i != 1)] for i in range(len(a))]) if rows else None)
    return found if any(m is not None for m in found) else None
