"""Names of DL4J's ops in TensorFlow and ONNX, by the name in DL4J's files; the first one is the usual name.

The tables are those of DL4J's own importers, closed and by its names, so they stand here and not with the classes of ops: an op that
DL4J does not have is in none of them.
"""
from __future__ import annotations

_TENSORFLOW = {
    "Assert": "Assert", "Pow": "Pow", "Reciprocal": "Reciprocal Inv", "Where": "Where", "abs": "Abs", "acos": "Acos", "acosh": "Acosh",
    "add": "Add AddV2", "adjust_contrast_v2": "AdjustContrast AdjustContrastv2", "adjust_hue": "AdjustHue",
    "adjust_saturation": "AdjustSaturation", "all": "All", "any": "Any", "argmax": "ArgMax", "argmin": "ArgMin", "asin": "Asin",
    "asinh": "Asinh", "assign": "Assign", "atan": "Atan", "atanh": "Atanh", "avgpool2d": "AvgPool", "avgpool3dnew": "AvgPool3D",
    "batch_to_space": "BatchToSpace", "batch_to_space_nd": "BatchToSpaceND", "batchnorm": "FusedBatchNorm", "biasadd": "BiasAdd BiasAddV1",
    "bincount": "Bincount", "bitcast": "Bitcast", "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor",
    "boolean_not": "LogicalNot", "broadcast_dynamic_shape": "BroadcastArgs", "broadcast_to": "BroadcastTo", "cast": "Cast", "ceil": "Ceil",
    "cholesky": "Cholesky", "concat": "Concat ConcatV2", "confusion_matrix": "ConfusionMatrix", "conv2d": "Conv2D", "conv3dnew": "Conv3D",
    "copy": "Copy", "cos": "Cos", "cosh": "Cosh", "countZero": "count_zero", "create": "Empty", "create_list": "TensorArrayV3",
    "crop_and_resize": "CropAndResize", "cross": "Cross", "cumprod": "Cumprod", "cumsum": "Cumsum", "deconv2d_tf": "Conv2DBackpropInput",
    "depth_to_space": "DepthToSpace", "depthwise_conv2d": "DepthwiseConv2dNative", "diag": "Diag", "diag_part": "DiagPart",
    "digamma": "Digamma", "dilation2d": "Dilation2D", "div_scalar": "DivScalar", "divide": "Div", "divide_no_nan": "DivNoNan",
    "dynamic_partition": "DynamicPartition", "dynamic_stitch": "DynamicStitch ParallelDynamicStitch", "elu": "Elu", "equals": "Equal",
    "erf": "Erf", "erfc": "Erfc", "exp": "Exp", "expand_dims": "ExpandDims", "expm1": "Expm1",
    "extract_image_patches": "ExtractImagePatches", "fill": "Fill", "floor": "Floor", "floordiv": "FloorDiv", "floormod": "FloorMod",
    "fmod": "FloorMod", "fused_batch_norm": "FusedBatchNormV2 FusedBatchNormV3", "gather": "Gather GatherV2",
    "gather_list": "TensorArrayGather TensorArrayGatherV2 TensorArrayGatherV3", "gather_nd": "GatherNd", "greater": "Greater",
    "greater_equal": "GreaterEqual", "gruCell": "GRUBlockCell", "hard_sigmoid": "HardSigmoid", "hardtanh": "HardTanh",
    "histogram_fixed_width": "HistogramFixedWidth", "hsv_to_rgb": "HSVToRGB", "identity": "Identity DeepCopy CopyHost",
    "identity_n": "IdentityN", "in_top_k": "InTopKV2", "invert_permutation": "InvertPermutation", "isfinite": "IsFinite", "isinf": "IsInf",
    "isnan": "IsNan", "l2_loss": "L2Loss", "leakyrelu": "LeakyRelu", "less": "Less", "less_equal": "LessEqual", "lgamma": "Lgamma",
    "lin_space": "LinSpace", "listdiff": "ListDiff", "log": "Log", "log1p": "Log1p", "log_matrix_determinant": "LogMatrixDeterminant",
    "log_softmax": "LogSoftmax", "logsigmoid": "LogSigmoid", "lrn": "LRN", "lstmBlock": "BlockLSTM", "lstmBlockCell": "LSTMBlockCell",
    "lu": "Lu", "matmul": "MatMul BatchMatMul BatchMatMulV2", "matrix_band_part": "MatrixBandPart",
    "matrix_determinant": "MatrixDeterminant BatchMatrixDeterminant", "matrix_diag": "MatrixDiag BatchMatrixDiag",
    "matrix_diag_part": "MatrixDiagPart", "matrix_inverse": "MatrixInverse BatchMatrixInverse",
    "matrix_set_diag": "MatrixSetDiag BatchMatrixSetDiag", "max_pool_with_argmax": "MaxPoolWithArgmax", "maximum": "Maximum",
    "maxpool2d": "MaxPool MaxPoolV2", "maxpool3dnew": "MaxPool3D", "merge": "Merge", "mergeadd": "add_n AccumulateNV2",
    "minimum": "Minimum", "mirror_pad": "MirrorPad", "mish": "Mish", "mod": "Mod", "multiply": "Mul", "neg": "Neg",
    "non_max_suppression": "NonMaxSuppression NonMaxSuppressionV2", "noop": "NoOp", "not_equals": "NotEqual", "nth_element": "NthElement",
    "onehot": "OneHot", "ones_as": "OnesLike", "pad": "Pad PadV2", "pow": "Pow", "random_crop": "RandomCrop", "random_gamma": "RandomGamma",
    "random_normal": "RandomStandardNormal", "random_poisson": "RandomPoisson RandomPoissonV2", "random_shuffle": "RandomShuffle",
    "randomuniform": "RandomUniform RandomUniformInt", "range": "Range", "rank": "Rank", "rational_tanh": "RationalTanh",
    "rdiv_scalar": "RDiv", "read_list": "TensorArrayRead TensorArrayReadV2 TensorArrayReadV3", "reduce_max": "Max", "reduce_mean": "Mean",
    "reduce_min": "Min", "reduce_prod": "Prod", "reduce_sum": "Sum", "relu": "Relu", "relu6": "Relu6", "reshape": "Reshape",
    "resize_area": "ResizeArea", "resize_bicubic": "ResizeBicubic", "resize_bilinear": "ResizeBilinear",
    "resize_nearest_neighbor": "ResizeNearestNeighbor", "reverse": "Reverse", "reverse_sequence": "ReverseSequence",
    "rgb_to_hsv": "RGBToHSV", "rint": "Rint", "roll": "Roll", "round": "Round", "rshift_bits": "RightShift", "rsqrt": "Rsqrt",
    "scatter_add": "ScatterAdd", "scatter_div": "ScatterDiv",
    "scatter_list": "TensorArrayScatter TensorArrayScatterV2 TensorArrayScatterV3", "scatter_max": "ScatterMax",
    "scatter_min": "ScatterMin", "scatter_mul": "ScatterMul", "scatter_nd": "ScatterNd", "scatter_nd_add": "ScatterNdAdd",
    "scatter_nd_sub": "ScatterNdSub", "scatter_nd_update": "ScatterNdUpdate", "scatter_sub": "ScatterSub",
    "scatter_update": "ScatterUpdate", "segment_max": "SegmentMax", "segment_mean": "SegmentMean", "segment_min": "SegmentMin",
    "segment_prod": "SegmentProd", "segment_sum": "SegmentSum", "select": "Select", "selu": "Selu", "shannonentropy": "entropy_shannon",
    "shape_of": "Shape", "shapes_of": "ShapeN", "shift_bits": "LeftShift", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin",
    "sinh": "Sinh", "size": "Size", "size_list": "TensorArraySize TensorArraySizeV2 TensorArraySizeV3", "slice": "Slice",
    "softmax": "Softmax", "softmax_cross_entropy_loss": "SoftmaxCrossEntropy",
    "softmax_cross_entropy_loss_with_logits": "SoftmaxCrossEntropyWithLogits", "softplus": "Softplus", "softsign": "Softsign",
    "solve": "MatrixSolve", "space_to_batch": "SpaceToBatch", "space_to_batch_nd": "SpaceToBatchND", "space_to_depth": "SpaceToDepth",
    "sparse_softmax_cross_entropy_loss_with_logits": "SparseSoftmaxCrossEntropyWithLogits", "split": "Split",
    "split_list": "TensorArraySplit TensorArraySplitV2 TensorArraySplitV3", "split_v": "SplitV", "sqrt": "Sqrt", "square": "Square",
    "squaredsubtract": "SquaredDifference", "squeeze": "Squeeze", "stack": "Pack Stack",
    "stack_list": "TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3", "stop_gradient": "StopGradient",
    "strided_slice": "StridedSlice", "subtract": "Sub", "svd": "Svd", "swish": "Swish", "switch": "Switch", "tan": "Tan", "tanh": "Tanh",
    "tf_atan2": "Atan2", "tile": "Tile", "toggle_bits": "Invert", "top_k": "TopKV2", "transpose": "Transpose",
    "triangular_solve": "MatrixTriangularSolve", "truncatediv": "TruncateDiv", "unique": "Unique UniqueV2",
    "unsorted_segment_max": "UnsortedSegmentMax", "unsorted_segment_min": "UnsortedSegmentMin",
    "unsorted_segment_prod": "UnsortedSegmentProd", "unsorted_segment_sum": "UnsortedSegmentSum", "unstack": "Unstack Unpack",
    "zeroslike": "ZerosLike",
}

_ONNX = {
    "abs": "Abs", "add": "Add", "all": "All", "and_scalar": "AndScalar", "any": "Any", "assign": "GivenTensorFill",
    "avgpool2d": "AveragePool", "batch_to_space": "batch_to_space", "batch_to_space_nd": "batch_to_space_nd",
    "batchnorm": "BatchNormalization", "biasadd": "BiasAdd", "ceil": "Ceil", "concat": "Concat", "conv2d": "Conv",
    "deconv2d": "ConvTranspose", "deconv2d_tf": "ConvTranspose-Absent", "depthwise_conv2d": "depth_conv", "dilation2d": "Dilation_2D",
    "div_scalar": "DivScalar", "divide": "Div", "dropout_inverted": "Dropout",
    "dynamic_partition": "Dynamic partitioning currently not supported by ONNX", "eps_scalar": "ScalarEps", "equals": "Equal", "exp": "Exp",
    "fill": "ConstantFill", "flatten_2d": "Flatten", "floor": "Floor", "floordiv": "FloorDiv", "floormod": "FloorMod", "gather": "Gather",
    "gather_nd": "GatherND", "greater_equal": "GreaterEqual", "gruCell": "GRU", "hard_sigmoid": "HardSigmoid", "hardtanh": "HardTanh",
    "hasinf": "HasInf", "hasnan": "hasNaNs", "identity": "Constant", "isfinite": "IsFinite", "isinf": "IsInf", "isnan": "IsNan",
    "leakyrelu": "LeakyRelu", "less_equal": "LessEqual", "lessthan_scalar": "Less", "log": "Log", "logsigmoid": "LogSigmoid", "lrn": "LRN",
    "lstmCell": "LSTM", "matmul": "MatMul", "max_pool_with_argmax": "MaxPoolWithArgmax", "maximum": "Max", "maxpool2d": "MaxPool",
    "mergeadd": "mergeadd", "minimum": "Min", "mod": "Mod", "multiply": "Mul", "neg": "Neg", "noop": "NoOp", "not": "Not",
    "not_equals": "LogicalNot", "not_scalar": "NotScalar", "or": "Or", "or_scalar": "OrScalar", "pow": "Pow", "range": "Range",
    "rdiv_scalar": "RDiv", "reduce_logsumexp": "ReduceLogSumExp", "reduce_max": "ReduceMax", "reduce_mean": "ReduceMean",
    "reduce_min": "ReduceMin", "reduce_norm2": "Norm", "reduce_prod": "ReduceProd", "reduce_sum": "Sum", "relu": "Relu", "repeat": "Repeat",
    "reshape": "Reshape", "rint": "Rint", "rsqrt": "Rsqrt", "selu": "Selu", "sigmoid": "Sigmoid", "softmax": "Softmax",
    "softplus": "Softplus", "softsign": "Softsign", "space_to_batch": "space_to_batch", "space_to_batch_nd": "space_to_batch_nd",
    "sqrt": "Sqrt", "square": "Square", "subtract": "Sub", "tanh": "Tanh", "tensordot": "Gemm", "tile": "Tile", "transpose": "Transpose",
    "xor": "Xor", "xor_scalar": "Xor_scalar",
}


def tensorflow_names(op_name: str) -> list[str]:
    """Names of TensorFlow's ops that DL4J reads as this one; an empty list where there are none.

    Examples
    --------
    >>> tensorflow_names("stack")
    ['Pack', 'Stack']
    """
    return _TENSORFLOW.get(op_name, "").split()


def onnx_names(op_name: str) -> list[str]:
    """The same for ONNX."""
    return _ONNX.get(op_name, "").split()
