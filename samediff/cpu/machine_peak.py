"""Peak performance of the processors of this machine, measured once in a process."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..plans.machine_peak import MachinePeak, of_copies, of_products
from .blas.blas_threads import one_thread, thread_count


@functools.cache
def limits(dtype: Any = np.float32) -> MachinePeak:
    """By a matrix product that fits into the caches, and a copy that does not.

    Threads of a product wait for each other where other programs run; one thread does not, so it is asked too and multiplied.
    """
    alone = of_products(dtype, one_thread(np.matmul)) * thread_count()
    return MachinePeak(max(of_products(dtype, np.matmul), alone), of_copies())
