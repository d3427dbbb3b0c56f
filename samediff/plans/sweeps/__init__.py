"""Reductions and normalizations as sweeps over slices: what both back ends share."""
