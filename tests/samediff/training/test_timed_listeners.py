"""Listeners that measure time, with a clock that tests move: what is recorded, of which iterations, to the microsecond."""
from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import At, InMemoryStatsStorage, Operation, ProfilingListener, StatsListener
from dl4py.samediff.training.listeners import stats_listener

TRAINING = Operation.TRAINING


@pytest.fixture
def clock(monkeypatch):
    """Seconds."""
    found = SimpleNamespace(now=4.0)
    monkeypatch.setattr(ProfilingListener, "_now", staticmethod(lambda: found.now))
    monkeypatch.setattr(stats_listener, "time", SimpleNamespace(perf_counter=lambda: found.now, time=lambda: found.now + 1000))
    return found


# Traces

def traced(path, clock, iterations=6, gradients=True, operation=TRAINING, **options):
    """The events of iterations that last a second each: a quarter for the gradient, a half for the update, and nothing."""
    listener = ProfilingListener(path, **options)
    for i in range(iterations):
        at = At(i // 3, i, operation)
        listener.iteration_start(None, at, None, 0)
        clock.now += 0.25
        if gradients:
            listener.on_gradient_calculation(None)
        clock.now += 0.5
        listener.iteration_done(object(), at)
        clock.now += 0.25
        if i % 3 == 2:
            listener.epoch_end(None, at, None, 0)
    return json.loads(path.read_text())["traceEvents"] if path.exists() else None


def spans(events, category):
    return [(e["name"], e["ts"], e["dur"], e["tid"], e["args"]) for e in events if e.get("cat") == category]


def test_events(tmp_path, clock):
    events = traced(tmp_path / "t.json", clock, iterations=4)
    assert spans(events, "TRAINING") == [(f"iteration {i}", i * 1e6, 750000, 1, {"epoch": i // 3}) for i in range(4)]
    assert spans(events, "gradient") == [("forward and backward", i * 1e6, 250000, 1, {}) for i in range(4)]
    assert spans(events, "update") == [("update", i * 1e6 + 250000, 500000, 1, {}) for i in range(4)]
    (epoch,) = (e for e in events if e.get("cat") == "epoch")
    assert (epoch["name"], epoch["ts"], epoch["dur"], epoch["ph"], epoch["s"]) == ("end of epoch 0", 3e6, 0, "i", "p")
    assert [(e["tid"], e["args"]["name"]) for e in events if e["ph"] == "M"] == [
        (0, "dl4py"), (1, "fit"), (2, "ops of one step, each by itself")]


def test_without_gradients(tmp_path, clock):
    events = traced(tmp_path / "t.json", clock, iterations=1, gradients=False, operation=Operation.EVALUATION)
    assert spans(events, "EVALUATION") == [("iteration 0", 0, 750000, 1, {"epoch": 0})]
    assert not spans(events, "gradient") and not spans(events, "update")


@pytest.mark.parametrize(("options", "wanted", "epochs"), [
    ({}, [0, 1, 2, 3, 4, 5], [0, 1]), ({"warmup": 1}, [1, 2, 3, 4, 5], [0, 1]), ({"warmup": 5}, [5], [1]), ({"warmup": 6}, None, []),
    ({"max_iterations": 1}, [0], []), ({"max_iterations": 3}, [0, 1, 2], []), ({"max_iterations": 4}, [0, 1, 2, 3], [0]),
    ({"warmup": 2, "max_iterations": 2}, [2, 3], [0]), ({"max_milliseconds": 749}, [0], []), ({"max_milliseconds": 1749}, [0], []),
    ({"max_milliseconds": 1750}, [0, 1], []), ({"max_milliseconds": 3000}, [0, 1, 2], [0]), ({"max_milliseconds": 2999}, [0, 1, 2], []),
    ({"warmup": 3, "max_milliseconds": 1750}, [3, 4], [])])
def test_which_iterations_are_recorded(tmp_path, clock, options, wanted, epochs):
    events = traced(tmp_path / "t.json", clock, **options)
    if wanted is None:
        assert events is None
        return
    assert [name for name, *_ in spans(events, "TRAINING")] == [f"iteration {i}" for i in wanted]
    assert [name for name, *_ in spans(events, "epoch")] == [f"end of epoch {i}" for i in epochs]
    assert spans(events, "TRAINING")[0][1] == 0


@pytest.mark.parametrize(("name", "least"), [("warmup", 0), ("max_iterations", 1), ("max_milliseconds", 1)])
def test_numbers_that_are_none(tmp_path, name, least):
    assert getattr(ProfilingListener(tmp_path / "t", **{name: least}), name) == least
    for wrong in (least - 1, True, 1.5, "2"):
        with pytest.raises(ConfigurationError, match=f"{name} must be a whole number of at least {least}, got {wrong!r}"):
            ProfilingListener(tmp_path / "t", **{name: wrong})


def test_the_builder(tmp_path):
    builder = ProfilingListener.builder(tmp_path / "t")
    plain = builder.build()
    assert (plain.warmup, plain.max_iterations, plain.max_milliseconds) == (0, None, None)
    assert [o for o in Operation if plain.is_active(o)] == [TRAINING]
    told = builder.warmup(3).max_profile_iterations(4).max_profiler_milliseconds(5).operations(Operation.INFERENCE, TRAINING).build()
    assert (told.warmup, told.max_iterations, told.max_milliseconds) == (3, 4, 5)
    assert told.operations == {Operation.INFERENCE, TRAINING} and told.output_file == tmp_path / "t"
    everything = builder.record_all().build()
    assert (everything.warmup, everything.max_iterations, everything.max_milliseconds) == (0, None, None)
    assert everything.operations == set(Operation)


# Statistics

class Model:
    """A network as far as statistics see it: one parameter that grows by 2 in each step, with a gradient of -2."""

    def __init__(self):
        self.count, self.weight = 0, np.zeros(2)

    def get_iteration_count(self):
        return self.count

    def gradient(self):
        return SimpleNamespace(gradient_for_variable=lambda: {"w": np.full(2, -2.0)})

    def param_table(self):
        return {"w": self.weight}

    def score(self):
        return float(10 - self.count)


def recorded(clock, storage, iterations=6, wanted=None, **options):
    model, listener = Model(), StatsListener(storage, **options)
    if wanted is not None:
        listener._wanted |= wanted
    for i in range(iterations):
        if hasattr(listener, "on_gradient_calculation"):
            listener.on_gradient_calculation(model)
        model.weight = model.weight + 2
        clock.now += 0.5
        listener.iteration_done(model, At(0, i, TRAINING), None)
        model.count += 1
    return storage.records()


def test_records(clock):
    first, second = recorded(clock, InMemoryStatsStorage(), 2, bins=3)
    assert {k: v for k, v in second.items() if k not in ("parameters", "gradients", "updates", "cpu_seconds", "memory_mb")} == {
        "session": first["session"], "iteration": 1, "epoch": 0, "time": 1005.0, "score": 9.0, "iteration_ms": 500.0, "etl_ms": 0,
        "recording_ms": 0.0, "examples": second["examples"]}
    assert first["run"]["model"] == "Model" and "run" not in second
    assert "iteration_ms" not in first and "examples" not in first and "learning_rate" not in first
    assert [(second[k]["w"]["mean"], sum(second[k]["w"]["histogram"]["counts"])) for k in ("parameters", "gradients", "updates")] == [
        (4, 2), (-2, 2), (-2, 2)]


ALL = [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("options", "wanted", "keys"), [
    ({}, None, {"score": ALL, "iteration_ms": ALL[1:], "parameters": ALL, "histogram": ALL}),
    ({"frequency": 2}, None, {"score": [0, 2, 4], "iteration_ms": [2, 4], "parameters": [0, 2, 4], "histogram": [0, 2, 4]}),
    ({"arrays": False}, None, {"score": ALL, "iteration_ms": ALL[1:], "parameters": [], "histogram": []}),
    ({"bins": 0}, None, {"parameters": ALL, "histogram": []}),
    ({}, {"norms": 2, "histograms": 3, "score": 0, "performance": 4}, {
        "score": [], "iteration_ms": [4], "parameters": [0, 2, 3, 4], "histogram": [0, 3]}),
    ({}, {"norms": 0, "histograms": 0, "score": 0, "performance": 0}, {"score": [], "parameters": []})])
def test_which_iterations_have_which_statistics(clock, options, wanted, keys):
    records = recorded(clock, InMemoryStatsStorage(), wanted=wanted, **options)
    for key, iterations in keys.items():
        holds = [r for r in records if key in {**r, **r.get("parameters", {}).get("w", {})}]
        assert [r["iteration"] for r in holds] == iterations, key
    assert all(len(r) > 3 for r in records)


def test_arrays_are_those_of_their_own_iteration(clock):
    records = recorded(clock, InMemoryStatsStorage(), wanted={"norms": 2, "histograms": 0})
    assert [(r["iteration"], r["parameters"]["w"]["mean"], r["updates"]["w"]["mean"]) for r in records if "parameters" in r] == [
        (0, 2, -2), (2, 6, -2), (4, 10, -2)]
