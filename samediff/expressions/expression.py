"""Scalar expressions: trace elementwise code, differentiate it, join it, run it.

::

    (y,) = trace(lambda xp, x: xp.where(x > 0, xp.log(x), 0), ["float32"])      # array code, run once
    dy = derivative(y, 0)                                                       # again an expression
    evaluate([y, dy], np, [array])                                              # on NumPy or CuPy arrays

An expression is all that the executor knows of an elementwise op: Numba and CUDA sources, fused chains
(:func:`compose`) and gradients are made from it.
"""
from __future__ import annotations

from .derivative import derivative, multiply
from .scalar_node import (
    Expr,
    apply,
    cast,
    compose,
    constant,
    evaluate,
    input_,
    inputs_of,
    is_constant,
    nodes,
    operations,
    substituted,
    where,
)
from .tracing import NotElementwiseError, TraceError, trace

__all__ = ["Expr", "NotElementwiseError", "TraceError", "apply", "cast", "compose", "constant", "derivative", "evaluate", "input_",
           "inputs_of", "is_constant", "multiply", "nodes", "operations", "substituted", "trace", "where"]
