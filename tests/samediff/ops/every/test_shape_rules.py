"""What a shape rule accepts can be computed: calls of slightly wrong shapes are refused while the graph is built, or give one result."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.code.layout import strides_of
from dl4py.samediff.errors import DL4PyError, ShapeError
from dl4py.samediff.ir.op import METHODS, OPS, Op
from tests.helpers import randomruns
from tests.samediff.ops.rows.op_table import ROWS, Row

#: Ops that users call; gradients give the others what fits.
PUBLIC = {cls.id for classes in METHODS.values() for cls in classes}
ROWS_OF_USERS = [pytest.param(r, id=f"{r.op_id}-{i}") for i, r in enumerate(ROWS) if r.op_id in PUBLIC]
#: How array code refuses what a shape rule let through.
UNRULED = "the inputs do not fit", "was expected of these inputs", "inputs of these shapes give"
#: Axes in a variable may name one twice: known when run.
KNOWN_WHEN_RUN = {"reduce_sum", "reduce_mean", "argmax"}


def changes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A size more or less, an axis more or less, another order."""
    for i, n in enumerate(shape):
        for other in (n + 1, n - 1, 0):
            if other >= 0:
                yield (*shape[:i], other, *shape[i + 1:])
        yield shape[:i] + shape[i + 1:]
    yield from ((1, *shape), (2, *shape), (*shape, 1), (*shape, 2))
    if len(shape) > 1:
        yield shape[::-1]


def changed(row: Row) -> Iterator[list[Any]]:
    """The inputs of a row with one of another shape."""
    given = row.arrays()
    for i, a in enumerate(given):
        for shape in changes(a.shape) if a is not None and a.dtype.kind != "O" else ():
            yield [*given[:i], np.resize(a if a.size else np.zeros(1, a.dtype), shape), *given[i + 1:]]


def built(row: Row, arrays: list[Any], known: bool) -> tuple[SameDiff, dict[str, Any], list[Any]] | None:
    """A graph of the op, integers as constants where they are ``known``; None when the rule refuses."""
    sd, feeds = SameDiff(), {}
    sd.seed = 3
    op, inputs = row.op(), []
    try:
        for i, a in enumerate(arrays):
            constant = a is not None and known and a.dtype.kind in "iub"
            if a is not None and not constant:
                feeds[f"in{i}"] = a
            inputs.append(None if a is None else sd.constant(f"in{i}", a) if constant else
                          sd.placeholder(f"in{i}", DataType.of(a), *[n or -1 for n in a.shape]))
        made = op.place(sd, inputs, None) if type(op).compute is Op.compute else sd.add_op(op, inputs)
    except DL4PyError:
        return None
    return sd, feeds, made if isinstance(made, list) else [made]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("known", [True, False], ids=["constants", "placeholders"])
@pytest.mark.parametrize("row", ROWS_OF_USERS)
def test_what_is_accepted_is_computed(row, known, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    if row.op_id in KNOWN_WHEN_RUN and not known:
        pytest.skip("known when run")
    for arrays in changed(row):
        graph = built(row, arrays, known)
        if graph is None or not graph[2]:
            continue
        sd, feeds, outputs = graph
        try:
            sd.output(feeds, *outputs)
        except DL4PyError as error:         # of a value, not of a shape; an empty array has another shape than it was declared with
            shapes = [None if a is None else a.shape for a in arrays]
            assert not any(t in str(error) for t in UNRULED) or any(s is not None and 0 in s for s in shapes), (shapes, str(error))


def both(row: Row, arrays: list[Any], monkeypatch: Any) -> list[Any]:
    """The results of both executors, or the error."""
    found: list[Any] = []
    for executor in ("plan", "reference"):
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        graph = built(row, arrays, True)
        try:
            found.append(None if graph is None or not graph[2] else list(graph[0].output(graph[1], *graph[2]).values()))
        except DL4PyError as error:
            found.append(error)
    return found



def assert_alike(row: Row, cases: list[list[Any]], monkeypatch: Any) -> None:
    for arrays in cases:
        compiled, reference = both(row, arrays, monkeypatch)
        shapes = [None if a is None else a.shape for a in arrays]
        assert isinstance(compiled, Exception) == isinstance(reference, Exception), (shapes, compiled, reference)
        if isinstance(compiled, list) and not row.op().stateful:
            assert [randomruns.difference(a, b) for a, b in zip(compiled, reference)] == [""] * len(compiled), shapes


#: Of which every accepted change is compared each time: their rules broadcast, or let several shapes through.
COMPARED = {"manhattan", "euclidean", "cosinesimilarity", "cosinedistance", "jaccarddistance", "hammingdistance", "assign", "batchnorm",
            "normalize_moments", "multi_head_dot_product_attention", "rgb_to_hsv", "adjust_hue", "adjust_contrast_v2", "meshgrid",
            "unsorted_segment_sum", "segment_max", "dynamic_partition", "dynamic_stitch", "scatter_nd_add", "scatter_nd_update",
            "put_rows", "compat_sparse_to_dense", "solve", "lstsq", "repeat", "bits_hamming_distance"}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("row", [p for p in ROWS_OF_USERS if p.values[0].op_id in COMPARED])
def test_both_executors_agree(row, monkeypatch):
    assert_alike(row, list(changed(row)), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS_OF_USERS)
def test_both_executors_agree_on_any_op(row, monkeypatch):
    assert_alike(row, list(changed(row)), monkeypatch)


def given(sd: SameDiff, *shapes: tuple[int, ...], dtype: DataType = DataType.FLOAT) -> list[Any]:
    return [sd.placeholder(f"x{i}", dtype, *s) for i, s in enumerate(shapes)]


REFUSED = {
    "channels": lambda sd: sd.image.rgb_to_hsv(*given(sd, (2, 2, 4))),
    "hue": lambda sd: sd.image.adjust_hue(*given(sd, (2, 2, 1)), 0.1),
    "jaccard, another length": lambda sd: sd.math.jaccard_distance(*given(sd, (2, 3), (2,)), 1),
    "jaccard, more axes": lambda sd: sd.math.jaccard_distance(*given(sd, (3,), (2, 3)), 0),
    "cosine, other sizes": lambda sd: sd.math.cosine_similarity(*given(sd, (2, 3), (2, 4)), 1),
    "bits": lambda sd: sd.math.bits_hamming_distance(*given(sd, (2, 3), (2, 4), dtype=DataType.INT)),
    "assigned": lambda sd: sd.assign(*given(sd, (2, 1), (2, 3))),
    "moments": lambda sd: sd.math.normalize_moments(*given(sd, (2, 1), (1, 3), (1, 3)), 0.0),
    "statistics": lambda sd: sd.nn.batch_norm(*given(sd, (2, 3), (3, 1), (3,), (3,), (3,)), 1e-5),
    "attention, mask": lambda sd: sd.nn.dot_product_attention(*given(sd, (2, 3, 2), (2, 3, 4), (2, 3, 4), (2, 5)), True),
    "attention, batch": lambda sd: sd.nn.multi_head_dot_product_attention(
        *given(sd, (2, 3, 2), (1, 3, 4), (1, 3, 4), (2, 2, 3), (2, 2, 3), (2, 2, 3), (4, 5)), None, True),
    "system": lambda sd: sd.linalg.solve(*given(sd, (3, 3), (2, 3, 1))),
    "least squares": lambda sd: sd.linalg.lstsq(*given(sd, (4, 2), (1, 4, 2)), 0.0, True),
    "dilation": lambda sd: sd.cnn.dilation2d(*given(sd, (1, 4, 4, 3), (2, 2, 2)), (1, 1), (1, 1), False),
    "steps of a GRU": lambda sd: sd.rnn.gru(*given(sd, (3, 2, 2), (2, 3), (3, 9), (3, 9), (9,))),
    "boxes": lambda sd: sd.image.non_max_suppression(*given(sd, (3, 4), (4,)), 2, 0.5, 0.0),
    "a kernel of negative size": lambda sd: OPS["deconv2d"](k_h=-7, k_w=2, padding_mode="VALID").infer(
        *(v.spec for v in given(sd, (1, 2, 3, 3), (2, 2, 3, 2)))),
    "maxima": lambda sd: sd.math.is_max(*given(sd, (3,)), 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_while_the_graph_is_built(name):
    with pytest.raises(ShapeError):
        REFUSED[name](SameDiff())


def test_the_vector_of_a_distance_lies_along_the_axis_that_is_reduced(monkeypatch):
    x, y = np.arange(6, dtype=np.float64).reshape(2, 3), np.array([1.0, 5.0])
    for executor in ("plan", "reference"):
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        sd = SameDiff()
        vx, vy = sd.var("x", x), sd.var("y", y)
        distance = sd.math.manhattan_distance("d", vx, vy, 0)
        sd.set_loss_variables(distance.sum().name())
        assert sd.output_single({}, "d").tolist() == [3.0, 1.0, 1.0]
        assert sd.calculate_gradients({}, "y")["y"].tolist() == np.sign(y[:, None] - x).sum(1).tolist()


def made(name: str, *attributes: Any) -> Op:
    return OPS[name](*attributes)


#: Ops that gradients make, beside inputs that contradict each other: files may hold such nodes.
CONTRADICTIONS = {
    "hide_steps": (lambda: made("hide_steps"), (2, 4, 3), (2, 3)),
    "matrix_scale": (lambda: made("matrix_scale"), (2, 3, 3), (4,)),
    "last_axis_spread": (lambda: made("last_axis_spread"), (3,), (4, 5)),
    "last_row": (lambda: made("last_row"), (3,), (4, 5)),
    "tile_sum": (lambda: made("tile_sum", (2, 1)), (3, 3), (2, 3)),
    "resize_back": (lambda: made("resize_back", made("resize_bilinear", 4, 4)), (1, 3, 4, 1), (1, 2, 2, 1)),
    "spread": (lambda: made("spread", (0,)), (4,), (2, 3)),
    "spread_sum": (lambda: made("spread_sum", (0,)), (2, 4), (4,), (2, 3)),
    "broadcast_like": (lambda: made("broadcast_like"), (2,), (2, 3)),
    "head_rows": (lambda: made("head_rows"), (5, 3), (1, 2, 2, 4)),
    "concat_part": (lambda: made("concat_part", 0, 1), (4, 2), (2, 2), (3, 2)),
    "placed": (lambda: made("placed", made("slice", (0,), (2,))), (3,), (4,)),
    "fold": (lambda: made("fold", made("im2col", 2, 2).patches()), (1, 1, 2, 2, 3, 3), (1, 1, 3, 3)),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_inputs_of_gradients_that_contradict_each_other(name):
    op, *shapes = CONTRADICTIONS[name]
    specs = [TensorSpec(s, DataType.INT if name == "last_row" and not i else DataType.FLOAT) for i, s in enumerate(shapes)]
    with pytest.raises(ShapeError):
        op().infer(*specs)


def test_loops_of_devices_refuse_arrays_that_do_not_broadcast():
    with pytest.raises(ShapeError, match=r"shape \(2,\) does not broadcast to \(2, 3\)"):
        strides_of(np.zeros(2), (2, 3))


def test_blocks_whose_sizes_come_as_a_variable():
    for sizes in ([-2], [-3]):
        sd = SameDiff()
        y = sd.slice(*given(sd, (4,)), sd.constant(np.array([1])), sd.placeholder("n", "long", 1))
        with pytest.raises(ShapeError, match=f"a block of {sizes[0]} elements"):
            sd.output_single({"x0": np.zeros(4, np.float32), "n": np.array(sizes)}, y.name())
