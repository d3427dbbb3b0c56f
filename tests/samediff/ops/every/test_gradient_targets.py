"""Ops that have to be differentiable: all of them say so, and their rows are checked to second order."""
from __future__ import annotations

import pytest

from dl4py.samediff.ir.op import OPS
from tests.samediff.ops.rows.op_table import ROWS

#: Ids of the ops that the catalogue of DL4J's namespaces wants differentiable.
TARGETS = """
ClipByValue Pow Reciprocal Where abs absolute_difference_loss acos acosh add add_scalar adjust_contrast_v2 adjust_hue adjust_saturation
amax amean amin asin asinh assign asum atan atanh avgpool2d avgpool3dnew batch_to_space_call batched_gemm batchnorm biasadd car cas cast
cholesky clip_by_values clipbyavgnorm clipbynorm col2im compat_sparse_to_dense concat conv1d conv2d conv3dnew cos cosh
cosine_distance_loss cosinedistance cosinesimilarity create_view crelu crop_and_resize cross ctc_loss cube cumprod cumsum deconv2d
deconv3d depth_to_space depthwise_conv2d diag diag_part dilation2d div_scalar divide divide_no_nan dot dot_product_attention
dot_product_attention_v2 dropout dropout_inverted dynamic_partition dynamic_stitch eig elu embedding_lookup entropy erf erfc euclidean exp
expand_dims expm1 extract_image_patches extract_image_patches_sizes flatten floormod fmod_scalar gather gather_nd gelu gru gruCell
hard_sigmoid hardtanh hinge_loss hsv_to_rgb huber_loss identity im2col image_resize jaccarddistance l2_loss layer_norm leakyrelu lgamma
log log1p log_loss log_poisson_loss log_softmax log_x logdet logentropy logsigmoid lrn lstmBlockCell lstm_block_first lstm_layer_call
lstsq lu manhattan matmul matrix_band_part matrix_determinant matrix_inverse matrix_set_diag max_pool_with_argmax max_scalar maximum
maxpool2d maxpool3dnew mean_pairwssqerr_loss mean_sqerr_loss merge_op mergeadd mergeavg mergemax meshgrid minimum mod mod_scalar moments
mul_scalar multi_head_dot_product_attention multiply neg normalize_moments pad permute pow precise_gelu prelu qr random_crop rational_tanh
rdiv_scalar rectified_tanh reduce_logsumexp reduce_max reduce_mean reduce_min reduce_norm1 reduce_norm2 reduce_normmax reduce_prod
reduce_sqnorm reduce_sum relu relu6 relu_layer repeat reshape resize_bicubic resize_bilinear reverse reverse_sequence reversedivide
reversesubtract rgb_to_hsv rgb_to_yiq rgb_to_yuv rsqrt rsub_scalar scalar_min scatter_add scatter_div scatter_max scatter_min scatter_mul
scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update sconv2d segment_max segment_mean segment_min segment_prod
segment_sum selu shannonentropy sigm_cross_entropy_loss sigmoid sigmoid_bp sin sinh slice softmax softmax_bp softmax_cross_entropy_loss
softplus softsign softsignderivative solve space_to_batch_call space_to_depth sparse_softmax_cross_entropy_loss_with_logits split split_v
sqrt square squaredsubtract squaredsubtract_scalar squeeze sru sruCell stack standardize std strided_slice sub_scalar subtract svd swish
switch_op tan tanh tensordot tf_atan2 tile top_k trace transpose triangular_solve triu unsorted_segment_max unsorted_segment_mean
unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum unstack upsampling2d upsampling3d var
weighted_cross_entropy_with_logits where_np xw_plus_b yiq_to_rgb yuv_to_rgb
"""


@pytest.mark.parametrize("name", TARGETS.split())
def test_gradient_to_second_order(name):
    assert OPS[name].gradient == "full"
    rows = [r for r in ROWS if r.op_id == name]
    assert {r.derivatives for r in rows} == {2}
    assert any(a is not None and a.dtype.kind == "f" for r in rows for a in r.arrays())
    assert all(r.gradient or r.through or r.fixed for r in rows if OPS[name].stateful)         # otherwise nothing would be checked


def test_rows_without_second_derivatives_are_the_known_ones():
    assert {r.op_id for r in ROWS if r.derivatives < 2 and OPS[r.op_id].gradient == "full"} == {
        "batch_norm_training_grad", "lstm_sequence_grad", "rnn_sequence_grad", "gru_sequence_grad",  # saved arrays: functions of the inputs
        "hide_steps",                                                                   # drowned by large numbers; attention is checked
        "ctc_slope",                                                                    # its derivative is the second one of ctc_loss
    }


@pytest.mark.parametrize("name", ["hardtanhderivative", "leakyreluderivative", "where_coordinates"])
def test_constant_piece_by_piece(name):
    assert OPS[name].gradient == "zero"
