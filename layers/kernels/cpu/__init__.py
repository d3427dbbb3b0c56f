"""CPU kernels of the ops of layers."""
