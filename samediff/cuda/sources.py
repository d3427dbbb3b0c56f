"""The CUDA texts of the backend."""
from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import numpy as np

from ..base.datatype import DataType

#: Names of the element types in CUDA text; half and bfloat16 are structs of the prelude that only convert.
TYPES: dict[str, str] = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long", "uint8": "unsigned char",
    "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long", "float16": "half_t", "bfloat16": "bfloat_t",
    "float32": "float", "float64": "double"}


def type_name(dtype: Any) -> str:
    """The CUDA name of an element type (a NumPy type or a :class:`DataType`)."""
    return TYPES[dtype.numpy.name if isinstance(dtype, DataType) else np.dtype(dtype).name]


@functools.cache
def text_of(file: str) -> str:
    """The text of a file of the folder ``kernels``."""
    return resources.files(__package__).joinpath("kernels", file).read_text()


def source(file: str, **names: Any) -> str:
    """The text of ``kernels/<file>.cu`` for given values of the names that it leaves open.

    Examples
    --------
    >>> source("fill", T="float").splitlines()[0]
    '#define T float'
    """
    heads = "".join(f"#define {name} {value}\n" for name, value in names.items())
    return heads + text_of(f"{file}.cu")
