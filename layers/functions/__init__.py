"""Activations, losses, initialisers, dropout, constraints: what layers are configured with."""
