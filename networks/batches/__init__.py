"""Batches: the arrays that a network is given, and where they come from."""
