"""Checks of layers and vertices of other projects: what one object has to do with others, with its parameters and with their rules."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.base.user_code.leaks import keeps_no_memory
from ...samediff.graph.child_process import in_copy
from ..base.base import BaseLayer
from ..types.parameters import Parameter
from .check_subject import Runner, Subject

_THREADS = 4
_OPTIONS = 3            # so many options are changed


def checks_of_others(subject: Subject, read: bool) -> Iterator[tuple[str, Callable[[], str]]]:
    """Names and checks that make sense for it; ``read``: something depends on each parameter."""
    yield "several threads", lambda: in_threads(subject)
    yield "memory", lambda: keeps_no_memory(lambda: Runner(subject).variables(), type(subject.given))
    trained = [p for p in subject.parameters if p.role != "statistic"]
    if trained and not (subject.frozen or hasattr(subject.conf, "define_pretraining")):
        if read:
            yield "parameters have an effect", lambda: effects(subject, trained)
        if isinstance(subject.conf, BaseLayer):
            yield "regularization", lambda: regularized(subject.conf, trained)


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
    inputs = [subject.arrays, [a * 2.5 if a.dtype.kind == "f" else a for a in subject.arrays]]
    before = [found(subject.values, arrays) for arrays in inputs]
    for p in trained:
        old = subject.values[p.name]
        tries = ({**subject.values, p.name: old + by * rng.normal(size=old.shape)} for by in (0.5, 3.0))
        if all(_same(a, b) for values in tries for arrays, wanted in zip(inputs, before) for a, b in zip(found(values, arrays), wanted)):
            raise CheckFailure(f"other values of {p.name!r} change nothing: it is multiplied by 0, or computed and left out")
    return ", ".join(p.name for p in trained)


def regularized(conf: BaseLayer, trained: list[Parameter]) -> str:
    """Weights are regularized when a network says l2, and what looks like a weight is none else."""
    asked = conf.replace(l2=0.5)
    for p in trained:
        if p.role == "weight" and not asked.regularization_for(p):
            raise CheckFailure(f"l2 is not applied to {p.name!r}: regularization_for gives nothing for it")
        if p.role == "bias" and len([n for n in p.shape if n > 1]) > 1:
            raise CheckFailure(f"{p.name!r} of shape {p.shape} is declared as a bias, so that l1, l2 and weight decay pass over it and it "
                               "starts at the bias' value: params.weight declares a weight. If this is meant: allow={'regularization'}")
    return ", ".join(p.name for p in trained if p.role == "weight") or "no weights"
