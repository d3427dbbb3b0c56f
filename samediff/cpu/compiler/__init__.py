"""Machine code of kernels, by Numba: what its users may build on in :mod:`plain`, what takes a third of the time in :mod:`lean`."""
