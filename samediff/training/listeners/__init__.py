"""Listeners, checkpoints and statistics."""
