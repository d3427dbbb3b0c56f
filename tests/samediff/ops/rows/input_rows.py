"""Rows of ops with their optional inputs, and with options that give their inputs another form."""
from __future__ import annotations

from tests.samediff.ops.rows.op_rows import row

# Inputs in place of attributes
row("tile", "f:2,3", [2, 1])
row("tile_sum", "f:4,3 f:2,3", [2, 1])
row("permute", "f:2,3,4", [2, 0, 1])
row("reshape", "f:2,3", [3, 2])
row("strided_slice", "f:3,4", [0, 3], [3, 0], [2, -1])
row("sequence_mask", [1, 3, 2], 4)
row("unsorted_segment_sum unsorted_segment_mean unsorted_segment_sqrt_n unsorted_segment_prod unsorted_segment_max unsorted_segment_min",
    "f:4,2", [0, 1, 0, 2], 3)
row("confusion_matrix", [0, 1, 1], [1, 1, 0], "f:3", num_classes=2)

# Factors turned, weights and masks given
row("matmul", "f:3,2 f:3,4", transpose_x=True)
row("xw_plus_b", "f:3,2 f:3,4", transpose_x=True, saved_as="matmul")
row("xw_plus_b", "f:2,3 f:4,3 f:4", transpose_w=True, saved_as="matmul")
row("tensordot", "f:3,2 f:3,4", transpose_x=True, dimensions_x=(1,), dimensions_y=(0,))
row("tensordot", "f:2,3 f:4,3", transpose_y=True, dimensions_x=(1,), dimensions_y=(0,))
row("batched_gemm", "f:3,2 f:3,2 f:3,4 f:3,4", transpose_a=True)
row("batched_gemm", "f:2,3 f:2,3 f:4,3 f:4,3", transpose_b=True)
row("layer_norm", "f:2,3,4 p:4 f:4", channels_first=False, dimensions=(1, 2))
row("dilation2d_grad", "f:2,4,4,2 f:2,2,2 f:2,3,3,2")
row("multi_head_dot_product_attention", "f:1,3,2 f:1,3,4 f:1,3,4 f:2,2,3 f:2,2,3 f:2,2,3 f:4,5", [[1, 1, 0, 1]])
row("lstmLayer", "f:3,2,2 f:2,8 f:2,8 f:8", [3, 1], "f:2,2 f:2,2 f:6",
    has_bias=True, has_lengths=True, has_h=True, has_c=True, has_peephole=True)
row("lstm_layer_call", "f:3,2,2 f:2,8 f:2,8 f:8", [3, 1], "f:2,2 f:2,2 f:6", ret_last_h=True)
row("lstmBlockCell", "f:2,2 f:2,3 f:2,3 f:5,12 f:3 f:3 f:3 f:12", peep_hole=True)
row("lstmBlock lstm_block_first", 2, "f:3,2,2 f:2,3 f:2,3 f:5,12 f:3 f:3 f:3 f:12", peep_hole=True)
row("sru", "f:2,3,4 f:9,3 f:6 f:2,3 f:2,3")
row("dl4j_lstm", "f:2,2,3 f:2,8 f:2,8 f:8 f:2,2 f:2,2", [[1, 1, 0], [1, 1, 1]])
row("dl4j_simple_rnn", "f:2,2,3 f:2,3 f:3,3 f:3 f:2,3", [[1, 1, 0], [1, 1, 1]])
