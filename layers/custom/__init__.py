"""Layers and losses that users write as graphs."""
