"""The workloads in JAX: each step one jitted function with donated state, data on the device.

Batches that come from the host to a GPU are given to the jitted function as they are, which copies them on its shortest way.
"""
from __future__ import annotations

import os
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from workloads import CPU, GATE, HEADS, RATE, Place, Task, Workload, cross_entropy, looped, table, total

SYSTEMS = ("jax",)
Tree = dict[str, Any]


@jax.custom_vjp
def _gated(x: jax.Array) -> jax.Array:
    return x * jax.nn.sigmoid(GATE * x)


def _gated_forward(x: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    s = jax.nn.sigmoid(GATE * x)
    return x * s, (s, x * s)


def _gated_backward(kept: tuple[jax.Array, jax.Array], g: jax.Array) -> tuple[jax.Array]:
    s, y = kept
    return (g * (s + GATE * y * (1 - s)),)


_gated.defvjp(_gated_forward, _gated_backward)


def _mlp(w: Workload, p: Tree, x: jax.Array, state: Tree, key: Any) -> tuple[jax.Array, Tree]:
    act = {"custom": _gated, "builtin": lambda v: v * jax.nn.sigmoid(GATE * v)}.get(w.task, jax.nn.relu)
    last, running = len(w.sizes) - 1, {}
    for i in range(1, last):
        x = x @ p[f"W{i}"] + p[f"bW{i}"]
        if w.task == "regular":
            mean, var = (x.mean(0), x.var(0)) if key is not None else state[f"n{i}"]
            running[f"n{i}"] = tuple(0.9 * old + 0.1 * new for old, new in zip(state[f"n{i}"], (mean, var)))
            x = (x - mean) * jax.lax.rsqrt(var + 1e-5) * p[f"g{i}"] + p[f"c{i}"]
        x = act(x)
        if w.task == "regular" and key is not None:
            x = jnp.where(jax.random.bernoulli(jax.random.fold_in(key, i), 0.5, x.shape), 2 * x, 0)
    return x @ p[f"W{last}"] + p[f"bW{last}"], running


def _lenet(w: Workload, p: Tree, x: jax.Array, state: Tree, key: Any) -> tuple[jax.Array, Tree]:
    for k in ("K1", "K2"):
        x = jax.lax.conv_general_dilated(x, p[k], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        x = jax.nn.relu(x + p["b" + k][:, None, None])
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    x = jax.nn.relu(x.reshape(len(x), -1) @ p["W1"] + p["bW1"])
    return x @ p["W2"] + p["bW2"], {}


def _lstm(w: Workload, p: Tree, x: jax.Array, state: Tree, key: Any) -> tuple[jax.Array, Tree]:
    """x (time, batch, features)."""
    for i in range(len(w.sizes) - 2):
        def step(carried: tuple[jax.Array, jax.Array], z: jax.Array, r: jax.Array = p[f"R{i}"]) -> tuple[Any, jax.Array]:
            h, c = carried
            a, f, o, m = jnp.split(z + h @ r, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(m) * jnp.tanh(a)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        start = jnp.zeros((x.shape[1], w.sizes[i + 1]))
        x = jax.lax.scan(step, (start, start), x @ p[f"L{i}"] + p[f"bL{i}"])[1]
    return (x[-1] if w.task == "uci" else x) @ p["W1"] + p["bW1"], {}


def _block(w: Workload, p: Tree, x: jax.Array, state: Tree, key: Any) -> tuple[jax.Array, Tree]:
    b, t, d = x.shape

    def norm(v: jax.Array, i: int) -> jax.Array:
        return (v - v.mean(-1, keepdims=True)) * jax.lax.rsqrt(v.var(-1, keepdims=True) + 1e-5) * p[f"g{i}"] + p[f"c{i}"]

    rows = norm(x, 1)
    q, k, v = ((rows @ p[n]).reshape(b, t, HEADS, d // HEADS) for n in ("Wq", "Wk", "Wv"))
    x = x + jax.nn.dot_product_attention(q, k, v).reshape(b, t, d) @ p["Wo"]
    return x + jax.nn.relu(norm(x, 2) @ p["W1"] + p["bW1"]) @ p["W2"] + p["bW2"], {}


MODELS = {**dict.fromkeys(("mlp", "custom", "builtin", "regular", "table"), _mlp),
          "lenet": _lenet, "char": _lstm, "uci": _lstm, "block": _block}


def _loss(w: Workload, p: Tree, state: Tree, x: jax.Array, y: jax.Array, key: Any = None) -> tuple[jax.Array, Tree]:
    out, running = MODELS[w.task](w, p, x, state, key)
    if w.task == "block":
        return ((out - y) ** 2).mean(), running
    return -(jax.nn.log_softmax(out) * y).sum() / w.batch, running


def _step(w: Workload, s: Tree, x: jax.Array, y: jax.Array) -> Tree:
    """Adam on the whole tree; s has weights, moments, the count of steps and running statistics."""
    t = s["t"] + 1
    key = jax.random.fold_in(jax.random.key(5, impl="rbg"), t.astype(jnp.uint32)) if w.task == "regular" else None
    g, running = jax.grad(_loss, 1, has_aux=True)(w, s["p"], s["state"], x, y, key)
    rate = RATE * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, s["m"], g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, s["v"], g)
    p = jax.tree.map(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), s["p"], m, v)
    return {"p": p, "m": m, "v": v, "t": t, "state": running}


def _start(w: Workload) -> Tree:
    p = {n: jnp.asarray(a) for n, a in w.weights().items()}
    widths = {"regular": w.sizes[1:-1], "block": w.sizes[:1] * 2}.get(w.task, ())
    for i, n in enumerate(widths, 1):
        p |= {f"g{i}": jnp.ones(n), f"c{i}": jnp.zeros(n)}
    state = {f"n{i}": (jnp.zeros(n), jnp.ones(n)) for i, n in enumerate(widths, 1)} if w.task == "regular" else {}
    return {"p": p, "m": jax.tree.map(jnp.zeros_like, p), "v": jax.tree.map(jnp.zeros_like, p), "t": jnp.float32(0), "state": state}


def _prepared(w: Workload, place: Place) -> list[tuple[Any, Any]]:
    def given(a: np.ndarray) -> Any:
        a = np.ascontiguousarray(a.swapaxes(0, 1)) if w.task in ("char", "uci") and a.ndim == 3 else a
        return a if place.from_host else jax.device_put(a)
    return [(given(x), given(y)) for x, y in w.batches()]


def _network(w: Workload, place: Place) -> Task:
    s, data, done = _start(w), _prepared(w, place), jax.device_get if place.from_host else jax.block_until_ready
    if w.kind == "infer":
        predict = jax.jit(lambda p, x: jax.nn.softmax(MODELS[w.task](w, p, x, {}, None)[0]))
        run = looped(lambda x, _: done(predict(s["p"], x)), data)
        return Task(run, lambda: cross_entropy(predict(s["p"], data[0][0]), data[0][1]))
    jitted = jax.jit(partial(_step, w), donate_argnums=0)

    def step(x: jax.Array, y: jax.Array) -> None:
        nonlocal s
        s = jitted(s, x, y)

    def score() -> float:
        return float(_loss(w, s["p"], s["state"], *map(jnp.asarray, data[0]))[0])
    return Task(looped(step, data, lambda: jax.block_until_ready(s)), score)


def _map(x: jax.Array) -> jax.Array:
    return x * jax.nn.sigmoid(1.7 * x) + jnp.tanh(x) * jnp.exp(-x * x)


def _tiny(x: jax.Array, b: jax.Array) -> jax.Array:
    for _ in range(10):
        x = jnp.tanh(x * 1.01 + b)
    return x


def _tiny_grad(x: jax.Array, b: jax.Array) -> Any:
    out, back = jax.vjp(_tiny, x, b)
    return out, back(jnp.ones_like(out))


def _graph(w: Workload, place: Place) -> Task:
    weights = {n: jnp.asarray(a) for n, a in w.weights().items()}

    def tiny_mm(x: jax.Array, b: jax.Array) -> jax.Array:
        for _ in range(10):
            x = jnp.tanh(x @ weights["W"] + b)
        return x

    def loss(p: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
        return -(jax.nn.log_softmax(_mlp(w, p, x, {}, None)[0]) * y).sum() / w.batch
    called = jax.jit({"map": _map, "chain": jax.value_and_grad(lambda x: _map(x).sum()), "tiny": _tiny, "tiny_mm": tiny_mm,
                      "tiny_grad": _tiny_grad, "slopes": jax.value_and_grad(loss)}[w.task])
    data = [(weights, x, y) if w.task == "slopes" else (x, *([weights["b"]] if weights else [])) for x, y in _prepared(w, place)]
    done = jax.device_get if place.from_host else jax.block_until_ready

    def step(*given: Any) -> Any:
        return done(called(*given))
    return Task(looped(step, data), lambda: total(step(*data[0])))


def _job(w: Workload) -> Task:
    import pandas
    jitted, done = jax.jit(partial(_step, w), donate_argnums=0), []

    def job() -> None:
        rows = pandas.read_csv(table(), header=None, dtype=np.float32).to_numpy()
        x, y = rows[:, :20], np.eye(3, dtype=np.float32)[rows[:, 20].astype(int)]
        x = (x - x.mean(0)) / x.std(0)
        s = _start(w)
        for i in range(0, len(x), w.batch):
            s = jitted(s, x[i:i + w.batch], y[i:i + w.batch])
        done[:] = jax.block_until_ready(s), x[:w.batch], y[:w.batch]

    def score() -> float:
        s, x, y = done
        return float(_loss(w, s["p"], {}, x, y)[0])
    return Task(looped(job, [()]), score)


def device_name(place: Place) -> str:
    """What JAX calls the GPU, which becomes the default device; RuntimeError where it is not there."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")         # other systems need memory too
    found = jax.devices("cuda")
    if place.index >= len(found):
        raise RuntimeError(f"JAX knows {len(found)} GPUs only")
    jax.config.update("jax_default_device", found[place.index])
    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if place.tf32 else "float32")
    return str(found[place.index].device_kind)


def make(w: Workload, system: str = "jax", place: Place = CPU) -> Task:
    """The workload in JAX."""
    if place.is_gpu:
        device_name(place)
    if w.task == "table":
        return _job(w)
    return (_network if w.task in MODELS else _graph)(w, place)
