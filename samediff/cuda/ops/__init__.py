"""Kernels of ops on a GPU, in modules of the names of those with the ops."""
