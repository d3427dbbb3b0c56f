"""Modules of PyTorch as networks and graphs, and their weights in both directions."""
from .modules import from_torch
from .state import set_state_dict, to_state_dict

__all__ = ["from_torch", "set_state_dict", "to_state_dict"]
