"""Enums with the methods that all of Java's have."""
from __future__ import annotations

from enum import Enum
from typing import Self

from ...errors import ConfigurationError, did_you_mean


class JavaEnum(Enum):
    """An enum that gives its members as Java's do.

    Examples
    --------
    >>> class Side(JavaEnum):
    ...     LEFT = 0
    ...     RIGHT = 1
    >>> Side.values(), Side.valueOf("RIGHT").ordinal()
    ([<Side.LEFT: 0>, <Side.RIGHT: 1>], 1)
    """

    @classmethod
    def values(cls) -> list[Self]:
        """The members in their order."""
        return list(cls)

    @classmethod
    def value_of(cls, name: str) -> Self:
        """The member of that name.

        Raises
        ------
        ConfigurationError
            There is none.
        """
        if name not in cls.__members__:
            known = list(cls.__members__)
            hint = did_you_mean(name, known) or f"; members: {', '.join(known)}"
            raise ConfigurationError(f"{cls.__name__} has no member {name!r}{hint}")
        return cls[name]

    @classmethod
    def valueOf(cls, name: str) -> Self:
        """:meth:`value_of`."""
        return cls.value_of(name)

    def to_string(self) -> str:
        """The name of the member, as Java writes it."""
        return self.name

    def toString(self) -> str:
        """:meth:`to_string`."""
        return self.name

    def ordinal(self) -> int:
        """The place among the members, from 0."""
        return list(type(self)).index(self)
