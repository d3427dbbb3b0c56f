"""Listeners of graphs, in a group and alone, hear the same; failures on purpose say where a graph stands."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import (
    CallType,
    ComposableIterationListener,
    FailureMode,
    FailureTestingListener,
    InjectedFailure,
    Listener,
    ListenerResponse,
    Sgd,
    TrainingConfig,
)
from dl4py.samediff.training.listeners.listener import HOOKS
from dl4py.samediff.training.listeners.operation import Operation

DATA = [DataSet(np.ones((2, 3), "f"), np.ones((2, 1), "f")) for _ in range(3)]


def graph():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.placeholder("y", DataType.FLOAT, -1, 1)
    sd.loss.mean_squared_error("loss", y, x.mmul(sd.var("w", np.full((3, 1), 0.1, "f"))).rename("out"), None)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(updater=Sgd(0.01), data_set_feature_mapping=["x"], data_set_label_mapping=["y"]))
    return sd


def told(calls, hook):
    def hear(self, *args):
        times = hook in ("epoch_end", "validation_done", "iteration_start")     # whose last number is a time
        calls.append((hook, *(repr(a) if isinstance(a, (str, Operation)) or type(a).__name__ == "At" else type(a).__name__
                              for a in (args[:-1] if times else args))))
    return hear


def heard_by(sd, wrap):
    calls = []
    listener = type("Heard", (Listener,), {h: told(calls, h) for h in HOOKS if h not in ("is_active", "required_variables")})()
    sd.fit(DATA, epochs=2, validation_data=DATA[:1], listeners=[wrap(listener)])
    return calls


def test_a_group_hears_every_hook_of_a_graph_with_the_same_arguments():
    alone, grouped = heard_by(graph(), lambda one: one), heard_by(graph(), ComposableIterationListener)
    assert grouped == alone
    assert {"epoch_end", "validation_done", "pre_update", "op_execution", "activation_available"} <= {c[0] for c in alone}


@pytest.mark.parametrize("hook", ["epoch_end", "validation_done"])
def test_a_group_stops_a_graph(hook):
    stop = type("Stop", (Listener,), {hook: lambda self, *args: ListenerResponse.STOP})()
    sd = graph()
    sd.fit(DATA, epochs=4, validation_data=DATA[:1], listeners=[ComposableIterationListener(stop)])
    assert sd.get_training_config().epoch_count == 1


@pytest.mark.parametrize(("call", "where"), [(CallType.EPOCH_START, "EPOCH_START, iteration 3, epoch 1"),
                                             (CallType.ITER_DONE, "ITER_DONE, iteration 3, epoch 1")])
def test_failures_in_a_graph_say_where_it_stands(call, where):
    listener = FailureTestingListener(FailureMode.ILLEGAL_STATE, FailureTestingListener.iteration_epoch_trigger(True, 1, call))
    with pytest.raises(InjectedFailure, match=where):
        graph().fit(DATA, epochs=3, listeners=[listener])


class Silent(Listener):
    """It does nothing."""


def test_listeners_for_a_while_leave_those_that_were_set_meanwhile():
    sd, own, more, other = graph(), Silent(), Silent(), Silent()
    sd.set_listeners(own)
    with sd.hearing(more):
        assert sd.get_listeners() == [own, more]
    assert sd.get_listeners() == [own]
    with sd.hearing(more):
        sd.set_listeners(other)
    assert sd.get_listeners() == [other]
    with pytest.raises(ZeroDivisionError), sd.hearing(more):
        1 / 0  # noqa: B018
    assert sd.get_listeners() == [other]


def test_a_batch_is_inside_as_long_as_its_piece_lasts():
    sd = graph()
    assert not sd.is_inside_batch()
    for inside in (True, False):
        with pytest.raises(ZeroDivisionError), sd.inside_batch(inside):
            assert sd.is_inside_batch() is inside
            1 / 0  # noqa: B018
        assert not sd.is_inside_batch()
