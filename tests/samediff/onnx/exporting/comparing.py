"""Graphs, and the ONNX models that they become, computed by the reference of the standard."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from dl4py.samediff import SameDiff


def computed(model: Any, feeds: dict[str, Any], names: list[str]) -> list[Any]:
    """Outputs of a valid model, by the reference."""
    onnx.checker.check_model(model, full_check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")             # NaN and infinity are among the values
        return ReferenceEvaluator(model).run(names, {i.name: feeds[i.name] for i in model.graph.input})  # type: ignore[no-any-return]


def assert_close(found: Any, wanted: Any) -> None:
    """Of one type and shape, and equal to 1e-5."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=1e-5, atol=1e-5)


def compare(sd: SameDiff, feeds: dict[str, Any], names: list[str], shapes: Any = None) -> Any:
    """The model of a graph, which gives what the graph does."""
    model = sd.export_onnx(None, names, shapes)
    wanted = sd.output(feeds, *names)
    for name, found in zip(names, computed(model, feeds, names), strict=True):
        assert_close(found, wanted[name])
    return model
