"""Activations inside recurrent kernels: functions of one number and their slopes, from the expressions of elementwise ops."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...expressions import expression as ex
from ...expressions.scalar import DType
from ...expressions.scalar_node import Expr, nodes
from ..code.operators import PRINTER, SPECIAL, NoText, work_type
from ..sources import text_of


@functools.lru_cache(maxsize=256)
def functions(dtype: DType, **activations: Any) -> str | None:
    """Text of ``name(x)`` and ``name_slope(x)`` for each; None where an activation has no text. 16 bits are computed in float."""
    from ...ops.recurrent.recurrence import function
    wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    made = []
    for name, activation in activations.items():
        (value,) = function(activation).expressions([wide])
        made += [(name, value), (f"{name}_slope", ex.derivative(value, 0))]
    special = any(e.op in SPECIAL for _, value in made for e in nodes([value]))
    try:
        texts = [_function(name, value, wide) for name, value in made]
    except NoText:
        return None
    return "".join([text_of("functions.cu"), text_of("special.cu") if special else "", *texts])


def _function(name: str, value: Expr, dtype: DType) -> str:
    order = nodes([value])
    names = {e: "x" if e.op == "input" else f"t{k}" for k, e in enumerate(order)}
    lines, kind = PRINTER.statements(order, names), work_type(dtype)
    return f"__device__ __forceinline__ {kind} {name}(const {kind} x) {{\n{lines}    return ({kind}){PRINTER.ref(value, names)};\n}}\n"
