"""No op is called from Python by plans of floats, but for those listed here; whoever gives one of them a native form takes it out."""
from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import dl4py.layers  # noqa: F401  its ops are known then
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import OPS
from tests.samediff.ops.rows.op_table import ROWS

#: Why, and which: of a row at least.
CALLED = {
    "LAPACK does the work":
        "cholesky eig log_matrix_determinant logdet lstsq lu lu_order matrix_cofactors matrix_determinant matrix_inverse qr "
        "eigh solve sqrtm svd svd_factors svd_slope triangular_solve",
    "how much comes out, only a run can tell":
        "bincount dynamic_partition gather_list list_places non_max_suppression non_max_suppression_overlaps range_of "
        "repeat_positions scatter_list segment_max segment_mean segment_min tensor_array_write unique unique_with_counts write_list",
    "sorting":
        "in_top_k nth_element nth_place percentile percentile_place",
    "arrays that are given steer it":
        "compat_sparse_to_dense confusion_matrix crop_and_resize crop_back dynamic_stitch histogram histogram_fixed_width "
        "lin_space_of mirror_pad pad pad_sum partition_join put_rows roll scatter_nd switch_op tensor_array_kept "
        "tensor_array_placed unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod "
        "unsorted_segment_sqrt_n unsorted_segment_sum",
    "compiled, but with work of NumPy's between the kernels":
        "lstm_sequence matmul max_pool_with_argmax softmax_cross_entropy_loss",
    "functions of SciPy":
        "betainc igamma igammac polygamma zeta",
    "array code of NumPy so far":
        "bitcast check_numerics clip_by_global_norm compare_and_bitpack copy cross ctc_curvature ctc_loss ctc_slope cumprod_bp deconv2d_tf "
        "diag digamma dilation2d dilation2d_gather dilation2d_grad draw_bounding_boxes fused_batch_norm identity_n match_condition "
        "matrix_diag matrix_set_diag merge_op mergemaxindex normalize_moments old_assign product_of_others repeat "
        "space_to_batch_nd trace",
}
LISTED = {n for names in CALLED.values() for n in names.split()}


def rows():
    found = defaultdict(list)
    for row in ROWS:
        if not OPS[row.op_id].stateful:
            found[row.op_id].append(row)
    return found


ALL = rows()


def called_from_python(row):
    """Whether a plan for floats, with whole numbers as constants, calls Python; None where the row is not added like that."""
    sd, given, feeds = SameDiff.create(), [], {}
    for i, a in enumerate(row.arrays()):
        if isinstance(a, np.ndarray) and a.dtype.kind == "f":
            feeds[f"x{i}"] = a.astype(np.float32)
            given.append(sd.placeholder(f"x{i}", DataType.FLOAT, *a.shape))
        else:
            given.append(None if a is None else sd.constant(f"x{i}", a))
    try:
        made = sd.add_op(row.op(), given)
        text = sd.explain(feeds, *[v.name() for v in (made if isinstance(made, list) else [made])])
    except (DL4PyError, NotImplementedError):
        return None
    return "steps called from Python: 0" not in text


@pytest.mark.sampled(52)
@pytest.mark.parametrize("op_id", ALL)
def test_steps(op_id):
    found = {called_from_python(r) for r in ALL[op_id]}
    assert (True in found) == (op_id in LISTED)


def test_the_list_is_of_ops():
    assert not LISTED - set(ALL)
