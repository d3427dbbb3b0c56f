"""Every way to call an op that ``docs/ops.md`` lists, in the forms of Python's calls, gives the op and the inputs that it should."""
from __future__ import annotations

from collections import defaultdict
from dataclasses import make_dataclass

import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.ir.op import METHODS, OPS
from dl4py.samediff.ir.signature import MISSING, formals
from tests.samediff.ops.rows.op_rows import Row
from tests.samediff.ops.rows.op_table import ROWS

#: Where the library's ops can be called.
PLACES = defaultdict(list)
for place, classes in METHODS.items():
    for cls in classes:
        if cls.__module__.startswith("dl4py.samediff."):
            PLACES[cls.id].append(place)

#: Ways to call ops that the table of ops has no example of: ops, inputs, attributes.
OTHERS = [Row(name, tuple(inputs.split()), attributes) for names, inputs, attributes in [
    ("reduce_max reduce_min reduce_norm1 reduce_norm2 reduce_sqnorm reduce_normmax reduce_prod reduce_logsumexp asum amax amin amean "
     "entropy shannonentropy logentropy all any countNonZero countZero zero_fraction argmin iamax iamin moments", "f:2,3 i1:1", {}),
    ("var std", "f:2,3 i1:1", {"bias_corrected": True}),
    ("argmax argmin iamax iamin match_condition first_index last_index moments var std", "f:2,3", {"dimensions": (1,)}),
    ("var std", "f:2,3", {"bias_corrected": True, "dimensions": (1,)}),
    ("distribution_uniform", "", {"min": 0.0, "max": 1.0, "shape": (2, 3)}),
    ("distribution_gaussian distribution_lognormal distribution_truncated", "", {"mean": 0.0, "stddev": 1.0, "shape": (2, 3)}),
    ("distribution_bernoulli", "", {"p": 0.5, "shape": (2, 3)}),
    ("distribution_binomial", "", {"n_trials": 2, "p": 0.5, "shape": (2, 3)}),
    ("random_exponential", "", {"lambda_": 2.0, "shape": (2, 3)}),
    ("layer_norm", "f:2,3 f:3", {"dimensions": (1,)}),
    ("layer_norm", "f:2,3", {"dimensions": (1,)}),
    ("gather", "f:2,3", {"indices": (0, 1), "axis": 1}),
    ("confusion_matrix", "i3:4 i3:4", {"num_classes": 3}),
    ("confusion_matrix", "i3:4 i3:4", {"data_type": DataType.LONG}),
    ("sequence_mask", "i3:4", {"data_type": DataType.INT}),
    ("upsampling2d", "f:2,3,2,2", {"scale_h": 2}),
    ("eye", "", {"rows": 2}),
    ("flatten stack", "f:2 f:2", {}),
] for name in names.split()]


class Recording(SameDiff):
    """A graph that remembers what calls of methods ask for."""

    def place_op(self, op, inputs, names=None):
        self.asked.append((op, [v.name() if self.is_input(v) else v for v in inputs if v is not None]))
        return super().place_op(op, inputs, names)


def by_input(op, variables):
    """Variables by the names of the op's inputs."""
    texts, left, found = op.inputs.split(), list(variables), {}
    for i, text in enumerate(texts):
        if text.startswith("*"):
            count = len(left) - (len(texts) - i - 1)
            found[text.strip("*?")], left = left[:count], left[count:]
        else:
            found[text.strip("*?")] = left.pop(0) if left else None
    return {n: v for n, v in found.items() if v is not None and not (isinstance(v, list) and not v)}


def values_of(row, signature, variables):
    """What a row says for each parameter of a signature, and further options; None where the signature has no place for it."""
    op, names = row.op(), {f.name for f in signature}
    inputs = by_input(op, variables)
    options = {n: getattr(op, n) for n in row.attributes if n not in names}
    others = {n: v for n, v in inputs.items() if n not in names}
    configs = [f.name for f in signature if f.kind == "config"]
    starred = any(f.varargs and f.kind == "attribute" for f in signature)
    if (configs and not (options or others)) or (not configs and (others or (options and not starred))):
        return None
    config = make_dataclass("Config", options | others)(**options, **others)
    found = {} if configs else options
    for f in signature:
        found[f.name] = (config if f.kind == "config" else getattr(op, f.name) if f.kind == "attribute"
                         else inputs.get(f.name, [] if f.varargs else None))
        if found[f.name] is None and f.default is MISSING:
            return None
    return found


def forms(signature, values):
    """Calls that say the same, as positional and named arguments."""
    def in_order(parameters):
        return [v for f in parameters for v in (values[f.name] if f.varargs else [values[f.name]])]

    def besides(parameters):
        return {n: v for n, v in values.items() if n not in {f.name for f in parameters}}
    yield in_order(signature), besides(signature)
    yield [list(values[f.name]) if f.varargs else values[f.name] for f in signature], besides(signature)
    yield [], values
    yield [], {n: v for n, v in values.items() if v is not None}
    unnamed = [f for f in signature if f.kind == "input" or f.varargs]
    if unnamed == list(signature[:len(unnamed)]) or signature[-1].varargs:
        yield in_order(unnamed), besides(unnamed)


def ways():
    """By op and number of a signature: the rows that it can say."""
    found = {(name, k): [] for name in PLACES for k in range(len(formals(OPS[name])))}
    for row in (*ROWS, *OTHERS):
        for k, signature in enumerate(formals(OPS[row.op_id]) if row.op_id in PLACES else ()):
            if values_of(row, signature, [None if text == "-" else text for text in row.inputs]) is not None:
                found[row.op_id, k].append(row)
    return found


WAYS = ways()


def test_every_way_has_an_example():
    assert not [way for way, rows in WAYS.items() if not rows]


@pytest.mark.parametrize("op_id", PLACES)
def test_calls(op_id):
    for k, signature in enumerate(formals(OPS[op_id])):
        for row in WAYS[op_id, k]:
            op, arrays = row.op(), row.arrays()
            for space, method in PLACES[op_id]:
                sd = Recording()
                variables = [None if a is None else sd.constant(f"x{i}", a) for i, a in enumerate(arrays)]
                for number, (args, kwargs) in enumerate(forms(signature, values_of(row, signature, variables))):
                    if space == "var" and not args:
                        continue
                    owner, *given = args if space == "var" else (sd if space == "base" else getattr(sd, space), *args)
                    for name in ((), (f"given{number}",)):
                        sd.asked = []
                        getattr(owner, method)(*name, *given, **kwargs)
                        assert sd.asked[0] == (op, [v.name() for v in variables if v is not None]), (method, args, kwargs)
