"""Copies of arrays to another order of their elements, and what kernels copy that do not take an order."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.layers import Convolution1DLayer, EmbeddingSequenceLayer, GlobalPoolingLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.cpu.code import frame
from dl4py.samediff.cpu.code.fused import BLOCKS, _walked, stored
from dl4py.samediff.cpu.native.program import Program


def _ordered(array, order):
    """The same numbers, axes in memory in that order."""
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


@pytest.mark.parametrize("shape", [(5, 3), (70, 64), (64, 512), (96, 4, 33), (2, 3, 4, 5)])
def test_every_order_into_every_other(rng, shape):
    numbers = rng.standard_normal(shape).astype(np.float32)
    orders = list(itertools.permutations(range(len(shape))))
    for given, made in itertools.product(orders[::5] if len(orders) > 6 else orders, repeat=2):
        target = _ordered(np.full(shape, np.nan, np.float32), made)
        Program([stored(_ordered(numbers, given), target)])()
        np.testing.assert_array_equal(target, numbers)


def test_views_backwards_and_repeated(rng):
    numbers = rng.standard_normal((40, 6)).astype(np.float32)
    for x, target in ((numbers[::-1, ::2], np.empty((3, 40), np.float32).T), (numbers[:1], np.empty((6, 40), np.float32).T),
                      (numbers[:, 0], np.empty((40, 40), np.float64)), (np.float32(3).reshape(()), np.empty((7, 9), np.float32).T)):
        Program([stored(x, target)])()
        np.testing.assert_array_equal(target, np.broadcast_to(x, target.shape))


@pytest.mark.parametrize(("rows", "columns"), [(10000, 64), (64, 10000), (512, 512), (1024, 256)])
def test_a_loop_finds_neighbours_of_both(rows, columns):
    """The innermost axis is that of neighbours in one array, no longer than the other one's places in the cache allow."""
    x, target = _walked(np.empty((rows, columns), np.float32), np.empty((columns, rows), np.float32).T)
    assert x.strides[-1] == 4 and target.strides[-2] == 4
    assert x.shape[-1] <= BLOCKS[0] and x.shape[-1] * np.gcd(target.strides[-1], 4096) <= 8 * 4096


def test_only_what_a_kernel_does_not_take_is_copied(monkeypatch):
    """A table in column order, as networks have it, stays where it is, though the gradient of its rows comes in another order."""
    copied = []
    monkeypatch.setattr(frame, "stored", lambda x, target: copied.append(x.shape) or stored(x, target))
    layers = [EmbeddingSequenceLayer(n_in=200, n_out=3), Convolution1DLayer(kernel_size=2, n_out=4), GlobalPoolingLayer(),
              OutputLayer(n_out=2)]
    configuration = NeuralNetConfiguration.Builder().seed(1).list(*layers).set_input_type(InputType.recurrent(200, 5)).build()
    net = MultiLayerNetwork(configuration).init()
    net.fit(np.arange(20, dtype=np.float32).reshape(4, 1, 5), np.eye(2, dtype=np.float32)[[0, 1, 1, 0]])
    assert copied and (200, 3) not in copied
