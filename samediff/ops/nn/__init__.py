"""Ops of neural networks: affine maps, attention, normalization, dropout."""
