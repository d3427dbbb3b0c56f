"""Reductions and normalizations over slices on a device."""
