"""Matrix products by BLAS and by tiles of our own."""
