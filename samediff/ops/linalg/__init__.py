"""Matrices: products, solving, factors."""
