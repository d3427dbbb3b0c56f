"""Kernels of single ops: layouts, work areas, calls."""
