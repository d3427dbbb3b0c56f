"""Java's spelling of what classes of graphs, arrays and data have, as bases that editors and type checkers read in ``java_names.pyi``."""
from __future__ import annotations

from .javanames import JavaSpelling


def __getattr__(name: str) -> type[JavaSpelling]:
    if not name[0].isupper():       # pytest asks modules for names of its own
        raise AttributeError(name)
    return JavaSpelling
