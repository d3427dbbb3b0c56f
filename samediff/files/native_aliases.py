"""Kernels of DL4J that mean an op which is registered under another name: their nodes are read as that op."""
from __future__ import annotations

#: Kernel name: registered op. The inputs are in the same order and the attributes stand in the same slots.
NATIVE_ALIASES = {
    "boolean_and": "and",
    "boolean_or": "or",
    "boolean_xor": "xor",
    "realdiv": "divide",
    "reshapeas": "reshape_like",
    "scatter_upd": "scatter_update",
}
