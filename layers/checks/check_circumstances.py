"""Checks of layers and vertices of other projects: what one object has to do with others, with its parameters and with their rules."""
from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.base.user_code.leaks import keeps_no_memory
from ...samediff.executor.session import run_uncompiled
from ...samediff.graph.child_process import in_copy
from ...samediff.ir.node import needed
from ...samediff.ir.run_context import RunContext
from ..base.base import BaseLayer
from ..functions.constraints import MaxNormConstraint
from ..functions.dropout import Dropout
from ..types.input_type import InputType
from ..types.parameters import Parameter
from .check_subject import Runner, Subject, drawn, fits, other_sizes
from .check_values import special_inputs, statistics_of_batches

_THREADS = 4
_OPTIONS = 3            # so many options are changed
_MOVES = 30             # of running statistics, which reach their aim or show that they do not


def checks_of_others(subject: Subject, read: bool) -> Iterator[tuple[str, Callable[[], str]]]:
    """Names and checks that make sense for it; ``read``: something depends on each parameter."""
    yield "several threads", lambda: in_threads(subject)
    yield "memory", lambda: keeps_no_memory(lambda: Runner(subject).variables(), type(subject.given))
    yield "at rest outside of training", lambda: at_rest(subject)
    yield "inputs of other sizes", lambda: sizes(subject)
    yield "zeros and large inputs", lambda: special_inputs(subject)
    if subject.is_layer and not subject.frozen and any(p.role == "statistic" for p in subject.parameters):
        yield "statistics of batches", lambda: statistics_of_batches(subject)
    if not subject.is_layer:
        yield "inputs are used", lambda: inputs_used(subject)
    if isinstance(subject.conf, BaseLayer) and subject.conf.takes_dropout:
        yield "dropout", lambda: drops_once(subject)
    if Runner(subject).variables().hooks.penalties:
        yield "penalty", lambda: penalty_of_examples(subject)
    trained = [p for p in subject.parameters if p.role != "statistic"]
    if trained and not (subject.frozen or hasattr(subject.conf, "define_pretraining")):
        if read:
            yield "parameters have an effect", lambda: effects(subject, trained)
        if isinstance(subject.conf, BaseLayer):
            yield "regularization", lambda: regularized(subject.conf, trained)
    if subject.is_layer and not type(subject.conf).set_n_in.__module__.startswith("dl4py.") and getattr(subject.conf, "n_in", 0) > 0:
        yield "sizes set by hand", lambda: sizes_by_hand(subject)


def sizes_by_hand(subject: Subject) -> str:
    """An ``n_in`` that a user set stays, unless ``set_n_in`` is told to replace it."""
    (kind,), size = subject.kinds, subject.conf.n_in
    inner = kind if subject.preprocessor is None else subject.preprocessor.output_type(kind)
    try:
        other = subject.conf.replace(n_in=size + 1)
    except Exception:           # it takes no other
        return "not tried"
    for override, wanted, advice in ((False, size + 1, "where override is False and n_in is set, keep it"),
                                     (True, size, "where override is True, take it from the input type")):
        found = other.changed(lambda copy, override=override: copy.set_n_in(inner, override)).n_in
        if found != wanted:
            raise CheckFailure(f"set_n_in({inner!r}, override={override}) of a layer with n_in={size + 1} makes n_in={found}, not "
                               f"{wanted}: {advice}, as with_n_in(size, override) does")
    return f"n_in={size}"


def instances(subject: Subject) -> str:
    """Check that results do not depend on earlier objects of the same class; each order in a process of its own."""
    compared = []
    for what, other in _others(subject):
        def outputs(first: Subject, second: Subject) -> list[Any] | None:
            try:
                return [Runner(one).run().activations for one in (first, second)]
            except Exception:       # options that it refuses tell nothing here
                return None
        one, two = in_copy(lambda other=other: outputs(subject, other)), in_copy(lambda other=other: outputs(other, subject))  # type: ignore[misc]
        if one is None or two is None:
            continue
        compared.append(what)
        if not all(map(_same, one, reversed(two))):
            raise CheckFailure(f"of two objects with {what} the second gives something else than alone: keep nothing in the class or "
                               "module; what a layer needs are its options and parameters")
    return ", ".join(compared) or "none could be made"


def _others(subject: Subject) -> Iterator[tuple[str, Subject]]:
    """The same with other parameters, and with other options that change no parameter."""
    other = _with(subject, subject.conf)
    other.values = {n: v * 0.5 + 0.1 for n, v in subject.values.items()}
    yield "different parameters", other
    for name, value in list(_numbers(subject.conf))[:_OPTIONS]:
        try:
            conf = subject.conf.replace(**{name: value})
        except Exception:           # values that it refuses
            continue
        yield f"different {name!r}", _with(subject, conf)


def _with(subject: Subject, conf: Any) -> Subject:
    return Subject(subject.given, conf, subject.kinds, subject.arrays, subject.preprocessor, subject.labels, subject.label_mask,
                   subject.parameters, subject.values)


def _numbers(conf: Any) -> Iterator[tuple[str, Any]]:
    """Options that its own class declares and that are numbers or truth values, and other values for them."""
    for cls in type(conf).__mro__:
        if cls.__module__.startswith("dl4py."):
            return
        for name in inspect.get_annotations(cls):
            value = getattr(conf, name, None)
            if isinstance(value, bool):
                yield name, not value
            elif isinstance(value, float):
                yield name, value * 0.75 + 0.1


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, 1e-9, 1e-12, equal_nan=True))


def in_threads(subject: Subject) -> str:
    """Graphs that several threads build and run at once give what one gives alone."""
    wanted = Runner(subject).run().activations

    def work(_: int) -> bool:
        return all(_same(Runner(subject).run().activations, wanted) for _ in range(3))
    with ThreadPoolExecutor(_THREADS) as pool:
        if not all(pool.map(work, range(_THREADS))):
            raise CheckFailure("networks in several threads disturb each other: keep nothing in the class or module while a graph is built")
    return f"{_THREADS} threads"


def effects(subject: Subject, trained: list[Parameter]) -> str:
    """Other values of a parameter give other activations or scores."""
    def found(values: dict[str, Any], arrays: list[Any]) -> list[Any]:
        changed = _with(subject, subject.conf)
        changed.values = values
        result = Runner(changed).run(arrays, labels=subject.labels, label_mask=subject.label_mask, training=True)
        return [a for a in (result.activations, result.scores) if a is not None]
    rng = np.random.default_rng(0)
    inputs, before = [subject.arrays], [found(subject.values, subject.arrays)]
    with contextlib.suppress(Exception):        # larger values, unless it refuses them
        larger = [a * 2.5 if a.dtype.kind == "f" else a for a in subject.arrays]
        before.append(found(subject.values, larger))
        inputs.append(larger)
    for p in trained:
        old = subject.values[p.name]
        tries = ({**subject.values, p.name: old + by * rng.normal(size=old.shape)} for by in (0.5, 3.0))
        if all(_same(a, b) for values in tries for arrays, wanted in zip(inputs, before) for a, b in zip(found(values, arrays), wanted)):
            raise CheckFailure(f"other values of {p.name!r} change nothing: it is multiplied by 0, or computed and left out")
    return ", ".join(p.name for p in trained)


def at_rest(subject: Subject) -> str:
    """Outside of training nothing is drawn."""
    runner = Runner(subject)
    out = runner.variables().activations
    sd, _ = next(iter(runner.built.values()))
    feeds = {f"x{i}": a for i, a in enumerate(subject.arrays)}
    contexts = (RunContext(training=False, seed=seed, draw=seed) for seed in (1, 2))
    first, second = (run_uncompiled(sd, feeds, [out.name()], c)[out.name()] for c in contexts)
    if not _same(first, second):
        raise CheckFailure("outside of training another run gives something else: draw where context.training is True. If that is meant: "
                           "allow={'at rest outside of training'}")
    return ""


def drops_once(subject: Subject) -> str:
    """The layer itself does nothing with ``dropout``, which networks apply to its input."""
    class Counted(Dropout):
        count = 0

        def define(self, sd: Any, x: Any) -> Any:
            Counted.count += 1
            return super().define(sd, x)
    Runner(_with(subject, subject.conf.replace(dropout=Counted(0.5)))).variables()
    if Counted.count > 1:
        raise CheckFailure("dropout is applied twice: by the network in front of the layer, and by define_layer; leave it to the network")
    return ""


def penalty_of_examples(subject: Subject) -> str:
    """The same examples twice have the penalty that they have once."""
    def penalties(times: int) -> list[Any]:
        runner = Runner(subject)
        arrays = [np.concatenate([a] * times) for a in subject.arrays]
        runner.run(arrays)
        sd, built = next(iter(runner.built.values()))
        feeds, names = {f"x{i}": a for i, a in enumerate(arrays)}, [v.name() for v in built.hooks.penalties]
        found = run_uncompiled(sd, feeds, names, RunContext(training=False, seed=1, iteration=0))
        return [found[n] for n in names]
    for once, twice in zip(penalties(1), penalties(2)):
        if not _same(once, twice):
            raise CheckFailure(f"the penalty of each example twice is {float(twice):.4g}, once it was {float(once):.4g}: scores are means "
                               "over the examples, so that penalties of activations are too. If this is meant: allow={'penalty'}")
    return "does not grow with the batch"


def sizes(subject: Subject) -> str:
    """The output type is that of the activations for inputs of other sizes too, as far as it takes them."""
    taken = []
    rng = np.random.default_rng(0)
    for kinds in other_sizes(subject.kinds):
        arrays = [drawn(k, rng, number=i) for i, k in enumerate(kinds)]
        try:
            made = (Subject.of_layer(subject.given, kinds[0], arrays[0], None) if subject.is_layer
                    else Subject.of_vertex(subject.given, kinds, arrays))
            made.draw(0)
            shape, promised = Runner(made).run().activations.shape, made.output_type(*kinds)
        except Exception:       # sizes that it refuses
            continue
        if promised is not None and not getattr(made.conf, "reports_other_type", False):
            fits(promised.array_shape(), shape, f"for {', '.join(map(str, kinds))} the output type is {promised!r}")
        taken.append(str(shape))
    return ", ".join(taken) or "refused"


def inputs_used(subject: Subject) -> str:
    """Something of each input goes into the result of a vertex: its values, or its sizes."""
    runner = Runner(subject)
    out = runner.variables().activations
    sd, _ = next(iter(runner.built.values()))
    read = {name for node in needed(sd.nodes(), [out.name()]) for name in node.inputs} | {out.name()}
    for i, kind in enumerate(subject.kinds):
        if f"x{i}" not in read and not _size_matters(subject, i, kind):
            raise CheckFailure(f"nothing of input {i} goes into the result: use it, or take fewer inputs")
    return f"{len(subject.kinds)}"


def _size_matters(subject: Subject, i: int, kind: InputType) -> bool:
    """Whether the result is another one, or none, where an input that is not read has other sizes."""
    wanted = Runner(subject).run().activations
    for (other,) in other_sizes([kind]):
        kinds = [*subject.kinds[:i], other, *subject.kinds[i + 1:]]
        arrays = [*subject.arrays[:i], drawn(other, np.random.default_rng(0)), *subject.arrays[i + 1:]]
        try:
            made = Subject.of_vertex(subject.given, kinds, arrays)
            made.draw(0)
            if not _same(Runner(made).run().activations, wanted):
                return True
        except Exception:       # sizes that it refuses are read
            return True
    return False


def statistics_act(subject: Subject, names: list[str]) -> None:
    """Each statistic has an effect on something else than itself, and its moves lead somewhere."""
    def found(values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        changed = _with(subject, subject.conf)
        changed.values = values
        runner = Runner(changed)
        given = {"labels": subject.labels, "label_mask": subject.label_mask}
        results = [runner.run(training=training, **given) for training in (False, True)]
        sd, built = runner.built[next(iter(runner.built))]
        feeds = {f"x{i}": a for i, a in enumerate(subject.arrays)}
        feeds |= {n: np.asarray(a, np.float64) for n, a in given.items() if a is not None}
        steps = built.hooks.statistic_updates
        moves = run_uncompiled(sd, feeds, list({v.name() for v in steps.values()}), RunContext(training=True, seed=1, iteration=0))
        return [a for r in results for a in (r.activations, r.scores) if a is not None], {n: moves[v.name()] for n, v in steps.items()}
    start = {n: v + 0.5 for n, v in subject.values.items()} | {n: v for n, v in subject.values.items() if n not in names}
    outputs, moves = found(start)
    for name in names:
        others, steps = found({**start, name: start[name] * 1.5 + 0.1})
        if all(map(_same, others, outputs)) and all(_same(steps[n], moves[n]) for n in moves if n != name):
            raise CheckFailure(f"the statistic {name!r} moves, and nothing reads it: outside of training, activations come from what was "
                               "learned, not from the batch (an op with the keyword training takes both)")
    values, first = start, {n: float(np.abs(m).max(initial=0.0)) for n, m in moves.items()}
    for _ in range(_MOVES):
        moves = found(values)[1]
        values = {n: v - np.reshape(moves[n], v.shape) if n in moves else v for n, v in values.items()}
    away = [n for n, m in moves.items() if n in first and not float(np.abs(m).max(initial=0.0)) <= 2 * first[n] + 1e-9]
    if away:
        raise CheckFailure(f"the statistic {away[0]!r} moves away faster and faster: what params.move is given is subtracted, "
                           "(params[name] - found) * (1 - momentum)")


def regularized(conf: BaseLayer, trained: list[Parameter]) -> str:
    """Weights are regularized when a network says l2, and what looks like a weight is none else."""
    rule = MaxNormConstraint(max_norm=1.0, params=tuple(p.name for p in trained))
    asked = conf.replace(l2=0.5, constraints=(rule,))
    if not asked.constraints_in_force:
        raise CheckFailure("constraints are lost: constraints_in_force gives none of those that the layer is given; leave it as it is")
    for p in trained:
        if p.role == "weight" and not asked.regularization_for(p):
            raise CheckFailure(f"l2 is not applied to {p.name!r}: regularization_for gives nothing for it")
        if p.role == "bias" and len([n for n in p.shape if n > 1]) > 1:
            raise CheckFailure(f"{p.name!r} of shape {p.shape} is declared as a bias, so that l1, l2 and weight decay pass over it and it "
                               "starts at the bias' value: params.weight declares a weight. If this is meant: allow={'regularization'}")
        if p.role == "weight" and p.name.rpartition("_")[2].lower() in ("b", "bias") and len([n for n in p.shape if n > 1]) <= 1:
            raise CheckFailure(f"{p.name!r} of shape {p.shape} is declared as a weight, so that l1, l2 and weight decay draw it to 0 and "
                               "it starts at random: params.bias declares a bias. If this is meant: allow={'regularization'}")
    return ", ".join(p.name for p in trained if p.role == "weight") or "no weights"
