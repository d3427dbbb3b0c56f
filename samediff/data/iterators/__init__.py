"""Iterators over batches, and what can be put around them."""
