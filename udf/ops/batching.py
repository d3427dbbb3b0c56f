"""The declaration of an op about inputs with one more axis."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...samediff.errors import RegistrationError, ShapeError

_KINDS = (None, "leading", "none")


class BatchingError(ShapeError):
    """Results of an op with one more axis are not what it declares."""


def batching_rule(op_id: str, given: Any, of_class: Any) -> Any:
    """The batching rule from the decorator, else from the class: None, a word, or a method."""
    if callable(given):
        def batching(self: Any, mapped: Sequence[bool], *inputs: Any) -> Any:
            return given(mapped, *inputs, **{name: getattr(self, name) for name in self.attribute_names()})
        batching.user_code = given  # type: ignore[attr-defined]
        return batching
    found = of_class if given is None else given
    if not callable(found) and found not in _KINDS:
        raise RegistrationError(f"op {op_id!r}: batching must be 'leading' (all inputs and results may have one more axis in front), "
                                f"'none' (the op refuses) or a function batching(mapped, *inputs, **attributes), got {found!r:.60}")
    return found
