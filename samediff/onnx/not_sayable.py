"""Ops that are not written as ONNX, and why: refused by name, before anything is written."""
from __future__ import annotations


def _of(why: str, ids: str) -> dict[str, str]:
    return dict.fromkeys(ids.split(), why)


REFUSED: dict[str, str] = {
    **_of("draws random numbers, which are this library's own",
          "distribution_uniform distribution_gaussian distribution_lognormal distribution_truncated distribution_bernoulli "
          "distribution_binomial distribution_binomial_ex random_exponential random_normal random_bernoulli randomuniform random_gamma "
          "random_poisson random_multinomial random_shuffle random_crop random_crop_again random_crop_back choice probablistic_merge "
          "random_nodes kept drawn"),
    **_of("ONNX has no decompositions of matrices and solves no systems",
          "matrix_inverse matrix_cofactors lu lu_order logdet log_matrix_determinant cholesky solve triangular_solve lstsq qr svd "
          "svd_factors svd_slope eig eigh sqrtm"),
    **_of("ONNX has no such function",
          "lgamma digamma polygamma zeta igamma igammac betainc bitcast bits_hamming_distance compare_and_bitpack"),
    **_of("values decide what is computed, or how large results are",
          "Assert check_numerics switch_op histogram histogram_fixed_width bincount dynamic_partition listdiff eye_of"),
    **_of("sorts or chooses by values, step by step",
          "non_max_suppression_overlaps percentile nth_element ctc_loss crop_and_resize "
          "dilation2d"),
    **_of("writes to places that values name, one after the other",
          "compat_sparse_to_dense dynamic_stitch split_list draw_bounding_boxes"),
    **_of("made of the sizes that values have", "lin_space_of broadcast_dynamic_shape"),
    **_of("made by gradients, which models for inference do not have",
          "percentile_place nth_place cumprod_bp product_of_others pad_sum put_rows partition_join sparse_cross_entropy_slope "
          "ctc_slope ctc_curvature crop_back convolution_weight_grad col2im fold window_spread window_scatter dilation2d_grad "
          "dilation2d_gather gru_sequence_grad tensor_array_placed while_grad"),
}
