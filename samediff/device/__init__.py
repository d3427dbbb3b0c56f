"""Devices and the arrays that live on them."""
