"""Rows of ops whose options differ from their defaults: their gradients are checked to second order, as those of all rows."""
from __future__ import annotations

from dl4py.samediff.base.enums import ImageResizeMethod, LossReduce
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.ops.conv.patches import Patches
from dl4py.samediff.ops.conv.pooling import Pool
from dl4py.samediff.ops.conv.window import Window
from tests.samediff.ops.rows.op_rows import row, sub

GRAPHS = "graphs, which are equal only when they are the same"

# Crops that reach over the image, with a value of their own there
OVER = [[0.1, 0.2, 0.9, 1.5], [-0.4, -0.2, 0.5, 0.6]]
for method in (0, 1):
    options = {"extrapolation_value": 9.0, "method": method}
    row("crop_and_resize", "f:2,4,4,1", OVER, [1, 0], [3, 3], fixed=(1,), **options)
    row("crop_back", "f:2,3,3,1 f:2,4,4,1", OVER, [1, 0], [3, 3], fixed=(2,), of=OPS["crop_and_resize"](**options))

# Windows: padding, steps and gaps along one axis each, and every order of axes
for options in ({"p_h": 1, "s_w": 2}, {"d_w": 2, "s_h": 2}, {"padding_mode": "SAME", "d_h": 2, "s_w": 2}, {"padding_mode": "SAME"}):
    size = {"k_h": 2, "k_w": 3}
    row("conv2d", "f:2,2,4,5 f:2,3,2,3 f:3", **size, **options)
    row("depthwise_conv2d", "f:2,2,4,5 f:2,3,2,2 f:4", **size, **options)
    row("sconv2d", "f:2,2,4,5 f:2,3,2,2 f:1,1,4,3", **size, **options)
    row("deconv2d", "f:2,2,3,3 f:2,3,3,2 f:3", **size, **options)
    row("maxpool2d avgpool2d", "f:3,2,4,5", **size, **options)
    row("pnormpool2d", "f:3,2,4,5", extra=3.0, **size, **options)
    row("avgpool2d", "f:3,2,4,5", divisor="INCLUDE_PADDING", **size, **options)
    row("im2col", "f:3,2,4,5", **size, **options)
for form, weights in (("OIYX", "f:3,2,2,2"), ("OYXI", "f:3,2,2,2")):
    row("conv2d", "f:2,4,5,2", weights, k_h=2, k_w=2, data_format="NHWC", weights_format=form)
row("deconv2d", "f:2,3,3,2 f:2,3,3,2", k_h=2, k_w=3, data_format="NHWC", s_h=2)
row("depthwise_conv2d", "f:2,4,5,2 f:2,3,2,2", k_h=2, k_w=3, data_format="NHWC", p_w=1)
row("sconv2d", "f:2,4,5,2 f:2,3,2,2 f:1,1,4,3", k_h=2, k_w=3, data_format="NHWC", s_w=2)
row("maxpool2d avgpool2d", "f:2,4,5,2", k_h=2, k_w=3, data_format="NHWC", p_h=1)
for options in ({"d": 2, "padding_mode": "CAUSAL"}, {"s": 2, "p": 1}, {"s": 2, "padding_mode": "SAME"}, {"s": 2, "padding_mode": "CAUSAL"}):
    row("conv1d", "f:2,2,5 f:3,2,3", k=3, **options)
row("conv1d", "f:2,5,2 f:3,2,3 f:3", k=3, data_format="NWC")
for options in ({"p_d": 1, "s_h": 2, "d_w": 2}, {"padding_mode": "SAME", "s_d": 2}):
    row("conv3dnew", "f:2,1,3,3,3 f:2,2,2,1,2 f:2", k_d=2, k_h=2, k_w=2, **options)
    row("deconv3d", "f:2,1,2,2,2 f:2,2,2,2,1 f:2", k_d=2, k_h=2, k_w=2, **options)
    row("maxpool3dnew avgpool3dnew", "f:2,1,3,3,3", k_d=2, k_h=2, k_w=2, **options)

# Columns that say themselves how large the kernel is
UNKNOWN = Patches(Window((-1, -1), (1, 1), (0, 0), (1, 1)), "nhwyxc", True)
row("unfold", "f:3,3,4,2 f:3,2,2,2,3,2", patches=UNKNOWN)
row("fold", "f:3,2,2,2,3,2 f:3,3,4,2", patches=UNKNOWN)

# Numbers that scale, shift and cut
row("clipbynorm clipbyavgnorm", "f:2,3", clip_value=0.1, dimensions=(0,))
row("elu", "f:2,3", alpha=0.7)
row("leakyrelu", "f:2,3", alpha=0.3)
row("relu relu6", "f:2,3", cutoff=0.4)
row("affine_activation scaled_tanh", "f:2,3", alpha=0.6, beta=1.7)
row("pad", "f:2,3", [[1, 0], [2, 1]], constant=9.0)
row("lrn", "f:2,2,2,5", depth=1, bias=2.0, alpha=0.3, beta=0.75)
row("lstsq", "f:4,2 f:4,3", l2_reguralizer=0.5)
row("huber_loss", "f:2,3 p:2,1 f:2,3", delta=0.3)
row("sigm_cross_entropy_loss", "f:2,3 p:2,1 u:2,3", label_smoothing=0.2)
row("softmax_cross_entropy_loss", "f:2,3 p:2 u:2,3", label_smoothing=0.2)
for axis in (0, 1):
    row("softmax log_softmax", "f:3,4", dimension=axis)
for reverse in (False, True):
    row("cumsum cumprod", "f:3,4", exclusive=not reverse, reverse=reverse, axis=(0,))
    row("cumsum cumprod", "f:3,4", exclusive=True, reverse=reverse, axis=(1,))

# What a loss sums and divides by
for how in LossReduce:
    row("absolute_difference_loss mean_sqerr_loss huber_loss", "f:2,3 p:2,1 f:2,3", loss_reduce=how)
    row("log_loss", "u:2,3 p:2,1 u:2,3", epsilon=1e-4, loss_reduce=how)
    row("sigm_cross_entropy_loss", "f:2,3 p:2,1 u:2,3", loss_reduce=how)
    row("cosine_distance_loss", "f:2,3 p:2,1 f:2,3", dimension=1, loss_reduce=how)
    row("softmax_cross_entropy_loss", "f:2,3 p:2 u:2,3", loss_reduce=how)

# Shares of windows that reach over the edge
for divisor in ("kernel", "inside"):
    for last, shape, made in ((False, "f:2,2,4,5", "f:2,2,5,3"), (True, "f:2,4,5,2", "f:2,5,3,2")):
        pool = Pool(Window((2, 3), (1, 2), (1, 1), (1, 1)), last, divisor)
        row("window_sum", shape, pool=pool)
        row("window_spread", f"{made} {shape}", pool=pool)

# Vectors and batches in products and systems
for shapes in ("f:3 f:3", "f:3 f:3,4", "f:2,3 f:3", "f:3 f:2,3,4", "f:2,3,4 f:4", "f:2,2,3 f:3,4", "f:2,1,2,3 f:3,3,4"):
    row("matmul", shapes)
row("lstsq", "f:2,4,2 f:2,4,3")
row("solve", "d:3,3 f:3,2")

# Everything that an LSTM may be told
row("lstm_sequence", "f:4,3,2 f:2,8 f:2,8 f:8 f:3,2 f:3,2 f:3,2", [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
    hold=True, reverse=True, clip=0.6, forget_bias=0.7, blocks=(2, 1, 3, 0), fixed=(7,),
    through=lambda sd, op, given: sd.add_op(op, given)[:2])

# Sizes of one, numbers at limits
row("dot_product_attention", "f:2,1,3 f:2,1,4 f:2,2,4", scaled=True)
row("non_max_suppression", [[0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 1.0, 1.5], [0.5, 0.5, 0.0, 0.0], [2.0, 2.0, 3.0, 3.0]], [0.5, 0.75, 0.25, 0.5],
    max_out_size=4, score_threshold=0.5, iou_threshold=0.25)
row("image_resize", "f:2,9,3,1", [2, 9], method=ImageResizeMethod.ResizeBilinear, preserve_aspect_ratio=True)
row("image_resize", "f:2,3,9,1", [9, 1], method=ImageResizeMethod.ResizeNearest, preserve_aspect_ratio=True)
row("split", "f:1,4", num_split=1)
row("strided_slice", "f:3,4", starts=(0, 1, 0), stops=(3, 2, 1), steps=(1, 1, 1), new_axis_mask=1, shrink_axis_mask=2)

# Three axes, of which the last is not the second
row("cumsum cumprod", "f:2,3,4", axis=(2,))
row("cumsum cumprod", "f:2,3,4", axis=(-1,), exclusive=True, reverse=True)
row("nth_element", "f:2,3,4", 1)
row("nth_element", "f:2,3,4", 0, reverse=True)
row("softmax_cross_entropy_loss_with_logits", "f:2,3,4 p:2,3,4")
row("sparse_softmax_cross_entropy_loss_with_logits", [[0, 1, 3], [2, 0, 1]], "f:2,3,4")
row("softmax_cross_entropy_loss", "f:2,3,4 p:2,3 u:2,3,4")
row("top_k", "f:2,3,4", k=2)

# Loops and branches with floats from outside
ON, NEXT, OTHER = sub(lambda x, w: x.sum() < 20.0, lambda x, w: x * x + w * w + 1.0, lambda x, w: w * 3.0 - x, floats=2)
row("while", "p:3 p:3", condition=ON, body=NEXT, check=True, saved_as=GRAPHS)
row("while_grad", "p:3 p:3 p:3", condition=ON, body=NEXT, saved_as=GRAPHS)
row("if", [False], "f:3 f:3", yes=NEXT, no=OTHER, check=True, saved_as=GRAPHS)
(FURTHER,) = sub(lambda c, x, w: [c * x, c + x * w], floats=3)
for backwards in (False, True):
    row("scan", "p:3 p:4,3 p:3", body=FURTHER, carries=1, sequences=1, reverse=backwards, check=True, saved_as=GRAPHS)
