"""Choice between the two compilers of kernels: the lean one, as long as it works with this Numba.

``DL4PY_COMPILER`` set to ``plain`` leaves it out, set to ``lean`` tries it with versions of Numba that nobody has tried.
"""
from __future__ import annotations

import importlib
import os
import re
import warnings
from typing import Any

_known: list[Any] = []


def compiler() -> Any:
    """The module :mod:`.lean` or :mod:`.plain`; where Numba lacks what the lean one needs, that is said once."""
    if not _known:
        _known.append(_plain() if os.environ.get("DL4PY_COMPILER") == "plain" else _checked())
    return _known[0]


def machine_code(function: Any, symbol: str, options: dict[str, Any], reference_counts: bool = True) -> Any:
    """The object file of a function of a table; a kernel that the lean compiler fails on is the other one's, as are all after it."""
    chosen = compiler()
    if chosen is _plain():
        return chosen.machine_code(function, symbol, options)
    try:
        return chosen.machine_code(function, symbol, options, reference_counts)
    except Exception as error:
        _known[0] = _plain()
        try:
            found = _plain().machine_code(function, symbol, options)
        except Exception:
            _known[0] = chosen          # the kernel is wrong, not the compiler
            raise error from None
        _warn(f"it failed with {type(error).__name__}: {error}")
        return found


def _plain() -> Any:
    return importlib.import_module(".plain", __package__)


def _checked() -> Any:
    import numba
    try:
        lean: Any = importlib.import_module(".lean", __package__)
        lean.check()
    except (ImportError, AttributeError) as missing:
        _warn(str(missing))
        return _plain()
    version = tuple(int(n) for n in re.findall(r"\d+", numba.__version__)[:2])
    if not lean.SINCE <= version < lean.BEFORE and os.environ.get("DL4PY_COMPILER") != "lean":
        _warn("this version is not known to it")
        return _plain()
    return lean


def _warn(why: str) -> None:
    import numba
    warnings.warn(f"Numba {numba.__version__} compiles kernels as it is, which takes longer, and without dl4py's lean compiler: {why}. "
                  "Results are the same. DL4PY_COMPILER=plain asks for that without a word", RuntimeWarning, stacklevel=3)
