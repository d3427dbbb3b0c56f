"""Exceptions of user ops, listeners and iterators: their own line stays visible, op and layer are named, whole steps are kept."""
from __future__ import annotations

import traceback

import numpy as np
import pytest

from dl4py.layers import FeedForwardLayer, OutputLayer, layer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelInference, ParallelWrapper
from dl4py.samediff.data import AsyncDataSetIterator, DataSet, ListDataSetIterator
from dl4py.samediff.training import Listener
from dl4py.udf import user_op

X, Y = np.ones((8, 3)), np.eye(2)[[0, 1] * 4]
BATCHES = [DataSet(X[:2] * (k + 1), Y[:2]) for k in range(8)]


class Bomb:
    """Raises at a call that is chosen."""

    left = 10**9


@user_op("test_failures.fuse", infer=lambda x: x, grad=lambda inputs, outputs, output_grads: [output_grads[0]])
def fuse(xp, x):
    Bomb.left -= 1
    if Bomb.left < 0:
        raise KeyError("went off")
    return np.array(x)


@layer("test_failures.Fused")
class Fused(FeedForwardLayer):
    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        return fuse(x.mmul(params["W"]))


@pytest.fixture(autouse=True)
def disarmed():
    Bomb.left = 10**9
    yield
    Bomb.left = 10**9


def network():
    conf = NeuralNetConfiguration.Builder().seed(1).list().layer(Fused(n_in=3, n_out=4)).layer(OutputLayer(n_in=4, n_out=2)).build()
    net = MultiLayerNetwork(conf).init()
    net.output(X)           # what is worked out from shapes runs the code too
    return net


def inference(net):
    with_threads = ParallelInference.Builder(net).workers(2).build()
    try:
        with_threads.output(X)
    finally:
        with_threads.shutdown()


WAYS = {
    "output": lambda net: net.output(X), "fit": lambda net: net.fit(X, Y), "series": lambda net: net.fit(BATCHES), "inference": inference,
    "wrapper": lambda net: ParallelWrapper.Builder(net).workers(2).build().fit(BATCHES), "score": lambda net: net.score(DataSet(X, Y)),
    "asynchronous": lambda net: net.fit(AsyncDataSetIterator(ListDataSetIterator(BATCHES, 2), 2))}


@pytest.mark.parametrize("way", WAYS)
def test_a_user_op_names_itself_its_line_and_its_layer_on_every_thread(way):
    net = network()
    Bomb.left = 0
    with pytest.raises(KeyError, match="went off") as caught:
        WAYS[way](net)
    notes = "\n".join(caught.value.__notes__)
    assert "user op 'test_failures.fuse'" in notes and 'raise KeyError("went off")' in notes and "layer0" in notes
    assert any(f.line == 'raise KeyError("went off")' for f in traceback.extract_tb(caught.value.__traceback__))
    Bomb.left = 10**9
    assert np.isfinite(net.output(X)).all()


@pytest.mark.parametrize("calls", range(1, 9))
def test_whole_steps_are_kept(calls):
    net, other = network(), network()
    Bomb.left = calls
    with pytest.raises(KeyError):
        net.fit(BATCHES)
    Bomb.left = 10**9
    for batch in BATCHES[:net.get_iteration_count()]:
        other.fit(batch)
    np.testing.assert_array_equal(net.params(), other.params())
    assert net.get_iteration_count() == other.get_iteration_count()


@pytest.mark.parametrize("hook", ["iteration_done", "epoch_start", "epoch_end", "on_epoch_start", "on_epoch_end"])
def test_listeners_are_named(hook):
    def raises(self, *args):
        raise OSError("listener")
    cls = type("Told", (Listener,), {hook: raises, "__module__": "acme.listeners"})
    net = network()
    net.set_listeners(cls())
    with pytest.raises(OSError, match="listener") as caught:
        net.fit(BATCHES)
    assert any("of listener acme.listeners.Told" in note for note in caught.value.__notes__)
    assert 'raise OSError("listener")' in [f.line for f in traceback.extract_tb(caught.value.__traceback__)]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_iterators_keep_their_line(asynchronous):
    class Torn(ListDataSetIterator):
        def next(self, *count):
            raise OSError("torn")
    source = Torn(BATCHES, 2)
    with pytest.raises(OSError, match="torn") as caught:
        network().fit(AsyncDataSetIterator(source, 2) if asynchronous else source)
    assert 'raise OSError("torn")' in [f.line for f in traceback.extract_tb(caught.value.__traceback__)]
