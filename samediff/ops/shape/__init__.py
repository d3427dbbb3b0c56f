"""Ops that arrange elements: shapes, slices, padding, joining."""
