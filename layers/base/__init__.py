"""The base of all layers, and what a layer does in a network."""
