"""The numbers that name custom ops in graph files: a 64-bit hash of the kernel name, shared by all its synonyms.

The synonyms are those of DL4J's kernels, also of such that have no op here: a closed list, which the hash of every name asks, so they stand
here and not with the classes of ops.
"""
from __future__ import annotations

from functools import cache, lru_cache

_MASK = 2**64 - 1
_START = 0xBB40E64DA205B064
_FACTOR = 7664345821815920749
_TABLE_START = 0x544B2FBACAAF1684

_KERNELS = {  # kernel: its other names
    "apply_sgd": "ApplyGradientDescent",
    "assign": "copy set",
    "avgpool2d": "AvgPool AvgPool2D avgpool",
    "betainc": "BetaInc betaInc",
    "biasadd": "bias_add",
    "biasadd_bp": "BiasAddGrad",
    "bitcast": "BitCast",
    "broadcastgradientargs": "BroadcastGradientArgs",
    "cast": "Cast",
    "clipbyvalue": "ClipByValue",
    "clone_list": "TensorArrayIdentityV3 tensorarrayidentityv3",
    "concat": "ParallelConcat concat_v2 concatv2",
    "Conditional": "cond",
    "create_list": "TensorArrayCreateV3 TensorArrayV3 tensorarraycreatev3 tensorarrayv3",
    "diag": "MatrixDiag",
    "diag_part": "DiagPart",
    "divide": "Div",
    "eq_scalar": "Equals",
    "equals": "equal",
    "expose": "Enter enter",
    "fake_quant_with_min_max_vars": "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_vars_per_channel": "fake_quant_with_min_max_args_per_channel",
    "fill_as": "fill_like filllike",
    "Floor": "floor",
    "gather_list": "TensorArrayGatherV3 tensorarraygatherv3",
    "gt_scalar": "Greater",
    "gte_scalar": "GreaterOrEquals greaterOrEquals",
    "identity": "linear",
    "identity_bp": "LinearGrad",
    "invert_permutation": "InvertPermutation",
    "ismax": "IsMax",
    "Log1p": "log1p",
    "lrn": "local_response_normalization",
    "lstsq": "MatrixSolveLs",
    "lt_scalar": "Less",
    "lte_scalar": "LessOrEquals lessorequals",
    "matmul": "dot gemm gemv mMul mmul",
    "matrix_band_part": "band_part",
    "matrix_set_diag": "MatrixSetDiag",
    "maxpool2d": "MaxPool MaxPool2D maxpool",
    "maxpool2d_bp": "MaxPool2D_bp MaxPool_bp",
    "mergeadd": "accumulate_n accumulaten add_n addn mergesum",
    "mergemax": "MergeMax",
    "mergemaxindex": "MergeMaxIndex",
    "multiply": "Mul",
    "neq_scalar": "NotEquals notequals",
    "pnormpool2d": "PnormPool PnormPool2D pnormpool",
    "polygamma": "PolyGamma polyGamma",
    "random_normal": "randomnormal",
    "read_list": "TensorArrayReadV3 tensorarrayreadv3",
    "realdiv": "RealDiv",
    "relu_bp": "ReluGrad",
    "reshapeas": "reshape_as",
    "Return": "return",
    "reverse": "reverse_v2",
    "reversedivide": "RDiv",
    "reversesubtract": "RSub",
    "scatter_add": "ScatterAdd",
    "scatter_div": "ScatterDiv",
    "scatter_list": "TensorArrayScatterV3 tensorarrayscatterv3",
    "scatter_max": "ScatterMax",
    "scatter_min": "ScatterMin",
    "scatter_mul": "ScatterMul",
    "scatter_sub": "ScatterSub",
    "scatter_upd": "ScatterUpdate",
    "scatter_update": "scatterupdate",
    "Scope": "scope",
    "shape_of": "shape",
    "shapes_of": "shape_n",
    "size_list": "TensorArraySizeV3 tensorarraysizev3",
    "softplus_bp": "SoftplusGrad",
    "softsign_bp": "SoftsignGrad",
    "split_list": "TensorArraySplitV3 tensorarraysplitv3",
    "squaredsubtract": "squareddifference",
    "stack": "Pack pack",
    "stack_list": "TensorArrayConcatV3 tensorarrayconcatv3",
    "stop_gradient": "StopGradient",
    "strided_slice": "stridedslice",
    "subtract": "Sub sub",
    "Switch": "if switch",
    "tanh_bp": "TanhGrad",
    "tensormmul": "tensordot",
    "testop2i2o": "TestOp2i2o",
    "unstack": "unpack",
    "upsampling2d": "upsampling",
    "upsampling2d_bp": "upsampling_bp",
    "While": "while",
    "write_list": "TensorArrayWriteV3 tensorarraywritev3",
    "zeros_as": "zeros_like zeroslike",
    "zeta": "Zeta",
}
SYNONYMS: dict[str, str] = {name: kernel for kernel, names in _KERNELS.items() for name in names.split()}


@cache
def _table() -> tuple[int, ...]:
    entries, h = [], _TABLE_START
    for _ in range(256):
        for _ in range(31):
            h ^= h >> 7
            h = (h ^ (h << 11)) & _MASK
            h ^= h >> 10
        entries.append(h)
    return tuple(entries)


def kernel_name(op_name: str) -> str:
    """Return the kernel that an op name stands for.

    Examples
    --------
    >>> kernel_name("mmul"), kernel_name("conv2d")
    ('matmul', 'conv2d')
    """
    return SYNONYMS.get(op_name, op_name)


@lru_cache(maxsize=4096)
def op_hash(op_name: str) -> int:
    """Return the op number of a custom op, a signed 64-bit number; synonyms have the number of their kernel.

    Examples
    --------
    >>> op_hash("add"), op_hash("mmul") == op_hash("matmul")
    (-5176033361941572836, True)
    """
    table, h = _table(), _START
    for byte in kernel_name(op_name).encode():
        for entry in (table[byte], table[0]):
            h = ((h * _FACTOR) & _MASK) ^ entry
    return h - 2**64 if h >> 63 else h
