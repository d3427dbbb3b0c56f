"""Checks of layers, vertices and functions, one's own or built in."""
