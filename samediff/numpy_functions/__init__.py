"""NumPy's functions on arrays of a graph that is being recorded."""
