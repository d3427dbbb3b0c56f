"""The parts behind a network: what a changed configuration replaces, what it keeps, and graphs that are built once."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks.batches.batch import NetworkBatch
from dl4py.samediff.errors import GraphError
from tests.helpers.networkcheck import network

X, Y = np.ones((3, 4)), np.eye(2)[[0, 1, 0]]


def small():
    return network(DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2))


def test_a_changed_configuration_replaces_what_depends_on_it():
    net = small()
    net.fit(X, Y)
    engine, old = net.engine, dict(vars(net.engine))
    params, score = net.params(), net.score()
    net.set_learning_rate(0.5)
    replaced = {name for name, part in vars(engine).items() if part is not old[name]}
    assert replaced == {"structure", "parameters", "place", "graphs", "forward", "steps", "updates", "_alone"}
    np.testing.assert_array_equal(net.params(), params)
    assert (net.score(), net.get_iteration_count()) == (score, 1)
    assert not engine.graphs.plain and not engine.steps.known and engine.steps.last is None


def test_each_form_has_one_graph_whatever_the_threads():
    graphs, found = small().engine.graphs, []
    batch = NetworkBatch([X], [Y])
    threads = [threading.Thread(target=lambda: found.append(graphs.step(batch))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(step) for step, _ in found}) == len({id(made) for _, made in found}) == 1
    assert graphs.of(batch.unlabelled()) is not graphs.of(batch) is found[0][1]


def test_parts_of_a_network_have_its_parameters_and_counters():
    net = small()
    alone, part = net.engine.alone("0"), net.engine.part(0, 1)
    assert net.engine.alone("0") is alone
    for forward in (alone, part):
        assert forward.graphs.parameters is net.engine.parameters and forward.progress is net.engine.progress
    net.get_param("0_W")[...] = 0
    assert not alone.activations(NetworkBatch([X]), ["0"])[0][0].any()


@pytest.mark.parametrize("inputs", [[], [X, X]])
def test_another_number_of_inputs_is_refused(inputs):
    with pytest.raises(GraphError, match="1 inputs"):
        small().engine.graphs.of(NetworkBatch(inputs))
