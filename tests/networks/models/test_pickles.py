"""Pickles of networks and ops whose classes and functions are lambdas or are written in functions."""
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dl4py.layers import DenseLayer, FeedForwardLayer, IActivation, LayerConstraint, OutputLayer, lambda_layer, layer
from dl4py.samediff.configuration import classes
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError, MissingOpError
from dl4py.udf import UserOp, user_op
from tests.helpers.networkcheck import network

X, Y = np.random.default_rng(3).normal(size=(6, 4)), np.eye(3)[[0, 1, 2, 0, 1, 2]]


def local_layer():
    @layer("test_pickles.Local")
    class Local(FeedForwardLayer):
        scale: float = 2.0

        def define_parameters(self, params):
            params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

        def define_layer(self, sd, x, params, mask):
            return x.mmul(params["W"]) * self.scale
    return Local(n_in=4, n_out=5, scale=3.0)


def lambda_of_a_function():
    return lambda_layer("test_pickles.lambda")(lambda sd, x: sd.nn.tanh(x))()


def local_parts():
    @configuration("test_pickles.Act")
    class Act(IActivation):
        def define(self, sd, x):
            return sd.nn.tanh(x)

    @configuration("test_pickles.Most")
    class Most(LayerConstraint):
        limit: float = 0.3

        def constrained(self, xp, param):
            return xp.minimum(param, self.limit)
    return DenseLayer(n_in=4, n_out=5, activation=Act(), constraints=(Most(0.2),))


def of(first):
    if isinstance(first, (FeedForwardLayer,)):
        return network(first, OutputLayer(n_in=5, n_out=3))
    return network(DenseLayer(n_in=4, n_out=5), first, OutputLayer(n_in=5, n_out=3))


@pytest.mark.parametrize("make", [local_layer, lambda_of_a_function, local_parts])
def test_classes_that_are_found_by_their_registered_names(make):
    net = of(make())
    net.fit(X, Y)
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net), net.clone()):
        assert other == net and type(other.get_layer(0)) is type(net.get_layer(0))
        np.testing.assert_array_equal(other.output(X), net.output(X))
    conf = pickle.loads(pickle.dumps(net.configuration))
    assert conf == net.configuration and copy.deepcopy(conf) == conf


def test_a_pickle_where_nobody_registers_the_class(monkeypatch):
    data = pickle.dumps(of(local_layer()))
    monkeypatch.delitem(classes._REGISTRY, "test_pickles.Local")
    with pytest.raises(MissingOpError, match="registered as test_pickles.Local"):
        pickle.loads(data)


def test_classes_without_names():
    class Hidden(DenseLayer):
        """Neither in a module nor registered."""
    net = of(Hidden(n_in=4, n_out=5))
    with pytest.raises(ConfigurationError, match=r"cannot be pickled: .*Hidden.*top of a module, or register a class under a name"):
        pickle.dumps(net)
    assert copy.deepcopy(net) == net and net.clone() == net


def test_ops():
    @user_op("test_pickles.local")
    def local(xp, x, *, beta: float = 1.0):
        return xp.tanh(x * beta)

    @user_op("test_pickles.Local")
    class Local(UserOp):
        beta: float = 1.0

        def compute(self, xp, x):
            return xp.tanh(x * self.beta)
    assert pickle.loads(pickle.dumps(local)) is local
    for one in (local.op_class(beta=2.0), Local(beta=2.0)):
        for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert other == one and type(other) is type(one)
