"""A dl4py graph as a function of JAX: node by node the array code of its ops, and what JAX has under a name of its own by that.

It is what a user of JAX would write for the same network, so it serves as the peer of networks that nobody wrote down twice.
Constants stay NumPy's, as JAX wants shapes, axes and paddings to be known.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dl4py.layers.ops.embedding_ops import RowIndices
from dl4py.layers.ops.noise_ops import AddNoise
from dl4py.layers.ops.retention import Retains
from dl4py.samediff.base.spec import normalize_axes
from dl4py.samediff.executor.session import request_for
from dl4py.samediff.expressions.arrays import SPECIAL
from dl4py.samediff.ir.op import Op, as_tuple
from dl4py.samediff.ops.conv.conv import ConvolutionOp, SeparableConv2D
from dl4py.samediff.ops.conv.deconv import TransposedConvolution
from dl4py.samediff.ops.conv.pool import AveragePooling, MaxPooling, PNormPool2D
from dl4py.samediff.ops.index.gather import Gather
from dl4py.samediff.ops.index.segment import UnsortedSegment
from dl4py.samediff.ops.nn.batch_norm import BatchNormTraining
from dl4py.samediff.ops.nn.local_response import NeighbourSum
from dl4py.samediff.ops.nn.normalization import LayerNorm
from dl4py.samediff.ops.recurrent.lstm_sequence import LstmSequence
from dl4py.samediff.ops.recurrent.recurrence import function
from dl4py.samediff.ops.recurrent.rnn_sequence import RnnSequence
from dl4py.samediff.ops.reduce.standardized import StandardizedAxes
from dl4py.samediff.ops.reduce.top_k import TopK

Function = Callable[..., Any]
FORMS: dict[type[Op], Function] = {}


class Arrays:
    """JAX's NumPy with the functions of ``scipy.special``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(jax.scipy.special if name in SPECIAL else jnp, name)


XP = Arrays()


class Draws:
    """Random numbers as NumPy's generators give them, from a key."""

    def __init__(self, key: Any) -> None:
        self.key = key

    def random(self, shape: Sequence[int], dtype: Any = np.float64) -> Any:
        return jax.random.uniform(self.key, shape, jnp.float32)

    def standard_normal(self, shape: Sequence[int], dtype: Any = np.float64) -> Any:
        return jax.random.normal(self.key, shape, jnp.float32)


class Context:
    """What random ops are given."""

    training, iteration, epoch = True, 0, 0

    def __init__(self, key: Any) -> None:
        self.key = key

    def at(self, name: str) -> Context:
        return Context(jax.random.fold_in(self.key, sum(map(ord, name))))

    def random(self) -> Draws:
        return Draws(self.key)


def in_jax(sd: Any, outputs: Sequence[str], training: bool) -> Callable[[Mapping[str, Any], Any], list[Any]]:
    """The outputs as a function of the values of placeholders and variables, and of a random key."""
    nodes = request_for(sd, outputs, training).nodes
    constants = {v.name(): v.get_arr() for v in sd.variables() if v.is_constant()}

    def run(given: Mapping[str, Any], key: Any) -> list[Any]:
        values = {**constants, **given}
        for node in nodes:
            inputs = [None if n is None else values[n] for n in node.inputs]
            known = all(isinstance(a, (np.ndarray, type(None))) for a in inputs) and not node.op.stateful
            for name, made in zip(node.outputs, _computed(node.op, inputs, Context(key).at(node.name), np if known else XP)):
                values[name] = made.astype(sd.variable(name).spec.dtype.numpy)
        return [values[n] for n in outputs]
    return run


def _computed(op: Op, inputs: Sequence[Any], context: Context, xp: Any) -> tuple[Any, ...]:
    form = next((FORMS[kind] for kind in type(op).__mro__ if kind in FORMS), None)
    if form is not None and xp is XP:
        return as_tuple(form(op, *inputs, context) if op.stateful else form(op, *inputs))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Explicitly requested dtype float64")     # of sums, which JAX takes in float32
            return as_tuple(op.compute(xp, *inputs, context=context) if op.stateful else op.compute(xp, *inputs))  # type: ignore[call-arg]
    except TypeError as error:              # of arrays that are written into, or that NumPy is asked to look at
        raise NotImplementedError(f"{op.id} is code for NumPy's arrays alone, and has no form here") from error


def form(*ops: type[Op]) -> Callable[[Function], Function]:
    """JAX's own form of these ops."""
    def register(made: Function) -> Function:
        FORMS.update(dict.fromkeys(ops, made))
        return made
    return register


def _layouts(rank: int, channels_last: bool, weights_format: str) -> tuple[str, str, str]:
    axes = "DHW"[3 - rank:]
    images = f"N{axes}C" if channels_last else f"NC{axes}"
    return images, {"YXIO": f"{axes}IO", "OIYX": f"OI{axes}", "OYXI": f"O{axes}I"}[weights_format], images


def _biased(y: Any, bias: Any, channels_last: bool) -> Any:
    if bias is None:
        return y
    return y + (bias.reshape(-1) if channels_last else bias.reshape(-1, *[1] * (y.ndim - 2)))


def _spatial(x: Any, channels_last: bool) -> tuple[int, ...]:
    return tuple(x.shape[1:-1] if channels_last else x.shape[2:])


@form(ConvolutionOp)
def _convolution(op: Any, x: Any, w: Any, bias: Any = None) -> Any:
    geometry = op.geometry(w.shape)
    window, groups = geometry.window, 1
    if geometry.depthwise:
        w = geometry.plain_weights(jnp, w)
        groups = w.shape[-2]
        w = w.reshape(*w.shape[:-2], 1, -1)
    layouts = _layouts(len(window.kernel), op.channels_last, "YXIO" if geometry.depthwise else geometry.weights_format)
    y = jax.lax.conv_general_dilated(x, w, window.stride, window.padded(_spatial(x, op.channels_last)), rhs_dilation=window.dilation,
                                     dimension_numbers=layouts, feature_group_count=groups)
    return _biased(y, bias, op.channels_last)


@form(SeparableConv2D)
def _separable(op: Any, x: Any, depth_weights: Any, point_weights: Any = None, bias: Any = None) -> Any:
    depth, point = op.parts()
    y = _convolution(depth, x, depth_weights)
    return y if point_weights is None else _convolution(point, y, point_weights, bias)


@form(TransposedConvolution)
def _transposed(op: Any, x: Any, w: Any, bias: Any = None) -> Any:
    geometry, shape = op.geometry(w.shape), op.result(x.shape, w.shape)
    window = geometry.window
    sizes = shape[1:-1] if op.channels_last else shape[2:]
    pads = []
    for axis, (given, wanted) in enumerate(zip(_spatial(x, op.channels_last), sizes)):
        before = window.extent(axis) - 1 - window.before(axis, wanted)
        pads.append((before, wanted - ((given - 1) * window.stride[axis] + 1) - before + window.extent(axis) - 1))
    plain = jnp.flip(geometry.plain_weights(jnp, w), range(len(sizes)))
    layouts = _layouts(len(sizes), op.channels_last, "YXIO")
    y = jax.lax.conv_general_dilated(x, jnp.swapaxes(plain, -1, -2), (1,) * len(sizes), pads, window.stride, window.dilation, layouts)
    return _biased(y, bias, op.channels_last)


def _reduced(op: Any, x: Any, start: float, add: Any) -> Any:
    window = op.window()

    def whole(spatial: Sequence[Any], other: Any) -> tuple[Any, ...]:
        return (other, *spatial, other) if op.channels_last else (other, other, *spatial)
    return jax.lax.reduce_window(x, np.asarray(start, x.dtype), add, whole(window.kernel, 1), whole(window.stride, 1),
                                 whole(window.padded(_spatial(x, op.channels_last)), (0, 0)), None, whole(window.dilation, 1))


@form(MaxPooling)
def _largest(op: Any, x: Any) -> Any:
    return _reduced(op, x, -np.inf, jax.lax.max)


@form(AveragePooling)
def _mean(op: Any, x: Any) -> Any:
    if op.divided_by() == "kernel":
        return _reduced(op, x, 0, jax.lax.add) / float(np.prod(op.window().kernel))
    return _reduced(op, x, 0, jax.lax.add) / _reduced(op, jnp.ones_like(x), 0, jax.lax.add)


@form(PNormPool2D)
def _norm(op: Any, x: Any) -> Any:
    return (_reduced(op, jnp.abs(x) ** op.extra, 0, jax.lax.add) + 1e-12) ** (1 / op.extra)


@form(NeighbourSum)
def _neighbours(op: Any, x: Any) -> Any:
    sizes = [2 * op.depth + 1 if i == op.axis % x.ndim else 1 for i in range(x.ndim)]
    return jax.lax.reduce_window(x, np.asarray(0, x.dtype), jax.lax.add, sizes, (1,) * x.ndim, "SAME")


@form(BatchNormTraining)
def _batch_norm(op: Any, x: Any, mean: Any, variance: Any, gamma: Any = None, beta: Any = None) -> Any:
    axes = tuple(i for i in range(x.ndim) if i != op.axis % x.ndim)
    own = [x.shape[i] if i == op.axis % x.ndim else 1 for i in range(x.ndim)]
    mean, variance = x.mean(axes), x.var(axes)
    y = (x - mean.reshape(own)) * jax.lax.rsqrt(variance + op.epsilon).reshape(own)
    y = y if gamma is None else y * gamma.reshape(own)
    return y if beta is None else y + beta.reshape(own), jax.lax.stop_gradient(mean), jax.lax.stop_gradient(variance)


@form(StandardizedAxes)
def _standardized(op: Any, x: Any) -> Any:
    axes = normalize_axes(op.axes if isinstance(op, StandardizedAxes) else op.dimensions, x.ndim)
    return (x - x.mean(axes, keepdims=True)) * jax.lax.rsqrt(x.var(axes, keepdims=True) + 1e-12)


@form(LayerNorm)
def _layer_norm(op: Any, x: Any, gain: Any = None, bias: Any = None) -> Any:
    y = _standardized(op, x)
    own = [n if i == op.axis % x.ndim else 1 for i, n in enumerate(x.shape)]
    y = y if gain is None else y * gain.reshape(own)
    return y if bias is None else y + bias.reshape(own)


@form(AddNoise)
def _noise(op: Any, x: Any, context: Context) -> Any:
    noise = op.noise
    if not isinstance(noise, Retains):
        return op.compute(XP, x, context=context)
    kept = noise.retention(noise.rate())
    mask = jax.random.uniform(context.key, kept.mask_shape(x.shape)) < kept.p
    y = jnp.where(mask, x * kept.factor, 0)
    return y if kept.shifts is None else y + jnp.where(mask, *kept.shifts)


@form(TopK)
def _top_k(op: Any, x: Any) -> Any:
    return jax.lax.top_k(x, int(op.k))


@form(UnsortedSegment)
def _segments(op: Any, x: Any, segments: Any, *rest: Any) -> Any:
    if op.id != "unsorted_segment_sum":
        raise NotImplementedError(f"{op.id} has no form here")
    return jax.ops.segment_sum(x, segments, op.num_segments)


@form(RowIndices)
def _indices(op: Any, x: Any) -> Any:
    return (x.reshape(len(x)) if op.single else x).astype(jnp.int32)


@form(Gather)
def _gather(op: Any, x: Any, positions: Any = None) -> Any:
    return jnp.take(x, np.asarray(op.indices) if positions is None else positions, op.axis)


def _activation(activation: Any) -> Callable[[Any], Any]:
    return lambda x: function(activation).compute(XP, x)


@form(RnnSequence)
def _rnn(op: Any, x: Any, w: Any, rw: Any, b: Any = None, h0: Any = None, mask: Any = None) -> Any:
    act, z = _activation(op.activation), x @ w + (0 if b is None else b.reshape(-1))
    kept = jnp.ones((*x.shape[:2], 1), x.dtype) if mask is None else mask[..., None].astype(x.dtype)

    def step(h: Any, given: Any) -> tuple[Any, Any]:
        total = given[0] + h @ rw
        h = act(total) * given[1]
        return h, (h, total)
    return jax.lax.scan(step, jnp.zeros((x.shape[1], rw.shape[0]), x.dtype) if h0 is None else h0, (z, kept))[1]


@form(LstmSequence)
def _lstm(op: Any, x: Any, w: Any, rw: Any, b: Any = None, peephole: Any = None, h0: Any = None, c0: Any = None, mask: Any = None) -> Any:
    act, gate, out = map(_activation, (op.activation, op.gate, op.output))
    z = x @ w + (0 if b is None else b.reshape(-1))
    units = rw.shape[0]
    if op.forget_bias:
        z = z.at[..., op.blocks[1] * units:(op.blocks[1] + 1) * units].add(op.forget_bias)
    pi, pf, po = (0, 0, 0) if peephole is None else peephole.reshape(3, -1)
    kept = jnp.ones((*x.shape[:2], 1), x.dtype) if mask is None else mask[..., None].astype(x.dtype)

    def step(carried: Any, given: Any) -> tuple[Any, Any]:
        (h, c), (zt, m) = carried, given
        za, zf, zo, zg = op.split(zt + h @ rw)
        a, f, g = act(za), gate(zf + c * pf), gate(zg + c * pi)
        new = f * c + g * a
        new = jnp.clip(new, -op.clip, op.clip) if op.clip > 0 else new
        o = gate(zo + new * po)
        state = o * out(new)
        rest = (1 - m) if op.hold else 0
        h, c = m * state + rest * h, m * new + rest * c
        return (h, c), (h, c)
    zero = jnp.zeros((x.shape[1], units), x.dtype)
    states, cells = jax.lax.scan(step, (zero if h0 is None else h0, zero if c0 is None else c0), (z, kept), reverse=op.reverse)[1]
    return states, cells, z, cells      # gates and squashed cells are what the own gradient saves
