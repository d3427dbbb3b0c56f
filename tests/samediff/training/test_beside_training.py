"""Other threads that save, set and change a graph while it is trained see whole steps; listeners may wait for them."""
from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.training import Adam, Listener, Sgd, TrainingConfig

WAIT = 60
SIZE = 40_000


def graph(updater=None, size=SIZE):
    """Every value of every variable is the number of steps; Adam's state changes too."""
    sd = SameDiff.create()
    x = sd.placeholder("x", "double", -1, 1)
    sd.placeholder("y", "double", -1, 1)
    total = sum(sd.var(n, np.zeros(size)).sum() for n in ("a", "b"))
    (total + x.sum() * 0).rename("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(updater or Sgd(1.0), minimize=False, data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


BATCH = [(np.ones((1, 1)), np.ones((1, 1)))]


class Beside:
    """A thread that fits until the block ends; what it raised is raised there."""

    def __init__(self, sd, *listeners):
        self.sd, self.listeners, self.ended, self.failed = sd, listeners, threading.Event(), []
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            self.sd.fit(self.batches(), epochs=1, listeners=list(self.listeners))
        except Exception as error:
            self.failed.append(error)

    def batches(self):
        yield BATCH[0]          # the block may end before the training begins
        while not self.ended.is_set():
            yield BATCH[0]

    def __enter__(self):
        self.sd.fit(BATCH, epochs=1)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join(WAIT)
        assert not self.thread.is_alive() and not self.failed, self.failed


class Quiet(Listener):
    def pre_update(self, sd, at, variable, update):
        pass


@pytest.mark.sampled(2)
@pytest.mark.parametrize("listeners", [(), (Quiet(),)], ids=["in one go", "in turn"])
def test_saved_are_whole_steps(listeners):
    sd = graph()
    with Beside(sd, *listeners):
        for _ in range(60):
            stored = SameDiff.from_flat_buffers(sd.as_flat_buffers(True)) if listeners else sd.dup()
            values = {*stored.stored("a").tolist(), *stored.stored("b").tolist(), float(stored.get_training_config().iteration_count)}
            assert len(values) == 1


def test_values_that_are_set_stay():
    sd = graph()
    with Beside(sd):
        for k in range(60):
            sd.set_array("a", np.full(SIZE, 1e6 * (k + 1)))
            sd.associate_array_with_variable(np.full(SIZE, 1e6 * (k + 1)), "b")
            stored = sd.dup()
            assert np.unique(stored.stored("a")).size == np.unique(stored.stored("b")).size == 1
            assert stored.stored("a")[0] >= 1e6 * (k + 1)


def test_what_becomes_a_constant_stays_as_it_is():
    sd = graph()
    with Beside(sd):
        sd.convert_to_constant("a")
        first, steps = sd.stored("a").copy(), sd.get_training_config().iteration_count
        assert np.unique(first).size == 1
        while sd.get_training_config().iteration_count < steps + 20:
            pass
    assert np.array_equal(sd.stored("a"), first) and sd.stored("b")[0] == sd.get_training_config().iteration_count


@pytest.mark.parametrize("updater", [Sgd(1.0), Adam(0.1)], ids=["Sgd", "Adam"])
def test_a_variable_may_be_renamed(updater):
    sd = graph(updater)
    with Beside(sd):
        for k in range(20):
            sd.rename_variable("a" if not k else f"a{k - 1}", f"a{k}")
    assert np.array_equal(sd.stored("a19"), sd.stored("b"))
    if isinstance(updater, Sgd):
        assert sd.stored("b")[0] == sd.get_training_config().iteration_count


class Asking(Listener):
    """Does something in another thread, and waits for it."""

    def __init__(self, hook, act):
        self.act, self.done = act, 0
        setattr(self, hook, self.ask)

    def ask(self, *_, **__):
        with ThreadPoolExecutor(1) as other:
            other.submit(self.act).result(WAIT)
        self.done += 1


@pytest.mark.parametrize("hook", ["pre_update", "iteration_start", "iteration_done", "operation_start", "operation_end",
                                  "epoch_start", "epoch_end", "op_execution", "activation_available"])
@pytest.mark.parametrize("act", [lambda sd: sd.save(io.BytesIO(), True), lambda sd: sd.dup(),
                                 lambda sd: sd.output({"x": np.ones((1, 1))}, "loss"),
                                 lambda sd: sd.set_array("a", np.zeros(3))], ids=["save", "dup", "output", "set"])
def test_listeners_may_wait_for_who_uses_the_graph(hook, act):
    sd = graph(size=3)
    asking = Asking(hook, lambda: act(sd))
    sd.fit(BATCH * 2, epochs=1, listeners=[asking])
    assert asking.done >= 1 and sd.stored("b")[0] == 2


@pytest.mark.parametrize("hook", ["pre_update", "iteration_done", "activation_available"])
def test_two_trainings_may_look_at_each_other(hook):
    one, two = graph(size=3), graph(size=3)
    met = threading.Barrier(2)

    def look(other):
        met.wait(WAIT)
        other.save(io.BytesIO(), True)
        other.output({"x": BATCH[0][0]}, "loss")

    class Looking(Listener):
        def __init__(self, other):
            setattr(self, hook, lambda *_, **__: look(other))
    with ThreadPoolExecutor(2) as threads:
        for run in [threads.submit(a.fit, BATCH * 3, epochs=1, listeners=[Looking(b)]) for a, b in ((one, two), (two, one))]:
            run.result(WAIT)
    assert one.stored("a")[0] == two.stored("b")[0] == 3


def test_updates_are_heard_before_they_are_made():
    sd = graph(size=3)
    seen = []

    class Seeing(Listener):
        def pre_update(self, sd, at, variable, update):
            seen.append((variable.name(), variable.get_arr()[0], update[0], sd.get_training_config().iteration_count))
    sd.fit(BATCH * 2, epochs=1, listeners=[Seeing()])
    assert seen == [("a", 0, 1, 0), ("b", 0, 1, 0), ("a", 1, 1, 1), ("b", 1, 1, 1)]


def test_what_a_listener_sets_is_updated_too():
    sd = graph(size=3)

    class Setting(Listener):
        def pre_update(self, sd, at, variable, update):
            sd.set_array("a", np.full(3, 10.0))
            if variable.name() == "b":
                update *= 2
    sd.fit(BATCH, epochs=1, listeners=[Setting()])
    assert sd.stored("a").tolist() == [11.0] * 3 and sd.stored("b").tolist() == [2.0] * 3


def test_an_exception_between_leaves_the_step_before():
    sd = graph(Adam(0.1), size=3)
    sd.fit(BATCH, epochs=1)
    before = sd.as_flat_buffers(True)

    class Failing(Listener):
        def pre_update(self, sd, at, variable, update):
            if variable.name() == "b":
                raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        sd.fit(BATCH, epochs=1, listeners=[Failing()])
    assert sd.as_flat_buffers(True) == before


def test_steps_use_the_graph_as_it_is_when_they_start():
    sd = graph(size=3)
    sd.constant("c", np.ones(3))
    (sd.variable("loss") + (sd.variable("a") * sd.variable("c")).sum()).rename("more")
    sd.set_loss_variables("more")

    class Setting(Listener):
        def iteration_start(self, sd, at, batch, etl_ms):
            if at.iteration() == 1:
                sd.set_array("c", np.full(3, 5.0))
            if at.iteration() == 2:
                sd.convert_to_constant("b")
    sd.fit(BATCH * 3, epochs=1, listeners=[Setting()])
    assert sd.stored("a").tolist() == [2 + 6 + 6] * 3 and sd.stored("b").tolist() == [2] * 3
