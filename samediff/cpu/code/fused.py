"""A fused group for arrays of known layout as a native instruction."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import Shape
from ...expressions import expression as ex
from ...plans.layout import OperandLayout
from .elementwise import elementwise_kernel

if TYPE_CHECKING:
    from ..native.instruction import Instruction

#: Neighbours that a copy to another order takes at a time: as many of these as the first cache has room for at their distance.
BLOCKS = (64, 32, 16, 8)
#: Bytes at which addresses fall into the same place of that cache, and how many such places there are.
PAGE, WAYS = 4096, 8


def fused_instruction(exprs: Sequence[ex.Expr], names: Sequence[str], inputs: Sequence[Any], outputs: Sequence[Any],
                      symbolic: Mapping[str, Shape | None]) -> Instruction | None:
    """The compiled loop on these arrays; None where a type or function has no compiled form.

    Parameters
    ----------
    exprs : one for each output
    names : of the inputs and outputs
    inputs, outputs : arrays with the final shapes and strides
    symbolic : shapes with -1 for sizes that differ from plan to plan, so that one kernel serves them all
    """
    if not inputs:                  # constants: nothing to loop over
        return None
    given = [_without_broadcast(a) for a in inputs]
    space = outputs[0].shape
    open_space = _open(space, symbolic.get(names[-len(outputs)]))
    layouts = [_layout(a, _open(a.shape, symbolic.get(n)), open_space) for a, n in zip(given, names)]
    kernel = elementwise_kernel(exprs, layouts)
    return None if kernel is None else kernel.instruction(kernel.views([*given, *outputs]))


def stored(x: Any, target: Any) -> Instruction | None:
    """The instruction that copies an array, repeated as broadcasting does and converted, into an array or a view of one."""
    if not target.size:
        return None
    space = target.shape or (1,)
    x, target = _without_broadcast(x.reshape((1,) * (len(space) - x.ndim) + x.shape)), target.reshape(space)
    x, target = _walked(x, target)
    space = target.shape
    kernel = elementwise_kernel((ex.cast(ex.input_(0, x.dtype), target.dtype),), [_layout(x, x.shape, space)],
                                output_layouts=[_layout(target, space, space)])
    return None if kernel is None else kernel.instruction(kernel.views([x, target]))


def _walked(x: Any, target: Any) -> tuple[Any, Any]:
    """Views of both with their axes in another order: a loop over them finds neighbours of either in the cache.

    Axes follow the memory of ``target``. Where x lies in another order, its own neighbours come last, so many at a time that the
    places to which they go stay in the cache, too.
    """
    order = np.argsort([-abs(n) for n in target.strides], kind="stable")
    x, target = x.transpose(order), target.transpose(order)
    near = [k for k, (n, step) in enumerate(zip(x.shape, x.strides)) if n > 1 and abs(step) == x.itemsize]
    if not near or near[-1] == x.ndim - 1 or x.shape[-1] == 1:
        return x, target
    axis, size = near[-1], x.shape[near[-1]]
    most = WAYS * PAGE // math.gcd(target.strides[axis], PAGE)
    block = size if size <= min(most, BLOCKS[0]) else next((n for n in BLOCKS if n <= most and size % n == 0), size)
    return _in_blocks(x, axis, block), _in_blocks(target, axis, block)


def _in_blocks(array: Any, axis: int, block: int) -> Any:
    """A view whose axis is cut into blocks: their number in front, where there are several, what is inside of them behind."""
    if array.shape[axis] == block:
        return np.moveaxis(array, axis, -1)
    shape, steps = list(array.shape), list(array.strides)
    shape[axis:axis + 1] = []
    steps[axis:axis + 1] = []
    step = array.strides[axis]
    return np.lib.stride_tricks.as_strided(array, (array.shape[axis] // block, *shape, block), (block * step, *steps, step))


def added(x: Any, target: Any) -> Instruction | None:
    """The instruction that adds an array, repeated as broadcasting does, to another one."""
    total = ex.apply("add", ex.input_(0, target.dtype), ex.input_(1, target.dtype))
    return fused_instruction((total,), ("target", "x", "target"), [target, x], [target], {})


def laid_out(array: Any, made: list[Instruction | None], fits: bool | None = None) -> Any:
    """The array where it ``fits`` (by default: is dense), else a dense copy, which an instruction that is added to ``made`` makes."""
    if array.flags.c_contiguous if fits is None else fits:
        return array
    copy = np.empty(array.shape, array.dtype)
    made.append(stored(array, copy))
    return copy


def joined(*made: Instruction | Sequence[Instruction] | None) -> list[Instruction] | None:
    """Instructions one after the other; None where one of them does not exist."""
    if any(m is None for m in made):
        return None
    return [i for m in made for i in (m if isinstance(m, list) else [m])]  # type: ignore[misc]  # none is None


def writable(array: Any) -> Any:
    """A view that kernels accept: they have one signature, and only read their inputs."""
    if array.flags.writeable:
        return array
    from .kernel import ArrayAlias
    return np.asarray(ArrayAlias(array))


def _without_broadcast(array: Any) -> Any:
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


def _layout(array: Any, shape: Shape, space: Shape) -> OperandLayout:
    missing = len(space) - len(shape)
    shape = tuple(1 if n == -1 and s not in (1, -1) else n for n, s in zip(shape, space[missing:]))
    if array.flags.c_contiguous:
        return OperandLayout.of(shape, space)
    return OperandLayout.strided(shape, array.strides, space)
