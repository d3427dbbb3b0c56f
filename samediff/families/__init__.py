"""Families of ops, gradients, and graphs inside ops."""
