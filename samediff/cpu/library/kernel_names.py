"""Names that the source of elementwise kernels may use."""
from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .operators import TYPE_NAMES


@functools.cache
def names() -> dict[str, Any]:
    """The types, constants and functions by name."""
    from . import intrinsics, mathlib
    return {
        **{name: dtype.type for dtype, name in TYPE_NAMES.items()},
        "np": np, "math": math, "inf": math.inf, "nan": math.nan,
        **{n: getattr(mathlib, n) for n in ("exp", "expm1", "log", "log1p", "tanh", "erf", "logaddexp", "remainder",
                                            "floor_divide", "radd")},
        **{n: getattr(intrinsics, n) for n in ("rint", "floor", "ceil", "trunc", "fabs", "sqrt", "copysign", "vmax",
                                               "vmin", "select")},
    }
