"""Matrix products of few rows or small depth, or shares of them, for compiled code: a BLAS library is made for large ones.

``nn``, ``nt`` and ``tn`` take ``(a, b, c, work, more, part, parts)``: c = a b, with b or a transposed, plus c if ``more`` is not 0.
Rows of all arrays are contiguous and nothing is empty. Every element of c is summed in the order of the depth whatever the share,
so any number of parts gives the same bits. ``work`` has at least ``parts`` rows of :data:`WORKSPACE` elements.

The work is done in :mod:`.product_code`. Weights that serve many products are laid out for it once: :func:`pack` and :func:`times_packed`.
"""
# mypy: ignore-errors
from __future__ import annotations

import inspect
from typing import Any

from llvmlite import ir

from ..compiler.jit_functions import function, intrinsic, types
from ..native.int_compiler import WORD
from . import product_code
from .product_code import WORKSPACE as WORKSPACE
from .product_tiles import VECTORS, declared, lanes_of, start_of

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": {"contract"}}
plain = function(**_OPTIONS)


def _of_addresses(function):
    """A function of :mod:`.product_code` for kernels; the array, before its arguments, says the type of the elements."""
    name = function.__name__

    def define(context, array, *words):
        def call(context, builder, signature, args):
            kind, size = ir.FunctionType(WORD, [WORD] * len(words)), array.dtype.bitwidth // 8
            product_code.addresses(size)
            builder.call(declared(builder.module, f"dl4py_{name}_f{size}", kind), args[1:])
            return context.get_dummy_value()
        return types.void(array, *[types.int64] * len(words)), call
    define.__name__ = define.__qualname__ = name
    given = ["context", "array", *inspect.signature(function).parameters]
    define.__signature__ = inspect.Signature([inspect.Parameter(g, inspect.Parameter.POSITIONAL_OR_KEYWORD) for g in given])
    return intrinsic(define)


pack_panel, multiply_at, times_packed_at = map(_of_addresses, (product_code.pack_panel, product_code.multiply, product_code.times_packed))


@function(forceinline=True, **_OPTIONS)
def width_of(array):
    """Number of columns of a tile."""
    return lanes_of(array) * VECTORS


@plain
def multiply(a, transposed_a, b, transposed_b, c, work, more, part, parts):
    """As :func:`multiply_at`, for arrays."""
    row, depth = a.strides[0], a.shape[0] if transposed_a else a.shape[1]
    a_row, a_step = (a.itemsize, row) if transposed_a else (row, a.itemsize)
    workspace = start_of(work) + part * work.strides[0]
    multiply_at(c, c.shape[0], c.shape[1], depth, start_of(a), a_row, a_step, start_of(b), b.strides[0], transposed_b, start_of(c),
                c.strides[0], workspace, more, part, parts)


@plain
def nn(a, b, c, work, more, part, parts):
    """c = a b."""
    multiply(a, False, b, False, c, work, more, part, parts)


@plain
def nt(a, b, c, work, more, part, parts):
    """c = a b', b given by rows."""
    multiply(a, False, b, True, c, work, more, part, parts)


@plain
def tn(a, b, c, work, more, part, parts):
    """c = a' b, a given by rows."""
    multiply(a, True, b, False, c, work, more, part, parts)


@plain
def packed_size(array, depth, columns):
    """Elements of a packed matrix, of the type of ``array``."""
    wide = width_of(array)
    return (columns + wide - 1) // wide * wide * depth


@plain
def pack(b, transposed, packed, part, parts):
    """Lay out b, or its transpose with ``transposed``, panel by panel for :func:`times_packed`."""
    depth, columns = (b.shape[1], b.shape[0]) if transposed else b.shape
    wide = width_of(packed)
    panels = (columns + wide - 1) // wide
    for panel in range(panels * part // parts, panels * (part + 1) // parts):
        place = start_of(packed) + panel * wide * depth * packed.itemsize
        pack_panel(packed, start_of(b), b.strides[0], transposed, columns, depth, panel * wide, place)


@plain
def times_packed(a, packed, c, spare, more):
    """As :func:`times_packed_at`, for arrays. ``spare`` (1-D) has space for a tile; :data:`WORKSPACE` is more than enough."""
    times_packed_at(c, c.shape[0], c.shape[1], a.shape[1], start_of(a), a.strides[0], start_of(packed), start_of(c), c.strides[0],
                    start_of(spare), more)
