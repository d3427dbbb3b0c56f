"""Java's spelling of what classes of networks have, as bases that editors and type checkers read in ``java_names.pyi``."""
from __future__ import annotations

from ...samediff.base.java_names import __getattr__ as __getattr__
