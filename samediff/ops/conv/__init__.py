"""Convolution, pooling and patches."""
