"""Attributes that are worked out when they are asked for."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy_property(Generic[T]):
    """As ``functools.cached_property``, without the lock that Python 3.11 has in it, one for all objects of a class: threads that ask at
    the same time may work it out twice, and get the same value.

    Examples
    --------
    >>> class Square:
    ...     def __init__(self, side):
    ...         self.side = side
    ...     @lazy_property
    ...     def area(self):
    ...         print("measured")
    ...         return self.side ** 2
    >>> square = Square(3)
    >>> square.area + square.area
    measured
    18
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else instance.__dict__.setdefault(self._name, self._make(instance))
