"""Layers that go through a sequence, and their gradients."""
