"""The workloads in JAX, each step one jitted function with donated state."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from data import Workload, batches, weights


def _logits(kind: str, w: dict, x: jax.Array) -> jax.Array:
    if kind == "lenet":
        for k in ("K1", "K2"):
            x = jax.lax.conv_general_dilated(x, w[k], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))
            x = jax.nn.relu(x + w["b" + k][:, None, None])
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x = x.reshape(len(x), -1)
    return jax.nn.relu(x @ w["W1"] + w["bW1"]) @ w["W2"] + w["bW2"]


def _loss(kind: str, w: dict, x: jax.Array, y: jax.Array) -> jax.Array:
    return -(jax.nn.log_softmax(_logits(kind, w, x)) * y).sum() / len(x)


@partial(jax.jit, static_argnums=0, donate_argnums=(1, 2, 3))
def _step(kind: str, w: dict, m: dict, v: dict, t: jax.Array, x: jax.Array, y: jax.Array) -> tuple:
    g = jax.grad(_loss, 1)(kind, w, x, y)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    return jax.tree.map(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), w, m, v), m, v


@partial(jax.jit, static_argnums=0)
def _predict(kind: str, w: dict, x: jax.Array) -> jax.Array:
    return jax.nn.softmax(_logits(kind, w, x))


def make(workload: Workload) -> tuple[Callable[[], object], Callable[[], float]]:
    """One step as a call without arguments, and the score of the first batch. Inputs are NumPy arrays, as for the others."""
    kind, data = workload.network, batches(workload)
    w = {n: jnp.asarray(a) for n, a in weights(kind).items()}
    state = {"w": w, "m": jax.tree.map(jnp.zeros_like, w), "v": jax.tree.map(jnp.zeros_like, w), "t": 0}
    turn = itertools.cycle(data)

    def train() -> None:
        x, y = next(turn)
        state["t"] += 1
        state["w"], state["m"], state["v"] = _step(kind, state["w"], state["m"], state["v"], jnp.float32(state["t"]), x, y)
        jax.block_until_ready(state["w"])

    def predict() -> object:
        return _predict(kind, state["w"], next(turn)[0]).block_until_ready()

    return train if workload.train else predict, lambda: float(_loss(kind, state["w"], *data[0]))
