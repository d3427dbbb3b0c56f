"""CUDA kernels of the ops in ``families``."""
