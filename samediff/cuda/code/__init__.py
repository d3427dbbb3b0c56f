"""CUDA text and launches, written from expressions."""
