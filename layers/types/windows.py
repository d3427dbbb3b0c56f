"""Windows of convolution and pooling layers as attributes of graph ops, and what they do to masks."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...samediff.base.spec import TensorSpec
from ...samediff.errors import ConfigurationError
from ...samediff.ir.op import Op, Specs, op
from ...samediff.ops.conv.pooling import Pool
from ...samediff.ops.conv.window import Window
from .formats import ConvolutionMode
from .positional import positional
from .sizes import check_window, convolved, repeated

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable

WINDOW = ("kernel_size", "stride", "padding")
PAD_MODES: dict[ConvolutionMode | None, str] = {ConvolutionMode.Same: "SAME", ConvolutionMode.Causal: "CAUSAL"}


def window_arguments(owner: str, *args: Any) -> dict[str, Any]:
    """``Builder(3, 3)`` is the kernel; ``Builder((3, 3), (1, 1), (0, 0))`` kernel, stride and padding."""
    if all(isinstance(a, int) for a in args):
        return {"kernel_size": args} if args else {}
    return positional(owner, WINDOW, *args)


def complete_window(layer: Any) -> None:
    """Check the window of a layer; a single number stands for all axes."""
    window = {name: repeated(getattr(layer, name), layer.rank) for name in (*WINDOW, "dilation")}
    check_window(layer.label, layer.rank, **window)
    vars(layer).update(window)
    if layer.causal_mode is None:
        refuse_causal(layer, layer.convolution_mode)


def refuse_padding(layer: Any, mode: ConvolutionMode | None) -> None:
    """Padding has no effect beside a mode that pads by itself."""
    given = layer.padding if isinstance(layer.padding, tuple) else (layer.padding,)
    if mode is ConvolutionMode.Same and any(given):
        raise ConfigurationError(f"{layer.label}: padding {layer.padding} cannot be used with ConvolutionMode.Same, which pads as much as "
                                 "it needs; leave it out, or use Truncate")


def refuse_causal(layer: Any, mode: ConvolutionMode | None) -> None:
    """Causal padding has a meaning along time alone."""
    if mode is ConvolutionMode.Causal:
        raise ConfigurationError(f"{layer.label}: ConvolutionMode.Causal is for one-dimensional layers; use Same or Truncate")


def window_mode(layer: Any) -> ConvolutionMode | None:
    """The mode in which the windows of a layer lie."""
    mode = layer.convolution_mode
    return layer.causal_mode if mode is ConvolutionMode.Causal else mode  # type: ignore[no-any-return]


def window_counts(layer: Any, sizes: Sequence[int]) -> list[int]:
    """Number of windows along each axis. The length of a series is what its type states, other ones may come: it refuses nothing."""
    return [convolved(layer.label, n, k, s, p, d, window_mode(layer), refuses=len(sizes) > 1)
            for n, k, s, p, d in zip(sizes, layer.kernel_size, layer.stride, layer.padding, layer.dilation)]


def window_attributes(layer: Any, operation: Any) -> dict[str, Any]:
    """Kernel, stride, padding, dilation and padding mode of a layer, under the names of the op's attributes."""
    given = {"k": layer.kernel_size, "s": layer.stride, "p": layer.padding, "d": layer.dilation}
    found: dict[str, Any] = {kind + suffix: v for kind, values in given.items() for suffix, v in zip(operation.suffixes, values)}
    return found | {"padding_mode": PAD_MODES.get(window_mode(layer), "VALID")}


def windowed_mask(layer: Any, mask: SDVariable | None, rank: int) -> SDVariable | None:
    """The largest mask value of each window along ``rank`` axes."""
    if mask is None:
        return None
    kernel, stride, padding, dilation = (tuple(v[:rank]) for v in (layer.kernel_size, layer.stride, layer.padding, layer.dilation))
    window = Window(kernel, stride, padding, dilation, PAD_MODES.get(window_mode(layer), "VALID"))
    return mask.sd.add_op(MaskWindows(window), [mask])  # type: ignore[no-any-return]


@op("mask_windows", gradient="zero")
class MaskWindows(Op):
    """Largest mask value of each window; axes of size 1 stay, as do axes with one window per position.

    Shapes: mask (batch, *sizes) or (batch, 1, *sizes) -> the same with the numbers of windows.
    """

    window: Window

    def fitted(self, sizes: Sequence[int]) -> Window:
        """Windows of one cell along axes that stay."""
        whole = self.window.mode != "VALID"
        own = [n == 1 or (whole and s == 1) for n, s in zip(sizes, self.window.stride)]
        parts = [[least if keep else v for keep, v in zip(own, values)] for least, values in
                 ((1, self.window.kernel), (1, self.window.stride), (0, self.window.padding), (1, self.window.dilation))]
        return replace(self.window, kernel=tuple(parts[0]), stride=tuple(parts[1]), padding=tuple(parts[2]), dilation=tuple(parts[3]))

    def infer(self, *specs: TensorSpec) -> Specs:
        """As many values as windows."""
        shape, rank = specs[0].shape, len(self.window.kernel)
        if shape is None or len(shape) <= rank:
            return specs[0]
        sizes = shape[len(shape) - rank:]
        return TensorSpec((*shape[:len(shape) - rank], *self.fitted(sizes).counts(sizes)), specs[0].dtype)

    def compute(self, xp: Any, mask: Any) -> Any:
        """As max pooling with one channel."""
        rank = len(self.window.kernel)
        if mask.ndim <= rank:
            return mask
        last = mask.reshape(-1, *mask.shape[mask.ndim - rank:], 1)
        found = Pool(self.fitted(last.shape[1:-1]), True).largest(xp, last)[0]
        return found.reshape(*mask.shape[:mask.ndim - rank], *found.shape[1:-1])
