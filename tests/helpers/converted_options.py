"""Calls of constructors that run: each option of each configuration class with each kind of value that is converted for it."""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import dl4py
from dl4py.samediff.configuration.configuration import Configuration

#: As users write them; of several that mean the same the first is enough.
VALUES = ("2", "0.5", "True", "[2, 2]", "(2, 2)", "[[1, 1], [2, 2]]", "[0.5, 1.0]", "{0: 0.5}", "np.ones(2)",
          "'relu'", "'mse'", "'adam'", "'xavier'", "'same'", "'MAX'", "'nchw'", "'NWC'", "'add'", "'float'", "'W'", "['W']",
          "dl4py.Adam(0.1)", "dl4py.DataType.FLOAT", "dl4py.DenseLayer(n_out=2)", "[dl4py.DenseLayer(n_out=2)]",
          "dl4py.MaxNormConstraint(1.0)", "[dl4py.MaxNormConstraint(1.0)]", "dl4py.InputType.feed_forward(3)")


def runs(call: str) -> bool:
    """Whether a call of a constructor raises nothing."""
    try:
        eval(call, {"dl4py": dl4py, "np": np})
    except Exception:
        return False
    return True


def call(name: str, options: Mapping[str, str]) -> str:
    """The text of a call."""
    return f"dl4py.{name}({', '.join(f'{n}={value}' for n, value in options.items())})"


def needed(name: str, cls: Any) -> dict[str, str] | None:
    """The least that a class can be made with; None for one that needs something else."""
    required = [f.name for f in cls._fields.values() if f.required]
    values = itertools.product(VALUES, repeat=len(required)) if len(required) < 3 else ()
    return next((made for v in values if runs(call(name, made := dict(zip(required, v))))), None)


def converted_options() -> Iterator[str]:
    """All calls; configurations of ops, which convert nothing, are not among them."""
    classes = {getattr(dl4py, n): n for n in reversed(dl4py.__all__)}
    for cls, name in classes.items():
        if not isinstance(cls, type) or not issubclass(cls, Configuration) or cls.__module__.startswith("dl4py.samediff.ops."):
            continue
        least = needed(name, cls)
        if least is not None:
            further = ["name"] if "layer_name" in cls._fields else []
            yield from filter(runs, (call(name, least | {option: v}) for option in (*cls._fields, *cls._options, *further) for v in VALUES))
