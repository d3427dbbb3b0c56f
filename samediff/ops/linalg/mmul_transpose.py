"""The choice of matrices of a product that are transposed, as an object."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar
from typing import Any, Self

from ...base.java_names import MMulTransposeNames
from ...configuration.configuration import Configuration
from ...configuration.declaring import configuration, option


def _another(field: str) -> Callable[..., None]:
    def put(values: dict[str, Any], flag: bool | None) -> None:
        if flag is not None:
            values[field] = bool(flag)
    return put


@configuration("org.nd4j.linalg.api.blas.params.MMulTranspose")
class MMulTranspose(Configuration, MMulTransposeNames):
    """The matrices of a product that are taken, or given, transposed: ``x.mmul(y, MMulTranspose(True, False))``.

    Parameters
    ----------
    transpose_x, transpose_y, transpose_z : bool
        The left and the right matrix, and the result; False by default.
    transpose_a, transpose_b, transpose_result : bool
        The same by DL4J's names.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import MMulTranspose, SameDiff
    >>> x = SameDiff.create().constant(np.ones((3, 2)))
    >>> x.mmul(x, MMulTranspose.builder().transposeA(True).build()).get_shape()
    (2, 2)
    """

    transpose_x: bool = False
    transpose_y: bool = False
    transpose_z: bool = False
    transpose_a: InitVar[bool | None] = option(_another("transpose_x"))
    transpose_b: InitVar[bool | None] = option(_another("transpose_y"))
    transpose_result: InitVar[bool | None] = option(_another("transpose_z"))

    @classmethod
    def all_false(cls) -> Self:
        """Nothing is transposed."""
        return cls()
