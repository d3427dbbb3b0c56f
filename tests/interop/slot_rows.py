"""Ops with arguments that differ in every slot: DL4J computes something else as soon as two of them are exchanged."""
from __future__ import annotations

from typing import Any

from tests.samediff.ops.rows.op_rows import Row

SLOT_ROWS: list[Row] = []


def row(ids: str, inputs: Any, **attributes: Any) -> None:
    """One example of several ops."""
    given = inputs.split() if isinstance(inputs, str) else inputs
    SLOT_ROWS.extend(Row(name, tuple(given), attributes) for name in ids.split())


PLANE = {"k_h": 3, "k_w": 2, "s_h": 1, "s_w": 2}
DEEP = {"k_d": 3, "k_h": 2, "k_w": 1, "s_d": 1, "s_h": 2, "s_w": 3}
for mode in ("VALID", "SAME"):
    row("conv2d", "f:1,2,7,9 f:3,2,2,3 f:3", **PLANE, padding_mode=mode)
    row("conv2d", "f:1,7,9,2 f:3,2,2,3 f:3", **PLANE, d_h=2, padding_mode=mode, data_format="NHWC")
    row("depthwise_conv2d", "f:1,2,7,9 f:3,2,2,2 f:4", **PLANE, padding_mode=mode)
    row("sconv2d", "f:1,2,7,9 f:3,2,2,2 f:1,1,4,3 f:3", **PLANE, padding_mode=mode)
    row("deconv2d", "f:1,2,3,4 f:3,2,3,2 f:3", **PLANE, padding_mode=mode)
    row("conv3dnew", "f:1,1,6,7,8 f:3,2,1,1,2 f:2", **DEEP, padding_mode=mode)
    row("deconv3d", "f:1,1,3,4,5 f:3,2,1,2,1 f:2", **DEEP, padding_mode=mode)
    row("maxpool2d avgpool2d", "f:1,2,7,9", **PLANE, padding_mode=mode)
    row("extract_image_patches", "f:1,7,9,2", **PLANE, r_h=2 if mode == "VALID" else 1, same_mode=mode == "SAME")
row("conv2d", "f:1,2,7,9 f:3,2,2,3 f:3", **PLANE, p_h=1, p_w=2)
row("conv2d", "f:1,2,7,9 f:3,2,2,3", **PLANE, d_h=2, d_w=3)
row("depthwise_conv2d", "f:1,2,7,9 f:3,2,2,2", **PLANE, p_h=1, p_w=2)
row("depthwise_conv2d", "f:1,2,7,9 f:3,2,2,2", k_h=3, k_w=2, d_h=2, d_w=1)
row("sconv2d", "f:1,2,7,9 f:3,2,2,2", **PLANE, p_h=1, p_w=2)
row("deconv2d", "f:1,2,3,4 f:3,2,3,2", **PLANE, p_h=1, p_w=0)
row("deconv2d", "f:1,2,3,4 f:3,2,3,2", **PLANE, d_h=2, d_w=3)
row("conv3dnew", "f:1,1,6,7,8 f:3,2,1,1,2 f:2", **DEEP, p_d=1, p_h=2, p_w=0)
row("conv3dnew", "f:1,1,9,9,9 f:3,2,2,1,2", k_d=3, k_h=2, k_w=2, d_d=1, d_h=2, d_w=3)
row("deconv3d", "f:1,1,3,4,5 f:3,2,1,2,1", **DEEP, p_d=1, p_h=0, p_w=0)
row("maxpool2d avgpool2d im2col", "f:1,2,7,9", **PLANE, p_h=1, p_w=0)
row("maxpool2d", "f:1,7,9,2", **PLANE, p_h=1, p_w=0, data_format="NHWC")
row("im2col", "f:1,2,7,9", k_h=3, k_w=2, s_h=1, s_w=2, d_h=2, d_w=1)
row("maxpool3dnew avgpool3dnew", "f:1,1,7,8,9", **DEEP)
row("extract_image_patches_sizes", "f:1,7,9,2", k_sizes=(3, 2), strides=(1, 2), rates=(2, 1))
row("cumsum cumprod", "f:2,3", axis=(1,), exclusive=True)
row("cumsum cumprod", "f:2,3", axis=(1,), reverse=True)
row("batchnorm", ["f:2,3,2", "f:3", "p:3", "f:3", "-"], axis=(1,))
row("batchnorm", ["f:2,3,2", "f:3", "p:3", "-", "f:3"], axis=(1,))
row("bincount", "i9:2,3", min_length=3, max_length=5)
row("gather", "f:3,4", axis=1, indices=(2, 0, 3))
row("resize_bilinear", "f:1,3,3,1", height=5, width=2, align_corners=True)
row("resize_bilinear", "f:1,3,3,1", height=5, width=2, half_pixel_centers=True)
row("tensordot", "f:2,3,4 f:3,4,5", dimensions_x=(1, 2), dimensions_y=(0, 1))
row("tensordot", "f:2,3,4 f:5,4,3", dimensions_x=(2, 1), dimensions_y=(1, 2))
row("xw_plus_b", "f:3,2 f:3,4 f:4", transpose_x=True)
row("xw_plus_b", "f:2,3 f:4,3 f:4", transpose_w=True)
row("xw_plus_b", "f:3,2 f:4,3 f:1,4", transpose_x=True, transpose_w=True)
row("xw_plus_b", "f:3,2 f:4,3", transpose_x=True, transpose_w=True)
row("xw_plus_b", "f:2,3 f:3,4")
row("strided_slice", "f:4,5", starts=(0, 1), stops=(3, 5), steps=(2, 3), begin_mask=1)
row("strided_slice", "f:4,5", starts=(1, 1), stops=(3, 3), steps=(1, 1), end_mask=2)
row("strided_slice", "f:4,5", starts=(1, 1), stops=(2, 3), steps=(1, 1), shrink_axis_mask=1)
row("strided_slice", "f:4,5", starts=(0, 1), stops=(1, 3), steps=(1, 1), new_axis_mask=1)
