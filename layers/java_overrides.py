"""Methods that a subclass spells as Java does replace those of its base."""
from __future__ import annotations

from typing import Any

from ..samediff.javanames import to_snake


class JavaOverrides:
    """Mix-in: a subclass that defines ``defineLayer`` overrides ``define_layer``."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, value in list(vars(cls).items()):
            snake = to_snake(name)
            if snake != name and callable(value) and not isinstance(value, type) and snake not in vars(cls) and hasattr(cls, snake):
                setattr(cls, snake, value)
