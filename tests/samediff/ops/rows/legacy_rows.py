"""Rows of the ops that have a number instead of a name in DL4J's files."""
from __future__ import annotations

from tests.samediff.ops.rows.op_rows import row

row("_tanhderivative _sigmoidderivative tanderivative seluderivative hard_sigmoidderivative rational_tanh_derivative "
    "rectified_tanh_derivative _swishderivative cubederivative _geluderivative _precise_geluderivative _mishderivative "
    "timesoneminus oneminus", "f:2,3")
row("bool_not not", "b:2,3")
row("not eps axpy remainder fmod amax_pairwise amin_pairwise RelativeError copy old_assign", "f:2,3 f:3")
row("copy old_assign", "f:2,3")
row("axpy", "f:2,3 f:3", p=-1.5)
row("stabilize", "f:2,3", k=4.0)
row("setrange", "f:2,3", min=-0.71, max=1.13)
row("setrange", "f:2,3", min=0.0, max=1.0)
row("_powderivative", "p:2,3", value=2.5)
row("_powderivative", "f:2,3", value=3.0)
row("replace_nans", "f:2,3", replacement=0.5)
row("remainder_scalar eps_scalar and_scalar or_scalar xor_scalar not_scalar", "f:2,3", scalar=0.703125)
row("BinaryRelativeError", "f:2,3 f:3", threshold=0.25)
row("BinaryMinimalRelativeError", "f:2,3 f:3", threshold_relative=0.25, threshold_absolute=0.5)
row("broadcastadd broadcastsub broadcastmul broadcastdiv broadcastrdiv broadcastrsub broadcastcopy broadcast_min broadcast_max "
    "broadcast_amin broadcast_amax broadcast_equalto broadcast_greaterthan broadcast_lessthan broadcast_greaterthanorequal "
    "broadcast_notequal broadcast_lessthanorequal", "f:2,3 f:2", dimensions=(0,))
row("broadcastadd broadcastmul", "f:2,3,4 f:2,4", dimensions=(0, 2))
row("broadcastmul", "f:2,3 f:3")
row("hasnan hasinf", "f:2,3", dimensions=(1,), keep_dims=True)
row("equals_with_eps", "f:2,3 f:2,3", dimensions=(1,), eps=0.5)
row("distribution_binomial_ex", n_trials=5, p=0.3, shape=(2, 3))
row("linspace_random", from_=1.0, to=9.0, length=5)
row("choice", "f:4", [0.1, 0.2, 0.3, 0.4], shape=(2, 3))
row("probablistic_merge", "f:2,3 f:2,3", probability=0.3)
row("alpha_dropout", "f:4,5", check=True, p=0.8, a=0.9, b=0.1, alpha_prime=-1.75)
row("alpha_dropout_grad", "f:4,5", check=True, p=0.8, a=0.9, of="drawn")
