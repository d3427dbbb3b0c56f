"""The training step: forward, backward, update."""
