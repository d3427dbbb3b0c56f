"""Running and training a network: its flat parameters, and one graph for each combination of inputs, labels and masks."""
from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...layers.types.parameters import Parameter
from ...samediff.base.bounded import Bounded
from ...samediff.base.locks import rlock
from ...samediff.device import devices
from ...samediff.errors import ConfigurationError, DL4PyError, GradientError, GraphError, MissingOpError, ShapeError
from ...samediff.executor.plans import cache_of, kept_plans
from ...samediff.executor.session import call_key, run, uses_reference
from ...samediff.expressions.arrays import to_numbers
from ...samediff.families.gradient import gradients
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ...samediff.ir.run_context import RunContext
from ...samediff.plans.plan import Plan
from ...samediff.training.steps.step import FlatParameters, FlatSlot, TrainingStep
from ..structure.structure import Member, Structure
from .batch import Batch
from .batch_checks import check_masks, explain_not_finite
from .build import Builder, NetworkGraph, Variant, features_mask_name, input_name, label_name, labels_mask_name, state_name
from .known_step import KnownStep
from .member_rules import MemberRules
from .placement import on_its_device


def _ranks(arrays: Sequence[Any]) -> tuple[int, ...]:
    return tuple(0 if a is None else a.ndim for a in arrays)


def _check_examples(batch: Batch) -> None:
    if not batch.size or any(y is not None and not y.shape[0] for y in batch.labels):
        raise ShapeError("a batch without examples has no loss")


class Engine:
    """Parameters and graphs of one network.

    Any number of threads may call :meth:`forward`; :meth:`step` takes a lock.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self._read_slots()
        self.flat = FlatParameters(self.slots, structure.dtype.numpy)
        self.rules = MemberRules(self._owned, self.flat)
        self.computed: frozenset[str] = frozenset(s.name for s in self.slots)   # parameters with a gradient in the last run
        self.counter = np.zeros(1, np.int64)     # of the steps done: the native call that takes a step counts it
        self.epoch = 0
        self._graphs: dict[Variant, NetworkGraph] = {}
        self._steps: dict[Variant, TrainingStep] = {}
        self._input_graphs: dict[Variant, tuple[Any, list[str | None]]] = {}
        self.lock = rlock()
        self._draws = itertools.count(1)
        self.views: dict[str, Any] = {}         # what views of single layers keep, by layer
        self._known: Bounded[Any, tuple[Plan, tuple[int, ...]]] = kept_plans()     # plans of plain forward passes, by what was given
        self.known_steps: Bounded[Any, KnownStep] = kept_plans()                  # the same of steps, by the form of the batch
        self._last_step: TrainingStep | None = None
        self.device: devices.Device | None = None        # None: that of the thread
        self._runs_on: devices.Device | None = None      # that of what is known so far

    @property
    def iteration(self) -> int:
        """Optimizer steps done."""
        return self.counter.item()

    @iteration.setter
    def iteration(self, count: int) -> None:
        self.counter[0] = count

    def settle(self) -> None:
        """Forget short ways that lead to another device than the present one."""
        now = devices.current_device()
        if now != self._runs_on:
            self._known.clear()
            self.known_steps.clear()
            self._runs_on = now

    def _read_slots(self) -> None:
        pairs = [(slot, p, m) for m in self.structure.members for slot, p in m.slots()]
        self.slots: list[FlatSlot] = [slot for slot, _, _ in pairs]
        self.parameters: list[tuple[Member, Parameter]] = [(m, p) for _, p, m in pairs]
        self.only_pretrained = {slot.name for slot, p, m in pairs if m.only_pretrained(p)}
        members = self.structure.members
        self._owned = [(m, [s for s, _, owner in pairs if owner is m]) for m in members]

    # Parameters

    def draw(self) -> None:
        """Initial values, drawn as DL4J draws them: parameter by parameter from one generator."""
        rng = Nd4jRandom(self.structure.seed)
        for member in self.structure.as_declared:
            if hasattr(member.conf, "initial_values"):
                for name, value in member.conf.initial_values(rng, self.structure.dtype.numpy).items():
                    self.flat.arrays[f"{member.key}_{name}"][...] = value

    def param_table(self) -> dict[str, Any]:
        """Views of all parameters by name, in the order of the configuration."""
        owners: dict[str, list[str]] = {m.key: [] for m in self.structure.as_declared}
        for slot, (member, _) in zip(self.slots, self.parameters):
            owners[member.key].append(slot.name)
        for member in self.structure.as_declared:
            owners[member.key].sort(key=member.table_rank)
        return {name: self.flat.arrays[name] for names in owners.values() for name in names}

    def set_params(self, values: Any) -> None:
        """Replace all parameters by a flat vector."""
        given = to_numbers(values, "a network").reshape(-1)
        if given.size != self.flat.params.size:
            raise ShapeError(f"the network has {self.flat.params.size} parameters, the vector given has {given.size}")
        with self.flat.gate:
            self.flat.params[...] = given

    def take_over(self, other: Engine) -> None:
        """Replace parameters, updater state and counters by those of another engine with the same ones, after one of its steps."""
        with other.flat.gate:
            params, state, count = other.flat.params.copy(), other.flat.state.copy(), other.iteration
        with self.flat.gate:
            self.flat.params[...], self.flat.state[...] = params, state
            self.iteration, self.epoch = count, other.epoch

    def reconfigure(self, structure: Structure) -> None:
        """Go on with a changed configuration of the same parameters: their values stay, and updater state where it fits."""
        with self.lock:
            self._reconfigure(structure)

    def _reconfigure(self, structure: Structure) -> None:
        old = self.flat
        self.structure = structure
        self._read_slots()
        fresh = FlatParameters(self.slots, old.dtype)
        with old.gate:
            fresh.params[...] = old.params
            before, after = old.state_by_parameter(), fresh.state_by_parameter()
            for name, state in after.items():
                for key, array in state.items():
                    if key in before[name]:
                        array[...] = before[name][key]
        self.flat = fresh
        self.rules = MemberRules(self._owned, fresh)
        self._graphs.clear()
        self._known.clear()
        self.known_steps.clear()
        self._last_step = None
        self._input_graphs.clear()
        self._steps.clear()
        self.views.clear()

    # Graphs

    def variant(self, batch: Batch, stateful: bool = False) -> Variant:
        """The variant that a batch needs."""
        if len(batch.inputs) != len(self.structure.inputs):
            raise GraphError(f"the network has {len(self.structure.inputs)} inputs ({', '.join(self.structure.inputs)}), "
                             f"{len(batch.inputs)} were given")
        check_masks(self.structure, batch)
        return Variant(_ranks(batch.inputs), _ranks(batch.labels), _ranks(batch.features_masks), _ranks(batch.labels_masks), stateful)

    def graph(self, variant: Variant) -> NetworkGraph:
        """The graph of a variant, built at its first use."""
        found = self._graphs.get(variant)
        if found is None:
            with self.lock:
                found = self._graphs.get(variant)
                if found is None:
                    found = self._graphs[variant] = Builder(self.structure, variant, self.flat.arrays).build()
        return found

    def feeds(self, batch: Batch, made: NetworkGraph, states: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Placeholder values of a batch."""
        dtype = self.structure.dtype.numpy
        values: dict[str, Any] = {}
        for name, arrays in ((input_name, batch.inputs), (label_name, batch.labels), (features_mask_name, batch.features_masks),
                             (labels_mask_name, batch.labels_masks)):
            for i, a in enumerate(arrays):
                if a is not None and made.sd.has_variable(name(i)):
                    values[name(i)] = a if a.dtype == dtype else a.astype(dtype)
        for key, size in made.state_inputs.items():
            given = (states or {}).get(key)
            values[state_name(key)] = np.zeros((batch.size, size), dtype) if given is None else given
        return values

    def context(self, training: bool) -> RunContext:
        """The context of the present iteration."""
        return RunContext(training, self.structure.seed, self.iteration, epoch=self.epoch)

    def fresh_context(self, training: bool) -> RunContext:
        """The same with random numbers of its own, for runs between steps."""
        return RunContext(training, self.structure.seed, self.iteration, epoch=self.epoch, draw=next(self._draws) if training else 0)

    def part(self, first: int, last: int) -> Engine:
        """The members from one to another of a list, over the same parameters: the first takes the input."""
        members = self.structure.members[first:last + 1]
        return self._with_members((replace(members[0], inputs=self.structure.inputs), *members[1:]), self.structure.inputs)

    def alone(self, key: str) -> Engine:
        """One member on an input of its own, without its preprocessor, over the same parameters."""
        return self._with_members((replace(self.structure.member(key), inputs=("input",), preprocessor=None),), ("input",))

    def _with_members(self, members: tuple[Member, ...], inputs: tuple[str, ...]) -> Engine:
        structure = replace(self.structure, inputs=inputs, members=members, outputs=(members[-1].key,), declared=())
        part = object.__new__(Engine)
        part.__dict__.update(self.__dict__, structure=structure, views={}, _graphs={}, _steps={}, _input_graphs={},
                             _known=kept_plans(), known_steps=kept_plans(), _last_step=None)
        return part

    # Forward

    def known_output(self, x: Any) -> Any:
        """The first output for one input of a shape and type that :meth:`forward` has seen; None when it has not."""
        known = self._known.get((self.structure.outputs[0], (x.shape, x.dtype)))
        if known is None or devices.active or uses_reference():
            return None
        return known[0].run((x,), self.context(False) if known[0].draws else None)[0]

    @on_its_device
    def forward(self, batch: Batch, members: Sequence[str], training: bool = False, states: Mapping[str, Any] | None = None,
                stateful: bool = False, as_in_step: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """Activations of members, and the recurrent state afterwards; ``as_in_step`` draws the random numbers of the next step."""
        plain = not (training or stateful or batch.features_masks or batch.labels_masks)
        key = (*members, *[(x.shape, x.dtype) for x in batch.inputs]) if plain else None
        known = self._known.get(key) if plain else None
        if known is not None and not uses_reference():
            plan, order = known
            return list(plan.run([batch.inputs[i] for i in order], self.context(False))), {}
        with self._explained(batch):
            made = self.graph(self.variant(Batch(batch.inputs, None, batch.features_masks, batch.labels_masks), stateful))
        names = [self._place(made, m) for m in members]
        kept = made.states if stateful else {}
        feeds = self.feeds(batch, made, states)
        with self._explained(batch):
            context = self.context(training) if as_in_step else self.fresh_context(training)
            values = run(made.sd, feeds, [*names, *kept.values()], context)
        made_plan = cache_of(made.sd).known.get(call_key(feeds, names, False)) if plain else None
        if made_plan is not None and len(set(names)) == len(names):
            places = {input_name(i): i for i, x in enumerate(batch.inputs) if feeds.get(input_name(i)) is x}
            if all(n in places for n in made_plan.feeds):       # given as the plan takes them: the same shapes need no checks again
                self._known[key] = made_plan, tuple(places[n] for n in made_plan.feeds)
        return [values[n] for n in names], {key: values[n] for key, n in kept.items()}

    def _place(self, made: NetworkGraph, member: str) -> str:
        """The variable of a member's activations, or of an input."""
        if member in made.activations or member in made.lacks:
            return made.activations[member]
        return input_name(self.structure.inputs.index(member)) if member in self.structure.inputs else member

    @on_its_device
    def scores(self, batch: Batch, training: bool = False) -> tuple[list[Any], float]:
        """Loss of each example for each output layer, and the score without regularization."""
        made = self._with_loss(batch)
        with self._explained(batch):
            values = run(made.sd, self.feeds(batch, made), [*made.scores, *made.losses], self.context(training))
        sums = [np.sum(values[n], dtype=np.float64) for n in made.losses]
        return [values[n] for n in made.scores], self._total(made, sums, batch)

    def _total(self, made: NetworkGraph, sums: Sequence[Any], batch: Batch) -> float:
        """The losses of all outputs, each divided by its number of rows; without ``mini_batch`` only where a layer always averages."""
        return float(sum(float(v) / self._divisor(made, name, batch) for name, v in zip(made.losses, sums)))

    def _divisor(self, made: NetworkGraph, name: str, batch: Batch) -> int:
        if not self.structure.mini_batch and name not in made.averaged:
            return 1
        k = made.loss_outputs.get(name, 0)
        labels = batch.labels[k] if k < len(batch.labels) else None
        return batch.size if labels is None else int(labels.shape[0])

    def _with_loss(self, batch: Batch, stateful: bool = False) -> NetworkGraph:
        _check_examples(batch)
        with self._explained(batch):
            made = self.graph(self.variant(batch, stateful))
        for name in self.structure.outputs:
            if name in made.lacks:
                raise MissingOpError(made.lacks[name])
        if not made.losses:
            outputs = ", ".join(self.structure.outputs)
            raise ConfigurationError(f"no loss can be computed: the outputs ({outputs}) are no output layers, or labels are missing")
        return made

    # Training

    def check_complete(self, use: str) -> None:
        """MissingOpError for a network of which not all classes are registered."""
        if self.structure.lacks:
            raise MissingOpError(f"to {use}, all its classes are needed, and nobody registers {', '.join(self.structure.lacks)}: import "
                                 "the packages that define them, then load the file again")

    def training_step(self, batch: Batch, stateful: bool = False) -> tuple[TrainingStep, NetworkGraph]:
        """The compiled step of a variant, made at its first use."""
        self.check_complete("train this network")
        _check_examples(batch)
        variant = self.variant(batch, stateful)
        found = self._steps.get(variant)
        if found is None:
            found = self._steps[variant] = self._make_step(self._with_loss(batch, stateful))
        return found, self.graph(variant)

    def _make_step(self, made: NetworkGraph) -> TrainingStep:
        fork = made.sd.fork()
        trained = self.trained()
        found = gradients(fork, [fork.variable(n) for n in made.losses], [fork.variable(s.name) for s in trained])
        names = {n: g.name() for n, g in found.items() if g is not None}
        if not names and trained:
            raise GradientError("the loss depends on none of the parameters of the network")
        reached = self.structure.reached()           # below a frozen layer statistics stay as well
        still = {s.name for s, (m, _) in zip(self.slots, self.parameters) if m.key not in reached}
        names.update((n, step) for n, step in made.moves.items() if n not in still)
        return TrainingStep(fork, names, self.flat, [*made.losses, *made.states.values()], self.structure.descends)

    def trained(self) -> list[FlatSlot]:
        """The parameters that gradients move."""
        reached = self.structure.reached()
        return [s for s, (m, p) in zip(self.slots, self.parameters) if p.role != "statistic" and not m.is_frozen and m.key in reached]

    @on_its_device
    def gradient(self, batch: Batch, states: Mapping[str, Any] | None = None, stateful: bool = False) -> tuple[float, dict[str, Any]]:
        """Forward and backward: the score without regularization; the flat gradient then holds sums over examples."""
        with self.lock:         # others may be in the midst of a step
            return self._gradient(batch, states, stateful)

    def _gradient(self, batch: Batch, states: Mapping[str, Any] | None, stateful: bool) -> tuple[float, dict[str, Any]]:
        plain = states is None and not stateful and not uses_reference()
        form = batch.form() if plain else None
        known = self.known_steps.get(form) if plain else None
        if known is not None:
            self.begin(known.step)
            return known.run(batch, self.context(True) if known.plan.draws else None), {}
        step, made = self.training_step(batch, stateful)
        self.begin(step)
        feeds = self.feeds(batch, made, states)
        with self._explained(batch):
            results = step.compute(feeds, self.context(True))
        if plain:
            self._know(form, step, made, feeds, batch)
        n = len(made.losses)
        return self._total(made, results[:n], batch), dict(zip(made.states, results[n:]))

    @property
    def updates_in_steps(self) -> bool:
        """Whether compiled code does all that stands between gradients and new parameters."""
        return bool(self.slots) and self.rules.is_compiled

    @on_its_device
    def whole_step(self, batch: Batch) -> float | None:
        """Gradient and update in one call: the score; None where that has to be done one by one."""
        known = self.known_steps.get(batch.form()) if self.updates_in_steps and not uses_reference() else None
        if known is None or known.whole is None:
            return None
        self.begin(known.step)
        penalty = self.regularization_score()
        return penalty + known.run_whole([known.feeds(batch)], self.iteration, self.epoch, self.scale(batch.rows), self.structure.seed)

    @property
    def last_step(self) -> TrainingStep | None:
        """What computed the last gradient."""
        return self._last_step

    def begin(self, step: TrainingStep) -> None:
        """Note that a step is what computes the gradients."""
        step.clear_others()
        self.computed, self._last_step = step.names, step

    def _know(self, form: Any, step: TrainingStep, made: NetworkGraph, feeds: Mapping[str, Any], batch: Batch) -> None:
        """Note how batches of that form run: the next ones need no checks."""
        plan = step.last_plan
        places = None if plan is None else KnownStep.places_of(feeds, plan, batch)
        if plan is not None and places is not None:
            divisors = [self._divisor(made, n, batch) for n in made.losses]
            self.known_steps[form] = KnownStep(step, plan, places, divisors, batch.rows, self.rules.normalization, self.counter)

    @on_its_device
    def check_finite(self, total: float, batch: Batch, states: Mapping[str, Any] | None = None, stateful: bool = False) -> None:
        """NumericalError when the loss or a gradient of the last :meth:`gradient` holds NaN or infinity."""
        if np.isfinite(total) and np.isfinite(self.flat.gradients).all():
            return
        made = self.graph(self.variant(batch, stateful))
        keys = [m.key for m in self.structure.members]
        names = [made.activations[k] for k in keys]
        values = run(made.sd, self.feeds(batch, made, states), [*names, *made.losses], self.context(True))
        explain_not_finite(self.structure, batch, self.flat, {k: values[n] for k, n in zip(keys, names)}, self.computed)

    @on_its_device
    def input_gradients(self, batch: Batch) -> list[Any]:
        """Gradient of the summed loss for each input, in training mode."""
        variant = self.variant(batch)
        if variant not in self._input_graphs:
            made = self._with_loss(batch)
            fork = made.sd.fork()
            names = [input_name(i) for i in range(len(batch.inputs))]
            found = gradients(fork, [fork.variable(n) for n in made.losses], [fork.variable(n) for n in names])
            self._input_graphs[variant] = (fork, [None if found[n] is None else found[n].name() for n in names])  # type: ignore[union-attr]
        fork, names_ = self._input_graphs[variant]
        with self._explained(batch):
            values = run(fork, self.feeds(batch, self.graph(variant)), [n for n in names_ if n], self.context(True))
        return [np.zeros_like(x) if n is None else values[n] for n, x in zip(names_, batch.inputs)]

    @on_its_device
    def update(self, batch_size: int, batch: Batch, stateful: bool = False) -> None:
        """Turn the gradients into new parameters and count the step: both or, after whatever interrupts it, neither."""
        step = self._last_step or self.training_step(batch, stateful)[0]
        scale = self.prepare_gradients(batch_size)
        step.update(self.iteration, self.epoch, scale, self.counter, self.constrain if self.rules.constrains else None)

    def prepare_gradients(self, batch_size: int) -> float:
        """Normalize the gradients as configured; the number by which updaters still have to multiply them."""
        return self.rules.prepare(self.scale(batch_size))

    def scale(self, batch_size: int) -> float:
        """What the sums of gradients are multiplied by."""
        return 1.0 / batch_size if self.structure.mini_batch else 1.0

    def constrain(self) -> None:
        """Apply the constraints of all members to their parameters."""
        self.rules.constrain()

    def regularization_score(self) -> float:
        """Sum of the penalties of all parameters at the present iteration."""
        return self.rules.penalty(self.iteration, self.epoch)

    def pretraining_penalty(self) -> float:
        """The same of the parameters that only pretraining moves."""
        at = self.iteration, self.epoch
        kept = [(s.name, m.conf.regularization_for(p)) for s, (m, p) in zip(self.slots, self.parameters) if s.name in self.only_pretrained]
        return sum(float(rule.score(np, self.flat.arrays[name], rule.coefficient(*at))) for name, rules in kept for rule in rules)

    def _explained(self, batch: Batch) -> _Explained:
        return _Explained(self, batch)


class _Explained:
    """Adds the shapes of the batch and the layer to errors of a run."""

    def __init__(self, engine: Engine, batch: Batch) -> None:
        self._engine, self._batch = engine, batch

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, DL4PyError):
            shapes = ", ".join(f"{n} {x.shape}" for n, x in zip(self._engine.structure.inputs, self._batch.inputs))
            labels = ", ".join(str(y.shape) for y in self._batch.labels if y is not None)
            error.add_note(f"network inputs: {shapes}" + (f"; labels: {labels}" if labels else ""))
