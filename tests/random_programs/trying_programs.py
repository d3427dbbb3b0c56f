"""Random programs over arrays, run eagerly, in a graph scope and compiled: ``python -m tests.random_programs.trying_programs CASES``.

What a program does is drawn from the tables in ``statements`` and from the table of ops. Compiled it runs in some form (arguments by
position, in lists, dictionaries and dataclasses, with static ones), again, with other values, with other sizes of first axes, and its
gradient is compared with differences of the program itself.
"""
from __future__ import annotations

import functools
import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl4py.samediff import GraphScope, INDArray, compiled
from dl4py.samediff.errors import GradientError, GraphError, GraphScopeError
from dl4py.samediff.families.array_code.symbolic_size import NotInGraphError
from tests.helpers import randomruns
from tests.random_programs.programs import Program, program_of, run

#: Differences allowed, relative to the largest entry, as parts of the limits of ``randomruns``.
LOOSE = {"float64": 1e-3, "float32": 0.05}
#: How far a derivative may be from a difference quotient, relative to their size.
GRADIENT = 2e-4


#: Ops that are defined for symmetric matrices alone, which a direction leaves, that count what is 0, or whose gradient is none on purpose.
UNLIKE = ("logdet", "cholesky", "stop_gradient", "NONZERO", "fake_quant")
#: What is said of what needs sizes that values decide.
OPEN = ("one is left open", "not known while the graph is built", "open sizes", "an open number of elements", "a position may come twice")


class Different(Exception):
    """What is not equal, in words."""


@dataclass
class Pair:
    """Arguments and results in a dataclass."""

    first: Any
    rest: Any


#: Forms of arguments and results: a function of the inputs in that form, and the inputs in it.
FORMS: dict[str, Callable[[Program, Sequence[Any]], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]] = {
    "positions": lambda p, x: (lambda *given: p(given), tuple(x), {}),
    "a list": lambda p, x: (lambda given: tuple(p(given)), (list(x),), {}),
    "a dictionary": lambda p, x: (lambda given: dict(enumerate(p([given[f"x{i}"] for i in range(len(given))]))),
                                  ({f"x{i}": a for i, a in enumerate(x)},), {}),
    "a dataclass": lambda p, x: (lambda given: Pair(None, p([given.first, *given.rest])), (Pair(x[0], tuple(x[1:])),), {}),
    "keywords and a number": lambda p, x: (lambda *given, count, more: p([*given, more])[:count], tuple(x[:-1]),
                                           {"count": len(p.steps), "more": x[-1]}),
}


def case(seed: int, number: int) -> randomruns.Outcome:
    """Run a program in all ways and compare."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = program_of(seed, number)
        rng = np.random.default_rng((seed, number, 1))
        kept = program
        try:
            kept, values = _recorded(program)
            _compare(kept, values, kept(kept.inputs), "in a scope")
            kept = _traced(kept)
            if not kept.steps:
                return randomruns.Outcome("refused", "nothing can be recorded")
            wanted = kept(kept.inputs)
            _compiled(kept, rng, wanted)
            _open(kept, wanted)
            _derived(kept, rng)
            if len(kept.steps) < len(program.steps):
                kept = program
                found = compiled(lambda *inputs: program(inputs))(*program.inputs)
                _compare(program, found, program(program.inputs), "step by step")
        except Different as found:
            return randomruns.Outcome("differs", f"{kept}\n   {found}")
    return randomruns.Outcome("equal")


def _recorded(program: Program) -> tuple[Program, list[Any]]:
    """Without the steps that a scope refuses, and what a scope gives for the others."""
    with GraphScope():
        values, bad = _accepted(program, program.inputs, "in a scope")
    return program.without(bad), values


def _traced(program: Program) -> Program:
    """Without the steps that cannot be traced: there inputs are recorded too."""
    bad: set[int] = set()

    def function(*inputs: Any) -> Any:
        values, refused = _accepted(program, inputs, "traced")
        bad.update(refused)
        return values
    _, error = randomruns.attempted(lambda: compiled(function).graph(*program.inputs))
    if isinstance(error, GraphError) and isinstance(error.__cause__, Different):
        raise error.__cause__
    return program.without(bad)


def _accepted(program: Program, inputs: Sequence[Any], way: str) -> tuple[list[Any], set[int]]:
    """The results of the steps that are not refused, and which are."""
    values: dict[int, Any] = {-1 - i: a for i, a in enumerate(inputs)}
    bad: set[int] = set()
    for number, step in enumerate(program.steps):
        if all(p in values for p in step.places):
            made, error = randomruns.attempted(lambda step=step: run(step, values))  # type: ignore[misc]
            why, may = str(error), step.statement.refused or step.statement.steps
            if error is None:
                values[number] = made
            elif isinstance(error, (GraphScopeError, NotInGraphError)) and (may or any(o in why for o in OPEN)):
                bad.add(number)
            else:
                raise Different(f"{way}: v{number}, {step.statement.text}: {randomruns.short(error)}")
    return [v for k, v in values.items() if k >= 0], bad


def _compiled(program: Program, rng: np.random.Generator, wanted: Sequence[Any]) -> None:
    """In one of the forms, twice, and with other values."""
    form = list(FORMS)[rng.integers(len(FORMS))]
    function, args, kwargs = FORMS[form](program, program.inputs)
    traced = compiled(function)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        _compare(program, _results(traced(*args, **kwargs)), wanted, f"compiled with {form}")
    texts = [str(w.message) for w in said if "step by step" in str(w.message)]
    if texts and not any(s.statement.steps for s in program.steps):
        raise Different(f"compiled: {texts[0]}")
    _compare(program, _results(traced(*args, **kwargs)), wanted, f"compiled with {form}, again")
    others = [_other(rng, a) for a in program.inputs]
    expected, error = randomruns.attempted(lambda: program(others))
    if error is None and all(np.isfinite(np.asarray(e, np.float64)).all() for e in expected):
        _, args, kwargs = FORMS[form](program, others)
        found, error = randomruns.attempted(lambda: _results(traced(*args, **kwargs)))
        if error is not None:
            raise Different(f"compiled with {form}, with other values: {randomruns.short(error)}")
        _compare(program, found, expected, f"compiled with {form}, with other values {[a.tolist() for a in others if a.size < 10]}", others)


def _results(given: Any) -> list[Any]:
    if isinstance(given, Pair):
        return list(given.rest)
    return list(given.values()) if isinstance(given, dict) else list(given)


def _other(rng: np.random.Generator, array: Any) -> Any:
    """Other values of the same shape and type."""
    plain = np.asarray(array)
    if plain.dtype.kind == "f":
        return INDArray.of((plain * rng.uniform(0.8, 1.2, plain.shape)).astype(plain.dtype))
    return INDArray.of(rng.permutation(plain.ravel()).reshape(plain.shape))


def _open(program: Program, wanted: Sequence[Any]) -> None:
    """One trace for two sizes of first axes: those of size 2 and more are one longer."""
    sizes = {a.shape[0] for a in program.inputs if a.ndim and a.shape[0] > 1}
    if not sizes or any(s.statement.steps or "squeeze" in s.statement.text for s in program.steps):    # an open size is taken for 1
        return
    longer = [INDArray.of(np.concatenate([np.asarray(a), np.asarray(a)[:1]])) if a.ndim and a.shape[0] > 1 else a for a in program.inputs]
    expected, error = randomruns.attempted(lambda: program(longer))
    traced = compiled(lambda *inputs: program(inputs), open_batch=True)
    found, failed = randomruns.attempted(lambda: traced(*program.inputs))
    if failed is not None:
        raise Different(f"with an open batch: {randomruns.short(failed)}")
    _compare(program, found, wanted, "with an open batch")
    if error is None and all(np.isfinite(np.asarray(e, np.float64)).all() for e in expected):
        found, failed = randomruns.attempted(lambda: traced(*longer))
        if failed is not None:
            raise Different(f"with an open batch, one longer: {randomruns.short(failed)}")
        _compare(program, found, expected, "with an open batch, one longer", longer)


def _derived(program: Program, rng: np.random.Generator) -> None:
    """The gradient of the sum of bounded results along a direction, against difference quotients."""
    wrt = [i for i, a in enumerate(program.inputs) if a.dtype == np.float64 and a.size]
    if not wrt or any(s.statement.steps or any(o in s.statement.text for o in UNLIKE) for s in program.steps):
        return

    def loss(*inputs: Any) -> Any:
        terms = [np.sin(r * 0.7).mean() for r in program(inputs) if r.dtype == np.float64 and r.size]
        return sum(terms, np.float64(0) * inputs[wrt[0]].sum())
    found, error = randomruns.attempted(lambda: compiled(loss).gradient(wrt)(*program.inputs))
    if isinstance(error, GradientError):
        return
    if error is not None:
        raise Different(f"gradient: {randomruns.short(error)}")
    directions = [rng.uniform(-1, 1, program.inputs[i].shape) for i in wrt]

    def at(h: float) -> float:
        moved = list(program.inputs)
        for i, d in zip(wrt, directions):
            moved[i] = INDArray.of(np.asarray(moved[i]) + h * d)
        return float(loss(*moved))
    slopes, error = randomruns.attempted(lambda: _slopes(at))
    if error is not None or slopes is None:
        return
    slope, spread = slopes
    own = sum(float((np.asarray(g) * d).sum()) for g, d in zip(found, directions))
    if abs(own - slope) > GRADIENT * max(1.0, abs(slope)) + 10 * spread:
        raise Different(f"gradient along a direction {own}, differences say {slope} (within {spread:.1e})")


def _slopes(at: Callable[[float], float]) -> tuple[float, float] | None:
    """A central difference and how far another one is off; nothing at kinks and jumps."""
    middle = at(0.0)
    found = [((at(h) - middle) / h, (middle - at(-h)) / h) for h in (1e-4, 1e-5, 1e-6)]
    if not np.isfinite(found).all():
        return None
    centers = [(a + b) / 2 for a, b in found]
    if abs(found[-1][0] - found[-1][1]) > GRADIENT * max(1.0, abs(centers[-1])):
        return None
    spread = max(centers) - min(centers)
    return None if spread > 0.01 * max(1.0, abs(centers[1])) else (centers[1], spread)


# Comparing

def _compare(program: Program, found: Sequence[Any], wanted: Sequence[Any], way: str, inputs: Sequence[Any] | None = None) -> None:
    """Raise where results are not equal, as far as they are steady when inputs move by rounding."""
    inputs = program.inputs if inputs is None else inputs
    single = any(a.dtype == np.float32 for a in inputs)
    texts = _different(_named(found), _named(wanted), single)
    for sign, zero in itertools.product((1, -1), (0.0, 1.0)):
        if texts:
            move = functools.partial(_moved, sign=sign, zero=zero)
            texts = _different(_named(found), _named(wanted), single, _named(program([move(a) for a in inputs], change=move)))
    if texts:
        raise Different(f"{way}: {'; '.join(texts[:3])}")


def _named(results: Sequence[Any]) -> list[tuple[str, Any]]:
    return [(f"v{i}", np.asarray(r)) for i, r in enumerate(results)]


def _moved(array: Any, sign: int, zero: float) -> Any:
    """Changed by rounding, neighbours by different amounts; what is 0 becomes about ``zero``, as differences of equal numbers do."""
    if array.dtype.kind != "f" or not array.size:
        return array
    steps = sign * ((7 * np.arange(array.size).reshape(array.shape) + 3) % 11 - 5) * np.finfo(array.dtype).eps
    wide = np.asarray(array, np.float64)
    return INDArray.of(np.where(wide == 0, zero * steps, wide * (1 + steps)).astype(array.dtype))


def _different(found: Any, wanted: Any, single: bool, moved: Any = None) -> list[str]:
    """In words; ``single`` where float32 is among the inputs, so that later float64 is not exact either."""
    if len(found) != len(wanted):
        return [f"{len(found)} results instead of {len(wanted)}"]
    texts = []
    for i, ((name, f), (_, w)) in enumerate(zip(found, wanted)):
        single |= w.dtype == np.float32
        limit = randomruns.LIMITS["float32"] * LOOSE["float32"] / randomruns.LIMITS["float64"] if single else LOOSE["float64"]
        loose = limit if w.dtype == np.float64 else LOOSE.get(str(w.dtype), 1.0)
        texts += randomruns.different([(name, f)], [(name, w)], None if moved is None else [moved[i]], loose)
    return texts


def described(seed: int, number: int) -> str:
    """A program in words."""
    return str(program_of(seed, number))


def draws(seed: int, count: int) -> Counter[str]:
    """How often each name of a function, method or op is drawn in so many programs."""
    found: Counter[str] = Counter()
    for number in range(count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for step in program_of(seed, number).steps:
                found.update(step.statement.calls())
    return found


if __name__ == "__main__":
    sys.exit(randomruns.main("tests.random_programs.trying_programs", __doc__ or ""))
