"""A check: what an op declares about batches is what calls for each element give."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...samediff.base.datatype import is_floating
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.errors import DL4PyError
from ...samediff.ir.op import as_tuple
from ..ops.base import UserOp
from ..ops.batching import BatchingError
from ..ops.vectorized import vectorized
from .examples import Example
from .runs import agree


def batching_agrees(op: UserOp, arrays: Example) -> str:
    """With all inputs in batches, and each alone; CheckFailure where results differ from those of single calls."""
    there = tuple(i for i, a in enumerate(arrays) if a is not None)
    largest, refused, why = 0.0, 0, ""
    for mapped in dict.fromkeys([there, *((i,) for i in there)]):
        single = [[_other(a) if i in mapped and turned else a for i, a in enumerate(arrays)] for turned in (False, True, False)]
        batch: list[Any] = [np.stack([s[i] for s in single]) if i in mapped else a for i, a in enumerate(arrays)]
        try:
            found = as_tuple(vectorized(op, [0 if i in mapped else None for i in range(len(arrays))])(*batch))
        except BatchingError as error:
            raise CheckFailure(str(error)) from error
        except DL4PyError as error:
            refused, why = refused + 1, why or str(error)
            continue
        wanted = [np.stack(column) for column in zip(*(as_tuple(op(*s)) for s in single))]
        what = f"its batching, where inputs {', '.join(map(str, mapped))} hold the elements along axis 0"
        largest = max(largest, agree(found, wanted, what))
    if why and refused == len(dict.fromkeys([there, *((i,) for i in there)])):
        raise CheckFailure(f"its batching takes no inputs that the op takes: {why}. Inputs that are mapped have the elements along axis 0, "
                           "in front of their own axes")
    return f"largest difference {largest:.3g}" + (f", {refused} ways refused" if refused else "")


def _other(a: Any) -> Any:
    """Other values of the same kind: smaller ones, or the same in another order."""
    return (a / 2).astype(a.dtype) if is_floating(a.dtype) else np.flip(a)
