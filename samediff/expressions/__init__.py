"""Scalar expressions: traced from array code, simplified, differentiated."""
