"""Kernels of single ops on a device."""
