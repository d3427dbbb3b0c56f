"""Recurrent ops: against plain loops, gradients, masks, directions, messages."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff import DataType, LSTMLayerConfig, LSTMLayerWeights, SameDiff
from dl4py.samediff.errors import GraphError, ShapeError
from dl4py.samediff.ir.op import OPS
from tests.helpers.gradcheck import check_gradients
from tests.samediff.ops.rows.op_table import ROWS


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def weights(inputs=2, units=3, extra=0):
    return {"w": numbers(inputs, 4 * units, seed=1), "rw": numbers(units, 4 * units + extra, seed=2), "b": numbers(4 * units, seed=3)}


def plain_lstm(x, w, rw, b):
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))
    n = rw.shape[0]
    h = c = np.zeros((len(x), n))
    out = []
    for t in range(x.shape[2]):
        a, f, o, g = np.split(x[:, :, t] @ w + h @ rw + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(g) * np.tanh(a)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out, 2), h, c


@pytest.mark.parametrize("executor", ["", "reference"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_lstm_of_networks(monkeypatch, executor, kind):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    x, given = numbers(4, 2, 5), weights()
    sd = SameDiff.create()
    made = sd.rnn.dl4j_lstm(["h"], *(sd.constant(v.astype(kind)) for v in (x, *given.values())), "tanh", "sigmoid")
    assert made[0].name() == "h"
    for got, wanted in zip(made, plain_lstm(x, *given.values()), strict=True):
        assert got.eval().dtype == kind
        assert np.allclose(got.eval(), wanted, atol=1e-12 if kind == np.float64 else 1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("peepholes", "masked", "activation", "gate"), [
    *itertools.product((0, 3), (False, True), ("tanh",), ("sigmoid",)), (3, True, "softsign", "hard_sigmoid"),
    (0, False, "elu", "sigmoid")])
def test_gradients_of_the_lstm_of_networks(peepholes, masked, activation, gate):
    mask = np.array([[1, 1, 0], [1, 0, 1]], np.int32)

    def build(sd, x, w, rw, b, h0, c0):
        m = sd.constant(mask) if masked else None
        return sd.rnn.dl4j_lstm(x, w, rw, b, h0, c0, m, activation, gate)
    states = {"h0": numbers(2, 3, seed=4), "c0": numbers(2, 3, seed=5)}
    check_gradients(build, {"x": numbers(2, 2, 3), **weights(extra=peepholes), **states}, order=1)


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_the_simple_network(masked):
    def build(sd, x, w, rw, b):
        m = sd.constant(np.array([[1, 1, 0], [0, 1, 1]], np.float64)) if masked else None
        return sd.rnn.dl4j_simple_rnn(x, w, rw, b, None, m, "tanh")
    check_gradients(build, {"x": numbers(2, 2, 3), "w": numbers(2, 3), "rw": numbers(3, 3, seed=1), "b": numbers(3, seed=2)}, order=1)


def test_masked_steps_are_zero_and_carry_nothing():
    sd = SameDiff.create()
    given = weights()
    mask = np.array([[1, 0, 1]], np.float64)
    x, constants = numbers(1, 2, 3), [sd.constant(v) for v in given.values()]
    h, _, _ = sd.rnn.dl4j_lstm(sd.constant(x), *constants, None, None, sd.constant(mask), "tanh", "sigmoid")
    after, _, _ = sd.rnn.dl4j_lstm(sd.constant(x[:, :, 2:].copy()), *constants, "tanh", "sigmoid")
    assert not h.eval()[:, :, 1].any()
    assert np.allclose(h.eval()[:, :, 2:], after.eval())


def layer(sd, x, w, rw, b, **options):
    return sd.rnn.lstm_layer(x, LSTMLayerWeights(weights=w, r_weights=rw, bias=b), LSTMLayerConfig(**options))


def test_a_node_that_promises_other_inputs_than_it_has():
    sd, op = SameDiff.create(), OPS["lstmLayer"]
    given = [sd.constant(numbers(4, 2, 2)), *(sd.constant(v) for v in weights().values())]
    assert sd.add_op(op(has_bias=True), given)[0].get_shape() == (4, 2, 3)
    for flags in ({}, {"has_bias": True, "has_h": True}):
        with pytest.raises(GraphError, match=f"{len(flags)} more inputs"):
            sd.add_op(op(**flags), given)


@pytest.mark.parametrize(("layout", "axes"), [("NTS", (1, 0, 2)), ("NST", (1, 2, 0))])
def test_layouts_of_the_layer(layout, axes):
    sd = SameDiff.create()
    x, given = numbers(4, 2, 2), [sd.constant(v) for v in weights().values()]
    (first,) = layer(sd, sd.constant(x), *given)
    (second,) = layer(sd, sd.constant(x.transpose(axes).copy()), *given, lstmdataformat=layout)
    assert np.allclose(first.eval().transpose(axes), second.eval())


def test_backward_is_forward_on_the_reversed_sequence():
    sd = SameDiff.create()
    x, given = numbers(4, 2, 2), [sd.constant(v) for v in weights().values()]
    (back,) = layer(sd, sd.constant(x), *given, direction_mode="BWD")
    (forth,) = layer(sd, sd.constant(x[::-1].copy()), *given)
    assert np.allclose(back.eval(), forth.eval()[::-1])


@pytest.mark.slow
@pytest.mark.parametrize(("peepholes", "options"), [
    (False, {}), (True, {"cell_clip": 0.4}), (False, {"direction_mode": "BWD", "cell_act": "SOFTSIGN", "out_act": "ELU"}),
    (True, {"direction_mode": "BIDIR_CONCAT"})])
def test_second_order_of_the_lstm_layer(peepholes, options):
    both = 2 if "BIDIR" in options.get("direction_mode", "") else None

    def build(sd, x, w, rw, b, h0, c0, p=None):
        weights = LSTMLayerWeights(weights=w, r_weights=rw, bias=b, peephole_weights=p)
        lengths = sd.constant(np.array([3, 2], np.int32))
        config = LSTMLayerConfig(ret_last_h=True, ret_last_c=True, **options)
        return [v * v for v in sd.rnn.lstm_layer(x, c0, h0, lengths, weights, config)]
    shapes = {"w": (2, 8), "rw": (2, 8), "b": (8,), "h0": (2, 2), "c0": (2, 2), "p": (6,)}
    given = {n: numbers(*([both] if both else []), *s, seed=i) for i, (n, s) in enumerate(shapes.items())}
    if not peepholes:
        del given["p"]
    check_gradients(build, {"x": numbers(3, 2, 2), **given}, rtol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_second_order_of_the_recurrent_layers_of_networks(masked):
    m = np.array([[1, 1, 0], [1, 0, 1]], np.int32) if masked else None

    def lstm(sd, x, w, rw, b):
        h, last, _ = sd.rnn.dl4j_lstm(x, w, rw, b, None, None, None if m is None else sd.constant(m), "tanh", "sigmoid")
        return [h * h, last]

    def simple(sd, x, w, rw, b):
        h, last = sd.rnn.dl4j_simple_rnn(x, w, rw, b, None, None if m is None else sd.constant(m), "tanh")
        return [h * h, last]
    check_gradients(lstm, {"x": numbers(2, 2, 3), **weights(units=2, extra=3)}, rtol=1e-5)
    check_gradients(simple, {"x": numbers(2, 2, 3), "w": numbers(2, 3), "rw": numbers(3, 3, seed=1), "b": numbers(3, seed=2)}, rtol=1e-5)


@pytest.mark.slow
def test_third_order_of_a_sequence():
    sd = SameDiff.create()
    x = sd.var("x", numbers(1, 1, 2))
    constants = [sd.constant(v) for v in (numbers(1, 1), numbers(1, 1, seed=1), numbers(1, seed=2))]
    _, last = sd.rnn.dl4j_simple_rnn(x, *constants, "tanh")
    made = [last.sum()]
    for _ in range(3):
        made.append(sd.gradients(made[-1], [x])[0].sum())
    values = []
    for step in (1e-5, -1e-5):
        sd.set_array("x", numbers(1, 1, 2) + step)
        values.append(float(made[2].eval()))
    sd.set_array("x", numbers(1, 1, 2))
    assert float(made[3].eval()) == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-6)


def test_gradients_of_gru_to_second_order():
    check_gradients(lambda sd, x, h, wx, wh, b: sd.rnn.gru(x, h, wx, wh, b),
                    {"x": numbers(2, 1, 2), "h": numbers(1, 2), "wx": numbers(2, 6, seed=1), "wh": numbers(2, 6, seed=2),
                     "b": numbers(6, seed=3)}, rtol=1e-5)


def test_initial_state_has_the_batch_of_its_like():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, 3, -1)
    state = sd.nn.zero_state(x, 7)
    assert state.get_shape() == (-1, 7)
    assert sd.output_single({"x": np.zeros((4, 3, 2))}, state.name()).shape == (4, 7)


def test_wrong_recurrent_calls_are_told():
    sd = SameDiff.create()
    w, rw, b = (sd.constant(v) for v in weights().values())
    with pytest.raises(ShapeError, match="with I = 5, as in x"):
        sd.rnn.dl4j_lstm(sd.constant(numbers(1, 5, 3)), w, rw, b, "tanh", "sigmoid")
    with pytest.raises(ShapeError, match=r"batch, features, time"):
        sd.rnn.dl4j_lstm(sd.constant(numbers(1, 2)), w, rw, b, "tanh", "sigmoid")
    with pytest.raises(GraphError, match="tahn"):
        sd.rnn.dl4j_lstm(sd.constant(numbers(1, 2, 3)), w, rw, b, "tahn", "sigmoid")


@pytest.mark.parametrize(("name", "shapes", "wrong"), [
    ("sru", [(2, 3, 4), (9, 3), (6,), (2, 3)], {1: (7, 3), 2: (9,), 3: (1, 3)}),
    ("sruCell", [(2, 3), (2, 3), (3, 9), (6,)], {1: (1, 3), 2: (3, 12), 3: (8,)}),
    ("gruCell", [(2, 3), (2, 4), (7, 8), (7, 4), (8,), (4,)], {1: (1, 4), 2: (7, 9), 3: (7, 1), 4: (1,), 5: (1,)}),
    ("lstmBlockCell", [(2, 3), (2, 4), (2, 4), (7, 16), (4,), (4,), (4,), (16,)], {1: (1, 4), 3: (7, 20), 4: (1,), 7: (1,)}),
    ("lstmBlock", [(), (5, 2, 3), (2, 4), (2, 4), (7, 16), (4,), (4,), (4,), (16,)], {2: (1, 4), 4: (7, 20), 5: (1,), 8: (1,)})])
def test_cells_refuse_what_broadcasting_would_hide(name, shapes, wrong):
    sd, op = SameDiff.create(), OPS[name]
    given = [sd.constant(numbers(*s) if s else np.int64(5)) for s in shapes]
    sd.add_op(op(), given)
    for i, shape in wrong.items():
        with pytest.raises(ShapeError):
            sd.add_op(op(), [*given[:i], sd.constant(numbers(*shape)), *given[i + 1:]])


def test_the_gradient_of_an_lstm_whose_cells_nobody_reads_takes_none_of_them():
    """The kernel would add zeros in every step."""
    def node(cells_are_read):
        sd = SameDiff.create()
        x, w, rw = (sd.var(n, np.ones(shape)) for n, shape in (("x", (3, 2, 2)), ("w", (2, 8)), ("rw", (2, 8))))
        states, cells, *_ = sd.add_op(OPS["lstm_sequence"](), [x, w, rw])
        sd.gradients(states.sum() + cells.sum() if cells_are_read else states.sum(), "w")
        return next(n for n in sd.nodes() if n.op.id == "lstm_sequence_grad")
    assert node(True).inputs[-1] is not None and node(False).inputs[-1] is None


@pytest.mark.sampled(8)
@pytest.mark.parametrize("length", [None, 2])
@pytest.mark.parametrize("name", ["lstm_block_first", "gru", "sru", "sruCell"])
def test_methods_of_dl4j_that_give_one_result_give_the_first(name, length):
    row = next(r for r in ROWS if r.op_id == name)
    whole = OPS["lstmBlock" if name == "lstm_block_first" else name](**row.attributes)
    arrays = [np.array(length) if i == 0 and a is None and length else a for i, a in enumerate(row.arrays())]
    sd = SameDiff.create()
    inputs = [None if a is None else sd.constant(a) for a in arrays]
    every = sd.add_op(whole, inputs)
    first = every[0] if isinstance(every, list) else every
    np.testing.assert_array_equal(row.op().place(sd, inputs, None).eval(), first.eval())
    if isinstance(every, list):
        assert any(v.get_shape() != first.get_shape() or not np.array_equal(v.eval(), first.eval()) for v in every[1:])


@pytest.mark.parametrize("executor", ["plans", "reference"])
@pytest.mark.parametrize("mode", ["BIDIR_SUM", "BIDIR_CONCAT", "BIDIR_EXTRA_DIM"])
def test_two_directions_are_one_each(mode, executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd, x = SameDiff.create(), numbers(4, 2, 2)
    given = {n: np.stack([a, 2 * a[::-1]]) for n, a in weights().items()}
    parts = [layer(sd, sd.constant(x), *[sd.constant(a[k].copy()) for a in given.values()], direction_mode=one, ret_last_h=True)
             for k, one in enumerate(("FWD", "BWD"))]
    (there, last), (back, first) = [[v.eval() for v in part] for part in parts]
    full, h = layer(sd, sd.constant(x), *map(sd.constant, given.values()), direction_mode=mode, ret_last_h=True)
    want = {"BIDIR_SUM": there + back, "BIDIR_CONCAT": np.concatenate([there, back], 2), "BIDIR_EXTRA_DIM": np.stack([there, back], 1)}
    np.testing.assert_allclose(full.eval(), want[mode], rtol=1e-12)
    np.testing.assert_allclose(h.eval(), np.stack([last, first]), rtol=1e-12)
    assert full.get_shape() == want[mode].shape
