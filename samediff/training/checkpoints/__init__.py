"""Checkpoints in folders, loading of their models, and the state from which training continues."""
