"""Images of another size on the emulator."""
from __future__ import annotations

import numpy as np

from dl4py.samediff import ImageResizeMethod
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.ops.image.resize import ImageResize, ResizeBack, ResizeBicubic, ResizeBilinear
from dl4py.samediff.ops.image.resize_kernels import ResizeNearestNeighbor
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(5)


def images(*shape, dtype="float32"):
    return (rng.standard_normal(shape) * 50).astype(dtype)


def check(op, size=None, dtype="float32"):
    given = () if size is None else (np.array(size, np.int32),)
    x = images(2, 7, 6, 3, dtype=dtype)
    shape = op.infer(TensorSpec(x.shape, DataType.of(x.dtype)), *(TensorSpec(g.shape, DataType.INT, g) for g in given)).shape
    check_kernel(op, x, *given, known=(1,))
    check_kernel(ResizeBack(op), images(*shape, dtype=dtype), x, *given, known=(2,))


def test_values():
    check(ResizeBilinear(10, 4, align_corners=True))
    check(ImageResize(ImageResizeMethod.ResizeLanczos3, preserve_aspect_ratio=True, antialias=True), (3, 4))
    check(ResizeBicubic(), (9, 6))
    check(ResizeNearestNeighbor(7, 4))


def test_same_size():
    check(ResizeBilinear(7, 6))


def test_types():
    check(ResizeBilinear(9, 6), dtype="float64")
    check_kernel(ResizeBilinear(9, 4), images(2, 7, 6, 3, dtype="float16"))
    check_kernel(ResizeBilinear(9, 4), images(7, 6, 3, dtype="int16"))
    check_kernel(ResizeBilinear(9, 4), images(0, 7, 6, 3))


def test_what_is_not_served():
    x, size = TensorSpec((2, 7, 6, 3), DataType.FLOAT), TensorSpec((2,), DataType.INT)
    assert KERNELS.kernel(ResizeBicubic(), x, size) is None                                        # the size is a variable
    assert KERNELS.kernel(ResizeNearestNeighbor(9, 4), x.with_dtype(DataType.LONG)) is None        # integers that stay as they are
