"""Kernels for channels-last images made from those for channels-first ones."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ..code.fused import joined, laid_out, stored


def channels_first(spec: TensorSpec) -> TensorSpec:
    """(N, *S, C) as (N, C, *S)."""
    shape = spec.shape
    return spec if shape is None else TensorSpec((shape[0], shape[-1], *shape[1:-1]), spec.dtype)


def moved(inner: Kernel | None, images: tuple[int, ...], result: TensorSpec | None = None) -> Kernel | None:
    """``inner`` with the inputs at the positions ``images`` turned to channels first.

    ``result`` is the channels-first spec of the output where that is an image too: it is worked out there and turned back.
    """
    if inner is None:
        return None
    call_inner, behind = inner.call, len(inner.workspace)

    def call(*arrays: Any) -> None:
        given = list(arrays)
        for i in images:
            given[i] = np.moveaxis(given[i], -1, 1)
        if result is None:
            call_inner(*given)
            return
        whole = given.pop()
        at = len(given) - 1 - behind
        out, given[at] = given[at], whole
        call_inner(*given)
        out[...] = np.moveaxis(whole, 1, -1)

    def native(*arrays: Any) -> list[Any] | None:
        assert inner_native is not None
        made: list[Any] = []
        given = list(arrays)
        for i in images:
            given[i] = laid_out(np.moveaxis(given[i], -1, 1), made)
        if result is None:
            return joined(*made, inner_native(*given))
        whole = given.pop()
        at = len(given) - 1 - behind
        out, given[at] = given[at], whole
        return joined(*made, inner_native(*given), stored(np.moveaxis(whole, 1, -1), out))
    inner_native = inner.native
    return Kernel(call, inner.workspace if result is None else (*inner.workspace, result), inner.one_thread,
                  None if inner_native is None else native)
