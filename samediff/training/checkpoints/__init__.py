"""Checkpoints in folders, models back from them, and state with which training goes on."""
