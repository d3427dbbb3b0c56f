"""The CPU backend: kernels compiled by Numba.

Importing this package loads neither Numba nor LLVM; the first kernel does.
"""
from __future__ import annotations

from ..plans.layout import OperandLayout, OutputReduction
from .code.elementwise import elementwise_kernel

__all__ = ["OperandLayout", "OutputReduction", "elementwise_kernel"]
