"""One row or more for every registered op, which ``test_every_op`` and ``test_bad_input`` run; ``op_rows`` says how they are written."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl4py.samediff import DataType
from dl4py.samediff.base.enums import ImageResizeMethod
from dl4py.samediff.expressions.conditions import Conditions
from dl4py.samediff.families.array_code.array_call import ARRAY
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.ops.conv.convolving import Geometry
from dl4py.samediff.ops.conv.patches import Patches
from dl4py.samediff.ops.conv.pooling import Pool
from dl4py.samediff.ops.conv.window import Window
from dl4py.samediff.ops.shape.pad import PadMode
from tests.samediff.ops.rows import legacy_rows, native_rows  # noqa: F401 - add their rows
from tests.samediff.ops.rows.op_rows import ROWS, Row, row, sub

__all__ = ["ROWS", "Row"]

#: Why second derivatives are not checked.
SAVED = "what the forward pass saved counts as a function of x: checked as the second derivative of the forward op"


def first(count: int) -> Callable[..., Any]:
    """The first outputs; the others serve the gradient or count as constants."""
    return lambda sd, op, variables: sd.add_op(op, variables)[:count]


def positive_definite(sd: Any, op: Any, variables: Any) -> Any:
    """Of x x^T + 1: random directions leave the symmetric matrices."""
    x = variables[0]
    return sd.add_op(op, [x.mmul(x, False, True, False) + np.eye(x.get_shape()[-1])])



# Elementwise, one input
row("sigmoid logsigmoid softplus softsign swish mish gelu precise_gelu hard_sigmoid hardtanh selu hardtanhderivative "
    "softsignderivative elu leakyrelu "
    "leakyreluderivative relu relu6 neg exp expm1 sin cos tan atan sinh cosh asinh erf erfc rational_tanh rectified_tanh tanh abs "
    "square cube Reciprocal "
    "ceil floor rint round sign isnan isinf isfinite step affine_activation scaled_tanh", "f:2,3")
row("log log1p log2 log10 lgamma digamma sqrt rsqrt", "p:2,3")
row("asin acos atanh", "s:2,3")
row("acosh", [[1.2, 1.5, 2.0], [1.7, 2.4, 3.1]])
row("log_x", "p:2,3", base=3.0)
row("thresholdedrelu", "f:2,3", cutoff=0.5)
row("boolean_not", "b:2,3")
row("toggle_bits", "i9:2,3")
row("ClipByValue", "f:2,3", clip_value_min=-0.52, clip_value_max=0.84)
row("match_condition_transform", "f:2,3", condition=Conditions.greater_than(0.5))
row("cas", "f:2,3", condition=Conditions.greater_than(0.5), value=2.0)
row("add_scalar sub_scalar mul_scalar div_scalar rsub_scalar rdiv_scalar squaredsubtract_scalar max_scalar scalar_min "
    "floordiv_scalar mod_scalar fmod_scalar "
    "equals_scalar notequals_scalar lessthan_scalar lessthanorequal_scalar greaterthan_scalar greaterthanorequal_scalar", "f:2,3",
    scalar=0.703125)
row("pow", "p:2,3", value=2.5)
row("loss_not_zero", "f:2,3")

# Elementwise, several inputs
row("add subtract multiply divide reversesubtract reversedivide divide_no_nan squaredsubtract maximum minimum tf_atan2 floordiv "
    "floormod mod "
    "equals not_equals less less_equal greater greater_equal", "f:2,3 f:3")
row("Pow", "p:2,3 f:3")
row("and or xor", "b:2,3 b:3")
row("bitwise_and bitwise_or bitwise_xor shift_bits rshift_bits cyclic_shift_bits cyclic_rshift_bits bits_hamming_distance", "i9:2,3 i5:2,3")
row("Where where_np", "f:2,3 f:2,3 b:2,3")
row("select", "b:2,3 f:2,3 f:2,3")
row("sigmoid_bp", "f:2,3 f:2,3")
row("prelu_element", "f:2,3 p:3")
row("prelu", "f:2,3,4 p:3,1", shared_axes=(2,))
row("crelu", "f:2,3")
row("crelu_slope", "f:2,3 f:2,3 f:2,3")
row("clip_by_values", "f:2,3", [-0.52], [0.84])
row("assign", "f:2,3 f:3")
row("car", "f:2,3 f:2,3", condition=Conditions.greater_than(0.5))
row("weighted_cross_entropy_with_logits", "u:2,3 f:2,3 p:3")
row("normalized", "f:2,3 f:3 p:3", epsilon=1e-3)
row("normalize_moments", [[4.0]], "f:1,3 p:1,3")
row("array_call", "f:2,3 f:3", function="maximum", arguments=(ARRAY, ARRAY))
row("partial", "f:2,3 f:2,3 f:2,3", op=OPS["multiply"](), wrt=0)
row("reduction_slope", "f:2,3 f:2,3 f:2,3", of="reduce_sqnorm")
row("loss_terms", "f:2,3 f:2,3", loss=OPS["mean_sqerr_loss"]())
row("color_part", "u:2,3 u:2,3 u:2,3", of=OPS["rgb_to_yuv"](), index=1)
row("clip_norm_bp", "f:2,3 f:2,3 p:2,1 f:2,1 p:2,1", clip_value=0.9)

# Reductions
REDUCED = ("reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_norm1 reduce_norm2 reduce_sqnorm reduce_normmax asum"
    " amax amin amean reduce_logsumexp")
row(f"{REDUCED} zero_fraction countNonZero countZero", "f:2,3,4", dimensions=(0, -1))
row(f"{REDUCED} argmax argmin iamax iamin match_condition first_index last_index var std moments", "f:2,3", dimensions=(1,), keep_dims=True)
row("reduce_sum reduce_mean argmax", "f:2,3", [1])
row("entropy shannonentropy logentropy", "u:2,3", dimensions=(1,))
row("all any", "b:2,3", dimensions=(1,))
row("ismax", "f:2,3", dimensions=(1,))
row("at_extreme", "f:2,3", by="argmin", dimensions=(1,))
row("first_in_segment", "f:4,2", [0, 1, 0, 1], "f:2,2")
row("is_non_decreasing is_strictly_increasing", "f:4")
row("dot manhattan euclidean cosinesimilarity cosinedistance", "f:2,3 f:2,3", dimensions=(1,))
row("jaccarddistance", "p:2,3 p:2,3", dimensions=(1,))
row("hammingdistance", "f:2,3 f:2,3", dimensions=(1,))
row("product_of_others sum_spread", "f:2,3", dimensions=(1,))
row("spread", "f:2 f:2,3", dimensions=(1,))
row("spread_sum", "f:2,3 f:2 f:2,3", dimensions=(1,))
row("sum_to", "f:2,3 f:1,3")
row("fitted_gradient", "f:2,3 f:1,3", where="the gradient of x")
row("broadcast_like", "f:1,3 f:2,3")
row("clipbynorm clipbyavgnorm", "f:2,3", clip_value=0.9, dimensions=(1,))
row("standardize", "f:2,3", dimensions=(1,))
row("cumsum", "f:2,3", axis=(1,), exclusive=True, reverse=True)
row("cumprod", "f:2,3", axis=(1,))
row("cumprod_bp", "f:2,3 f:2,3", axis=(1,))

# Softmax, normalisation, attention
row("softmax log_softmax", "f:2,3", dimension=-1)
row("softmax_grad log_softmax_grad", "u:2,3 f:2,3", dimension=-1)
row("softmax_bp", "f:2,3 f:2,3", dimension=1)
row("layer_norm", "f:2,3,4 p:3 f:3", channels_first=True, dimensions=(1, 2))
row("standardized_axes", "f:2,5", axes=(1,))
row("standardize_slope", "f:2,5 f:2,5", axes=(1,))
row("align_axes", "f:3 f:2,3,4", axes=(1,))
row("batchnorm", "f:2,3 f:3 p:3 p:3 f:3", axis=(1,))
row("batch_norm_training", "f:4,3 f:3 p:3 p:3 f:3", axis=1, through=first(1))
row("batch_norm_inference", "f:4,3 f:3 p:3 p:3 f:3", axis=1)
row("batch_norm_training_grad", "f:4,3 f:4,3 f:3 p:3 p:3", axis=1, derivatives=0, why=SAVED)
row("lrn", "f:2,4,2,2", depth=3, bias=1.5, alpha=0.5)
row("neighbour_sum", "f:2,5", depth=1)
row("dot_product_attention", "f:2,3,2 f:2,3,4 f:2,3,4 b:2,4")
row("dot_product_attention_v2", "f:2,3,2 f:2,4,5 f:2,4,2", [[1, 1, 0], [1, 1, 1]], [[1, 0, 1, 1], [1, 1, 1, 0]], scale_factor=0.75,
    use_causal_mask=True, check=True)
row("dot_product_attention_v2", "f:2,3,2 f:2,4,5 f:2,4,2 - b:2,4", dropout_probability=0.3, training=True, check=True)
row("multi_head_dot_product_attention", "f:1,3,2 f:1,3,4 f:1,3,4 f:2,2,3 f:2,2,3 f:2,2,3 f:4,5")
row("hide_steps", "f:2,4,3", [[1, 1, 0, 1], [1, 0, 1, 1]], derivatives=0, why="differences drown in the large numbers that hide")
row("project_heads", "f:2,3,4 f:2,5,3")
row("project_heads_input", "f:2,2,5,4 f:2,5,3")
row("project_heads_weights", "f:2,2,5,4 f:2,3,4")
row("join_heads", "f:2,2,5,4 f:10,3")
row("head_rows", "f:10,3 f:2,2,5,4")

# Products and matrices
row("xw_plus_b relu_layer", "f:2,3 f:3,4 f:4")
row("biasadd", "f:2,3 f:3")
row("matmul", "f:2,3 f:4,3", transpose_y=True)
row("batched_gemm", "f:2,3 f:2,3 f:3,4 f:3,4")
row("tensordot", "f:2,3 f:3,4", dimensions_x=(1,), dimensions_y=(0,))
row("diag trace diag_part matrix_diag_part", "f:3,3")
row("trace_bp", "f: f:3,3")
row("matrix_set_diag", "f:2,3,3 f:2,3")
row("cross", "f:2,3 f:2,3")
row("matrix_band_part", "f:3,4", min_lower=1, max_upper=0)
row("triu", "f:3,4", diag=1)
row("tri", row=2, column=3)
row("matrix_inverse matrix_determinant matrix_cofactors lu lu_order", "d:3,3")
row("logdet cholesky", "d:3,3", through=positive_definite)
row("matrix_transposed eye_like", "f:3,3")
row("matrix_scale", "f:2,3,3 f:2")
row("solve", "d:3,3 f:3,2")
row("triangular_solve", "t:3,3 f:3,2")
row("lstsq", "f:4,2 f:4,2")
row("qr", "f:4,2")
row("qr", "f:2,2,4", full=True)
row("svd svd_factors", "d:3,3")
row("svd svd_factors", "f:4,2")
row("svd svd_factors", "f:2,2,3")
row("svd_slope", "f:4,2 f:2")
row("eig", "d:3,3")
row("eigh", "d:3,3")
row("eigh", "f:2,3,3")
row("eig", [[0.5, -1.2, 0.3], [0.9, 0.8, -0.4], [0.2, 0.7, -1.1]])       # a complex pair and a real eigenvalue

# Shapes, parts, joining
row("reshape", "f:2,3", shape=(3, -1))
row("set_shape", "f:2,3", [3, 2])
row("keep_unmasked drop_marks", "f:2,3", [[1, 0, 1], [0, 1, 1]])
row("times_mask mask_gradient", "f:2,3 f:2,3")
row("mask_like", "f:2,4 f:2,3,4")
row("reshape_like", "f:2,3 f:3,2")
row("expand_dims", "f:2,3", axis=1)
row("squeeze", "f:2,1,3", axis=(1,))
row("permute", "f:2,3,4", dimensions=(2, 0, 1))
row("transpose identity stop_gradient loss_centre shape_of size rank is_numeric_tensor zeros_as ones_as", "f:2,3")
row("size_at", "f:2,3", dimension=-1)
row("axis_size", "f:2,3", axis=1)
row("reshape_to", "f:2,6 f:3,2", sizes=(("axis", 0, 0), ("mul", ("axis", 0, 1), 2)))
row("reshape_to", "f:2,6", sizes=(4, -1))
row("array_equal", "f:2,3 f:2,3", equal_nan=True)
row("array_equal", "f:2,3 f:3", stretched=True)
row("broadcast_to_sizes", "f:2,1 f:3,2", sizes=(3, ("axis", 0, 1), ("add", ("axis", 0, 0), 1)))
row("set_scalar", "f:2,3", scalar=2.0)
row("cast", "f:2,3", data_type=DataType.DOUBLE)
row("flatten", "f:2,3 f:4", order="f")
row("index", "f:4,3", saved_as="strided_slice", axes=(("slice", 0, 4, 2), ("point", -1, False)))
row("placed", "f:2 f:4,3", of=OPS["index"](axes=(("slice", 0, 4, 2), ("point", -1, False))))
row("placed", "f: f:4,3", of=OPS["index"](axes=(("point", 1, False), ("point", -1, False))))
row("slice", "f:3,4", starts=(1, 0), sizes=(2, -1))
row("create_view", "f:3,4,2", [2, 0, 1, 1], [0, 1, 1, -1, 1], [3, 1, 10, 1], [1, 2, 1, 0, 1, 1, 1])
row("strided_slice", "f:3,4", starts=(0, 3), stops=(3, 0), steps=(2, -1))
row("slice", "f:3,4", [1, 0], [2, 3])
row("reverse", "f:2,3", dimensions=(1,))
row("reverse_sequence", "f:2,3", [2, 3], seq_dim=1)
row("concat", "f:2,3 f:2,1", dimension=1)
row("concat_part", "f:2,4 f:2,3 f:2,1", dimension=1, position=0)
row("stack", "f:2,3 f:2,3", axis=1)
row("unstack", "f:2,3", axis=1, num=3)
row("split", "f:2,4", num_split=2, split_dim=1)
row("split_v", "f:2,4", [1, 3], num_split=2, split_dim=1)
row("tile", "f:2,3", repeat=(2, 1))
row("tile_sum", "f:4,3 f:2,3", repeat=(2, 1))
row("repeat", "f:2,3", [2, 1], axis=0)
row("repeat_positions", "f:2,3", [2, 1], axis=0)
row("pad", "f:2,3", [[1, 0], [1, 1]], mode=PadMode.REFLECT)
row("pad_sum", "f:3,5", [[1, 0], [1, 1]], "f:2,3", mode=PadMode.REFLECT)
row("mergeadd mergeavg mergemax mergemaxindex", "f:2,3 f:2,3 f:2,3")
row("meshgrid", "f:2 f:3")
row("listdiff", [1, 2, 3, 4], [2, 4])
row("switch_op", "f:2,3", [True])
row("merge_op", "f:2,3 f:2,3")
row("where_coordinates", "b:2,3")
row("zero_state", "f:2,3", size=4)

# Indices
row("gather", "f:3,4", [2, 0, 2], axis=1)
row("gather_bp", "f:3,3 f:3,4", [2, 0, 2], axis=1)
row("gather_nd", "f:3,4", [[2, 0], [0, 3]])
row("gather_nd_bp", "f:2 f:3,4", [[2, 0], [0, 3]])
row("embedding_lookup", "f:4,3", [2, 0, 2])
row("onehot", [0, 2, 1], depth=3)
row("invert_permutation", [2, 0, 1])
row("scatter_add scatter_sub scatter_mul scatter_div scatter_max scatter_min scatter_update", "f:3,4", [2, 0], "f:2,4")
row("put_rows", "f:3,4", [2, 0], "f:2,4", [1, 0])
row("scatter_nd_add scatter_nd_sub scatter_nd_update", "f:3,4", [[2], [0]], "f:2,4")
row("scatter_nd_add scatter_nd_sub scatter_nd_update", "f:3,4", [[[2, 1]], [[0, 3]]], "f:2,1")
row("last_row", [2, 0, 2], "f:3,4")
row("compat_sparse_to_dense", [[0, 1], [2, 0]], [3, 2], "f:2 f:")
row("segment_sum segment_mean segment_prod segment_max segment_min", "f:4,3", [0, 0, 1, 2])
row("unsorted_segment_sum unsorted_segment_mean unsorted_segment_sqrt_n unsorted_segment_prod unsorted_segment_max unsorted_segment_min",
    "f:4,3", [1, 0, 1, 2], num_segments=3)
row("count_of_row", [1, 0, 1, 2], "f:4,3")
row("dynamic_partition", "f:4,3", [1, 0, 1, 0], num_partitions=2)
row("partition_join", "f:4,3", [1, 0, 1, 0], "f:2,3 f:2,3")
row("dynamic_stitch stitch_kept", [0, 2], [1, 3], "f:2,3 f:2,3")
row("sequence_mask", [1, 3, 2], max_len=4)
row("confusion_matrix", [0, 1, 1], [1, 1, 0], num_classes=2, data_type=DataType.FLOAT)
row("top_k", "f:2,4", k=2)
row("put_along_last", "f:2,2", [[0, 2], [3, 1]], "f:2,4")
row("take_along_last", "f:2,4", [[0, 2], [3, 1]], "f:2,2")

# Creation
row("fill", [2, 3], data_type=DataType.FLOAT, value=1.5)
row("create", [2, 3], data_type=DataType.FLOAT)
row("range", from_=0.0, to=5.0, step=2.0)
row("range_of", [0.0], [5.0], [2.0])
row("lin_space", start=0.0, stop=1.0, number=4)
row("lin_space_of", [0.0], [1.0], [4], data_type=DataType.DOUBLE)
row("eye", rows=2, cols=3)
row("eye_of", 2, 3)
row("min_max_datatype", datatype=5, min_or_max=1)
row("distribution_uniform", [2, 3], min=0.0, max=1.0)
row("distribution_gaussian distribution_lognormal distribution_truncated", [2, 3], mean=0.0, stddev=1.0)
row("distribution_bernoulli", [2, 3], p=0.5)
row("distribution_binomial", [2, 3], n_trials=3, p=0.5)
row("random_exponential", [2, 3], lambda_=2.0)
row("random_nodes", array=OPS["distribution_gaussian"](0.5, 2.0, DataType.DOUBLE, (2, 3)), of="other")
row("dropout dropout_inverted", "f:2,3", check=True, p=0.5)
row("kept", p=0.5, of="other", shape=(2, 3))
row("drawn", of="other", calls=(("random", (), (), (2, 3)),))
row("drawn", "f:3,2", of="other", calls=(("random", (), (), (5,)), ("random", (), (), (("axis", 0, 0), 2))))
row("drawn", of="other", calls=(("random", (), (("dtype", "float32"),), (11,)),))
row("drawn", of="other", calls=(("integers", (0, 5), (("dtype", "int64"),), (4,)),))
row("dropout_grad", "f:2,3", check=True, p=0.5, inverted=True, of="other")
row("random_crop", "f:4,3", [2, 3], check=True)
row("random_crop_again", "f:4,3", [2, 3], check=True, of="other")
row("random_crop_back", "f:2,3 f:4,3", [2, 3], check=True, of="other")

# Losses
row("absolute_difference_loss mean_sqerr_loss huber_loss mean_pairwssqerr_loss", "f:2,3 p:2,1 f:2,3")
row("hinge_loss", "f:2,3 p:2,1", [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
row("log_loss", "u:2,3 p:2,1 u:2,3", epsilon=1e-4)
row("log_poisson_loss", "f:2,3 p:2,1 p:2,3")
row("sigm_cross_entropy_loss", "f:2,3 p:2,1 u:2,3")
row("cosine_distance_loss", "f:2,3 p:2,1 f:2,3", dimension=1)
row("cross_entropy_loss", "p:2,3 p:2 u:2,3")
row("softmax_cross_entropy_loss", "f:2,3 p:2 u:2,3")
row("cross_entropy_terms", "f:2,3 u:2,3")
row("cross_entropy_slope", "f:2,3 u:2,3 f:2")
row("last_axis_spread", "f:2 f:2,3")
row("sparse_softmax_cross_entropy_loss_with_logits", [0, 2], "f:2,3")
row("sparse_cross_entropy_slope", [0, 2], "f:2,3 f:2")
row("l2_loss", "f:2,3")
row("loss_weights", "f:2,1 f:2,3")
row("loss_weights_sum", "f:2,3 f:2,1")
row("ctc_loss", [[1, 2]], "f:1,4,3", [2], [4])
row("ctc_loss", [[1, 1, 2], [2, 0, 0]], "f:2,6,4", [3, 1], [6, 4], blank_index=3)
row("ctc_slope", [[1, 2]], "f:1,4,3", [2], [4], "f:1", derivatives=1, why="third derivatives of the CTC loss are not built")
row("ctc_curvature", [[1, 2]], "f:1,4,3", [2], [4], "f:1 f:1,4,3")

# Images
row("space_to_depth", "f:3,2,4,2", block_size=2)
row("depth_to_space", "f:2,4,1,2", block_size=2)
row("space_to_batch", "f:2,2,4,1", [[0, 0], [0, 0]], blocks=(2, 2))
row("batch_to_space", "f:4,1,2,1", [[0, 0], [0, 0]], blocks=(2, 2))
row("space_to_batch_call", "f:2,2,4,1", blocks=(2, 2))
row("batch_to_space_call", "f:4,1,2,1", blocks=(2, 2))
row("repeat_cells", "f:2,3", factors=(2, 1))
row("sum_cells", "f:4,3", factors=(2, 1))
row("upsampling2d", "f:3,2,2,3", scale_h=2, scale_w=1)
row("upsampling3d", "f:2,1,2,2,2", ncdhw=True, scale_d=1, scale_h=2, scale_w=1)
row("rgb_to_hsv hsv_to_rgb rgb_to_yuv yuv_to_rgb rgb_to_yiq yiq_to_rgb", "u:2,2,3")
row("adjust_hue", "u:2,2,3", delta=0.2)
row("adjust_saturation", "u:2,2,3", factor=0.7)
row("adjust_contrast_v2", "u:2,2,3", factor=1.4)
row("color_channel", "u:2,2,3", index=1)
row("color_join", "u:2,2 u:2,2 u:2,2")
row("image_resize", "f:2,3,3,1", [4, 2], method=ImageResizeMethod.ResizeBicubic)
row("resize_bilinear", "f:2,3,3,1", height=4, width=2)
row("resize_bicubic", "f:2,3,3,1", [4, 2])
row("resize_back", "f:2,4,2,1 f:2,3,3,1", of=OPS["resize_bilinear"](height=4, width=2))
row("crop_and_resize", "f:2,4,4,1", [[0.1, 0.1, 0.8, 0.9]], [1], [2, 2], fixed=(1,))
row("crop_back", "f:1,2,2,1 f:2,4,4,1", [[0.1, 0.1, 0.8, 0.9]], [1], [2, 2], fixed=(2,), of=OPS["crop_and_resize"]())
row("non_max_suppression", [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]], [0.9, 0.8, 0.7], max_out_size=2)
row("extract_image_patches", "f:2,3,3,1", k_h=2, k_w=2)
row("extract_image_patches_sizes", "f:2,3,3,1", k_sizes=(2, 2), strides=(1, 1))

# Windows
WINDOW = Window((2, 2), (1, 1), (0, 0), (1, 1))
row("conv1d", "f:2,2,5 f:3,2,3 f:3", k=3)
row("conv2d", "f:2,2,4,4 f:2,2,2,3 f:3", k_h=2, k_w=2)
row("conv3dnew", "f:2,1,3,3,3 f:2,2,2,1,2 f:2", k_d=2, k_h=2, k_w=2)
row("depthwise_conv2d", "f:2,2,4,4 f:2,2,2,2 f:4", k_h=2, k_w=2)
row("sconv2d", "f:2,2,4,4 f:2,2,2,2 f:1,1,4,3 f:3", k_h=2, k_w=2)
row("deconv2d", "f:2,2,3,3 f:2,2,3,2 f:3", k_h=2, k_w=2)
row("deconv3d", "f:2,1,2,2,2 f:2,2,2,2,1 f:2", k_d=2, k_h=2, k_w=2)
row("convolution", "f:3,2,4,4 f:2,2,2,3", geometry=Geometry(WINDOW))
row("convolution_data_grad", "f:3,2,2,2 f:1,3,3,3 f:1,2,4,4", geometry=Geometry(WINDOW, weights_format="OIYX"))
row("convolution_weight_grad", "f:3,2,4,4 f:3,3,3,3 f:2,2,2,3", geometry=Geometry(WINDOW))
row("maxpool2d avgpool2d max_pool_with_argmax im2col", "f:3,2,4,4", k_h=2, k_w=2, s_h=2, s_w=2)
row("pnormpool2d", "f:3,2,4,4", k_h=2, k_w=2, extra=3.0)
row("maxpool3dnew avgpool3dnew", "f:2,1,4,4,2", k_d=2, k_h=2, k_w=2, s_d=2, s_h=2)
row("col2im", "f:3,2,2,2,2,2", k_h=2, k_w=2, s_h=2, s_w=2)
row("unfold", "f:3,3,3,2", patches=Patches(WINDOW, "nhwyxc", True, 3))
row("fold", "f:3,2,2,8 f:3,3,3,2", patches=Patches(WINDOW, "nhwyxc", True, 3))
row("window_sum", "f:3,2,4,4", pool=Pool(WINDOW))
row("window_spread", "f:3,2,3,3 f:3,2,4,4", pool=Pool(WINDOW))
row("window_scatter", "f:3,2,4,4 f:3,2,3,3", pool=Pool(WINDOW))
row("window_gather", "f:3,2,4,4 f:3,2,4,4", pool=Pool(WINDOW))
row("dilation2d", "f:2,4,4,2 f:2,2,2", is_same_mode=True)
row("dilation2d_grad", "f:2,4,4,2 f:2,2,2 f:2,4,4,2", is_same_mode=True)
row("dilation2d_gather", "f:2,4,4,2 f:2,2,2 f:2,4,4,2 f:2,2,2", is_same_mode=True)

# Recurrent
LSTM = "f:3,2,2 f:2,8 f:2,8 f:8 f:3,2 f:2,2 f:2,2"
row("lstm_sequence", LSTM, through=first(2))
GIVEN = ROWS[-1].arrays()
row("lstm_sequence_grad", *GIVEN, "-", *OPS["lstm_sequence"]().compute(np, *GIVEN), "f:3,2,2 f:3,2,2", derivatives=0, why=SAVED)
row("lstm_sequence", LSTM, [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], through=first(2), fixed=(7,))
row("rnn_sequence", "f:3,2,2 f:2,3 f:3,3 f:3 f:2,3", through=first(1))
row("rnn_sequence", "f:3,2,2 f:2,3 f:3,3 f:3 f:2,3", [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], through=first(1), fixed=(5,))
row("rnn_sequence_grad", "f:3,2,2 f:2,3 f:3,3 f:3 f:2,3 - f:3,2,3 f:3,2,3 f:3,2,3", derivatives=0, why=SAVED)
row("gru_sequence", "f:3,2,2 f:2,3 f:2,9 f:3,9 f:9", through=first(1))
row("gru_sequence_grad", "f:3,2,2 f:2,3 f:2,9 f:3,9 f:9 f:3,2,3 f:3,2,12 f:3,2,3", derivatives=0, why=SAVED)
row("dl4j_lstm", "f:2,2,3 f:2,8 f:2,8 f:8")
row("dl4j_simple_rnn", "f:2,2,3 f:2,3 f:3,3 f:3")
row("length_mask", [1, 3], "f:3,2,2")
row("lstmLayer", "f:3,2,2 f:2,8 f:2,8 f:8", has_bias=True)
row("lstm_layer_call", "f:3,2,2 f:2,8 f:2,8 f:8")
row("lstmBlockCell", "f:2,2 f:2,3 f:2,3 f:5,12 - - - f:12")
row("lstmBlock lstm_block_first", "- f:3,2,2 f:2,3 f:2,3 f:5,12 - - - f:12")
row("gru", "f:3,2,2 f:2,3 f:2,9 f:3,9 f:9")
row("gruCell", "f:2,2 f:2,3 f:5,6 f:5,3 f:6 f:3")
row("sru", "f:2,3,4 f:9,3 f:6 f:2,3")
row("sruCell", "f:2,3 f:2,3 f:3,9 f:6")

# Lists that grow
row("tensor_array_write", "f:2,3", 3, "f:3")
row("tensor_array_write", "f:3,2", [2, 0], "f:2,2")
row("tensor_array_kept", "f:4,3", 3, "f:3,3")
row("tensor_array_read", "f:3,2", 1)
row("tensor_array_read", "f:3,2", [2, 0, 2])
row("tensor_array_placed", "f:3,2", [2, 0, 2], "f:3,2")
row("tensor_array_others", "f:3,2", 1)
row("tensor_array_concat", "f:3,2,2")

# Control flow
GRAPHS = "graphs, which are equal only when they are the same"
YES, NO = sub(lambda x: x * x, lambda x: x * 3.0, floats=1)
row("if", [True], "f:3", yes=YES, no=NO, check=True, saved_as=GRAPHS)
AGAIN, BODY = sub(lambda x: x.sum() < 20.0, lambda x: x * x + 1.0, floats=1)
row("while", "p:3", condition=AGAIN, body=BODY, check=True, saved_as=GRAPHS)
row("while_grad", "p:3 p:3", saved_as=GRAPHS, condition=AGAIN, body=BODY)
(STEP,) = sub(lambda c, x: [c * x, c + x], floats=2)
row("scan", "p:3 p:4,3", body=STEP, carries=1, sequences=1, check=True, saved_as=GRAPHS)
row("call_graph", "f:3", graph=YES, check=True, saved_as=GRAPHS)

from tests.samediff.ops.rows import input_rows, option_rows  # noqa: E402, F401 - add their rows, behind all others
