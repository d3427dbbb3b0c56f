"""Kernels of the ops of layers."""
