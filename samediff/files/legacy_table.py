"""Numbers of the legacy ops: ops that graph files name by a kind (``OpType``) and a number instead of a hash."""
from __future__ import annotations

from collections.abc import Iterable

from .flat_graph import FlatNode
from .flat_schema import OpType
from .op_hash import kernel_name, op_hash

_WRITTEN = {  # kind: number:name of every op that is written so
    "TRANSFORM_FLOAT": "1:sqrt 3:rsqrt",
    "TRANSFORM_SAME": "0:abs 1:sign 3:neg 4:round 5:timesoneminus 6:cube 7:oneminus 11:Reciprocal 12:square 13:cas"
    " 17:ceil 18:floor",
    "TRANSFORM_BOOL": "1:isinf 2:isnan 3:isfinite 5:match_condition_transform 7:bool_not",
    "TRANSFORM_STRICT": "4:_tanhderivative 5:hardtanhderivative 6:_sigmoidderivative 7:softsignderivative"
    " 9:seluderivative 10:hard_sigmoidderivative 11:rational_tanh_derivative 12:rectified_tanh_derivative"
    " 13:_swishderivative 19:stabilize 21:cubederivative 22:cos 23:exp 24:log 25:setrange 26:sigmoid 27:sin"
    " 28:softplus 29:tanh 30:acos 31:asin 32:atan 33:hardtanh 34:softsign 36:hard_sigmoid 37:rational_tanh"
    " 38:rectified_tanh 39:sinh 40:cosh 41:tan 42:selu 43:swish 44:log1p 45:erf 46:acosh 47:asinh 48:rint"
    " 49:logsigmoid 50:erfc 51:expm1 52:atanh 53:gelu 54:_geluderivative 55:precise_gelu 56:_precise_geluderivative",
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
    " 6:notequals_scalar 8:or_scalar 9:xor_scalar 10:not_scalar 11:lessthanorequal_scalar",
    "BROADCAST": "13:broadcast_min 14:broadcast_max 15:broadcast_amin 16:broadcast_amax",
    "PAIRWISE": "1:copy 26:RelativeError 27:BinaryRelativeError 28:BinaryMinimalRelativeError",
    "PAIRWISE_BOOL": "7:and 8:or 9:xor",
    "REDUCE_3": "0:manhattan 1:euclidean 2:cosinesimilarity 3:dot 4:equals_with_eps 5:cosinedistance"
    " 6:jaccarddistance 7:hammingdistance",
    "SUMMARYSTATS": "0:var 1:std",
    "RANDOM": "0:distribution_uniform 1:dropout 2:dropout_inverted 3:probablistic_merge 4:linspace_random 5:choice"
    " 6:distribution_gaussian 7:distribution_bernoulli 8:distribution_binomial 9:distribution_binomial_ex"
    " 10:distribution_lognormal 11:distribution_truncated 12:alpha_dropout",
    "LOGIC": "100:enter 90:exit 80:next_iteration 70:loop_cond 60:merge 30:switch 0:ExternalErrorsFn",
}
_READ = {  # found in old files only; the name is that of the custom op with the same meaning
    "TRANSFORM_STRICT": "8:tanderivative 57:mish 58:_mishderivative",
    "INDEX_REDUCE": "0:argmax 1:argmin 2:argamax 3:argamin",
    "SCALAR_BOOL": "7:and_scalar",
    "BROADCAST": "0:add 1:subtract 2:multiply 3:divide 4:reversedivide 5:reversesubtract 17:squaredsubtract"
    " 18:floormod 19:floordiv 23:truncatediv",
    "BROADCAST_BOOL": "0:equals 1:greater 2:less 4:greater_equal 6:not_equals 11:less_equal",
    "PAIRWISE": "0:add 2:divide 3:multiply 4:Pow 5:reversesubtract 6:subtract 7:maximum 8:minimum 10:axpy"
    " 11:reversedivide 18:floordiv 19:floormod 20:squaredsubtract",
    "PAIRWISE_BOOL": "0:equals 1:greater 2:less 4:greater_equal 6:not_equals 10:not 11:less_equal",
}


def _rows(table: dict[str, str]) -> Iterable[tuple[tuple[OpType, int], str]]:
    for kind, line in table.items():
        for item in line.split():
            number, _, name = item.partition(":")
            yield (OpType[kind], int(number)), name


LEGACY_NUMBERS: dict[str, tuple[OpType, int]] = {name: key for key, name in _rows(_WRITTEN)}
LEGACY_NAMES: dict[tuple[OpType, int], str] = {**dict(_rows(_READ)), **dict(_rows(_WRITTEN))}


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
        by_kernel = {kernel_name(name): name for name in names}
        return written if written in names else by_kernel.get(kernel_name(written))
    if node.op_type not in (OpType.LOGIC, OpType.UDF):
        try:
            written = LEGACY_NAMES.get((OpType(node.op_type), node.op_num), "")
        except ValueError:  # no such kind of op
            return None
    return written if written in names else None
