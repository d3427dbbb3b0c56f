"""What ``fit`` takes besides data: order and weights of rows, listeners for one call; alike in lists of layers and graphs."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer, RnnOutputLayer
from dl4py.samediff import DataSet, ListDataSetIterator
from dl4py.samediff.errors import ConfigurationError, DL4PyError, GraphError, ShapeError
from dl4py.samediff.training import BaseTrainingListener
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).normal(size=(6, 4))
Y = np.eye(3)[[0, 1, 2, 0, 1, 2]]
WEIGHTS = [2, 0, 1, 3, 0.5, 1]


def made(as_graph=False, **options):
    net = network(DenseLayer(n_in=4, n_out=5), OutputLayer(**{"n_in": 5, "n_out": 3, **options}))
    return net.to_computation_graph() if as_graph else net


@pytest.fixture(params=[False, True], ids=["list", "graph"])
def net(request):
    return made(request.param)


def steps(net, *calls):
    """What each call adds to the parameters of a copy."""
    found = []
    for call in calls:
        copy = net.clone()
        call(copy)
        found.append(copy.params() - net.params())
    return found


def test_a_weight_counts_an_example_so_often(net):
    often = np.repeat(np.arange(6), [4, 0, 2, 6, 1, 2])
    by_weight, by_number = steps(net, lambda n: n.fit(X, Y, sample_weight=WEIGHTS), lambda n: n.fit(X[often], Y[often]))
    np.testing.assert_allclose(by_weight * 6, by_number * len(often) / 2, rtol=1e-4, atol=1e-6)


def test_weights_go_with_their_rows_and_times_masks(net):
    halves, one = steps(
        net, lambda n: n.fit(X, Y, sample_weight=WEIGHTS, batch_size=3),
        lambda n: (n.fit(X[:3], Y[:3], None, np.array(WEIGHTS[:3])[:, None]), n.fit(X[3:], Y[3:], None, np.array(WEIGHTS[3:])[:, None])))
    np.testing.assert_array_equal(halves, one)
    mask = np.array([[1], [1], [0], [1], [1], [0]])
    both, product = steps(net, lambda n: n.fit(DataSet(X, Y, None, mask), sample_weight=WEIGHTS),
                          lambda n: n.fit(X, Y, None, mask * np.array(WEIGHTS)[:, None]))
    np.testing.assert_array_equal(both, product)


@pytest.mark.parametrize("given", [{0: 2, 2: 0.5}, [2, 1, 0.5]])
@pytest.mark.parametrize("labels", [Y, Y.argmax(1)])
def test_weights_of_classes(net, given, labels):
    by_class, by_row = steps(net, lambda n: n.fit(X, labels, class_weight=given),
                             lambda n: n.fit(X, Y, sample_weight=np.array([2, 1, 0.5])[Y.argmax(1)]))
    np.testing.assert_array_equal(by_class, by_row)


def test_weights_of_two_classes_of_one_output():
    net, labels = made(n_out=1, activation="sigmoid", loss="xent"), np.array([0, 1, 1, 0, 1, 0])
    by_class, by_row = steps(net, lambda n: n.fit(X, labels, class_weight={1: 3}), lambda n: n.fit(X, labels, sample_weight=1 + 2 * labels))
    np.testing.assert_array_equal(by_class, by_row)


def test_a_column_of_class_numbers_names_more_classes_than_it_holds():
    net = made(n_out=3, activation="softmax", loss="sparse_mcxent")
    labels = np.array([[0], [1], [1], [0], [1], [0]])
    weights = 1 + 2 * labels[:, 0]
    by_row, *by_class = steps(net, lambda n: n.fit(X, labels, sample_weight=weights), lambda n: n.fit(X, labels, class_weight={1: 3, 2: 5}),
                              lambda n: n.fit(X, labels, class_weight=[1, 3, 5]))
    for found in by_class:
        np.testing.assert_array_equal(found, by_row)
    for wrong, said in (({-1: 2}, "from 0 on"), ([1], "each of 2 classes"), ([[1, 2]], "each of 2 classes")):
        with pytest.raises(DL4PyError, match=said):
            net.fit(X, labels, class_weight=wrong)


@pytest.mark.parametrize("value", [0.5, -1.0, np.nan])
def test_targets_that_are_no_classes_have_no_weights_of_classes(value):
    net = made(n_out=1, activation="identity", loss="mse")
    with pytest.raises(ConfigurationError, match="labels that are classes.*got"):
        net.fit(X, np.array([[0], [1], [value], [0], [1], [0]]), class_weight={1: 3})


def test_weights_of_series():
    net = network(RnnOutputLayer(n_in=4, n_out=2, activation="softmax", loss="mcxent"))
    rng = np.random.default_rng(0)
    x, classes = rng.normal(size=(3, 4, 5)), rng.integers(0, 2, (3, 5))
    y = np.eye(2)[classes].transpose(0, 2, 1)
    mask = np.array([2.0, 0, 1])[:, None] * np.array([1.0, 4])[classes]
    weighted, masked = steps(net, lambda n: n.fit(x, y, sample_weight=[2, 0, 1], class_weight={1: 4}), lambda n: n.fit(x, y, None, mask))
    np.testing.assert_array_equal(weighted, masked)


def test_shuffled_rows_are_the_same_rows_in_an_order_of_each_epoch(net):
    class Seen(BaseTrainingListener):
        def __init__(self):
            self.rows = []

        def on_forward_pass(self, model, activations):
            first = activations[0] if isinstance(activations, list) else next(iter(activations.values()))
            self.rows.append(np.array(first))

    def rows(copy, **options):
        seen = Seen()
        copy.fit(X, Y, batch_size=4, epochs=2, listeners=[seen], **options)
        assert [len(r) for r in seen.rows] == [4, 2, 4, 2]
        assert copy.get_listeners() == []
        epochs = np.concatenate(seen.rows)[:, :4].reshape(2, 6, 4)
        return [[int(np.abs(X - row).sum(1).argmin()) for row in epoch] for epoch in epochs]
    assert rows(net.clone()) == [list(range(6))] * 2
    first, second = rows(net.clone(), shuffle=True)
    assert sorted(first) == sorted(second) == list(range(6))
    assert first != second != list(range(6)) != first
    assert rows(net.clone(), shuffle=True) == [first, second]
    watched, quick = steps(net, lambda n: n.fit(X, Y, batch_size=4, epochs=2, shuffle=True, listeners=[Seen()]),
                           lambda n: n.fit(X, Y, batch_size=4, epochs=2, shuffle=True))
    np.testing.assert_array_equal(watched, quick)


def test_listeners_of_a_call_that_fails_go_too(net):
    class Failing(BaseTrainingListener):
        def iteration_done(self, model, iteration, epoch):
            raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"):
        net.fit(X, Y, listeners=[Failing()])
    assert net.get_listeners() == []
    for wrong in ([3], 3):
        with pytest.raises(ConfigurationError, match="listener"):
            net.fit(X, Y, listeners=wrong)
    with pytest.raises(RuntimeError, match="enough"):
        net.fit(X, Y, listeners=Failing())


@pytest.mark.parametrize("options, error, said", [
    ({"sample_weight": [1, 2]}, ShapeError, r"each of 6 examples; got shape \(2,\)"),
    ({"sample_weight": [1, 2, 3, 4, 5, -1]}, ConfigurationError, "from 0 on; got -1"),
    ({"sample_weight": [1, 2, 3, 4, 5, np.nan]}, ConfigurationError, "from 0 on; got nan"),
    ({"class_weight": {3: 1}}, ConfigurationError, "class 3; classes are numbers 0 … 2"),
    ({"class_weight": {"a": 1}}, ConfigurationError, "class 'a'"),
    ({"class_weight": [1, 2]}, ShapeError, "each of 3 classes"),
    ({"class_weight": {0: np.inf}}, ConfigurationError, "from 0 on"),
    ({"shufle": True}, GraphError, "did you mean 'shuffle'"),
    ({"sample_weights": WEIGHTS}, GraphError, "did you mean 'sample_weight'"),
])
def test_what_does_not_fit_is_refused(net, options, error, said):
    before = net.params().copy()
    with pytest.raises(error, match=said):
        net.fit(X, Y, **options)
    np.testing.assert_array_equal(net.params(), before)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sample_weight": WEIGHTS}, {"batch_size": 2}])
def test_rows_of_iterators_are_theirs(net, options):
    with pytest.raises(GraphError, match=f"{next(iter(options))} is for the rows of one data set"):
        net.fit(ListDataSetIterator(DataSet(X, Y).as_list(), 3), **options)


def test_weights_need_labels():
    net = network(OutputLayer(n_in=4, n_out=3))
    with pytest.raises(DL4PyError, match="need labels"):
        net.fit(DataSet(X, None), sample_weight=WEIGHTS)
