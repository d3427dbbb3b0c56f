"""Rows of the grid as tasks: dl4py through ``fit``, ``output`` and gradients, JAX by :mod:`graph_in_jax` with one jitted step."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from grid_rows import Call, Network, Row
from workloads import CPU, Place, Task, looped, total

SYSTEMS = ("grid_dl4py", "grid_jax")


def make(row: Row, system: str, place: Place = CPU) -> Task:
    """A row in one of the systems."""
    made = row.build()
    if system == "grid_dl4py":
        return _call(made) if isinstance(made, Call) else _network(made, row)
    if isinstance(made, Network) and not made.plain:
        raise NotImplementedError(f"JAX has no rules of its own for {row.name}")
    task = _call_in_jax(made) if isinstance(made, Call) else _network_in_jax(made, row)
    task.score()            # what JAX cannot run it says when it traces
    return task


def _network(made: Network, row: Row) -> Task:
    net = made.net
    if row.kind == "infer":
        inputs = [tuple(b.inputs) for b in made.batches]
        return Task(looped(net.output, inputs), lambda: total(net.output(*inputs[0])))
    data = made.data()
    turn = itertools.cycle(data)
    return Task(lambda n: net.fit(list(itertools.islice(turn, n))), lambda: net.score(data[0]))


def _call(made: Call) -> Task:
    sd, feeds, asked = made.sd, made.feeds, made.gradients

    def step() -> list[Any]:
        if not asked:
            return list(sd.output(feeds, *made.outputs).values())
        values, slopes = sd.calculate_gradients_and_outputs(feeds, made.outputs, asked)
        return [*values.values(), *slopes.values()]
    return Task(looped(step, [()]), lambda: total(step()))


def _jax(double: bool) -> Any:
    import jax
    jax.config.update("jax_enable_x64", double)
    return jax


def _call_in_jax(made: Call) -> Task:
    jax = _jax(made.double)
    from graph_in_jax import in_jax
    sd, key = made.sd, jax.random.key(1)
    function = in_jax(sd, made.outputs, False)
    held = {v.name(): jax.numpy.asarray(v.get_arr()) for v in sd.variables() if v.get_variable_type().name == "VARIABLE"}
    feeds = {n: jax.numpy.asarray(a) for n, a in made.feeds.items()}

    def compute(given: Any, rest: Any) -> Any:
        if not made.gradients:
            return function({**given, **rest}, key)
        def loss(wrt: Any) -> Any:
            values = function({**rest, **wrt}, key)
            return sum(v.sum() for v in values), values
        slopes, values = jax.grad(loss, has_aux=True)(given)
        return [*values, *slopes.values()]
    every = {**held, **feeds}
    given = {n: every[n] for n in made.gradients}
    rest = {n: a for n, a in every.items() if n not in given}
    step = jax.jit(compute)
    return Task(looped(lambda: jax.block_until_ready(step(given, rest)), [()]), lambda: total(step(given, rest)))


def _network_in_jax(made: Network, row: Row) -> Task:
    jax = _jax(made.double)
    from graph_in_jax import in_jax

    jnp, engine = jax.numpy, made.net.engine
    batches = made.batches
    graph = engine.graphs.with_loss(batches[0]) if row.kind == "train" else engine.graphs.of(batches[0].unlabelled())
    sd = graph.sd
    params = {n: jnp.asarray(a) for n, a in engine.flat.arrays.items()}
    feeds = [{n: jnp.asarray(a) for n, a in engine.graphs.feeds(b, graph).items()} for b in batches]
    if row.kind == "infer":
        outputs = [graph.activations[n] for n in engine.structure.outputs]
        infer = jax.jit(lambda p, x: in_jax(sd, outputs, False)({**p, **x}, jax.random.key(0)))
        return Task(looped(lambda x: np.asarray(infer(params, x)[0]), [(f,) for f in feeds]), lambda: total(infer(params, feeds[0])))
    divisors = graph.divisors(batches[0])
    updater = made.updater

    def loss(p: Any, x: Any, key: Any, training: bool) -> Any:
        names = [*graph.losses, *graph.statistic_updates.values()]
        values = in_jax(sd, names, training)({**p, **x}, key)
        count = len(graph.losses)
        return sum(v.sum() / d for v, d in zip(values[:count], divisors)), dict(zip(graph.statistic_updates, values[count:]))

    def step(p: Any, state: Any, x: Any, hyper: Any, key: Any) -> Any:
        slopes, moves = jax.grad(loss, has_aux=True)(p, x, key, True)
        new, kept = {}, {}
        for name, old in p.items():
            update, kept[name] = (moves[name], state[name]) if name in moves else updater.step(jnp, slopes[name], state[name], hyper)
            new[name] = old - update
        return new, kept
    jitted = jax.jit(step, donate_argnums=(0, 1))
    kept: list[Any] = [params, {n: tuple(jnp.full_like(a, v) for v in updater.state_init()) for n, a in params.items()}]
    turn, count, key = itertools.cycle(feeds), itertools.count(), jax.random.key(3)

    def run(n: int) -> None:
        for _ in range(n):
            i = next(count)
            hyper = tuple(np.asarray(h, next(iter(kept[0].values())).dtype) for h in updater.hyper(i, 0))
            kept[:] = jitted(*kept, next(turn), hyper, jax.random.fold_in(key, i) if made.random else key)
        jax.block_until_ready(kept)
    scored: Callable[..., Any] = jax.jit(lambda p, x: loss(p, x, key, False)[0])
    return Task(run, lambda: float(scored(kept[0], feeds[0])))
