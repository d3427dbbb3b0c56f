"""Reductions and normalizations as loops over slices."""
