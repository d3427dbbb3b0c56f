"""The functions of NumPy's BLAS library, by address, and the number of its threads."""
