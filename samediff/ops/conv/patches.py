"""Patches of images: columns and back, flattened patches, grey-scale dilation."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...base.named_axes import agree, expect, expect_at_least
from ...base.spec import Shape, TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op
from .conv import MODE_PROPERTY, PAD_MODE, Attributes2D, window_properties, window_slots
from .window import Window, Windowed

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@dataclass(frozen=True)
class Patches:
    """Columns (N, *kernel, *counts, C) of channels-last images, written in an order of axes.

    ``order`` lists the letters of the result: n batch, c channels, y x place in the kernel, h w number of the window.
    """

    window: Window
    order: str
    channels_last: bool
    merged: int = 1                 # how many trailing axes become one

    def of(self, columns: Shape | None) -> Patches:
        """The patches with unknown kernel sizes taken from the shape of columns."""
        if columns is None or min(self.window.kernel) > 0:
            return self
        kernel = tuple(columns[self.order.index(axis)] for axis in "yx")
        return replace(self, window=replace(self.window, kernel=kernel))

    def shape(self, image: Shape | None) -> Shape | None:
        """Shape of the columns of an image."""
        if image is None:
            return (-1,) * (len(self.order) - self.merged + 1)
        if len(image) != 4:
            raise ShapeError(f"images need rank 4; got {image}")
        sizes, channels = (image[1:3], image[3]) if self.channels_last else (image[2:], image[1])
        counts = self.window.counts(sizes)
        by = dict(zip("ncyxhw", (image[0], channels, *self.window.kernel, *counts)))
        axes = [by[a] for a in self.order]
        last = axes[len(axes) - self.merged:]
        product = 1
        for a in last:
            product = -1 if -1 in (a, product) else product * a
        return (*axes[:len(axes) - self.merged], product)

    def unfold(self, xp: Any, x: Any) -> Any:
        """Each window of the images, copied into columns."""
        last = x if self.channels_last else xp.moveaxis(x, 1, -1)
        padded, counts = self.window.pad(xp, last), self.window.counts(last.shape[1:-1])
        columns = xp.stack([padded[(slice(None), *cells)] for _, cells in self.window.cells(counts)], axis=1)
        columns = columns.reshape(x.shape[0], *self.window.kernel, *counts, last.shape[-1])
        return columns.transpose(["nyxhwc".index(a) for a in self.order]).reshape(self.shape(x.shape))

    def fold(self, xp: Any, columns: Any, image: Shape) -> Any:
        """Columns added up to an image: the transpose of :meth:`unfold`."""
        last = image if self.channels_last else (image[0], *image[2:], image[1])
        counts = self.window.counts(last[1:-1])
        by = dict(zip("nyxhwc", (last[0], *self.window.kernel, *counts, last[-1])))
        apart = columns.reshape([by[a] for a in self.order]).transpose([self.order.index(a) for a in "nyxhwc"])
        total = self.window.add_back(xp, lambda k: apart[(slice(None), *k)], last, columns.dtype)
        return total if self.channels_last else xp.moveaxis(total, -1, 1)


@op("unfold", inputs="x columns?", shape_inputs=(1,))
class Unfold(Op):
    """Columns of images, like ``columns`` where these are given (made by gradients)."""

    patches: Patches

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the patches have."""
        return TensorSpec(self.fitting(specs[1:]).shape(specs[0].shape), specs[0].dtype)

    def fitting(self, columns: Sequence[Any]) -> Patches:
        """The patches, with the kernel of columns."""
        return self.patches.of(columns[0].shape) if columns else self.patches

    def compute(self, xp: Any, x: Any, *columns: Any) -> Any:
        return self.fitting(columns).unfold(xp, x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Fold(self.patches), [output_grads[0], inputs[0]]), *[None] * (len(inputs) - 1)]


@op("fold", inputs="columns x", shape_inputs=(1,))
class Fold(Op):
    """Columns added up to images like x (made by gradients)."""

    patches: Patches

    def infer(self, *specs: TensorSpec) -> Specs:
        expect("columns", specs[0], self.patches.of(specs[0].shape).shape(specs[1].shape))
        return TensorSpec(specs[1].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, columns: Any, x: Any) -> Any:
        """One addition for each place in the kernel."""
        return self.patches.of(columns.shape).fold(xp, columns, x.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Unfold(self.patches), [output_grads[0], inputs[0]]), None]


class PatchExtraction(Op):
    """Base of ops that copy the windows of images into columns."""

    def patches(self) -> Patches:
        """Geometry of the windows and order of the result's axes."""
        raise NotImplementedError

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the patches have."""
        return TensorSpec(self.patches().shape(specs[0].shape), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return self.patches().unfold(xp, x)

    def kernel_op(self, *specs: TensorSpec) -> Op:
        """The copy of windows with this geometry."""
        return Unfold(self.patches())

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Fold(self.patches()), [output_grads[0], inputs[0]])]


@op("im2col", api="cnn.im2_col cnn.im2col", signatures=("x, &config",),
    file=FileArgs(ints=(*window_slots(("_h", "_w")), PAD_MODE),
                  properties={**window_properties(("_h", "_w")), **MODE_PROPERTY, "dataFormat": "s:data_format"}))
class Im2Col(Attributes2D, PatchExtraction):
    """Patches of images as columns.  Shapes: x (N, C, H, W) -> (N, C, kH, kW, H', W')."""

    def patches(self) -> Patches:
        window = self.window()
        if min(window.kernel) < 1:
            raise ShapeError(f"{self.id} has a kernel of {window.kernel}: give its size, k_h and k_w")
        return Patches(window, "ncyxhw", False)


@op("col2im", api="cnn.col2_im cnn.col2im", signatures=("x, &config",),
    file=FileArgs(ints=("s_h", "s_w", "p_h", "p_w", "k_h", "k_w", "d_h", "d_w", "padding_mode:VALID|SAME|CAUSAL")))
class Col2Im(Attributes2D, Op):
    """Columns added up to images where they overlap: the transpose of ``im2col``.

    Shapes: x (N, C, kH, kW, H', W') -> (N, C, H, W), the smallest image that has these windows; the kernel is that of x.
    ``d_h``, ``d_w`` that name the size of the image without dilation stand for that size, as in files of DL4J.
    """

    def geometry(self, shape: Shape) -> tuple[Patches, Shape]:
        """Patches and image shape for columns of this shape."""
        if len(shape) != 6:
            raise ShapeError(f"columns need rank 6 (N, C, kH, kW, H', W'); got {shape}")
        kernel, counts = shape[2:4], shape[4:]
        plain = tuple((o - 1) * s + k - 2 * p for o, s, k, p in zip(counts, self.along("s"), kernel, self.along("p")))
        dilation = (1, 1) if self.along("d") == plain else self.along("d")
        window = Window(kernel, self.along("s"), self.along("p"), dilation)
        sizes = tuple(-1 if -1 in (o, k) else (o - 1) * s + window.extent(i) - 2 * p
                      for i, (o, k, s, p) in enumerate(zip(counts, kernel, self.along("s"), self.along("p"))))
        return Patches(window, "ncyxhw", False), (*shape[:2], *sizes)

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        return TensorSpec((-1,) * 4 if shape is None else self.geometry(shape)[1], specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        """One addition for each place in the kernel."""
        patches, image = self.geometry(x.shape)
        return patches.fold(xp, x, image)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The columns of the upstream gradient."""
        (columns,) = inputs
        return [columns.sd.add_op(Unfold(self.geometry(columns.spec.shape or (-1,) * 6)[0]), [output_grads[0], columns])]


@op("extract_image_patches", api="cnn.extract_image_patches",
    file=FileArgs(ints=("k_h", "k_w", "s_h", "s_w", "r_h", "r_w", "same_mode:int"),
                  properties={"isSameMode": "b:same_mode"}))
class ExtractImagePatches(PatchExtraction):
    """Patches of NHWC images with their cells in the last axis.

    Shapes: x (N, H, W, C) -> (N, H', W', kH * kW * C).
    """

    k_h: int
    k_w: int
    s_h: int = 1
    s_w: int = 1
    r_h: int = 1
    r_w: int = 1
    same_mode: bool = False

    def patches(self) -> Patches:
        expect_at_least(1, kernel=(self.k_h, self.k_w))
        window = Window((self.k_h, self.k_w), (self.s_h, self.s_w), (0, 0), (self.r_h, self.r_w), "SAME" if self.same_mode else "VALID")
        return Patches(window, "nhwyxc", True, 3)


class Dilating(Windowed, Op):
    """Attributes of grey-scale dilation, in which kernels take the maximum of sums."""

    strides: tuple[int, ...]
    rates: tuple[int, ...]
    is_same_mode: bool

    def geometry(self, weights: Shape) -> Window:
        """Windows of the kernel's size."""
        stride, rate = (tuple(v) if len(v) == 2 else tuple(v[1:3]) for v in (self.strides, self.rates))
        return Window(tuple(weights[:2]), stride, (0, 0), rate, "SAME" if self.is_same_mode else "VALID")

    def chosen(self, xp: Any, x: Any, weights: Any) -> tuple[Any, Any]:
        """Largest sum of each window and the number of its place in the kernel."""
        window = self.geometry(weights.shape)
        padded, best, place = window.pad(xp, x, -xp.inf), None, None
        for i, (position, cells) in enumerate(window.cells(window.counts(x.shape[1:-1]))):
            part = padded[(slice(None), *cells)] + weights[position]
            if best is None:
                best, place = part, xp.zeros(part.shape, xp.int32)
                continue
            better = part > best
            best, place = xp.where(better, part, best), xp.where(better, xp.int32(i), place)
        return best, place


@op("dilation2d", api="cnn.dilation2_d cnn.dilation2d", inputs="x weights", file=FileArgs(ints=("is_same_mode:int", "*rates", "*strides")))
class Dilation2D(Dilating):
    """Grey-scale dilation: the largest x + w over windows of NHWC images.

    Shapes: x (N, H, W, C), weights (kH, kW, C) -> (N, H', W', C).  ``strides`` and ``rates`` hold two numbers, or four with
    the outer ones 1.
    """

    strides: tuple[int, ...] = (1, 1)
    rates: tuple[int, ...] = (1, 1)
    is_same_mode: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each window."""
        x, w = specs
        for what, values in (("strides", self.strides), ("rates", self.rates)):
            if len(values) not in (2, 4):
                raise ShapeError(f"{what} need 2 numbers (height, width), or 4; got {values}")
        if len(self.strides) != len(self.rates):
            raise ShapeError(f"strides and rates need equally many numbers; got {self.strides} and {self.rates}")
        if x.shape is None or w.shape is None:
            return TensorSpec((-1,) * 4, x.dtype)
        if len(x.shape) != 4 or len(w.shape) != 3:
            raise ShapeError(f"images need rank 4 and weights rank 3; got {x.shape} and {w.shape}")
        agree("x N H W C, weights A B C", specs)
        return TensorSpec((x.shape[0], *self.geometry(w.shape).counts(x.shape[1:3]), x.shape[3]), x.dtype)

    def compute(self, xp: Any, x: Any, weights: Any) -> Any:
        """One comparison for each place in the kernel."""
        return self.chosen(xp, x, weights)[0]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient goes to the cell and the weight that gave the maximum."""
        found = inputs[0].sd.add_op(Dilation2DGrad(self.strides, self.rates, self.is_same_mode), [*inputs, output_grads[0]])
        return list(found)


@op("dilation2d_grad", inputs="x weights upstream")
class Dilation2DGrad(Dilating):
    """Gradients of ``dilation2d``: each value goes to the cell and the weight that were chosen (made by gradients)."""

    strides: tuple[int, ...] = (1, 1)
    rates: tuple[int, ...] = (1, 1)
    is_same_mode: bool = False

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shapes of images and weights."""
        return TensorSpec(specs[0].shape, specs[2].dtype), TensorSpec(specs[1].shape, specs[2].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, weights: Any, upstream: Any) -> Any:
        """One addition for each place in the kernel."""
        window = self.geometry(weights.shape)
        _, place = self.chosen(xp, x, weights)
        number = {position: i for i, (position, _) in enumerate(window.cells(place.shape[1:-1]))}
        parts = {k: xp.where(place == i, upstream, upstream.dtype.type(0)) for k, i in number.items()}
        for_weights = xp.stack([parts[k].sum(axis=(0, 1, 2)) for k in number]).reshape(weights.shape)
        return window.add_back(xp, lambda k: parts[k], x.shape, upstream.dtype), for_weights

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient, which is linear in the upstream gradient: values are gathered from the cells and weights they were sent to."""
        x, w, _ = inputs
        hx, hw = output_grads
        taken = x.sd.add_op(Dilation2DGather(self.strides, self.rates, self.is_same_mode), [x, w, hx, hw])
        return [None, None, taken]


@op("dilation2d_gather", inputs="x weights values weight_values")
class Dilation2DGather(Dilating):
    """values + weight_values at the chosen cells and weights (made by gradients)."""

    strides: tuple[int, ...] = (1, 1)
    rates: tuple[int, ...] = (1, 1)
    is_same_mode: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        return Dilation2D(self.strides, self.rates, self.is_same_mode).infer(*specs[:2])

    def compute(self, xp: Any, x: Any, weights: Any, values: Any, weight_values: Any) -> Any:
        """One selection for each place in the kernel."""
        window = self.geometry(weights.shape)
        _, place = self.chosen(xp, x, weights)
        padded, taken = window.pad(xp, values), xp.zeros(place.shape, values.dtype)
        for i, (position, cells) in enumerate(window.cells(place.shape[1:-1])):
            taken = xp.where(place == i, padded[(slice(None), *cells)] + weight_values[position], taken)
        return taken

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Linear in the values: sent to the chosen cells and weights."""
        return [None, None, *inputs[0].sd.add_op(Dilation2DGrad(self.strides, self.rates, self.is_same_mode),
                                                 [*inputs[:2], output_grads[0]])]
