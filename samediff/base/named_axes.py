"""Shapes that must agree, written down with names for their axes."""
from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import ShapeError
from .spec import TensorSpec, may_equal, may_spread, size


def expect(name: str, spec: TensorSpec | None, shape: Sequence[int] | None) -> None:
    """ShapeError where an input cannot have this shape; unknown ranks and sizes pass."""
    if spec is not None and shape is not None and not may_equal(spec.shape, shape):
        raise ShapeError(f"{name} needs shape {tuple(shape)}; got {spec.shape}")


def expect_leading(name: str, spec: TensorSpec | None, shape: Sequence[int] | None) -> None:
    """ShapeError where an input cannot begin with these axes, one entry for each; unknown ranks and sizes pass."""
    if spec is None or spec.shape is None or shape is None:
        return
    if not may_equal(spec.shape[:len(shape)], shape):
        raise ShapeError(f"{name} needs the leading axes {tuple(shape)}; got shape {spec.shape}")


def expect_broadcast(name: str, spec: TensorSpec | None, shape: Sequence[int] | None) -> None:
    """ShapeError where an input cannot be repeated to this shape; unknown ranks and sizes pass."""
    if spec is not None and shape is not None and not may_spread(spec.shape, shape):
        raise ShapeError(f"{name} of shape {spec.shape} does not broadcast to {tuple(shape)}")


def expect_single(*inputs: tuple[str, TensorSpec | None]) -> None:
    """ShapeError where an input, given with its name, is not a single number."""
    for name, spec in inputs:
        if spec is not None and size(spec.shape) not in (1, -1):
            raise ShapeError(f"{name} is a single number; got shape {spec.shape}")


def expect_at_least(least: int, **numbers: int | Sequence[int] | None) -> None:
    """ShapeError for sizes and distances that are too small; None passes."""
    for name, given in numbers.items():
        if given is not None and any(n < least for n in (given if isinstance(given, Sequence) else (given,))):
            raise ShapeError(f"{name} must be at least {least}; got {given}")


def agree(names: str, specs: Sequence[TensorSpec | None], *, flat: str = "") -> dict[str, int]:
    """Sizes of named axes; ShapeError where inputs contradict each other.

    ``names`` has one entry per input, separated by commas: "x T N I, w I 4U, rw U 4U" says that the second axis of w is four
    times the first one of rw. Inputs that are left out, unknown ranks and sizes pass. ``flat`` names inputs of which only the
    number of elements counts.

    Examples
    --------
    >>> from dl4py.samediff.base.datatype import DataType
    >>> agree("w I 4U, rw U 4U", [TensorSpec((3, 8), DataType.FLOAT), TensorSpec((-1, 8), DataType.FLOAT)])
    {'I': 3, 'U': 2}
    """
    sizes: dict[str, int] = {}
    said: dict[str, str] = {}
    for entry, spec in zip(names.split(","), specs):
        name, *axes = entry.split()
        if spec is None or spec.shape is None:
            continue
        shape = spec.shape
        if name in flat.split():
            shape, axes = (size(shape),), ["".join(axes)]
        if len(shape) != len(axes):
            raise ShapeError(f"{name} needs axes ({', '.join(axes)}); got shape {spec.shape}")
        for axis, n in zip(axes, shape):
            found = re.fullmatch(r"(\d*)(\w+)", axis)
            assert found is not None, axis
            factor, letter = int(found[1] or 1), found[2]
            if n == -1:
                continue
            if n % factor:
                raise ShapeError(f"{name} needs axes ({', '.join(axes)}), {axis} a multiple of {factor}; got shape {spec.shape}")
            if sizes.setdefault(letter, n // factor) != n // factor:
                raise ShapeError(f"{name} of shape {spec.shape} needs axes ({', '.join(axes)}) with {letter} = {sizes[letter]}, "
                                 f"as in {said[letter]}")
            said.setdefault(letter, f"{name} of shape {spec.shape}")
    return sizes
