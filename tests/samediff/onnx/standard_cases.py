"""The standard's own tests of its operators: models of one node with inputs and expected outputs."""
from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import ValueNeededError


@functools.cache
def cases() -> list[Any]:
    """All of them, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests
        return sorted(load_model_tests(kind="node"), key=lambda c: c.name)


def plain(value: Any) -> Any:
    """Arrays for messages; types that arrays here do not have as the wider ones that stand for them."""
    from onnx import OptionalProto, SequenceProto, TensorProto, numpy_helper
    readers = {TensorProto: numpy_helper.to_array, SequenceProto: numpy_helper.to_list, OptionalProto: numpy_helper.to_optional}
    for kind, read in readers.items():
        if isinstance(value, kind):
            value = read(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    name = getattr(getattr(value, "dtype", None), "name", "")
    if name.startswith(("float8", "float4")):
        return value.astype(np.float32)
    wide = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8, "uint2": np.uint8}.get(name)
    return value if wide is None else value.astype(wide)


def imported(model: Any, feed: dict[str, Any]) -> tuple[SameDiff, list[str]]:
    """The graph, and the inputs whose values it had to know."""
    known: dict[str, Any] = {}
    while True:
        try:
            return SameDiff.import_onnx(model, known), list(known)
        except ValueNeededError as error:
            new = [n for n in error.names if n in feed and n not in known]
            if not new:
                raise
            known.update((n, feed[n]) for n in new)


def check(case: Any) -> None:
    """Import the model, and compare what it computes."""
    for inputs, outputs in case.data_sets:
        graph = case.model.graph
        feed = {v.name: plain(given) for v, given in zip(graph.input, inputs)}
        sd, known = imported(case.model, feed)
        wanted: dict[str, Any] = {}
        for v, output in zip(graph.output, map(plain, outputs)):
            if isinstance(output, list):
                wanted |= {f"{v.name}_{i}": one for i, one in enumerate(output)}
            elif output is not None:
                wanted[v.name] = np.asarray(output)
        got = sd.output({k: v for k, v in feed.items() if k not in known}, list(wanted))
        for name, expected in wanted.items():
            assert (got[name].dtype, got[name].shape) == (expected.dtype, expected.shape), name
            if expected.dtype.kind in "fV":
                np.testing.assert_allclose(got[name].astype(np.float64), expected.astype(np.float64), case.rtol, case.atol)
            else:
                np.testing.assert_array_equal(got[name], expected)
