"""Ops on single elements."""
