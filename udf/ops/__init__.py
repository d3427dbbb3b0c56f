"""Ops of functions and classes: the decorator, the base class, declarations, calls."""
