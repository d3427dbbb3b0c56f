"""Rows of ops whose options differ from their defaults: their gradients are checked to second order, as those of all rows."""
from __future__ import annotations

from op_rows import row

from dl4py.samediff.base.choices import LossReduce
from dl4py.samediff.ir.op import OPS

# Crops that reach over the image, with a value of their own there
OVER = [[0.1, 0.2, 0.9, 1.5], [-0.4, -0.2, 0.5, 0.6]]
for method in (0, 1):
    options = {"extrapolation_value": 9.0, "method": method}
    row("crop_and_resize", "f:2,4,4,1", OVER, [1, 0], [3, 3], fixed=(1,), **options)
    row("crop_back", "f:2,3,3,1 f:2,4,4,1", OVER, [1, 0], [3, 3], fixed=(2,), of=OPS["crop_and_resize"](**options))

# Windows: padding, steps and gaps along one axis each, and every order of axes
for options in ({"p_h": 1, "s_w": 2}, {"d_w": 2, "s_h": 2}, {"padding_mode": "SAME", "d_h": 2, "s_w": 2}, {"padding_mode": "SAME"}):
    size = {"k_h": 2, "k_w": 3}
    row("conv2d", "f:1,2,4,5 f:2,3,2,3 f:3", **size, **options)
    row("depthwise_conv2d", "f:1,2,4,5 f:2,3,2,2 f:4", **size, **options)
    row("sconv2d", "f:1,2,4,5 f:2,3,2,2 f:1,1,4,3", **size, **options)
    row("deconv2d", "f:1,2,3,3 f:2,3,3,2 f:3", **size, **options)
    row("maxpool2d avgpool2d", "f:1,2,4,5", **size, **options)
    row("pnormpool2d", "f:1,2,4,5", extra=3.0, **size, **options)
    row("avgpool2d", "f:1,2,4,5", divisor="INCLUDE_PADDING", **size, **options)
    row("im2col", "f:1,2,4,5", **size, **options)
for form, weights in (("OIYX", "f:3,2,2,2"), ("OYXI", "f:3,2,2,2")):
    row("conv2d", "f:1,4,5,2", weights, k_h=2, k_w=2, data_format="NHWC", weights_format=form)
row("deconv2d", "f:1,3,3,2 f:2,3,3,2", k_h=2, k_w=3, data_format="NHWC", s_h=2)
row("depthwise_conv2d", "f:1,4,5,2 f:2,3,2,2", k_h=2, k_w=3, data_format="NHWC", p_w=1)
row("sconv2d", "f:1,4,5,2 f:2,3,2,2 f:1,1,4,3", k_h=2, k_w=3, data_format="NHWC", s_w=2)
row("maxpool2d avgpool2d", "f:1,4,5,2", k_h=2, k_w=3, data_format="NHWC", p_h=1)
for options in ({"d": 2, "padding_mode": "CAUSAL"}, {"s": 2, "p": 1}, {"s": 2, "padding_mode": "SAME"}, {"s": 2, "padding_mode": "CAUSAL"}):
    row("conv1d", "f:2,2,5 f:3,2,3", k=3, **options)
row("conv1d", "f:2,5,2 f:3,2,3 f:3", k=3, data_format="NWC")
for options in ({"p_d": 1, "s_h": 2, "d_w": 2}, {"padding_mode": "SAME", "s_d": 2}):
    row("conv3dnew", "f:1,1,3,3,3 f:2,2,2,1,2 f:2", k_d=2, k_h=2, k_w=2, **options)
    row("deconv3d", "f:1,1,2,2,2 f:2,2,2,2,1 f:2", k_d=2, k_h=2, k_w=2, **options)
    row("maxpool3dnew avgpool3dnew", "f:1,1,3,3,3", k_d=2, k_h=2, k_w=2, **options)

# Numbers that scale, shift and cut
row("elu", "f:2,3", alpha=0.7)
row("leakyrelu", "f:2,3", alpha=0.3)
row("relu relu6", "f:2,3", cutoff=0.4)
row("affine_activation scaled_tanh", "f:2,3", alpha=0.6, beta=1.7)
row("pad", "f:2,3", [[1, 0], [2, 1]], constant=9.0)
row("lrn", "f:1,2,2,5", depth=1, bias=2.0, alpha=0.3, beta=0.75)
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
