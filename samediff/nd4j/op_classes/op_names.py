"""DL4J's classes of ops and the ids of their ops here, ``class:id``; a class that DL4J has several times stands for the first of
reductions, custom ops and others.
"""
from __future__ import annotations

from ...codecs.legacy_table import op_identity

_CUSTOM = """
    ATan2:tf_atan2 AbsoluteDifferenceLoss:absolute_difference_loss AbsoluteDifferenceLossBp:absolute_difference_loss_grad AddBpOp:add_bp
    AddOp:add AdjustContrast:adjust_contrast_v2 AdjustHue:adjust_hue AdjustSaturation:adjust_saturation ArgAmax:argamax ArgAmin:argamin
    ArgMax:argmax ArgMin:argmin Assert:Assert Assign:assign AvgPooling2D:avgpool2d AvgPooling3D:avgpool3dnew BatchMmul:batched_gemm
    BatchNorm:batchnorm BatchNormDerivative:batchnorm_bp BatchToSpace:batch_to_space BatchToSpaceND:batch_to_space_nd BetaInc:betainc
    BiasAdd:biasadd BiasAddGrad:biasadd_bp BinCount:bincount BitCast:bitcast BitsHammingDistance:bits_hamming_distance
    BitwiseAnd:bitwise_and BitwiseOr:bitwise_or BitwiseXor:bitwise_xor BroadcastDynamicShape:broadcast_dynamic_shape
    BroadcastTo:broadcast_to CReLU:crelu CReluBp:crelu_bp Cast:cast CheckNumerics:check_numerics Cholesky:cholesky
    ClipByAvgNorm:clipbyavgnorm ClipByNorm:clipbynorm ClipByNormBp:clipbynorm_bp ClipByValue:ClipByValue Col2Im:col2im
    CompareAndBitpack:compare_and_bitpack CompatSparseToDense:compat_sparse_to_dense Concat:concat ConcatBp:concat_bp
    ConfusionMatrix:confusion_matrix Conv1D:conv1d Conv1DDerivative:conv1d_bp Conv2D:conv2d Conv2DDerivative:conv2d_bp Conv3D:conv3dnew
    Conv3DDerivative:conv3dnew_bp CosineDistanceLoss:cosine_distance_loss CosineDistanceLossBp:cosine_distance_loss_grad Create:create
    CreateView:create_view CropAndResize:crop_and_resize Cross:cross CtcLoss:ctc_loss CtcLossBp:ctc_loss_grad CubeBp:cube_bp CumProd:cumprod
    CumProdBp:cumprod_bp CumSum:cumsum CumSumBp:cumsum_bp CyclicRShiftBits:cyclic_rshift_bits CyclicShiftBits:cyclic_shift_bits
    DeConv2D:deconv2d DeConv2DDerivative:deconv2d_bp DeConv2DTF:deconv2d_tf DeConv3D:deconv3d DeConv3DDerivative:deconv3d_bp
    DepthToSpace:depth_to_space DepthwiseConv2D:depthwise_conv2d DepthwiseConv2DBp:depthwise_conv2d_bp Diag:diag DiagPart:diag_part
    Digamma:digamma Dilation2D:dilation2d DistributionUniform:randomuniform DivBpOp:divide_bp DivOp:divide DivideNoNan:divide_no_nan
    DotBp:reduce_dot_bp DotProductAttention:dot_product_attention DotProductAttentionBp:dot_product_attention_bp
    DrawBoundingBoxes:draw_bounding_boxes DynamicPartition:dynamic_partition DynamicPartitionBp:dynamic_partition_bp
    DynamicStitch:dynamic_stitch ELU:elu Eig:eig EluBp:elu_bp EmbeddingLookup:embedding_lookup EqualTo:equals ExpandDims:expand_dims
    ExtractImagePatches:extract_image_patches Eye:eye FakeQuantWithMinMaxArgs:fake_quant_with_min_max_vars
    FakeQuantWithMinMaxVars:fake_quant_with_min_max_vars FakeQuantWithMinMaxVarsPerChannel:fake_quant_with_min_max_vars_per_channel
    Fill:fill Flatten2D:flatten_2d Flatten:flatten FloorDivBpOp:floordiv_bp FloorDivOp:floordiv FloorModBpOp:floormod_bp FloorModOp:floormod
    FusedBatchNorm:fused_batch_norm GRU:gru GRUBp:gru_bp GRUCell:gruCell Gather:gather GatherNd:gather_nd GreaterThan:greater
    GreaterThanOrEqual:greater_equal HardSigmoidBp:hardsigmoid_bp HardTanhBp:hardtanh_bp HingeLoss:hinge_loss HingeLossBp:hinge_loss_grad
    Histogram:histogram HistogramFixedWidth:histogram_fixed_width HsvToRgb:hsv_to_rgb HuberLoss:huber_loss HuberLossBp:huber_loss_grad
    Identity:identity IdentityN:identity_n Igamma:igamma Igammac:igammac Im2col:im2col Im2colBp:im2col_bp ImageResize:image_resize
    InTopK:in_top_k InvertPermutation:invert_permutation IsMax:ismax IsNonDecreasing:is_non_decreasing IsNumericTensor:is_numeric_tensor
    IsStrictlyIncreasing:is_strictly_increasing L2Loss:l2_loss LSTMBlock:lstmBlock LSTMBlockCell:lstmBlockCell LSTMCell:lstmCell
    LSTMLayer:lstmLayer LSTMLayerBp:lstmLayer_bp LayerNorm:layer_norm LayerNormBp:layer_norm_bp LeakyReLUBp:lrelu_bp LessThan:less
    LessThanOrEqual:less_equal Lgamma:lgamma LinearSolve:solve Linspace:lin_space ListDiff:listdiff LocalResponseNormalization:lrn
    LocalResponseNormalizationDerivative:lrn_bp LogLoss:log_loss LogLossBp:log_loss_grad LogMatrixDeterminant:log_matrix_determinant
    LogPoissonLoss:log_poisson_loss LogPoissonLossBp:log_poisson_loss_grad LogSoftMax:log_softmax LogSoftMaxDerivative:log_softmax_bp
    LogSumExp:reduce_logsumexp Logdet:logdet LogicalAnd:and LogicalNot:boolean_not LogicalOr:or LogicalXor:xor Lstsq:lstsq Lu:lu
    MatrixBandPart:matrix_band_part MatrixDeterminant:matrix_determinant MatrixDiag:matrix_diag MatrixDiagPart:matrix_diag_part
    MatrixInverse:matrix_inverse MatrixSetDiag:matrix_set_diag MaxBp:reduce_max_bp MaxPoolWithArgmax:max_pool_with_argmax
    MaxPooling2D:maxpool2d MaxPooling3D:maxpool3dnew MaximumBp:maximum_bp MeanBp:reduce_mean_bp
    MeanPairwiseSquaredErrorLoss:mean_pairwssqerr_loss MeanPairwiseSquaredErrorLossBp:mean_pairwssqerr_loss_grad
    MeanSquaredErrorLoss:mean_sqerr_loss MeanSquaredErrorLossBp:mean_sqerr_loss_grad MergeAddBp:mergeadd_bp MergeAddOp:mergeadd
    MergeAvg:mergeavg MergeAvgBp:mergeavg_bp MergeMax:mergemax MergeMaxBp:mergemax_bp MergeMaxIndex:mergemaxindex MergeSum:mergeadd
    MeshGrid:meshgrid MinBp:reduce_min_bp MinMaxDataType:min_max_datatype MirrorPad:mirror_pad Mmul:matmul MmulBp:matmul_bp ModBpOp:mod_bp
    ModOp:mod Moments:moments MulBpOp:multiply_bp MulOp:multiply MultiHeadDotProductAttention:multi_head_dot_product_attention
    MultiHeadDotProductAttentionBp:multi_head_dot_product_attention_bp NoOp:noop NonMaxSuppression:non_max_suppression
    NonMaxSuppressionV3:non_max_suppression NonMaxSuppressionWithOverlaps:non_max_suppression_overlaps Norm1Bp:reduce_norm1_bp
    Norm2Bp:reduce_norm2_bp NormMaxBp:reduce_norm_max_bp NormalizeMoments:normalize_moments NotEqualTo:not_equals NthElement:nth_element
    OneHot:onehot OnesAs:ones_as OnesLike:ones_as PRelu:prelu PReluBp:prelu_bp Pad:pad ParallelStack:stack Permute:permute
    Polygamma:polygamma Pow:Pow PowBp:Pow_bp ProdBp:reduce_prod_bp Qr:qr RDivBpOp:reversedivide_bp RDivOp:reversedivide
    RShiftBits:rshift_bits RSubBpOp:reversesubtract_bp RSubOp:reversesubtract RandomBernoulli:random_bernoulli RandomCrop:random_crop
    RandomExponential:random_exponential RandomGamma:random_gamma RandomMultinomial:random_multinomial RandomNormal:random_normal
    RandomPoisson:random_poisson RandomShuffle:random_shuffle RandomStandardNormal:random_normal Range:range Rank:rank
    RationalTanhBp:rationaltanh_bp RealDivOp:divide RectifiedLinearDerivative:relu_bp RectifiedTanhBp:rectifiedtanh_bp
    Relu6Derivative:relu6_bp ReluLayer:relu_layer Repeat:repeat Reshape:reshape ResizeArea:resize_area ResizeBicubic:resize_bicubic
    ResizeBilinear:resize_bilinear ResizeNearestNeighbor:resize_nearest_neighbor Reverse:reverse ReverseBp:reverse_bp
    ReverseSequence:reverse_sequence ReverseV2:reverse RgbToGrayscale:rgb_to_grs RgbToHsv:rgb_to_hsv RgbToYiq:rgb_to_yiq RgbToYuv:rgb_to_yuv
    Roll:roll SConv2D:sconv2d SConv2DDerivative:sconv2d_bp SRU:sru SRUCell:sruCell ScatterAdd:scatter_add ScatterDiv:scatter_div
    ScatterMax:scatter_max ScatterMin:scatter_min ScatterMul:scatter_mul ScatterNd:scatter_nd ScatterNdAdd:scatter_nd_add
    ScatterNdSub:scatter_nd_sub ScatterNdUpdate:scatter_nd_update ScatterSub:scatter_sub ScatterUpdate:scatter_update SegmentMax:segment_max
    SegmentMaxBp:segment_max_bp SegmentMean:segment_mean SegmentMeanBp:segment_mean_bp SegmentMin:segment_min SegmentMinBp:segment_min_bp
    SegmentProd:segment_prod SegmentProdBp:segment_prod_bp SegmentSum:segment_sum SegmentSumBp:segment_sum_bp Select:select SeluBp:selu_bp
    SequenceMask:sequence_mask SetShape:set_shape Shape:shape_of ShapeN:shapes_of ShiftBits:shift_bits
    SigmoidCrossEntropyLoss:sigm_cross_entropy_loss SigmoidCrossEntropyLossBp:sigm_cross_entropy_loss_grad SigmoidDerivative:sigmoid_bp
    Size:size SizeAt:size_at Slice:slice SliceBp:slice_bp SoftMax:softmax SoftPlusBp:softplus_bp SoftSignBp:softsign_bp SoftmaxBp:softmax_bp
    SoftmaxCrossEntropyLoss:softmax_cross_entropy_loss SoftmaxCrossEntropyLossBp:softmax_cross_entropy_loss_grad
    SoftmaxCrossEntropyWithLogitsLoss:softmax_cross_entropy_loss_with_logits
    SoftmaxCrossEntropyWithLogitsLossBp:softmax_cross_entropy_loss_with_logits_grad SpaceToBatch:space_to_batch
    SpaceToBatchND:space_to_batch_nd SpaceToDepth:space_to_depth
    SparseSoftmaxCrossEntropyLossWithLogits:sparse_softmax_cross_entropy_loss_with_logits
    SparseSoftmaxCrossEntropyLossWithLogitsBp:sparse_softmax_cross_entropy_loss_with_logits_grad Split:split SplitV:split_v SqrtM:sqrtm
    SquaredDifferenceBpOp:squaredsubtract_bp SquaredDifferenceOp:squaredsubtract SquaredNormBp:reduce_sqnorm_bp Squeeze:squeeze Stack:stack
    StandardDeviationBp:reduce_stdev_bp Standardize:standardize StandardizeBp:standardize_bp StopGradient:stop_gradient
    StridedSlice:strided_slice StridedSliceBp:strided_slice_bp SubBpOp:subtract_bp SubOp:subtract SufficientStatistics:sufficient_statistics
    SumBp:reduce_sum_bp Svd:svd TanhDerivative:tanh_bp TensorArray:create_list TensorArrayConcat:stack_list TensorArrayGather:gather_list
    TensorArrayRead:read_list TensorArrayScatter:scatter_list TensorArraySize:size_list TensorArraySplit:split_list
    TensorArrayWrite:write_list TensorMmul:tensordot TensorMmulBp:tensormmul_bp ThresholdRelu:thresholdedrelu
    ThresholdReluBp:thresholdedrelu_bp Tile:tile TileBp:tile_bp ToggleBits:toggle_bits TopK:top_k Trace:trace Transpose:transpose Tri:tri
    TriangularSolve:triangular_solve Triu:triu TriuBp:triu_bp TruncateDivOp:truncatediv Unique:unique UniqueWithCounts:unique_with_counts
    UnsortedSegmentMax:unsorted_segment_max UnsortedSegmentMaxBp:unsorted_segment_max_bp UnsortedSegmentMean:unsorted_segment_mean
    UnsortedSegmentMeanBp:unsorted_segment_mean_bp UnsortedSegmentMin:unsorted_segment_min UnsortedSegmentMinBp:unsorted_segment_min_bp
    UnsortedSegmentProd:unsorted_segment_prod UnsortedSegmentProdBp:unsorted_segment_prod_bp UnsortedSegmentSqrtN:unsorted_segment_sqrt_n
    UnsortedSegmentSqrtNBp:unsorted_segment_sqrt_n_bp UnsortedSegmentSum:unsorted_segment_sum UnsortedSegmentSumBp:unsorted_segment_sum_bp
    Unstack:unstack Upsampling2d:upsampling2d Upsampling2dDerivative:upsampling2d_bp Upsampling3d:upsampling3d
    Upsampling3dBp:upsampling3d_bp VarianceBp:reduce_variance_bp WeightedCrossEntropyLoss:weighted_cross_entropy_with_logits Where:Where
    WhereNumpy:where_np XwPlusB:xw_plus_b YiqToRgb:yiq_to_rgb YuvToRgb:yuv_to_rgb ZeroFraction:zero_fraction ZerosLike:zeros_as Zeta:zeta
"""

#: Classes of DL4J's older kind: executing one gives one array, not a list.
_LEGACY = """
    AMax:amax AMean:amean AMin:amin ASum:asum All:all Any:any Axpy:axpy BernoulliDistribution:distribution_bernoulli
    BinomialDistribution:distribution_binomial BinomialDistributionEx:distribution_binomial_ex BooleanNot:bool_not
    BroadcastAMax:broadcast_amax BroadcastAMin:broadcast_amin BroadcastAddOp:broadcastadd BroadcastCopyOp:broadcastcopy
    BroadcastDivOp:broadcastdiv BroadcastEqualTo:broadcast_equalto BroadcastGreaterThan:broadcast_greaterthan
    BroadcastGreaterThanOrEqual:broadcast_greaterthanorequal BroadcastLessThan:broadcast_lessthan
    BroadcastLessThanOrEqual:broadcast_lessthanorequal BroadcastMax:broadcast_max BroadcastMin:broadcast_min BroadcastMulOp:broadcastmul
    BroadcastNotEqual:broadcast_notequal BroadcastRDivOp:broadcastrdiv BroadcastRSubOp:broadcastrsub BroadcastSubOp:broadcastsub
    Choice:choice CompareAndReplace:car CosineDistance:cosinedistance CosineSimilarity:cosinesimilarity CountNonZero:countNonZero
    CountZero:countZero Dot:dot Entropy:entropy EqualsWithEps:equals_with_eps EuclideanDistance:euclidean FirstIndex:first_index
    GaussianDistribution:distribution_gaussian HammingDistance:hammingdistance JaccardDistance:jaccarddistance LastIndex:last_index
    LogEntropy:logentropy LogNormalDistribution:distribution_lognormal ManhattanDistance:manhattan MatchCondition:match_condition
    MatchConditionTransform:match_condition_transform Max:reduce_max Mean:reduce_mean Min:reduce_min Norm1:reduce_norm1 Norm2:reduce_norm2
    NormMax:reduce_normmax Not:not Prod:reduce_prod ScalarEquals:equals_scalar ScalarGreaterThan:greaterthan_scalar
    ScalarGreaterThanOrEqual:greaterthanorequal_scalar ScalarLessThan:lessthan_scalar ScalarLessThanOrEqual:lessthanorequal_scalar
    ScalarNotEquals:notequals_scalar ShannonEntropy:shannonentropy SquaredNorm:reduce_sqnorm StandardDeviation:std Sum:reduce_sum
    TruncatedNormalDistribution:distribution_truncated UniformDistribution:distribution_uniform Variance:var
"""

#: Of these, those that write into their first array where they are given no other.
_IN_PLACE = """
    ACos:acos ACosh:acosh ASin:asin ASinh:asinh ATan:atan ATanh:atanh Abs:abs AlphaDropOut:alpha_dropout And:and
    BinaryMinimalRelativeError:BinaryMinimalRelativeError BinaryRelativeError:BinaryRelativeError Ceil:ceil CompareAndSet:cas CopyOp:copy
    Cos:cos Cosh:cosh Cube:cube CubeDerivative:cubederivative DropOut:dropout DropOutInverted:dropout_inverted Eps:eps Erf:erf Erfc:erfc
    Exp:exp Expm1:expm1 FModOp:fmod Floor:floor GELU:gelu GELUDerivative:_geluderivative HardSigmoid:hard_sigmoid
    HardSigmoidDerivative:hard_sigmoidderivative HardTanh:hardtanh HardTanhDerivative:hardtanhderivative IsFinite:isfinite IsInf:isinf
    IsNaN:isnan LeakyReLU:leakyrelu LeakyReLUDerivative:leakyreluderivative Log1p:log1p Log:log LogSigmoid:logsigmoid LogX:log_x Mish:mish
    MishDerivative:_mishderivative Negative:neg OneMinus:oneminus Or:or PowDerivative:_powderivative PowPairwise:Pow
    PreciseGELU:precise_gelu PreciseGELUDerivative:_precise_geluderivative ProbablisticMerge:probablistic_merge RSqrt:rsqrt
    RationalTanh:rational_tanh RationalTanhDerivative:rational_tanh_derivative Reciprocal:Reciprocal RectifiedLinear:relu
    RectifiedTanh:rectified_tanh RectifiedTanhDerivative:rectified_tanh_derivative RelativeError:RelativeError Relu6:relu6
    RemainderOp:remainder ReplaceNans:replace_nans Rint:rint Round:round SELU:selu SELUDerivative:seluderivative ScalarAdd:add_scalar
    ScalarAnd:and_scalar ScalarDivision:div_scalar ScalarEps:eps_scalar ScalarFMod:fmod_scalar ScalarMax:max_scalar ScalarMin:scalar_min
    ScalarMultiplication:mul_scalar ScalarNot:not_scalar ScalarOr:or_scalar ScalarRemainder:remainder_scalar
    ScalarReverseDivision:rdiv_scalar ScalarReverseSubtraction:rsub_scalar ScalarSet:set_scalar ScalarSetValue:set_scalar
    ScalarSubtraction:sub_scalar ScalarXor:xor_scalar Set:copy SetRange:setrange Sigmoid:sigmoid Sign:sign Sin:sin Sinh:sinh
    SoftPlus:softplus SoftSign:softsign SoftSignDerivative:softsignderivative Sqrt:sqrt Square:square Stabilize:stabilize Step:step
    Swish:swish SwishDerivative:_swishderivative Tan:tan TanDerivative:tanderivative Tanh:tanh TimesOneMinus:timesoneminus Xor:xor
"""


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


#: Name of the class to id of the op.
OP_NAMES = _pairs(_CUSTOM) | _pairs(_LEGACY) | _pairs(_IN_PLACE)
#: Those that give one array.
LEGACY = frozenset(_pairs(_LEGACY) | _pairs(_IN_PLACE))
#: Ids of the ops of those that write into their first array.
IN_PLACE = frozenset(_pairs(_IN_PLACE).values()) | {"pow", "_tanhderivative", "_sigmoidderivative"}
#: Other classes that do so where they are given nothing but arrays.
IN_PLACE_ALONE = frozenset(("Assign", "LogSoftMax", "Reverse", "SoftMax"))

#: Ops that further classes of these names in DL4J stand for, where the arguments fit those.
FURTHER = {"IsNaN": ("hasnan",), "IsInf": ("hasinf",), "Max": ("maximum",), "Min": ("minimum",), "AMax": ("amax_pairwise",),
           "AMin": ("amin_pairwise",), "Pow": ("pow",), "Linspace": ("linspace_random",), "Transpose": ("permute",),
           "Where": ("where_coordinates",), "TanhDerivative": ("_tanhderivative",), "SigmoidDerivative": ("_sigmoidderivative",)}

#: What constructors of DL4J give where nothing is said.
DEFAULTS = {name: {"bias_corrected": True} for name in ("StandardDeviation", "Variance")}

_DISTANCE = ("eager:x, y, all, *dimensions", "eager:x, y, out, all, *dimensions", "eager:x, y, out, keep_dims, all, *dimensions")
_BLOCKS = ("x, blocks, edges, _", "x, blocks, edges..")
_LEVELS = ("x, min#, max#, narrow, num_bits", "x, min#, max#, num_bits, narrow", "x, min#, max#, num_bits", "x, min#, max#, narrow")
_COMPARED = ("condition.value, condition.eps, condition.mode, [dimensions]", "condition.value, condition.eps, *dimensions",
             "condition.value, *dimensions")
_COMPARED_LAST = ("condition.value, condition.eps, condition.mode", "condition.value, condition.eps", "condition.value")
_MATCHED = (
    *(f"{first}, {rest}" for first in ("graph:x", "graph:x, keep_dims", "x, [dimensions]", "x, [dimensions], keep_dims",
                                       "eager:x, _, out, keep_dims, [dimensions]") for rest in _COMPARED_LAST),
    *(f"{first}, {rest}" for first in ("x", "x, keep_dims", "eager:x, out", "eager:x, _, out") for rest in _COMPARED))
_DEVIATIONS = (
    *(f"{first}, float{rest}" for first in (
        "graph:x", "graph:x, keep_dims", "x, [dimensions]", "x, [dimensions], keep_dims", "graph:x, axes", "graph:x, axes, keep_dims",
        "eager:x, _, out, keep_dims, [dimensions]") for rest in (", float, bias_corrected", ", float", "")),
    *(f"{first}, float{rest}, *dimensions" for first in ("x", "x, keep_dims", "eager:x, _, out")
      for rest in (", float, bias_corrected", ", float", "")))
_CUMULATIVE = tuple(f"{first}, _, {rest}" for first in ("xs, xs", "eager:xs, xs, out")
                    for rest in ("exclusive, reverse, *axis", "axis@, exclusive, reverse"))
_ARGUMENTS = tuple(f"{first}, {rest}, [dimensions]" for first in ("x", "eager:x, out")
                   for rest in ("keep_dims, _", "keep_dims, _, _", "_, keep_dims, _, _"))
_NORMALIZED = "x, scale, offset, data_format:NHWC|NCHW, is_training:bool"

#: Constructors whose arguments stand in another way than those of the op's methods: ``out`` is an output, ``out=`` one where it has the
#: shape of the first argument, ``_`` says nothing, nor does ``float``, a number with a fraction, ``0`` and ``-0.5`` are always these
#: numbers, ``all`` asks for all distances, ``a/b`` gives both, ``a..`` takes all that is left, ``a#`` is an array or a number, ``a@`` an
#: array whose number counts, ``[a]`` a list, ``condition.a`` a field of the condition, ``a:A|B`` a number that stands for one of these,
#: ``a:bool`` one that is 0 or not, ``a:type`` the number of a data type, ``a+b`` an object with these fields, ``xs`` one of the inputs of
#: an op that takes any number; ``eager:`` those for arrays alone, ``graph:`` those for variables; ``; a=0`` behind them what they mean.
FORMS = {
    **dict.fromkeys(("CosineDistance", "CosineSimilarity", "EuclideanDistance", "HammingDistance", "JaccardDistance",
                                    "ManhattanDistance"), _DISTANCE),
    **dict.fromkeys(("BatchToSpace", "BatchToSpaceND", "SpaceToBatch", "SpaceToBatchND"), _BLOCKS),
    "AlphaDropOut": ("x, p, a, alpha_prime, b", "x, out, p, a, alpha_prime, b"),
    **dict.fromkeys(("ArgMax", "ArgMin"), _ARGUMENTS),
    "Assign": ("eager:y, x",),
    "Axpy": ("x, y, out, p, _",),
    "BroadcastTo": ("x, shape, out",),
    "Dot": ("eager:x, y, all, *dimensions", "eager:x, y, out, _, keep_dims, *dimensions"),
    "BitCast": ("x, data_type:type", "eager:x, data_type:type, out"),
    "CompareAndSet": ("update, condition.value, value, condition.eps", "update, _, value, condition.eps, condition",
                      "eager:update, out, condition.value, value, condition.eps"),
    "CompareAndBitpack": ("x, threshold#, out",),
    "ConfusionMatrix": ("labels, pred, weights, num_classes, data_type",),
    "CropAndResize": ("image, crop_boxes, box_indices, crop_out_size, method, extrapolation_value",
                      "image, crop_boxes, box_indices, crop_out_size, method, extrapolation_value, out"),
    "EqualsWithEps": ("eager:x, y, all, *dimensions", "eager:x, y, all, eps, *dimensions", "eager:x, y, out, keep_dims, *dimensions",
                      "eager:x, y, out, keep_dims, all, *dimensions", "eager:x, y, out, keep_dims, all, eps, *dimensions"),
    "CumProdBp": tuple(f.replace("xs, xs", "x, upstream") for f in _CUMULATIVE),
    "CumSumBp": _CUMULATIVE,
    **dict.fromkeys(("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"), _LEVELS),
    "ExtractImagePatches": ("x, k_h/k_w, s_h/s_w, r_h/r_w, same_mode",),
    "Fill": ("shape, out, value", "eager:shape, value@, out"),
    **dict.fromkeys(("FirstIndex", "LastIndex"), ("x, condition, condition.eps, *dimensions",)),
    "FusedBatchNorm": (_NORMALIZED, f"eager:{_NORMALIZED}, out, out, out"),
    "ImageResize": ("graph:x, size, -0.5, preserve_aspect_ratio, antialias; method=ResizeBicubic",),
    "LayerNorm": ("eager:x, gain, out=, channels_first, *dimensions",),
    "MatchCondition": (*_MATCHED, "x, condition.eps, condition, *dimensions"),
    "MatchConditionTransform": ("x, condition.eps, condition", "eager:x, out, condition.eps, condition"),
    "PRelu": ("x, out, alpha, *shared_axes",),
    "RandomExponential": ("eager:shape_variable, out, lambda_",),
    "RandomStandardNormal": ("shape..",),
    "RectifiedLinearDerivative": ("x, upstream, out, 0",),
    **dict.fromkeys(("ScalarAdd", "ScalarEquals", "ScalarMultiplication", "ScalarSubtraction"), ("eager:x; scalar=0",)),
    "Split": ("eager:x, num_split@, split_dim",),
    "TensorMmul": ("x, y, dimensions_x/dimensions_y", "x, y, out, dimensions_x/dimensions_y",
                   "x, y, dimensions_x/dimensions_y, transpose_x, transpose_y, transpose_z",
                   "x, y, dimensions_x/dimensions_y, transpose_x+transpose_y+transpose_z"),
    "TensorMmulBp": ("xs, xs, xs, dimensions_x/dimensions_y", "eager:xs, xs, xs, out, out, dimensions_x/dimensions_y"),
    **dict.fromkeys(("StandardDeviation", "Variance"), _DEVIATIONS),
    "Upsampling3d": ("eager:x, ncdhw, scale_h, scale_w, scale_d",),
}


def _without(text: str, advice: str) -> dict[str, str]:
    return dict.fromkeys(text.split(), advice)


#: DL4J's classes that there are none of here, and what to do instead.
ABSENT = {
    **_without("AdaBeliefUpdater AdaDeltaUpdater AdaGradUpdater AdaMaxUpdater AdamUpdater AmsGradUpdater ApplyGradientDescent NadamUpdater "
               "NesterovsUpdater RmsPropUpdater SgdUpdater", "dl4py.AdamUpdater and its kin change gradients; networks train by updaters"),
    **_without("Enter Exit LoopCond Merge NextIteration Switch While", "sd.if_cond and sd.while_loop build branches and loops"),
    **_without("DecodeBitmap DecodeThreshold EncodeBitmap EncodeThreshold", "gradients are not compressed here"),
    **_without("CbowRound SkipGramRound", "there is no text processing: gensim trains word vectors"),
    **_without("BarnesEdgeForces BarnesHutGains BarnesHutSymmetrize KnnMinDistance SpTreeCell", "scikit-learn has t-SNE and neighbours"),
    **_without("FreeGridOp InvertedPredicateMetaOp PostulateMetaOp PredicateMetaOp ReduceMetaOp", "plans join neighbouring ops themselves"),
    **_without("PrintAffinity PrintVariable", "print the array"),
    **_without("RestoreV2 SaveV2", "SameDiff.save and SameDiff.load keep graphs, Nd4j.write and Nd4j.read arrays"),
    **_without("Pooling2D", "MaxPooling2D and AvgPooling2D"),
    **_without("Pooling2DDerivative Pooling3DDerivative", "DynamicCustomOp('maxpool2d_bp') and its kin, or the gradient of the graph"),
    "Angle": "0 for every real number",
    "BroadcastGradientArgs": "gradients are summed over stretched axes by themselves; DL4J has no kernel for it either",
    "Choose": "BooleanIndexing.chooseFrom", "CompatStringSplit": "split texts with Python", "DeConv3DTF": "DeConv3D",
    "ExternalErrorsFunction": "sd.external_errors", "GradientBackwardsMarker": "sd.calculate_gradients gives gradients",
    "HashCode": "hash(array.tobytes())", "Invoke": "sd.invoke calls a function of a graph", "MaxOut": "Nd4j.max along an axis",
    "ParallelConcat": "Concat", "ReductionShape": "the shape of a reduction is known: variable.get_shape()",
    "TensorArrayRemove": "arrays are freed when nobody reads them any more",
}

_BASES = """
    ArithmeticBackpropOp:- BroadcastBoolOp:Op BroadcastOp:Op DynamicTransformOp:- IndexAccumulation:Op Op:- RandomOp:Op
    Reduce3Op:ReduceFloatOp ReduceBoolOp:ReduceOp ReduceFloatOp:ReduceOp ReduceLongOp:ReduceOp ReduceOp:Op ReduceSameOp:ReduceOp
    ReductionBp:- ScalarBoolOp:Op ScalarOp:Op TransformAnyOp:TransformOp TransformBoolOp:TransformOp TransformFloatOp:TransformOp
    TransformOp:Op TransformSameOp:TransformOp TransformStrictOp:TransformOp
"""

#: Bases of DL4J's classes, for classes of users that name an op, and their own bases, where they have one.
BASES = {f"Base{name}": "" if of == "-" else f"Base{of}" for name, of in _pairs(_BASES).items()}
_OF_KINDS = {"INDEX_REDUCE": "BaseIndexAccumulation", "SUMMARYSTATS": "BaseReduceOp", "PAIRWISE": "BaseTransformSameOp",
             "PAIRWISE_BOOL": "BaseTransformBoolOp"}


def base_of(name: str) -> str:
    """The base that a class has in DL4J; empty for custom ops."""
    if name in BASES:
        return BASES[name]
    kind = op_identity(OP_NAMES[name])[0].name
    base = _OF_KINDS.get(kind, f"Base{kind.title().replace('_', '')}Op")
    return base if name in LEGACY and base in BASES else ""
