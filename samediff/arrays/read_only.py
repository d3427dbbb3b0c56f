"""Arrays to read: who writes to one is told what changes the values, or changes them."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.javanames import to_camel
from ..errors import GraphError
from .indarray import INDArray

#: Changes the values that an array shows, by a method of DL4J's arrays.
Change = Callable[[Callable[..., Any]], Any]


class ReadOnlyArray(INDArray):
    """A read-only view; what is computed from it is an array as any other, and a copy may be written."""

    _refusal = ""
    _change: Change | None = None
    _memory: Any = None

    def __array_finalize__(self, source: Any) -> None:
        self._refusal = getattr(source, "_refusal", "")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        for target in out or ():
            if isinstance(target, ReadOnlyArray):
                target._refuse_unless_copied()
        return super().__array_ufunc__(ufunc, method, *inputs, out=out, **options)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._refuse_unless_copied()
        super().__setitem__(key, value)

    def fill(self, value: Any) -> None:
        """Refused, as every change."""
        self._refuse_unless_copied()
        super().fill(value)

    def __repr__(self) -> str:
        return repr(self.view(INDArray))

    def _refuse_unless_copied(self) -> None:
        if not self.flags.writeable:
            raise GraphError(self._refusal)


def read_only(array: Any, refusal: str, change: Change | None = None) -> Any:
    """The array as a view that cannot be written.

    Parameters
    ----------
    array : array
        The values.
    refusal : str
        Says what changes the values.
    change : callable, optional
        Has methods of DL4J's arrays that change an array (``subi``) do so where the values come from: it is given a function that changes
        an array, and returns the new values.
    """
    view = array.view(ReadOnlyArray)
    view.flags.writeable = False
    view._refusal, view._change, view._memory = refusal, change, array
    return view


def _changing(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        changed = self._change
        if changed is None or self.flags.writeable:
            self._refuse_unless_copied()
            return getattr(INDArray, name)(self, *args, **options)
        np.copyto(self._memory, changed(lambda array: getattr(array, name)(*args, **options)))
        return self
    method.__name__ = name
    return method


_IN_PLACE = re.compile(r"(put|assign)\w*|replace_where|\w+i(_(row|column)_vector)?")
for _name in [n for n in dir(INDArray) if _IN_PLACE.fullmatch(n) and callable(getattr(INDArray, n)) and not n.startswith("_")]:
    setattr(ReadOnlyArray, _name, _changing(_name))
    setattr(ReadOnlyArray, to_camel(_name), getattr(ReadOnlyArray, _name))
