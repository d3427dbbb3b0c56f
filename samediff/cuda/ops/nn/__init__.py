"""CUDA kernels of the ops in ``ops/nn``."""
