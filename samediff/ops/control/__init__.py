"""Branches, loops, calls and lists of arrays."""
