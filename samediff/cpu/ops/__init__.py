"""Kernels of ops on the CPU, in modules of the names of those with the ops."""
