"""Checks of ops, a kind in each file."""
