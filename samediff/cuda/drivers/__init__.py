"""Drivers of devices: GPUs through CuPy, and the emulator."""
