"""Options of readers as DL4J hands them over."""
from __future__ import annotations

from typing import Any

from ...base.javanames import JavaSpelling

__all__ = ["Configuration"]


class Configuration(dict[str, Any], JavaSpelling):
    """Options by name: ``SVMLightRecordReader().initialize(configuration, split)``. Its constructor takes them as arguments, too.

    Parameters
    ----------
    *arguments
        As in Java, without effect.

    Examples
    --------
    >>> options = Configuration()
    >>> options.setInt("size", 4)
    >>> options, options.getInt("size", 0), options.getBoolean("shown", False)
    ({'size': 4}, 4, False)
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__()

    def set(self, name: str, value: Any) -> None:
        """Say an option."""
        self[name] = value

    set_int = set_long = set_float = set_boolean = set

    def get_int(self, name: str, default: int) -> int:
        """An option that is a whole number."""
        return int(self.get(name, default))

    def get_float(self, name: str, default: float) -> float:
        """An option that is a number."""
        return float(self.get(name, default))

    def get_boolean(self, name: str, default: bool) -> bool:
        """An option that is a truth value; ``"true"`` is one, too."""
        return str(self.get(name, default)).lower() == "true"

    get_long = get_int
    setInt, setLong, setFloat, setBoolean = set_int, set_long, set_float, set_boolean      # for type checkers
    getInt, getLong, getFloat, getBoolean = get_int, get_long, get_float, get_boolean
