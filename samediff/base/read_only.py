"""Arrays to read: who writes to one is told what changes the values."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import GraphError

#: Methods of DL4J's arrays that change one.
_IN_PLACE = {"assign", "putScalar", "put_scalar", "putRow", "putColumn", "put"}
_ARITHMETIC = {"add", "sub", "mul", "div", "rsub", "rdiv", "neg"}


class ReadOnlyView(np.ndarray[Any, Any]):
    """A read-only view; what is computed from it is a plain array, and a copy may be written."""

    _refusal = ""

    def __array_finalize__(self, source: Any) -> None:
        self._refusal = getattr(source, "_refusal", "")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        for target in options.get("out", ()):
            if isinstance(target, ReadOnlyView):
                target._refuse_unless_copied()
        plain = {n: tuple(map(_plain, v)) if n == "out" else _plain(v) for n, v in options.items()}
        return getattr(ufunc, method)(*map(_plain, inputs), **plain)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._refuse_unless_copied()
        super().__setitem__(key, value)

    def __getattr__(self, name: str) -> Any:
        if name in _IN_PLACE or (name.rstrip("i") in _ARITHMETIC and name.endswith("i")):
            self._refuse_unless_copied()
        raise AttributeError(f"arrays of NumPy have no attribute {name!r}; INDArray.of(array) has DL4J's methods", name=name, obj=self)

    def fill(self, value: Any) -> None:
        """Refused, as every change."""
        self._refuse_unless_copied()
        super().fill(value)

    def __repr__(self) -> str:
        return repr(_plain(self))

    def _refuse_unless_copied(self) -> None:
        if not self.flags.writeable:
            raise GraphError(self._refusal)


def read_only(array: Any, refusal: str) -> Any:
    """The array as a view that cannot be written; ``refusal`` says what changes the values."""
    view = array.view(ReadOnlyView)
    view.flags.writeable = False
    view._refusal = refusal
    return view


def constant_view(array: Any, name: str) -> Any:
    """The stored array of a constant."""
    return read_only(array, f"the array of constant {name!r} is read-only, as what follows from constants is computed once; "
                            f"sd.get_variable({name!r}).set_array(...) changes it")


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, ReadOnlyView) else value
