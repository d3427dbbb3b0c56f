"""Reductions, positions, counts and order statistics."""
