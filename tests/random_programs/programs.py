"""Programs that are drawn while they run eagerly: statements that are refused, or whose results are too large to compare, are left out."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dl4py.samediff import INDArray
from tests.random_programs.statements import op_calls
from tests.random_programs.statements.statement import Statement, drawn, of_text

TYPES = (np.float32, np.float64, np.int32, np.int64, np.bool_)
LARGEST, MOST_ELEMENTS, MOST_AXES = 1e4, 4096, 5
STATEMENTS = 12
#: Tries after which a program is as long as it is.
MOST_TRIES = 400
#: How often statements come from the table of ops, and how often a program may hold what is run step by step.
OPS, STEPS = 0.3, 0.03

TEXTS = of_text()
AREAS = sorted({s.area for s in TEXTS})
BY_AREA = {a: [s for s in TEXTS if s.area == a] for a in AREAS}


@dataclass
class Step:
    """A statement, the values that it takes (inputs are counted from -1 downwards, steps from 0), and what else was drawn."""

    statement: Statement
    places: tuple[int, ...]
    drawn: tuple[Any, ...]


@dataclass
class Program:
    """Inputs and steps."""

    inputs: list[Any]
    steps: list[Step]

    def __call__(self, inputs: Sequence[Any], change: Callable[[Any], Any] | None = None) -> list[Any]:
        """The results of all steps, each as ``change`` makes it."""
        values: dict[int, Any] = {-1 - i: a for i, a in enumerate(inputs)}
        for number, step in enumerate(self.steps):
            made = run(step, values)
            values[number] = made if change is None else change(made)
        return [v for k, v in values.items() if k >= 0]

    def without(self, bad: set[int]) -> Program:
        """Without these steps and what needs them."""
        kept: dict[int, int] = {}
        steps: list[Step] = []
        for number, step in enumerate(self.steps):
            if number not in bad and all(p < 0 or p in kept for p in step.places):
                kept[number] = len(steps)
                steps.append(Step(step.statement, tuple(kept.get(p, p) for p in step.places), step.drawn))
        return Program(self.inputs, steps)

    def __str__(self) -> str:
        lines = [f"v{-1 - i} = {a.dtype}{tuple(a.shape)}" + (f" {a.tolist()}" if a.size < 10 else "") for i, a in enumerate(self.inputs)]
        for i, step in enumerate(self.steps):
            names = dict(zip("knsij", step.drawn))
            lines.append(f"v{i} = {step.statement.text}  with {', '.join(f'v{p}' for p in step.places)}; {names}")
        return "\n   ".join(lines)


def run(step: Step, values: Mapping[int, Any]) -> Any:
    """What a step gives; single numbers of NumPy as arrays, which is what a scope has for them."""
    made = step.statement.function(*[values[p] for p in step.places], *step.drawn)
    return INDArray.of(np.asarray(made)) if isinstance(made, np.generic) else made


def program_of(seed: int, number: int) -> Program:
    """The program of that number."""
    rng = np.random.default_rng((seed, number))
    sizes = [int(rng.choice((0, 1, 2, 3, 4, 5), p=(0.03, 0.17, 0.2, 0.25, 0.2, 0.15))) for _ in range(3)]
    program = Program([_input(rng, sizes) for _ in range(rng.integers(1, 4))], [])
    values: dict[int, Any] = {-1 - i: a for i, a in enumerate(program.inputs)}
    steps = rng.random() < STEPS
    for _ in range(MOST_TRIES):
        if len(program.steps) == STATEMENTS:
            break
        made = _tried(rng, program, values, steps)
        if made is not None:
            values[len(program.steps)] = made[1]
            program.steps.append(made[0])
    return program


def _input(rng: np.random.Generator, sizes: Sequence[int]) -> Any:
    shape = tuple(sizes[int(i)] for i in rng.integers(0, 3, rng.integers(0, 4)))
    values = np.round(rng.normal(0, 2, shape), 3)
    return INDArray.of(np.asarray(values).astype(TYPES[rng.choice(5, p=(0.4, 0.3, 0.12, 0.1, 0.08))]))


def _tried(rng: np.random.Generator, program: Program, values: dict[int, Any], steps: bool) -> tuple[Step, Any] | None:
    order = [k for k in values if k >= 0][::-1] + [k for k in values if k < 0]
    new: dict[int, Any] = {}
    if rng.random() < OPS:
        found = op_calls.call_of(rng)
        if found is None:
            return None
        statement, arrays = found
        places = [_place(rng, order, values, a) for a in arrays]
        for at, array in enumerate(arrays):
            if places[at] is None:
                places[at] = -1 - len(program.inputs) - len(new)
                new[places[at]] = array
        rest: tuple[Any, ...] = ()
    else:
        area = BY_AREA[AREAS[rng.integers(len(AREAS))]]
        statement = area[rng.integers(len(area))]
        if statement.steps and not steps:
            return None
        recent = np.minimum(rng.geometric(0.4, statement.values) - 1, len(order) - 1)
        places = [order[i] for i in recent]
        rest = drawn(rng, [values[p] for p in places])
    step = Step(statement, tuple(places), rest)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = {k: v.tobytes() for k, v in values.items()}
            made = run(step, {**values, **new})
    except Exception:
        return None
    assert all(v == values[k].tobytes() for k, v in before.items()), f"{statement.text} changed its operands"
    if not hasattr(made, "dtype") or made.dtype.type not in TYPES or not _tame(made):
        return None
    program.inputs += new.values()
    values.update(new)
    return step, made


def _place(rng: np.random.Generator, order: Sequence[int], values: Mapping[int, Any], array: Any) -> int | None:
    """A value of the program of that shape and type; None where a new input is made."""
    fits = [k for k in order if values[k].shape == array.shape and values[k].dtype == array.dtype and array.dtype.kind == "f"]
    return fits[0] if fits and rng.random() < 0.7 else None


def _tame(array: Any) -> bool:
    if array.size > MOST_ELEMENTS or array.ndim > MOST_AXES:
        return False
    with np.errstate(all="ignore"):
        plain = np.asarray(array, np.float64)
        return bool(np.isfinite(plain).all() and np.abs(plain).max(initial=0) < LARGEST)
