"""Ops with every attribute away from its default, in other types, for known and unknown sizes: what is recorded comes of them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import Op
from tests.samediff.ops.rows import combinations, open_sizes, refusals, variants
from tests.samediff.ops.rows.variants import graph_of, results

VARIANTS, NUMBERS, SHAPES, REFUSALS = variants.variants(), variants.recorded(), open_sizes.recorded(), refusals.recorded()
COMBINED = combinations.recorded()
ROWS = {where: row for where, row, _ in variants.numbered()}
RULED = [where for where, row in ROWS.items() if type(row.op()).compute is not Op.compute]
DUE = "run .ci/generate where the change is meant"


def by_op(names):
    found = {}
    for name in names:
        found.setdefault(name.partition(" ")[0].rpartition("-")[0], []).append(name)
    return found


def test_the_records_are_complete():
    assert list(NUMBERS) == list(VARIANTS) and list(SHAPES) == RULED == list(REFUSALS), DUE


def assert_as_recorded(name, found, text):
    wanted, within = variants.read(text), 1e-3 if "float32" in text else 2e-5
    assert [what for what, _ in found] == [what for what, _ in wanted], f"{name}: {DUE}"
    for (what, numbers), (_, recorded) in zip(found, wanted):
        scale = max(1.0, np.abs(recorded).max(initial=0))
        np.testing.assert_allclose(numbers, recorded, within, within * scale, err_msg=f"{name}, {what}")


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("op", "names"), by_op(VARIANTS).items(), ids=by_op(VARIANTS))
def test_values_and_gradients(op, names):
    for name in names:
        assert_as_recorded(name, results(VARIANTS[name]), NUMBERS[name])


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("op", "rows"), combinations.rows().items(), ids=combinations.rows())
def test_several_options_at_once(op, rows):
    found, wanted = ([one.partition(" -> ") for one in lines] for lines in (combinations.lines(op, rows), COMBINED.get(op, [])))
    assert [name for name, _, _ in found] == [name for name, _, _ in wanted], DUE
    for (name, _, text), (_, _, recorded) in zip(found, wanted):
        (rules, _, values), (same_rules, _, numbers) = text.partition(" "), recorded.partition(" ")
        assert rules == same_rules, f"{name}: {DUE}"
        assert_as_recorded(name, variants.read(values), numbers)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("op", "names"), by_op(VARIANTS).items(), ids=by_op(VARIANTS))
def test_attributes_survive_a_file(op, names, monkeypatch):
    """The nodes come back, or such as compute the same: some options go with others, some are an input there."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    for name in names:
        if VARIANTS[name].saved_as or "=" not in name:
            continue
        try:
            sd, outputs, _ = graph_of(VARIANTS[name])
            again = SameDiff.from_flat_buffers(sd.as_flat_buffers())
        except DL4PyError:              # no call, or none that DL4J's argument lists hold
            continue
        before, after = ([variants.of_node(n) for n in graph.nodes()] for graph in (sd, again))
        if before != after:
            wanted, found = (graph.output({}, *[v.name() for v in outputs]) for graph in (sd, again))
            for output, array in wanted.items():
                np.testing.assert_array_equal(found[output], array, f"{name}: {before} came back as {after}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("op", "names"), by_op(RULED).items(), ids=by_op(RULED))
def test_shapes_and_work(op, names):
    for name in names:
        assert open_sizes.line(ROWS[name]) == SHAPES[name], f"{name}: {DUE}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("op", "names"), by_op(RULED).items(), ids=by_op(RULED))
def test_what_inputs_and_attributes_beside_those_of_the_rows_give(op, names):
    for name in names:
        found, wanted = refusals.outcomes(ROWS[name]), REFUSALS[name].split("; ") if REFUSALS[name] else []
        assert [*filter(None, refusals.line(found).split("; "))] == wanted, f"{name}: {DUE}: {found}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("op", "names"), by_op(RULED).items(), ids=by_op(RULED))
def test_what_unknown_sizes_give_fits_what_known_ones_give(op, names):
    """As many outputs, of the same types, and no size that is another."""
    for name in names:
        specs = open_sizes.specs_of(ROWS[name])
        known = open_sizes.inferred(ROWS[name].op(), specs)
        for what, less in open_sizes.opened(specs) if not isinstance(known, str) else ():
            found = open_sizes.inferred(ROWS[name].op(), less)
            if isinstance(found, str):
                continue
            assert [s.dtype for s in found] == [s.dtype for s in known], (name, what)
            for s, k in zip(found, known):
                assert isinstance(s, TensorSpec) and (s.shape is None or k.shape is None or (len(s.shape) == len(k.shape) and all(
                    n in (-1, m) or m == -1 for n, m in zip(s.shape, k.shape)))), (name, what, s, k)
