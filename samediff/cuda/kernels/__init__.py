"""CUDA texts; :func:`..sources.source` reads them."""
