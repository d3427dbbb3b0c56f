"""``<op>_bp`` by name, for every differentiable op of the table: the values of the gradient graph, files, errors."""
from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import MissingOpError, ShapeError
from dl4py.samediff.families.backprop import Backprop
from dl4py.samediff.ir.op import OPS, Op, as_tuple
from tests.samediff.ops.rows.op_table import ROWS, Row

#: Outputs without a gradient, and what is another op outside of training.
NOT_COMPARED = ("shapes_of", "batch_norm_training")


def gradient_of(row: Row) -> type[Op] | None:
    """The class of the gradient by the name of the op."""
    found = OPS.get(f"{row.op_id}_grad" if OPS[row.op_id].is_loss else f"{row.op_id}_bp")
    return found if found is not None and issubclass(found, Backprop) and row.op_id not in NOT_COMPARED else None


def by_graph(sd: SameDiff, row: Row, inputs: list[Any], upstream: list[Any]) -> tuple[list[Any], list[Any]]:
    """Outputs of the op, and the gradients of sum(output * upstream) for the floating inputs."""
    made = list(as_tuple(sd.add_op(row.op(), inputs)))
    total = sum(((o * g).sum() for o, g in zip(made, upstream)), sd.constant(0.0))
    asked = [v.name() for v in inputs if v is not None and v.dtype.is_floating]
    found = sd.fork()
    found.set_loss_variables(total.name())
    values = found.calculate_gradients({}, *asked)
    return made, [values[n] for n in asked]


DIFFERENTIABLE = [(f"{r.op_id}-{i}", r) for i, r in enumerate(ROWS)
                  if gradient_of(r) is not None and any(a is not None and a.dtype.kind == "f" for a in r.arrays())]
TABLE = [pytest.param(r, id=n) for n, r in DIFFERENTIABLE]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("row", TABLE)
def test_gradient_by_name_is_that_of_the_graph(row: Row, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    sd = SameDiff()
    inputs = [None if a is None else sd.var(f"in{i}", a) if np.asarray(a).dtype.kind == "f" else sd.constant(f"in{i}", a)
              for i, a in enumerate(row.arrays())]
    outputs = as_tuple(sd.add_op(row.op(), inputs))
    rng = np.random.default_rng(3)
    is_loss = OPS[row.op_id].is_loss
    upstream = [sd.constant(np.ones(o.eval().shape) if is_loss else rng.standard_normal(o.eval().shape)) for o in outputs]
    upstream = [g.cast_to(o.dtype) if o.dtype.is_floating else g for o, g in zip(outputs, upstream)]
    _, expected = by_graph(sd, row, inputs, upstream)
    cls = gradient_of(row)
    given = [*inputs, *([] if is_loss else upstream)]       # in DL4J's order
    if row.op().inputs.split()[-1] in ("axes?", "mask?") and len(inputs) == len(row.op().inputs.split()) and len(upstream) == 1:
        given[-2:] = reversed(given[-2:])
    made = as_tuple(sd.op(cls.id, "found", *given, **row.attributes))
    found = [v.eval() for v, x in zip(made, [x for x in inputs if x is not None and (len(made) > len(expected) or x.dtype.is_floating)])
             if x.dtype.is_floating]
    assert [a.dtype for a in found] == [b.dtype for b in expected]
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def made(op_id: str, *arrays: Any, **attributes: Any) -> Any:
    """The values of an op of variables."""
    sd = SameDiff()
    found = sd.op(op_id, *(sd.constant(np.asarray(a)) for a in arrays), **attributes)
    return [v.eval() for v in found] if isinstance(found, list) else found.eval()


X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])
ONES = np.ones((2, 3))


def test_gradients_of_broadcast_inputs_are_summed():
    gx, gy = made("add_bp", X, np.ones(3), X)
    np.testing.assert_array_equal(gx, X)
    np.testing.assert_array_equal(gy, X.sum(0))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "attributes", "expected"), [
    ("reduce_stdev_bp", {"bias_corrected": True}, (X - X.mean()) / (5 * X.std(ddof=1))),
    ("reduce_norm_max_bp", {}, ONES * (X == 4.0)),
    ("lrelu_bp", {"alpha": 0.1}, np.where(X > 0, 1, 0.1)),
])
def test_gradients_under_the_names_of_dl4j(name: str, attributes: dict[str, Any], expected: Any):
    upstream = np.array(1.0) if name.startswith("reduce") else ONES
    np.testing.assert_allclose(made(name, X, upstream, **attributes), expected, rtol=1e-12)


def test_axes_in_an_input_stand_behind_the_gradient():
    np.testing.assert_array_equal(made("reduce_sum_bp", X, np.array([1.0, 2.0]), np.array([1])), [[1.0] * 3, [2.0] * 3])
    np.testing.assert_array_equal(made("reduce_sum_bp", X, np.array([1.0, 2.0]), dimensions=(1,)), [[1.0] * 3, [2.0] * 3])


def test_gradients_of_losses_start_from_ones():
    labels = np.zeros((2, 3))
    sd = SameDiff()
    p = sd.var("p", X)
    sd.loss.mean_squared_error("l", sd.constant(labels), p, sd.constant(np.ones((2, 3))))
    expected = sd.calculate_gradients({}, "p")["p"]
    np.testing.assert_allclose(made("mean_sqerr_loss_grad", X, np.ones((2, 3)), labels)[0], expected, rtol=1e-12)
    other = SameDiff()
    other.op("mean_sqerr_loss_grad", other.var("x", X), other.constant(np.ones((2, 3))), other.constant(labels))
    assert not other.get_loss_variables()


def test_gradients_by_name_are_differentiated_again():
    sd = SameDiff()
    x = sd.var("x", X)
    sd.op("square_bp", "g", x, sd.constant(ONES)).sum("loss")
    sd.set_loss_variables("loss")
    np.testing.assert_allclose(sd.calculate_gradients({}, "x")["x"], 2 * ONES)


@pytest.mark.parametrize(("name", "inputs", "attributes"), [
    ("add_bp", (X, np.ones(3), X), {}), ("reduce_mean_bp", (X, np.ones((2, 1))), {"dimensions": (1,), "keep_dims": True}),
    ("conv2d_bp", (np.ones((1, 2, 4, 4)), np.ones((2, 2, 2, 3)), np.ones((1, 3, 3, 3))), {"k_h": 2, "k_w": 2}),
    ("mean_sqerr_loss_grad", (X, ONES, ONES), {}), ("leakyrelu_bp", (X, ONES), {"alpha": 0.3}),
])
def test_graphs_with_gradients_are_saved_and_loaded(name: str, inputs: Any, attributes: dict[str, Any]):
    sd = SameDiff()
    found = sd.op(name, *(sd.constant(np.asarray(a)) for a in inputs), **attributes)
    names = [v.name() for v in (found if isinstance(found, list) else [found])]
    stream = io.BytesIO()
    sd.save(stream, False)
    loaded = SameDiff.load(io.BytesIO(stream.getvalue()), False)
    assert loaded.nodes()[-1].op == sd.nodes()[-1].op
    for n in names:
        np.testing.assert_array_equal(loaded.output({}, n)[n], sd.output({}, n)[n])


def test_instances_are_copied_and_pickled():
    op = OPS["reduce_sum_bp"](dimensions=(1,), keep_dims=True)
    assert copy.deepcopy(op) == pickle.loads(pickle.dumps(op)) == op


def test_gradient_of_another_shape_is_refused():
    sd = SameDiff()
    with pytest.raises(ShapeError, match=r"gradient of an output must be floating and of its shape.*DOUBLE\(2, 3\)"):
        sd.op("multiply_bp", sd.constant(X), sd.constant(X), sd.constant(np.ones(4)))
    assert len(sd.nodes()) == 0


@pytest.mark.parametrize("name", ["bitcast_bp", "random_normal_bp", "nothing_bp", "add_grad", "_bp", "add_bp_bp", "if_bp"])
def test_names_without_a_gradient(name: str):
    sd = SameDiff()
    with pytest.raises(MissingOpError, match=name):
        sd.op(name, sd.constant(X), sd.constant(X))


@pytest.mark.parametrize("short, name", [("mul", "multiply"), ("sub", "subtract"), ("rdiv", "reversedivide"), ("sum", "reduce_sum")])
def test_short_names_of_ops(short, name):
    assert OPS[f"{short}_bp"] is OPS[f"{name}_bp"] and OPS[f"{short}_bp"].id == f"{name}_bp"
