"""Matrix products: BLAS and own tiles."""
