"""What random programs are drawn from: all that computes."""
from __future__ import annotations

from collections import Counter

import numpy as np

from dl4py import INDArray, Nd4j, Transforms
from dl4py.samediff.base.javanames import to_snake
from tests.random_programs.programs import TEXTS
from tests.random_programs.statements.op_calls import NAMES

#: Methods of arrays that ask for memory, text or files, or mean others.
MEMORY = {
    "base", "close", "ctypes", "data", "data_type", "device", "dtype", "dump", "dumps", "element_wise_stride", "flags",
    "get_double_unsafe", "get_leading_ones", "get_string", "get_trailing_ones", "getfield", "is_view", "itemsize",
    "leverage_or_detach", "leverage_to", "nbytes", "of", "offset", "ordering", "original_offset", "put_scalar_unsafe", "setfield",
    "setflags", "shape_info_to_string", "stride", "strides", "to_device", "to_double_matrix", "to_float_vector", "to_int_matrix",
    "to_long_vector", "to_string", "to_string_full", "tobytes", "tofile"}
#: Functions of ``Nd4j`` that read, write, configure or give namespaces.
AROUND = ("get_", "read", "write", "save", "set_", "create_npy", "create_from_np", "from_", "to_byte", "to_npy")
SPACES = {
    "base", "bitwise", "cnn", "data_type", "default_floating_point_type", "factory", "graph_scope", "image", "linalg", "loss",
    "math", "mmul", "nn", "random", "rnn"}
#: Parts of NumPy's functions that are drawn: the others give text, files, dates, complex numbers or several sets.
NUMPY_SHARE = 0.85


def _names(owner: type) -> set[str]:
    return {n for n in dir(owner) if not n.startswith("_") and n == n.lower()}


def _called(prefix: str) -> set[str]:
    return {to_snake(c.split(".")[1]) for s in TEXTS for c in s.calls() if c.startswith(f"{prefix}.")}


def test_every_method_and_function_is_in_the_tables():
    methods = {to_snake(c.split(".")[-1]) for s in TEXTS for c in s.calls() if not c.startswith("np.")}
    assert _names(INDArray) - methods == MEMORY
    assert {n for n in _names(Nd4j) - _called("Nd4j") if not n.startswith(AROUND)} == SPACES
    assert _names(Transforms) <= _called("T")


def test_most_functions_of_numpy_are_in_the_tables():
    functions = {f"{p}.{n}" for p, m in (("np", np), ("np.linalg", np.linalg)) for n in dir(m) if not n.startswith("_")
                 and (isinstance(getattr(m, n), np.ufunc) or type(getattr(m, n)).__name__ == "_ArrayFunctionDispatcher")}
    called = {c for s in TEXTS for c in s.calls()}
    assert len(functions & called) > NUMPY_SHARE * len(functions)


def test_ops_of_all_namespaces_are_drawn():
    counts = Counter(space for space, _ in NAMES)
    assert set(counts) == {"base", "math", "nn", "cnn", "rnn", "loss", "image", "linalg", "bitwise"} and counts["math"] > 200
