"""Parts of today's language models for dl4py."""
from .layers import RmsNorm, RotaryAttention, SwiGlu
from .lion import Lion
from .ops import attention, rms_norm, rotary, swiglu

__all__ = ["Lion", "RmsNorm", "RotaryAttention", "SwiGlu", "attention", "rms_norm", "rotary", "swiglu"]
