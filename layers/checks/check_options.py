"""Checks that options of what others wrote do something."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...samediff.base.javanames import squash
from ...samediff.base.user_code.check_report import CheckFailure, CheckReport, process_stays
from ...samediff.base.user_code.other_values import others
from ...samediff.base.user_code.upgrades import upgrade_fits
from ...samediff.configuration.configuration import Configuration
from ...samediff.executor.session import run_uncompiled
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ...samediff.ir.run_context import RunContext
from ..functions.activations import ActivationCube, ActivationTanH
from .check_subject import Runner, Subject

#: What tells one object from another: arrays and texts.
Marks = Callable[[Any], Sequence[Any]]
#: Runs that options may be for: in training and outside, at the start and later.
CONTEXTS = (RunContext(training=False, seed=1, iteration=0), RunContext(training=True, seed=1, iteration=0),
            RunContext(training=True, seed=1, iteration=500, epoch=20))


def is_foreign(conf: Configuration) -> bool:
    """Whether its class is not one of dl4py's own, which follow DL4J."""
    return not type(conf).__module__.startswith("dl4py.")


def options_check(report: CheckReport, conf: Configuration, marks: Marks, given: Mapping[str, list[Any]] | None = None) -> None:
    """Add checks that the options of a class of others change what objects do, if it has options that can be changed, and nothing else.

    ``given``: options of a base that the author set, with other values for them.
    """
    if is_foreign(conf):
        report.run("process stays", lambda: process_stays(report, lambda: marks(conf)))
    own = {**dict(own_options(conf)), **(given or {})}
    if own:
        report.run("options have an effect", lambda: _effects(conf, own, marks))


def upgrade_check(report: CheckReport, conf: Configuration) -> None:
    """Add a check of ``upgrade``, if a class of others has a version before today's."""
    cls = type(conf)
    known = {squash(str(cls.json_tag)), *(key for key, name in cls._spellings.items() if name in cls._fields)}
    if is_foreign(conf) and cls.class_version() > 1:
        today, fields = conf.to_document(), set(cls._fields)
        options = {key: value for key, value in today.items() if cls._spellings.get(squash(key), key) in fields}
        report.run("upgrade", lambda: upgrade_fits(cls.upgrade, cls.class_version(), today,
                                                   lambda made: [n for n in made if squash(n) not in known], options))


def own_options(conf: Configuration) -> Iterator[tuple[str, list[Any]]]:
    """Options that its own class declares, with other values for them."""
    for cls in type(conf).__mro__:
        if cls.__module__.startswith("dl4py."):
            return
        for name in inspect.get_annotations(cls):
            values = list(others(getattr(conf, name))) if name in type(conf)._fields else []
            if values and not (isinstance(values[0], bool) and _is_read(type(conf), name)):
                yield name, values


def _is_read(cls: type, name: str) -> bool:
    """Whether a class of others reads an option somewhere: one that says what is printed changes no number."""
    own = [c for c in cls.__mro__ if not c.__module__.startswith("dl4py.")]
    return any(name in getattr(getattr(m, "__wrapped__", m), "__code__", _is_read.__code__).co_names for c in own for m in vars(c).values())


def _effects(conf: Configuration, own: dict[str, list[Any]], marks: Marks) -> str:
    _unequal(conf, own)
    with np.errstate(all="ignore"):
        first = marks(conf)
        idle = [name for name, values in own.items() if all(_alike(conf, name, value, first, marks) for value in values)]
    if idle:
        raise CheckFailure(f"whatever {' or '.join(map(repr, idle))} is, nothing that was looked at changes: use it, or take it out of the "
                           "annotated fields, which are options. If it is for something else: allow={'options have an effect'}")
    return ", ".join(own)


def _unequal(conf: Configuration, own: Mapping[str, list[Any]]) -> None:
    """Objects with different options are not equal."""
    for name, values in own.items():
        try:
            other = conf.replace(**{name: values[0]})
        except Exception:       # a value that is refused
            continue
        if other == conf:
            raise CheckFailure(f"objects with {name}={getattr(conf, name)!r} and {name}={values[0]!r} are equal: __eq__ looks at every "
                               "option, as it does where nobody writes one")


def _alike(conf: Configuration, name: str, value: Any, first: Sequence[Any], marks: Marks) -> bool:
    try:
        found = marks(conf.replace(**{name: value}))
    except Exception:       # a value that is refused is heeded
        return False
    return len(found) == len(first) and all(map(_same, found, first))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f"))
    return type(a) is type(b) and (isinstance(a, np.ndarray) or bool(a == b))


def subject_options(report: CheckReport, subject: Subject, masks: Sequence[Any] | None) -> None:
    """The check for a layer or vertex."""
    def marks(conf: Any) -> list[Any]:
        return _marks(subject, conf, masks)
    acts = is_foreign(subject.conf) and getattr(subject.given, "activation", None) is not None
    if not hasattr(subject.conf, "define_pretraining"):
        options_check(report, subject.conf, marks, {"activation": [ActivationCube(), ActivationTanH()]} if acts else None)


def _marks(subject: Subject, conf: Any, masks: Sequence[Any] | None) -> list[Any]:
    """Parameters and their rules, output type, and all that a graph of it computes."""
    made = Subject(subject.given, conf, subject.kinds, subject.arrays, subject.preprocessor, subject.labels, subject.label_mask,
                   subject.parameters, subject.values)
    parameters = conf.parameter_table() if hasattr(conf, "parameter_table") else []
    found: list[Any] = [repr(made.output_type(*made.kinds)), repr([(p.name, p.shape, p.role) for p in parameters])]
    if parameters:
        found += [np.asarray(v) for v in conf.initial_values(Nd4jRandom(1), np.dtype(np.float64)).values()]
    for rule in ("regularization_for", "updater_for"):
        found += [repr(getattr(conf, rule)(p)) for p in parameters if hasattr(conf, rule)]
    found.append(repr(getattr(conf, "constraints_in_force", None)))
    several = [(), *([tuple(masks)] if masks is not None and not made.has_loss else [])]
    for given in several:
        runner = Runner(made)
        runner.run(made.arrays, given, made.labels, made.label_mask)
        ((sd, built),) = runner.built.values()
        hooks = built.hooks
        made_here = (built.activations, built.scores, built.mask, *hooks.kept.values(), *hooks.statistic_updates.values(), *hooks.penalties)
        wanted = [v for v in made_here if v is not None]
        feeds = {f"x{i}": a for i, a in enumerate(made.arrays)} | {f"mask{i}": m for i, m in enumerate(given) if m is not None}
        feeds |= {n: np.asarray(a, np.float64) for n, a in (("labels", made.labels), ("label_mask", made.label_mask)) if a is not None}
        for context in CONTEXTS:
            values = run_uncompiled(sd, feeds, list(dict.fromkeys(v.name() for v in wanted)), context)
            found += [np.array(values[v.name()]) for v in wanted]
    return found
