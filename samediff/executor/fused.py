"""Choosing the kernel of a fused group once the layout of its arrays is known."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import expression as ex
from ..arrays import xp
from ..spec import Shape
from .cpu import elementwise_kernel
from .layout import Layout

Call = tuple[Callable[..., Any], Sequence[Any]]


def fused_call(exprs: Sequence[ex.Expr], names: Sequence[str], inputs: Sequence[Any], outputs: Sequence[Any],
               symbolic: Mapping[str, Shape | None]) -> Call:
    """The function to call and its operands as it takes them.

    Parameters
    ----------
    exprs : one for each output
    names : of the inputs and outputs
    inputs, outputs : arrays with the final shapes and strides
    symbolic : shapes with -1 for sizes that differ from plan to plan, so that one kernel serves them all
    """
    if not inputs:                  # constants: nothing to loop over
        return _evaluated(exprs, 0), [*outputs]
    given = [_unstretched(a) for a in inputs]
    space = outputs[0].shape
    open_space = _open(space, symbolic.get(names[-len(outputs)]))
    layouts = [_layout(a, _open(a.shape, symbolic.get(n)), open_space) for a, n in zip(given, names)]
    kernel = elementwise_kernel(exprs, layouts)
    if kernel is None:
        return _evaluated(exprs, len(inputs)), [*inputs, *outputs]
    views = kernel.views([*given, *outputs])
    return kernel.raw_for(views), views


def viewer(stand_in: Any, view: Any) -> Callable[[Any], Any]:
    """What makes the kernel's view of an array that is laid out like ``stand_in``."""
    if view is stand_in:            # evaluated by NumPy, which takes any layout
        return _itself
    shape = view.shape
    if stand_in.flags.c_contiguous and stand_in.flags.writeable:
        return lambda array: array.reshape(shape)
    return lambda array: writable(_unstretched(array).reshape(shape))


def _itself(array: Any) -> Any:
    return array


def writable(array: Any) -> Any:
    """A view that kernels accept: they have one signature, and only read their inputs."""
    if array.flags.writeable:
        return array
    from .cpu.kernel import _Alias
    return np.asarray(_Alias(array))


def _unstretched(array: Any) -> Any:
    """Without the repetition along axes of stride 0."""
    for axis, (n, stride) in enumerate(zip(array.shape, array.strides)):
        if stride == 0 and n > 1:
            array = array[(slice(None),) * axis + (slice(0, 1),)]
    return array


def _open(shape: Shape, symbolic: Shape | None) -> Shape:
    """Sizes of 1 that only happen to be 1 become -1."""
    if symbolic is None or len(symbolic) != len(shape):
        return shape
    return tuple(-1 if n == 1 and s == -1 else n for n, s in zip(shape, symbolic))


def _layout(array: Any, shape: Shape, space: Shape) -> Layout:
    missing = len(space) - len(shape)
    shape = tuple(1 if n == -1 and s not in (1, -1) else n for n, s in zip(shape, space[missing:]))
    if array.flags.c_contiguous:
        return Layout.of(shape, space)
    return Layout.strided(shape, array.strides, space)


def _evaluated(exprs: Sequence[ex.Expr], n_inputs: int) -> Callable[..., None]:
    """The same by NumPy, for types and functions that have no kernel."""

    def call(*arrays: Any) -> None:
        for out, value in zip(arrays[n_inputs:], ex.evaluate(exprs, xp, arrays[:n_inputs])):
            np.copyto(out, value, casting="unsafe")

    return call
