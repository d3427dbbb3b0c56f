"""CPU kernels of the ops in ``ops/nn``."""
