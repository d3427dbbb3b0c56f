"""Tensors of PyTorch as arrays of NumPy."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..errors import DataTypeError, MissingPackageError


def torch() -> Any:
    """The package.

    Raises
    ------
    MissingPackageError
        It is not installed.
    """
    try:
        import torch
    except ImportError:
        raise MissingPackageError("modules of PyTorch need the package torch: pip install 'dl4py[torch]'") from None
    return torch


def dtype_of(kind: Any) -> np.dtype[Any]:
    """NumPy's type of elements for one of PyTorch."""
    name = str(kind).removeprefix("torch.")
    if name == "bfloat16":
        found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return found
    try:
        found = np.dtype(name)
    except TypeError:
        found = np.dtype(object)
    if found.kind not in "biuf":
        raise DataTypeError(f"arrays here have no elements of PyTorch's type {name}; convert them before, module.to(torch.float32)")
    return found


def array_of(tensor: Any) -> np.ndarray[Any, Any]:
    """The values of a tensor, or of anything that NumPy takes."""
    if not hasattr(tensor, "detach"):
        return np.asarray(tensor)
    kind, plain = dtype_of(tensor.dtype), tensor.detach().cpu().contiguous()
    if kind == np.dtype(ml_dtypes.bfloat16):
        return plain.float().numpy().astype(kind)  # type: ignore[no-any-return]
    return plain.numpy().copy()  # type: ignore[no-any-return]
