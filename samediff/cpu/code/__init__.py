"""Compiled loops, written from expressions."""
