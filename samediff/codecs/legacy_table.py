"""Numbers of the legacy ops: ops that graph files name by a kind (``OpType``) and a number instead of a hash.

The table is DL4J's own, closed and full of exceptions that only make sense side by side, so it stands here and not with the classes of ops.
DL4J's loader maps some numbers to other classes than its kernels do. Where a node carries the name of the class that wrote it,
that name is what its author meant:

* Java's two-array ops (fmod, copy, eps, RelativeError, …) answer TRANSFORM_SAME, TRANSFORM_BOOL or TRANSFORM_ANY as their kind, so their
  numbers fall on other ops (copy on sign, eps on isfinite). The kernels run them as PAIRWISE, which is how they are read here.
* Boolean broadcasts answer BROADCAST and fall on the arithmetic ones; loading and saving them in Java makes another op of them.
* BROADCAST 0 to 6 load as ops of two arrays that broadcast from the right: Java loses the dimensions, which are kept here.
* SCALAR_BOOL 7 (and_scalar) loads as addition, TRANSFORM_STRICT 8 (tanderivative) as the derivative of tanh.
* PAIRWISE 26 to 28 are RelativeError, BinaryRelativeError, BinaryMinimalRelativeError in Java, but other kernels run there (the third
  error without its thresholds, bitwise or, bitwise xor): the functions of these names are what is read. The kernels with
  these meanings are PAIRWISE 24 to 26; a node of number 26 without a name is the third.
"""
from __future__ import annotations

from collections.abc import Iterable

from .flatbuffers.graph import FlatNode
from .flatbuffers.schema import OpType
from .op_hash import kernel_name, op_hash

_WRITTEN = {  # kind: number:name of every op that is written so
    "TRANSFORM_FLOAT": "1:sqrt 3:rsqrt",
    "TRANSFORM_SAME": "0:abs 1:sign 3:neg 4:round 5:timesoneminus 6:cube 7:oneminus 11:Reciprocal 12:square 13:cas"
    " 15:fmod 17:ceil 18:floor",
    "TRANSFORM_BOOL": "1:isinf 2:isnan 3:isfinite 5:match_condition_transform 7:bool_not",
    "TRANSFORM_STRICT": "4:_tanhderivative 5:hardtanhderivative 6:_sigmoidderivative 7:softsignderivative"
    " 8:tanderivative 9:seluderivative 10:hard_sigmoidderivative 11:rational_tanh_derivative 12:rectified_tanh_derivative"
    " 13:_swishderivative 19:stabilize 21:cubederivative 22:cos 23:exp 24:log 25:setrange 26:sigmoid 27:sin"
    " 28:softplus 29:tanh 30:acos 31:asin 32:atan 33:hardtanh 34:softsign 36:hard_sigmoid 37:rational_tanh"
    " 38:rectified_tanh 39:sinh 40:cosh 41:tan 42:selu 43:swish 44:log1p 45:erf 46:acosh 47:asinh 48:rint"
    " 49:logsigmoid 50:erfc 51:expm1 52:atanh 53:gelu 54:_geluderivative 55:precise_gelu 56:_precise_geluderivative"
    " 58:_mishderivative",
    "TRANSFORM_ANY": "0:old_assign",
    "REDUCE_FLOAT": "0:reduce_mean 1:amean 2:reduce_norm1 3:reduce_norm2 4:reduce_normmax 7:reduce_sqnorm 8:entropy"
    " 9:logentropy 10:shannonentropy",
    "REDUCE_SAME": "0:reduce_sum 1:reduce_max 2:reduce_min 3:reduce_prod 4:asum 5:amax 6:amin",
    "REDUCE_LONG": "0:countNonZero 1:countZero 2:match_condition",
    "REDUCE_BOOL": "0:any 1:all 4:hasnan 5:hasinf",
    "INDEX_REDUCE": "4:first_index 5:last_index",
    "SCALAR": "0:add_scalar 1:sub_scalar 2:mul_scalar 3:div_scalar 4:rdiv_scalar 5:rsub_scalar 6:max_scalar"
    " 13:scalar_min 14:set_scalar 17:remainder_scalar 18:fmod_scalar 31:pow 32:_powderivative 35:leakyrelu"
    " 36:leakyreluderivative 37:replace_nans 38:log_x 39:relu 40:relu6 41:step",
    "SCALAR_BOOL": "0:equals_scalar 1:greaterthan_scalar 2:lessthan_scalar 3:eps_scalar 4:greaterthanorequal_scalar"
    " 6:notequals_scalar 7:and_scalar 8:or_scalar 9:xor_scalar 10:not_scalar 11:lessthanorequal_scalar",
    "BROADCAST": "0:broadcastadd 1:broadcastsub 2:broadcastmul 3:broadcastdiv 4:broadcastrdiv 5:broadcastrsub 6:broadcastcopy"
    " 13:broadcast_min 14:broadcast_max 15:broadcast_amin 16:broadcast_amax",
    "BROADCAST_BOOL": "0:broadcast_equalto 1:broadcast_greaterthan 2:broadcast_lessthan 4:broadcast_greaterthanorequal"
    " 6:broadcast_notequal 11:broadcast_lessthanorequal",
    "PAIRWISE": "1:copy 10:axpy 14:remainder 26:RelativeError 27:BinaryRelativeError 28:BinaryMinimalRelativeError"
    " 34:amax_pairwise 35:amin_pairwise",
    "PAIRWISE_BOOL": "3:eps 7:and 8:or 9:xor 10:not",
    "REDUCE_3": "0:manhattan 1:euclidean 2:cosinesimilarity 3:dot 4:equals_with_eps 5:cosinedistance"
    " 6:jaccarddistance 7:hammingdistance",
    "SUMMARYSTATS": "0:var 1:std",
    "RANDOM": "0:distribution_uniform 1:dropout 2:dropout_inverted 3:probablistic_merge 4:linspace_random 5:choice"
    " 6:distribution_gaussian 7:distribution_bernoulli 8:distribution_binomial 9:distribution_binomial_ex"
    " 10:distribution_lognormal 11:distribution_truncated 12:alpha_dropout",
    "LOGIC": "100:enter 90:exit 80:next_iteration 70:loop_cond 60:merge 30:switch 0:ExternalErrorsFn",
}
_READ = {  # found in old files, or by kernels only; the name is that of the op with the same meaning, with attributes that it then has
    "TRANSFORM_SAME": "2:ones_as 19:ClipByValue 21:identity",
    "TRANSFORM_BOOL": "6:greaterthan_scalar(scalar=0) 8:lessthan_scalar(scalar=0)",
    "TRANSFORM_STRICT": "16:cosh 18:timesoneminus 57:mish",
    "REDUCE_FLOAT": "5:reduce_norm2",
    "INDEX_REDUCE": "0:argmax 1:argmin 2:iamax 3:iamin",
    "SCALAR": "15:mod_scalar 20:floordiv_scalar 22:squaredsubtract_scalar 49:step",
    "SCALAR_BOOL": "5:match_condition_transform",
    "BROADCAST": "17:squaredsubtract 18:floormod 19:floordiv 23:truncatediv 27:or 28:xor 29:not 30:and",
    "BROADCAST_BOOL": "7:and 8:or 9:xor",
    "PAIRWISE": "0:add 2:divide 3:multiply 4:Pow 5:reversesubtract 6:subtract 7:maximum 8:minimum 9:copy"
    " 11:reversedivide 13:car 15:fmod 18:floordiv 19:floormod 20:squaredsubtract 22:divide_no_nan 23:mod 24:RelativeError"
    " 25:BinaryRelativeError 38:divide_no_nan",
    "PAIRWISE_BOOL": "0:equals 1:greater 2:less 4:greater_equal 6:not_equals 11:less_equal",
    "RANDOM": "13:random_exponential",
}
_OF_TWO = {  # the kind as which the kernels run a node with two inputs
    OpType.TRANSFORM_SAME: OpType.PAIRWISE, OpType.TRANSFORM_BOOL: OpType.PAIRWISE_BOOL,
}
_OTHER_KINDS = {  # kind: those that Java writes instead
    OpType.PAIRWISE: (OpType.TRANSFORM_SAME, OpType.TRANSFORM_ANY), OpType.PAIRWISE_BOOL: (OpType.TRANSFORM_BOOL,),
    OpType.BROADCAST_BOOL: (OpType.BROADCAST,),
}


def _rows(table: dict[str, str]) -> Iterable[tuple[tuple[OpType, int], str]]:
    for kind, line in table.items():
        for item in line.split():
            number, _, name = item.partition(":")
            yield (OpType[kind], int(number)), name


def _attributes(text: str) -> dict[str, float]:
    pairs = (item.partition("=") for item in text.rstrip(")").split(",") if item)
    return {name: float(value) for name, _, value in pairs}


LEGACY_NUMBERS: dict[str, tuple[OpType, int]] = {name: key for key, name in _rows(_WRITTEN)}
_MEANT = {**dict(_rows(_READ)), **dict(_rows(_WRITTEN))}
LEGACY_NAMES: dict[tuple[OpType, int], str] = {key: name.partition("(")[0] for key, name in _MEANT.items()}
#: What some numbers say about the attributes of their op.
LEGACY_ATTRIBUTES: dict[tuple[int, int], dict[str, float]] = {
    key: _attributes(name.partition("(")[2]) for key, name in _MEANT.items() if "(" in name}
#: Names that count more than the number beside them, since Java writes these under a kind where the number is another op's.
_BY_NAME: dict[tuple[OpType, int, str], str] = {
    (kind, number, name): name for name, (own, number) in LEGACY_NUMBERS.items() for kind in _OTHER_KINDS.get(own, ())
} | {
    (OpType.TRANSFORM_ANY, 1, "set"): "copy",
    (OpType.TRANSFORM_SAME, 13, "car"): "car",
    (OpType.PAIRWISE, 26, ""): "BinaryMinimalRelativeError",
}


def op_identity(op_name: str, op_type: str | None = None) -> tuple[OpType, int]:
    """Return kind and number that name an op in a file.

    Without `op_type`, a legacy op has its legacy number (DL4J cannot load it otherwise) and any other is CUSTOM.

    Examples
    --------
    >>> op_identity("tanh")
    (<OpType.TRANSFORM_STRICT: 3>, 29)
    >>> op_identity("softmax")
    (<OpType.CUSTOM: 21>, -7532944577593734819)
    """
    if op_type is None and op_name in LEGACY_NUMBERS:
        return LEGACY_NUMBERS[op_name]
    kind = OpType[op_type or "CUSTOM"]
    if kind is OpType.CUSTOM:
        return kind, op_hash(op_name)
    if kind is OpType.UDF:
        return kind, -1
    found = LEGACY_NUMBERS.get(op_name, (kind, 0))
    return kind, found[1] if found[0] is kind else 0


def resolve_op_name(node: FlatNode, known: Iterable[str]) -> str | None:
    """Return which of the `known` op names a node means, by the rules that DL4J follows; None when it is none of them.

    A known hash counts more than the name beside it; UDF and control-flow ops go by name; legacy ops by number.
    """
    names = set(known)
    written = node.op_name or ""
    if node.op_type == OpType.CUSTOM:
        same = {name for name in names if op_hash(name) == node.op_num}
        if same:
            return written if written in same else min(same, key=lambda name: (name != kernel_name(name), name))
        own_last = sorted(names, key=lambda name: name == kernel_name(name))        # among synonyms the kernel's own name counts
        by_kernel = {kernel_name(name): name for name in own_last}
        return written if written in names else by_kernel.get(kernel_name(written))
    if node.op_type not in (OpType.LOGIC, OpType.UDF):
        written = _legacy_name(node)
    return written if written in names else None


def _legacy_name(node: FlatNode) -> str:
    try:
        kind = OpType(node.op_type)
    except ValueError:  # no such kind of op
        return ""
    inputs = len(node.input_paired) or len(node.input)
    by_name = _BY_NAME.get((kind, node.op_num, node.op_name or ""))
    if by_name is not None:
        return by_name
    if (kind, node.op_num, inputs) == (OpType.TRANSFORM_SAME, 15, 1):   # fmod in Java, the identity among the kernels
        return "identity"
    if inputs == 2:
        kind = _OF_TWO.get(kind, kind)
    return LEGACY_NAMES.get((kind, node.op_num), "")
