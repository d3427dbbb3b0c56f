"""Where DL4J 1.0.0-M2.1 refuses a file that is right, or computes something else: what is compared then, and why.

A case of REFUSED must be refused: one that DL4J takes after all has no place here.
"""
from __future__ import annotations

from typing import Any

from dl4py import layers as L
from dl4py.samediff.base.enums import LossReduce

_VOLUMES = "volumes in front of dense layers: DL4J names their sizes in another order and refuses its own activations"
_SAMEDIFF = "DL4J doubles gradients that pass a SameDiff layer"
_DRAWN = "drawn anew by each library"

#: Layers and vertices that DL4J cannot run: a condition on the layer, and why.
REFUSED_LAYERS: list[tuple[type, Any, str]] = [
    (L.PReLULayer, lambda la: la.shared_axes, "its activations are in the wrong workspace"),
    (L.BatchNormalization, lambda la: la.data_format.name == "NHWC", "DL4J takes the flattened gradient for an image"),
    (L.FrozenLayerWithBackprop, lambda la: isinstance(la.underlying, L.BatchNormalization), "an array of a closed workspace"),
    (L.Upsampling3D, None, _VOLUMES), (L.ZeroPadding3DLayer, None, _VOLUMES), (L.Cropping3D, None, _VOLUMES),
    (L.LearnedSelfAttentionLayer, None, "DL4J's layer fails in scatter_update"),
    (L.PoolHelperVertex, None, "DL4J's vertex reads past the end"),
    (L.LastTimeStepVertex, lambda v: v.mask_array_input_name is None, "DL4J's vertex needs the name of an input"),
]

#: Layers after which parameters are not compared.
NO_STEP: list[tuple[type, Any, str]] = [
    (L.Layer, lambda la: getattr(la, "dropout", None) is not None or getattr(la, "weight_noise", None) is not None, _DRAWN),
    (L.DropoutLayer, None, _DRAWN),
    (L.LocallyConnected1D, None, _SAMEDIFF), (L.LocallyConnected2D, None, _SAMEDIFF), (L.PrimaryCapsules, None, _SAMEDIFF),
    (L.CapsuleLayer, None, _SAMEDIFF), (L.SelfAttentionLayer, None, _SAMEDIFF), (L.RecurrentAttentionLayer, None, _SAMEDIFF),
    (L.AttentionVertex, None, _SAMEDIFF), (L.OCNNOutputLayer, None, "DL4J passes another gradient down"),
]

#: Layers that DL4J writes with other numbers than it has read.
OTHER_CONFIGURATION: list[tuple[type, Any, str]] = [
    (L.RecurrentAttentionLayer, None, "DL4J writes the number of steps of the last batch into the layer"),
    (L.EmbeddingSequenceLayer, None, "DL4J writes the length of the last batch into the layer"),
    (L.OCNNOutputLayer, None, "DL4J sets nOut to 1"),
    (L.AttentionVertex, None, "DL4J writes name and type of the vertex"),
]


def found(table: list[tuple[type, Any, str]], subject: Any) -> str:
    """Why a layer or vertex stands in a table; empty when it does not."""
    return next((why for kind, when, why in table if isinstance(subject, kind) and (when is None or when(subject))), "")


def found_row(table: list[tuple[str, Any, str]], row: Any) -> str:
    """Why a row of the op table stands in a table; empty when it does not."""
    return next((why for name, when, why in table if row.op_id == name and when(row)), "")


def _all(names: str, why: str = "") -> dict[str, str]:
    return dict.fromkeys(names.split(), why)


#: Ops that are not shown to DL4J: it reads or writes foreign memory, or ends the process.
NOT_SHOWN = _all(
    "RelativeError BinaryRelativeError BinaryMinimalRelativeError copy old_assign fmod axpy remainder eps not amax_pairwise "
    "amin_pairwise and or xor truncatediv", "two arrays that broadcast: DL4J reads past the smaller one"
) | {"strided_slice": "negative strides: DL4J writes outside of its result"}

_NO_CLASS = "no class of DL4J takes this number or name"
_BROKEN = "DL4J's class fails on files, its own included"
_LIST = "works on a list that another node makes"
_UNLIKE = "arguments that DL4J's kernel refuses"

#: Ops whose nodes DL4J refuses or cannot run.
REFUSED_OPS = {
    **_all("_mishderivative broadcast_equalto broadcast_greaterthan broadcast_lessthan broadcast_greaterthanorequal "
                    "broadcast_notequal broadcast_lessthanorequal leakyreluderivative min_max_datatype put_rows scan eig log2 log10 "
                    "dot_product_attention_v2 squaredsubtract_scalar floordiv_scalar mod_scalar reshape_like zero_state pnormpool2d "
                    "dl4j_lstm dl4j_simple_rnn lstm_block_first sqrtm", _NO_CLASS),
    **_all("old_assign and_scalar broadcastadd broadcastsub broadcastmul broadcastdiv broadcastrdiv broadcastrsub "
                    "broadcast_min broadcast_max broadcast_amin broadcast_amax linspace_random noop log_matrix_determinant mish lstmCell "
                    "lstmLayer lstm_layer_call svd batched_gemm lstmBlock lstmBlockCell sru ctc_loss create_view", _BROKEN),
    **_all("create_list write_list read_list gather_list scatter_list split_list stack_list size_list", _LIST),
    **_all("deconv2d_tf resize_nearest_neighbor resize_bicubic resize_area dilation2d repeat scatter_update set_shape assign "
                    "dot_product_attention distribution_uniform distribution_gaussian distribution_lognormal distribution_truncated "
                    "distribution_bernoulli distribution_binomial", _UNLIKE),
}

#: Ops that namespaces of DL4J offer here and not in DL4J.
OWN_METHODS = {"cross_entropy_loss"}

#: Rows of ops whose arguments DL4J's kernel refuses, while it takes others: a condition on the row, and why.
REFUSED_ROWS: list[tuple[str, Any, str]] = [
    ("tensordot", lambda r: r.attributes.get("transpose_x") or r.attributes.get("transpose_y"), "DL4J's kernel transposes nothing"),
    ("multi_head_dot_product_attention", lambda r: len(r.inputs) > 7, "DL4J's kernel takes no mask of whole numbers"),
    ("matmul", lambda r: len({len(a.shape) for a in r.arrays()}) > 1 and max(len(a.shape) for a in r.arrays()) > 2,
     "DL4J's kernel takes batches of equal ranks alone"),
    ("clipbyavgnorm", lambda r: r.attributes.get("dimensions") == (0,), "DL4J's kernel fails where several columns are clipped"),
    ("eye_of", lambda r: isinstance(r.inputs[0], int), "DL4J's kernel takes sizes as vectors of one number"),
    ("softmax_cross_entropy_loss", lambda r: r.attributes.get("loss_reduce") is LossReduce.NONE,
     "DL4J's kernel refuses weights of examples with NONE"),
    *((name, lambda r: len({a.shape for a in r.arrays()}) > 1, "DL4J's kernel takes arrays of one shape alone")
      for name in ("polygamma", "zeta", "betainc")),
    ("check_numerics", lambda r: len(r.inputs) == 1, "DL4J's kernel needs a message"),
]

#: Rows that DL4J runs with another result: a condition on the row, and why.
OTHER_ROWS: list[tuple[str, Any, str]] = [
    ("im2col", lambda r: "SAME" in str(r.attributes.get("padding_mode")), "DL4J's im2col leaves the padding of SAME to its caller"),
    ("non_max_suppression", lambda r: r.attributes["max_out_size"] > 2, "DL4J fills up with boxes that overlap, where others are too few"),
    ("crop_and_resize", lambda r: r.attributes.get("method") == 1, "DL4J rounds to another neighbour where two are as near"),
    ("lstmBlock", lambda r: r.inputs[0] != "-", "DL4J goes on behind maxTsLength"),
    ("while", lambda r: len(r.inputs) > 1, "DL4J computes nodes of a loop that depend on outside values alone in the first round only"),
]

#: Ops that DL4J runs with another result: a difference of docs/differences.md, or a mistake of its kernel.
OTHER_VALUES = set(_all(
    "tanderivative _precise_geluderivative broadcastcopy equals_with_eps argamin roll fused_batch_norm where_np zero_fraction var "
    "cumprod_bp qr top_k max_pool_with_argmax maxpool3dnew avgpool3dnew col2im switch_op merge_op Assert image_resize"))

#: Ops that draw random numbers: only loaded and run.
DRAWN = set(_all(
    "choice probablistic_merge alpha_dropout distribution_binomial_ex random_normal random_bernoulli randomuniform random_gamma "
    "random_poisson random_multinomial random_shuffle random_exponential dropout dropout_inverted random_crop"))
