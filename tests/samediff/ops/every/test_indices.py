"""One rule for indices: what is out of range, not whole or NaN is refused alike by both executors, and the error says which it is."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DataTypeError, DL4PyError, OutOfRangeError, ShapeError
from dl4py.samediff.ir.op import OPS

ROWS = np.arange(8, dtype=np.float32).reshape(4, 2)
EXECUTORS = "plan", "reference"
Build = Callable[..., Any]


def ints(*values: Any) -> Any:
    return np.array(values, np.int32)


def outcome(build: Build, arrays: list[Any], executor: str, monkeypatch: Any, known: bool = False) -> Any:
    """The results, or the error, of a graph whose inputs are constants or placeholders of open sizes."""
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    try:
        given = [sd.constant(f"in{i}", a) if known else sd.placeholder(f"in{i}", DataType.of(a), *[-1] * a.ndim)
                 for i, a in enumerate(arrays)]
        made = build(sd, *given)
        outputs = made if isinstance(made, list) else [made]
        found = sd.output({} if known else {f"in{i}": a for i, a in enumerate(arrays)}, *outputs)
        return [found[v.name()] for v in outputs]
    except DL4PyError as error:
        return error


def ctc(sd: SameDiff, labels: Any, label_lengths: Any, logit_lengths: Any) -> Any:
    scores = sd.constant("scores", np.log(np.full((1, 3, 3), 1 / 3)))
    return sd.loss.ctc_loss(labels, scores, label_lengths, logit_lengths)


def crops(sd: SameDiff, indices: Any) -> Any:
    return sd.image.crop_and_resize(sd.constant(np.ones((1, 2, 2, 1))), sd.constant(np.zeros((1, 4))), indices, sd.constant(ints(2, 2)))


#: Name of the op, how it is called, inputs, and the value that is refused.
OUTSIDE: list[tuple[str, Build, list[Any], int]] = [
    *((f"unsorted_segment_{how}", lambda sd, x, i, how=how: getattr(sd, f"unsorted_segment_{how}")(x, i, 2),
       [ROWS, ints(0, 1, bad, 1)], bad)
      for how in ("sum", "mean", "max", "min", "prod", "sqrt_n") for bad in (2, 3, -1, -4, 2**31 - 1)),
    *((f"segment_{how}", lambda sd, x, i, how=how: getattr(sd, f"segment_{how}")(x, i), [ROWS, ids], bad)
      for how in ("sum", "mean", "max", "min", "prod")
      for ids, bad in ((ints(2, 0, 1, 1), 0), (ints(-1, 0, 0, 1), -1), (ints(0, 1, 2, 1), 1))),
    *(("dynamic_partition", lambda sd, x, i: sd.dynamic_partition(x, i, 2), [ROWS, ints(0, 1, bad, 1)], bad) for bad in (7, -1)),
    ("dynamic_stitch", lambda sd, i, j, x: sd.dynamic_stitch([i, j], [x, x]), [ints(0, 1, 2, -1), ints(3, 4, 5, 6), ROWS], -1),
    *(("gather", lambda sd, x, i: sd.gather(x, i, 1), [ROWS, ints(0, bad)], bad) for bad in (2, -1, -2)),
    ("gather", lambda sd, x, i: x[i], [ROWS, ints(4)], 4),
    *(("gather_nd", lambda sd, x, i: sd.gather_nd(x, i), [ROWS, ints([0, 1], [0, bad])], bad) for bad in (2, -1)),
    ("embedding_lookup", lambda sd, x, i: sd.embedding_lookup(x, i, "MOD"), [ROWS, ints(0, 4)], 4),
    *((f"scatter_{how}", lambda sd, x, i, u, how=how: getattr(sd, f"scatter_{how}")(x, i, u), [ROWS, ints(0, bad), ROWS[:2]], bad)
      for how in ("add", "sub", "mul", "div", "max", "min", "update") for bad in (4, -1)),
    *((f"scatter_nd_{how}", lambda sd, x, i, u, how=how: getattr(sd, f"scatter_nd_{how}")(x, i, u),
       [ROWS, ints([0], [bad]), ROWS[:2]], bad)
      for how in ("add", "sub", "update") for bad in (4, -1)),
    *(("put_rows", lambda sd, x, i, p: x.put(i, x, p), [ROWS, ints(*rows), ints(*places)], bad)
      for rows, places, bad in (((0, -1), (0, 1), -1), ((0, 4), (0, 1), 4), ((0, 1), (0, -2), -2))),
    *(("compat_sparse_to_dense", lambda sd, i, v: sd.sparse_to_dense(i, sd.constant(ints(3)), v), [ints(0, bad), ROWS[0]], bad)
      for bad in (3, -1)),
    *(("sparse_softmax_cross_entropy", lambda sd, i, x: sd.loss.sparse_softmax_cross_entropy(x, i), [ints(0, 1, 0, bad), ROWS], bad)
      for bad in (2, -1)),
    ("confusion_matrix", lambda sd, i, j: sd.math.confusion_matrix(i, j, 3), [ints(0, 3), ints(0, 1)], 3),
    ("confusion_matrix", lambda sd, i, j: sd.math.confusion_matrix(i, j), [ints(0, 3), ints(0, -1)], -1),
    *(("reverse_sequence", lambda sd, x, i: sd.reverse_sequence(x, i, 1, 0), [ROWS, ints(0, 1, 2, bad)], bad) for bad in (3, -1)),
    ("ctc_loss", ctc, [ints([1, 3]), ints(2), ints(3)], 3),
    ("ctc_loss", ctc, [ints([1, 2]), ints(3), ints(3)], 3),
    ("ctc_loss", ctc, [ints([1, 2]), ints(2), ints(4)], 4),
    ("ctc_loss", ctc, [ints([1, 2]), ints(2), ints(-1)], -1),
    *(("crop_and_resize", crops, [ints(bad)], bad) for bad in (1, -1)),
    ("invert_permutation", lambda sd, i: sd.invert_permutation(i), [ints(0, 3, 1)], 3),
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("known", [False, True], ids=["placeholders", "constants"])
@pytest.mark.parametrize(("name", "build", "arrays", "bad"), OUTSIDE, ids=[f"{c[0]} {c[3]} {i}" for i, c in enumerate(OUTSIDE)])
def test_what_lies_outside_is_refused(name, build, arrays, bad, known, monkeypatch):
    for executor in EXECUTORS:
        error = outcome(build, arrays, executor, monkeypatch, known)
        assert type(error) is (ShapeError if "must be sorted" in str(error) else OutOfRangeError), error
        text = "\n".join([str(error), *getattr(error, "__notes__", [])])
        assert name in str(error) and f" {bad} " in str(error) + " " and "test_indices.py" in text, text


def test_a_gradient_refuses_what_its_op_refuses(monkeypatch):
    for executor in EXECUTORS:
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        for op in ("segment_sum", "unsorted_segment_max"):
            sd = SameDiff.create()
            ids = sd.placeholder("ids", DataType.INT, -1)
            x = sd.var("x", ROWS)
            rows = sd.segment_sum(x, ids) if op == "segment_sum" else sd.unsorted_segment_max(x, ids, 2)
            sd.set_loss_variables(rows.sum().name())
            with pytest.raises(ShapeError, match="out of range|must be sorted"):
                sd.calculate_gradients({"ids": ints(0, 1, 2, 1)}, "x")


@pytest.mark.parametrize("value", [0.5, np.nan, np.inf, -np.inf])
def test_what_is_not_whole_is_refused(value, monkeypatch):
    for executor in EXECUTORS:
        error = outcome(lambda sd, i: sd.one_hot(i, 3), [np.array([1.0, value])], executor, monkeypatch)
        assert type(error) is DataTypeError and "onehot: index must be a whole number, got" in str(error)


def test_no_such_place_is_a_value_of_some_ops(monkeypatch):
    for executor in EXECUTORS:
        def found(build: Build, *arrays: Any, executor: str = executor) -> Any:
            return outcome(build, list(arrays), executor, monkeypatch)[0].tolist()
        assert found(lambda sd, i: sd.one_hot(i, 2), ints(1, 2, -1)) == [[0, 1], [0, 0], [0, 0]]
        assert found(lambda sd, i: sd.one_hot(i, 2), np.array([1.0, 7.0])) == [[0, 1], [0, 0]]
        assert found(lambda sd, x, i: sd.op("in_top_k", x, i, k=1), ROWS, ints(1, 0, 2, -1)) == [True, False, False, False]
        assert found(lambda sd, i: sd.sequence_mask(i, 2), ints(1, 0, -3)) == [[1, 0], [0, 0], [0, 0]]
        assert found(lambda sd, i: sd.op("bincount", i, min_length=2, max_length=2), ints(1, 0, 9)) == [1, 1]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("several", [(), (3,), (2, 1), (1, 2, 2)])
def test_index_vectors_in_arrays_of_any_rank(several, k, executor, monkeypatch, rng):
    """Shapes are known when the node is made, values are those of a loop, and updates of another shape are refused at once."""
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    x = rng.normal(size=(5, 4, 2))
    places = rng.choice(np.prod(x.shape[:k]), several, replace=False)
    indices = np.stack(np.unravel_index(places, x.shape[:k]), -1).astype(np.int64)
    updates = rng.normal(size=(*several, *x.shape[k:]))
    added, changed = np.zeros_like(x), x.copy()
    for at in np.ndindex(*several):
        added[tuple(indices[at])] += updates[at]
        changed[tuple(indices[at])] = updates[at]
    sd = SameDiff.create()
    given = {"x": x, "i": indices, "u": updates}
    v, i, u = (sd.placeholder(n, DataType.of(a), *a.shape) for n, a in given.items())
    shape = sd.constant(np.array(x.shape))
    made = {"gather_nd": sd.gather_nd(v, i), "scatter_nd": sd.add_op(OPS["scatter_nd"](), [i, u, shape]),
            **{f"scatter_nd_{how}": getattr(sd, f"scatter_nd_{how}")(v, i, u) for how in ("add", "sub", "update")}}
    wanted = {"gather_nd": x[tuple(np.moveaxis(indices, -1, 0))], "scatter_nd": added, "scatter_nd_add": x + added,
              "scatter_nd_sub": x - added, "scatter_nd_update": changed}
    assert {name: m.get_shape() for name, m in made.items()} == {name: w.shape for name, w in wanted.items()}
    found = sd.output(given, *made.values())
    for name, want in wanted.items():
        np.testing.assert_allclose(found[made[name].name()], want, rtol=1e-12, err_msg=name)
    for wrong in ((3, *updates.shape), (*updates.shape[:-1], 9) if updates.shape else (9,), (*updates.shape, 1)):
        w = sd.placeholder(f"w{'_'.join(map(str, wrong))}", DataType.DOUBLE, *wrong)
        for build in (lambda w=w: sd.add_op(OPS["scatter_nd"](), [i, w, shape]), lambda w=w: sd.scatter_nd_add(v, i, w)):
            with pytest.raises(ShapeError):
                build()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_gradient_of_indices_that_are_an_attribute(executor: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    x = sd.var("x", ROWS)
    sd.add_op(OPS["gather"](axis=0, indices=(2, 0, 2)), [x]).sum().mark_as_loss()
    np.testing.assert_array_equal(sd.calculate_gradients({}, "x")["x"], [[1, 1], [0, 0], [2, 2], [0, 0]])
