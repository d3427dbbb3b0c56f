"""Rows of the ops that no namespace offers but DL4J's files may hold."""
from __future__ import annotations

from dl4py.samediff import DataType
from tests.samediff.ops.rows.op_rows import row

# Elementwise, passing on, checks
row("tanh_bp", "f:2,3 f:2,3")
row("relu_bp", "f:2,3 f:2,3")
row("truncatediv", "f:2,3 f:3")
row("identity_n", "f:2,3 f:4 i9:2")
row("shapes_of", "f:2,3 f:4 f:")
row("shapes_of", "f:2,3", data_type=DataType.INT)
row("noop")
row("noop", "f:2")
row("Assert", [[True, True]], "f:2,3")

# Order, counting
row("unique", "f:5")
row("unique", "f:2,3", index_type=DataType.INT)
row("first_places", "i3:7")
row("percentile percentile_place", "f:2,3,4", q=30.0)
row("percentile percentile_place", "f:2,3,4", q=55.0, interpolation="lower", keep_dims=True, axes=(0, 2))
row("percentile", "f:2,5", q=40.0, interpolation="higher", axes=(-1,))
row("nth_element nth_place", "f:2,5", [1])
row("nth_element nth_place", "f:2,5", [1], reverse=True)
row("in_top_k", "f:3,4 i4:3", k=2)
row("histogram", "f:2,5", num_bins=4)
row("histogram_fixed_width", "f:3,5", [-1.0, 1.0], num_bins=3)
row("histogram_fixed_width", "f:3,5", [-1.0, 1.0], [3])
row("bincount", "i6:2,3")
row("bincount", "i6:2,3 f:2,3", min_length=4, max_length=4)
row("bincount", "i6:5 f:5", [2], [4])
row("counted_at", "f:4 i6:2,3")
row("argamax argamin", "f:2,3", dimensions=(1,), keep_dims=True)
row("argamax argamin", "f:2,3")
row("sufficient_statistics", "f:2,3", [1])
row("sufficient_statistics", "f:2,3", [0, 1], "f:", shift=2.0)

# Shapes and places
row("roll", "f:2,3", shift=4)
row("roll", "f:2,3", shift=-1, axes=(1,))
row("roll", "f:2,3", [1, 2], [0, -1])
row("scatter_nd", [[0], [2], [0]], "f:3,2", [3, 2])
row("scatter_nd", [[0, 1], [2, 0]], "f:2", [3, 2])
row("scatter_nd", [[[0, 1]], [[2, 0]]], "f:2,1", [3, 2])
row("broadcast_to", "f:3,1", [2, 3, 4])
row("broadcast_dynamic_shape", [3, 1], [2, 1, 4])
row("flatten_2d", "f:2,3,4", axis=2)
row("flatten_2d", "f:2,3,4", axis=-3)
row("bitcast", "f:2,3", data_type=DataType.SHORT)
row("bitcast", "i9:2,2", data_type=DataType.SHORT)
row("bitcast", "i9:3,2", data_type=DataType.DOUBLE)
row("mirror_pad", "f:2,3", [[1, 0], [2, 1]])
row("mirror_pad", "f:2,3", [[1, 0], [2, 1]], symmetric=True)
row("matrix_diag", "f:2,3")
row("log_matrix_determinant", "f:2,3,3")
row("log_matrix_determinant", "f:3,3", num=2)

# Images
row("deconv2d_tf", [2, 3, 3, 2], "f:2,2,2,3 f:2,2,2,3", k_h=2, k_w=2, data_format="NHWC")
row("deconv2d_tf", [2, 2, 3, 3], "f:2,2,2,3 f:2,3,2,2", k_h=2, k_w=2, s_h=2, s_w=2, padding_mode="SAME")
row("pointwise_conv2d", "f:2,2,3,2 f:1,1,2,3 f:3")
row("pointwise_conv2d", "f:2,2,3,2 f:1,1,2,3", data_format="NHWC")
row("space_to_batch_nd", "f:2,3,4,2", [2, 2], [[1, 0], [0, 0]])
row("space_to_batch_nd", "f:2,3", [2], [[1, 2]])
row("batch_to_space_nd", "f:4,2,2,1", [2, 2], [[1, 0], [0, 1]])
row("batch_to_space_nd", "f:4,3", [2], [[1, 0]])
row("resize_nearest_neighbor", "f:2,3,2,2", height=4, width=3)
row("resize_nearest_neighbor", "f:2,3,2,2", height=4, width=3, align_corners=True)
row("resize_nearest_neighbor", "f:3,2,2", [2, 3], half_pixel_centers=True)
row("resize_area", "f:2,3,4,2", height=2, width=3)
row("resize_area", "f:2,4,4,1", [3, 3], align_corners=True)
row("fused_batch_norm", "f:2,3,1,2 p:2 f:2")
row("fused_batch_norm", "f:2,2,3,1 p:2 f:2 f:2 p:2", data_format="NCHW", is_training=False)

# Losses, norms, cells
row("softmax_cross_entropy_loss_with_logits", "f:2,3 u:2,3")
row("softmax_cross_entropy_loss_with_logits", "f:2,3,2 u:2,3,2", classes_dim=1)
row("clip_by_global_norm", "f:2,3 f:4", clip_norm=1.5)
row("clip_by_global_norm", "f:2,3 f:4", clip_norm=50.0)
row("lstmCell", "f:2,3 f:2,2 f:2,2 f:3,8 f:2,8 f:6 f:2,2 f:8")
row("lstmCell", "f:2,3 f:2,2 f:2,3 f:3,12 f:2,12 f:9 f:3,2 f:12", peephole=True, projection=True, forget_bias=1.0)

# Random
row("random_normal", [2, 3], mean=1.0, stddev=0.5)
row("random_normal", [2, 3], data_type=DataType.DOUBLE)
row("random_bernoulli", [2, 3], p=0.3)
row("randomuniform", [2, 3], min=-1.0, max=2.0)
row("randomuniform", [2, 3], min=-1.0, max=20.0, data_type=DataType.INT)
row("randomuniform", [2, 3], "p:", [9.0])
row("random_gamma", [2, 3], "p:2 p:3,1")
row("random_gamma", [2], "p:2")
row("random_poisson", [2], "p:3")
row("random_multinomial", "f:2,3", [4], dimension=0)
row("random_multinomial", "f:3,2", [4], data_type=DataType.INT)
row("random_shuffle", "f:4,2")

# Lists
row("create_list")
row("create_list", data_type=DataType.DOUBLE)
row("write_list", "b:", [1], "f:3 f:2,3")
row("read_list", "b:", [1], "f:2,3")
row("list_places", [-1], "f:2,3")
row("list_places", [1, 0], "f:2,3")
row("gather_list", "b:", [-1], "f:2,3")
row("gather_list", "b:", [1, 0], "f:2,3")
row("scatter_list", "b:", [0, 2], "f:2,3 f:2,3")
row("split_list", "b: f:4,3", [2, 2], "f:1,2,3")
row("list_split", "f:4,3", [2, 2])
row("stack_list", "b: f:2,3,2")
row("size_list", "b: f:2,3")

# Special functions: derivatives by the last input alone
for _id, _inputs in {"polygamma": ([[1.0, 2.0, 3.0]], "p:2,3"), "zeta": ([[1.8, 2.6, 3.1], [4.0, 2.2, 1.5]], "p:3"),
                     "igamma": ("p:2,3", "p:3"), "igammac": ("p:2,3", "p:3"), "betainc": ("p:2,3", "p:3", "u:2,3")}.items():
    row(_id, *_inputs, through=lambda sd, op, variables: sd.add_op(op, variables), fixed=tuple(range(len(_inputs) - 1)))

# Quantization, bits
LEVELS = "the gradient is that of a clip"
row("fake_quant_with_min_max_vars", "f:2,3", [-0.7], [0.8], num_bits=3, derivatives=0, why=LEVELS)
row("fake_quant_with_min_max_vars", "f:2,3", -0.7, 0.8, num_bits=4, narrow=True, derivatives=0, why=LEVELS)
row("fake_quant_with_min_max_vars_per_channel", "f:2,3", [-0.7, -0.4, -0.9], [0.8, 0.5, 1.0], num_bits=3, derivatives=0, why=LEVELS)
row("fake_quant_share", "f:2,3 f:2,3", [-0.7], [0.8], num_bits=3, part=1)
row("compare_and_bitpack", "f:2,16", 0.25)

# Boxes and colours
row("draw_bounding_boxes", "u:2,5,6,3",
    [[[0.1, 0.2, 0.8, 0.7], [0.0, 0.1, 0.5, 0.9]], [[0.3, 0.3, 0.9, 1.0], [0.2, 0.0, 0.6, 0.4]]], "u:3,3")
row("non_max_suppression_overlaps", [[1.0, 0.6, 0.1], [0.6, 1.0, 0.2], [0.1, 0.2, 1.0]], [0.5, 0.9, 0.3], max_out_size=2,
    overlap_threshold=0.65)
row("rgb_to_grs", "u:2,2,3")

row("unique_with_counts", "f:5")
row("unique_with_counts", "f:2,3", index_type=DataType.INT)
row("check_numerics", "f:2,3")
row("sqrtm", "d:3,3")
