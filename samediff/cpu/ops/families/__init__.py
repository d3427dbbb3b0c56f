"""CPU kernels of the ops in ``families``."""
