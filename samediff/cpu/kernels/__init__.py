"""Hand-written Numba kernels, one file per topic, for float32 and float64.

Every argument is a C-contiguous array that the caller allocated (or a number); results are written into it.
Where a result may be the same array as an input, separate arrays are still faster: overlap keeps loops scalar.
Each module is imported, and each kernel compiled, on first use.
"""
