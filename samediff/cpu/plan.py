"""Plans for the CPU."""
from __future__ import annotations

from ..plans.plan import Plan
from .code.frame import NativeFrame
from .code.plan_source import NativeWriter


class NativePlan(Plan):
    """A plan whose steps are native programs, as far as these have instructions for them."""

    frames = NativeFrame
    writer = NativeWriter
